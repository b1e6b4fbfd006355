import { HttpApiBuilder, type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Clock, Effect } from "effect"
import Negotiator from "negotiator"
import { Links } from "../actors/Links.ts"
import { stateAt } from "../Link.ts"
import { Api, isKeyShaped } from "./Api.ts"
import { orProblem } from "./LinkRoutes.ts"
import * as Problem from "./Problem.ts"

const page = (title: string, text: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
</head>
<body>
<h1>${title}</h1>
<p>${text}</p>
</body>
</html>
`

/** The pages are constant, so that nothing of a request can find its way into them. */
const pages = {
  "not-found": { status: 404, html: page("No such link", "This short link does not exist.") },
  gone: { status: 410, html: page("Link ended", "This short link has expired or was deleted.") }
} as const

const details = {
  "not-found": "There is no link with this key.",
  gone: "This link has expired or was deleted."
} as const

/** Says that a key leads nowhere: as a page, or as a problem to clients that ask for JSON. */
const leadsNowhere = (kind: keyof typeof pages, request: HttpServerRequest.HttpServerRequest) => {
  const accepted = new Negotiator({ headers: { ...request.headers } }).mediaType([
    "text/html",
    "application/problem+json",
    "application/json"
  ])
  if (accepted !== undefined && accepted !== "text/html") {
    return HttpServerResponse.setHeader(Problem.respond({ kind, detail: details[kind] }), "vary", "accept")
  }
  return HttpServerResponse.text(pages[kind].html, {
    status: pages[kind].status,
    contentType: "text/html; charset=utf-8",
    headers: {
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      vary: "accept"
    }
  })
}

/** Redirects short URLs. */
export const layer = HttpApiBuilder.group(Api, "redirects", (handlers) =>
  Effect.gen(function* () {
    const links = yield* Links

    const redirect = Effect.fn("redirect")(function* (
      request: HttpServerRequest.HttpServerRequest,
      key: string
    ) {
      const link = isKeyShaped(key) ? yield* orProblem(links.find(key)) : null
      if (link === null) return leadsNowhere("not-found", request)
      if (stateAt(link, yield* Clock.currentTimeMillis) !== "live") return leadsNowhere("gone", request)
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
