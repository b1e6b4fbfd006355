import { Context, Effect, Layer, Option, Redacted } from "effect"
import * as Accounts from "../../accounts/Accounts.ts"
import * as Quotas from "../../accounts/Quotas.ts"
import { RateLimiter } from "../../accounts/RateLimiter.ts"
import { uncounted } from "../../accounts/Reservations.ts"
import { Sessions } from "../../accounts/Sessions.ts"
import { AdminKey } from "../../accounts/AdminKey.ts"
import * as KeyedHash from "../../secrets/KeyedHash.ts"
import { CommonPasswords } from "../../accounts/PasswordPolicy.ts"
import { Passwords } from "../../accounts/Passwords.ts"
import * as Secret from "../../secrets/Secret.ts"
import { AccountStore } from "../../storage/accounts/AccountStore.ts"
import { AuditLog } from "../../storage/accounts/AuditLog.ts"
import { WebhookListeners } from "../../storage/webhooks/WebhookListeners.ts"
import { WebhookStore } from "../../storage/webhooks/WebhookStore.ts"
import * as Visitors from "./Visitors.ts"

/** The administrator's API key of every simulated deployment. */
export const adminKey = "lm_the-administrator-of-simulations"

/** The headers of a request with a body of JSON by that key. */
export const adminHeaders = { "x-api-key": adminKey, "content-type": "application/json" } as const

/** A service of which simulated clients use nothing but `asked`. */
const unasked = <S extends object>(name: string, asked: Partial<S> = {}): S =>
  new Proxy<S>(asked as S, {
    get: (_, method) =>
      asked[method as keyof S] ?? (() => Effect.dieMessage(`${name}.${String(method)} is not simulated`))
  })

const hash = KeyedHash.make(Redacted.make("the secret of simulations"))

/** There are no limits, so it counts nothing. */
const limiter = unasked<typeof RateLimiter.Service>("RateLimiter", {
  takeAll: () => Effect.succeed(null),
  takeAllNow: () => null,
  reserve: () => Effect.succeed(uncounted)
})

/** It knows only the administrator, by the API key. */
const accounts = Accounts.layer.pipe(
  Layer.provideMerge(Layer.succeed(Sessions, unasked<typeof Sessions.Service>("Sessions"))),
  Layer.provide(Layer.succeed(AccountStore, unasked<typeof AccountStore.Service>("AccountStore"))),
  Layer.provideMerge(
    Layer.succeed(
      AuditLog,
      unasked<typeof AuditLog.Service>("AuditLog", { record: () => Effect.void, recording: (act) => act })
    )
  )
)

/**
 * Services without state, because clients are anonymous or the administrator, and nobody has a webhook. All nodes of all worlds share them, so that a
 * node's start need not create them.
 */
export const stubServices = Context.mergeAll(
  Effect.runSync(
    accounts.pipe(
      Layer.merge(Layer.provide(Quotas.layer(Quotas.unlimited), Layer.succeed(RateLimiter, limiter))),
      Layer.provideMerge(Layer.succeed(AdminKey, { digest: Secret.digest(adminKey), drawn: Option.none() })),
      Layer.provideMerge(Layer.succeed(Passwords, unasked<typeof Passwords.Service>("Passwords"))),
      Layer.build,
      Effect.scoped
    )
  ),
  // The real list is read from a file, which takes time that is not virtual.
  Context.make(CommonPasswords, Effect.succeed(Effect.succeed(() => false))),
  Context.make(KeyedHash.KeyedHash, hash),
  Context.make(WebhookListeners, { has: () => false, refresh: Effect.void, waiting: Effect.never }),
  Context.make(WebhookStore, unasked<typeof WebhookStore.Service>("WebhookStore")),
  Visitors.originsBy(hash)
)
