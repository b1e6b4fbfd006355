import { Exit, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { type Get, LinkCacheWorld } from "./LinkCacheWorld.ts"

/** A cache in front of creates too, as the owner of a partition has it. */
const owner = () => new LinkCacheWorld({ max: 10, absentFor_ms: 2_000 })

/** A cache that creates do not pass through, as a node has it. */
const node = () => new LinkCacheWorld({ max: 10, absentFor_ms: 0 })

/** Asks, and lets the question come as far as it can. */
const ask = (world: LinkCacheWorld, key = "k"): Get => {
  const get = world.get(key)
  world.settle()
  return get
}

const readAgain = (world: LinkCacheWorld, key = "k") => {
  const before = world.reads.length
  const get = ask(world, key)
  return world.reads.length > before ? world.reads[before]! : world.version(get)
}

/** Fills the cache with the present row. */
const warm = (world: LinkCacheWorld, key = "k") => {
  const get = ask(world, key)
  world.answer(world.reads.at(-1)!)
  world.settle()
  return world.version(get)
}

describe("reading through a link cache", () => {
  it("reads a key once for all who ask while the read is under way", () => {
    const world = owner()
    world.change("k")
    const gets = Array.from({ length: 10 }, () => world.get("k"))
    world.settle()
    expect(world.reads.length).toBe(1)
    world.answer(world.reads[0]!)
    world.settle()
    expect(gets.map((get) => world.version(get))).toEqual(Array.from({ length: 10 }, () => 1))
    expect(world.peek("k")?.updatedAt).toBe(1)
    expect(world.version(ask(world))).toBe(1)
    expect(world.reads.length).toBe(1)
  })

  it("reads different keys side by side", () => {
    const world = owner()
    ask(world, "a")
    ask(world, "b")
    expect(world.reads.map(({ key }) => key)).toEqual(["a", "b"])
  })

  it("goes on reading when those who asked are interrupted", () => {
    const world = owner()
    world.change("k")
    const first = ask(world)
    const second = ask(world)
    world.scheduler.fork(Fiber.interrupt(first.fiber))
    world.settle()
    world.answer(world.reads[0]!)
    world.settle()
    expect(world.version(second)).toBe(1)
    expect(world.reads.length).toBe(1)
    expect(world.peek("k")).toBeDefined()
  })

  it("fails all who wait for a read that fails, keeps nothing, and reads anew", () => {
    const world = owner()
    world.change("k")
    const gets = [ask(world), ask(world)]
    world.failRead(world.reads[0]!)
    world.settle()
    for (const get of gets) expect(world.result(get)).toEqual(Exit.fail("the read failed"))
    expect(warm(world)).toBe(1)
  })

  it("holds at most its maximum, and forgets what was used longest ago", () => {
    const world = new LinkCacheWorld({ max: 2, absentFor_ms: 0 })
    for (const key of ["a", "b", "c"]) {
      world.change(key)
      warm(world, key)
      expect(world.cache.size()).toBeLessThanOrEqual(2)
    }
    expect(["a", "b", "c"].map((key) => world.peek(key)?.key)).toEqual([undefined, "b", "c"])
  })

  it("interrupts those who wait when its scope closes, and those who ask afterwards", () => {
    const world = owner()
    const before = ask(world)
    world.close()
    const after = ask(world)
    for (const get of [before, after]) {
      const result = world.result(get)
      expect(result !== undefined && Exit.isInterrupted(result)).toBe(true)
    }
  })
})

describe("absences", () => {
  it("are remembered for absentFor_ms, not longer", () => {
    const world = owner()
    warm(world)
    world.now_ms += 1_999
    expect(readAgain(world)).toBe(0)
    world.now_ms += 1
    expect(readAgain(world)).toMatchObject({ key: "k" })
  })

  it("are counted from the end of the read", () => {
    const world = owner()
    ask(world)
    world.now_ms += 5_000
    world.answer(world.reads[0]!)
    world.settle()
    world.now_ms += 1_999
    expect(readAgain(world)).toBe(0)
  })

  it("are not told by `peek`", () => {
    const world = owner()
    warm(world)
    expect(world.peek("k")).toBeUndefined()
  })

  it("are not remembered at all when absentFor_ms is 0", () => {
    const world = node()
    warm(world)
    expect(world.cache.size()).toBe(0)
    expect(readAgain(world)).toMatchObject({ key: "k" })
  })

  it("end with a create of the key", () => {
    const world = owner()
    warm(world)
    const write = world.write("k")
    world.settle()
    world.end(write)
    world.settle()
    expect(world.version(ask(world))).toBe(1)
    expect(world.reads.length).toBe(1)
  })

  it("that a read found before a create elsewhere are not the answer to a question after it", () => {
    const world = node()
    const before = ask(world)
    world.look(world.reads[0]!)
    world.change("k")
    world.acknowledge("k")
    const after = [ask(world), ask(world)]
    world.answer(world.reads[0]!)
    world.settle()
    expect(world.version(before)).toBe(0)
    expect(world.reads.length).toBe(2)
    world.answer(world.reads[1]!)
    world.settle()
    expect(after.map((get) => world.version(get))).toEqual([1, 1])
  })
})

describe("writing through a link cache", () => {
  it("keeps what a write left", () => {
    const world = owner()
    const write = world.write("k")
    world.settle()
    world.end(write)
    world.settle()
    expect(world.version(ask(world))).toBe(1)
    expect(world.reads.length).toBe(0)
  })

  it("neither joins nor keeps a read that began before the write and ends after it", () => {
    const world = owner()
    world.change("k")
    const before = ask(world)
    world.look(world.reads[0]!)
    const write = world.write("k")
    world.settle()
    const during = ask(world)
    world.apply(write)
    world.end(write)
    world.settle()
    const after = ask(world)
    world.answer(world.reads[0]!)
    world.answer(world.reads[1]!)
    world.settle()
    expect(world.version(before)).toBe(1)
    expect(world.version(during)).toBe(2)
    expect(world.version(after)).toBe(2)
    expect(world.peek("k")?.updatedAt).toBe(2)
  })

  it("neither joins nor keeps a read that began within a write, saw the old row, and ends after it", () => {
    const world = owner()
    world.change("k")
    const write = world.write("k")
    world.settle()
    const during = ask(world)
    world.look(world.reads[0]!)
    world.fail(write)
    world.settle()
    world.change("k")
    world.acknowledge("k")
    const after = ask(world)
    expect(world.reads.length).toBe(2)
    world.answer(world.reads[0]!)
    world.settle()
    expect(world.version(during)).toBe(1)
    expect(world.result(after)).toBeUndefined()
    world.answer(world.reads[1]!)
    world.settle()
    expect(world.version(after)).toBe(2)
    expect(world.peek("k")?.updatedAt).toBe(2)
  })

  it("forgets at its end what a read within it has found", () => {
    const world = owner()
    world.change("k")
    const write = world.write("k")
    world.settle()
    expect(warm(world)).toBe(1)
    world.apply(write)
    world.fail(write)
    world.settle()
    expect(readAgain(world)).toMatchObject({ key: "k" })
  })

  it("keeps nothing of two writes that overlap, whichever ends first", () => {
    for (const order of [
      [0, 1],
      [1, 0]
    ]) {
      const world = owner()
      const writes = [world.write("k"), world.write("k")]
      world.settle()
      world.apply(writes[1]!)
      world.apply(writes[0]!)
      for (const which of order) {
        world.end(writes[which]!)
        world.settle()
        expect(world.peek("k")).toBeUndefined()
      }
      expect(warm(world)).toBe(2)
      // The next write is alone again.
      const next = world.write("k")
      world.settle()
      world.end(next)
      world.settle()
      expect(world.peek("k")?.updatedAt).toBe(3)
    }
  })

  it("goes on when its caller is interrupted, and lasts until the store is done", () => {
    const world = owner()
    world.change("k")
    const write = world.write("k")
    world.settle()
    world.scheduler.fork(Fiber.interrupt(write.fiber))
    world.settle()
    expect(Exit.isInterrupted(write.fiber.unsafePoll()!)).toBe(true)
    // The old row, which must not outlive the write.
    expect(warm(world)).toBe(1)
    world.end(write)
    world.settle()
    expect(world.version(ask(world))).toBe(2)
  })

  it("forgets a key on request, with the read that is under way", () => {
    const world = node()
    world.change("k")
    warm(world)
    world.cache.forget("k")
    expect(world.peek("k")).toBeUndefined()
    const old = ask(world)
    world.look(world.reads.at(-1)!)
    world.change("k")
    world.cache.forget("k")
    world.acknowledge("k")
    const fresh = ask(world)
    world.reads.slice(1).forEach((read) => world.answer(read))
    world.settle()
    expect([world.version(old), world.version(fresh)]).toEqual([1, 2])
    expect(world.peek("k")?.updatedAt).toBe(2)
  })

  it("keeps nothing of a write during which it was told to forget the key", () => {
    const world = node()
    const write = world.write("k")
    world.settle()
    world.apply(write)
    world.change("k")
    world.cache.forget("k")
    world.end(write)
    world.settle()
    expect(world.peek("k")).toBeUndefined()
  })
})

describe("news of changes elsewhere", () => {
  it("makes the cache forget the row, and the read that is under way", () => {
    const world = node()
    world.change("k")
    warm(world)
    world.change("k")
    world.news?.forget("k")
    world.acknowledge("k")
    expect(world.peek("k")).toBeUndefined()
    expect(warm(world)).toBe(2)
  })

  it("that may have been missed makes the cache forget everything, what is under way too", () => {
    const world = node()
    world.change("a")
    warm(world, "a")
    const write = world.write("b")
    const old = ask(world, "c")
    world.look(world.reads.at(-1)!)
    world.apply(write)
    world.change("b")
    world.change("c")
    world.news?.forgetAll()
    world.end(write)
    world.answer(world.reads.at(-1)!)
    world.settle()
    expect(world.version(old)).toBe(0)
    expect(world.cache.size()).toBe(0)
  })

  it("that is not fresh makes every question a read of its own, until it is again", () => {
    const world = node()
    world.change("k")
    warm(world)
    world.isFresh = false
    expect(world.peek("k")).toBeUndefined()
    const gets = [ask(world), ask(world)]
    expect(world.reads.length).toBe(3)
    world.change("k")
    world.reads.slice(1).forEach((read) => world.answer(read))
    world.settle()
    expect(gets.map((get) => world.version(get))).toEqual([2, 2])
    world.news?.forgetAll()
    world.isFresh = true
    expect(warm(world)).toBe(2)
    expect(readAgain(world)).toBe(2)
  })
})
