import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { describe } from "vitest"
import { AccountStore } from "../../../../src/storage/accounts/AccountStore.ts"
import * as AccountStoreSql from "../../../../src/storage/accounts/AccountStoreSql.ts"
import * as Migrations from "../../../../src/storage/sql/Migrations.ts"
import { WebhookStore } from "../../../../src/storage/webhooks/WebhookStore.ts"
import * as WebhookStoreSql from "../../../../src/storage/webhooks/WebhookStoreSql.ts"
import { emptyDatabases } from "../../../support/Stores.ts"
import { claimOf, userOf } from "../../../support/samples/SomeWebhooks.ts"

/** The schema as it was when receivers were not verified. */
const migrateToUnverified = Migrations.migrateTo(11)

/** A webhook with a message that was tried, two that were not, and a dead one. */
const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO webhooks (id, owner, url, events, secret, created_at, failures, dropped)
    VALUES ('whk_a', 'usr_a', 'https://A.example.:8443/hook', '["link.created"]', 'whsec_', 1000, 2, 5)`
  for (const [id, body, attempts, due] of [
    ["tried", "{}", 2, 10],
    ["new-1", '{"text":"ü"}', 0, 20],
    ["new-2", "{}", 0, 30],
    ["dead", "{}", 15, 5]
  ] as const) {
    yield* sql`INSERT INTO webhook_messages (webhook_id, id, event, body, queued_at, due_at, attempts)
      VALUES ('whk_a', ${id}, 'link.created', ${body}, 5, ${due}, ${attempts})`
  }
  yield* sql`UPDATE webhook_messages SET dead_at = 9, reason = 'It answered 500.' WHERE id = 'dead'`
})

emptyDatabases((client) => {
  describe("migrating webhooks that were there before receivers were verified", () => {
    it.scopedLive("keeps them: verified, bound to no key, with what waits for them", () =>
      Effect.gen(function* () {
        yield* migrateToUnverified
        yield* fill
        yield* Migrations.migrate
        yield* (yield* AccountStore).addUser(userOf("usr_a"))
        const { claim, delivered, find, look } = yield* WebhookStore
        expect(yield* find("whk_a")).toMatchObject({
          owner: "usr_a",
          keyId: null,
          status: "active",
          pending: 3,
          deadLetters: 1,
          dropped: 5,
          failures: 2,
          lastFailure: null
        })
        expect([...(yield* look(null)).listeners!.byOwner.keys()]).toEqual(["usr_a"])
        const join = { events: 100, bytes: 1_000_000 }
        const [tried] = yield* claim(claimOf({ join }))
        expect(tried).toMatchObject({ id: "tried", attempt: 3, body: "{}", host: "a.example" })
        yield* delivered(tried!)
        const [rest] = yield* claim(claimOf({ join }))
        expect(JSON.parse(rest!.body)).toMatchObject({
          type: "events",
          data: [{ id: "new-1", text: "ü" }, { id: "new-2" }]
        })
        yield* delivered(rest!)
        const sql = yield* SqlClient.SqlClient
        const [counted] = yield* sql<{ bytes: string | number }>`SELECT bytes FROM webhooks`
        expect(Number(counted!.bytes)).toBe(0)
      }).pipe(
        Effect.provide(
          Layer.merge(WebhookStoreSql.layer, AccountStoreSql.layer).pipe(Layer.provideMerge(client))
        )
      )
    )
  })
})
