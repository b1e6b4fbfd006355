import { HttpApiBuilder, HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Layer } from "effect"
import Negotiator from "negotiator"
import { toResponse } from "../exchange/Answer.ts"
import { fromEffect } from "../exchange/Request.ts"
import { VisitorPages } from "./VisitorPages.ts"
import { type Asset, encodings, WebAssets } from "./WebAssets.ts"

/** What the page is told of the operator's choices. */
export interface WebSettings {
  /** What short URLs begin with, but for `https://`: the page may have been opened under another name. */
  readonly shortHost: string
  readonly signUp: boolean
  readonly anonymousCreates: boolean
  /** Whether links end whose creator did not say when. */
  readonly defaultExpiry: boolean
}

/** The page runs its own scripts and styles alone, none of them within the HTML, and speaks to this service alone. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'"
].join("; ")

const pageHeaders = { "content-security-policy": policy, "cache-control": "no-cache" }

/** The name of a file changes with its content. */
const fileHeaders = { "cache-control": "public, max-age=31536000, immutable" }

const respond = (
  asset: Asset,
  headers: Readonly<Record<string, string>>,
  request: HttpServerRequest.HttpServerRequest
) => {
  const offered = encodings.filter((encoding) => asset.bodies[encoding] !== undefined)
  const accepted = new Negotiator({ headers: { ...request.headers } }).encodings([...offered])
  // The smallest that is accepted: browsers prefer none.
  const encoding = offered.find((encoding) => accepted.includes(encoding)) ?? "identity"
  const etag = `"${asset.tag}-${encoding}"`
  const all = { ...headers, etag, vary: "accept-encoding" }
  if (request.headers["if-none-match"] === etag)
    return HttpServerResponse.empty({ status: 304, headers: all })
  return HttpServerResponse.uint8Array(asset.bodies[encoding]!, {
    contentType: asset.contentType,
    headers: encoding === "identity" ? all : { ...all, "content-encoding": encoding }
  })
}

/** The web page, from memory: at `/` and below `/app/`, which no key and no alias can be, and what it loads below `/assets/`. */
export const layer: Layer.Layer<never, never, WebAssets> = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    const { files, page } = yield* WebAssets
    const pages = yield* VisitorPages
    const showPage = Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
      respond(page, pageHeaders, request)
    )
    const sendFile = Effect.gen(function* () {
      const { name } = yield* HttpRouter.params
      const request = yield* HttpServerRequest.HttpServerRequest
      const file = files.get(name ?? "")
      if (file !== undefined) return respond(file, fileHeaders, request)
      const detail = "There is no such file."
      return toResponse(pages.refuse(fromEffect(request), { kind: "not-found", detail, page: "no-page" }))
    })
    yield* router.get("/", showPage)
    yield* router.get("/app/*", showPage)
    yield* router.get("/assets/:name", sendFile)
  })
).pipe(Layer.provide(HttpApiBuilder.Router.Live))
