import type { SqlError } from "@effect/sql/SqlError"
import { Array as Arrays, Effect, Either } from "effect"
import * as FairSemaphore from "../../fibers/FairSemaphore.ts"
import { bucketOfSubject } from "../../keys/Buckets.ts"
import * as Parallel from "../../fibers/Parallel.ts"
import { areMoving, confirmed, isRefused, under } from "../links/buckets/LinkTenure.ts"
import { asStorageError } from "../sql/SqlTransaction.ts"
import type { StorageError } from "../StorageError.ts"
import { type HourCount, Unwritten, type VisitBatch, type VisitStore } from "../visits/VisitStore.ts"
import type { LinkDatabase, Router } from "./Router.ts"

/** A database, and the visits that it has. */
export interface HasVisits extends LinkDatabase {
  readonly visits: typeof VisitStore.Service
}

/** A part of a batch that was asked to be written to one database, under a number that it alone has there. */
interface Part {
  readonly index: number
  readonly sequence: number
  readonly hours: ReadonlyArray<HourCount>
  /** Whether it may have been written, and the answer was lost. */
  isUnknown: boolean
}

/** What is left to be written of a writer's last batch. */
interface Writing {
  readonly sequence: number
  readonly parts: Array<Part>
  /** Hours of subjects that belong to no part yet. */
  open: ReadonlyArray<HourCount>
  /** How often it was divided. */
  divisions: number
}

const operation = "VisitStore.write"

/** How often a batch is divided at most: once for each try. */
const divisionsMax = 10_000

/** Writers that are remembered: a process has one for each database, of which there are 64 at most, and one more. */
const writersMax = 100

/**
 * `VisitStore` over several databases. A batch is divided, and the part of each database is written whole and once, as long as this process lives: a batch that failed can be written again, and then what
 * is not written yet is. Hours of buckets that are being moved are left open, and hold up no others.
 */
export const make = (router: Router<HasVisits>): typeof VisitStore.Service => {
  const writings = new Map<string, Writing>()
  const turns = new Map<string, FairSemaphore.FairSemaphore>()

  /** Writes of one writer wait for each other; those of several do not, since they can be for databases of which one is away. */
  const inTurn = (writer: string): FairSemaphore.FairSemaphore => {
    const turn = turns.get(writer) ?? FairSemaphore.make(1)
    turns.delete(writer)
    turns.set(writer, turn)
    for (const old of [...turns.keys()].slice(0, -writersMax)) turns.delete(old)
    return turn
  }

  /** The writing of a batch, which begins, or goes on. */
  const writingOf = ({ hours, sequence, writer }: VisitBatch): Writing => {
    const present = writings.get(writer)
    if (present?.sequence === sequence) return present
    const begun: Writing = { sequence, parts: [], open: hours, divisions: 0 }
    writings.delete(writer)
    writings.set(writer, begun)
    for (const old of [...writings.keys()].slice(0, -writersMax)) writings.delete(old)
    return begun
  }

  /** Makes parts of what belongs to none yet. A database has one part at a time, since the numbers of a writer must rise there. */
  const divide = (writing: Writing, { sequence }: VisitBatch) => {
    const { places } = router.placement.current()
    const busy = new Set(writing.parts.map(({ index }) => index))
    const groups = new Map<number, Array<HourCount>>()
    const left: Array<HourCount> = []
    for (const hour of writing.open) {
      const { home, movingTo } = places[bucketOfSubject(hour.subject)]!
      const group = groups.get(home)
      if (movingTo !== null || busy.has(home)) left.push(hour)
      else if (group === undefined) groups.set(home, [hour])
      else group.push(hour)
    }
    writing.open = left
    const number = sequence * divisionsMax + writing.divisions++
    for (const [index, hours] of groups) {
      writing.parts.push({ index, hours, sequence: number, isUnknown: false })
    }
  }

  const isWritten = (index: number, writer: string, sequence: number) =>
    Effect.map(
      router.databases[index]!.sql`
        SELECT 1 FROM visit_writers WHERE writer = ${writer} AND sequence >= ${sequence}`,
      (rows) => rows.length > 0
    )

  /** Has a part whose links have left its database divided again, unless it was written there: then they took it along. */
  const divideAgain = Effect.fnUntraced(function* (writing: Writing, batch: VisitBatch, part: Part) {
    const wasWritten = part.isUnknown && (yield* isWritten(part.index, batch.writer, part.sequence))
    writing.parts.splice(writing.parts.indexOf(part), 1)
    if (!wasWritten) writing.open = [...writing.open, ...part.hours]
  })

  const writePart = (writing: Writing, batch: VisitBatch, part: Part) =>
    Effect.gen(function* () {
      const { hours, index, sequence } = part
      const { places, tenures } = router.placement.current()
      const { sql, visits } = router.databases[index]!
      const at = hours.map(({ subject }) => places[bucketOfSubject(subject)]!)
      // Whether it was written there is certain when they have left.
      if (part.isUnknown && at.some(({ home, movingTo }) => home === index && movingTo !== null))
        return yield* areMoving(operation)
      if (at.some(({ home, movingTo }) => home !== index || movingTo !== null)) {
        yield* divideAgain(writing, batch, part)
        return yield* areMoving(operation)
      }
      const wasUnknown = part.isUnknown
      // Until there is an answer, also where this is interrupted.
      part.isUnknown = true
      const written = yield* under(
        sql,
        operation,
        tenures[index]!,
        visits.write({ ...batch, hours, sequence })
      ).pipe(asStorageError(operation), Effect.either)
      if (Either.isRight(written)) return void writing.parts.splice(writing.parts.indexOf(part), 1)
      part.isUnknown = wasUnknown || written.left.applied === "unknown"
      // A refusal does not tell whether an earlier try of it commits still.
      if (isRefused(written.left) && !wasUnknown) yield* divideAgain(writing, batch, part)
      return yield* written.left
    }).pipe(asStorageError(operation), Effect.either)

  const write = Effect.fnUntraced(function* (batch: VisitBatch) {
    const writing = writingOf(batch)
    divide(writing, batch)
    const results = yield* Parallel.forEach([...writing.parts], (part) => writePart(writing, batch, part))
    const failures = Arrays.getLefts(results)
    if (failures.some(isRefused)) yield* Effect.ignore(router.placement.read)
    const open = [...writing.open, ...writing.parts.flatMap(({ hours }) => hours)]
    if (open.length === 0) return void writings.delete(batch.writer)
    const applied = writing.parts.some(({ isUnknown }) => isUnknown) ? "unknown" : "no"
    const { reason } = failures[0] ?? areMoving(operation)
    return yield* new Unwritten({ operation, applied, reason, open })
  })

  const readOne =
    <A>(operation: string, subject: string) =>
    (ask: (visits: typeof VisitStore.Service) => Effect.Effect<A, StorageError | SqlError>) =>
      Effect.map(
        router.read(
          operation,
          [subject],
          bucketOfSubject,
          () =>
            ({ sql, visits }, tenure) =>
              Effect.map(confirmed(sql, operation, tenure, ask(visits)), (answer) => [answer])
        ),
        ([answer]) => answer!
      )

  return {
    write: (batch) => inTurn(batch.writer)(write(batch)),
    totals: (subjects) =>
      router.read(
        "VisitStore.totals",
        subjects,
        bucketOfSubject,
        (some) =>
          ({ visits }) =>
            visits.totals(some)
      ),
    series: (range, interval) =>
      readOne<Effect.Effect.Success<ReturnType<typeof VisitStore.Service.series>>>(
        "VisitStore.series",
        range.subject
      )((visits) => visits.series(range, interval)),
    visitors: (range, interval) =>
      readOne<Effect.Effect.Success<ReturnType<typeof VisitStore.Service.visitors>>>(
        "VisitStore.visitors",
        range.subject
      )((visits) => visits.visitors(range, interval)),
    top: (range, max) =>
      readOne<Effect.Effect.Success<ReturnType<typeof VisitStore.Service.top>>>(
        "VisitStore.top",
        range.subject
      )((visits) => visits.top(range, max)),
    rollUp: (until, max) =>
      Effect.map(
        router.sweep("VisitStore.rollUp", ({ sql, visits }, tenure) =>
          under(sql, "VisitStore.rollUp", tenure, visits.rollUp(until, max))
        ),
        (more) => more.some(Boolean)
      ),
    rank: (until, max, handOn) =>
      Effect.map(
        router.sweep("VisitStore.rank", ({ visits }) => visits.rank(until, max, handOn)),
        (more) => more.some(Boolean)
      ),
    drop: (before, max) =>
      Effect.map(
        router.sweep("VisitStore.drop", ({ sql, visits }, tenure) =>
          under(sql, "VisitStore.drop", tenure, visits.drop(before, max))
        ),
        (more) => more.some(Boolean)
      ),
    dropWriters: (before) =>
      Effect.asVoid(router.sweep("VisitStore.dropWriters", ({ visits }) => visits.dropWriters(before))),
    forget: (subjects) =>
      Effect.asVoid(
        router.write(
          "VisitStore.forget",
          subjects,
          bucketOfSubject,
          (some) =>
            ({ sql, visits }, tenure) =>
              Effect.as(under(sql, "VisitStore.forget", tenure, visits.forget(some)), some)
        )
      )
  }
}
