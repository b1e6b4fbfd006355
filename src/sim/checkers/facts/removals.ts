import type { Exchange } from "../../History.ts"
import { isWanted } from "./listed.ts"
import type { Life } from "./lives.ts"

/** The ends of many links that were asked for: of all of a user, or of all that a filter has. */
export interface Removals {
  /** Whether the end of all links of an owner was asked for. */
  readonly areAsked: (owner: string | null) => boolean
  /** Whether that of a link was asked for with those of others by a moment: microseconds since the world's beginning. */
  readonly mayEnd: (life: Life, by_us: number) => boolean
  /** Those of users' links. */
  readonly all: ReadonlyArray<Exchange>
}

/** See {@link Removals}. */
export const removalsOf = (exchanges: ReadonlyArray<Exchange>): Removals => {
  const all = exchanges.filter(({ kind, links }) => kind === "remove user" && links === "delete")
  const deletes = exchanges.filter(({ edit }) => edit?.act === "delete")
  return {
    all,
    areAsked: (owner) => all.some(({ user }) => user === owner),
    mayEnd: (life, by_us) =>
      all.some(({ sent_us, user }) => user === life.link.owner && sent_us <= by_us) ||
      deletes.some(
        ({ list, sent_us }) =>
          sent_us <= by_us && life.versions.some((version) => isWanted(list!, undefined, version))
      )
  }
}
