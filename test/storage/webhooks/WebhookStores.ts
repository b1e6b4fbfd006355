// A store of webhooks, and the accounts of those who have them.

import { Context, Effect, Layer, type Scope } from "effect"
import { AccountStore } from "../../../src/storage/accounts/AccountStore.ts"
import * as AccountStoreMemory from "../../../src/sim/stores/AccountStoreMemory.ts"
import * as AccountStoreSql from "../../../src/storage/accounts/AccountStoreSql.ts"
import { WebhookStore } from "../../../src/storage/webhooks/WebhookStore.ts"
import * as WebhookStoreMemory from "../../../src/sim/stores/WebhookStoreMemory.ts"
import * as WebhookStoreSql from "../../../src/storage/webhooks/WebhookStoreSql.ts"
import type { Open } from "../../support/Stores.ts"
import { userOf } from "../../support/samples/SomeWebhooks.ts"

/** Both stores. */
export class WebhookStores extends Context.Tag("test/WebhookStores")<
  WebhookStores,
  { readonly webhooks: WebhookStore["Type"]; readonly accounts: AccountStore["Type"] }
>() {}

const both = Layer.effect(WebhookStores, Effect.all({ webhooks: WebhookStore, accounts: AccountStore }))

/** Both in memory, and on a database. */
export const layers = {
  memory: both.pipe(Layer.provide(WebhookStoreMemory.layer), Layer.provide(AccountStoreMemory.layer)),
  sql: both.pipe(Layer.provide([WebhookStoreSql.layer, AccountStoreSql.layer]))
}

/** Opens stores in which there are the users `usr_a` and `usr_b`: gives a client, as often as it is run. */
export const withUsers = (
  open: Open<WebhookStores["Type"]>
): Effect.Effect<Effect.Effect<WebhookStores["Type"], never, Scope.Scope>, never, Scope.Scope> =>
  Effect.tap(open, (client) =>
    Effect.flatMap(client, ({ accounts }) =>
      Effect.forEach(["usr_a", "usr_b"], (id) => Effect.orDie(accounts.addUser(userOf(id))))
    )
  )
