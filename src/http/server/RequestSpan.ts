import { Headers, HttpTraceContext } from "@effect/platform"
import { Effect, FiberRef, Option } from "effect"
import { routeOf } from "../contract/Routes.ts"

/** What is looked at of a request. */
interface Source {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** What load balancers and Prometheus ask all the time. */
const isUntraced = (path: string) => path.startsWith("/health/") || path === "/metrics"

/**
 * Puts the answering of a request into a span, where requests are traced: within that of its client (`traceparent`) if there is one. It has the request's
 * route and id, and no URL, since queries and keys are the client's alone.
 */
export const within =
  (request: Source, id: string) =>
  <A extends { readonly status: number }, E, R>(answer: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiberRuntime((fiber) => {
      if (!fiber.getFiberRef(FiberRef.currentTracerEnabled)) return answer
      const { method, path } = routeOf(request.method, request.url)
      if (isUntraced(path)) return Effect.withTracerEnabled(answer, false)
      const parent = HttpTraceContext.fromHeaders(Headers.fromInput(request.headers))
      return Effect.useSpan(
        `${method} ${path}`,
        {
          kind: "server",
          parent: Option.getOrUndefined(parent),
          captureStackTrace: false,
          attributes: { "http.request.method": request.method, "http.route": path, "linkmint.request_id": id }
        },
        (span) =>
          Effect.tap(Effect.withParentSpan(answer, span), ({ status }) =>
            Effect.sync(() => span.attribute("http.response.status_code", status))
          )
      )
    })
