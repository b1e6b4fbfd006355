import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as Users from "../../src/accounts/Users.ts"
import { command } from "../../src/model/Audit.ts"
import { AccountStore } from "../../src/storage/accounts/AccountStore.ts"
import * as AccountStoreSql from "../../src/storage/accounts/AccountStoreSql.ts"
import { AuditLog } from "../../src/storage/accounts/AuditLog.ts"
import * as AuditLogSql from "../../src/storage/accounts/AuditLogSql.ts"
import { LinkRemovals } from "../../src/storage/links/LinkRemovals.ts"
import * as LinkRemovalsSql from "../../src/storage/links/LinkRemovalsSql.ts"
import { StorageError } from "../../src/storage/StorageError.ts"
import { WebhookStore } from "../../src/storage/webhooks/WebhookStore.ts"
import * as WebhookStoreSql from "../../src/storage/webhooks/WebhookStoreSql.ts"
import { userOf, webhookOf } from "../support/samples/SomeWebhooks.ts"
import { onEveryDatabase } from "../support/Stores.ts"

const refused = Effect.fail(new StorageError({ operation: "a store", applied: "no", reason: "it refuses" }))

onEveryDatabase((client) => {
  const stores = Layer.mergeAll(
    AccountStoreSql.layer,
    AuditLogSql.layer,
    LinkRemovalsSql.layer,
    WebhookStoreSql.layer
  ).pipe(Layer.provideMerge(client))

  it.scopedLive(
    "A user is removed with webhooks and the request to delete the links, or is there with all of them",
    () =>
      Effect.gen(function* () {
        const parts = yield* Effect.context<AccountStore | AuditLog | LinkRemovals | WebhookStore>()
        const accounts = Context.get(parts, AccountStore)
        const removals = Context.get(parts, LinkRemovals)
        const webhooks = Context.get(parts, WebhookStore)
        yield* accounts.addUser(userOf("usr_a"))
        yield* webhooks.add(webhookOf("whk_a", { owner: "usr_a" }), { id: "challenge", body: "{}" }, 1)
        const removing = (over: typeof parts) =>
          Effect.flatMap(Users.make, (users) => users.remove("usr_a", "delete", command)).pipe(
            Effect.provide(over)
          )

        for (const failing of [
          Context.add(parts, LinkRemovals, { ...removals, ask: () => refused }),
          Context.add(parts, WebhookStore, { ...webhooks, removeAllOf: () => refused })
        ]) {
          expect((yield* Effect.exit(removing(failing)))._tag).toBe("Failure")
          expect(yield* accounts.userById("usr_a")).not.toBeNull()
          expect(yield* webhooks.list("usr_a")).toHaveLength(1)
        }
        expect(yield* Context.get(parts, AuditLog).list({ limit: 10 })).toEqual([])

        expect(yield* removing(parts)).toBe("removed")
        expect(yield* accounts.userById("usr_a")).toBeNull()
        expect(yield* webhooks.list("usr_a")).toEqual([])
      }).pipe(Effect.provide(stores))
  )
})
