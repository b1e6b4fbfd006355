import { RunnerAddress, Runners } from "@effect/cluster"
import { RpcSerialization } from "@effect/rpc"
import { assert, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Layer, Option, Predicate, type Scheduler } from "effect"
import * as Net from "node:net"
import * as RunnerProtocol from "../../src/node/RunnerProtocol.ts"

/** A node that resets all connections that it has when it is told to. */
const node = Effect.acquireRelease(
  Effect.async<{ readonly port: number; readonly hangUp: () => void; readonly stop: () => void }>(
    (resume) => {
      const connections = new Set<Net.Socket>()
      const server = Net.createServer((socket) => {
        socket.on("error", () => undefined)
        connections.add(socket)
      })
      const hangUp = () => {
        connections.forEach((socket) => socket.resetAndDestroy())
        connections.clear()
      }
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as Net.AddressInfo
        resume(Effect.succeed({ port, hangUp, stop: () => (server.close(), hangUp()) }))
      })
    }
  ),
  ({ stop }) => Effect.sync(stop)
)

/** Has a fiber wait after so many steps, until it is let go. */
const waitingAfter = (steps: number) => {
  const held: Array<() => void> = []
  let taken = 0
  let free = false
  const scheduler: Scheduler.Scheduler = {
    shouldYield: () => (++taken === steps ? 0 : false),
    scheduleTask: (task) => (taken === steps && !free ? void held.push(task) : queueMicrotask(task))
  }
  const letGo = () => {
    free = true
    held.forEach((task) => task())
  }
  return { scheduler, letGo }
}

/** What becomes of a message whose connection ends after so many steps of the fiber that sends it. */
const endedAfter = (steps: number) =>
  Effect.gen(function* () {
    const { port, hangUp } = yield* node
    const protocol = yield* (yield* Runners.RpcClientProtocol)(RunnerAddress.make("127.0.0.1", port))
    const ended = yield* Deferred.make<void>()
    yield* Effect.forkScoped(
      protocol.run((message) =>
        message._tag === "ClientProtocolError" ? Deferred.succeed(ended, undefined) : Effect.void
      )
    )
    yield* protocol.send({ _tag: "Ping" })
    const { scheduler, letGo } = waitingAfter(steps)
    const sending = yield* Effect.fork(Effect.withScheduler(protocol.send({ _tag: "Ping" }), scheduler))
    yield* Effect.sleep("20 millis")
    hangUp()
    yield* Deferred.await(ended)
    letGo()
    return yield* sending.await
  }).pipe(Effect.scoped)

it.live("a message whose connection ends at any step of its sending is lost by an error of the socket", () =>
  Effect.gen(function* () {
    const exits = yield* Effect.forEach(
      Array.from({ length: 20 }, (_, steps) => steps + 1),
      endedAfter,
      { concurrency: "unbounded" }
    )
    const defects = exits
      .filter(Exit.isFailure)
      .flatMap(({ cause }) => Option.toArray(Cause.dieOption(cause)))
    assert.deepStrictEqual(
      defects.filter((defect) => !Predicate.isTagged(defect, "SocketError")),
      []
    )
    assert.isAbove(defects.length, 0)
  }).pipe(Effect.provide(RunnerProtocol.layerClient.pipe(Layer.provide(RpcSerialization.layerMsgPack))))
)
