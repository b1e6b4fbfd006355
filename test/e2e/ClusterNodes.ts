// Nodes of a cluster over real PostgreSQL and Redis, as processes that can be stopped and killed.

import { Effect, Scope } from "effect"
import { agent, type Answer, type NoAnswer, type Request, send } from "../support/http/HttpClient.ts"
import { freePort } from "../support/FreePort.ts"
import { serverUrl } from "../support/services/redis/Redis.ts"
import { migratedDatabase } from "../support/Stores.ts"
import { type Ending, type Program, start, type Variables } from "./Program.ts"

/** The administrator's API key of all clusters under test. */
export const ADMIN_API_KEY = "lm_the-operators-own-admin-key"

/** The administrator's credentials. */
export const asAdmin = { "x-api-key": ADMIN_API_KEY }

/** A request; with `json` as its body it is a POST unless told otherwise. */
export type JsonRequest = Request & { readonly json?: unknown }

/** One node. */
export interface ClusterNode {
  readonly port: number
  /** Where the other nodes reach it. */
  readonly address: string
  readonly send: (request: JsonRequest) => Effect.Effect<Answer, NoAnswer>
  /** Sends it a signal, and waits until it has ended. */
  readonly end: (signal: "SIGTERM" | "SIGKILL") => Effect.Effect<Ending>
  /** Starts it again when it has ended, with other settings where some are given, and waits until it is ready. */
  readonly restart: (changes?: Variables) => Effect.Effect<void>
  /** What all its processes printed. */
  readonly output: () => string
}

/** A PostgreSQL database, which has the tables already, and a Redis, as settings. */
export const freshStores = Effect.gen(function* () {
  return { DATABASE_URL: yield* migratedDatabase, REDIS_URLS: yield* serverUrl }
})

/** Starts a node with these settings, and waits until it is ready. */
export const startNode = Effect.fn("startNode")(function* (variables: Variables) {
  const scope = yield* Effect.scope
  const connections = yield* agent(64)
  const [port, runnerPort] = [yield* freePort, yield* freePort]
  const settings = {
    // No load balancer has to learn of their end.
    DRAIN_DELAY: "PT0S",
    ...variables,
    ADMIN_API_KEY,
    HOST: "127.0.0.1",
    PORT: String(port),
    RUNNER_PORT: String(runnerPort)
  }
  let program: Program = yield* start(settings)
  let printedBefore = ""
  const node: ClusterNode = {
    port,
    address: `localhost:${runnerPort}`,
    send: ({ headers, json, ...request }) =>
      send(connections, port, {
        ...(json !== undefined && { method: "POST", body: JSON.stringify(json) }),
        ...request,
        headers: { ...headers, ...(json !== undefined && { "content-type": "application/json" }) }
      }),
    end: (signal) =>
      Effect.suspend(() => {
        program.signal(signal)
        return program.ended
      }),
    restart: (changes) =>
      Effect.map(Scope.extend(start({ ...settings, ...changes }), scope), (started) => {
        printedBefore += program.output()
        program = started
      }),
    output: () => printedBefore + program.output()
  }
  return node
})

/** Starts three nodes with these settings, and waits until they are ready; on stores of their own unless the settings name some. */
export const threeNodes = Effect.fn("threeNodes")(function* (variables: Variables) {
  const stores = "DATABASE_URL" in variables ? {} : yield* freshStores
  const one = startNode({ ...variables, ...stores })
  // One after the other: each gets the processors for its start.
  return [yield* one, yield* one, yield* one] as const
})
