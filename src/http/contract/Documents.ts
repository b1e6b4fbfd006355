import { createHash } from "node:crypto"
import { HttpApiSwagger, HttpLayerRouter, OpenApi } from "@effect/platform"
import { Effect } from "effect"
import { type Answer, flatten, ofJson } from "../exchange/Answer.ts"
import { Api } from "./Api.ts"
import { uncontracted } from "./Routes.ts"

/** The hashes by which a policy allows exactly the inline scripts of a page. */
const scriptHashes = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(
    ([, script]) => `'sha256-${createHash("sha256").update(script!).digest("base64")}'`
  )

/** The policy of a page of the service that has scripts: it runs those alone, and they speak to this service alone. */
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
const readDocs = Effect.acquireUseRelease(
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

/** Shows the contract: to programs as an OpenAPI document, and to people as a page. */
export const make = Effect.map(readDocs, (html) => {
  const openApi = JSON.stringify(OpenApi.fromApi(Api))
  const docs = Buffer.from(html)
  const docsHeaders = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policyOf(html)
  }
  return {
    openApi: () => Effect.sync(() => ofJson(openApi)),
    docs: () => Effect.sync((): Answer => ({ status: 200, headers: flatten(docsHeaders), body: docs }))
  }
})
