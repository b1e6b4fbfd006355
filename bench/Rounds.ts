// Measuring several subjects by turns, so that what else the machine does slows them alike.

import { Effect } from "effect"
import type { Unavailable } from "../test/support/services/Service.ts"
import type { Row } from "./Case.ts"
import * as EventLoop from "./EventLoop.ts"
import type { Ground } from "./Ground.ts"
import type { Sample } from "./load/Load.ts"
import * as ProcessFigures from "./ProcessFigures.ts"

/** Something that is measured. */
export interface Contender {
  readonly subject: string
  /** What its samples count, by the second. */
  readonly unit: string
  /** Its own processes. */
  readonly pids: ReadonlyArray<number>
  readonly usesPostgres: boolean
  /** Puts it to work for so long. */
  readonly run: (seconds: number) => Effect.Effect<Sample, Unavailable>
}

/** How often, and for how long each time. */
export interface Plan {
  readonly rounds: number
  readonly seconds: number
  readonly warmUp_s: number
}

/** The middle one. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
}

/** The plan of most cases. */
export const planOf = ({ quick }: Pick<Ground, "quick">): Plan =>
  quick ? { rounds: 1, seconds: 1, warmUp_s: 1 } : { rounds: 5, seconds: 3, warmUp_s: 3 }

/** How long work may go on after the last answer: visits are written within a second. It is part of the CPU time. */
export const afterwards = "1200 millis"

interface Turn {
  readonly sample: Sample
  readonly cpu_us: number
  readonly databaseCpu_us: number
  readonly held_ms: number | null
}

/** One round of one contender, with what it took. */
const turnOf = Effect.fn("turnOf")(function* (
  ground: Ground,
  { pids, run, usesPostgres }: Contender,
  seconds: number
) {
  const database_us = usesPostgres ? ground.postgresCpu_us : Effect.succeed(0)
  yield* EventLoop.longestHold(ground, pids)
  const before = [ProcessFigures.cpuOf_us(pids), yield* database_us] as const
  const sample = yield* run(seconds)
  yield* Effect.sleep(afterwards)
  const cpu_us = sample.cpu_us ?? ProcessFigures.cpuOf_us(pids) - before[0]
  const databaseCpu_us = sample.databaseCpu_us ?? (yield* database_us) - before[1]
  const held_ms = sample.held_ms ?? (yield* EventLoop.longestHold(ground, pids))
  return { sample, cpu_us, databaseCpu_us, held_ms } satisfies Turn
})

const rateOf = ({ sample }: Turn): number => sample.count / sample.seconds

const present = (values: ReadonlyArray<number | null>): ReadonlyArray<number> =>
  values.filter((value) => value !== null)

const medianOf = (values: ReadonlyArray<number | null>): number | null =>
  present(values).length === 0 ? null : median(present(values))

/** The longest of them. */
export const longestOf = (values: ReadonlyArray<number | null>): number | null =>
  present(values).length === 0 ? null : Math.max(...present(values))

const rowOf = (contender: Contender, turns: ReadonlyArray<Turn>, reference?: ReadonlyArray<Turn>): Row => {
  const rates = turns.map(rateOf)
  const count = turns.reduce((sum, { sample }) => sum + sample.count, 0)
  const each = (pick: (turn: Turn) => number) => turns.reduce((sum, turn) => sum + pick(turn), 0) / count
  const loads = turns.map(({ sample }) => sample.loadCpu_us)
  const ownRss = turns.at(-1)?.sample.rss_MB ?? null
  return {
    subject: contender.subject,
    unit: contender.unit,
    rounds: rates,
    median: median(rates),
    p50_ms: medianOf(turns.map(({ sample }) => sample.p50_ms)),
    p99_ms: medianOf(turns.map(({ sample }) => sample.p99_ms)),
    p999_ms: medianOf(turns.map(({ sample }) => sample.p999_ms)),
    held_ms: longestOf(turns.map(({ held_ms }) => held_ms)),
    ratio:
      reference === undefined ? null : median(rates.map((rate, round) => rate / rateOf(reference[round]!))),
    cpu_us: count === 0 ? null : each(({ cpu_us }) => cpu_us),
    databaseCpu_us: contender.usesPostgres && count > 0 ? each(({ databaseCpu_us }) => databaseCpu_us) : null,
    loadCpu_us: count === 0 || loads.includes(undefined) ? null : each(({ sample }) => sample.loadCpu_us!),
    rss_MB: contender.pids.length > 0 ? ProcessFigures.rssOf_MB(contender.pids) : ownRss,
    errors: turns.reduce((sum, { sample }) => sum + sample.errors, 0)
  }
}

/**
 * Warms all contenders up, then measures them by turns: forwards in one round, backwards in the next. Gives a row for each; where the
 * first one is the reference, the rows of the others have their ratio to it.
 */
export const measure = Effect.fn("measure")(function* (
  ground: Ground,
  contenders: ReadonlyArray<Contender>,
  { rounds, seconds, warmUp_s }: Plan,
  { hasReference }: { readonly hasReference: boolean } = { hasReference: true }
): Effect.fn.Return<ReadonlyArray<Row>, Unavailable> {
  const turns = contenders.map((): Array<Turn> => [])
  for (const { run } of contenders) if (warmUp_s > 0) yield* run(warmUp_s)
  for (let round = 0; round < rounds; round++) {
    const inTurn = contenders.map((contender, index) => ({ contender, index }))
    for (const { contender, index } of round % 2 === 0 ? inTurn : inTurn.toReversed()) {
      turns[index]!.push(yield* turnOf(ground, contender, seconds))
    }
  }
  return contenders.map((contender, index) =>
    rowOf(contender, turns[index]!, hasReference && index > 0 ? turns[0] : undefined)
  )
})

/** A row for what is measured otherwise. */
export const plainRow = (row: Pick<Row, "subject" | "unit" | "rounds"> & Partial<Row>): Row => ({
  median: median(row.rounds),
  p50_ms: null,
  p99_ms: null,
  p999_ms: null,
  held_ms: null,
  ratio: null,
  cpu_us: null,
  databaseCpu_us: null,
  loadCpu_us: null,
  rss_MB: null,
  errors: 0,
  ...row
})
