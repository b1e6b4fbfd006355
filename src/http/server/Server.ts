import {
  HttpApiBuilder,
  HttpApiSwagger,
  type HttpApp,
  HttpMiddleware,
  HttpRouter,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Cause, Duration, Effect, Layer, Option } from "effect"
import * as Timeout from "../../fibers/Timeout.ts"
import * as AccountRoutes from "../accounts/AccountRoutes.ts"
import { flatten, toResponse } from "../exchange/Answer.ts"
import { Api } from "../contract/Api.ts"
import * as ApiKeyRoutes from "../accounts/ApiKeyRoutes.ts"
import * as AuditRoutes from "../accounts/AuditRoutes.ts"
import * as ClusterRoutes from "../ops/ClusterRoutes.ts"
import * as Host from "../exchange/Host.ts"
import * as HealthRoutes from "../ops/HealthRoutes.ts"
import * as LateRequests from "./LateRequests.ts"
import * as Lean from "./Lean.ts"
import * as LinkCreation from "../links/LinkCreation.ts"
import * as LeanListener from "./LeanListener.ts"
import * as LinkManagement from "../links/LinkManagement.ts"
import * as LinkRoutes from "../links/LinkRoutes.ts"
import * as Listener from "./Listener.ts"
import * as MetricsListener from "./MetricsListener.ts"
import * as MetricsRoutes from "../ops/MetricsRoutes.ts"
import * as Problem from "../exchange/Problem.ts"
import * as QrRoutes from "../links/QrRoutes.ts"
import * as Readiness from "../ops/Readiness.ts"
import * as RedirectRoutes from "../redirects/RedirectRoutes.ts"
import * as RequestId from "../exchange/RequestId.ts"
import * as RequestMetrics from "../ops/RequestMetrics.ts"
import * as RequestSpan from "./RequestSpan.ts"
import * as Redirects from "../redirects/Redirects.ts"
import * as RobotsRoutes from "../pages/RobotsRoutes.ts"
import { isWrittenOut, routerConfig } from "../contract/Routes.ts"
import * as StatsRoutes from "../stats/StatsRoutes.ts"
import * as SessionRoutes from "../accounts/SessionRoutes.ts"
import * as SessionCookie from "../exchange/SessionCookie.ts"
import * as StrictHeaders from "../exchange/StrictHeaders.ts"
import * as UserRoutes from "../accounts/UserRoutes.ts"
import * as WebhookRoutes from "../webhooks/WebhookRoutes.ts"
import * as VisitorPages from "../pages/VisitorPages.ts"
import * as WebAssets from "../pages/WebAssets.ts"
import * as WebRoutes from "../pages/WebRoutes.ts"

/**
 * Every request is answered within 5 s: with a problem, when nothing better came by then. The last second is for a busy machine and
 * the way to the client.
 */
const answerMax = Duration.seconds(4)

const noRoute: VisitorPages.Refusal = {
  kind: "not-found",
  detail: "There is nothing at this path for this method.",
  page: "no-page"
}

/** What is left to say when a route did not answer: there is no such route, or something broke. */
const refusalOf = (cause: Cause.Cause<unknown>): Effect.Effect<VisitorPages.Refusal> =>
  Cause.squash(cause) instanceof HttpServerError.RouteNotFound
    ? Effect.succeed(noRoute)
    : Problem.ofBroken(cause)

/** Gives every response its request id, strict headers, a bound on time, and a problem where nothing else came. */
const answerAll =
  (requestId: RequestId.IdOf, always: Readonly<Record<string, string>>) =>
  <R>(app: HttpApp.Default<never, R>): HttpApp.Default<never, R> =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const id = requestId(request.headers)
      const pages = yield* VisitorPages.VisitorPages
      const refuse = (refusal: VisitorPages.Refusal) => toResponse(pages.refuse(request, refusal))
      const tooLate = () => Effect.sync(() => refuse(Problem.tooLate))
      const routed = isWrittenOut(request.method, request.url) ? app : Effect.succeed(refuse(noRoute))
      const response = yield* Timeout.within(routed, { duration: answerMax, onTimeout: tooLate }).pipe(
        Effect.catchAllCause((cause) =>
          Cause.isInterruptedOnly(cause)
            ? Effect.failCause(cause as Cause.Cause<never>)
            : Effect.map(refusalOf(cause), refuse)
        ),
        RequestSpan.within(request, id),
        Effect.annotateLogs("request", id)
      )
      return HttpServerResponse.setHeaders(StrictHeaders.add(response), { ...always, "x-request-id": id })
    })

/** What the routes need to know of the operator's choices. */
export interface RoutesOptions
  extends
    LinkCreation.LinkRoutesOptions,
    AccountRoutes.AccountRoutesOptions,
    ClusterRoutes.ClusterRoutesOptions,
    MetricsRoutes.MetricsRoutesOptions {
  /** Whether webhooks may lead to private networks. */
  readonly allowPrivateWebhooks: boolean
}

/** The services behind the hot operations, which the routes share. */
export const services = (options: LinkCreation.LinkRoutesOptions) =>
  Layer.mergeAll(
    LinkCreation.layer(options),
    LinkManagement.layer(options),
    Redirects.layer(options.own),
    Readiness.layer
  ).pipe(Layer.provideMerge(SessionCookie.layer(options.own.baseUrl)))

/** The routes, and what the contract needs beside them. */
export const routes = (options: RoutesOptions) =>
  Layer.mergeAll(
    HttpApiBuilder.api(Api).pipe(
      Layer.provide([
        AccountRoutes.layer(options),
        SessionRoutes.layer,
        ApiKeyRoutes.layer,
        UserRoutes.layer,
        AuditRoutes.layer,
        LinkRoutes.layer(options),
        QrRoutes.layer(options.own),
        StatsRoutes.layer,
        WebhookRoutes.layer({ own: options.own, allowPrivate: options.allowPrivateWebhooks }),
        RedirectRoutes.layer,
        RobotsRoutes.layer,
        HealthRoutes.layer,
        MetricsRoutes.layer(options),
        ClusterRoutes.layer(options)
      ])
    ),
    HttpApiBuilder.Router.Live,
    HttpApiBuilder.Middleware.layer
  )

/** The whole service as a function from requests to responses, whoever listens for them. */
const app = (requestId: RequestId.IdOf, always: Readonly<Record<string, string>>) =>
  HttpApiBuilder.httpApp.pipe(
    HttpRouter.withRouterConfig(routerConfig),
    Effect.map(answerAll(requestId, always))
  )

/** The hot operations of the service, whoever listens for them: to be asked before {@link app} is. */
export const lean = Lean.make(answerMax)

/** How the service is served. */
export interface ServerOptions extends RoutesOptions, Listener.ListenerOptions {
  /** Whether the hot operations are answered without `HttpApi`, as they should be: tests show that it makes no difference. */
  readonly isLean?: boolean
  /** Where the metrics are shown, too, on a port of their own. */
  readonly metricsPort?: number
  /** The folder of the built web page; without it there is none. */
  readonly webFolder?: string
}

/** The HTTP service at `host` and `port`. It stops in order: no new connections, then the requests under way, then the rest. */
export const layer = (options: ServerOptions) => {
  const { anonymousCreates, metricsPort, own, signUp, webFolder } = options
  const settings = {
    shortHost: own.baseUrl.host,
    anonymousCreates,
    signUp,
    defaultExpiry: Option.isSome(options.defaultExpiry)
  }
  const assets = webFolder === undefined ? undefined : WebAssets.layer(webFolder, settings)
  const web = assets === undefined ? Layer.empty : Layer.provide(WebRoutes.layer, assets)
  const pages = assets === undefined ? Layer.empty : Layer.provide(VisitorPages.layer, assets)
  // Not `HttpApiBuilder.serve`: its middleware sees a response only when it has been sent.
  const serving = Layer.scopedDiscard(
    Effect.gen(function* () {
      const { serve } = yield* Listener.Listener
      const idOf = yield* RequestId.make
      const always = StrictHeaders.transportOf(own.baseUrl)
      // Its spans would tell of headers and queries.
      const handler = yield* NodeHttpServer.makeHandler(yield* app(idOf, always)).pipe(
        Effect.locally(HttpMiddleware.currentTracerDisabledWhen, () => true)
      )
      const headers = flatten(always)
      const listener = options.isLean === false ? handler : LeanListener.make(yield* lean, handler, headers)
      const clock = yield* Effect.clock
      const holding = yield* LateRequests.holding(clock, listener)
      yield* serve(RequestMetrics.counting(clock, Host.checking(idOf, headers, holding)))
    })
  ).pipe(
    Layer.provide(HttpApiBuilder.middlewareOpenApi({ path: "/openapi.json" })),
    Layer.provide(HttpApiSwagger.layer({ path: "/docs" })),
    Layer.provide(web),
    Layer.provide(Layer.provideMerge(routes(options), services(options))),
    Layer.provide(pages)
  )
  return Layer.merge(
    Listener.layerDrain.pipe(Layer.provide(serving), Layer.provide(Listener.layer(options))),
    metricsPort === undefined ? Layer.empty : MetricsListener.layer({ host: options.host, port: metricsPort })
  )
}
