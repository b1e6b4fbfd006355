import { createServer, type RequestListener } from "node:http"
import { Server as TcpServer, type Socket } from "node:net"
import type { ServeError } from "@effect/platform/HttpServerError"
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Data, Duration, Effect, Layer, Option, type Scope } from "effect"
import { LoopTurns, type LoopTurnsService } from "../../fibers/LoopTurns.ts"
import * as Signals from "../../terminal/Signals.ts"
import * as Body from "../exchange/Body.ts"
import * as BodyBudget from "../exchange/BodyBudget.ts"
import { ClientAddress, type ClientAddressService } from "../exchange/ClientAddress.ts"
import * as Connections from "./Connections.ts"
import { Draining } from "../ops/Draining.ts"

/** How long an orderly stop waits for requests that are under way: longer than any answer takes, and not for ever for a client to read it. */
const drainMax = Duration.seconds(5)

/**
 * How often, and for how long each time, an orderly stop waits for connections that carry no request: their clients may have sent one
 * that is still on its way. Many short waits, because a timer that is late comes before what came in meanwhile.
 */
const idleTurns = 10
const idleTurn = Duration.millis(50)

/** Nothing can listen at this address. */
export class CannotListen extends Data.TaggedError("CannotListen")<{
  readonly host: string
  readonly port: number
  /** Which setting names the port. */
  readonly setting: "PORT" | "METRICS_PORT"
  readonly reason: string
}> {
  override get message() {
    return `Nothing can listen at ${this.host}, port ${this.port}: ${this.reason}. Free the port, or set ${this.setting} and HOST to others.`
  }
}

/** The listening socket's requests: how many are under way, and whether the node is on its way down. */
export class Listener extends Context.Tag("linkmint/Listener")<
  Listener,
  {
    /** Has requests answered. */
    readonly serve: (answer: RequestListener) => Effect.Effect<void, never, Scope.Scope>
    /** Accepts no more connections, answers what is under way, then closes all connections. */
    readonly drain: Effect.Effect<void>
  }
>() {}

const noHeaders = {}

/** Whose a connection is: nobody's where it is a trusted proxy's, whose clients are many. */
const clientOfSocket =
  ({ clientOf, isByProxy }: ClientAddressService) =>
  (socket: Socket) => {
    const peer = { headers: noHeaders, remoteAddress: Option.fromNullable(socket.remoteAddress) }
    return isByProxy(peer) ? null : (clientOf(peer)?.id ?? null)
  }

const clientOfRequest =
  ({ clientOf }: ClientAddressService): BodyBudget.ClientOf =>
  ({ headers, socket }) =>
    clientOf({
      // Only `set-cookie`, which no request has, can be a list.
      headers: headers as Readonly<Record<string, string | undefined>>,
      remoteAddress: Option.fromNullable(socket.remoteAddress)
    })?.id ?? null

const make = (
  { drainDelay, ...connectionBounds }: Omit<ListenerOptions, "host" | "port">,
  addresses: ClientAddressService,
  hurry: typeof Signals.Hurry.Service,
  turns: LoopTurnsService
) => {
  const server = createServer(Connections.serverOptions)
  const { answering, connections, sweep, underWay } = Connections.make(
    server,
    connectionBounds,
    clientOfSocket(addresses),
    turns
  )
  const bodies = new BodyBudget.BodyBudget(clientOfRequest(addresses), turns)
  let isDraining = false

  server.on("connection", (socket) => BodyBudget.hold(socket, bodies))

  const serve = (answer: RequestListener) => {
    const listener = answering((request, response) => {
      // A client that is told so opens its next connection elsewhere.
      if (isDraining) response.setHeader("connection", "close")
      // Node would throw away what nobody has read, as fast as it comes.
      if (Body.mayBeLarge(request)) response.once("prefinish", () => Body.discardUnread(request))
      answer(request, response)
    })
    return Effect.acquireRelease(
      Effect.sync(() => void server.on("request", listener)),
      () => Effect.sync(() => void server.off("request", listener))
    )
  }

  const drain = Effect.gen(function* () {
    isDraining = true
    // Load balancers learn of it by the readiness check, and send their requests elsewhere before the door closes.
    if (Duration.greaterThan(drainDelay, Duration.zero)) {
      yield* Effect.interruptible(Effect.raceFirst(Effect.sleep(drainDelay), hurry))
    }
    // Not `server.close()`, which closes idle connections as well: it would reset those whose next request is on its way.
    TcpServer.prototype.close.call(server)
    // Not before: a client that was told so would connect again, and wait at a door that closes without a word.
    for (const response of underWay.members) {
      if (!response.headersSent) response.setHeader("connection", "close")
    }
    for (let turn = 0; turn < idleTurns; turn++) yield* connections.empty(idleTurn)
    server.closeIdleConnections()
    yield* underWay.empty(drainMax)
    server.closeAllConnections()
  })

  const sweepAll = () => {
    sweep()
    bodies.sweep()
  }

  return { server, serve, drain, sweep: sweepAll, isDraining: () => isDraining }
}

const reasonOf = (cause: unknown): string => {
  const { code, message } = cause as NodeJS.ErrnoException
  return code === "EADDRINUSE" ? "another process does (EADDRINUSE)" : message
}

/** Tells why there is no listening. */
export const cannotListen =
  ({ host, port, setting }: Pick<CannotListen, "host" | "port" | "setting">) =>
  ({ cause }: ServeError) =>
    new CannotListen({ host, port, setting, reason: reasonOf(cause) })

/** Where to listen, to how many, and how long to go on while the node says that it is not ready any more. */
export interface ListenerOptions extends Connections.ConnectionBounds {
  readonly host: string
  readonly port: number
  readonly drainDelay: Duration.Duration
}

/** Listens at `host` and `port`. */
export const layer = ({ host, port, ...options }: ListenerOptions) =>
  Layer.unwrapEffect(
    Effect.map(Effect.all([ClientAddress, Signals.Hurry, LoopTurns]), ([addresses, hurry, turns]) => {
      const { drain, isDraining, serve, server, sweep } = make(options, addresses, hurry, turns)
      return Layer.mergeAll(
        NodeHttpServer.layer(() => server, { host, port }).pipe(
          Layer.mapError(cannotListen({ host, port, setting: "PORT" }))
        ),
        Layer.scopedDiscard(
          Effect.forkScoped(Effect.forever(Effect.delay(Effect.sync(sweep), Connections.sweepEvery)))
        ),
        Layer.succeed(Draining, { isDraining }),
        Layer.succeed(Listener, { drain, serve })
      )
    })
  )

/** Drains the listener when its scope closes: build it after what serves the requests, and it ends before that does. */
export const layerDrain = Layer.scopedDiscard(
  Effect.flatMap(Listener, ({ drain }) => Effect.addFinalizer(() => drain))
)
