import { Clock, Effect } from "effect"
import type { KnownCaller } from "../../accounts/Access.ts"
import { Links } from "../../actors/links/Links.ts"
import { stateAt } from "../../model/Link.ts"
import { isKeyShaped } from "../contract/LinkSchemas.ts"
import * as Caller from "../exchange/Caller.ts"
import type { Problem } from "../exchange/Problem.ts"
import { orProblem } from "./LinkAnswers.ts"

/** The problem of a key without a link that its caller may manage. */
export const noLink: Problem = { kind: "not-found", detail: "There is no link with this key." }

/** Gives the link of a key to a caller who may manage it. Deleted links, and those of other owners, answer 404. */
export const make = Effect.map(Links, (links) =>
  Effect.fnUntraced(function* (caller: KnownCaller, key: string) {
    const link = isKeyShaped(key) ? yield* orProblem(links.find(key)) : null
    const isThere = link !== null && stateAt(link, yield* Clock.currentTimeMillis) !== "deleted"
    return isThere && Caller.mayManage(caller, link.owner) ? link : yield* Effect.fail(noLink)
  })
)
