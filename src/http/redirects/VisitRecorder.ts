import { Effect, Option } from "effect"
import { VisitorCountry } from "../../visits/VisitClassifier.ts"
import { Visits } from "../../visits/Visits.ts"
import type { Link } from "../../model/Link.ts"
import type { Request } from "../exchange/Request.ts"

/** What is looked at of a request that visits a link. */
type Source = Pick<Request, "headers" | "remoteAddress">

/**
 * Takes note that a request visits a link at a moment (milliseconds since the Unix epoch). Nothing is looked up here: this is on the path of
 * redirects.
 */
export const make: Effect.Effect<(request: Source, link: Link, at: number) => void, never, Visits> =
  Effect.gen(function* () {
    const { record } = yield* Visits
    const { header } = yield* VisitorCountry
    return ({ headers, remoteAddress }, link, at) =>
      record({
        link,
        at,
        userAgent: headers["user-agent"],
        referrer: headers["referer"],
        peer: Option.getOrUndefined(remoteAddress),
        forwardedFor: headers["x-forwarded-for"],
        country: header === undefined ? undefined : headers[header]
      })
  })
