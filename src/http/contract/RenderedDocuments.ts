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

/** Swagger UI's own colours have too little contrast (WCAG 2.2, 1.4.3): white on its greens and blues, and grey on grey. */
const colours = `<style>
:root { color-scheme: light }
.swagger-ui .opblock.opblock-post .opblock-summary-method, .swagger-ui .opblock.opblock-put .opblock-summary-method { background: #0a6b54 }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1d5c9e }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #7a4a08 }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #a32222 }
.swagger-ui .json-schema-2020-12-expand-deep-button, .swagger-ui .json-schema-2020-12__attribute,
.swagger-ui .json-schema-2020-12-accordion { color: #3b4151 }
.swagger-ui .info .title small { background: #4a5568 }
.swagger-ui .info .title small.version-stamp { background: #41610a }
.swagger-ui .btn.execute { border-color: #1d5c9e; background: #1d5c9e }
.swagger-ui .highlight-code span[style*="rgb(211, 99, 99)"] { color: #f2a3a3 !important }
.swagger-ui .btn.authorize { border-color: #0a6b54; color: #0a6b54 }
.swagger-ui .btn.authorize svg { fill: #0a6b54 }
.swagger-ui .btn.cancel, .swagger-ui .parameter__name.required::after, .swagger-ui .parameter__name.required span,
.swagger-ui .opblock-body .required, .swagger-ui .opblock-section-request-body label .required { border-color: #a32222; color: #a32222 }
.swagger-ui .parameter__in, .swagger-ui .parameter__extension, .swagger-ui .prop-format, .swagger-ui .response-col_links,
.swagger-ui .opblock-summary-description, .swagger-ui .response-control-media-type__accept-message,
.swagger-ui .model-hint, .swagger-ui .prop-type, .swagger-ui input::placeholder { color: #3b4151; opacity: 1 }
.swagger-ui .response-control-media-type--accept-controller select { border-color: #0a6b54 }
.swagger-ui .response-control-media-type__accept-message { color: #0a6b54 }
.swagger-ui input[disabled], .swagger-ui select[disabled], .swagger-ui textarea[disabled] { color: #3b4151; opacity: 1 }
</style>`

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
      const html = await response.text()
      return html.replace("</head>", () => `${colours}</head>`)
    }),
  ({ dispose }) => Effect.promise(dispose)
)

/** Renders the documents of the contract. That takes some 90 ms, so the build does it, and no start. */
export const render: Effect.Effect<RenderedDocuments> = Effect.map(docs, (html) => ({
  openApi: JSON.stringify(OpenApi.fromApi(Api)),
  docs: Buffer.from(html),
  docsPolicy: policyOf(html)
}))
