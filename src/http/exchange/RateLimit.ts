import { Effect } from "effect"
import type { Standing } from "../../accounts/Meter.ts"
import { type Answer, flatten } from "./Answer.ts"
import type { Problem } from "./Problem.ts"

const seconds = (ms: number) => String(Math.ceil(ms / 1_000))

/** The state of a quota as response headers; times in seconds. */
export const headersOf = ({ limit, remaining, resetIn_ms }: Standing): Record<string, string> => ({
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": String(remaining),
  "ratelimit-reset": seconds(resetIn_ms)
})

/** The problem of a quota that is used up: the client's, or that of the link's owner. */
export const problemOf = (standing: Standing): Problem => ({
  kind: "rate-limited",
  detail: `The limit of ${standing.limit} is used up. Please try again later.`,
  headers: { ...headersOf(standing), "retry-after": seconds(standing.retryIn_ms) }
})

/** Adds to an answer the state of the quota that the request was counted against, if it was. */
export const shownIn = (answer: Answer, standing: Standing | null): Answer => {
  if (standing !== null) answer.headers.push(...flatten(headersOf(standing)))
  return answer
}

/** Goes on where a quota allows it, or there is none. */
export const check = <E, R>(
  taken: Effect.Effect<Standing | null, E, R>
): Effect.Effect<Standing | null, E | Problem, R> =>
  Effect.filterOrFail(
    taken,
    (standing) => standing === null || standing.isAllowed,
    (standing) => problemOf(standing!)
  )

/** Of two quotas that were taken, the one that is used up sooner. */
export const tighter = (one: Standing | null, other: Standing | null): Standing | null =>
  one === null || (other !== null && other.remaining <= one.remaining) ? other : one
