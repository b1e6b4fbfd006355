// Ports of links over several databases of one PostgreSQL server.

import { SqlClient } from "@effect/sql"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { isDeepStrictEqual } from "node:util"
import { afterAll, beforeAll } from "vitest"
import { bucketCount } from "../../src/keys/Buckets.ts"
import * as LinkPorts from "../../src/storage/homes/LinkPorts.ts"
import * as PlacementCache from "../../src/storage/homes/PlacementCache.ts"
import { KeyStock } from "../../src/storage/keys/KeyStock.ts"
import * as KeyStockSql from "../../src/storage/keys/KeyStockSql.ts"
import type { BucketPlacement } from "../../src/storage/links/buckets/BucketPlacement.ts"
import * as BucketPlacementSql from "../../src/storage/links/buckets/BucketPlacementSql.ts"
import * as LinkEpoch from "../../src/storage/links/buckets/LinkEpoch.ts"
import { emptied, migratedDatabase, type Open, postgresAt } from "./Stores.ts"

/** One client of all databases: a node. */
export interface SeveralDatabases extends LinkPorts.RoutedPorts {
  readonly databases: ReadonlyArray<LinkPorts.OneDatabase>
  readonly placement: PlacementCache.PlacementCache
  readonly store: typeof BucketPlacement.Service
  /** The stock of the control database. */
  readonly stock: typeof KeyStock.Service
}

const onEach = <A, E>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.provideService(effect, SqlClient.SqlClient, sql)

/** Raises the epoch of a database to that of the placement: it refuses those who know an older one. */
export const raiseEpoch = Effect.fnUntraced(function* (
  { databases, store }: Pick<SeveralDatabases, "databases" | "store">,
  number: number
) {
  const { epochs } = yield* store.read
  const { raise } = yield* onEach(databases[number]!.sql, LinkEpoch.make)
  yield* raise(epochs.get(number)!)
})

/** Moves buckets as far as nodes see it: their rows stay where they are. */
export const moveBuckets = Effect.fnUntraced(function* (
  node: Pick<SeveralDatabases, "databases" | "store">,
  move: Parameters<SeveralDatabases["store"]["begin"]>[0],
  meanwhile: Effect.Effect<void, unknown> = Effect.void
) {
  if (!(yield* node.store.begin(move))) return yield* Effect.dieMessage("the move does not apply")
  yield* raiseEpoch(node, move.from)
  yield* meanwhile
  yield* node.store.end(move)
})

/** A node on databases at these URLs, with pools of its own. */
export const nodeOn = (urls: ReadonlyArray<string>): Effect.Effect<SeveralDatabases, never, Scope.Scope> =>
  Effect.gen(function* () {
    const sqls = yield* Effect.forEach(urls, (url) =>
      Effect.map(Layer.build(postgresAt(url)), (context) => Context.get(context, SqlClient.SqlClient))
    )
    const databases = yield* Effect.forEach(sqls, (sql) =>
      Effect.flatMap(onEach(sql, KeyStockSql.make()), (stock) =>
        LinkPorts.ofDatabase({ sql, stock, isAway: () => false })
      )
    )
    const store = yield* onEach(sqls[0]!, BucketPlacementSql.make)
    const placement = yield* PlacementCache.make(store, urls.length)
    const ports = yield* LinkPorts.routed(databases, placement)
    const stock = yield* onEach(sqls[0]!, KeyStockSql.make())
    return { ...ports, databases, placement, store, stock }
  }).pipe(Effect.orDie)

/** Migrated databases, over which the buckets are spread: evenly by default. The suite makes them once; each test that opens them empties them first. */
export const severalDatabases = (
  count: number,
  homeOf: (bucket: number) => number = (bucket) => bucket % count
): Open<SeveralDatabases> => {
  const scope = Effect.runSync(Scope.make())
  const nodes: Array<SeveralDatabases> = []
  let urls: ReadonlyArray<string>
  const spread = (node: SeveralDatabases) =>
    Effect.forEach(urls.slice(1), (_, index) => {
      const buckets = Array.from({ length: bucketCount }, (_, bucket) => bucket)
      const to = index + 1
      const some = buckets.filter((bucket) => homeOf(bucket) === to)
      return some.length === 0 ? Effect.void : moveBuckets(node, { from: 0, to, buckets: some })
    })
  const nodeAt = (index: number) =>
    Effect.gen(function* () {
      nodes[index] ??= yield* Scope.extend(nodeOn(urls), scope)
      yield* nodes[index].placement.read
      return nodes[index]
    }).pipe(Effect.orDie)
  beforeAll(async () => {
    urls = await Effect.runPromise(
      Scope.extend(
        Effect.forEach(Array.from({ length: count }), () => migratedDatabase),
        scope
      )
    )
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  /** The placement and the epochs that the databases are to begin with, once they are known. */
  let begins: unknown
  const opened = Effect.gen(function* () {
    const node = yield* nodeAt(0)
    const now = Effect.all([
      node.store.read,
      Effect.forEach(node.databases, ({ sql }) =>
        Effect.flatMap(onEach(sql, LinkEpoch.make), ({ look }) => look)
      )
    ])
    // To spread them takes some dozen statements: more than most tests take. So they stay spread where a test has moved none.
    const keepsPlacement = begins !== undefined && isDeepStrictEqual(yield* now, begins)
    yield* Effect.forEach(node.databases, ({ sql }) => emptied(sql, { keepsPlacement }), {
      concurrency: "unbounded"
    })
    if (keepsPlacement) return
    yield* spread(node)
    begins ??= yield* now
  })
  return Effect.map(opened, () => {
    let opened = 0
    return Effect.suspend(() => nodeAt(opened++))
  }).pipe(Effect.orDie)
}

/** The same databases as a test of one port sees them. */
export const portOf = <S>(open: Open<SeveralDatabases>, of: (node: SeveralDatabases) => S): Open<S> =>
  Effect.map(open, Effect.map(of))
