import { describe, expect, it } from "@effect/vitest"
import { Effect, Number as Numbers, Schedule } from "effect"
import { readFileSync } from "node:fs"
import { agent, type Answer, keyOf, type Request, send } from "../support/http/HttpClient.ts"
import { freePort } from "../support/FreePort.ts"
import { valueOf } from "../support/http/MetricsText.ts"
import * as RawConnection from "../support/http/RawConnection.ts"
import { describePostgres } from "../support/services/postgres/Postgres.ts"
import { describeRedis, serverUrl } from "../support/services/redis/Redis.ts"
import { migratedDatabase } from "../support/Stores.ts"
import { nodeOptions, type Program, ready, run, type Variables } from "./Program.ts"

const ADMIN_API_KEY = "lm_the-operators-own-admin-key"

const launch = (variables: Variables, ...args: ReadonlyArray<string>) =>
  run(process.execPath, [...nodeOptions, "dist/main.js", ...args], variables)

const soon = Schedule.spaced("50 millis")

/** The processes that the program said it started: of each number the last one. */
const pidsOf = (program: Program): ReadonlyArray<number> => {
  const lines = program.output().matchAll(/Process (\d+) of \d+ is (\d+)/g)
  return Object.values(Object.fromEntries([...lines].map(([, number, pid]) => [number, Number(pid)])))
}

const runs = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Whether a process has ended, and its parent does not know. */
const isOver = (pid: number) => /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))

const greetings = (program: Program) => program.output().match(/^Linkmint listens at /gm)?.length ?? 0

/** Asks on a connection of its own, which goes to the next process in turn. */
const ask = (port: number, request: Request): Effect.Effect<Answer> =>
  Effect.orDie(Effect.scoped(Effect.flatMap(agent(1), (connections) => send(connections, port, request))))

const create = (port: number) =>
  ask(port, {
    method: "POST",
    path: "/api/v1/links",
    headers: { "content-type": "application/json", "x-api-key": ADMIN_API_KEY },
    body: JSON.stringify({ url: "https://example.com/" })
  })

/** Two processes that share a port. */
const twoProcesses = Effect.fnUntraced(function* (variables: Variables = {}) {
  const port = yield* freePort
  const metricsPort = yield* freePort
  const program = yield* launch(
    {
      METRICS_PORT: String(metricsPort),
      HOST: "127.0.0.1",
      PORT: String(port),
      RUNNER_HOST: "127.0.0.1",
      RUNNER_PORT: String(yield* freePort),
      DRAIN_DELAY: "PT0S",
      DATABASE_URL: yield* migratedDatabase,
      REDIS_URLS: yield* serverUrl,
      ADMIN_API_KEY,
      ...variables
    },
    "--processes",
    "2"
  )
  yield* ready(program, port)
  yield* Effect.repeat(
    Effect.sync(() => greetings(program)),
    { until: (count) => count === 2, schedule: soon }
  )
  return { port, metricsPort, program }
})

/** A number that a process tells of itself, at a port of its own. */
const metricAt =
  (metricsPort: number) =>
  (process: number, name: string, labels: object = {}) =>
    Effect.map(ask(metricsPort + process - 1, { path: "/metrics" }), ({ text }) =>
      valueOf(text, name, labels)
    )

describe("--processes", () => {
  it.scopedLive.each([
    [
      ["--processes", "2"],
      /PROCESSES can be more than 1 in a cluster only, with DATABASE_URL and REDIS_URLS/
    ],
    [["--processes", "many"], /PROCESSES must be a whole number from 1 to 64, not "many"/],
    [["--process", "2"], /Unknown option '--process'/]
  ] as const)("%s is refused with a message that says why", ([args, message]) =>
    Effect.gen(function* () {
      const program = yield* launch({}, ...args)
      expect(yield* program.ended).toEqual({ code: 1, signal: null })
      expect(program.output()).toMatch(/^Linkmint cannot start\. /m)
      expect(program.output()).toMatch(message)
      expect(program.output()).not.toMatch(/^\s+at /m)
    })
  )
})

describeRedis("with Redis,", () =>
  describePostgres("several processes at one port", () => {
    it.scopedLive(
      "serve each other's links, come back when one is killed, and stop in order",
      () =>
        Effect.gen(function* () {
          const { metricsPort, port, program } = yield* twoProcesses()
          const before = pidsOf(program)
          const metric = metricAt(metricsPort)
          const acquiredBy = (process: number) =>
            metric(process, "linkmint_shard_moves_total", { direction: "acquired" })
          expect(new Set(before).size).toBe(2)
          const keys = yield* Effect.replicateEffect(Effect.map(create(port), keyOf), 6)
          for (const key of keys) expect((yield* ask(port, { path: `/${key}` })).status).toBe(302)
          // Each tells of itself at a port of its own.
          const created = yield* Effect.all([
            metric(1, "linkmint_links_created_total"),
            metric(2, "linkmint_links_created_total")
          ])
          expect(created[0] + created[1]).toBe(6)
          // A process that comes later is given its shards some time after it serves.
          yield* Effect.repeat(acquiredBy(2), { until: (shards) => shards > 0, schedule: soon })

          process.kill(before[1]!, "SIGKILL")
          yield* program.printed(/Process 2 was killed by SIGKILL; it is started again in 1s/)
          // The other one serves meanwhile. What the dead one owned goes to it, or to its successor where that is the sooner one.
          const createdAgain = create(port).pipe(
            Effect.repeat({ until: ({ status }) => status === 201, schedule: soon })
          )
          yield* createdAgain
          yield* Effect.repeat(
            Effect.sync(() => greetings(program)),
            { until: (count) => count === 3, schedule: soon }
          )
          const after = pidsOf(program)
          expect(after[0]).toBe(before[0])
          expect(after[1]).not.toBe(before[1])
          for (const key of keys) expect((yield* ask(port, { path: `/${key}` })).status).toBe(302)
          yield* Effect.replicateEffect(createdAgain, 16)

          program.signal("SIGTERM")
          expect(yield* program.ended).toEqual({ code: 0, signal: null })
          expect(after.filter(runs)).toEqual([])
          // Each of the two, and the one that started them.
          expect(program.output().match(/^Linkmint has stopped\.$/gm), program.output()).toHaveLength(3)
        }),
      240_000
    )

    it.scopedLive(
      "close each connection that is more than they may have, and count it",
      () =>
        Effect.gen(function* () {
          const connectionsMax = 3
          const tries = 20
          const { metricsPort, port } = yield* twoProcesses({ CONNECTIONS_MAX: String(connectionsMax) })
          const metric = metricAt(metricsPort)
          const cut = Effect.map(
            Effect.forEach([1, 2], (process) =>
              metric(process, "linkmint_http_connections_cut_total", { bound: "all" })
            ),
            Numbers.sumAll
          )
          // Of each process the one that asks.
          const noneIsOpen = Effect.repeat(
            Effect.forEach([1, 2], (process) => metric(process, "linkmint_http_connections")),
            { until: (counts) => counts.every((count) => count === 1), schedule: soon }
          )
          yield* noneIsOpen
          expect(yield* cut).toBe(0)
          // Each is answered or closed: none waits for a place.
          yield* Effect.scoped(
            Effect.gen(function* () {
              const tried = Array.from({ length: tries }, () => RawConnection.isLetIn(port, "/health/live"))
              const letIn = (yield* Effect.all(tried, { concurrency: "unbounded" })).filter(Boolean).length
              expect(letIn).toBeGreaterThanOrEqual(connectionsMax)
              expect(letIn).toBeLessThanOrEqual(2 * connectionsMax)
              // Requests for metrics within a second share one reading.
              yield* Effect.repeat(cut, { until: (count) => count >= tries - letIn, schedule: soon })
              expect(yield* cut).toBe(tries - letIn)
            })
          )
          yield* noneIsOpen
          expect(yield* RawConnection.isLetIn(port, "/health/live")).toBe(true)
        }),
      240_000
    )

    it.scopedLive(
      "end with the process that started them, and stop once when the terminal tells all of them",
      () =>
        Effect.gen(function* () {
          const { program: killed } = yield* twoProcesses()
          const orphans = pidsOf(killed)
          killed.signal("SIGKILL")
          yield* Effect.repeat(
            Effect.sync(() => orphans.some(runs)),
            { until: (some) => !some, schedule: soon }
          )

          const { program } = yield* twoProcesses()
          // The program has a process group of its own. The process that started the others hears of it last, when they have ended.
          program.signal("SIGSTOP")
          process.kill(-program.pid, "SIGINT")
          yield* Effect.repeat(
            Effect.sync(() => pidsOf(program).every(isOver)),
            { until: (all) => all, schedule: soon }
          )
          program.signal("SIGCONT")
          expect(yield* program.ended).toEqual({ code: 0, signal: null })
          expect(program.output().match(/^Linkmint has stopped\.$/gm), program.output()).toHaveLength(3)
          expect(program.output()).not.toMatch(/started again/)
        }),
      240_000
    )
  })
)
