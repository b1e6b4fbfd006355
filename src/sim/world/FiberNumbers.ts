import { MutableRef } from "effect"

/** What Effect keeps once a program, under the name of its module. */
const shared = <A>(name: string): A => {
  const values = (globalThis as unknown as Record<string, Map<unknown, unknown>>)["effect/GlobalValue"]!
  return values.get(Symbol.for(name)) as A
}

/** Where the fibers of every world begin to count. */
const first = 1_000_000

/**
 * The fibers of one world: their numbers, which Effect counts once a program, start with the same one in every world; and fibers that are roots
 * and never end, because their process was killed, are forgotten with their world.
 */
export class FiberNumbers {
  #next = first
  readonly #roots = new Set<unknown>()

  /** Counts this world's fibers until the effect that it gives is run. */
  enter(): () => void {
    const counter = shared<MutableRef.MutableRef<number>>("effect/Fiber/Id/_fiberCounter")
    const { roots } = shared<{ roots: Set<unknown> }>("effect/FiberScope/Global")
    const outside = MutableRef.get(counter)
    const before = new Set(roots)
    MutableRef.set(counter, this.#next)
    return () => {
      this.#next = MutableRef.get(counter)
      MutableRef.set(counter, outside)
      for (const root of roots) if (!before.has(root)) this.#roots.add(root)
    }
  }

  /** Lets go of the fibers that have not ended. */
  forget() {
    const { roots } = shared<{ roots: Set<unknown> }>("effect/FiberScope/Global")
    for (const root of this.#roots) roots.delete(root)
    this.#roots.clear()
  }
}
