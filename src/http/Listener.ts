import { createServer, type Server } from "node:http"
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Duration, Effect, Layer } from "effect"
import { Draining } from "./Draining.ts"

/** Open connections at most; more are refused by the operating system's reset. */
const connectionsMax = 10_000

/** Time for a client to send its whole request. */
const requestTimeout_ms = 10_000

/** How long an orderly stop waits for requests that are under way. */
const drainMax = Duration.seconds(10)

/** The listening socket's requests: how many are under way, and whether the node is on its way down. */
export class Listener extends Context.Tag("linkmint/Listener")<
  Listener,
  {
    /** Accepts no more connections, answers what is under way, then closes all connections. */
    readonly drain: Effect.Effect<void>
  }
>() {}

const make = (drainDelay: Duration.Duration) => {
  const server: Server = createServer({
    requestTimeout: requestTimeout_ms,
    headersTimeout: requestTimeout_ms
  })
  server.maxConnections = connectionsMax
  let underWay = 0
  let isDraining = false
  let whenQuiet = () => {}

  server.on("request", (_, response) => {
    underWay++
    // A client that is told so opens its next connection elsewhere.
    if (isDraining) response.setHeader("connection", "close")
    response.once("close", () => {
      underWay--
      if (underWay === 0) whenQuiet()
    })
  })

  const quiet = Effect.async<void>((resume) => {
    whenQuiet = () => resume(Effect.void)
    if (underWay === 0) whenQuiet()
  })

  const drain = Effect.gen(function* () {
    isDraining = true
    // Load balancers learn of it by the readiness check, and send their requests elsewhere before the door closes.
    yield* Effect.sleep(drainDelay)
    server.close()
    server.closeIdleConnections()
    yield* Effect.timeoutOption(quiet, drainMax)
    server.closeAllConnections()
  })

  return { server, drain, isDraining: () => isDraining }
}

/** Where to listen, and how long to go on while the node says that it is not ready any more. */
export interface ListenerOptions {
  readonly host: string
  readonly port: number
  readonly drainDelay: Duration.Duration
}

/** Listens at `host` and `port`. */
export const layer = ({ drainDelay, host, port }: ListenerOptions) =>
  Layer.unwrapEffect(
    Effect.sync(() => {
      const { drain, isDraining, server } = make(drainDelay)
      return Layer.mergeAll(
        NodeHttpServer.layer(() => server, { host, port }),
        Layer.succeed(Draining, { isDraining }),
        Layer.succeed(Listener, { drain })
      )
    })
  )

/** Drains the listener when its scope closes: build it after what serves the requests, and it ends before that does. */
export const layerDrain = Layer.scopedDiscard(
  Effect.flatMap(Listener, ({ drain }) => Effect.addFinalizer(() => drain))
)
