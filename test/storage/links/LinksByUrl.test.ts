import { SqlClient, Statement } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { describe } from "vitest"
import type { Link } from "../../../src/model/Link.ts"
import { GuardedCreates } from "../../../src/storage/links/GuardedCreates.ts"
import * as GuardedCreatesSql from "../../../src/storage/links/GuardedCreatesSql.ts"
import { urlHash } from "../../../src/storage/links/LinkColumns.ts"
import { LinkRemovals } from "../../../src/storage/links/LinkRemovals.ts"
import * as LinkRemovalsSql from "../../../src/storage/links/LinkRemovalsSql.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { atOnce } from "../../support/Property.ts"
import { migratedDatabase, onEveryDatabase, postgresAt } from "../../support/Stores.ts"

const stores = LinkRemovalsSql.layer.pipe(
  Layer.provideMerge(GuardedCreatesSql.layer),
  Layer.provideMerge(LinkStoreSql.layer)
)

const ports = Effect.all({
  sql: SqlClient.SqlClient,
  links: LinkStore,
  guards: GuardedCreates,
  removals: LinkRemovals
})

const url = "https://example.com/"
const of = (key: string, more: Partial<Link> = {}): Link => ({ ...linkOf(key, url), owner: "me", ...more })

const hashes = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ key: string; url_hash: string | null }>`SELECT key, url_hash FROM links ORDER BY key`,
    (rows) => rows.map((row) => [row.key, row.url_hash])
  )
)

onEveryDatabase((client) => {
  describe("links by their URLs", () => {
    const run = <A, E>(
      effect: Effect.Effect<A, E, LinkStore | GuardedCreates | LinkRemovals | SqlClient.SqlClient>
    ) => Effect.provide(effect, Layer.provideMerge(stores, client))

    it.scopedLive("are indexed only for owners who have asked once, from then on with the row", () =>
      run(
        Effect.gen(function* () {
          const { guards, links } = yield* ports
          yield* links.insertMany([of("1"), of("2", { owner: "other" }), of("3", { owner: null })])
          expect(yield* hashes).toEqual([
            ["1", null],
            ["2", null],
            ["3", null]
          ])
          expect(yield* guards.findByUrl("me", url, 1)).toMatchObject({ key: "1" })
          yield* links.insertMany([of("4"), of("5", { owner: "other" }), of("6", { owner: null })])
          yield* links.insertMany([of("7")])
          expect(yield* hashes).toEqual([
            ["1", urlHash("me", url)],
            ["2", null],
            ["3", null],
            ["4", urlHash("me", url)],
            ["5", null],
            ["6", null],
            ["7", urlHash("me", url)]
          ])
        })
      )
    )

    it.scopedLive("are all found by the first question, however many there are and whoever asks beside", () =>
      run(
        Effect.gen(function* () {
          const { guards, links } = yield* ports
          const many = Array.from({ length: 1_001 }, (_, n) =>
            of(`k${n}`, { url: `${url}${n}`, createdAt: 1_700_000_000_000 + Math.floor(n / 7) })
          )
          yield* links.insertMany(many)
          yield* links.deleteMany([{ key: "k500", at: 1 }])
          const asked = [0, 199, 200, 201, 500, 999, 1_000]
          const found = yield* atOnce(asked.map((n) => guards.findByUrl("me", `${url}${n}`, 1)))
          expect(found.map((link) => link?.key)).toEqual(asked.map((n) => (n === 500 ? undefined : `k${n}`)))
        })
      )
    )

    it.scopedLive(
      "are found by the URL that they have after a change, whether or not the owner had asked",
      () =>
        run(
          Effect.gen(function* () {
            const { guards, links } = yield* ports
            const changed = (key: string, updateId: number) =>
              links.updateMany([{ key, owner: "me", at: 1, change: { url: `${url}new` }, updateId }])
            yield* links.insertMany([of("before"), of("after", { createdAt: 1_800_000_000_000 })])
            yield* changed("before", 1)
            expect(yield* guards.findByUrl("me", `${url}new`, 1)).toMatchObject({ key: "before" })
            yield* changed("after", 2)
            expect(yield* guards.findByUrl("me", `${url}new`, 1)).toMatchObject({ key: "after" })
            expect(yield* guards.findByUrl("me", url, 1)).toBeNull()
          })
        )
    )

    it.scopedLive("are no longer indexed when their owner is gone", () =>
      run(
        Effect.gen(function* () {
          const { guards, removals, sql } = yield* ports
          yield* guards.findByUrl("me", url, 1)
          yield* guards.findByUrl("other", url, 1)
          yield* removals.ask("me")
          yield* removals.remove(10)
          expect(yield* sql`SELECT owner FROM url_indexed_owners`).toEqual([{ owner: "other" }])
        })
      )
    )
  })
})

describePostgres("links by their URLs on PostgreSQL", () => {
  const node = (database: string) => Layer.build(Layer.provideMerge(stores, postgresAt(database)))

  it.scopedLive(
    "are found also where their create had begun, and was not committed, when their owner asked first",
    () =>
      Effect.gen(function* () {
        const database = yield* migratedDatabase
        const [one, other] = [yield* node(database), yield* node(database)]
        const [inserted, mayCommit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const create = Effect.gen(function* () {
          const { links, sql } = yield* ports
          yield* sql.withTransaction(
            links
              .insertMany([of("slow")])
              .pipe(
                Effect.zipRight(Deferred.succeed(inserted, undefined)),
                Effect.zipRight(Deferred.await(mayCommit))
              )
          )
        })
        const creating = yield* Effect.fork(Effect.provide(create, one))
        yield* Deferred.await(inserted)
        /** The question looks for writers for the second time. */
        const waits = yield* Deferred.make<void>()
        let looks = 0
        const ask = Statement.withTransformer(
          Effect.flatMap(ports, ({ guards }) => guards.findByUrl("me", url, 1)),
          (statement) => {
            const isLook = statement.compile()[0].includes("pg_locks") && ++looks === 2
            return Effect.as(isLook ? Deferred.succeed(waits, undefined) : Effect.void, statement)
          }
        )
        const asking = yield* Effect.fork(Effect.provide(ask, other))
        // One that does not wait is over.
        yield* Effect.race(Deferred.await(waits), Fiber.await(asking))
        yield* Deferred.succeed(mayCommit, undefined)
        yield* Fiber.join(creating)
        expect(yield* Fiber.join(asking)).toMatchObject({ key: "slow" })
      })
  )

  it.scopedLive("are filled in by several nodes at once without being in each other's way", () =>
    Effect.gen(function* () {
      const database = yield* migratedDatabase
      const nodes = yield* atOnce([node(database), node(database), node(database)])
      const { links } = yield* Effect.provide(ports, nodes[0]!)
      yield* links.insertMany(Array.from({ length: 1_000 }, (_, n) => of(`k${n}`, { url: `${url}${n}` })))
      const found = yield* atOnce(
        nodes.map((context, n) =>
          Effect.flatMap(ports, ({ guards }) => guards.findByUrl("me", `${url}${n * 400}`, 1)).pipe(
            Effect.provide(context)
          )
        )
      )
      expect(found.map((link) => link?.key)).toEqual(["k0", "k400", "k800"])
    })
  )
})
