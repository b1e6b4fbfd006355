import { HttpApiBuilder } from "@effect/platform"
import { Effect, Layer, Option, Redacted } from "effect"
import * as Secret from "../../secrets/Secret.ts"
import { Api } from "../contract/Api.ts"
import * as Caller from "../exchange/Caller.ts"
import * as Metrics from "./Metrics.ts"
import * as Problem from "../exchange/Problem.ts"
import { fromEffect } from "../exchange/Request.ts"

/** Who may read the metrics. */
export interface MetricsRoutesOptions {
  /** Its bearer may, where it is set; and administrators. */
  readonly metricsToken: Option.Option<Redacted.Redacted>
}

/** Shows the metrics of this node. */
export const layer = ({ metricsToken }: MetricsRoutesOptions) =>
  HttpApiBuilder.group(Api, "metrics", (handlers) =>
    Effect.gen(function* () {
      const response = Effect.provideService(Metrics.response, Metrics.Metrics, yield* Metrics.Metrics)
      const identify = yield* Caller.make
      const token = Option.map(metricsToken, (token) => Secret.digest(Redacted.value(token)))

      const mayRead = Effect.fnUntraced(function* (request: ReturnType<typeof fromEffect>) {
        const given = Caller.presented(request.headers)
        const isKnown =
          Option.isSome(token) && given !== undefined && Secret.matches(Redacted.make(given), token.value)
        if (isKnown) return
        yield* Caller.requireScope(yield* identify(request), "admin")
      })

      return handlers.handleRaw("metrics", ({ request }) =>
        mayRead(fromEffect(request)).pipe(Effect.zipRight(response), Problem.orRespond)
      )
    })
  ).pipe(Layer.provide(Metrics.layer))
