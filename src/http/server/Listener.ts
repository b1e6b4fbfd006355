import { createServer, type RequestListener } from "node:http"
import { Server as TcpServer, type Socket } from "node:net"
import type { ServeError } from "@effect/platform/HttpServerError"
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Data, Duration, Effect, Layer, Option, type Scope } from "effect"
import * as Pulse from "../../time/Pulse.ts"
import { LoopTurns, type LoopTurnsService } from "../../fibers/LoopTurns.ts"
import * as Signals from "../../terminal/Signals.ts"
import * as Body from "../exchange/Body.ts"
import * as BodyBudget from "../exchange/BodyBudget.ts"
import { ClientAddress, type ClientAddressService } from "../exchange/ClientAddress.ts"
import * as Connections from "./Connections.ts"
import * as Drain from "./Drain.ts"
import type { PlainAnswers } from "./PlainRequests.ts"
import { Draining } from "../ops/Draining.ts"

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

/** The listening socket, its requests and its connections. */
export class Listener extends Context.Tag("linkmint/Listener")<
  Listener,
  {
    /** Answers requests with `answer`, and plain requests with `plain`, as long as the scope is open. */
    readonly serve: (answer: RequestListener, plain?: PlainAnswers) => Effect.Effect<void, never, Scope.Scope>
    /** Accepts no more connections, answers what is under way, then closes all connections. */
    readonly drain: Effect.Effect<void>
  }
>() {}

const noHeaders = {}

/** The client that a connection belongs to: none where the peer is a trusted proxy, which has many clients. */
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
  const { answering, answeringPlain, closeAfterAnswers, closeIdle, connections, sweep, underWay } =
    Connections.make(server, connectionBounds, clientOfSocket(addresses), turns)
  const bodies = new BodyBudget.BodyBudget(clientOfRequest(addresses), turns)

  const { drain, isDraining } = Drain.make(
    {
      connections,
      underWay,
      refuse: () => {
        // Not `server.close()`, which closes idle connections as well: it would reset those whose next request is on its way.
        TcpServer.prototype.close.call(server)
        // Not before: the client's next connection could still enter the socket's backlog, and be reset there.
        closeAfterAnswers()
      },
      closeIdle,
      closeAll: () => server.closeAllConnections()
    },
    { drainDelay, hurry }
  )

  server.on("connection", (socket) => BodyBudget.hold(socket, bodies))

  const serve: (typeof Listener.Service)["serve"] = (answer, plain) => {
    const listener = answering((request, response) => {
      // With this header the client opens its next connection, which a load balancer sends elsewhere.
      if (isDraining()) response.setHeader("connection", "close")
      // Node would discard an unread body as fast as it arrives.
      if (Body.mayBeLarge(request)) response.once("prefinish", () => Body.discardUnread(request))
      answer(request, response)
    })
    return Effect.acquireRelease(
      Effect.sync(() => {
        server.on("request", listener)
        return plain && answeringPlain(plain, () => !isDraining())
      }),
      (endPlain) =>
        Effect.sync(() => {
          endPlain?.()
          server.off("request", listener)
        })
    )
  }

  const sweepAll = () => {
    sweep()
    bodies.sweep()
  }

  return { server, serve, drain, sweep: sweepAll, isDraining }
}

const reasonOf = (cause: unknown): string => {
  const { code, message } = cause as NodeJS.ErrnoException
  return code === "EADDRINUSE" ? "another process does (EADDRINUSE)" : message
}

/** The error for a server that cannot listen. */
export const cannotListen =
  ({ host, port, setting }: Pick<CannotListen, "host" | "port" | "setting">) =>
  ({ cause }: ServeError) =>
    new CannotListen({ host, port, setting, reason: reasonOf(cause) })

/** Where to listen, the bounds on connections, and how long to go on while the node says that it is not ready (`drainDelay`). */
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
        Layer.scopedDiscard(Effect.forkScoped(Pulse.forever(Effect.sync(sweep), Connections.sweepEvery))),
        Layer.succeed(Draining, { isDraining }),
        Layer.succeed(Listener, { drain, serve })
      )
    })
  )

/** Drains the listener when its scope closes. Build it after the layer that serves the requests, so that it closes first. */
export const layerDrain = Layer.scopedDiscard(
  Effect.flatMap(Listener, ({ drain }) => Effect.addFinalizer(() => drain))
)
