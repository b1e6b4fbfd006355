import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import {
  Clock,
  Context,
  Data,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Redacted,
  Ref,
  Scope
} from "effect"
import { describe } from "vitest"
import { bucketOf, bucketOfName } from "../../../../src/keys/Buckets.ts"
import { hourOf, shortestKept_days } from "../../../../src/model/Visit.ts"
import { movePlaces as simulated } from "../../../../src/sim/stores/homes/BucketMoves.ts"
import { LinkDatabaseList } from "../../../../src/storage/homes/LinkDatabaseList.ts"
import * as KeyLedger from "../../../../src/storage/keys/KeyLedger.ts"
import * as KeyStockSql from "../../../../src/storage/keys/KeyStockSql.ts"
import * as LinkLifetimeSql from "../../../../src/storage/links/LinkLifetimeSql.ts"
import { GuardedCreates } from "../../../../src/storage/links/GuardedCreates.ts"
import * as GuardedCreatesSql from "../../../../src/storage/links/GuardedCreatesSql.ts"
import * as LinkStoreSql from "../../../../src/storage/links/LinkStoreSql.ts"
import * as LinksByUrlSql from "../../../../src/storage/links/LinksByUrlSql.ts"
import { bucketOfRow } from "../../../../src/storage/links/buckets/LinkBucketsSql.ts"
import { isAtHome, LinkTenure } from "../../../../src/storage/links/buckets/LinkTenure.ts"
import * as BucketBarrier from "../../../../src/storage/links/moves/BucketBarrier.ts"
import * as BucketMover from "../../../../src/storage/links/moves/BucketMover.ts"
import * as BucketRows from "../../../../src/storage/links/moves/BucketRows.ts"
import { movedTables } from "../../../../src/storage/links/moves/MovedTables.ts"
import { asStorageError, inTransaction } from "../../../../src/storage/sql/SqlTransaction.ts"
import * as DatabasePresence from "../../../../src/storage/sql/postgres/DatabasePresence.ts"
import * as DatabaseServers from "../../../../src/storage/sql/postgres/DatabaseServers.ts"
import { VisitStore } from "../../../../src/storage/visits/VisitStore.ts"
import * as VisitStoreSql from "../../../../src/storage/visits/VisitStoreSql.ts"
import { describePostgres, freshDatabase } from "../../../support/services/postgres/Postgres.ts"
import { migratedDatabase, postgresAt } from "../../../support/Stores.ts"
import { hasPrograms } from "../../../support/services/postgres/PostgresPair.ts"
import { sharedLogicalServer } from "../../../support/services/postgres/PostgresLogical.ts"
import {
  contents,
  databasesOn,
  type Databases,
  fill,
  makeNode,
  placementOf,
  someKeys,
  traces
} from "./MovingDatabases.ts"

/** The mover was killed. */
class Killed extends Data.TaggedError("Killed")<{ readonly place: string }> {}

const movePlaces: ReadonlyArray<string> = simulated

const half = Array.from({ length: 128 }, (_, n) => 2 * n)

const quiet = { progress: () => Effect.void }

const watching = (places: Array<string>) => ({
  ...quiet,
  at: (place: string) => Effect.sync(() => void places.push(place))
})

/** Ends the mover at the first time that it is at a place. */
const killing = (at: string) => ({
  ...quiet,
  at: (place: string) => (place === at ? new Killed({ place }) : Effect.void)
})

const move = (
  databases: Databases,
  from: number,
  to: number,
  watcher: BucketMover.Watcher<unknown> = watching([])
) =>
  Effect.scoped(
    Effect.flatMap(BucketMover.make(databases, watcher), (mover) => mover.move({ from, to, buckets: half }))
  )

const resume = (databases: Databases) =>
  Effect.scoped(Effect.flatMap(BucketMover.make(databases, watching([])), (mover) => mover.resume))

const homes = (databases: Databases) =>
  Effect.map(placementOf(databases), ({ places }) => half.map((bucket) => places[bucket]!.home))

/** A client of which some statements wait before they are sent, by the first words. */
const waitingAt = (
  client: SqlClient.SqlClient,
  words: string,
  begun: Deferred.Deferred<void>,
  mayGoOn: Deferred.Deferred<void>
) =>
  new Proxy(client, {
    apply: (sql, self, parts: [TemplateStringsArray, ...ReadonlyArray<unknown>]) => {
      const statement = Reflect.apply(sql, self, parts)
      if (!parts[0][0]!.trimStart().startsWith(words)) return statement
      return Deferred.succeed(begun, undefined).pipe(
        Effect.zipRight(Deferred.await(mayGoOn)),
        Effect.zipRight(statement)
      )
    }
  })

/** Runs what counts the keys of all databases. */
const counting = <A, E, R>(databases: Databases, count: Effect.Effect<A, E, R>) =>
  count.pipe(
    Effect.provide(
      Layer.provideMerge(
        Layer.merge(KeyStockSql.layer(), LinkStoreSql.layer),
        Layer.succeed(SqlClient.SqlClient, databases.get(0)!.sql)
      )
    ),
    Effect.provideService(
      LinkDatabaseList,
      Array.from(databases, ([number, { sql }]) => ({ number, sql, isAway: () => false, buckets: () => 0 }))
    )
  )

// They wait for PostgreSQL's processes most of the time, each for those of its own databases.
;(hasPrograms ? describe.concurrent : describe.skip)("moving buckets between databases", () => {
  const server = sharedLogicalServer()
  const databases = (count: number) => Effect.flatMap(server, (one) => databasesOn(one, count))

  /** Two databases, of which the first has some rows. */
  const filled = Effect.tap(databases(2), (all) => fill(all, someKeys(60)))

  /** Goes through cases in three parts at once, each on databases of its own. */
  const atOnce = <A, E, R>(
    cases: ReadonlyArray<A>,
    goThrough: (some: ReadonlyArray<A>) => Effect.Effect<void, E, R>
  ) =>
    Effect.forEach([0, 1, 2], (part) => goThrough(cases.filter((_, index) => index % 3 === part)), {
      concurrency: "unbounded",
      discard: true
    })

  it.scopedLive(
    "moves what lives with their links, and leaves nothing behind, there and back",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        yield* fill(all, someKeys(300))
        const before = yield* contents(all)
        const moved = yield* move(all, 0, 1)
        expect(moved).toMatchObject({ from: 0, to: 1, buckets: half })
        expect(yield* homes(all)).toEqual(half.map(() => 1))
        expect(yield* contents(all)).toEqual(before)
        expect(yield* traces(all)).toEqual([])
        const movedKeys = someKeys(300).filter((key) => bucketOf(key) % 2 === 0)
        const there = yield* all.get(1)!.sql<{ key: string }>`SELECT key FROM links ORDER BY key`
        expect(there.map(({ key }) => key)).toEqual(movedKeys.toSorted())
        expect(moved.deleted).toBeGreaterThan(4 * movedKeys.length)
        yield* move(all, 1, 0)
        expect(yield* contents(all)).toEqual(before)
        expect(yield* traces(all)).toEqual([])
        // A process that was believed dead goes on with what it did.
        const links = movedTables.find(({ name }) => name === "links")!
        const { deleteSome } = BucketRows.make(all.get(0)!.sql, links, half)
        expect(yield* deleteSome(moved.id, null)).toEqual({ count: 0, last: null })
        expect(yield* contents(all)).toEqual(before)
      }),
    120_000
  )

  it.scopedLive(
    "has a barrier wherever there may be rows of buckets that are not at home, and only then; each key is counted once",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        yield* fill(all, someKeys(300))
        yield* all.get(0)!
          .sql`UPDATE links SET deleted_at = 2, ended_at = 2 WHERE key = ANY(${someKeys(20)}::text[])`
        const counts = Effect.flatMap(KeyLedger.KeyLedger, (ledger) => ledger.counts).pipe(
          Effect.provide(KeyLedger.layer(1_000))
        )
        const looked = { foreign: 0, barred: 0 }
        const look = Effect.gen(function* () {
          for (const [number, { sql }] of all) {
            const home = (yield* placementOf(all)).places.flatMap((place, bucket) =>
              place.home === number ? [bucket] : []
            )
            const tenure = { epoch: 0, buckets: home, isLeaving: false }
            const [row] = yield* sql<{ barred: boolean; foreign: number; counted: number }>`
              SELECT ${BucketBarrier.isSome(sql)} AS barred,
                     count(*) FILTER (WHERE NOT ${sql.literal(bucketOfRow)} = ANY(${home}::int[]))::int AS foreign,
                     count(*) FILTER (WHERE NOT ${isAtHome(sql, tenure)})::int AS counted FROM links`
            expect(row!.counted).toBe(row!.foreign)
            if (row!.foreign > 0) looked.foreign++
            if (row!.barred) looked.barred++
          }
          expect(yield* counting(all, counts)).toMatchObject({ bound: 280, quarantined: 20 })
        })
        yield* look
        expect(looked.barred).toBe(0)
        yield* move(all, 0, 1, { ...quiet, at: () => look })
        expect(looked.foreign).toBeGreaterThan(5)
        const { barred } = looked
        yield* look
        expect(looked.barred).toBe(barred)
      }),
    120_000
  )

  it.scopedLive(
    "counts no key twice while buckets come to be elsewhere",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        yield* fill(all, someKeys(20))
        const [begun, mayGoOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        // Who counts knows the former homes, has counted the source's links, and comes to the target's when nothing keeps it away from those that have arrived.
        const target = waitingAt(all.get(1)!.sql, "SELECT count(*)", begun, mayGoOn)
        const ledger = yield* Deferred.make<KeyLedger.Ledger, unknown>()
        const count = counting(new Map([...all, [1, { ...all.get(1)!, sql: target }]]), KeyLedger.read)
        yield* move(all, 0, 1, {
          ...quiet,
          at: (place) =>
            Effect.gen(function* () {
              if (place === "the target's barrier is open") {
                yield* Effect.forkDaemon(Effect.intoDeferred(count, ledger))
                yield* Deferred.await(begun)
              }
              if (place !== "rows of create_guards are deleted") return
              yield* Deferred.succeed(mayGoOn, undefined)
              expect(yield* Deferred.await(ledger)).toMatchObject({ bound: 20 })
            })
        })
      }),
    120_000
  )

  it.scopedLive(
    "loses and doubles nothing that nodes write meanwhile",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        const nodes = yield* Effect.all([makeNode(all), makeNode(all), makeNode(all)])
        const isOver = yield* Ref.make(false)
        const writers = yield* Effect.forEach(nodes, (node, index) =>
          Effect.gen(function* () {
            let turn = 0
            while (!(yield* Ref.get(isOver)) || turn < 100) {
              yield* node.write(`n${index}${(turn % 40).toString(36)}`, turn)
              turn++
            }
            return turn
          }).pipe(Effect.fork)
        )
        yield* move(all, 0, 1)
        yield* move(all, 1, 0)
        yield* Ref.set(isOver, true)
        for (const writer of writers) expect(yield* Fiber.join(writer)).toBeGreaterThanOrEqual(100)
        const written = nodes.flatMap((node) => [...node.written])
        expect(yield* contents(all)).toEqual(new Map(written))
      }),
    120_000
  )

  it.scopedLive(
    "waits for transactions that began to write before the fence, of visits alone as well",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        const key = someKeys(9).find((one) => bucketOf(one) % 2 === 0)!
        yield* fill(all, [key])
        const { sql } = all.get(0)!
        const [begun, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const events: Array<string> = []
        const writing = inTransaction(
          sql,
          Effect.gen(function* () {
            yield* sql`UPDATE visit_periods SET non_bots = non_bots + 1 WHERE subject = ${`${key}@1`}`
            yield* Deferred.succeed(begun, undefined)
            yield* Deferred.await(mayEnd)
            events.push("commits")
          })
        )
        // It is given time for a hundred statements, in which nobody may go on.
        const later = Effect.zipRight(Effect.repeatN(sql`SELECT 1`, 100), Deferred.succeed(mayEnd, undefined))
        yield* move(all, 0, 1, {
          ...quiet,
          at: (place) =>
            Effect.gen(function* () {
              if (place === "the buckets are marked as moving") {
                yield* Effect.forkDaemon(writing)
                yield* Deferred.await(begun)
              }
              if (place === "the source's barrier is closed") yield* Effect.forkDaemon(later)
              if (place === "the target has all changes") events.push(place)
            })
        })
        expect(events).toEqual(["commits", "the target has all changes"])
        const visits = yield* all.get(1)!
          .sql`SELECT non_bots FROM visit_periods WHERE subject = ${`${key}@1`}`
        expect(visits).toEqual([{ non_bots: 2 }, { non_bots: 2 }, { non_bots: 2 }])
      }),
    120_000
  )

  it.scopedLive(
    "does not end before the target has the last changes",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        const key = someKeys(9).find((one) => bucketOf(one) % 2 === 0)!
        yield* fill(all, [key])
        const [source, target] = [all.get(0)!.sql, all.get(1)!.sql]
        const [locked, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const events: Array<string> = []
        // Replication waits for the table.
        const holding = inTransaction(
          target,
          Effect.gen(function* () {
            yield* target`LOCK TABLE visit_periods IN EXCLUSIVE MODE`
            yield* Deferred.succeed(locked, undefined)
            yield* Deferred.await(mayEnd)
            events.push("replication goes on")
          })
        )
        const later = Effect.zipRight(
          Effect.repeatN(source`SELECT 1`, 100),
          Deferred.succeed(mayEnd, undefined)
        )
        yield* move(all, 0, 1, {
          ...quiet,
          at: (place) =>
            Effect.gen(function* () {
              if (place === "the buckets are marked as moving") {
                yield* Effect.forkDaemon(holding)
                yield* Deferred.await(locked)
                yield* source`UPDATE visit_periods SET non_bots = 5 WHERE subject = ${`${key}@1`}`
              }
              if (place === "the source's barrier is closed") yield* Effect.forkDaemon(later)
              if (place === "the target has all changes") events.push(place)
            })
        })
        expect(events).toEqual(["replication goes on", "the target has all changes"])
      }),
    120_000
  )

  it.scopedLive(
    "lets links that have arrived be found by their URLs",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        const [key, late] = someKeys(9).filter((one) => bucketOf(one) % 2 === 0) as [string, string]
        yield* fill(all, [key, late])
        yield* all.get(0)!.sql`UPDATE links SET owner = 'usr_2' WHERE key = ${late}`
        const find = (number: number, owner: string, key: string) =>
          LinksByUrlSql.make.pipe(
            Effect.flatMap((findByUrl) => findByUrl(owner, `https://example.com/${key}`, 9)),
            Effect.provideService(SqlClient.SqlClient, all.get(number)!.sql),
            Effect.scoped
          )
        // The target has been asked for all links of one owner before; it is asked for those of both while they are there and its barrier is closed.
        expect(yield* find(1, "usr_1", key)).toBe(null)
        yield* move(all, 0, 1, {
          ...quiet,
          at: (place) =>
            place === "the target is prepared to be home"
              ? Effect.asVoid(Effect.zipRight(find(1, "usr_1", key), find(1, "usr_2", late)))
              : Effect.void
        })
        expect(yield* find(1, "usr_1", key)).toMatchObject({ key })
        expect(yield* find(1, "usr_2", late)).toMatchObject({ key: late })
      }),
    120_000
  )

  it.scopedLive(
    "lets the target know what the source has forgotten, before it frees keys of links that have arrived",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        const key = someKeys(9).find((one) => bucketOf(one) % 2 === 0)!
        yield* fill(all, [key])
        yield* all.get(0)!.sql`
          INSERT INTO database_regressions (lineage, noticed_at, since, mark, witnessed, skipped, dropped) VALUES (9, 5000, 4000, 7, 8, 0, 0)`
        yield* all.get(0)!.sql`UPDATE links SET deleted_at = 6000, ended_at = 6000`
        const { sql } = all.get(1)!
        const recycling = (sql: SqlClient.SqlClient) =>
          LinkLifetimeSql.make.pipe(
            Effect.flatMap(({ recycle }) => recycle({ count: 10, quarantine_ms: 100 })),
            Effect.provide(KeyStockSql.layer()),
            Effect.provideService(SqlClient.SqlClient, sql)
          )
        // One has read what the target had forgotten before the mover comes to that. It is given time for a hundred statements.
        const [begun, mayGoOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const slow = waitingAt(sql, "DELETE FROM links", begun, mayGoOn)
        const later = Effect.zipRight(
          Effect.repeatN(sql`SELECT 1`, 100),
          Deferred.succeed(mayGoOn, undefined)
        )
        const events: Array<unknown> = []
        yield* move(all, 0, 1, {
          ...quiet,
          at: (place) =>
            Effect.gen(function* () {
              if (place === "the target has all changes") {
                yield* Effect.forkDaemon(Effect.andThen(recycling(slow), (freed) => events.push(freed)))
                yield* Deferred.await(begun)
                yield* Effect.forkDaemon(later)
              }
              if (place === "the target's barrier is open") events.push(place)
            })
        })
        expect(events).toEqual([[], "the target's barrier is open"])
        expect(yield* recycling(sql)).toMatchObject([{ key }])
        expect(yield* sql`SELECT key FROM keys`).toEqual([])
      }),
    120_000
  )

  it.scopedLive(
    "goes on wherever it was killed",
    () =>
      Effect.gen(function* () {
        const places: Array<string> = []
        yield* move(yield* filled, 0, 1, watching(places))
        const distinct = [...new Set(places)]
        // The simulation's mover comes to these, in this order.
        expect(distinct.filter((place) => movePlaces.includes(place))).toEqual(movePlaces)
        expect(distinct.length).toBeGreaterThanOrEqual(25)
        yield* atOnce(distinct, (some) =>
          Effect.gen(function* () {
            const all = yield* filled
            const before = yield* contents(all)
            const ways = [1, 0]
            for (const place of some) {
              const [to, from] = [ways[0]!, ways[1]!]
              ways.reverse()
              const error = yield* Effect.flip(move(all, from, to, killing(place)))
              expect(error).toEqual(new Killed({ place }))
              const refused = yield* Effect.either(move(all, from, to))
              const resumed = yield* resume(all)
              expect([place, yield* homes(all)]).toEqual([place, half.map(() => to)])
              expect(yield* contents(all)).toEqual(before)
              expect([place, yield* traces(all)]).toEqual([place, []])
              // Only the last place has nothing left to do.
              expect([place, resumed === undefined]).toEqual([place, place === "the next step is done"])
              expect(refused._tag).toBe("Left")
            }
          })
        )
      }),
    600_000
  )

  /** Kills the mover at a place, does something, and lets another one go on. */
  const interrupted = <A, E, R>(
    all: Databases,
    place: string,
    then: Effect.Effect<A, E, R>,
    [from, to] = [0, 1]
  ) =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(move(all, from, to, killing(place)))).toEqual(new Killed({ place }))
      const result = yield* then
      yield* resume(all)
      return result
    })

  const abort = (all: Databases, watcher: BucketMover.Watcher<unknown> = watching([])) =>
    Effect.scoped(Effect.flatMap(BucketMover.make(all, watcher), (mover) => mover.abort))

  it.scopedLive(
    "refuses another mover while one is at it, and another move before one is finished",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        yield* fill(all, someKeys(20))
        const others: Array<unknown> = []
        yield* move(all, 0, 1, {
          ...quiet,
          at: (place) =>
            place === "the rows are copied"
              ? Effect.map(Effect.flip(resume(all)), (error) => void others.push(error))
              : Effect.void
        })
        expect(others).toMatchObject([{ _tag: "MoverBusy", database: 0 }])
        const refused = interrupted(all, "the next step is copy", Effect.flip(move(all, 1, 0)))
        yield* move(all, 1, 0)
        expect(yield* refused).toMatchObject({
          _tag: "MoveRefused",
          message: expect.stringContaining("not finished")
        })
      }),
    120_000
  )

  /** The same databases, for another process. */
  const elsewhere = (all: Databases) =>
    Effect.map(
      Effect.forEach(all, ([number, { url }]) =>
        Effect.map(
          Layer.build(postgresAt(Redacted.value(url), { maxConnections: 8, answerTimeout: Duration.zero })),
          (context) => [number, { sql: Context.get(context, SqlClient.SqlClient), url }] as const
        )
      ),
      (databases): Databases => new Map(databases)
    )

  /** Ends the sessions that have an advisory lock in a database, as its failover does: a mover's alone, while no node runs. */
  const losesLocks = ({ sql }: BucketMover.MovedDatabase) =>
    Effect.gen(function* () {
      const lockers = sql<{ pid: number }>`SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
      const ended = yield* sql<{
        pid: number
      }>`SELECT pid, pg_terminate_backend(pid) FROM (${lockers}) AS lockers`
      expect(ended).toHaveLength(1)
      yield* Effect.repeat(lockers, { until: (left) => left.every(({ pid }) => pid !== ended[0]!.pid) })
    })

  for (const lost of [0, 1]) {
    it.scopedLive(
      `stops when it has lost the lock in database ${lost}, and builds no barrier beside the mover that goes on`,
      () =>
        Effect.gen(function* () {
          const all = yield* filled
          const others = yield* elsewhere(all)
          const [begun, mayGoOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          const slow = waitingAt(all.get(1)!.sql, "CREATE OR REPLACE FUNCTION", begun, mayGoOn)
          const first = yield* Effect.fork(
            Effect.exit(move(new Map([...all, [1, { ...all.get(1)!, sql: slow }]]), 0, 1))
          )
          yield* Deferred.await(begun)
          yield* losesLocks(others.get(lost)!)
          yield* Effect.retry(resume(others), { while: (error) => error._tag === "MoverBusy" })
          yield* Deferred.succeed(mayGoOn, undefined)
          const exit = yield* Fiber.join(first)
          expect(yield* traces(all)).toEqual([])
          yield* all.get(1)!.sql`UPDATE links SET url = 'https://example.com/new'`
          expect(yield* homes(all)).toEqual(half.map(() => 1))
          expect(yield* Effect.flip(exit)).toMatchObject({ _tag: "MoverLockLost", database: lost })
        }),
      120_000
    )
  }

  it.scopedLive(
    "keeps others away from a database in which something that it does cannot be stopped, while it has lost the control database's lock",
    () =>
      Effect.gen(function* () {
        const all = yield* filled
        const others = yield* elsewhere(all)
        const [begun, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        yield* Effect.addFinalizer(() => Deferred.succeed(mayEnd, undefined))
        const places: Array<string> = []
        const first = yield* Effect.fork(
          Effect.exit(
            move(all, 0, 1, {
              ...quiet,
              at: (place) => {
                places.push(place)
                if (place !== "the target has its barrier") return Effect.void
                return Effect.uninterruptible(
                  Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(mayEnd))
                )
              }
            })
          )
        )
        yield* Deferred.await(begun)
        yield* losesLocks(others.get(0)!)
        const refused = { _tag: "MoverBusy", database: 1 }
        const error = yield* Effect.flip(resume(others))
        expect(error).toMatchObject(refused)
        expect((error as Error).message).toMatch(/process \d+ of PostgreSQL has the lock in database 1\./)
        expect(yield* Effect.flip(abort(others))).toMatchObject(refused)
        yield* Deferred.succeed(mayEnd, undefined)
        expect(yield* Effect.flip(yield* Fiber.join(first))).toMatchObject({
          _tag: "MoverLockLost",
          database: 0
        })
        expect(places).toEqual(["the target has its barrier"])
        expect(yield* resume(others)).toMatchObject({ from: 0, to: 1 })
        expect(yield* traces(all)).toEqual([])
      }),
    120_000
  )

  it.scopedLive(
    "is undone before the fence, wherever it was killed, and not after it",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        yield* fill(all, someKeys(60))
        const before = yield* contents(all)
        const early = [
          "the target has its barrier",
          "the source has its barrier",
          "the publication is there",
          "the slot is there",
          "the next step is copy",
          "the rows are copied",
          "the next step is fence"
        ]
        for (const place of early) {
          yield* Effect.flip(move(all, 0, 1, killing(place)))
          // The abort is killed as well, and can only be finished.
          if (place === "the rows are copied") {
            yield* Effect.flip(abort(all, killing("rows of links are deleted")))
            expect(yield* Effect.flip(resume(all))).toMatchObject({ _tag: "MoveRefused" })
          }
          expect(yield* abort(all)).toMatchObject({ from: 0, to: 1 })
          expect([place, yield* traces(all)]).toEqual([place, []])
          expect(yield* contents(all)).toEqual(before)
          expect(yield* homes(all)).toEqual(half.map(() => 0))
        }
        expect(yield* abort(all)).toBe(undefined)
        for (const place of ["the buckets are marked as moving", "the next step is detach"]) {
          const [from, to] = place === "the next step is detach" ? [1, 0] : [0, 1]
          yield* Effect.flip(move(all, from, to, killing(place)))
          expect(yield* Effect.flip(abort(all))).toMatchObject({ _tag: "MoveRefused" })
          yield* resume(all)
          expect(yield* contents(all)).toEqual(before)
        }
      }),
    300_000
  )

  it.scopedLive(
    "is undone while its copies still wait for a transaction of the source to end",
    () =>
      Effect.gen(function* () {
        const all = yield* filled
        const before = yield* contents(all)
        const { sql } = all.get(0)!
        const mayEnd = yield* Deferred.make<void>()
        const begun = yield* Deferred.make<void>()
        const transaction = inTransaction(
          sql,
          sql`SELECT pg_current_xact_id()`.pipe(
            Effect.zipRight(Deferred.succeed(begun, undefined)),
            Effect.zipRight(Deferred.await(mayEnd))
          )
        )
        const copies = sql<{ copies: number }>`SELECT count(*)::int AS copies FROM pg_replication_slots
          WHERE database = current_database() AND slot_name LIKE 'pg\\_%\\_sync\\_%'`
        yield* Effect.flip(
          move(all, 0, 1, {
            ...quiet,
            at: (place) =>
              Effect.gen(function* () {
                if (place === "the slot is there") {
                  yield* Effect.forkDaemon(transaction)
                  yield* Deferred.await(begun)
                }
                if (place !== "the next step is copy") return
                yield* Effect.repeat(copies, { until: ([row]) => row!.copies > 0 })
                return yield* new Killed({ place })
              })
          })
        )
        expect(yield* abort(all)).toMatchObject({ from: 0, to: 1 })
        yield* Deferred.succeed(mayEnd, undefined)
        expect(yield* traces(all)).toEqual([])
        expect(yield* contents(all)).toEqual(before)
      }),
    120_000
  )

  /** Changes rows of a database as nobody can but replication, and the disk. */
  const plant = (all: Databases, number: number, statement: string) => {
    const { sql } = all.get(number)!
    return inTransaction(
      sql,
      Effect.zipRight(sql`SET LOCAL session_replication_role = replica`, sql.unsafe(statement))
    )
  }

  const inHalf = "get_byte(sha256(decode('0/' || lower(split_part(ID, '@', 1)), 'escape')), 0) % 2 = 0"

  const planted = (table: string, id: string) => {
    const first = `${id} = (SELECT ${id} FROM ${table} WHERE ${inHalf.replace("ID", id)} LIMIT 1)`
    const changed = {
      links: "url = 'https://example.org'",
      create_guards: "token = 7",
      link_ranks: "visits = 7",
      visit_periods: "bots = 7"
    }[table]!
    return [`UPDATE ${table} SET ${changed} WHERE ${first}`, `DELETE FROM ${table} WHERE ${first}`]
  }

  it.scopedLive(
    "finds rows that differ before it fences the buckets, and before it deletes any",
    () =>
      Effect.gen(function* () {
        const statements = (
          [
            ["links", "key"],
            ["create_guards", "name"],
            ["link_ranks", "link_key"],
            ["visit_periods", "subject"]
          ] as const
        ).flatMap(([table, id]) => planted(table, id).map((statement) => ({ table, statement })))
        const extra = {
          table: "links" as const,
          statement: `INSERT INTO links (key, url, custom, created_at, updated_at) SELECT 'x' || n, 'u', false, 1, 1 FROM generate_series(1, 50) AS n WHERE ${inHalf.replace("ID", "'x' || n")}`
        }
        const during = (all: Databases, place: string, statement: string) => ({
          ...quiet,
          at: (now: string) => (now === place ? Effect.asVoid(plant(all, 1, statement)) : Effect.void)
        })
        const early = [...statements, extra].map((planted) => ({ ...planted, at: "the rows are copied" }))
        const late = statements.map((planted) => ({ ...planted, at: "the target has all changes" }))
        yield* atOnce([...early, ...late], (some) =>
          Effect.gen(function* () {
            const all = yield* filled
            const before = yield* contents(all)
            for (const { at, statement, table } of some) {
              const error = yield* Effect.flip(move(all, 0, 1, during(all, at, statement)))
              expect([statement, error]).toMatchObject([statement, { _tag: "RowsDiffer", table }])
              if (at === "the rows are copied") {
                yield* abort(all)
                expect(yield* contents(all)).toEqual(before)
                continue
              }
              // It is found again, as nothing was deleted: put right, the move is finished.
              expect(yield* Effect.flip(resume(all))).toMatchObject({ _tag: "RowsDiffer", table })
              const { sql } = all.get(0)!
              const rows = yield* sql<{ rows: string }>`SELECT json_agg(t)::text AS rows FROM ${sql(table)} t`
              yield* plant(all, 1, `DELETE FROM ${table}`)
              const isMoved = inHalf.replace(
                "ID",
                { links: "key", create_guards: "name", link_ranks: "link_key", visit_periods: "subject" }[
                  table
                ]
              )
              yield* plant(
                all,
                1,
                `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, '${rows[0]!.rows}') WHERE ${isMoved}`
              )
              yield* plant(
                all,
                0,
                `UPDATE bucket_moves SET snapshot = '1000000:1000000:' WHERE step = 'verify'`
              )
              yield* resume(all)
              expect(yield* contents(all)).toEqual(before)
              yield* move(all, 1, 0)
            }
          })
        )
      }),
    300_000
  )

  it.scopedLive(
    "loses nothing that the target had and does not have any more when the buckets are fenced",
    () =>
      Effect.gen(function* () {
        const all = yield* filled
        const before = yield* contents(all)
        const [lost] = planted("links", "key").slice(1) as [string]
        const subscriptions = Effect.flatMap(
          all.get(1)!.sql`SELECT subsynccommit FROM pg_subscription
            WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
          (rows) => Effect.sync(() => expect(rows).toEqual([{ subsynccommit: "on" }]))
        )
        yield* Effect.flip(
          move(all, 0, 1, {
            ...quiet,
            at: (place) =>
              place === "the rows are copied"
                ? subscriptions
                : place === "the next step is fence"
                  ? new Killed({ place })
                  : Effect.void
          })
        )
        // As a standby does that was promoted before it had all commits.
        yield* plant(all, 1, lost)
        expect(yield* Effect.flip(resume(all))).toMatchObject({ _tag: "RowsDiffer", table: "links" })
        yield* abort(all)
        expect(yield* contents(all)).toEqual(before)
      }),
    120_000
  )

  it.scopedLive(
    "lets nodes write to a database whose epoch the placement has forgotten, unless it has forgotten where links are",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(3)
        const keys = someKeys(60)
        yield* fill(all, keys)
        const before = yield* contents(all)
        yield* move(all, 0, 1)
        const control = all.get(0)!.sql
        const epochs = Effect.map(placementOf(all), (placement) => placement.epochs)
        yield* control`UPDATE bucket_homes SET epoch = 0`
        const forgotten = yield* control<{ bucket: number }>`DELETE FROM bucket_placement RETURNING bucket`
        const there = half.filter((bucket) => keys.some((key) => bucketOf(key) === bucket))
        expect(yield* Effect.flip(resume(all))).toMatchObject({
          _tag: "MoveRefused",
          message: expect.stringContaining(
            `database 1 has links of the buckets ${there.join(", ")}, though they are not there`
          )
        })
        expect(yield* epochs).toEqual(new Map())
        yield* control`INSERT INTO bucket_placement (bucket, home, moving_to)
          SELECT bucket, 1, NULL FROM unnest(${forgotten.map(({ bucket }) => bucket)}::int[]) AS given (bucket)`
        expect(yield* resume(all)).toBe(undefined)
        expect(yield* epochs).toEqual(new Map([[0, 1]]))

        const quarter = half.filter((bucket) => bucket % 4 === 0)
        const leaving = Effect.scoped(
          Effect.flatMap(BucketMover.make(all, killing("the epoch is raised")), (mover) =>
            mover.move({ from: 1, to: 2, buckets: quarter })
          )
        )
        expect(yield* Effect.flip(leaving)).toMatchObject({ _tag: "Killed" })
        yield* control`UPDATE bucket_homes SET epoch = 0 WHERE home = 1`
        yield* control`UPDATE bucket_placement SET moving_to = NULL`
        yield* abort(all)
        expect(yield* epochs).toEqual(
          new Map([
            [0, 1],
            [1, 1]
          ])
        )
        expect(yield* traces(all)).toEqual([])
        expect(yield* contents(all)).toEqual(before)
        const node = yield* makeNode(all)
        const stays = someKeys(99, "s").find((key) => bucketOf(key) % 4 === 2)!
        expect(yield* Effect.timeoutOption(node.write(stays, 1), "5 seconds")).toMatchObject({ _tag: "Some" })
      }),
    120_000
  )

  it.scopedLive(
    "goes on where links have ended and their keys have been freed while it was dead",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        yield* fill(all, someKeys(60))
        const before = yield* contents(all)
        const [freed, bound] = someKeys(60).filter((key) => bucketOf(key) % 2 === 0) as [string, string]
        const { sql } = all.get(1)!
        const keys = [freed, bound]
        // As a sweep of a node does, when the quarantine is over.
        const freeing = Effect.gen(function* () {
          yield* sql`UPDATE links SET deleted_at = 2, ended_at = 2 WHERE ${sql.in("key", keys)}`
          yield* sql`DELETE FROM links WHERE ${sql.in("key", keys)}`
          yield* sql`DELETE FROM link_ranks WHERE ${sql.in("link_key", keys)}`
          yield* sql`DELETE FROM visit_periods WHERE split_part(subject, '@', 1) = ANY(${keys}::text[])`
          yield* sql`INSERT INTO links (key, url, custom, created_at, updated_at) VALUES (${bound}, 'again', false, 3, 3)`
        })
        yield* interrupted(all, "the buckets are at home in the target", freeing)
        const left = [...before].filter(
          ([name]) => !keys.some((key) => / (\S+?)(?:@|$| )/.exec(name)?.[1] === key)
        )
        const expected = new Map([...left, [`link ${bound}`, "again"]])
        expect(yield* contents(all)).toEqual(expected)
        expect(yield* traces(all)).toEqual([])
      }),
    120_000
  )

  it.scopedLive(
    "lets nodes drop visits meanwhile that are older than any node may keep them",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        yield* fill(all, someKeys(9))
        const key = someKeys(9).find((one) => bucketOf(one) % 2 === 0)!
        const hour = hourOf(yield* Clock.currentTimeMillis)
        const old = [
          [0, hour - 24 * (1 + shortestKept_days.hours)],
          [1, hour - 24 * (1 + shortestKept_days.days)]
        ] as const
        const { sql } = all.get(0)!
        for (const [grain, at] of old) {
          yield* sql`INSERT INTO visit_periods (subject, grain, hour, non_bots, bots) VALUES (${`${key}@1`}, ${grain}, ${at}, 1, 0)`
        }
        const dropped = `DELETE FROM visit_periods WHERE hour IN (${old.map(([, at]) => at).join(", ")})`
        yield* move(all, 0, 1, {
          ...quiet,
          at: (place) =>
            place === "the target has all changes" ? Effect.asVoid(plant(all, 1, dropped)) : Effect.void
        })
        expect(yield* homes(all)).toEqual(half.map(() => 1))
        expect(yield* traces(all)).toEqual([])
      }),
    120_000
  )

  it.scopedLive(
    "stops where rows cannot be replicated, and is undone",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        yield* fill(all, someKeys(20))
        const before = yield* contents(all)
        // Whose rows are in the way is nothing that the mover can know.
        const conflicting = plant(
          all,
          1,
          `INSERT INTO links (key, url, custom, created_at, updated_at) SELECT 'k' || n || 'Q', 'u', false, 1, 1 FROM generate_series(1, 9) AS n WHERE ${inHalf.replace("ID", "'k' || n || 'Q'")}`
        )
        const error = yield* Effect.flip(
          move(all, 0, 1, {
            ...quiet,
            at: (place) => (place === "the slot is there" ? Effect.asVoid(conflicting) : Effect.void)
          })
        )
        expect(error).toMatchObject({
          _tag: "MoveStopped",
          message: expect.stringContaining("one error after the other")
        })
        yield* abort(all)
        expect(yield* traces(all)).toEqual([])
        expect(yield* contents(all)).toEqual(before)
      }),
    120_000
  )

  it.scopedLive(
    "keeps sweeps away from rows that arrive or have left, and refuses other writes of them",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        const keys = someKeys(40)
        yield* fill(all, keys)
        yield* all.get(0)!.sql`UPDATE links SET expires_at = 5`
        const isMoved = (key: string) => bucketOf(key) % 2 === 0
        const [moved, other] = [keys.find(isMoved)!, someKeys(9, "o").find((key) => !isMoved(key))!]
        const probe = (number: number) =>
          Effect.gen(function* () {
            const { sql } = all.get(number)!
            expect(yield* sql`DELETE FROM links WHERE key = ${moved} RETURNING key`).toEqual([])
            expect(yield* sql`UPDATE links SET deleted_at = 9 WHERE key = ${moved} RETURNING key`).toEqual([])
            const counted =
              yield* sql`INSERT INTO visit_periods (subject, grain, hour, non_bots, bots) VALUES (${`${moved}@1`}, 1, 480000, 3, 0) RETURNING subject`
            expect(counted).toEqual([])
            for (const refused of [
              sql`UPDATE links SET title = 'new' WHERE key = ${moved}`,
              sql`INSERT INTO create_guards (name, token, begun_at, fingerprint) VALUES (${moved}, 1, 1, '')`,
              sql`INSERT INTO visit_periods (subject, grain, hour, non_bots, bots) VALUES (${`${moved}@1`}, 0, 480000, 3, 0)`
            ]) {
              expect(yield* asStorageError("probe")(Effect.flip(refused))).toMatchObject({
                cause: { code: "55000" }
              })
            }
            yield* sql`INSERT INTO links (key, url, custom, created_at, updated_at) VALUES (${other}, 'u', false, 1, 1)`
            expect(yield* sql`DELETE FROM links WHERE key = ${other} RETURNING key`).toHaveLength(1)
          })
        const open = Effect.gen(function* () {
          const { sql } = all.get(0)!
          expect(
            yield* sql`UPDATE links SET title = 'newer' WHERE key = ${moved} RETURNING key`
          ).toHaveLength(1)
        })
        yield* interrupted(all, "the rows are copied", Effect.zipRight(probe(1), open))
        yield* move(all, 1, 0)
        yield* interrupted(all, "the next step is delete", probe(0))
        expect(yield* all.get(1)!.sql`SELECT title FROM links WHERE key = ${moved}`).toEqual([
          { title: "newer" }
        ])
        expect(yield* traces(all)).toEqual([])
      }),
    120_000
  )

  it.scopedLive(
    "lets old visits and guards be dropped beside those that arrive or have left, which stay",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        const isMoved = (key: string) => bucketOf(key) % 2 === 0
        const [moved, resident] = [someKeys(9).find(isMoved)!, someKeys(9, "o").find((key) => !isMoved(key))!]
        const names = (isOfMoved: boolean) =>
          someKeys(99, "idempotency:").filter((name) => (bucketOfName(name) % 2 === 0) === isOfMoved)
        const max = 20
        const rolled = 50 * 24
        for (const { sql } of all.values())
          yield* sql`UPDATE visit_rolled SET hour = ${rolled}, seen_hour = ${rolled} WHERE grain = 1`
        const { sql } = all.get(0)!
        const old = (key: string, guards: ReadonlyArray<string>, age: number) =>
          Effect.zipRight(
            sql`INSERT INTO visit_periods (subject, grain, hour, non_bots, bots)
              SELECT ${`${key}@1`}, 0, 1000 - ${age}::int + n, 1, 0 FROM generate_series(1, ${2 * max}::int) AS n`,
            sql`INSERT INTO create_guards (name, token, begun_at, fingerprint, answer)
              SELECT name, 1, 1000 - ${age}::int, '', '{}' FROM unnest(${guards}::text[]) AS given (name)`
          )
        const sweep = Effect.gen(function* () {
          yield* old(resident, names(false), 0)
          const context = yield* Layer.build(
            Layer.mergeAll(VisitStoreSql.layer, GuardedCreatesSql.layer).pipe(
              Layer.provide(LinkStoreSql.layer),
              Layer.provide(Layer.succeed(SqlClient.SqlClient, sql))
            )
          )
          const { drop } = Context.get(context, VisitStore)
          const steps = yield* Effect.iterate(
            { count: 0, more: true },
            {
              while: ({ count, more }) => more && count < 10,
              body: ({ count }) =>
                Effect.map(drop({ hours: rolled, days: 0 }, max), (more) => ({ count: count + 1, more }))
            }
          )
          expect(steps).toEqual({ count: 3, more: false })
          const guards = names(false).length
          expect(guards).toBeGreaterThan(max)
          expect(yield* Context.get(context, GuardedCreates).drop(1, guards)).toBe(guards)
          expect(yield* sql`SELECT DISTINCT subject FROM visit_periods`).toEqual([{ subject: `${moved}@1` }])
          expect(yield* sql`SELECT count(*)::int AS guards FROM create_guards`).toEqual([
            { guards: names(true).length }
          ])
        }).pipe(
          Effect.provideService(LinkTenure, {
            epoch: 1,
            buckets: Array.from({ length: 128 }, (_, n) => 2 * n + 1),
            isLeaving: false
          })
        )
        // More than are dropped at once, and older than the others.
        yield* old(moved, names(true), 500)
        const before = yield* contents(all)
        yield* interrupted(all, "the next step is delete", sweep)
        expect(yield* contents(all)).toEqual(before)
        yield* interrupted(all, "the epoch is raised", sweep, [1, 0])
        expect(yield* contents(all)).toEqual(before)
      }),
    120_000
  )

  it.scopedLive(
    "is beside the move of another deployment, whose databases are on the same servers",
    () =>
      Effect.gen(function* () {
        const [one, other] = [yield* databases(2), yield* databases(2)]
        for (const all of [one, other]) yield* fill(all, someKeys(20))
        const before = yield* contents(one)
        yield* Effect.flip(move(one, 0, 1, killing("the rows are copied")))
        yield* move(other, 0, 1)
        expect(yield* contents(other)).toEqual(before)
        expect(yield* traces(other)).toEqual([])
        yield* resume(one)
        expect(yield* contents(one)).toEqual(before)
        expect(yield* traces(one)).toEqual([])
      }),
    120_000
  )

  it.scopedLive(
    "does not begin, nor delete anything, while a node runs that does not know the other database",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        yield* fill(all, someKeys(20))
        const nodeKnowing = (count: number) =>
          Effect.provide(DatabasePresence.make("cluster", count), DatabaseServers.layer(all.get(0)!.url))
        const refused = Effect.scoped(Effect.zipRight(nodeKnowing(1), Effect.flip(move(all, 0, 1))))
        expect(yield* refused).toMatchObject({
          _tag: "MoveRefused",
          message: expect.stringMatching(/^Nodes on 127\.0\.0\.1 do not know database 1: restart them/)
        })
        expect(yield* all.get(0)!.sql`SELECT * FROM bucket_moves`).toEqual([])
        yield* nodeKnowing(2)
        // One that starts then takes database 0 for the home of all links until it has looked.
        const late = yield* Scope.make()
        const places: Array<string> = []
        yield* move(all, 0, 1, {
          ...quiet,
          at: (place) =>
            Effect.gen(function* () {
              places.push(place)
              if (place !== "the next step is delete") return
              yield* Scope.extend(nodeKnowing(1), late)
              const ending = Effect.zipRight(
                Effect.repeatN(all.get(0)!.sql`SELECT 1`, 100),
                Effect.sync(() => places.push("it has ended"))
              )
              yield* Effect.forkDaemon(Effect.zipRight(ending, Scope.close(late, Exit.void)))
            })
        })
        const [, next, then] = places.slice(places.indexOf("the next step is delete"))
        expect([next, then]).toEqual(["it has ended", "rows of create_guards are deleted"])
        expect(yield* traces(all)).toEqual([])
      }),
    120_000
  )

  it.scopedLive(
    "is refused at once where the target does not reach the source, or copies would be cut off",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        const { sql, url } = all.get(0)!
        const message = Effect.fnUntraced(function* (source: BucketMover.MovedDatabase) {
          const error = yield* Effect.flip(move(new Map([...all, [0, source]]), 0, 1))
          expect(error).toMatchObject({ _tag: "MoveRefused" })
          expect(yield* sql`SELECT * FROM bucket_moves`).toEqual([])
          return (error as BucketMover.MoveRefused).message
        })
        const changed = (change: (url: string) => string) => ({
          sql,
          url: Redacted.make(change(Redacted.value(url)))
        })
        const password = "s%3Acret"
        const refused = yield* message(changed((text) => text.replace(/:[^:@/]+@/, `:${password}@`)))
        expect(refused).toMatch(
          /^The server of database 1 cannot subscribe to database 0 by its URL: could not connect to the publisher/
        )
        // libpq knows fewer parameters than nodes do, and repeats what it cannot read.
        expect(yield* message(changed((text) => `${text}?uselibpqcompat=true`))).toContain(
          "invalid URI query parameter"
        )
        const unread = yield* message(changed((text) => text.replace(/:[^:@/]+@/, ":s%zz@")))
        expect(unread).toContain("by its URL:")
        expect(unread).not.toContain("s%zz")
        yield* sql`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 60000', current_database()); END $$`
        const later = Context.get(yield* Layer.build(postgresAt(Redacted.value(url))), SqlClient.SqlClient)
        expect(yield* message({ sql: later, url })).toMatch(
          /^Database 0 ends what a session of the role postgres does after 60000ms, copies of tables as well/
        )
        expect(yield* traces(all)).toEqual([])
      }),
    120_000
  )

  describe("keeps all visits counted", () => {
    const day = 20_000 * 24
    const counted = (all: Databases, number: number, subject: string) =>
      Effect.flatMap(visitsOf(all, number), ({ totals }) => totals([subject]))
    const visitsOf = (all: Databases, number: number) =>
      Effect.provideService(VisitStoreSql.make, SqlClient.SqlClient, all.get(number)!.sql)
    const visit = (all: Databases, number: number, subject: string, hour: number, sequence: number) =>
      Effect.flatMap(visitsOf(all, number), ({ write }) =>
        write({
          writer: "node",
          sequence,
          at: hour * 3_600_000,
          hours: [{ subject, hour, nonBots: 1, bots: 0, values: [] }]
        })
      )
    const rollUp = (all: Databases, number: number, until: number, hoursBefore = until) =>
      Effect.flatMap(visitsOf(all, number), (store) =>
        Effect.zipRight(
          Effect.repeat(store.rollUp(until, 100), { while: (more) => more }),
          store.drop({ hours: hoursBefore, days: 0 }, 100)
        )
      )
    const [subject, resident] = (["moved", "resident"] as const).map(
      (name, at) => someKeys(99, name).find((key) => bucketOf(key) % 2 === at)! + "@1"
    ) as [string, string]
    const visits = (all: Databases) =>
      Effect.gen(function* () {
        yield* fill(all, [subject.split("@")[0]!])
        yield* all.get(0)!.sql`DELETE FROM visit_periods`
        for (let n = 0; n < 3; n++) {
          yield* visit(all, 0, subject, day + 24 * n, n + 1)
          yield* visit(all, 1, resident, day + 24 * n, n + 1)
        }
      })
    const three = [{ nonBots: 3, bots: 0 }]

    for (const [title, source, target] of [
      ["where only the source has rolled them up", 48, 0],
      ["where only the target has", 0, 48],
      ["where the source has rolled up more", 72, 24]
    ] as const) {
      it.scopedLive(
        title,
        () =>
          Effect.gen(function* () {
            const all = yield* databases(2)
            yield* visits(all)
            if (source > 0) yield* rollUp(all, 0, day + source)
            if (target > 0) yield* rollUp(all, 1, day + target)
            yield* move(all, 0, 1)
            expect(yield* counted(all, 1, subject)).toEqual(three)
            expect(yield* counted(all, 1, resident)).toEqual(three)
            yield* rollUp(all, 1, day + 24 * 40)
            expect(yield* counted(all, 1, subject)).toEqual(three)
          }),
        120_000
      )
    }

    it.scopedLive(
      "where the target goes on while the mover is dead",
      () =>
        Effect.gen(function* () {
          const all = yield* databases(2)
          yield* visits(all)
          yield* rollUp(all, 0, day + 24)
          yield* interrupted(all, "the epoch is raised", rollUp(all, 1, day + 72, day + 24))
          expect(yield* counted(all, 1, subject)).toEqual(three)
          expect(yield* counted(all, 1, resident)).toEqual(three)
          yield* rollUp(all, 1, day + 24 * 40)
          expect(yield* counted(all, 1, subject)).toEqual(three)
          expect(yield* counted(all, 1, resident)).toEqual(three)
        }),
      120_000
    )
  })
})

describePostgres("a server that cannot copy its rows", () => {
  it.scopedLive("is told what it lacks, before anything is changed", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* migratedDatabase, yield* freshDatabase]
      const open = (url: string) =>
        Effect.map(Layer.build(postgresAt(url)), (context) => ({
          sql: Context.get(context, SqlClient.SqlClient),
          url: Redacted.make(url)
        }))
      const all = new Map([
        [0, yield* open(one)],
        [1, yield* open(other)],
        [2, yield* open(yield* migratedDatabase)]
      ])
      const { sql } = all.get(0)!
      yield* all.get(2)!.sql`INSERT INTO links (key, url, custom, created_at, updated_at)
        SELECT 'k' || n, 'u', false, 1, 1 FROM generate_series(1, 20) AS n`
      const message = Effect.fnUntraced(function* (to: number) {
        const error = yield* Effect.flip(move(all, 0, to))
        expect(error).toMatchObject({ _tag: "MoveRefused" })
        return (error as BucketMover.MoveRefused).message
      })
      expect(yield* message(1)).toContain("Database 1 does not have the tables of this version")
      expect(yield* message(2)).toContain("Database 0 has wal_level = replica; set wal_level = logical")
      expect(yield* message(2)).toContain("Database 2 has rows of these buckets in links already")
      expect(yield* message(3)).toContain("There are 3 databases, 0 to 2")
      expect(yield* sql`SELECT * FROM bucket_moves`).toEqual([])
      expect(yield* sql`SELECT proname FROM pg_proc WHERE proname LIKE 'linkmint%'`).toEqual([])
    })
  )
})
