import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { shardsPerGroup } from "../../../src/actors/Shards.ts"
import { fork } from "../../../src/sim/world/ProcessServices.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { expectAllHeld, type Name, names, Runners, turn } from "./Runners.ts"

const seeds = [1, 2, 3]

let runners: Runners

const began = (seed: number) => {
  runners = new Runners(seed)
  runners.startAll()
  return runners
}

/** Asks fifty actors from the machines, runs for so long, and gives those that did not answer. */
const unanswered = (from: ReadonlyArray<Name>, within_s: number): ReadonlyArray<string> => {
  const actors = Array.from({ length: 50 }, (_, index) => `actor ${index}`)
  const first = runners.answers.length
  for (const name of from) for (const actor of actors) runners.ask(name, actor)
  runners.runFor(within_s)
  const answered = new Set(runners.answers.slice(first).map(({ actor, from }) => `${from} ${actor}`))
  return from.flatMap((name) =>
    actors.map((actor) => `${runners.process(name).id} ${actor}`).filter((call) => !answered.has(call))
  )
}

describe.each(seeds)("three virtual runners, seed %i", (seed) => {
  afterEach(() => {
    runners.world.end()
    return turn()
  })

  it("share all shards, and their calls reach one owner from every machine", () => {
    began(seed)
    expectAllHeld(runners, ["a#1", "b#1", "c#1"])
    for (const name of names) expect(runners.held(`${name}#1`)).toBeGreaterThan(10)
    expect(unanswered(names, 2)).toEqual([])
    const owners = new Map<string, Set<string>>()
    for (const { actor, owner } of runners.answers)
      owners.set(actor, (owners.get(actor) ?? new Set()).add(owner))
    expect(Array.from(owners.values(), ({ size }) => size)).toEqual(Array.from({ length: 50 }, () => 1))
  })

  it("answer for all shards within 5 s of a kill", () => {
    began(seed)
    runners.process("a").kill()
    expect(unanswered(["b", "c"], 5)).toEqual([])
    runners.runFor(1)
    expectAllHeld(runners, ["b#1", "c#1"])
    runners.start("a", 2)
    runners.runFor(8)
    expectAllHeld(runners, ["a#2", "b#1", "c#1"])
    expect(unanswered(names, 2)).toEqual([])
  })

  it("take the shards of one that is paused for longer than its locks last, which notices when it goes on", () => {
    began(seed)
    runners.pause("a", 20 * s_us)
    runners.runFor(12)
    expectAllHeld(runners, ["b#1", "c#1"])
    expect(unanswered(["b", "c"], 3)).toEqual([])
    runners.runFor(5 + 2)
    expect(runners.believes("a").filter((shard) => !runners.heldShards("a#1").includes(shard))).toEqual([])
    runners.runFor(9)
    expectAllHeld(runners, ["a#1", "b#1", "c#1"])
    for (const name of names) expect(runners.believes(name)).toEqual(runners.heldShards(`${name}#1`))
    expect(unanswered(names, 2)).toEqual([])
  })

  it("own fewer shards than there are while one is paused that was restarted before", () => {
    began(seed)
    const ownedBy = (...some: ReadonlyArray<Name>) => some.flatMap((name) => runners.believes(name)).length
    runners.stop("a")
    runners.runFor(8)
    expect(ownedBy("b", "c")).toBe(shardsPerGroup)
    runners.start("a", 2)
    runners.runFor(8)
    expect(ownedBy("a", "b", "c")).toBe(shardsPerGroup)
    runners.pause("a", 20 * s_us)
    runners.runFor(3)
    // Its session still holds its locks: nobody else has its shards.
    expect(ownedBy("b", "c")).toBe(shardsPerGroup - runners.held("a#2"))
    expect(runners.held("a#2")).toBeGreaterThan(10)
    runners.runFor(9)
    expect(ownedBy("b", "c")).toBe(shardsPerGroup)
  })

  it("are told by the database what they lost, though they do not know it yet", () => {
    began(seed)
    const process = runners.process("a")
    const lost = runners.heldShards("a#1")
    runners.pause("a", 12 * s_us)
    runners.runFor(12)
    const held: Array<boolean> = []
    runners.world.after(0, process, () => {
      const { holds } = runners.placement.ownership(process)
      fork(
        process,
        Effect.tap(Effect.forEach(lost, holds), (answers) => held.push(...answers))
      )
    })
    runners.runFor(0.0005)
    expect(runners.believes("a").length).toBeGreaterThan(0)
    runners.runFor(1)
    expect(held).toEqual(lost.map(() => false))
  })

  it("take the shards of one that is cut off the database", () => {
    began(seed)
    runners.network.cut("a", "database", { oneWay: false, for_us: 20 * s_us })
    runners.runFor(9)
    expect(runners.held("a#1")).toBe(0)
    expect(runners.believes("a")).toEqual([])
    runners.runFor(31)
    expectAllHeld(runners, ["a#1", "b#1", "c#1"])
    for (const name of names) expect(runners.believes(name)).toEqual(runners.heldShards(`${name}#1`))
    expect(unanswered(names, 2)).toEqual([])
  })

  it("recover from a restart of the database, which frees all locks", () => {
    began(seed)
    runners.server.stop(2 * s_us)
    runners.runFor(0.1)
    expect(new Set(runners.owners())).toEqual(new Set([undefined]))
    runners.runFor(10)
    expectAllHeld(runners, ["a#1", "b#1", "c#1"])
    expect(unanswered(names, 2)).toEqual([])
  })

  it("hand their shards over when they stop in order", () => {
    began(seed)
    const { process } = runners.running.get("a")!
    runners.stop("a")
    expect(unanswered(["b", "c"], 3)).toEqual([])
    expect(process.isAlive).toBe(false)
    expectAllHeld(runners, ["b#1", "c#1"])
  })

  it("stop, though the database could not be reached just then, when it can be again", () => {
    began(seed)
    const { process } = runners.running.get("a")!
    runners.network.cut("a", "database", { oneWay: false, for_us: 12 * s_us })
    runners.runFor(5)
    runners.stop("a")
    runners.runFor(25)
    expect(process.isAlive).toBe(false)
    expectAllHeld(runners, ["b#1", "c#1"])
  })

  it("own again what one lost to a session that was ended", () => {
    began(seed)
    runners.placement.move()
    runners.runFor(0.01)
    expect(runners.owners()).toContain(undefined)
    runners.runFor(10)
    expectAllHeld(runners, ["a#1", "b#1", "c#1"])
    expect(unanswered(names, 2)).toEqual([])
  })

  it("live through statements that fail", () => {
    began(seed)
    runners.faults = { refused: 0.02, lost: 0.02, ignored: 0.02 }
    runners.runFor(60)
    runners.faults = { refused: 0, lost: 0, ignored: 0 }
    runners.runFor(12)
    expectAllHeld(runners, ["a#1", "b#1", "c#1"])
    expect(unanswered(names, 2)).toEqual([])
  })
})
