import { Effect } from "effect"
import { join } from "node:path"
import { atMost, type Case } from "../Case.ts"
import * as Draws from "../Draws.ts"
import * as EventLoop from "../EventLoop.ts"
import { type Ground, type Kind, startProgram } from "../Ground.ts"
import type { Sample } from "../load/Load.ts"
import * as ProcessFigures from "../ProcessFigures.ts"
import * as Rounds from "../Rounds.ts"
import { bodyFile, createBody } from "./creates.ts"
import { manyLinks } from "./redirects.ts"

/** Redirects for one create. */
const redirectsEach = 100

/** Part of the highest rate at which times are taken. */
const part = 0.5

/** Requests a second that every build gets beside that, so that builds can be compared. */
const sameRate = 5_000

/** What p99.9 of redirects must reach at that rate. */
const sameRateMax_ms = 10

/** Connections at a steady rate: so many that one that waits for its answer holds up few others. */
const connections = { redirects: 128, creates: 16 }

/** What p99 of creates must reach. */
const createsMax_ms: Readonly<Record<Kind, number>> = { PostgreSQL: 12, SQLite: 25 }

/** How long a connection is busy with a request, beside its wait: as a run with waits of `delay_ms` has shown. */
const busy_ms = (count: number, delay_ms: number, { count: answers, seconds }: Sample) =>
  answers === 0 ? 0 : Math.max(0, (count * seconds * 1_000) / answers - delay_ms)

const steady = (samples: ReadonlyArray<Sample>) => ({
  rounds: samples.map(({ count, seconds }) => count / seconds),
  p50_ms: Rounds.median(samples.map(({ p50_ms }) => p50_ms ?? Number.POSITIVE_INFINITY)),
  p99_ms: Rounds.median(samples.map(({ p99_ms }) => p99_ms ?? Number.POSITIVE_INFINITY)),
  p999_ms: Rounds.median(samples.map(({ p999_ms }) => p999_ms ?? Number.POSITIVE_INFINITY)),
  errors: samples.reduce((sum, { errors }) => sum + errors, 0)
})

const onKind = Effect.fn("mixed.onKind")(function* (ground: Ground, kind: Kind) {
  const n = manyLinks(ground)
  const paths = Draws.zipf(join(ground.folder, "mixed"), n, ground.quick ? 20_000 : 500_000)
  const deployment = yield* ground.deployment(kind, n)
  const { pid, port } = yield* startProgram(ground, deployment)
  const body = bodyFile(ground, "mixed.json", createBody)
  const creates = { path: "/api/v1/links", body, apiKey: deployment.apiKey }
  const { rounds, seconds, warmUp_s } = Rounds.planOf(ground)

  const asFastAsItCan = (seconds: number) =>
    ground.load.send({
      port,
      connections: 32,
      seconds,
      paths,
      creates: { ...creates, each: redirectsEach + 1 }
    })
  yield* asFastAsItCan(warmUp_s)
  const highest = yield* Effect.replicateEffect(asFastAsItCan(seconds), ground.quick ? 1 : 3)
  const highestRate = Rounds.median(highest.map((sample) => sample.count / sample.seconds))

  const steadily = (seconds: number, delay_ms: { readonly redirects: number; readonly creates: number }) =>
    Effect.all(
      {
        redirects: ground.load.send({
          port,
          connections: connections.redirects,
          seconds,
          paths,
          delay_ms: delay_ms.redirects
        }),
        creates: ground.load.send({
          port,
          connections: connections.creates,
          seconds,
          creates: { ...creates, each: 1 },
          delay_ms: delay_ms.creates
        })
      },
      { concurrency: 2 }
    )

  /** So many requests a second, of both kinds together. */
  const atRate = Effect.fn("mixed.atRate")(function* (rate: number, rounds: number) {
    const redirectRate = (rate * redirectsEach) / (redirectsEach + 1)
    /** From one request of a connection to its next, on average. */
    const pace_ms = {
      redirects: (connections.redirects / redirectRate) * 1_000,
      creates: (connections.creates / (redirectRate / redirectsEach)) * 1_000
    }
    const trial = yield* steadily(warmUp_s, pace_ms)
    const delay_ms = {
      redirects: pace_ms.redirects - busy_ms(connections.redirects, pace_ms.redirects, trial.redirects),
      creates: pace_ms.creates - busy_ms(connections.creates, pace_ms.creates, trial.creates)
    }
    yield* EventLoop.longestHold(ground, [pid])
    const before = ProcessFigures.cpuOf_us([pid])
    const samples = yield* Effect.replicateEffect(
      steadily(seconds, {
        redirects: Math.max(1, delay_ms.redirects),
        creates: Math.max(1, delay_ms.creates)
      }),
      rounds
    )
    const cpu_us = ProcessFigures.cpuOf_us([pid]) - before
    const held_ms = yield* EventLoop.longestHold(ground, [pid])
    const count = samples.reduce((sum, { creates, redirects }) => sum + creates.count + redirects.count, 0)
    return {
      redirects: steady(samples.map(({ redirects }) => redirects)),
      created: steady(samples.map(({ creates }) => creates)),
      cpu_us: cpu_us / count,
      held_ms
    }
  })

  const half = yield* atRate(highestRate * part, rounds)
  const same = yield* atRate(sameRate, ground.quick ? 1 : 3)
  const rowsOf = (suffix: string, { cpu_us, created, held_ms, redirects }: typeof half) => [
    Rounds.plainRow({
      subject: `Linkmint on ${kind}, redirects${suffix}`,
      unit: "redirects/s",
      ...redirects,
      cpu_us,
      held_ms,
      rss_MB: ProcessFigures.rssOf_MB([pid])
    }),
    Rounds.plainRow({ subject: `Linkmint on ${kind}, creates${suffix}`, unit: "creates/s", ...created })
  ]
  const rows = [
    Rounds.plainRow({
      subject: `Linkmint on ${kind}, as fast as it can`,
      unit: "requests/s",
      rounds: highest.map((sample) => sample.count / sample.seconds),
      errors: highest.reduce((sum, { errors }) => sum + errors, 0)
    }),
    ...rowsOf("", half),
    ...rowsOf(`, ${sameRate.toLocaleString("en")} requests/s`, same)
  ]
  const goals = [
    atMost(`p99 of redirects on ${kind}`, 3, " ms", half.redirects.p99_ms, half.redirects.errors),
    atMost(`p99 of creates on ${kind}`, createsMax_ms[kind], " ms", half.created.p99_ms, half.created.errors),
    atMost(
      `p99.9 of redirects on ${kind} at ${sameRate.toLocaleString("en")} requests/s`,
      sameRateMax_ms,
      " ms",
      same.redirects.p999_ms,
      same.redirects.errors
    )
  ]
  return { rows, goals }
}, Effect.scoped)

/** Both at once, at half of what it can: how long one waits. */
export const mixed: Case = {
  name: "mixed",
  title: "Mixed, 100 redirects for a create, at 50 % of the highest rate",
  run: Effect.fn("mixed")(function* (ground) {
    const found = [yield* onKind(ground, "PostgreSQL"), yield* onKind(ground, "SQLite")]
    return {
      rows: found.flatMap(({ rows }) => rows),
      goals: found.flatMap(({ goals }) => goals),
      notes: [
        `Redirects over ${connections.redirects} connections and creates over ${connections.creates}, each of which pauses at random between its requests. ` +
          "CPU time is that of redirects and creates together."
      ]
    }
  })
}
