import { Effect, Layer, Option } from "effect"
import * as AccountRoutes from "../accounts/AccountRoutes.ts"
import * as ApiKeyRoutes from "../accounts/ApiKeyRoutes.ts"
import * as AuditRoutes from "../accounts/AuditRoutes.ts"
import * as UserRoutes from "../accounts/UserRoutes.ts"
import * as Documents from "../contract/Documents.ts"
import type { Operations } from "../contract/Operations.ts"
import { flatten } from "../exchange/Answer.ts"
import * as DomainRoutes from "../domains/DomainRoutes.ts"
import * as Host from "../exchange/Host.ts"
import * as RequestId from "../exchange/RequestId.ts"
import * as SessionCookie from "../exchange/SessionCookie.ts"
import * as StrictHeaders from "../exchange/StrictHeaders.ts"
import type { CreationOptions } from "../links/Creation.ts"
import * as LinkRoutes from "../links/LinkRoutes.ts"
import * as QrLogo from "../qr/QrLogo.ts"
import * as QrRoutes from "../qr/QrRoutes.ts"
import * as ClusterPicture from "../ops/ClusterPicture.ts"
import * as ClusterRoutes from "../ops/ClusterRoutes.ts"
import * as HealthRoutes from "../ops/HealthRoutes.ts"
import * as Metrics from "../ops/Metrics.ts"
import * as MetricsRoutes from "../ops/MetricsRoutes.ts"
import * as NodeReporter from "../ops/NodeReporter.ts"
import * as RequestMetrics from "../ops/RequestMetrics.ts"
import * as RobotsRoutes from "../pages/RobotsRoutes.ts"
import { type BrandSettings, own as ownBrand } from "../pages/Brand.ts"
import { builtIn, readLanguages } from "../pages/Words.ts"
import * as VisitorPages from "../pages/VisitorPages.ts"
import * as WebAssets from "../pages/WebAssets.ts"
import * as WebRoutes from "../pages/WebRoutes.ts"
import * as Elsewhere from "../redirects/Elsewhere.ts"
import * as RedirectRoutes from "../redirects/RedirectRoutes.ts"
import * as StatsRoutes from "../stats/StatsRoutes.ts"
import * as WebhookRoutes from "../webhooks/WebhookRoutes.ts"
import * as DoorListener from "./DoorListener.ts"
import * as FrontDoor from "./FrontDoor.ts"
import * as LateRequests from "./LateRequests.ts"
import * as Listener from "./Listener.ts"
import * as MetricsListener from "./MetricsListener.ts"
import { LoopTurns } from "../../fibers/LoopTurns.ts"
import * as PlainRequests from "./PlainRequests.ts"

/** What the operations need to know of the operator's choices. */
export interface OperationsOptions
  extends
    CreationOptions,
    AccountRoutes.AccountRoutesOptions,
    ClusterRoutes.ClusterRoutesOptions,
    MetricsRoutes.MetricsRoutesOptions {
  /** Whether webhooks may lead to private networks. */
  readonly allowPrivateWebhooks: boolean
}

/** The operations of the contract that deal with links and visitors, which are those that nodes in a simulation have. */
export const linkOperations = (options: CreationOptions) =>
  Effect.all({
    links: LinkRoutes.make(options),
    redirects: RedirectRoutes.make(options.own),
    stats: StatsRoutes.make,
    robots: RobotsRoutes.make,
    health: HealthRoutes.make
  })

/** All operations of the contract. */
const operations = (options: OperationsOptions) =>
  Effect.gen(function* () {
    const { allowPrivateWebhooks: allowPrivate, own } = options
    return {
      ...(yield* linkOperations(options)),
      qr: yield* QrRoutes.make(own),
      ...(yield* AccountRoutes.make(options)),
      users: yield* UserRoutes.make,
      apiKeys: yield* ApiKeyRoutes.make,
      webhooks: yield* WebhookRoutes.make({ own, allowPrivate }),
      domains: yield* DomainRoutes.make(own),
      certificates: yield* DomainRoutes.certificates,
      audit: yield* AuditRoutes.make,
      metrics: yield* MetricsRoutes.make(options),
      cluster: yield* ClusterRoutes.make
    } satisfies Operations
  })

/** How the service is served. */
export interface ServerOptions extends OperationsOptions, Listener.ListenerOptions {
  /** Where the metrics are shown, too, on a port of their own. */
  readonly metricsPort?: number
  /** The documents of the contract. */
  readonly documents: Effect.Effect<Documents.RenderedDocuments>
  /** The folder of the built web page; without it there is none. */
  readonly webFolder?: string
  /** Whose service the pages say this is: by default Linkmint's own. */
  readonly brand?: BrandSettings
  /** A folder of files with the text of visitors' pages. */
  readonly messagesDir?: string
}

/** The HTTP service at `host` and `port`. It stops in order: no new connections, then the requests under way, then the rest. */
export const layer = (options: ServerOptions) => {
  const {
    anonymousCreates,
    brand = ownBrand,
    messagesDir,
    metricsPort,
    node,
    own,
    poolMarks,
    signUp,
    webFolder
  } = options
  const settings = {
    shortHost: own.baseUrl.host,
    anonymousCreates,
    signUp,
    defaultExpiry: Option.isSome(options.defaultExpiry)
  }
  const web =
    webFolder === undefined
      ? Layer.empty
      : Layer.unwrapEffect(
          Effect.map(
            messagesDir === undefined ? Effect.succeed(builtIn) : readLanguages(messagesDir),
            (languages) =>
              Layer.provideMerge(
                VisitorPages.layer({ languages, brand }),
                WebAssets.layer(webFolder, settings, brand)
              )
          )
        )
  const serving = Layer.scopedDiscard(
    Effect.gen(function* () {
      const { serve } = yield* Listener.Listener
      const requestId = yield* RequestId.make
      const always = flatten(StrictHeaders.transportOf(own.baseUrl))
      const door = yield* FrontDoor.make({
        operations: yield* operations(options),
        uncontracted: { ...Documents.make(yield* options.documents), ...(yield* WebRoutes.make) },
        requestId,
        elsewhere: yield* Elsewhere.make,
        always
      })
      const clock = yield* Effect.clock
      const pour = yield* DoorListener.pouring
      const late = yield* LateRequests.make(clock)
      const holding = LateRequests.holding(late, DoorListener.make(door, pour))
      yield* serve(
        RequestMetrics.counting(clock, Host.checking(requestId, always, holding)),
        PlainRequests.answering({
          serve: RequestMetrics.countingServe(clock, door.serve),
          mayBeLate: late.mayBeLate,
          turns: yield* LoopTurns,
          clock,
          pour
        })
      )
    })
  ).pipe(
    Layer.merge(NodeReporter.layer(node)),
    Layer.provide([ClusterPicture.layer({ node: node.id, marks: poolMarks }), Metrics.layer]),
    Layer.provide([web, SessionCookie.layer(own.baseUrl), QrLogo.layer(brand)])
  )
  return Layer.merge(
    Listener.layerDrain.pipe(Layer.provide(serving), Layer.provide(Listener.layer(options))),
    metricsPort === undefined ? Layer.empty : MetricsListener.layer({ host: options.host, port: metricsPort })
  )
}
