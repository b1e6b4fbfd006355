import { HttpApiSwagger, HttpLayerRouter, OpenApi } from "@effect/platform"
import { Effect } from "effect"
import { Api } from "./Api.ts"
import type { DocumentTexts } from "./Documents.ts"
import { uncontracted } from "./Routes.ts"

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
export const render: Effect.Effect<DocumentTexts> = Effect.map(docs, (html) => ({
  openApi: JSON.stringify(OpenApi.fromApi(Api)),
  docs: html
}))
