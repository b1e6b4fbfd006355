import { Effect, Option, Redacted } from "effect"
import * as Secret from "../../secrets/Secret.ts"
import { contentType } from "../../telemetry/PrometheusText.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { flatten } from "../exchange/Answer.ts"
import * as Caller from "../exchange/Caller.ts"
import * as Metrics from "./Metrics.ts"
import type { Request } from "../exchange/Request.ts"

/** Who may read the metrics. */
export interface MetricsRoutesOptions {
  /** Its bearer may, where it is set; and administrators. */
  readonly metricsToken: Option.Option<Redacted.Redacted>
}

/** Shows the metrics of this node. */
export const make = ({ metricsToken }: MetricsRoutesOptions) =>
  Effect.gen(function* () {
    const { text } = yield* Metrics.Metrics
    const identify = yield* Caller.make
    const token = Option.map(metricsToken, (token) => Secret.digest(Redacted.value(token)))

    const mayRead = Effect.fnUntraced(function* (request: Request) {
      const given = Caller.presented(request.headers)
      const isKnown =
        Option.isSome(token) && given !== undefined && Secret.matches(Redacted.make(given), token.value)
      if (isKnown) return
      yield* Caller.requireScope(yield* identify(request), "admin")
    })

    return {
      metrics: (request) =>
        Effect.zipRight(
          mayRead(request),
          Effect.map(text, (body) => ({
            status: 200,
            headers: flatten({ "content-type": contentType }),
            body
          }))
        )
    } satisfies OperationsOf<"metrics">
  })
