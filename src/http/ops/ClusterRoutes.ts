import { HttpApiBuilder, type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Duration, Effect, Layer, Option, Stream } from "effect"
import type { PoolMarks } from "../../actors/keys/PoolShardLive.ts"
import { Api } from "../contract/Api.ts"
import * as Caller from "../exchange/Caller.ts"
import * as ClusterPicture from "./ClusterPicture.ts"
import { Draining } from "./Draining.ts"
import * as EventStream from "../exchange/EventStream.ts"
import * as NodeReporter from "./NodeReporter.ts"
import * as Problem from "../exchange/Problem.ts"
import { fromEffect } from "../exchange/Request.ts"

/** Streams that a node has open at most. */
export const streamsMax = 16

const every = Duration.seconds(1)

/** Some kilobytes wait for a client on their way, in the operating system's buffers too. */
const takenWithin = Duration.seconds(10)

/** Which node this is, and how its pools are kept. */
export interface ClusterRoutesOptions {
  readonly node: NodeReporter.NodeName
  readonly poolMarks: PoolMarks
}

const tooMany: Problem.Problem = {
  kind: "too-many-streams",
  detail: `This node has ${streamsMax} streams of events open, and no more at a time. Close one, or ask for /api/v1/cluster.`
}

/** Shows the cluster to administrators, once or second by second. */
export const layer = ({ node, poolMarks }: ClusterRoutesOptions) =>
  HttpApiBuilder.group(Api, "cluster", (handlers) =>
    Effect.gen(function* () {
      const { current } = yield* ClusterPicture.ClusterPicture
      const { isDraining } = yield* Draining
      const identify = yield* Caller.make
      let open = 0

      const requireAdmin = (request: HttpServerRequest.HttpServerRequest) =>
        Effect.flatMap(identify(fromEffect(request)), (caller) => Caller.requireScope(caller, "admin"))

      const once = Effect.fn("cluster.once")(function* (request: HttpServerRequest.HttpServerRequest) {
        yield* requireAdmin(request)
        return HttpServerResponse.unsafeJson(yield* current)
      })

      /** A revoked key, an ended session and a node that stops end streams too. A database that does not answer does not. */
      const goesOn = (request: HttpServerRequest.HttpServerRequest) =>
        Effect.suspend(() => {
          if (isDraining()) return Effect.succeed(false)
          return Effect.match(requireAdmin(request), {
            onFailure: ({ kind }) => kind === "unavailable",
            onSuccess: () => true
          })
        })

      const watch = Effect.fn("cluster.watch")(function* (request: HttpServerRequest.HttpServerRequest) {
        yield* requireAdmin(request)
        if (isDraining()) return yield* Effect.fail(Problem.unavailable)
        if (open >= streamsMax) return yield* Effect.fail(tooMany)
        const response = NodeHttpServerRequest.toServerResponse(request)
        if (response.destroyed) return HttpServerResponse.empty()
        open++
        response.once("close", () => void open--)
        const next = Effect.if(goesOn(request), {
          onTrue: () => Effect.map(current, (body) => Option.some(JSON.stringify(body))),
          onFalse: () => Effect.succeedNone
        })
        const events = EventStream.make({ next, every, takenWithin, cut: () => void response.destroy() })
        return HttpServerResponse.stream(Stream.encodeText(events), {
          contentType: "text/event-stream",
          // Some proxies would gather events otherwise.
          headers: { "x-accel-buffering": "no" }
        })
      })

      return handlers
        .handleRaw("cluster", ({ request }) => Problem.orRespond(once(request)))
        .handleRaw("watch", ({ request }) => Problem.orRespond(watch(request)))
    })
  ).pipe(
    Layer.provide(ClusterPicture.layer({ node: node.id, marks: poolMarks })),
    Layer.merge(NodeReporter.layer(node))
  )
