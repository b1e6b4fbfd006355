import type { Exchange } from "../../History.ts"

/** The ends of all links of users that were asked for. */
export interface Removals {
  /** Whether one was asked for of an owner, by a moment if one is given: microseconds since the world's beginning. */
  readonly areAsked: (owner: string | null, by_us?: number) => boolean
  readonly all: ReadonlyArray<Exchange>
}

/** See {@link Removals}. */
export const removalsOf = (exchanges: ReadonlyArray<Exchange>): Removals => {
  const all = exchanges.filter(({ kind, links }) => kind === "remove user" && links === "delete")
  return {
    all,
    areAsked: (owner, by_us = Number.POSITIVE_INFINITY) =>
      all.some(({ sent_us, user }) => user === owner && sent_us <= by_us)
  }
}
