import { Effect, Exit, FiberRef } from "effect"
import { Quotas } from "../../accounts/Quotas.ts"
import { isReserved, type Reservation, uncounted } from "../../accounts/Reservations.ts"
import { countPeeked } from "../../actors/links/LinkCache.ts"
import { Links } from "../../actors/links/Links.ts"
import type { Link } from "../../model/Link.ts"
import type { Answer } from "../exchange/Answer.ts"
import type { Answering } from "../exchange/Answering.ts"
import { ClientAddress } from "../exchange/ClientAddress.ts"
import { answer as answerOf, decideRedirect, isProblem } from "./Redirect.ts"
import { endLookUp, type Redirects } from "./Redirects.ts"
import type { Request } from "../exchange/Request.ts"
import { TargetPolicy } from "../links/TargetPolicy.ts"
import * as VisitRecorder from "./VisitRecorder.ts"

/**
 * Redirects of links that lead somewhere now, and about which nothing else is to be asked or told. They have the checks and answers of all others, which are
 * left to {@link Redirects}, and no fiber of their own.
 */
export interface FastRedirect {
  /** Redirects a link that this node has cached; `undefined` for all others, of which nothing has been counted then. `idOf`: the request's id. */
  readonly now: (
    request: Request,
    key: string,
    idOf: (headers: Request["headers"]) => string
  ) => Answer | undefined
  /** Redirects a link when it has been read; `false`, and nothing is done, where the client may not look for more or requests are traced. */
  readonly soon: (request: Request, key: string, answering: Answering) => boolean
}

/** See {@link FastRedirect}. `general` redirects all others. */
export const make = Effect.fnUntraced(function* (general: Redirects["redirect"]) {
  const links = yield* Links
  const targets = yield* TargetPolicy
  const quotas = yield* Quotas
  const record = yield* VisitRecorder.make
  const { clientOf } = yield* ClientAddress
  const clock = yield* Effect.clock
  const isTraced = yield* FiberRef.get(FiberRef.currentTracerEnabled)

  /** What a look-up of a key takes in advance; nothing where the link is at hand. `undefined` where the client has to wait for it, or is refused. */
  const reserve = (request: Request, key: string): Reservation | undefined => {
    const client = clientOf(request)
    if ((links.findNow(key) ?? links.stale(key)) !== undefined) {
      return quotas.lookupsUsedUp(client) === undefined ? uncounted : undefined
    }
    const reserved = quotas.lookUpNow(client)
    return reserved !== undefined && isReserved(reserved) ? reserved : undefined
  }

  /** The answer to a request that is led somewhere without more ado, and it is counted; `undefined`, and nothing is counted, for all others. */
  const plain = (request: Request, link: Link, ...headers: ReadonlyArray<string>): Answer | undefined => {
    const now = clock.unsafeCurrentTimeMillis()
    const decision = decideRedirect(link, request, now, targets)
    if (decision.kind !== "redirect" || decision.visit === "granted") return undefined
    const { location, visit } = decision
    if (isProblem(location)) return undefined
    const standing = quotas.redirectNow(link)
    if (standing === undefined || standing?.isAllowed === false) return undefined
    if (visit === "counted") record(request, link, now)
    return answerOf(link, link.redirectStatus, location, ...headers)
  }

  return {
    now: (request, key, idOf) => {
      const fresh = links.findNow(key)
      const link = fresh ?? links.stale(key)
      if (link === undefined || quotas.lookupsUsedUp(clientOf(request)) !== undefined) return undefined
      const answer = plain(request, link, "x-request-id", idOf(request.headers))
      if (answer !== undefined && fresh !== undefined) countPeeked()
      return answer
    },
    soon: (request, key, { answer, instead, isOver }) => {
      if (isTraced) return false
      const reserved = reserve(request, key)
      if (reserved === undefined) return false
      links.findThen(key, (found) => {
        endLookUp(reserved, found)
        if (isOver()) return
        const link = Exit.getOrElse(found, () => null)
        try {
          const redirected = link === null ? undefined : plain(request, link)
          if (redirected === undefined) instead(general(request, key, found))
          else answer(redirected)
        } catch (defect) {
          instead(Effect.die(defect))
        }
      })
      return true
    }
  } satisfies FastRedirect
})
