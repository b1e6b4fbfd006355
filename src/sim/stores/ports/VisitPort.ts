import { Array as Arrays, Effect } from "effect"
import { isLinkSubject, type OrphanReason } from "../../../model/Visit.ts"
import { StorageError } from "../../../storage/StorageError.ts"
import * as RankStep from "../../../storage/visits/RankStep.ts"
import type { VisitBatch, VisitStore } from "../../../storage/visits/VisitStore.ts"
import { orphansFor } from "../../deployment/Orphans.ts"
import { type Journal, takenIn } from "../../Journal.ts"
import { type Plan, query, statement, transaction } from "../database/Transactions.ts"
import type { DatabaseCopy } from "../DatabaseCopy.ts"
import * as VisitStoreMemory from "../VisitStoreMemory.ts"
import type { Call, CallDirect } from "./Call.ts"

/** Visits that a process had counted: of keys, and of orphans. */
export type Uncounted = readonly [by: string, visits: ReadonlyArray<readonly [key: string, visits: number]>]

/** What the port of visits tells and asks the database. */
export interface Surroundings {
  readonly journal: Pick<Journal, "add">
  /** Whether others have links, too: then a process has a writer for each, and its writes are noted where they are routed. */
  readonly isOneOfSeveral: boolean
  /** Is told of visits that were counted, and have just been forgotten. */
  readonly forgot: (visits: Uncounted) => void
}

/** The key of a link whose visits a subject is of. */
const keyOf = (subject: string) => subject.slice(0, subject.indexOf("@"))

/** Whose visits a subject is of that no link redirected, if it is of such. */
const orphansNamed = (subject: string): string | undefined => {
  const [, domain, reason] = /^orphans:(\d+)(?::(.+))?$/.exec(subject) ?? []
  if (domain === undefined) return undefined
  return orphansFor(Number(domain), reason as OrphanReason | undefined)
}

/** Tells a journal of a process's writing of visits. `writer`: which one, where a process has several. */
export const noteWrites =
  (
    journal: Pick<Journal, "add">,
    by: string,
    write: (typeof VisitStore.Service)["write"],
    writerOf: (batch: VisitBatch) => { readonly writer?: string } = () => ({})
  ): (typeof VisitStore.Service)["write"] =>
  (batch) =>
    Effect.suspend(() => {
      journal.add({ tag: "counting", by, sequence: batch.sequence, ...writerOf(batch) })
      return Effect.tap(write(batch), () => journal.add({ tag: "heard counted", by, ...writerOf(batch) }))
    })

const writeVisits = (
  { journal, log, tables, visits }: DatabaseCopy,
  by: string,
  batch: VisitBatch,
  { forgot, isOneOfSeveral }: Surroundings
) => {
  const { writer } = batch
  // One can have visits in two hours.
  const subjects = Array.from(new Set(batch.hours.map(({ subject }) => subject)))
  const totals = Effect.map(visits.totals(subjects), (all) => all.map(({ bots, nonBots }) => bots + nonBots))
  return Effect.gen(function* () {
    if (log.isKept) log.changed("visits", by, VisitStoreMemory.remembered(tables.visits, batch))
    const before = yield* totals
    yield* visits.write(batch)
    const after = yield* totals
    const added = subjects
      .map((subject, index) => [subject, after[index]! - before[index]!] as const)
      .filter(([, count]) => count > 0)
    const [ofOthers, ofLinks] = Arrays.partition(added, ([subject]) => isLinkSubject(subject))
    const orphans = ofOthers.flatMap(([subject, count]) => {
      const name = orphansNamed(subject)
      return name === undefined ? [] : [[name, count] as const]
    })
    const owned = ofOthers.filter(([subject]) => orphansNamed(subject) === undefined)
    const taken = {
      visits: ofLinks.map(([subject, count]) => [keyOf(subject), count] as const),
      ...(orphans.length > 0 && { orphans })
    }
    journal.add({
      tag: "counted",
      by,
      ...taken,
      ...(owned.length > 0 && { owned }),
      ...(isOneOfSeveral && { writer })
    })
    log.changed("visits", by, () => forgot([by, takenIn(taken)]))
  })
}

/** Ranks are handed on later. */
const notNow = new StorageError({ operation: "VisitStore.rank", applied: "no", reason: "not yet" })

/** The store of visits, as a process reaches it. */
export const make = (
  call: Call,
  callDirect: CallDirect,
  by: string,
  surroundings: Surroundings
): typeof VisitStore.Service => {
  const { isOneOfSeveral, journal } = surroundings
  const writing = ({ hours, writer }: VisitBatch) =>
    transaction(
      () => [`visit_writers ${writer}`],
      () => hours.map(({ hour, subject }) => `visit_periods ${subject}/${hour}`)
    )
  const ask = <A>(
    operation: string,
    plan: Plan,
    apply: (visits: typeof VisitStore.Service, copy: DatabaseCopy) => Effect.Effect<A, StorageError>
  ) => call(`VisitStore.${operation}`, plan, (copy) => apply(copy.visits, copy))
  return {
    write: (batch) => {
      const write = ask("write", writing(batch), (_, copy) => writeVisits(copy, by, batch, surroundings))
      return isOneOfSeveral ? write : noteWrites(journal, by, () => write)(batch)
    },
    totals: (subjects) => callDirect("VisitStore.totals", query, ({ visits }) => visits.totals(subjects)),
    series: (range, interval) => ask("series", query, (visits) => visits.series(range, interval)),
    visitors: (range, interval) => ask("visitors", query, (visits) => visits.visitors(range, interval)),
    top: (range, max) => ask("top", query, (visits) => visits.top(range, max)),
    rollUp: (until, max) =>
      ask(
        "rollUp",
        transaction(() => ["visit_rolled"], undefined),
        (visits) => visits.rollUp(until, max)
      ),
    rank: (until, max, handOn) =>
      RankStep.take(
        ask("rank", query, (visits, { comparison, tables }) => {
          const step = VisitStoreMemory.nextRanks(tables.visits, until, max)
          // Those of production tell what they would hand on.
          const compared = comparison && Effect.ignore(visits.rank(until, max, () => notNow))
          return Effect.as(compared ?? Effect.void, step)
        }),
        handOn,
        (step) =>
          ask("rank", statement(), (_, { log, tables }) =>
            Effect.sync(() => {
              const undo = VisitStoreMemory.noteRanked(tables.visits, step)
              if (undo !== undefined) log.changed("visit_ranked", "", undo)
            })
          )
      ),
    drop: (before, max) => ask("drop", statement(), (visits) => visits.drop(before, max)),
    dropWriters: (before) => ask("dropWriters", statement(), (visits) => visits.dropWriters(before)),
    forget: (subjects) =>
      subjects.length === 0 ? Effect.void : ask("forget", statement(), (visits) => visits.forget(subjects))
  }
}
