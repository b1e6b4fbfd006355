import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import * as ActorPlaces from "../../actors/ActorPlaces.ts"
import type { PoolMarks } from "../../actors/keys/PoolShardLive.ts"
import { KeyMinter } from "../../keys/KeyMinter.ts"
import { monotonic_ms } from "../../time/MonotonicTime.ts"
import * as SingleFlight from "../../fibers/SingleFlight.ts"
import { DatabaseMark } from "../../storage/nodes/DatabaseMark.ts"
import { KeyLedger } from "../../storage/keys/KeyLedger.ts"
import { NodeReports } from "../../storage/nodes/NodeReports.ts"
import { LinkDatabaseList } from "../../storage/homes/LinkDatabaseList.ts"
import { VisitDatabaseList } from "../../storage/homes/VisitDatabaseList.ts"
import { Durability } from "../../storage/sql/postgres/Durability.ts"
import { RunnersSeen } from "../../storage/nodes/RunnersSeen.ts"
import * as Timeout from "../../fibers/Timeout.ts"
import { bodyOf, type Found, type Ground, ledgerOf } from "./ClusterModel.ts"
import type { ClusterBody } from "../contract/ClusterApi.ts"
import * as KeyLevels from "./KeyLevels.ts"
import { Rates } from "./Rates.ts"
import type { Message } from "../../model/Messages.ts"

/** The state of the cluster. One query about every second serves all watchers, and none runs while nobody watches. */
export class ClusterPicture extends Context.Tag("linkmint/ClusterPicture")<
  ClusterPicture,
  { readonly current: Effect.Effect<ClusterBody> }
>() {}

/** Callers within this time share one picture. */
const keptFor_ms = 900

/** What the stores do not answer in this time is left out. */
const noAnswer = { duration: Duration.seconds(1), onTimeout: () => Effect.succeedNone }

/** Counting all keys may take this share of the time, and runs this often at most. */
const countingShare = 0.02
const countEvery_ms = 10_000

const notCounted = {
  yet: "The keys are being counted.",
  tooMany: "There are too many links to count them beside the requests: npm run admin -- ledger does.",
  failed: "The stores do not tell where all keys are."
} satisfies Record<string, Message>

type Counted = Pick<ClusterBody, "ledger" | "ledgerNote">

const told = <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A | null> =>
  Effect.map(Timeout.within(Effect.option(self), noAnswer), Option.getOrNull)

/** What is known about this node from its start on. */
export interface PictureOptions {
  /** The node's own id. */
  readonly node: string
  readonly marks: PoolMarks
}

/** Counts the keys from time to time, and caches the result. */
const makeLedger = Effect.gen(function* () {
  const { counts } = yield* KeyLedger
  let counted: Counted = { ledger: null, ledgerNote: notCounted.yet }
  let dueAt_ms = 0
  let found: Found

  const count = Effect.gen(function* () {
    const of = found
    const start_ms = yield* monotonic_ms
    const counted = yield* Effect.option(counts)
    const end_ms = yield* monotonic_ms
    dueAt_ms = end_ms + Math.max(countEvery_ms, (end_ms - start_ms) / countingShare)
    if (Option.isNone(counted)) return { ledger: null, ledgerNote: notCounted.failed }
    if (counted.value === null) return { ledger: null, ledgerNote: notCounted.tooMany }
    const ledger = ledgerOf(counted.value, of)
    return { ledger, ledgerNote: ledger === null ? notCounted.failed : null }
  })
  const counting = yield* SingleFlight.make(Effect.map(count, (made) => void (counted = made)))

  return (latest: Found) =>
    Effect.gen(function* () {
      found = latest
      if ((yield* monotonic_ms) >= dueAt_ms && !counting.isRunning()) yield* counting.start
      return counted
    })
})

/** See {@link ClusterPicture}. */
export const make = ({ marks, node }: PictureOptions) =>
  Effect.gen(function* () {
    const reports = yield* NodeReports
    const runners = yield* RunnersSeen
    const durability = yield* Durability
    const databases = [
      ...(yield* LinkDatabaseList).map((one) => ({ ...one, has: "links" as const })),
      ...(yield* VisitDatabaseList).map((one) => ({ ...one, has: "visits" as const }))
    ]
    const silent = () =>
      databases
        .filter(({ isAway }) => isAway())
        .map(
          ({ has, number }): Message =>
            `Database ${number} of ${has} does not answer the node that says this.`
        )
    const keyLevels = yield* KeyLevels.make
    const database = yield* DatabaseMark
    const readLedger = yield* makeLedger
    const ground: Ground = {
      answeredBy: node,
      places: yield* ActorPlaces.all,
      marks,
      minter: yield* KeyMinter
    }
    const paces = new Rates()
    let last: { readonly at_ms: number; readonly body: ClusterBody } | undefined

    const look = Effect.gen(function* () {
      const at = yield* Clock.currentTimeMillis
      const [heard, seen, levels, regressions, databaseWarnings] = yield* Effect.all(
        [
          told(reports.all),
          told(runners.read),
          keyLevels.read,
          told(database.regressions),
          told(durability.warnings)
        ],
        {
          concurrency: "unbounded"
        }
      )
      const warned = databaseWarnings === null ? null : [...databaseWarnings, ...silent()]
      const found: Found = { at, heard, seen, levels, regressions }
      if (heard !== null) paces.add(heard.map(({ report }) => report))
      const body = {
        ...bodyOf(found, paces, ground),
        ...(yield* readLedger(found)),
        databaseWarnings: warned
      }
      last = { at_ms: yield* monotonic_ms, body }
      return body
    })
    const looking = yield* SingleFlight.make(look)

    const current = Effect.flatMap(monotonic_ms, (now_ms) =>
      last !== undefined && now_ms - last.at_ms < keptFor_ms ? Effect.succeed(last.body) : looking.join
    )
    return ClusterPicture.of({ current })
  })

/** See {@link ClusterPicture}. */
export const layer = (options: PictureOptions) => Layer.scoped(ClusterPicture, make(options))
