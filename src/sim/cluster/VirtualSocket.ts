import { Runners, ShardingConfig } from "@effect/cluster"
import { Socket, SocketServer } from "@effect/platform"
import { RpcClient, RpcSerialization } from "@effect/rpc"
import { Deferred, Effect, Exit, FiberSet, Layer, Option, Scope } from "effect"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import type { End, Ending, VirtualTcp } from "./VirtualTcp.ts"

/** What goes over a socket. */
export type Bytes = Uint8Array | string

/** How long a connection may take to come about: what `NodeClusterSocket` allows. */
const openMax_ms = 1_000

const encoder = new TextEncoder()

const failure = (reason: "Open" | "Read" | "Write", what: string) =>
  new Socket.SocketGenericError({ reason, cause: new Error(what) })

const exitOf = (ending: Ending): Exit.Exit<void, Socket.SocketError> =>
  ending === "closed" ? Exit.void : Exit.fail(failure("Read", "the connection was reset"))

/** A socket over a connection that `open` makes for each run; `NodeSocket.fromDuplex`, line by line, on virtual connections. */
const fromEnd = (
  open: Effect.Effect<End<Bytes>, Socket.SocketError, Scope.Scope>
): Effect.Effect<Socket.Socket> =>
  Effect.sync(() => {
    let current: End<Bytes> | undefined
    const latch = Effect.unsafeMakeLatch(false)
    const runRaw = <_, E = never, R = never>(
      handler: (data: Bytes) => Effect.Effect<_, E, R> | void,
      options?: { readonly onOpen?: Effect.Effect<void> | undefined }
    ): Effect.Effect<void, Socket.SocketError | E, R> =>
      Effect.scopedWith((scope) =>
        Effect.gen(function* () {
          const fibers = yield* Scope.extend(FiberSet.make<unknown, E | Socket.SocketError>(), scope)
          const end = yield* Scope.extend(open, scope)
          yield* Scope.addFinalizer(
            scope,
            Effect.sync(() => end.stopReading())
          )
          const fork = yield* FiberSet.runtime(fibers)<R>()
          end.read({
            onMessage: (data) => {
              const handled = handler(data)
              if (Effect.isEffect(handled)) fork(handled)
            },
            onEnd: (ending) => Deferred.unsafeDone(fibers.deferred, exitOf(ending))
          })
          current = end
          yield* latch.open
          if (options?.onOpen !== undefined) yield* options.onOpen
          return yield* FiberSet.join(fibers)
        })
      ).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            latch.unsafeClose()
            current = undefined
          })
        ),
        Effect.interruptible
      )
    const write = (chunk: Bytes | Socket.CloseEvent) =>
      latch.whenOpen(
        Effect.suspend(() => {
          if (Socket.isCloseEvent(chunk)) {
            current?.close()
            return Effect.void
          }
          return current?.send(chunk) === true ? Effect.void : failure("Write", "the connection is over")
        })
      )
    return Socket.Socket.of({
      [Socket.TypeId]: Socket.TypeId,
      run: (handler, options) =>
        runRaw((data) => handler(typeof data === "string" ? encoder.encode(data) : data), options),
      runRaw,
      writer: Effect.acquireRelease(Effect.succeed(write), () => Effect.sync(() => current?.close()))
    })
  })

/** Connects a process to a port of a machine; what is connected too late is closed at once. */
const connect = (tcp: VirtualTcp<Bytes>, process: VirtualProcess, host: string, port: number) =>
  fromEnd(
    Effect.gen(function* () {
      let connected: End<Bytes> | undefined
      yield* Effect.addFinalizer(() => Effect.sync(() => connected?.close()))
      return yield* Effect.async<End<Bytes>, Socket.SocketError>((resume) => {
        const giveUp = tcp.connect(process, host, port, (result) => {
          if (result === "refused") return resume(failure("Open", "the connection was refused"))
          connected = result
          resume(Effect.succeed(result))
        })
        return Effect.sync(giveUp)
      }).pipe(
        Effect.timeoutFail({ duration: openMax_ms, onTimeout: () => failure("Open", "nobody answered") })
      )
    })
  )

/** How a process reaches other runners; in place of `RunnerProtocol.layerClient`. */
export const layerClientProtocol = (
  tcp: VirtualTcp<Bytes>,
  process: VirtualProcess
): Layer.Layer<Runners.RpcClientProtocol, never, RpcSerialization.RpcSerialization> =>
  Layer.effect(
    Runners.RpcClientProtocol,
    Effect.map(
      RpcSerialization.RpcSerialization,
      (serialization) => (address) =>
        Effect.flatMap(connect(tcp, process, address.host, address.port), (socket) =>
          RpcClient.makeProtocolSocket().pipe(
            Effect.provideService(Socket.Socket, socket),
            Effect.provideService(RpcSerialization.RpcSerialization, serialization)
          )
        )
    )
  )

/** Hands every connection to the handler, those first that came before there was one. Never ends by itself. */
const serve =
  (pending: Array<End<Bytes>>, whenConnected: (then: ((end: End<Bytes>) => void) | undefined) => void) =>
  <R, E, _>(handler: (socket: Socket.Socket) => Effect.Effect<_, E, R>): Effect.Effect<never, never, R> =>
    Effect.gen(function* () {
      const fork = yield* FiberSet.makeRuntime<R>()
      const onConnection = (end: End<Bytes>) => {
        const socket = fromEnd(
          Effect.acquireRelease(Effect.succeed(end), (open) => Effect.sync(() => open.close()))
        )
        fork(
          socket.pipe(
            Effect.flatMap(handler),
            Effect.ignoreLogged,
            Effect.catchAllCause(() => Effect.void)
          )
        )
      }
      whenConnected(onConnection)
      pending.splice(0).forEach(onConnection)
      yield* Effect.addFinalizer(() => Effect.sync(() => whenConnected(undefined)))
      return yield* Effect.never
    }).pipe(Effect.scoped)

/** Listens at the port that the configuration names; in place of `NodeClusterSocket.layerSocketServer`. */
export const layerServer = (
  tcp: VirtualTcp<Bytes>,
  process: VirtualProcess
): Layer.Layer<SocketServer.SocketServer, never, ShardingConfig.ShardingConfig> =>
  Layer.scoped(
    SocketServer.SocketServer,
    Effect.gen(function* () {
      const { runnerListenAddress } = yield* ShardingConfig.ShardingConfig
      const { port } = Option.getOrThrow(runnerListenAddress)
      const pending: Array<End<Bytes>> = []
      let onConnection: ((end: End<Bytes>) => void) | undefined
      yield* Effect.acquireRelease(
        Effect.sync(() =>
          tcp.listen(process, port, (end) => {
            if (onConnection === undefined) pending.push(end)
            else onConnection(end)
          })
        ),
        (stop) => Effect.sync(stop)
      )
      return SocketServer.SocketServer.of({
        address: { _tag: "TcpAddress", hostname: process.name, port },
        run: serve(pending, (then) => {
          onConnection = then
        })
      })
    })
  )
