import { createHash } from "node:crypto"
import { HttpApiSwagger, HttpLayerRouter, OpenApi } from "@effect/platform"
import { Effect } from "effect"
import { Api } from "./Api.ts"
import type { RenderedDocuments } from "./Documents.ts"
import { uncontracted } from "./Routes.ts"

/** The hashes by which a policy allows exactly the inline scripts of a page. */
const scriptHashes = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(
    ([, script]) => `'sha256-${createHash("sha256").update(script!).digest("base64")}'`
  )

/** The policy of a page with inline scripts: only those run, and they connect only to this service. */
const policyOf = (html: string): string =>
  [
    "default-src 'none'",
    ["script-src", ...scriptHashes(html)].join(" "),
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

/** Swagger UI with the contract in it, as Effect's own route shows it. */
const docs = Effect.acquireUseRelease(
  Effect.sync(() =>
    HttpLayerRouter.toWebHandler(HttpApiSwagger.layerHttpLayerRouter({ api: Api, path: uncontracted.docs }), {
      disableLogger: true
    })
  ),
  ({ handler }) =>
    Effect.promise(async () => {
      const response = await handler(new Request(`http://localhost${uncontracted.docs}`))
      return response.text()
    }),
  ({ dispose }) => Effect.promise(dispose)
)

/** Renders the documents of the contract. That takes some 90 ms, so the build does it, and no start. */
export const render: Effect.Effect<RenderedDocuments> = Effect.map(docs, (html) => ({
  openApi: JSON.stringify(OpenApi.fromApi(Api)),
  docs: Buffer.from(html),
  docsPolicy: policyOf(html)
}))
