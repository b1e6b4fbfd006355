import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { toResponse } from "../exchange/Answer.ts"
import { Api } from "../contract/Api.ts"
import { Redirects } from "./Redirects.ts"
import { fromEffect } from "../exchange/Request.ts"

/** Redirects short URLs, and shows where they lead. */
export const layer = HttpApiBuilder.group(Api, "redirects", (handlers) =>
  Effect.map(Redirects, ({ preview, redirect, unlock }) =>
    handlers
      .handleRaw("redirect", ({ path: { key }, request }) => {
        const asked = fromEffect(request)
        const answer = key.endsWith("+") ? preview(asked, key.slice(0, -1)) : redirect(asked, key)
        return Effect.map(answer, toResponse)
      })
      .handleRaw("unlock", ({ path: { key }, request }) =>
        Effect.map(unlock(fromEffect(request), key), toResponse)
      )
  )
)
