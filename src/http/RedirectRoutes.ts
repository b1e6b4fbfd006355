import { HttpApiBuilder, type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Clock, Effect } from "effect"
import { Links } from "../actors/Links.ts"
import { stateAt } from "../Link.ts"
import { Api } from "./Api.ts"
import { orProblem } from "./LinkRoutes.ts"
import { isKeyShaped } from "./LinkSchemas.ts"
import * as Page from "./Page.ts"
import * as Problem from "./Problem.ts"
import { TargetPolicy } from "./TargetPolicy.ts"

/** The pages are constant, so that nothing of a request can find its way into them. */
const pages = {
  "not-found": Page.make({ title: "No such link", text: "This short link does not exist." }),
  gone: Page.make({ title: "Link ended", text: "This short link has expired, was deleted or is blocked." })
} as const

const details = {
  "not-found": "There is no link with this key.",
  gone: "This link has expired, was deleted or is blocked."
} as const

/** Says that a key leads nowhere: as a page, or as a problem to clients that ask for JSON. */
const leadsNowhere = (kind: keyof typeof pages, request: HttpServerRequest.HttpServerRequest) =>
  Page.prefersJson(request)
    ? HttpServerResponse.setHeader(Problem.respond({ kind, detail: details[kind] }), "vary", "accept")
    : Page.respond(pages[kind], Problem.statusOf(kind))

/** Redirects short URLs. */
export const layer = HttpApiBuilder.group(Api, "redirects", (handlers) =>
  Effect.gen(function* () {
    const links = yield* Links
    const targets = yield* TargetPolicy

    const redirect = Effect.fn("redirect")(function* (
      request: HttpServerRequest.HttpServerRequest,
      key: string
    ) {
      const link = isKeyShaped(key) ? yield* orProblem(links.find(key)) : null
      if (link === null) return leadsNowhere("not-found", request)
      const isLive = stateAt(link, yield* Clock.currentTimeMillis) === "live"
      if (!isLive || targets.faultOf(link.url) !== undefined) return leadsNowhere("gone", request)
      return HttpServerResponse.empty({
        status: 302,
        headers: {
          location: link.url,
          "content-length": "0",
          "cache-control": "private, max-age=0",
          "referrer-policy": "no-referrer-when-downgrade"
        }
      })
    })

    return handlers.handleRaw("redirect", ({ path, request }) =>
      Effect.catchAll(redirect(request, path.key), (problem) => Effect.succeed(Problem.respond(problem)))
    )
  })
)
