import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer, TestClock } from "effect"
import { LinkAnnouncer } from "../../../src/storage/links/LinkInvalidationsLocal.ts"
import { LinkRemovals, lookedFor_ms } from "../../../src/storage/links/LinkRemovals.ts"
import * as LinkRemovalsMemory from "../../../src/sim/stores/LinkRemovalsMemory.ts"
import * as LinkRemovalsSql from "../../../src/storage/links/LinkRemovalsSql.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkStoreMemory from "../../../src/sim/stores/LinkStoreMemory.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { linkRemovalsLaws, type RemovalStores } from "./LinkRemovalsLaws.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import {
  migratedDatabase,
  onEveryBackend,
  onEveryDatabase,
  onSqlite,
  postgresAt
} from "../../support/Stores.ts"

class Stores extends Context.Tag("test/Stores")<Stores, RemovalStores>() {}

const gathered = Layer.effect(Stores, Effect.all({ links: LinkStore, removals: LinkRemovals }))

const memory = Layer.suspend(() => {
  const tables = { links: new Map(), ended: new Map() }
  return gathered.pipe(
    Layer.provide(Layer.succeed(LinkStore, LinkStoreMemory.makeOver(tables.links, tables.ended))),
    Layer.provide(Layer.effect(LinkRemovals, LinkRemovalsMemory.makeOver(tables)))
  )
})

const sql = gathered.pipe(Layer.provide([LinkRemovalsSql.layer, LinkStoreSql.layer]))

onEveryBackend(Stores, { memory, sql }, linkRemovalsLaws)

const late = { ...linkOf("late"), owner: "one" }

const forgets = ({ links, removals }: RemovalStores) =>
  Effect.gen(function* () {
    yield* removals.ask("one")
    yield* TestClock.adjust(lookedFor_ms - 1)
    yield* links.insertMany([late])
    expect(yield* removals.remove(10)).toEqual(["late"])
    yield* TestClock.adjust(1)
    expect(yield* removals.remove(10)).toEqual([])
    yield* links.insertMany([{ ...late, key: "later" }])
    expect(yield* removals.remove(10)).toEqual([])
  })

it.scoped("In memory an owner is forgotten after ten minutes, when no link is left", () =>
  Effect.flatMap(Stores, forgets).pipe(Effect.provide(memory))
)

const open = onSqlite(Stores, sql)
it.scoped("On SQLite an owner is forgotten after ten minutes, when no link is left", () =>
  Effect.flatMap(Effect.flatten(open), forgets)
)

onEveryDatabase((client) => {
  it.scopedLive("What is deleted is announced to this process", () =>
    Effect.gen(function* () {
      const announced: Array<string> = []
      const { links, removals } = yield* Stores.pipe(
        Effect.provide(
          sql.pipe(Layer.provide(Layer.succeed(LinkAnnouncer, (keys) => void announced.push(...keys))))
        )
      )
      yield* links.insertMany([late])
      yield* removals.ask("one")
      yield* removals.remove(10)
      expect(announced).toEqual(["late"])
    }).pipe(Effect.provide(client))
  )

  it.scopedLive("An owner is not remembered where the transaction that removes the account fails", () =>
    Effect.gen(function* () {
      const client = yield* SqlClient.SqlClient
      const { links, removals } = yield* Effect.provide(Stores, sql)
      yield* links.insertMany([late])
      yield* Effect.flip(client.withTransaction(Effect.zipRight(removals.ask("one"), Effect.fail("no"))))
      expect(yield* removals.remove(10)).toEqual([])
    }).pipe(Effect.provide(client))
  )
})

describePostgres("The next links of an owner on PostgreSQL", () => {
  it.scopedLive("are found by an index, whatever the planner knows of the owners", () =>
    Effect.gen(function* () {
      const client = yield* SqlClient.SqlClient
      yield* client`
        INSERT INTO links (key, url, custom, created_at, updated_at, owner, tags)
        SELECT 'k' || n, 'https://example.com/' || n, false, n, n, CASE WHEN n % 50 = 2 THEN 'one' ELSE 'other' END, '[]'::jsonb
        FROM generate_series(1, 40000) AS n`
      yield* client`VACUUM ANALYZE links`
      yield* client`INSERT INTO link_removals (owner, asked_at) VALUES ('one', 0), ('nobody', 0)`
      const scans = Effect.map(
        client<{
          rows: string
        }>`SELECT sum(seq_tup_read) AS rows FROM pg_stat_user_tables WHERE relname LIKE 'links%'`,
        ([row]) => Number(row!.rows)
      )
      const { removals } = yield* Effect.provide(Stores, sql)
      // What a session has read is told others when it has been idle for a while, unless it is asked to.
      const flushed = Effect.zipRight(client`SELECT pg_stat_force_next_flush()`, scans)
      const before = yield* flushed
      expect(yield* removals.remove(100)).toHaveLength(100)
      expect(yield* flushed).toBe(before)
    }).pipe(
      Effect.provide(
        Layer.unwrapScoped(Effect.map(migratedDatabase, (url) => postgresAt(url, { maxConnections: 1 })))
      )
    )
  )
})
