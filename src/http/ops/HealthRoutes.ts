import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { toResponse } from "../exchange/Answer.ts"
import { Api } from "../contract/Api.ts"
import { Readiness } from "./Readiness.ts"

/** Reports whether this node runs, and whether it can create and redirect. */
export const layer = HttpApiBuilder.group(Api, "health", (handlers) =>
  Effect.map(Readiness, ({ answer }) =>
    handlers
      .handle("live", () => Effect.succeed({ status: "live" } as const))
      .handleRaw("ready", () => Effect.map(answer, toResponse))
  )
)
