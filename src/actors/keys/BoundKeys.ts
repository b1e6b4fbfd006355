import { Effect, Either } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import type { LinkPlacesService } from "../../storage/homes/LinkPlaces.ts"
import type { LinkStore } from "../../storage/links/LinkStore.ts"
import type { StorageError } from "../../storage/StorageError.ts"

/** What is known of keys when every database was asked for its own. */
export interface Asked {
  /** Keys that must not be handed out: see `LinkStore.takenAmong`. */
  readonly taken: ReadonlySet<string>
  /** Keys whose database gave no answer, and why one did not. */
  readonly unknown: ReadonlySet<string>
  readonly failure: StorageError | undefined
}

/** Keys by their lanes, without the lanes that have none. One question about keys of several databases fails where one of these does not answer; the questions of their lanes do so each by itself. */
const byLane = (
  { laneOf, lanes }: Pick<LinkPlacesService, "laneOf" | "lanes">,
  keys: ReadonlyArray<string>
): ReadonlyArray<ReadonlyArray<string>> => {
  const parts = Array.from({ length: lanes }, (): Array<string> => [])
  for (const key of keys) parts[laneOf(key)]!.push(key)
  return parts.filter(({ length }) => length > 0)
}

/** Asks which of the keys are bound, lane by lane, all at once. */
export const ask = (
  store: Pick<typeof LinkStore.Service, "takenAmong">,
  places: Pick<LinkPlacesService, "laneOf" | "lanes">,
  keys: ReadonlyArray<string>
): Effect.Effect<Asked> => {
  const parts = byLane(places, keys)
  return Effect.map(
    Parallel.forEach(parts, (part) => Effect.either(store.takenAmong(part))),
    (answers) => ({
      taken: new Set(answers.flatMap((answer) => (Either.isRight(answer) ? [...answer.right] : []))),
      unknown: new Set(answers.flatMap((answer, index) => (Either.isLeft(answer) ? parts[index]! : []))),
      failure: answers.find(Either.isLeft)?.left
    })
  )
}
