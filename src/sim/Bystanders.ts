import { NodeHttpServer } from "@effect/platform-node"
import { Context, Effect, Layer, Option } from "effect"
import { Accounts } from "../accounts/Accounts.ts"
import * as Quotas from "../accounts/Quotas.ts"
import { RateLimiter } from "../accounts/RateLimiter.ts"
import { AdminKey } from "../Deployment.ts"
import { Passwords } from "../Passwords.ts"
import * as Secret from "../Secret.ts"
import { WebhookListeners } from "../storage/WebhookListeners.ts"
import { WebhookStore } from "../storage/WebhookStore.ts"
import { passwords } from "./PasswordsVirtual.ts"

/** The administrator's API key of every simulated deployment. */
export const adminKey = "lm_the-administrator-of-simulations"

/** A service of which no simulated client makes use. */
const unasked = <S extends object>(name: string): S =>
  new Proxy<S>({} as S, {
    get: (_, method) => () => Effect.dieMessage(`${name}.${String(method)} is not simulated`)
  })

/** Without a limit nothing is counted. */
const quotas = Effect.runSync(
  Effect.provideService(Quotas.make(Quotas.unlimited), RateLimiter, {
    ...unasked<typeof RateLimiter.Service>("RateLimiter"),
    takeAll: () => Effect.succeed(null),
    tryTakeAll: () => null
  })
)

/**
 * Services that keep nothing of a node, because clients are anonymous or the administrator and nobody has a webhook: the same ones serve all nodes of
 * all worlds, so that a node's start need not make them.
 */
export const bystanders = Context.mergeAll(
  Effect.runSync(Effect.scoped(Layer.build(NodeHttpServer.layerContext))),
  Context.make(Accounts, unasked<typeof Accounts.Service>("Accounts")),
  Context.make(AdminKey, { digest: Secret.digest(adminKey), drawn: Option.none() }),
  Context.make(Passwords, passwords),
  Context.make(Quotas.Quotas, quotas),
  Context.make(WebhookListeners, { has: () => false, refresh: Effect.void }),
  Context.make(WebhookStore, unasked<typeof WebhookStore.Service>("WebhookStore"))
)
