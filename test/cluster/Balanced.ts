// HAProxy in front of nodes that do nothing but answer, for tests.

import { Effect, Schedule, type Scope } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { request as httpRequest, type OutgoingHttpHeaders, type IncomingHttpHeaders } from "node:http"
import { connect } from "node:net"
import { join } from "node:path"
import { describe } from "vitest"
import * as Folder from "../../cluster/Folder.ts"
import * as Haproxy from "../../cluster/Haproxy.ts"
import { type Launched, launch } from "../../cluster/Launch.ts"
import { inRepository } from "../../cluster/Repository.ts"
import type { Unavailable } from "../support/services/Service.ts"

/** A request as a node saw it. */
export interface Seen {
  readonly name: string
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An answer as the client got it; status 0 where the connection was closed instead. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What a client sends. */
export interface Sent {
  readonly method?: string
  readonly path?: string
  readonly headers?: OutgoingHttpHeaders
  /** With it the body follows the head only after a while. */
  readonly pause_ms?: number
  readonly body?: string
}

/** Sends one request on a connection of its own. */
export const send = (port: number, sent: Sent = {}): Effect.Effect<Answer> =>
  Effect.async((resume) => {
    const { body = "", headers = {}, method = "GET", path = "/aZ3k9Qx", pause_ms = 0 } = sent
    const length = body === "" ? {} : { "content-length": Buffer.byteLength(body) }
    const options = {
      host: "127.0.0.1",
      port,
      method,
      path,
      agent: false,
      headers: { ...headers, ...length }
    }
    const none = () => resume(Effect.succeed({ status: 0, headers: {}, body: "" }))
    const request = httpRequest(options, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk
      })
      response.on("error", none)
      response.on("end", () =>
        resume(Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
      )
    })
    request.on("error", none)
    request.flushHeaders()
    setTimeout(() => request.end(body), pause_ms)
    return Effect.sync(() => request.destroy())
  })

/** Nodes behind HAProxy. */
export interface Balanced {
  readonly port: number
  readonly nodes: ReadonlyArray<Launched>
  /** All requests that nodes have seen, node by node. */
  readonly seen: () => ReadonlyArray<Seen>
  /** What HAProxy thinks of a node in a backend: `UP`, `DOWN` and the like. */
  readonly statusOf: (backend: "redirects" | "nodes" | "alive", node: string) => Effect.Effect<string>
}

const ask = (socket: string, command: string) =>
  Effect.async<string>((resume) => {
    let text = ""
    const client = connect(socket, () => client.write(`${command}\n`))
    client.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
    })
    client.on("error", (error) => resume(Effect.die(error)))
    client.on("end", () => resume(Effect.succeed(text)))
  })

const startNode = (folder: string, name: string, port: number) =>
  launch({
    name,
    folder: join(folder, name),
    commands: [[process.execPath, inRepository("test/cluster/fakeNode.mjs"), name, String(port)]],
    signal: "KILL",
    answers: Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/health/live`)),
    limit: "20 seconds"
  })

const read = (log: string): ReadonlyArray<Seen> =>
  existsSync(log)
    ? readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as Seen)
    : []

/** Starts HAProxy with our configuration in front of nodes `a`, `b`, `c` and so on. */
export const balanced = Effect.fn("balanced")(function* (
  count = 3
): Effect.fn.Return<Balanced, Unavailable, Scope.Scope> {
  const names = ["a", "b", "c", "d"].slice(0, count)
  const program = yield* Haproxy.haveProgram
  const folder = yield* Folder.open(null, {})
  const { memory } = yield* Folder.recall(folder, {
    names: [...names, "haproxy"],
    sentinel: false,
    standby: false
  })
  const port = (name: string) => memory.ports[name]!
  const nodes = yield* Effect.forEach(names, (name) => startNode(folder, name, port(name)), {
    concurrency: "unbounded"
  })
  const backends = names.map((name) => ({ name, address: `127.0.0.1:${port(name)}` }))
  const haproxyFolder = join(folder, "haproxy")
  yield* Haproxy.start({ program, folder: haproxyFolder, port: port("haproxy"), nodes: backends })

  const statusOf = (backend: string, node: string) =>
    Effect.map(ask(Haproxy.socketIn(haproxyFolder), "show stat"), (table) => {
      const [head = [], ...rows] = table.split("\n").map((row) => row.split(","))
      return rows.find((row) => row[0] === backend && row[1] === node)?.[head.indexOf("status")] ?? "?"
    })
  return {
    port: port("haproxy"),
    nodes,
    seen: () => nodes.flatMap(({ log }) => read(log)),
    statusOf
  }
})

/** A suite that needs programs. Where they cannot be had it is skipped, and says so, but for CI. */
export const describeWith = async (
  programs: Effect.Effect<unknown, Unavailable>,
  title: string,
  options: { readonly concurrent?: boolean },
  body: () => void
): Promise<void> => {
  const found = await Effect.runPromise(Effect.either(programs))
  if (found._tag === "Right" || process.env["CI"] === "true") describe(title, options, body)
  else describe.skip(`${title} (skipped: ${found.left.reason})`, body)
}

/** Waits until a check holds; how long that may take is up to the test's own limit. */
export const until = (check: Effect.Effect<boolean>): Effect.Effect<void> =>
  check.pipe(
    Effect.repeat({ until: (holds) => holds, schedule: Schedule.spaced("100 millis") }),
    Effect.asVoid
  )
