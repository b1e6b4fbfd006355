// A small service that is well, but for the fault that a test gives it.

import { Effect, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Lap } from "../../fuzz/Probe.ts"
import type { Stored, Target } from "../../fuzz/Program.ts"
import { agent } from "../support/http/HttpClient.ts"
import type { Document } from "../support/http/OpenApi.ts"

const problem = {
  type: "object",
  required: ["type", "title", "status", "detail"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "number" },
    detail: { type: "string" }
  },
  additionalProperties: false
}

const refusal = {
  description: "Error",
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } }
}

const document: Document = {
  openapi: "3.1.0",
  info: { title: "Things", version: "1.0.0" },
  paths: {
    "/things": {
      post: {
        operationId: "things.add",
        requestBody: {
          content: {
            "application/json": {
              schema: {
                type: "object",
                required: ["name"],
                properties: {
                  name: { type: "string", minLength: 1, maxLength: 20 },
                  tags: { type: "array", items: { type: "string" }, maxItems: 3 }
                },
                additionalProperties: false
              }
            }
          }
        },
        responses: {
          "201": {
            description: "Success",
            content: {
              "application/json": {
                schema: {
                  type: "object",
                  required: ["id"],
                  properties: { id: { type: "number" } },
                  additionalProperties: false
                }
              }
            }
          },
          "400": refusal,
          "500": refusal,
          "503": refusal
        }
      }
    }
  },
  components: { schemas: { Problem: problem } }
}

/** What a test can make of the service. */
export interface Planted {
  /** Answers in its place, and gives true, where it wants to. */
  readonly answer?: (seen: {
    readonly body: string
    /** What the service would answer. */
    readonly isGood: boolean
    /** Without its query. */
    readonly path: string
    readonly request: IncomingMessage
    readonly response: ServerResponse
    readonly refuse: (status: number, detail?: string) => void
    /** Adds a row. */
    readonly store: () => void
  }) => boolean
  readonly target?: Partial<Target>
}

const calm: Lap = { count: 1, failures: 0, median_ms: 1, wait_ms: 1, busy_ms: 1 }

const isThing = (body: string): boolean => {
  try {
    const {
      name,
      tags = [],
      ...others
    } = JSON.parse(body) as {
      readonly name: unknown
      readonly tags?: unknown
    }
    const isName = typeof name === "string" && name.length >= 1
    return isName && Array.isArray(tags) && Object.keys(others).length === 0
  } catch {
    return false
  }
}

/** Starts the service; it ends with the scope. */
export const start = Effect.fn("PlantedTarget.start")(function* ({
  answer = () => false,
  target = {}
}: Planted): Effect.fn.Return<Target, never, Scope.Scope> {
  let rows = 0
  const server = createServer((request, response) => {
    let body = ""
    response.setHeader("x-request-id", "1")
    request.setEncoding("utf8").on("data", (text: string) => (body += text))
    request.on("end", () => {
      const say = (status: number, type: string, value: object) =>
        response.writeHead(status, { "content-type": type }).end(JSON.stringify(value))
      const refuse = (status: number, detail = "No.") =>
        say(status, "application/problem+json", { type: "about:blank", title: "No", status, detail })
      const store = () => void rows++
      const path = request.url!.split("?")[0]!
      const isGood = request.method === "POST" && path === "/things" && isThing(body)
      if (answer({ body, isGood, path, request, response, refuse, store })) return
      if (path !== "/things") return void refuse(404)
      if (!isGood) return void refuse(400)
      store()
      say(201, "application/json", { id: rows })
    })
  })
  // It is in the same process as its clients: what it closed in one turn, they would still use in that turn.
  server.keepAliveTimeout = 0
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  return {
    port: (server.address() as AddressInfo).port,
    agent: yield* agent(),
    document,
    supply: () => Effect.succeed({ callers: [{}], known: { key: ["a"], name: ["a thing"] } }),
    ended: () => null,
    revive: Effect.void,
    rss_MB: () => 100,
    stored: (): Stored => ({ things: rows }),
    lap: Effect.succeed(calm),
    lag_ms: Effect.succeed(1),
    troubles: () => [],
    ...target
  }
})
