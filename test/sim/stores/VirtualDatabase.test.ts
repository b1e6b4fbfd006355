import { Context, type Effect, Exit, FiberId } from "effect"
import { expect, it } from "vitest"
import type { Link } from "../../../src/model/Link.ts"
import { fromStrings, toStrings } from "../../../src/keys/PackedKeys.ts"
import type { VirtualProcess } from "../../../src/sim/world/VirtualProcess.ts"
import { KeyRangeStore } from "../../../src/storage/keys/KeyRangeStore.ts"
import { KeyStock } from "../../../src/storage/keys/KeyStock.ts"
import { LinkLifetime } from "../../../src/storage/links/LinkLifetime.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { DatabaseMark } from "../../../src/storage/nodes/DatabaseMark.ts"
import { Fenced } from "../../../src/storage/StorageError.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { LittleWorld } from "./LittleWorld.ts"

const setUp = (seed = 1) => {
  const little = new LittleWorld(seed)
  const process = little.world.spawn("node-1", 1)
  return { little, process, ...portsOf(little, process) }
}

const portsOf = (little: LittleWorld, process: VirtualProcess) => {
  const context = little.database.stores(process)
  return {
    links: Context.get(context, LinkStore),
    lifetime: Context.get(context, LinkLifetime),
    ranges: Context.get(context, KeyRangeStore),
    stock: Context.get(context, KeyStock)
  }
}

/** What failed, as it is. */
const errorOf = <A, E>(exit: Exit.Exit<A, E>) =>
  exit._tag === "Failure" && exit.cause._tag === "Fail" ? exit.cause.error : exit

const all = { refused: 0, lost: 0, ignored: 0 }

it("has applied what it did not answer for, where the answer was lost", () => {
  const { links, little, process } = setUp()
  little.databaseFaults = { ...all, lost: 1 }
  const before_us = little.world.now_us
  expect(errorOf(little.exit(process, links.insertMany([linkOf("k")])))).toMatchObject({
    _tag: "StorageError",
    operation: "LinkStore.insertMany",
    applied: "unknown"
  })
  // As long as a statement may take.
  expect(little.world.now_us - before_us).toBeGreaterThanOrEqual(4_000_000)
  expect(little.database.row("k")).toEqual(linkOf("k"))
})

it("has not applied what it never saw, though the caller cannot know", () => {
  const { links, little, process } = setUp()
  little.databaseFaults = { ...all, ignored: 1 }
  expect(errorOf(little.exit(process, links.insertMany([linkOf("k")])))).toMatchObject({ applied: "unknown" })
  expect(little.database.row("k")).toBeUndefined()
})

it("has certainly done nothing of what was not sent, and says so at once", () => {
  const { links, little, process } = setUp()
  little.databaseFaults = { ...all, refused: 1 }
  const before_us = little.world.now_us
  expect(errorOf(little.exit(process, links.insertMany([linkOf("k")])))).toMatchObject({ applied: "no" })
  expect(little.world.now_us - before_us).toBeLessThan(10_000)
  little.pass(5_000)
  expect(little.database.row("k")).toBeUndefined()
})

it("fails what is asked for the first time, where it shall, and later calls of the same less and less", () => {
  const { links, little, process, ranges, stock } = setUp()
  little.databaseFaults = { ...all, first: 1 }
  const fails = (call: Effect.Effect<unknown, unknown>) => Exit.isFailure(little.exit(process, call))
  expect(fails(links.findMany(["k"]))).toBe(true)
  expect(fails(ranges.watermarks)).toBe(true)
  expect(fails(stock.size)).toBe(true)
  const later = Array.from({ length: 100 }, () => fails(links.findMany(["k"])))
  expect(later.filter((failed) => failed).length).toBeGreaterThan(0)
  expect(later.slice(50).filter((failed) => failed).length).toBeLessThan(5)
})

it("keeps over a restart what it has committed, and resets what is under way", () => {
  const { links, little, process, ranges, stock } = setUp()
  little.run(process, links.insertMany([linkOf("k")]))
  little.run(process, ranges.advance({ length: 7, range: 1 }, { count: 5, size: 100 }))
  const claim = little.run(process, stock.claim(0))
  little.run(process, stock.record({ ...claim, sequence: 1 }, fromStrings(["r"])))
  const underWay = little.begin(process, links.findMany(["k"]))
  little.pass(0.05)
  little.database.restart(2_000_000)
  expect(errorOf(little.end(underWay))).toMatchObject({ applied: "unknown" })
  expect(errorOf(little.exit(process, links.findMany(["k"])))).toMatchObject({ applied: "no" })
  little.pass(2_000)
  expect(little.run(process, links.findMany(["k"]))).toEqual([linkOf("k")])
  expect(little.run(process, ranges.watermarks)).toEqual([{ length: 7, range: 1, next: 5 }])
  expect(toStrings(little.database.openBatches[0]!.keys)).toEqual(["r"])
})

it("has some of the commits that a restart finds on their way to the disk, and no caller knows of which", () => {
  const { links, little, process } = setUp()
  little.database.ail("slow disk", 60_000_000)
  const keys = Array.from({ length: 8 }, (_, index) => `k${index}`)
  const underWay = keys.map((key) => ({
    key,
    doing: little.begin(process, links.insertMany([linkOf(key)]))
  }))
  little.pass(20)
  const cut = underWay.filter(({ doing }) => doing.exit === undefined)
  little.database.restart(100_000)
  for (const { doing } of cut) expect(errorOf(little.end(doing))).toMatchObject({ applied: "unknown" })
  const there = cut.filter(({ key }) => little.database.row(key) !== undefined)
  expect(cut.length).toBeGreaterThan(4)
  expect(there.length).toBeGreaterThan(0)
  expect(there.length).toBeLessThan(cut.length)
})

it("answers late what had to wait for a way that was cut, or gives it up", () => {
  const { links, little, process } = setUp()
  little.network.cut("node-1", "database", { oneWay: false, for_us: 1_000_000 })
  expect(little.run(process, links.insertMany([linkOf("late")]))).toEqual([true])
  little.network.cut("node-1", "database", { oneWay: false, for_us: 20_000_000 })
  expect(errorOf(little.exit(process, links.insertMany([linkOf("k")])))).toMatchObject({ applied: "unknown" })
})

it("does what a process has sent before it is killed, and tells nobody", () => {
  const { links, little, process } = setUp()
  let calls = 0
  // The first time it is told is before the call is sent, the second time when the answer has come.
  little.crashPoint = (victim) => {
    if (++calls === 2) victim.kill()
  }
  const doing = little.begin(process, links.insertMany([linkOf("k")]))
  little.pass(10_000)
  expect(doing.exit).toBeUndefined()
  expect(little.database.row("k")).toEqual(linkOf("k"))
})

it("never sees the call of a process that is killed before it", () => {
  const { links, little, process } = setUp()
  little.crashPoint = (victim) => victim.kill()
  little.begin(process, links.insertMany([linkOf("k")]))
  little.pass(10_000)
  expect(little.database.row("k")).toBeUndefined()
})

it("tells the journal of each binding, conflict and deletion once, and not of repeats", () => {
  const { links, little, process } = setUp()
  const created: Link = { ...linkOf("a"), createId: 7 }
  const other: Link = { ...linkOf("a"), createId: 8 }
  little.run(process, links.insertMany([created, created, other, linkOf("b")]))
  little.run(process, links.insertMany([created, linkOf("b")]))
  const [deletion, late] = [
    { key: "a", at: 9, deleteId: 3 },
    { key: "a", at: 10 }
  ]
  expect(little.run(process, links.deleteMany([deletion, late, deletion]))).toEqual([true, false, true])
  expect(little.run(process, links.deleteMany([deletion]))).toEqual([true])
  expect(little.told("bound").map(({ by, link }) => [by, link])).toEqual([
    ["node-1#1", created],
    ["node-1#1", linkOf("b")]
  ])
  expect(little.told("conflicted").map(({ link }) => link)).toEqual([other, linkOf("b")])
  expect(little.told("deleted").map(({ key }) => key)).toEqual(["a"])
  expect(little.database.row("a")).toMatchObject({ url: created.url, deletedAt: 9, updatedAt: 9 })
})

it("tells the journal of each change once, and not of repeats", () => {
  const { links, little, process } = setUp()
  little.run(process, links.insertMany([linkOf("a")]))
  const to = (updateId: number, url: string) => ({ key: "a", owner: null, at: 9, change: { url }, updateId })
  const [one, two] = [to(1, "https://one/"), to(2, "https://two/")]
  little.run(process, links.updateMany([one, one, two, one, { ...one, key: "none" }]))
  little.run(process, links.updateMany([one, { ...to(3, ""), change: { title: "t" } }]))
  expect(little.told("changed").map(({ link: { key, title, url } }) => [key, url, title])).toEqual([
    ["a", "https://one/", null],
    ["a", "https://two/", null],
    ["a", "https://two/", "t"]
  ])
  expect(little.database.row("a")).toMatchObject({ url: "https://two/", title: "t" })
})

it("tells the journal of links that expire and of keys that are free again, by its own clock", () => {
  const { lifetime, links, little, process, stock } = setUp()
  const expiresAt = little.world.now_ms + 1_000
  process.skew_us = 3_600_000_000
  const old: Link = { ...linkOf("old"), updatedAt: 1 }
  little.run(
    process,
    links.insertMany([
      { ...old, expiresAt },
      { ...linkOf("alias"), custom: true }
    ])
  )
  little.run(process, links.deleteMany([{ key: "alias", at: 9 }]))
  const quarantine = { quarantine_ms: 2_000, count: 10 }
  const batch = { ...little.run(process, stock.claim(0)), sequence: 0 }
  little.run(process, stock.record(batch, fromStrings(["old", "other"])))
  expect(little.run(process, lifetime.expireSome(10))).toEqual([])
  expect(little.run(process, lifetime.recycle(quarantine))).toEqual([])
  little.pass(1_000)
  expect(little.run(process, lifetime.expire(["old", "alias"]))).toEqual(["old"])
  little.pass(2_000)
  expect(little.run(process, lifetime.recycle(quarantine))).toHaveLength(2)
  expect(little.told("expired").map(({ by, key }) => [by, key])).toEqual([["node-1#1", "old"]])
  expect(little.told("freed").map(({ custom, key }) => [key, custom])).toEqual([
    ["alias", true],
    ["old", false]
  ])
  expect([...little.database.stockedKeys]).toEqual(["old"])
  expect(toStrings(little.database.openBatches[0]!.keys)).toEqual(["other"])
  // A new link of the key knows nothing of what happened to the old one.
  const change = { key: "old", owner: null, at: 9, change: { title: "t" }, updateId: 1 }
  little.run(process, links.insertMany([linkOf("old")]))
  little.run(process, links.updateMany([change]))
  expect(little.database.row("old")).toMatchObject({ title: "t", expiresAt: null })
})

it("tells the journal of what happens to ranges, stock and batches", () => {
  const { little, process, ranges, stock } = setUp()
  const slot = { length: 7, range: 3 }
  little.run(process, ranges.advance(slot, { count: 4, size: 6 }))
  little.run(process, ranges.advance(slot, { count: 4, size: 6 }))
  little.run(process, ranges.advance(slot, { count: 4, size: 6 }))
  expect(little.told("advanced").map(({ count, first }) => [first, count])).toEqual([
    [0, 4],
    [4, 2]
  ])
  const stale = little.run(process, stock.claim(2))
  const claim = little.run(process, stock.claim(2))
  expect(little.told("claimed").map(({ epoch }) => epoch)).toEqual([stale.epoch, claim.epoch])
  little.run(process, stock.add(fromStrings(["s0", "s1", "s2"])))
  expect(little.told("stocked").map(({ keys }) => keys)).toEqual([["s0", "s1", "s2"]])
  const batch = { ...claim, sequence: 1 }
  const taken = toStrings(little.run(process, stock.take(batch, 2)))
  little.run(process, stock.record(batch, fromStrings(["m"])))
  expect(little.told("recorded").map(({ batch, keys }) => [batch, keys])).toEqual([
    [`${claim.epoch}/1`, taken],
    [`${claim.epoch}/1`, ["m"]]
  ])
  expect(little.database.stockedKeys.size).toBe(1)
  expect(errorOf(little.exit(process, stock.take({ ...stale, sequence: 1 }, 1)))).toEqual(new Fenced(stale))
  expect(little.told("fenced").map(({ epoch, shard }) => ({ epoch, shard }))).toEqual([stale])
  for (const _ of [1, 2]) little.run(process, stock.close(claim, [{ epoch: claim.epoch, sequence: 1 }]))
  expect(little.told("closed").map(({ batch }) => batch)).toEqual([`${claim.epoch}/1`])
})

it("rolls back the transaction of a process that is frozen inside it, and lets others have its rows", () => {
  const { little, process, stock } = setUp()
  const node2 = little.world.spawn("node-2", 1)
  const other = portsOf(little, node2)
  const claim = little.run(process, stock.claim(0))
  // The first time it is told is before the call, the second time when the first statement is answered.
  let calls = 0
  little.crashPoint = (victim) => {
    if (++calls === 2) victim.isPaused = true
  }
  const frozen = little.begin(process, stock.record({ ...claim, sequence: 1 }, fromStrings(["r"])))
  little.pass(200)
  little.crashPoint = () => {}
  const claiming = little.begin(node2, other.stock.claim(0))
  little.pass(1_000)
  expect(little.database.sessions.locks.size).toBe(1)
  expect(claiming.exit).toBeUndefined()
  // It is silent for 3 s, which is later than the other waits for.
  expect(errorOf(little.end(claiming))).toMatchObject({ applied: "no" })
  little.pass(1_000)
  expect(little.database.sessions.locks.size).toBe(0)
  expect(little.run(node2, other.stock.claim(0)).epoch).toBe(claim.epoch + 1)
  process.isPaused = false
  expect(errorOf(little.end(frozen))).toMatchObject({ operation: "KeyStock.record" })
  expect(little.database.openBatches).toEqual([])
})

it("lends no more connections than the pool has, and gives none after 2 s of waiting", () => {
  const { little, process, stock } = setUp()
  little.run(process, stock.claim(0))
  little.databaseFaults = { ...all, ignored: 1 }
  const silent = Array.from({ length: 20 }, () => little.begin(process, stock.claim(0)))
  little.pass(100)
  little.databaseFaults = all
  const before_us = little.world.now_us
  expect(errorOf(little.exit(process, stock.size))).toMatchObject({ applied: "no" })
  expect(little.world.now_us - before_us).toBeGreaterThanOrEqual(2_000_000)
  expect(little.database.sessions.sessions).toBe(20)
  expect(silent.every((each) => errorOf(little.end(each)) !== undefined)).toBe(true)
})

it("lets a later call overtake one that is late, and tells the journal once how long it took", () => {
  const { links, little, process } = setUp()
  little.run(process, links.findMany(["k"]))
  little.slowCalls = { probability: 1, most_ms: 1_500 }
  const late = little.begin(process, links.insertMany([linkOf("k")]))
  little.pass(5)
  little.slowCalls = { probability: 0, most_ms: 0 }
  expect(little.run(process, links.findMany(["k"]))).toEqual([null])
  const before_us = little.world.now_us
  expect(little.end(late)).toEqual(Exit.succeed([true]))
  const heldUp = little.journal.entries.filter((entry) => entry.tag === "held up")
  expect(heldUp).toMatchObject([{ by: process.id, operation: "LinkStore.insertMany" }])
  const [{ for_us }] = heldUp as [(typeof heldUp)[number]]
  expect(for_us).toBeGreaterThan(100_000)
  expect(little.world.now_us - before_us).toBeGreaterThan(for_us - 10_000)
})

it("tells the journal of a call that had taken long when its process was killed, if it was still waited for", () => {
  const heldUpAfter = (passed_ms: number, gaveUp = false) => {
    const { links, little, process } = setUp()
    little.run(process, links.findMany(["k"]))
    little.databaseFaults = { ...all, ignored: 1 }
    const call = little.begin(process, links.findMany(["k"]))
    little.pass(passed_ms)
    if (gaveUp) call.fiber!.unsafeInterruptAsFork(FiberId.none)
    little.pass(10)
    process.kill()
    little.pass(10_000)
    return little.journal.entries.filter(({ tag }) => tag === "held up")
  }
  const heldUp = heldUpAfter(250)
  expect(heldUp).toMatchObject([{ by: "node-1#1", operation: "LinkStore.findMany" }])
  const [{ for_us }] = heldUp as [Extract<(typeof heldUp)[number], { tag: "held up" }>]
  expect(for_us).toBeGreaterThan(255_000)
  expect(for_us).toBeLessThanOrEqual(260_000)
  expect(heldUpAfter(50)).toEqual([])
  expect(heldUpAfter(250, true)).toEqual([])
})

it("may do late what a process had sent before it was killed", () => {
  const isBound = Array.from({ length: 20 }, (_, seed) => {
    const { links, little, process } = setUp(seed)
    little.run(process, links.findMany(["k"]))
    little.slowCalls = { probability: 1, most_ms: 1_500 }
    little.begin(process, links.insertMany([linkOf("k")]))
    little.pass(5)
    process.kill()
    expect(little.database.row("k")).toBeUndefined()
    little.pass(2_000)
    return little.database.row("k") !== undefined
  })
  expect(isBound).toContain(true)
})

const failingOver = (seed: number, lag_ms: number) => {
  const little = new LittleWorld(seed, { databaseLag_ms: lag_ms })
  const process = little.world.spawn("node-1", 1)
  const mark = Context.get(little.database.stores(process), DatabaseMark)
  return { little, process, mark, ...portsOf(little, process) }
}

const slot = { length: 7, range: 0 }

/** Everything that a database with a link, a claim and a record has of them. */
const contentOf = ({ database }: LittleWorld) => ({
  links: Array.from(database.rows.keys()).toSorted(),
  watermarks: database.watermarks,
  batches: database.openBatches.map(({ keys }) => toStrings(keys)),
  stocked: [...database.stockedKeys]
})

it("has all that it had committed after a failover to a synchronous standby, on another timeline", () => {
  const { links, little, mark, process, ranges } = failingOver(1, 0)
  little.run(process, links.insertMany([linkOf("k")]))
  little.run(process, ranges.advance(slot, { count: 5, size: 100 }))
  const before = contentOf(little)
  const { timeline } = little.run(process, mark.look)
  little.database.failOver(100_000)
  expect(errorOf(little.exit(process, links.findMany(["k"])))).toMatchObject({ applied: expect.any(String) })
  little.pass(200)
  expect(little.run(process, mark.look)).toEqual({ mark: 0, lineage: 0, timeline: timeline + 1 })
  expect(contentOf(little)).toEqual(before)
  expect(little.journal.entries.filter(({ tag }) => tag === "database forgot")).toEqual([])
})

it("is after a failover as it was after one of its last commits, and says what it has forgotten", () => {
  const forgotten = Array.from({ length: 30 }, (_, seed) => {
    const { lifetime, links, little, mark, process, ranges, stock } = failingOver(seed, 60)
    const states = [contentOf(little)]
    const step = <A, E>(effect: Effect.Effect<A, E>) => {
      const value = little.run(process, effect)
      states.push(contentOf(little))
      return value
    }
    step(links.insertMany([linkOf("a"), linkOf("b")]))
    step(ranges.advance(slot, { count: 5, size: 100 }))
    const claim = step(stock.claim(0))
    step(stock.add(fromStrings(["s"])))
    step(stock.take({ ...claim, sequence: 1 }, 1))
    step(links.deleteMany([{ key: "a", at: 9 }]))
    const { timeline } = little.run(process, mark.look)
    little.run(process, mark.move({ floor: 0, timeline }))
    step(lifetime.recycle({ quarantine_ms: 0, count: 10 }))
    step(ranges.advance(slot, { count: 5, size: 100 }))
    step(stock.close(claim, [{ epoch: claim.epoch, sequence: 1 }]))
    step(links.insertMany([linkOf("c")]))
    little.database.failOver(0)
    const entries = little.journal.entries.filter((entry) => entry.tag === "database forgot")
    const index = states.findLastIndex((state) => JSON.stringify(state) === JSON.stringify(contentOf(little)))
    expect(index).toBeGreaterThanOrEqual(0)
    if (entries.length === 0) expect(index).toBe(states.length - 1)
    for (const { links, watermarks } of entries) {
      expect(watermarks).toEqual(states[index]!.watermarks)
      const { links: before } = states[index]!
      const now = states.at(-1)!.links
      const different = [...before, ...now].filter((key) => before.includes(key) !== now.includes(key))
      expect(links).toEqual(expect.arrayContaining(different))
    }
    return states.length - 1 - index
  })
  expect(Math.min(...forgotten)).toBeLessThan(3)
  expect(Math.max(...forgotten)).toBeGreaterThan(5)
  expect(new Set(forgotten).size).toBeGreaterThan(4)
})

/** Two processes of which one is connected to a primary that is left behind, and the other to none. */
const leftBehind = (lag_ms: number) => {
  for (let seed = 1; ; seed++) {
    const one = failingOver(seed, lag_ms)
    const node2 = one.little.world.spawn("node-2", 1)
    const other = { process: node2, ...portsOf(one.little, node2) }
    const run = () => one.little.run(one.process, one.links.findMany(["k"]))
    one.little.run(one.process, one.links.insertMany([linkOf("k")]))
    one.little.database.failOver(300_000, 2_000_000)
    if (Exit.isFailure(one.little.exit(one.process, one.links.findMany(["k"])))) continue
    return { ...one, other, run }
  }
}

it("has a primary that is left behind read and write in vain for those who are connected to it, until they learn of the other one", () => {
  const { links, little, other, process } = leftBehind(1)
  expect(little.run(process, links.insertMany([linkOf("vain")]))).toEqual([true])
  expect(little.run(process, links.findMany(["vain"]))).toEqual([linkOf("vain")])
  expect(little.database.row("vain")).toBeUndefined()
  expect(errorOf(little.exit(other.process, other.links.findMany(["vain"])))).toMatchObject({ applied: "no" })
  const forgot = little.journal.entries.filter((entry) => entry.tag === "database forgot")
  expect(forgot.at(-1)).toMatchObject({ links: ["vain"] })
  expect(little.told("bound").map(({ link }) => link.key)).toEqual(["k"])
  little.pass(300)
  expect(little.run(other.process, other.links.insertMany([linkOf("new")]))).toEqual([true])
  expect(little.run(process, links.findMany(["new"]))).toEqual([null])
  // More at once than it has connections: a new one leads to the other server, and all others are dropped.
  const both = [1, 2, 3].map(() => little.begin(process, links.findMany(["new"])))
  both.forEach((each) => little.end(each))
  expect(little.run(process, links.findMany(["new"]))).toEqual([linkOf("new")])
})

it("ends the sessions of a primary that was left behind", () => {
  const { links, little, process } = leftBehind(1)
  little.pass(2_000)
  expect(little.run(process, links.findMany(["k"]))).toEqual([
    little.database.row("k") === undefined ? null : linkOf("k")
  ])
  expect(little.journal.entries.filter(({ tag }) => tag === "left behind")).toHaveLength(1)
})

it("never acknowledges what is written to a synchronous primary that is left behind", () => {
  const { links, little, process } = leftBehind(0)
  expect(errorOf(little.exit(process, links.insertMany([linkOf("vain")])))).toMatchObject({
    applied: "unknown"
  })
  expect(little.run(process, links.findMany(["vain", "k"]))).toEqual([null, linkOf("k")])
})

it("refuses writes with what PostgreSQL says while its disk is full or it is read-only, and answers queries", () => {
  const { links, little, process } = setUp()
  little.run(process, links.insertMany([linkOf("k")]))
  const ailing = [
    ["full disk", "No space left on device"],
    ["read-only", "read-only transaction"]
  ] as const
  for (const [ailment, reason] of ailing) {
    const other = little.begin(process, links.findMany(["k"]))
    little.database.ail(ailment, 1_000_000)
    expect(errorOf(little.exit(process, links.insertMany([linkOf(ailment)])))).toMatchObject({
      applied: "no",
      reason: expect.stringContaining(reason)
    })
    expect(little.end(other)).toEqual(Exit.succeed([linkOf("k")]))
    little.pass(1_000)
    expect(little.run(process, links.insertMany([linkOf(ailment)]))).toEqual([true])
  }
})

it("lends no connection to a read-only server, as production refuses it", () => {
  const { links, little, process } = setUp()
  little.database.ail("read-only", 1_000_000)
  expect(errorOf(little.exit(process, links.findMany(["k"])))).toMatchObject({
    applied: "no",
    reason: expect.stringContaining("the server is read-only")
  })
  little.pass(1_000)
  expect(little.run(process, links.findMany(["k"]))).toEqual([null])
})

it("takes longer for commits that write while its disk is slow, and not for queries", () => {
  const { links, little, process } = setUp()
  little.run(process, links.insertMany([linkOf("k")]))
  little.database.ail("slow disk", 60_000_000)
  const takes_us = (count: number, run: (index: number) => void) => {
    const before_us = little.world.now_us
    for (let index = 0; index < count; index++) run(index)
    return little.world.now_us - before_us
  }
  const insert = (index: number) => little.run(process, links.insertMany([linkOf(`k${index}`)]))
  expect(takes_us(10, insert)).toBeGreaterThan(1_000_000)
  expect(takes_us(10, () => little.run(process, links.findMany(["k"])))).toBeLessThan(100_000)
})
