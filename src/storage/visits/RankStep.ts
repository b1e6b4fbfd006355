import { Effect } from "effect"
import type { LinkRank } from "../links/LinkStore.ts"
import type { StorageError } from "../StorageError.ts"

/** What a step of `VisitStore.rank` hands on. */
export interface RankStep {
  readonly ranks: ReadonlyArray<LinkRank>
}

/** Takes a step: hands on what it has before it is noted, so that what fails, or is given up meanwhile, is handed on again. Gives whether there was one. */
export const take = <Step extends RankStep, E>(
  next: Effect.Effect<Step | undefined, E>,
  handOn: (ranks: ReadonlyArray<LinkRank>) => Effect.Effect<void, StorageError>,
  note: (step: Step) => Effect.Effect<unknown, E>
): Effect.Effect<boolean, E | StorageError> =>
  Effect.gen(function* () {
    const step = yield* next
    if (step === undefined) return false
    if (step.ranks.length > 0) yield* handOn(step.ranks)
    yield* note(step)
    return true
  })
