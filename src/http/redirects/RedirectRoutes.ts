import { Effect } from "effect"
import { isKeyShaped } from "../contract/LinkSchemas.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import * as FastRedirect from "./FastRedirect.ts"
import * as Redirects from "./Redirects.ts"

/** Redirects short URLs, and shows where they lead. */
export const make = (own: { readonly baseUrl: URL }) =>
  Effect.gen(function* () {
    const { preview, redirect, unlock } = yield* Redirects.make(own)
    const { now, soon } = yield* FastRedirect.make(redirect)
    return {
      redirect: {
        now: (request, { key }, idOf) => now(request, key, idOf),
        soon: (request, { key }, answering) => isKeyShaped(key) && soon(request, key, answering),
        answer: (request, { key }) =>
          key.endsWith("+") ? preview(request, key.slice(0, -1)) : redirect(request, key)
      },
      unlock: (request, { key }) => unlock(request, key)
    } satisfies OperationsOf<"redirects">
  })
