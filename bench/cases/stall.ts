// How long a redirect waits beside the worst requests that a client can send.

import { Effect, type Scope } from "effect"
import { loadavg } from "node:os"
import { connect } from "node:net"
import { agent, type Answer, type Request, send } from "../../test/support/http/HttpClient.ts"
import * as Probe from "../../fuzz/Probe.ts"
import { atMost, type Case, type Row } from "../Case.ts"
import * as EventLoop from "../EventLoop.ts"
import { startProgram } from "../Ground.ts"
import { keyOf } from "../Links.ts"
import * as Rounds from "../Rounds.ts"

/** What a redirect may wait for others, beyond what it waits when there are none. */
const addedMax_ms = 50

/** Bytes of an answer that refuses. */
const refusedMax = 64 * 1_024

/** How long the probe asks when nothing else does, before each kind, in seconds. */
const idle_s = 1

/** How long clients that read nothing, or send no more, hold their connections, in seconds: all that they cost comes at the beginning and at the end. */
const held_s = 2

/** A kind of worst request. */
interface Kind {
  readonly subject: string
  /** Sends them; gives the answers, where any are waited for. */
  readonly attack: Effect.Effect<ReadonlyArray<Answer>, never, Scope.Scope>
}

const MiB = 1_024 * 1_024

const filled = (start: string, unit: string, end: string, bytes: number): string =>
  `${start}${unit.repeat(Math.floor((bytes - start.length - end.length) / unit.length))}${end}`

/** A body, and a `url` that is good, so that everything behind it is looked at. */
const url = "https://www.example.com/"

const inTags = (unit: string, end: string, bytes: number): string =>
  filled(`{"links":[{"url":"${url}","tags":[`, unit, `${end}]}]}`, bytes)

const manyFaults = (items: number): string =>
  JSON.stringify({
    links: Array.from({ length: items }, (_, n) => ({
      url: 0,
      alias: "-".repeat(70),
      expiresIn: "x",
      maxVisits: -1,
      tags: [n, "", {}, null],
      redirectStatus: 1,
      [`a${n}`]: 0
    }))
  })

const good = (items: number, more: (n: number) => object = () => ({})): string =>
  JSON.stringify({ links: Array.from({ length: items }, (_, n) => ({ url: `${url}${n}`, ...more(n) })) })

/** All kinds, on a service with so many links of the key's owner. */
const kindsOf = Effect.fn("stall.kinds")(function* (port: number, apiKey: string, links: number) {
  const connections = yield* agent(32)
  const ask = (request: Request) =>
    Effect.option(
      send(connections, port, { ...request, headers: { "x-api-key": apiKey, ...request.headers } })
    )
  const all = (requests: ReadonlyArray<Request>, concurrency: number) =>
    Effect.map(Effect.forEach(requests, ask, { concurrency }), (answers) =>
      answers.flatMap((answer) => (answer._tag === "Some" ? [answer.value] : []))
    )
  const post = (path: string, body: string, headers: Request["headers"] = {}): Request => ({
    method: "POST",
    path,
    headers: { "content-type": "application/json", ...headers },
    body
  })
  const times = (count: number, request: Request) => Array.from({ length: count }, () => request)
  const bulk = "/api/v1/links/bulk"
  const one = "/api/v1/links"

  /** Connections that write, and read nothing. */
  const writing = (count: number, write: (socket: ReturnType<typeof connect>) => void) =>
    Effect.forEach(
      Array.from({ length: count }),
      () =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const socket = connect(port, "127.0.0.1").on("error", () => {})
            socket.pause()
            write(socket)
            return socket
          }),
          (socket) => Effect.sync(() => socket.destroy())
        ),
      { discard: true }
    ).pipe(Effect.zipRight(Effect.sleep(`${held_s} seconds`)), Effect.as<ReadonlyArray<Answer>>([]))

  const head = (length: number) =>
    `POST ${bulk} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
  const key = (n: number) => keyOf((n % links) + 1)

  const kinds: ReadonlyArray<Kind> = [
    {
      subject: "JSON 4 MiB deep, in a bulk",
      attack: all(times(4, post(bulk, filled("", "[", "", 4 * MiB), { "idempotency-key": "deep" })), 1)
    },
    {
      subject: "JSON 60 KiB deep, with an Idempotency-Key",
      attack: all(times(20, post(one, filled("", '{"a":', "", 60_000), { "idempotency-key": "deep" })), 1)
    },
    {
      subject: "2 M numbers in the tags of a bulk",
      attack: all(times(4, post(bulk, inTags("0,", "0]", 4 * MiB - 64))), 1)
    },
    {
      subject: "200,000 numbers in the tags of a bulk",
      attack: all(times(8, post(bulk, inTags("0,", "0]", 400 * 1_024))), 1)
    },
    {
      subject: "a create of 64 KiB full of faults",
      attack: all(times(40, post(one, filled(`{"url":0,"tags":[`, "{},", "0]}", 65_000))), 2)
    },
    {
      subject: "a create with 5,000 unknown fields",
      attack: all(
        times(
          40,
          post(one, JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`f${n}`, 0]))))
        ),
        2
      )
    },
    {
      subject: "a bulk of 1,000 links, all with eight faults",
      attack: all(times(6, post(bulk, manyFaults(1_000))), 2)
    },
    {
      subject: "a bulk of 100 links with passwords",
      attack: all(
        times(
          2,
          post(
            bulk,
            good(100, (n) => ({ password: `a password ${n}` }))
          )
        ),
        2
      )
    },
    {
      subject: "20 sign-ins at once",
      attack: all(
        Array.from({ length: 20 }, (_, n) =>
          post(
            "/api/v1/session",
            JSON.stringify({ email: `nobody-${n}@example.com`, password: "x".repeat(100) })
          )
        ),
        20
      )
    },
    {
      subject: "a list filtered by 256 characters that are nowhere",
      attack: all(times(10, { path: `${one}?limit=500&q=${"z".repeat(256)}&tag=${"y".repeat(64)}` }), 4)
    },
    {
      subject: "QR codes of 2,048 pixels",
      attack: all(
        Array.from({ length: 30 }, (_, n) => ({ path: `${one}/${key(n)}/qr?size=2048&format=png` })),
        8
      )
    },
    {
      subject: "an export: pages of 500 links",
      attack: all(times(40, { path: `${one}?limit=500` }), 4)
    },
    {
      subject: "an import: bulks of 1,000 links",
      attack: all(times(6, post(bulk, good(1_000))), 2)
    },
    {
      subject: "statistics by the hour, of 400 days",
      attack: all(
        times(10, { path: "/api/v1/stats?interval=hour&from=2025-01-01T00:00:00Z&to=2026-02-05T00:00:00Z" }),
        4
      )
    },
    {
      subject: "30 clients that pipeline pages and read nothing",
      attack: writing(30, (socket) => {
        socket.write("GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(64))
      })
    },
    {
      subject: "100 bodies of 4 MiB that never end",
      attack: writing(100, (socket) => {
        socket.write(head(4 * MiB))
        socket.write(Buffer.alloc(2 * MiB, 0x20))
      })
    },
    {
      subject: "headers of 15 KiB",
      attack: all(times(200, { path: `/${key(1)}`, headers: { cookie: "a=b; ".repeat(3_000) } }), 8)
    },
    {
      subject: "keys that lead nowhere",
      attack: all(
        Array.from({ length: 400 }, (_, n) => ({ path: `/nowhere-${n}`, headers: { accept: "text/html" } })),
        16
      )
    }
  ]
  return kinds
})

/** One kind once: what it added to the longest wait, in milliseconds, and the CPU time of the worst wait. */
const measure = Effect.fn("stall.measure")(function* (
  hold: Effect.Effect<number | null>,
  { lap }: Probe.Probe,
  { attack }: Kind,
  seconds: number
) {
  yield* lap
  yield* Effect.sleep(`${seconds} seconds`)
  const idle = yield* lap
  yield* hold
  const answers = yield* Effect.scoped(attack)
  const beside = yield* lap
  const held_ms = yield* hold
  // What it has left behind, such as links to be written, is not the next one's.
  yield* Effect.sleep("500 millis")
  const refused = answers.filter(({ status }) => status >= 400).map(({ text }) => Buffer.byteLength(text))
  return {
    added_ms: Math.max(0, beside.wait_ms - idle.wait_ms),
    idle_ms: idle.wait_ms,
    median_ms: beside.median_ms,
    busy_ms: beside.busy_ms,
    held_ms,
    failures: beside.failures,
    refused_bytes: Math.max(0, ...refused)
  }
})

const loads = () => loadavg()[0]!.toFixed(2)

/** Each kind of worst request by itself, and a redirect beside it. */
export const stall: Case = {
  name: "stall",
  title: "Longest wait of a redirect, beside the worst requests",
  run: Effect.fn("stall")(function* (ground) {
    const before = loads()
    const deployment = yield* ground.deployment("SQLite", ground.quick ? 1_000 : 100_000)
    // All requests are one client's, the redirect beside them too.
    const variables = { ...deployment.variables, FAILED_LOOKUPS_PER_MINUTE: "none" }
    const { pid, port } = yield* startProgram(ground, { ...deployment, variables })
    const probe = yield* Probe.make({ port, pid, path: `/${keyOf(1)}`, pause_ms: 2 })
    const hold = EventLoop.longestHold(ground, [pid])
    const kinds = yield* kindsOf(port, deployment.apiKey, deployment.links)
    const [rounds, seconds] = ground.quick ? [1, 0.2] : [3, idle_s]
    // The first requests of a process take longer than all others.
    yield* ground.notify(`  ${kinds.length} kinds of requests once, to warm up …`)
    for (const { attack } of kinds) yield* Effect.scoped(attack)
    const rows: Array<Row> = []
    const idles: Array<number> = []
    let refused_bytes = 0
    for (const [index, kind] of kinds.entries()) {
      const found = yield* Effect.replicateEffect(measure(hold, probe, kind, seconds), rounds)
      idles.push(...found.map(({ idle_ms }) => idle_ms))
      const most_ms = Math.max(...found.map(({ added_ms }) => added_ms))
      yield* ground.notify(`  ${index + 1}/${kinds.length} ${kind.subject}: ${most_ms.toFixed(1)} ms`)
      refused_bytes = Math.max(refused_bytes, ...found.map((one) => one.refused_bytes))
      rows.push(
        Rounds.plainRow({
          subject: kind.subject,
          unit: "ms added",
          rounds: found.map(({ added_ms }) => added_ms),
          p50_ms: Rounds.median(found.map(({ median_ms }) => median_ms)),
          held_ms: Rounds.longestOf(found.map(({ held_ms }) => held_ms)),
          cpu_us: 1_000 * Math.max(...found.map(({ busy_ms }) => busy_ms)),
          errors: found.reduce((sum, { failures }) => sum + failures, 0)
        })
      )
    }
    const worst = rows.toSorted((a, b) => Math.max(...b.rounds) - Math.max(...a.rounds))[0]!
    const errors = rows.reduce((sum, row) => sum + row.errors, 0)
    return {
      rows,
      goals: [
        atMost(
          `the longest wait added (${worst.subject})`,
          addedMax_ms,
          " ms",
          Math.max(...worst.rounds),
          errors
        ),
        atMost("an answer that refuses", refusedMax / 1_024, " KiB", refused_bytes / 1_024)
      ],
      notes: [
        `SQLite; ${deployment.links.toLocaleString("en")} links. A process of its own asks for one link every 2 ms. What is added is the longest wait beside the requests, less the longest of the ${seconds} s before: ` +
          `${Rounds.median(idles).toFixed(1)} ms in the median, ${Math.max(...idles).toFixed(1)} ms at most. CPU µs is the most that the main thread took within one wait: it does not grow with what else the machine does. ` +
          `Processes that wanted a core: ${before} at the beginning, ${loads()} at the end.`
      ]
    }
  })
}
