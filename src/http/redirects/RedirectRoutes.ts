import { Effect, Exit, FiberRef } from "effect"
import { isReserved } from "../../accounts/Reservations.ts"
import { Quotas } from "../../accounts/Quotas.ts"
import { countHit } from "../../actors/links/LinkCache.ts"
import { Links } from "../../actors/links/Links.ts"
import type { Link } from "../../model/Link.ts"
import { isLinkText } from "../contract/LinkSchemas.ts"
import type { FastOperation, OperationsOf } from "../contract/Operations.ts"
import type { Answer } from "../exchange/Answer.ts"
import { Domains } from "../domains/Domains.ts"
import { ClientAddress } from "../exchange/ClientAddress.ts"
import type { Request } from "../exchange/Request.ts"
import { TargetPolicy } from "../links/TargetPolicy.ts"
import { endLookUp } from "./LookUps.ts"
import {
  answerLed,
  behindKey,
  cardFor,
  decideRedirect,
  isProblem,
  longPathOf,
  type ShortPath
} from "./Redirect.ts"
import * as Redirects from "./Redirects.ts"
import * as VisitorFacts from "./rules/VisitorFacts.ts"

type Redirect = Required<FastOperation<ShortPath>>

/**
 * Redirects without a fiber: links that lead somewhere now, and of which nothing else has to be asked. They have the checks and answers of all others, which are
 * left to `general`. None is redirected later where requests are traced.
 */
export const makeFast = Effect.fnUntraced(function* (
  general: Pick<Redirects.Redirects, "redirect" | "reserveNow" | "mayBeLong">
) {
  const links = yield* Links
  const leading = { targets: yield* TargetPolicy, factsOf: yield* VisitorFacts.make }
  const quotas = yield* Quotas
  const record = yield* Redirects.makeRecorder
  const { clientOf } = yield* ClientAddress
  const domains = yield* Domains
  const clock = yield* Effect.clock
  const isTraced = yield* FiberRef.get(FiberRef.currentTracerEnabled)

  /** Redirects a request and counts the visit; `undefined`, and nothing is counted, where there is more to it. */
  const redirectNow = (
    request: Request,
    link: Link,
    rest: string | undefined,
    ...headers: ReadonlyArray<string>
  ): Answer<string> | undefined => {
    const now = clock.unsafeCurrentTimeMillis()
    const decision = decideRedirect(link, request, now, leading, false, rest)
    if (decision.kind !== "redirect" || decision.visit === "granted") return undefined
    const { location, visit } = decision
    if (isProblem(location)) return undefined
    if (link.extras !== undefined && cardFor(link, request) !== undefined) return undefined
    const standing = quotas.redirectNow(link)
    if (standing === undefined || standing?.isAllowed === false) return undefined
    if (visit === "counted") record(request, decision, now)
    return answerLed(decision, link.redirectStatus, location, ...headers)
  }

  /** Of a path with several segments, which may be an alias's as well, the longest alias is at hand or not; `undefined`: it is not. */
  const longNow = (path: ShortPath): ShortPath | undefined => {
    if (!general.mayBeLong(path)) return path
    const { texts, whole } = longPathOf(path)
    const [key] = texts
    if (texts.length === 1) return path
    const { isPreview, rest } = behindKey(whole, { key })
    return isPreview || links.findNow(key) === undefined ? undefined : { key, rest }
  }

  /** Redirects links that this node has cached. */
  const answerNow: Redirect["answerNow"] = (request, path, idOf) => {
    const meant = longNow(path)
    if (meant === undefined) return undefined
    const { key, rest } = meant
    const fresh = links.findNow(key)
    const link = fresh ?? links.staleNow(key)
    if (link === undefined || quotas.lookupsUsedUp(clientOf(request)) !== undefined) return undefined
    const answer = redirectNow(request, link, rest, "x-request-id", idOf(request.headers))
    if (answer !== undefined && fresh !== undefined) countHit()
    return answer
  }

  /** Redirects links that have to be read. */
  const answerThen: Redirect["answerThen"] = (request, path, { answer, instead, isOver }) => {
    const { key, rest } = path
    if (longNow(path) !== path) return false
    // A key that may mean another one is looked up twice, and counts as one look-up.
    if (isTraced || !isLinkText(key) || domains.foldedOf(key) !== undefined) return false
    const reserved = general.reserveNow(request, key)
    if (reserved === undefined || !isReserved(reserved)) return false
    links.findToRedirectThen(key, (found) => {
      endLookUp(reserved, found)
      if (isOver()) return
      const link = Exit.getOrElse(found, () => null)
      try {
        const redirected = link === null ? undefined : redirectNow(request, link, rest)
        if (redirected === undefined) instead(general.redirect(request, path, found))
        else answer(redirected)
      } catch (defect) {
        instead(Effect.die(defect))
      }
    })
    return true
  }

  return { answerNow, answerThen }
})

/** Redirects short URLs, and shows where they lead. */
export const make = (own: { readonly baseUrl: URL }) =>
  Effect.gen(function* () {
    const general = yield* Redirects.make(own)
    const { preview, redirect, unlock } = general
    return {
      redirect: {
        ...(yield* makeFast(general)),
        answer: (request, path: ShortPath) =>
          path.key.endsWith("+") ? preview(request, { key: path.key.slice(0, -1) }) : redirect(request, path)
      },
      unlock
    } satisfies OperationsOf<"redirects">
  })
