import { Context, Effect, Either } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import type { Watermark } from "../keys/KeyRangeStore.ts"
import type { StorageError } from "../StorageError.ts"

/** The state of a database, as it is remembered outside of it. */
export interface Testimony {
  /** Identifies the database system; `undefined` where it does not say. */
  readonly system: string | undefined
  /** Counts the promotions of that system; 0 where there are none. */
  readonly timeline: number
  /** The greatest mark that it has committed: see `DatabaseMark`. */
  readonly mark: number
  /** Numbers below these have left their ranges. In no particular order. */
  readonly watermarks: ReadonlyArray<Watermark>
}

/** The memory of a new witness. */
export const nothing: Testimony = { system: undefined, timeline: 0, mark: 0, watermarks: [] }

const slotOf = ({ length, range }: Watermark) => `${length}/${range}`

/** The maximum of each number that two have seen, and the system of `one`, if it has one. */
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
 * A memory outside the database. A database that is behind its witness has forgotten commits.
 *
 * Laws:
 * 1. When `raise` has succeeded, `read` gives at least its numbers, also after a crash of this process.
 * 2. No number ever falls, in whatever order and by whichever process they are raised. The first system that was named stays.
 * 3. Only `adopt` names another system, and another timeline, even a smaller one.
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
 * One or more witnesses as one. All are asked, and raised, at the same time. One that answers is enough: those that did not are brought up to date by the
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
    // All must: a witness that still knows the other system would refuse the database again.
    adopt: (database) => Effect.forEach(witnesses, ({ adopt }) => adopt(database), { discard: true })
  })
}
