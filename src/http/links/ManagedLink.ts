import { Effect } from "effect"
import type { KnownCaller } from "../../accounts/Access.ts"
import { Links } from "../../actors/links/Links.ts"
import type { Link } from "../../model/Link.ts"
import { isLinkText } from "../contract/LinkSchemas.ts"
import * as Caller from "../exchange/Caller.ts"
import { Domains } from "../domains/Domains.ts"
import type { QueryText } from "../exchange/PageRequest.ts"
import type { Problem } from "../exchange/Problem.ts"
import { orProblem } from "./LinkAnswers.ts"
import { findAsWritten } from "./WrittenKeys.ts"

/** The problem of a key without a link that its caller may manage. */
export const noLink: Problem = { kind: "not-found", detail: "There is no link with this key." }

/** A link as requests name it. */
export interface NamedLink {
  readonly key: string
  /** The host name of its domain; none for the default one. */
  readonly domain?: QueryText | undefined
}

/** Gives the row of a key, also of a deleted link; `null` where there is none. */
export const makeFinder = Effect.map(
  Effect.all([Links, Domains]),
  ([links, domains]) =>
    ({ domain, key }: NamedLink): Effect.Effect<Link | null, Problem> => {
      const text = domains.textOf(key, domain)
      return text !== undefined && isLinkText(text)
        ? orProblem(findAsWritten(domains, links.find, text))
        : Effect.succeed(null)
    }
)

/** The link of a row; `null` where there is none, or it is deleted. */
export const present = (row: Link | null): Link | null => (row?.deletedAt === null ? row : null)

/** Gives the link of a key to a caller who may manage it. Deleted links, and those of other owners, answer 404. */
export const make = Effect.map(makeFinder, (find) =>
  Effect.fnUntraced(function* (caller: KnownCaller, named: NamedLink) {
    const link = present(yield* find(named))
    return link !== null && Caller.mayManage(caller, link.owner) ? link : yield* Effect.fail(noLink)
  })
)
