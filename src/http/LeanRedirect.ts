import { Effect, Exit, FiberRef } from "effect"
import { Quotas } from "../accounts/Quotas.ts"
import { countPeeked } from "../actors/LinkCache.ts"
import { Links } from "../actors/Links.ts"
import { type Link, stateAt } from "../Link.ts"
import type { Answer } from "./Answer.ts"
import type { Answering } from "./Answering.ts"
import { ClientAddress } from "./ClientAddress.ts"
import { isKeyShaped } from "./LinkSchemas.ts"
import * as Redirect from "./Redirect.ts"
import { Redirects } from "./Redirects.ts"
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
 * Redirects of links that lead somewhere now, and about which nothing else is to be asked or told. They have the checks and answers of all others, which are
 * left to `Redirects`, and no fiber of their own.
 */
export interface LeanRedirect {
  /** Redirects a link that this node has cached; `undefined` for all others, of which nothing has been counted then. `idOf`: the request's id. */
  readonly now: (
    request: Request,
    key: string,
    idOf: (headers: Request["headers"]) => string
  ) => Answer | undefined
  /** Redirects a link when it has been read; `false`, and nothing is done, where the client may not look for more or requests are traced. */
  readonly soon: (request: Request, key: string, answering: Answering) => boolean
}

/** See {@link LeanRedirect}. */
export const make = Effect.gen(function* () {
  const links = yield* Links
  const redirects = yield* Redirects
  const targets = yield* TargetPolicy
  const quotas = yield* Quotas
  const record = yield* VisitRecorder.make
  const { clientOf } = yield* ClientAddress
  const clock = yield* Effect.clock
  const isTraced = yield* FiberRef.get(FiberRef.currentTracerEnabled)

  const mayLookUp = (request: Request) => quotas.lookupsUsedUp(clientOf(request)) === undefined

  /** The answer where it is as plain as that, and it is counted. */
  const plain = (request: Request, link: Link, ...headers: ReadonlyArray<string>): Answer | undefined => {
    if (link.passwordHash !== null || link.maxVisits !== null) return undefined
    if (link.forwardQuery && Redirect.queryOf(request.url) !== "") return undefined
    const now = clock.unsafeCurrentTimeMillis()
    if (stateAt(link, now) !== "live" || targets.faultOf(link.url) !== undefined) return undefined
    const standing = quotas.redirect(link)
    if (standing === undefined || standing?.isAllowed === false) return undefined
    if (request.method !== "HEAD") record(request, link, now)
    return Redirect.answer(link, link.redirectStatus, link.url, ...headers)
  }

  return {
    now: (request, key, idOf) => {
      const link = links.peek(key)
      if (link === undefined || !mayLookUp(request)) return undefined
      const answer = plain(request, link, "x-request-id", idOf(request.headers))
      if (answer !== undefined) countPeeked()
      return answer
    },
    soon: (request, key, { answer, instead, isOver }) => {
      if (isTraced || !mayLookUp(request)) return false
      links.findSoon(key, (found) => {
        if (isOver()) return
        const link = Exit.getOrElse(found, () => null)
        const redirected = link === null ? undefined : plain(request, link)
        if (redirected === undefined) instead(redirects.redirect(request, key, found))
        else answer(redirected)
      })
      return true
    }
  } satisfies LeanRedirect
})
