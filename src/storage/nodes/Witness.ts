import { Context, Effect, Either } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import type { Watermark } from "../keys/KeyRangeStore.ts"
import type { StorageError } from "../StorageError.ts"

/** What a database had come to, as it is remembered outside of it. */
export interface Testimony {
  /** What tells the database system from all others; `undefined` where it does not say. */
  readonly system: string | undefined
  /** Counts the promotions of that system; 0 where there are none. */
  readonly timeline: number
  /** The greatest mark that it has committed: see `DatabaseMark`. */
  readonly mark: number
  /** Below these, numbers have left their ranges. In no particular order. */
  readonly watermarks: ReadonlyArray<Watermark>
}

/** What a new witness remembers. */
export const nothing: Testimony = { system: undefined, timeline: 0, mark: 0, watermarks: [] }

const slotOf = ({ length, range }: Watermark) => `${length}/${range}`

/** The greater of everything that two have seen. Of two systems the one that was seen first, by `one`. */
export const later = (one: Testimony, other: Testimony): Testimony => {
  const watermarks = new Map(one.watermarks.map((mark) => [slotOf(mark), mark]))
  for (const mark of other.watermarks) {
    if ((watermarks.get(slotOf(mark))?.next ?? -1) < mark.next) watermarks.set(slotOf(mark), mark)
  }
  return {
    system: one.system ?? other.system,
    timeline: Math.max(one.timeline, other.timeline),
    mark: Math.max(one.mark, other.mark),
    watermarks: [...watermarks.values()]
  }
}

/**
 * A memory outside the database. A database that has not come as far as its witness remembers has forgotten what it had committed.
 *
 * Laws:
 * 1. What `raise` was given is remembered when it has succeeded, also after a crash of this process: `read` gives at least as much, number by number.
 * 2. Nothing that is remembered ever falls, in whatever order numbers come and whoever raises them. The first system that was named stays.
 * 3. `adopt` alone names another system, and another timeline, whichever is greater.
 */
export class Witness extends Context.Tag("linkmint/Witness")<
  Witness,
  {
    readonly read: Effect.Effect<Testimony, StorageError>
    readonly raise: (seen: Testimony) => Effect.Effect<void, StorageError>
    readonly adopt: (database: Pick<Testimony, "system" | "timeline">) => Effect.Effect<void, StorageError>
  }
>() {}

/**
 * Several witnesses as one, at least one. Each is asked, and told, at the same time. One that answers is enough: it remembers what it was told, and those that were away then are told with the
 * next `raise`, which names all that is known.
 */
export const among = (witnesses: ReadonlyArray<typeof Witness.Service>): typeof Witness.Service => {
  const ask = <A>(of: (witness: typeof Witness.Service) => Effect.Effect<A, StorageError>) =>
    Effect.flatMap(
      Parallel.forEach(witnesses, (witness) => Effect.either(of(witness))),
      (answers) => {
        const told = answers.filter(Either.isRight).map(({ right }) => right)
        const [failed] = answers.filter(Either.isLeft)
        return told.length === 0 ? Effect.fail(failed!.left) : Effect.succeed(told)
      }
    )
  return Witness.of({
    read: Effect.map(
      ask(({ read }) => read),
      (told) => told.reduce(later)
    ),
    raise: (seen) => Effect.asVoid(ask(({ raise }) => raise(seen))),
    // One that still knows the other system would refuse it again.
    adopt: (database) => Effect.forEach(witnesses, ({ adopt }) => adopt(database), { discard: true })
  })
}
