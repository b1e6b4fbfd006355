import { Effect, Option } from "effect"
import Negotiator from "negotiator"
import type { UncontractedOperations } from "../contract/Operations.ts"
import { type Answer, flatten } from "../exchange/Answer.ts"
import type { Request } from "../exchange/Request.ts"
import { languageOf } from "./Language.ts"
import { themeOf } from "./ThemeCookie.ts"
import { VisitorPages } from "./VisitorPages.ts"
import { type Asset, encodings, type Localised, WebAssets } from "./WebAssets.ts"

/** The page runs only its own scripts, none of them inline, has only its own styles, and connects only to this service. */
const policyOf = (styleHashes: ReadonlyArray<string>) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    ["style-src 'self'", ...styleHashes].join(" "),
    "font-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'"
  ].join("; ")

/** The name of a file changes with its content. */
const fileHeaders = { "cache-control": "public, max-age=31536000, immutable" }

const answerOf = (
  asset: Asset,
  headers: Readonly<Record<string, string>>,
  request: Request,
  varies = "accept-encoding"
): Answer => {
  const offered = encodings.filter((encoding) => asset.bodies[encoding] !== undefined)
  const accepted = new Negotiator({ headers: { ...request.headers } }).encodings([...offered])
  // The smallest that is accepted: browsers have no preference.
  const encoding = offered.find((encoding) => accepted.includes(encoding)) ?? "identity"
  const etag = `"${asset.tag}-${encoding}"`
  const all = { ...headers, etag, vary: varies }
  if (request.headers["if-none-match"] === etag) return { status: 304, headers: flatten(all), body: "" }
  const encoded = encoding === "identity" ? {} : { "content-encoding": encoding }
  return {
    status: 200,
    headers: flatten({ "content-type": asset.contentType, ...all, ...encoded }),
    body: asset.bodies[encoding]!
  }
}

/** The web page, from memory: at `/` and below `/app/`, which no key and no alias can be, and what it loads below `/assets/`. Nothing where there are no {@link WebAssets}. */
export const make = Effect.gen(function* () {
  const assets = yield* Effect.serviceOption(WebAssets)
  if (Option.isNone(assets)) return {}
  const { files, home, inner, styleHashes } = assets.value
  const pages = yield* VisitorPages
  const headers = { "content-security-policy": policyOf(styleHashes), "cache-control": "no-cache" }
  const languageFor = languageOf([...home.keys()])
  const show = (page: Localised, more: Readonly<Record<string, string>> = {}) => {
    const all = { ...headers, ...more }
    return (request: Request) =>
      Effect.sync(() => {
        const asset = page.get(languageFor(request))![themeOf(request.headers["cookie"])]
        return answerOf(asset, all, request, "accept-encoding, accept-language, cookie")
      })
  }
  return {
    page: show(home),
    // Public statistics are among these, and are for those who have their address.
    innerPage: show(inner, { "x-robots-tag": "noindex" }),
    asset: (request, { name }) =>
      Effect.sync(() => {
        const file = files.get(name)
        if (file !== undefined) return answerOf(file, fileHeaders, request)
        return pages.refuse(request, {
          kind: "not-found",
          detail: "There is no such file.",
          page: "no-page"
        })
      })
  } satisfies Partial<UncontractedOperations>
})
