import { MutableRef } from "effect"

/** What Effect keeps once a program, under the name of its module. */
const shared = <A>(name: string): A => {
  const values = (globalThis as unknown as Record<string, Map<unknown, unknown>>)["effect/GlobalValue"]!
  return values.get(Symbol.for(name)) as A
}

/** Where the fibers of every world begin to count. */
const first = 1_000_000

/**
 * The fibers of one world: their numbers, which Effect counts once a program, start with the same one in every world; and those that are roots go into a set of
 * its own, as old as the world. Many never end, because their process was killed; in the set of the program, which V8 has long moved to its old objects, each of them would
 * have all of its world copied there, too.
 */
export class FiberNumbers {
  #next = first
  readonly #roots = new Set<unknown>()

  /** Counts this world's fibers until the effect that it gives is run. */
  enter(): () => void {
    const counter = shared<MutableRef.MutableRef<number>>("effect/Fiber/Id/_fiberCounter")
    const scope = shared<{ roots: Set<unknown> }>("effect/FiberScope/Global")
    const outside = { next: MutableRef.get(counter), roots: scope.roots }
    MutableRef.set(counter, this.#next)
    scope.roots = this.#roots
    return () => {
      this.#next = MutableRef.get(counter)
      MutableRef.set(counter, outside.next)
      scope.roots = outside.roots
    }
  }
}
