import { Exit, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { LinkCacheWorld } from "./LinkCacheWorld.ts"

const cache = () => new LinkCacheWorld({ max: 10, behind: "store" })

describe("writing through a link cache", () => {
  it("keeps what a write left", () => {
    const world = cache()
    const write = world.write("k")
    world.settle()
    world.end(write)
    world.settle()
    expect(world.version(world.ask())).toBe(1)
    expect(world.reads.length).toBe(0)
  })

  it("neither joins nor keeps a read that began before the write and ends after it", () => {
    const world = cache()
    world.change("k")
    const before = world.ask()
    world.look(world.reads[0]!)
    const write = world.write("k")
    world.settle()
    const during = world.ask()
    world.apply(write)
    world.end(write)
    world.settle()
    const after = world.ask()
    world.answer(world.reads[0]!)
    world.answer(world.reads[1]!)
    world.settle()
    expect(world.version(before)).toBe(1)
    expect(world.version(during)).toBe(2)
    expect(world.version(after)).toBe(2)
    expect(world.peek("k")?.updatedAt).toBe(2)
  })

  it("neither joins nor keeps a read that began within a write, saw the old row, and ends after it", () => {
    const world = cache()
    world.change("k")
    const write = world.write("k")
    world.settle()
    const during = world.ask()
    world.look(world.reads[0]!)
    world.fail(write)
    world.settle()
    world.change("k")
    world.acknowledge("k")
    const after = world.ask()
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
    const world = cache()
    world.change("k")
    const write = world.write("k")
    world.settle()
    expect(world.warm()).toBe(1)
    world.apply(write)
    world.fail(write)
    world.settle()
    expect(world.readAgain()).toMatchObject({ key: "k" })
  })

  it("keeps nothing of two writes that overlap, whichever ends first", () => {
    for (const order of [
      [0, 1],
      [1, 0]
    ]) {
      const world = cache()
      const writes = [world.write("k"), world.write("k")]
      world.settle()
      world.apply(writes[1]!)
      world.apply(writes[0]!)
      for (const which of order) {
        world.end(writes[which]!)
        world.settle()
        expect(world.peek("k")).toBeUndefined()
      }
      expect(world.warm()).toBe(2)
      // The next write is alone again.
      const next = world.write("k")
      world.settle()
      world.end(next)
      world.settle()
      expect(world.peek("k")?.updatedAt).toBe(3)
    }
  })

  it("goes on when its caller is interrupted, and lasts until the store is done", () => {
    const world = cache()
    world.change("k")
    const write = world.write("k")
    world.settle()
    world.scheduler.fork(Fiber.interrupt(write.fiber))
    world.settle()
    expect(Exit.isInterrupted(write.fiber.unsafePoll()!)).toBe(true)
    // The old row, which must not outlive the write.
    expect(world.warm()).toBe(1)
    world.end(write)
    world.settle()
    expect(world.version(world.ask())).toBe(2)
  })

  it("forgets a key on request, with the read that is under way", () => {
    const world = cache()
    world.change("k")
    world.warm()
    world.cache.forget("k")
    expect(world.peek("k")).toBeUndefined()
    const old = world.ask()
    world.look(world.reads.at(-1)!)
    world.change("k")
    world.cache.forget("k")
    world.acknowledge("k")
    const fresh = world.ask()
    world.reads.slice(1).forEach((read) => world.answer(read))
    world.settle()
    expect([world.version(old), world.version(fresh)]).toEqual([1, 2])
    expect(world.peek("k")?.updatedAt).toBe(2)
  })

  it("keeps nothing of a write during which it was told to forget the key", () => {
    const world = cache()
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
