import { Context, Effect, Exit, Scope } from "effect"
import { describe, expect, it } from "vitest"
import { ms_us } from "../../../../src/sim/world/Time.ts"
import type { VirtualProcess } from "../../../../src/sim/world/VirtualProcess.ts"
import { freshFor_ms } from "../../../../src/storage/links/LinkInvalidations.ts"
import { LinkStore } from "../../../../src/storage/links/LinkStore.ts"
import { linkOf } from "../../../support/samples/SomeLinks.ts"
import { LittleWorld } from "../LittleWorld.ts"

/** What a node hears, in order: keys, and `*` where it is to forget everything. */
const listen = (little: LittleWorld, process: VirtualProcess) => {
  const heard: Array<string> = []
  const scope = little.run(process, Scope.make())
  const changes = little.run(process, Scope.extend(little.database.changes(process), scope))
  const isFresh = () => changes.isFresh(process.monotonicNow_ms())
  let wasFresh: boolean | undefined
  let forgotAll_us = 0
  const subscriber = {
    forget: (key: string) => heard.push(key),
    forgetAll: () => {
      wasFresh = isFresh()
      forgotAll_us = little.world.now_us
      heard.push("*")
    }
  }
  little.run(process, Scope.extend(changes.subscribe(subscriber), scope))
  return {
    heard,
    isFresh,
    /** Whether the news was fresh when everything was to be forgotten the last time. */
    wasFresh: () => wasFresh,
    forgotAll_us: () => forgotAll_us,
    close: () => little.run(process, Scope.close(scope, Exit.void))
  }
}

const setUp = (seed = 1, delay_ms = 20) => {
  const little = new LittleWorld(seed, { delay_ms })
  const [process, other] = [little.world.spawn("node-1", 1), little.world.spawn("node-2", 1)]
  const context = little.database.stores(other)
  const links = Context.get(context, LinkStore)
  const news = listen(little, process)
  const remove = (...keys: ReadonlyArray<string>) => {
    little.run(other, links.insertMany(keys.map((key) => linkOf(key))))
    little.run(other, links.deleteMany(keys.map((key) => ({ key, at: 2 }))))
  }
  return { little, process, other, links, news, remove }
}

describe("the news of links", () => {
  it("tells of each deletion that another node committed, and of nothing else", () => {
    const { links, little, news, other, remove } = setUp()
    little.pass(1_000)
    little.run(other, links.insertMany([linkOf("kept")]))
    remove("a", "b")
    const none = [
      { key: "a", at: 3 },
      { key: "never", at: 3 }
    ]
    little.run(other, links.deleteMany(none))
    remove("c")
    little.pass(1_000)
    expect(news.heard).toEqual(["*", "a", "b", "c"])
  })

  it("tells all who listen, each in the order of the commits", () => {
    const { little, news, process, remove } = setUp()
    const [third, fourth] = [little.world.spawn("node-3", 1), little.world.spawn("node-4", 1)]
    const all = [news, listen(little, process), listen(little, third), listen(little, fourth)]
    little.pass(1_000)
    const keys = Array.from({ length: 50 }, (_, index) => `k${index}`)
    keys.forEach((key) => remove(key))
    little.pass(1_000)
    for (const { heard } of all) expect(heard).toEqual(["*", ...keys])
  })

  it("is not fresh before it listens, and forgets everything when it begins", () => {
    const { little, news } = setUp()
    expect(news.isFresh()).toBe(false)
    little.pass(1_000)
    expect(news.isFresh()).toBe(true)
    expect(news.heard).toEqual(["*"])
    expect(news.wasFresh()).toBe(false)
  })

  it("stays fresh as long as the database answers", () => {
    const { little, news } = setUp()
    little.pass(1_000)
    for (let second = 0; second < 60; second++) {
      little.pass(1_000)
      expect(news.isFresh()).toBe(true)
    }
    expect(news.heard).toEqual(["*"])
  })

  it("is not fresh while the database restarts, and forgets everything before it is fresh again", () => {
    const { little, news, remove } = setUp()
    little.pass(1_000)
    little.database.restart(1_000_000)
    little.pass(30)
    expect(news.isFresh()).toBe(false)
    little.pass(1_000)
    remove("missed, or not")
    little.pass(1_000)
    expect(news.heard.slice(0, 2)).toEqual(["*", "*"])
    expect(news.wasFresh()).toBe(false)
    expect(news.isFresh()).toBe(true)
  })

  it("loses its connection in the shortest restart", () => {
    for (let seed = 1; seed <= 10; seed++) {
      const { little, news } = setUp(seed)
      little.pass(1_000)
      little.database.restart(1)
      little.pass(25)
      expect(news.isFresh()).toBe(false)
      little.pass(1_000)
      expect(news.isFresh()).toBe(true)
      expect(news.heard).toEqual(["*", "*"])
    }
  })

  it("is not fresh while the way is cut, and forgets everything when it listens again", () => {
    const { little, news, remove } = setUp()
    little.pass(1_000)
    little.network.cut("database", "node-1", { oneWay: true, for_us: 3_000_000 })
    remove("missed")
    little.pass(freshFor_ms)
    expect(news.isFresh()).toBe(false)
    expect(news.heard).toEqual(["*"])
    little.pass(4_000)
    expect(news.heard).toEqual(["*", "*"])
    expect(news.isFresh()).toBe(true)
  })

  it("hears what was held up for a moment in its order, on the same connection", () => {
    const { little, news, remove } = setUp()
    little.pass(1_000)
    little.network.cut("database", "node-1", { oneWay: false, for_us: 500_000 })
    remove("a")
    remove("b", "c")
    little.pass(1_200)
    expect(news.heard).toEqual(["*", "a", "b", "c"])
    expect(news.isFresh()).toBe(true)
  })

  it("is not fresh when its process wakes from a pause", () => {
    const { little, news, process, remove } = setUp()
    little.pass(1_000)
    process.isPaused = true
    remove("meanwhile")
    little.pass(2_000)
    expect(news.heard).toEqual(["*"])
    expect(news.isFresh()).toBe(false)
    process.isPaused = false
    little.pass(2_000)
    expect(news.heard.some((heard, index) => index > 0 && ["*", "meanwhile"].includes(heard))).toBe(true)
    expect(news.isFresh()).toBe(true)
  })

  it("ends with its scope, and with its process", () => {
    const { little, news, process, remove } = setUp()
    const later = listen(little, process)
    little.pass(1_000)
    news.close()
    expect(news.isFresh()).toBe(false)
    remove("a")
    little.pass(500)
    expect(news.heard).toEqual(["*"])
    expect(later.heard).toEqual(["*", "a"])
    process.kill()
    remove("b")
    little.pass(5_000)
    expect(later.heard).toEqual(["*", "a"])
  })

  it("does not take old news for fresh when the wall clock jumps back while the way is cut", () => {
    const { little, news, process, remove } = setUp()
    little.pass(1_000)
    little.network.cut("database", "node-1", { oneWay: false, for_us: 10_000_000 })
    remove("missed")
    process.skew_us -= 10_000 * ms_us
    little.pass(freshFor_ms + 50)
    expect(news.heard).not.toContain("missed")
    expect(news.isFresh()).toBe(false)
  })
})

/** One run of a process whose connection suffers everything, with the law looked at all the time. Gives how often it was fresh. */
const holdLaw = (seed: number) => {
  const { links, little, news, other, process } = setUp(seed, 3_000)
  const chance = little.world.chance("trouble")
  little.databaseFaults = { refused: 0.05, lost: 0.01, ignored: 0.01 }
  let fresh = 0
  for (let round = 0; round < 400; round++) {
    const key = `k${round}`
    if (chance.happens(0.3)) {
      const change = Effect.zipRight(links.insertMany([linkOf(key)]), links.deleteMany([{ key, at: 2 }]))
      little.begin(other, Effect.ignore(change))
    }
    const for_us = chance.below(3_000) * ms_us
    if (chance.happens(0.01)) little.database.restart(for_us)
    if (chance.happens(0.02)) {
      const [from, to] = chance.happens(0.5) ? ["database", "node-1"] : ["node-1", "database"]
      little.network.cut(from!, to!, { oneWay: chance.happens(0.5), for_us })
    }
    if (chance.happens(0.02) && !process.isPaused) {
      process.isPaused = true
      little.world.after(for_us, null, () => {
        process.isPaused = false
      })
    }
    little.pass(chance.below(100))
    if (process.isPaused || !news.isFresh()) continue
    fresh++
    const heard = new Set(news.heard)
    const missed = little
      .told("deleted")
      .filter(({ at_us }) => little.world.now_us - at_us >= freshFor_ms * ms_us)
      .filter(({ at_us, key }) => !heard.has(key) && news.forgotAll_us() <= at_us)
    expect(missed, `seed ${seed}`).toEqual([])
  }
  little.world.end()
  return fresh
}

it("has brought every change that is old enough while it is fresh, whatever happens to connection and process", () => {
  let fresh = 0
  for (let seed = 1; seed <= 25; seed++) fresh += holdLaw(seed)
  // Or the law would hold for nothing.
  expect(fresh).toBeGreaterThan(25 * 100)
})
