import { Schema } from "effect"
import { shownVisitsLeft } from "../../model/Link.ts"

/**
 * A node's request for some of the visits that a link with `maxVisits` has left.
 *
 * A taker has one request for a link under way at a time, and numbers them: so the last number that each taker was granted is enough to recognize
 * a message that comes twice, by two ways, or late. A node is a taker for each lane (`LinkPlaces`), as a link's lane changes with its home.
 */
export const Take = Schema.Struct({
  key: Schema.String,
  count: Schema.Number,
  /** A lane of a node: a text that no other lane, and no other start of any node, has. */
  taker: Schema.String,
  /** Higher with each take of the taker. */
  number: Schema.Number
})
/** See {@link Take}. */
export type Take = typeof Take.Type

/** The answer to a take: visits granted, and those that the link has left then (`null`: it has no limit; 0 also: there is no such link). */
export const Taken = Schema.Struct({ granted: Schema.Number, left: Schema.NullOr(Schema.Number) })
/** See {@link Taken}. */
export type Taken = typeof Taken.Type

/** The last take of one taker: who, its number, and what was granted. */
export type LastTake = readonly [taker: string, number: number, granted: number]

/** What is known of a link's visits. */
export interface VisitsState {
  /** Below zero where more were used than are allowed by now. */
  readonly visitsLeft: number | null
  /** The newest first. */
  readonly takes: ReadonlyArray<LastTake>
}

/** Takers whose last takes are remembered of each link: as many as can redirect it while a message is on its way. */
export const takersRemembered = 32

/** The answer where there is no such link. */
export const noneTaken: Taken = { granted: 0, left: 0 }

const shownLeft = (visitsLeft: number | null) => (visitsLeft === null ? null : shownVisitsLeft(visitsLeft))

/**
 * Grants as many of the requested visits as are left. A repeat is granted what it was granted before, also where that was nothing, whatever the limit is by now; a take
 * that arrives after a later one of its taker is granted nothing, since nobody waits for it any more. Granted visits are used, whether or not the answer arrives.
 */
export const take = (
  state: VisitsState,
  { count, number, taker }: Take
): { readonly state: VisitsState; readonly taken: Taken } => {
  const { takes, visitsLeft } = state
  const last = takes.find(([other]) => other === taker)
  if (last !== undefined && number <= last[1]) {
    return { state, taken: { granted: number === last[1] ? last[2] : 0, left: shownLeft(visitsLeft) } }
  }
  const granted = visitsLeft === null ? count : Math.min(count, Math.max(0, visitsLeft))
  const left = visitsLeft === null ? null : visitsLeft - granted
  const others = takes.filter(([other]) => other !== taker)
  const newest: LastTake = [taker, number, granted]
  return {
    state: { visitsLeft: left, takes: [newest, ...others].slice(0, takersRemembered) },
    taken: { granted, left: shownLeft(left) }
  }
}
