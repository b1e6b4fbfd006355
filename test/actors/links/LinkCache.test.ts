import { Exit, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { freshFor_ms } from "../../../src/storage/links/LinkInvalidations.ts"
import { LinkCacheWorld } from "./LinkCacheWorld.ts"

const cache = () => new LinkCacheWorld({ max: 10, behind: "store" })

describe("reading through a link cache", () => {
  it("reads a key once for all who ask while the read is under way", () => {
    const world = cache()
    world.change("k")
    const gets = Array.from({ length: 10 }, () => world.get("k"))
    world.settle()
    expect(world.reads.length).toBe(1)
    world.answer(world.reads[0]!)
    world.settle()
    expect(gets.map((get) => world.version(get))).toEqual(Array.from({ length: 10 }, () => 1))
    expect(world.peek("k")?.updatedAt).toBe(1)
    expect(world.version(world.ask())).toBe(1)
    expect(world.reads.length).toBe(1)
  })

  it("reads different keys side by side", () => {
    const world = cache()
    world.ask("a")
    world.ask("b")
    expect(world.reads.map(({ key }) => key)).toEqual(["a", "b"])
  })

  it("goes on reading when those who asked are interrupted", () => {
    const world = cache()
    world.change("k")
    const first = world.ask()
    const second = world.ask()
    world.scheduler.fork(Fiber.interrupt(first.fiber))
    world.settle()
    world.answer(world.reads[0]!)
    world.settle()
    expect(world.version(second)).toBe(1)
    expect(world.reads.length).toBe(1)
    expect(world.peek("k")).toBeDefined()
  })

  it("fails all who wait for a read that fails, keeps nothing, and reads anew", () => {
    const world = cache()
    world.change("k")
    const gets = [world.ask(), world.ask()]
    world.failRead(world.reads[0]!)
    world.settle()
    for (const get of gets) expect(world.result(get)).toEqual(Exit.fail("the read failed"))
    expect(world.warm()).toBe(1)
  })

  it("holds at most its maximum, and forgets what was used longest ago", () => {
    const world = new LinkCacheWorld({ max: 2, behind: "store" })
    for (const key of ["a", "b", "c"]) {
      world.change(key)
      world.warm(key)
      expect(world.cache.size()).toBeLessThanOrEqual(2)
    }
    expect(["a", "b", "c"].map((key) => world.peek(key)?.key)).toEqual([undefined, "b", "c"])
  })
})

describe("absences", () => {
  it("are not given by `getNow`", () => {
    const world = cache()
    world.warm()
    expect(world.peek("k")).toBeUndefined()
  })

  it("are not remembered", () => {
    const world = cache()
    world.warm()
    expect(world.cache.size()).toBe(0)
    expect(world.readAgain()).toMatchObject({ key: "k" })
  })

  it("end with a create of the key", () => {
    const world = cache()
    world.warm()
    const write = world.write("k")
    world.settle()
    world.end(write)
    world.settle()
    expect(world.version(world.ask())).toBe(1)
    expect(world.reads.length).toBe(1)
  })

  it("that a read found before a create elsewhere are not the answer to a question after it", () => {
    const world = cache()
    const before = world.ask()
    world.look(world.reads[0]!)
    world.change("k")
    world.acknowledge("k")
    const after = [world.ask(), world.ask()]
    world.answer(world.reads[0]!)
    world.settle()
    expect(world.version(before)).toBe(0)
    expect(world.reads.length).toBe(2)
    world.answer(world.reads[1]!)
    world.settle()
    expect(after.map((get) => world.version(get))).toEqual([1, 1])
  })
})

describe("news of changes elsewhere", () => {
  it("makes the cache forget the row, and the read that is under way", () => {
    const world = cache()
    world.change("k")
    world.warm()
    world.change("k")
    world.news?.forget("k")
    world.acknowledge("k")
    expect(world.peek("k")).toBeUndefined()
    expect(world.warm()).toBe(2)
  })

  it("that may have been missed makes the cache forget everything, what is under way too", () => {
    const world = cache()
    world.change("a")
    world.change("c")
    world.warm("a")
    const write = world.write("b")
    const old = world.ask("c")
    world.look(world.reads.at(-1)!)
    world.apply(write)
    world.change("b")
    world.change("c")
    world.news?.forgetAll()
    world.end(write)
    world.answer(world.reads.at(-1)!)
    world.settle()
    expect(world.version(old)).toBe(1)
    expect(world.cache.size()).toBe(0)
  })

  it("that is not fresh makes every question a read of its own, until it is again", () => {
    const world = cache()
    world.change("k")
    world.warm()
    world.isFresh = false
    expect(world.peek("k")).toBeUndefined()
    const gets = [world.ask(), world.ask()]
    expect(world.reads.length).toBe(3)
    world.change("k")
    world.reads.slice(1).forEach((read) => world.answer(read))
    world.settle()
    expect(gets.map((get) => world.version(get))).toEqual([2, 2])
    world.news?.forgetAll()
    world.isFresh = true
    expect(world.warm()).toBe(2)
    expect(world.readAgain()).toBe(2)
  })

  it("whose store does not answer either leaves redirects what was known, of links that need no more, for a minute", () => {
    const world = cache()
    world.change("k")
    world.warm()
    world.isFresh = false
    expect(world.cache.staleNow("k")).toBeUndefined()
    world.awayFor = 800
    expect(world.cache.staleNow("k")).toMatchObject({ key: "k" })
    expect(world.peek("k")).toBeUndefined()
    expect(world.cache.staleNow("unknown")).toBeUndefined()
    world.awayFor = 59_999
    expect(world.cache.staleNow("k")).toMatchObject({ key: "k" })
    world.awayFor = 60_000
    expect(world.cache.staleNow("k")).toBeUndefined()
    world.awayFor = 800
    world.news?.forgetAll()
    expect(world.cache.staleNow("k")).toBeUndefined()
  })

  it("whose store does not answer for some keys, as their database is away, leaves redirects what was known of those, and goes by the news for all others", () => {
    const world = cache()
    for (const key of ["k", "other"]) {
      world.change(key)
      world.warm(key)
    }
    world.isFresh = false
    world.awayFor = 800
    world.silent = new Set(["k"])
    const shown = ["k", "other"].map((key) => ({
      stale: world.cache.staleNow(key)?.key,
      now: world.peek(key)?.key,
      isAway: world.cache.isAway(key),
      isSilent: world.cache.isSilent(key)
    }))
    expect(shown).toEqual([
      { stale: "k", now: undefined, isAway: true, isSilent: true },
      { stale: undefined, now: "other", isAway: false, isSilent: false }
    ])
  })

  it("makes what another cache answers not be kept, until that has surely heard it too", () => {
    const world = new LinkCacheWorld({ max: 10, behind: "cache" })
    world.change("k")
    world.warm()
    world.change("k")
    world.news?.forget("k")
    expect(world.warm()).toBe(1)
    expect(world.peek("k")).toBeUndefined()
    world.now_ms += freshFor_ms - 1
    world.warm()
    expect(world.peek("k")).toBeUndefined()
    world.now_ms += 1
    expect(world.warm()).toBe(2)
    expect(world.peek("k")?.updatedAt).toBe(2)
  })
})
