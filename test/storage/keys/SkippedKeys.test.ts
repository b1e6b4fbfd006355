import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { bucketOf } from "../../../src/keys/Buckets.ts"
import { KeyMinter } from "../../../src/keys/KeyMinter.ts"
import { fromStrings } from "../../../src/keys/PackedKeys.ts"
import * as LinkOutbox from "../../../src/storage/homes/LinkOutbox.ts"
import { KeyRangeStore } from "../../../src/storage/keys/KeyRangeStore.ts"
import * as KeyRangeStoreSql from "../../../src/storage/keys/KeyRangeStoreSql.ts"
import { KeyStock } from "../../../src/storage/keys/KeyStock.ts"
import * as KeyStockSql from "../../../src/storage/keys/KeyStockSql.ts"
import * as SkippedKeys from "../../../src/storage/keys/SkippedKeys.ts"
import { LinkLifetime } from "../../../src/storage/links/LinkLifetime.ts"
import * as LinkLifetimeSql from "../../../src/storage/links/LinkLifetimeSql.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import { DatabaseMark } from "../../../src/storage/nodes/DatabaseMark.ts"
import * as DatabaseMarkSql from "../../../src/storage/nodes/DatabaseMarkSql.ts"
import { keys } from "../../support/samples/SomeKeys.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { severalDatabases } from "../../support/SeveralDatabases.ts"
import { onEveryDatabase } from "../../support/Stores.ts"
import { realMinter } from "../../support/TestNode.ts"

const minter = Layer.succeed(KeyMinter, realMinter)

const hour_ms = 3_600_000
const quarantine_ms = hour_ms
const recycling = { quarantine_ms, count: 100 }

/** Ends a link, so many hours ago. */
const endAgo = (sql: SqlClient.SqlClient, key: string, hours: number) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const at = now - hours * hour_ms
    return sql`UPDATE links SET deleted_at = ${at}, ended_at = ${at} WHERE key = ${key}`
  })

/** Has all that is in a database be so many hours older. */
const hoursPass = (sql: SqlClient.SqlClient, hours: number) =>
  Effect.zipRight(
    sql`UPDATE links SET created_at = created_at - ${hours * hour_ms}, ended_at = ended_at - ${hours * hour_ms}`,
    sql`UPDATE database_regressions SET noticed_at = noticed_at - ${hours * hour_ms}`
  )

/** Makes a link that began some hours ago, and ended some hours ago where that is said. */
const linked = (
  sql: SqlClient.SqlClient,
  links: Pick<typeof LinkStore.Service, "insertMany">,
  key: string,
  began: number,
  ended?: number
) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    yield* links.insertMany([{ ...linkOf(key), createdAt: now - began * hour_ms }])
    if (ended !== undefined) yield* endAgo(sql, key, ended)
  })

onEveryDatabase((client) => {
  const stores = Layer.mergeAll(LinkLifetimeSql.layer, LinkStoreSql.layer).pipe(
    Layer.provideMerge(KeyStockSql.layer()),
    Layer.merge(Layer.mergeAll(DatabaseMarkSql.layer, KeyRangeStoreSql.layer, minter)),
    Layer.provideMerge(client)
  )

  it.scopedLive("leaves no key to be used again that can have been given to another since the backup", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [lifetime, links, stock, mark] = [
        yield* LinkLifetime,
        yield* LinkStore,
        yield* KeyStock,
        yield* DatabaseMark
      ]
      const slot = { length: 7, range: 3 }
      const { first } = yield* (yield* KeyRangeStore).advance(slot, { count: 10, size: 1_000_000 })
      const claim = yield* stock.claim(0)
      yield* stock.add(keys("s", 10))
      yield* stock.record({ ...claim, sequence: 1 }, keys("r", 5))
      yield* linked(sql, links, "overdue", 9, 3)
      yield* linked(sql, links, "recent", 9, 0.5)
      yield* linked(sql, links, "living", 9)
      const { timeline } = yield* mark.identity
      const before = yield* mark.move({ floor: 0, timeline })

      expect(yield* SkippedKeys.skip(1_000)).toEqual({ ranges: 16, dropped: 15 })
      expect(yield* stock.size).toBe(0)
      expect(yield* stock.openBatches(0)).toEqual([])
      const next = yield* (yield* KeyRangeStore).advance(slot, { count: 1, size: 1_000_000 })
      expect(next.first).toBe(first + 1_010)
      expect((yield* mark.look).lineage).toBeGreaterThan(before!.mark)
      expect(yield* mark.regressions).toMatchObject([{ since: 0, skipped: 16_000, dropped: 15 }])

      yield* hoursPass(sql, 10)
      yield* linked(sql, links, "new", 8, 3)
      yield* endAgo(sql, "living", 3)
      yield* lifetime.recycle(recycling)
      expect(yield* links.takenAmong(["overdue", "recent", "living", "new"])).toEqual(new Set())
      // The key of what was in its quarantine cannot have been given to another, nor that of a newer link.
      const free = yield* sql<{ key: string }>`SELECT key FROM keys ORDER BY key`
      expect(free.map(({ key }) => key)).toEqual(["new", "recent"])

      // A repeat skips as many again, and the next loss has a lineage of its own.
      yield* SkippedKeys.skip(1_000)
      expect(yield* mark.regressions).toHaveLength(2)
      const found = yield* mark.look
      expect(found.mark).toBe(found.lineage)
      expect(yield* mark.recover({ mark: found.mark + 1, timeline, watermarks: [] })).toBeDefined()
    }).pipe(Effect.provide(stores))
  )
})

describePostgres("over several databases of links", () => {
  const open = severalDatabases(2)
  const elsewhere = (name: string) =>
    Array.from({ length: 1_000 }, (_, index) => `${name}${index}`).find((key) => bucketOf(key) % 2 === 1)!

  it.scopedLive("leaves none in any of them, whichever was restored", () =>
    Effect.gen(function* () {
      const node = yield* yield* open
      const [control, further] = node.databases.map(({ sql }) => sql)
      const named = { overdue: elsewhere("overdue"), living: elsewhere("living"), freed: elsewhere("freed") }
      yield* linked(further!, node.links, named.overdue, 9, 3)
      yield* linked(further!, node.links, named.living, 9)
      // It had not been carried when the backup was made.
      yield* further!`INSERT INTO keys (key) VALUES (${named.freed})`
      // A record that has come with links from a time which database 0 has forgotten.
      yield* further!`
        INSERT INTO database_regressions (lineage, noticed_at, since, mark, witnessed, skipped, dropped) VALUES (70, 5, 4, 1, 69, 0, 0)`
      yield* node.stock.add(fromStrings([elsewhere("stocked")]))

      const { dropped } = yield* SkippedKeys.skip(1_000, [further!]).pipe(
        Effect.provide(Layer.merge(KeyRangeStoreSql.layer, minter)),
        Effect.provideService(SqlClient.SqlClient, control!)
      )
      expect(dropped).toBe(2)
      yield* hoursPass(further!, 10)
      yield* endAgo(further!, named.living, 3)
      yield* node.lifetime.recycle(recycling)
      expect(yield* node.links.takenAmong(Object.values(named))).toEqual(new Set())
      yield* LinkOutbox.carryKeys(
        { sql: further!, control: control!, stock: node.stock, lost: () => {} },
        1_000
      )
      expect(yield* node.stock.size).toBe(0)

      const lineages = yield* Effect.forEach([control!, further!], (sql) =>
        Effect.map(
          sql<{ lineage: number }>`SELECT max(lineage) AS lineage FROM database_regressions`,
          ([row]) => Number(row!.lineage)
        )
      )
      expect(lineages).toEqual([71, 71])
    })
  )
})
