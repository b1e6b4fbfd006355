import { Effect } from "effect"
import { Domains } from "../domains/Domains.ts"
import { formFor } from "../exchange/Accept.ts"
import type { Answer } from "../exchange/Answer.ts"
import type { Request } from "../exchange/Request.ts"
import { TargetPolicy } from "../links/TargetPolicy.ts"
import { isForPrograms } from "../pages/VisitorPages.ts"
import { answerElsewhere } from "./Redirect.ts"
import { makeOrphanRecorder } from "./Redirects.ts"

/** Answers requests in a further domain, by its number, for paths at which nothing is; `undefined`: they get the service's own page or problem. */
export type Elsewhere = (request: Request, domain: number) => Answer | undefined

const isHome = (url: string): boolean => url === "/" || url.startsWith("/?")

/** Sends browsers to the domain's target for `/`, or for what is unknown, where it has one, and counts the visits. */
export const make = Effect.gen(function* () {
  const known = yield* Domains
  const targets = yield* TargetPolicy
  const record = yield* makeOrphanRecorder
  const clock = yield* Effect.clock
  const elsewhere: Elsewhere = (request, domain) => {
    const { method, url } = request
    if ((method !== "GET" && method !== "HEAD") || isForPrograms(url)) return undefined
    const reason = isHome(url) ? "home" : "unknown"
    if (method === "GET") record(request, domain, reason, clock.unsafeCurrentTimeMillis())
    const target = known.targetOf(domain, reason, targets)
    return target === null || formFor(request, "page") !== "page" ? undefined : answerElsewhere(302, target)
  }
  return elsewhere
})
