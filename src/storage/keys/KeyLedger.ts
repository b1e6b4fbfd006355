import { SqlClient, type Statement } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Array as Arrays, Context, Effect, Equivalence, Layer, Number as Numbers } from "effect"
import { toStrings } from "../../keys/PackedKeys.ts"
import { LinkDatabaseList } from "../homes/LinkDatabaseList.ts"
import { LinkStore } from "../links/LinkStore.ts"
import * as BucketPlacementSql from "../links/buckets/BucketPlacementSql.ts"
import { andAtHome, isRefused, refused, type Tenure } from "../links/buckets/LinkTenure.ts"
import { asStorageError } from "../sql/SqlTransaction.ts"
import { StorageError } from "../StorageError.ts"
import { KeyStock } from "./KeyStock.ts"
import { keysOf } from "./KeyStockSql.ts"
import * as KeyTablesSql from "./KeyTablesSql.ts"

/** Where the minted keys are that the database can count. Aliases are not minted. */
export interface KeyCounts {
  /** Keys that have left their ranges. */
  readonly minted: number
  /** Keys in the stock. */
  readonly stocked: number
  /** Keys of links that are not deleted. */
  readonly bound: number
  /** Keys of tombstones. */
  readonly quarantined: number
}

/** Counts minted keys while the service runs. */
export class KeyLedger extends Context.Tag("linkmint/KeyLedger")<
  KeyLedger,
  {
    /** `null` where there are too many links to count them while answering requests. */
    readonly counts: Effect.Effect<KeyCounts | null, StorageError>
  }
>() {}

/** Where minted keys are, as far as the database knows. */
export interface Ledger extends KeyCounts {
  /** Keys in the records of open batches that are not bound. */
  readonly recorded: number
}

/** Keys that are looked up at a time. */
const lookupMax = 1_000

const only = (rows: Statement.Statement<{ readonly count: number }>): Effect.Effect<number, SqlError> =>
  Effect.map(rows, ([row]) => row!.count)

/** The buckets that are at home in a database, by the homes of all. Nothing is asked on an epoch. */
const tenureOf = (homes: ReadonlyArray<number>, number: number): Tenure => ({
  epoch: 0,
  buckets: homes.flatMap((home, bucket) => (home === number ? [bucket] : [])),
  isLeaving: false
})

/** The sum of what databases answer. */
const sumOf = <E>(
  sqls: ReadonlyArray<SqlClient.SqlClient>,
  count: (sql: SqlClient.SqlClient, number: number) => Effect.Effect<number, E>
) => Effect.map(Effect.forEach(sqls, count), Numbers.sumAll)

/** How often links are counted again where buckets come to be in another database meanwhile. */
const retries = 2

const areSame = Arrays.getEquivalence(Equivalence.number)

/**
 * Counts the links of all databases, each where its bucket is at home: while buckets are moved, two databases have them. Where they have come to be in another one meanwhile, it counts again.
 */
const countLinks = (sql: SqlClient.SqlClient, further: ReadonlyArray<SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    const placement = yield* Effect.provideService(BucketPlacementSql.make, SqlClient.SqlClient, sql)
    const homes = Effect.map(placement.read, ({ places }) => places.map(({ home }) => home))
    const known = further.length === 0 ? undefined : yield* homes
    const tenures = known && [sql, ...further].map((_, number) => tenureOf(known, number))
    const count = (condition: Statement.Fragment) =>
      sumOf([sql, ...further], (sql, number) =>
        only(
          sql`SELECT count(*) AS count FROM links WHERE NOT custom AND ${condition} ${andAtHome(sql, tenures?.[number])}`
        )
      )
    const bound = yield* count(sql`deleted_at IS NULL`)
    const quarantined = yield* count(sql`deleted_at IS NOT NULL`)
    if (known !== undefined && !areSame(known, yield* homes)) return yield* refused("KeyLedger.counts")
    return { bound, quarantined }
  }).pipe(
    Effect.retry({ times: retries, while: (error) => error instanceof StorageError && isRefused(error) })
  )

/** Counts from the end of the pipeline to its beginning, so that a key that moves meanwhile is missed rather than counted twice. `further`: databases of links beside the first one. */
const counts = Effect.fnUntraced(function* <E>(
  sql: SqlClient.SqlClient,
  further: ReadonlyArray<SqlClient.SqlClient>,
  stocked: Effect.Effect<number, E>
) {
  return {
    ...(yield* countLinks(sql, further)),
    stocked: (yield* stocked) + (yield* sumOf(further, (sql) => KeyTablesSql.make(sql).free.size)),
    minted: yield* only(sql`SELECT coalesce(sum(next), 0) AS count FROM key_ranges`)
  } satisfies KeyCounts
})

/** Counts every link, which takes long where there are many. */
export const read = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const links = yield* LinkStore
  const further = (yield* LinkDatabaseList).slice(1).map((one) => one.sql)
  const batches = yield* sql<{ keys: string }>`SELECT keys FROM pool_batches`
  const keys = batches.flatMap((batch) => toStrings(keysOf(batch.keys)))
  let recorded = 0
  for (let at = 0; at < keys.length; at += lookupMax) {
    const some = keys.slice(at, at + lookupMax)
    recorded += some.length - (yield* links.takenAmong(some)).size
  }
  const tables = Object.values(KeyTablesSql.make(sql))
  const stocked = Effect.map(
    Effect.forEach(tables, ({ size }) => size),
    Numbers.sumAll
  )
  return { ...(yield* counts(sql, further, stocked)), recorded } satisfies Ledger
}).pipe(asStorageError("Ledger.read"))

/** `KeyLedger` of a database with up to `rowsMax` links, tombstones included, and as many stocked keys. */
export const layer = (rowsMax: number): Layer.Layer<KeyLedger, never, KeyStock | SqlClient.SqlClient> =>
  Layer.effect(
    KeyLedger,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const stock = yield* KeyStock
      const further = (yield* LinkDatabaseList).slice(1).map((one) => one.sql)
      const isBelow = (sql: SqlClient.SqlClient, table: "keys" | "links") =>
        Effect.map(
          only(
            sql`SELECT count(*) AS count FROM (SELECT 1 FROM ${sql(table)} LIMIT ${rowsMax + 1}) AS counted`
          ),
          (count) => count <= rowsMax
        )
      return {
        counts: Effect.gen(function* () {
          for (const one of [sql, ...further]) {
            if (!(yield* isBelow(one, "links")) || !(yield* isBelow(one, "keys"))) return null
          }
          return yield* counts(sql, further, stock.size)
        }).pipe(asStorageError("KeyLedger.counts"))
      }
    })
  )
