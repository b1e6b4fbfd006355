import { Effect } from "effect"
import { Domains } from "../domains/Domains.ts"
import { formFor } from "../exchange/Accept.ts"
import type { Answer } from "../exchange/Answer.ts"
import type { Request } from "../exchange/Request.ts"
import { answerElsewhere } from "./Redirect.ts"
import { makeOrphanRecorder } from "./Redirects.ts"

/** Answers requests for `/` in a further domain, by its number; `undefined` where there is no such page. */
export type Home = (request: Request, domain: number) => Answer | undefined

/** Sends browsers to the domain's own page, where it has one, and counts the visit. */
export const make = Effect.gen(function* () {
  const known = yield* Domains
  const record = yield* makeOrphanRecorder
  const clock = yield* Effect.clock
  const home: Home = (request, domain) => {
    if (request.method === "GET") record(request, domain, "home", clock.unsafeCurrentTimeMillis())
    const target = known.targetsOf(domain)?.home ?? null
    return target === null || formFor(request, "page") !== "page" ? undefined : answerElsewhere(302, target)
  }
  return home
})
