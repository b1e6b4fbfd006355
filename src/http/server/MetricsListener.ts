import { createServer } from "node:http"
import { HttpMiddleware, HttpRouter, HttpServer, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { LoopTurns, type LoopTurnsService } from "../../fibers/LoopTurns.ts"
import * as Connections from "./Connections.ts"
import { cannotListen } from "./Listener.ts"
import { contentType } from "../../telemetry/PrometheusText.ts"
import * as Metrics from "../ops/Metrics.ts"

/** Those who watch a node are few. */
const connectionsMax = 64

const response = Effect.gen(function* () {
  const { text } = yield* Metrics.Metrics
  return HttpServerResponse.text(yield* text, { contentType })
})

const makeServer = (turns: LoopTurnsService) => {
  const server = createServer(Connections.serverOptions)
  Connections.make(server, { connectionsMax, perClientMax: null }, () => null, turns)
  return server
}

/**
 * Shows the metrics, and nothing else, at a port of their own, to everybody who reaches it. Processes that share the service's port need one each, since there
 * nobody knows which of them answers.
 */
export const layer = (options: { readonly host: string; readonly port: number }) =>
  HttpRouter.empty.pipe(
    HttpRouter.get("/metrics", response),
    HttpServer.serve(),
    HttpMiddleware.withTracerDisabledWhen(() => true),
    Layer.provide(
      Layer.unwrapEffect(
        Effect.map(LoopTurns, (turns) => NodeHttpServer.layer(() => makeServer(turns), options))
      ).pipe(Layer.mapError(cannotListen({ ...options, setting: "METRICS_PORT" })))
    ),
    Layer.provide(Metrics.layer)
  )
