import { Effect } from "effect"
import { Quotas } from "../accounts/Quotas.ts"
import { countPeeked } from "../actors/LinkCache.ts"
import { Links } from "../actors/Links.ts"
import { stateAt } from "../Link.ts"
import type { Answer } from "./Answer.ts"
import { ClientAddress } from "./ClientAddress.ts"
import { isKeyShaped } from "./LinkSchemas.ts"
import * as Redirect from "./Redirect.ts"
import type { Request } from "./Request.ts"
import { TargetPolicy } from "./TargetPolicy.ts"
import * as VisitRecorder from "./VisitRecorder.ts"

const pages: ReadonlySet<string> = new Set(["docs", "metrics"])

/** Whether a path that looks like a short key is a page of this service. The router takes it in any case. */
const isPage = (key: string) => (key.length === 4 || key.length === 7) && pages.has(key.toLowerCase())

/** The key of a short URL; `undefined` where the target is anything else, or is written in another way. */
export const keyOf = (url: string): string | undefined => {
  const end = url.indexOf("?")
  const key = url.slice(1, end === -1 ? undefined : end)
  return url.charCodeAt(0) === 47 && isKeyShaped(key) && !isPage(key) ? key : undefined
}

/**
 * Redirects what is plainly hot, without an effect: a link that this node has cached, that leads somewhere now, and about which nothing else is to be asked
 * or told. `undefined` for all others, of which nothing has been counted then: `Redirects` answers them. The answer is the same.
 */
export const make = Effect.gen(function* () {
  const links = yield* Links
  const targets = yield* TargetPolicy
  const quotas = yield* Quotas
  const record = yield* VisitRecorder.make
  const { clientOf } = yield* ClientAddress
  const clock = yield* Effect.clock

  return (
    request: Request,
    key: string,
    idOf: (headers: Request["headers"]) => string
  ): Answer | undefined => {
    const { url } = request
    const link = links.peek(key)
    if (link === undefined) return undefined
    if (link.passwordHash !== null || link.maxVisits !== null) return undefined
    if (link.forwardQuery && Redirect.queryOf(url) !== "") return undefined
    const now = clock.unsafeCurrentTimeMillis()
    if (stateAt(link, now) !== "live" || targets.faultOf(link.url) !== undefined) return undefined
    if (quotas.lookupsUsedUp(clientOf(request)) !== undefined) return undefined
    const standing = quotas.redirect(link)
    if (standing === undefined || standing?.isAllowed === false) return undefined
    countPeeked()
    if (request.method !== "HEAD") record(request, link, now)
    return Redirect.answer(link, link.redirectStatus, link.url, "x-request-id", idOf(request.headers))
  }
})
