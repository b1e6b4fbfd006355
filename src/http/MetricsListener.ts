import { createServer } from "node:http"
import { HttpMiddleware, HttpRouter, HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Layer } from "effect"
import { cannotListen } from "./Listener.ts"
import * as Metrics from "./Metrics.ts"

/**
 * Shows the metrics, and nothing else, at a port of their own, to everybody who reaches it. Processes that share the service's port need one each, since there
 * nobody can tell which of them answers.
 */
export const layer = (options: { readonly host: string; readonly port: number }) =>
  HttpRouter.empty.pipe(
    HttpRouter.get("/metrics", Metrics.response),
    HttpServer.serve(),
    HttpMiddleware.withTracerDisabledWhen(() => true),
    Layer.provide(
      NodeHttpServer.layer(createServer, options).pipe(
        Layer.mapError(cannotListen({ ...options, setting: "METRICS_PORT" }))
      )
    ),
    Layer.provide(Metrics.layer)
  )
