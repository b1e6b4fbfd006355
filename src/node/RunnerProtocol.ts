import { Runners } from "@effect/cluster"
import { NodeClusterSocket } from "@effect/platform-node"
import * as Socket from "@effect/platform/Socket"
import type { RpcSerialization } from "@effect/rpc"
import { Context, Effect, Layer } from "effect"

const asSocketError = (defect: unknown): Socket.SocketError =>
  Socket.isSocketError(defect) ? defect : new Socket.SocketGenericError({ reason: "Write", cause: defect })

/**
 * The client side of messages between nodes. `NodeSocket` waits until its connection is open and writes to it in a later step of the fiber: when the
 * connection ends in between, it throws a `TypeError` (`fromDuplex` in `@effect/platform-node-shared` 0.61). This gives callers the same
 * `SocketError` as when it ends a moment earlier or later, so that they know that the message was lost on the way.
 */
export const layerClient: Layer.Layer<Runners.RpcClientProtocol, never, RpcSerialization.RpcSerialization> =
  Layer.map(NodeClusterSocket.layerClientProtocol, (context) => {
    const protocolOf = Context.get(context, Runners.RpcClientProtocol)
    return Context.make(Runners.RpcClientProtocol, (address) =>
      Effect.map(protocolOf(address), (protocol) => ({
        ...protocol,
        send: (request, transferables) =>
          Effect.catchAllDefect(protocol.send(request, transferables), (defect) =>
            Effect.die(asSocketError(defect))
          )
      }))
    )
  })
