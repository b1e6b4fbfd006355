import { Clock, Context, Effect, Layer } from "effect"
import type { AuditAction, AuditEvent, Doer } from "../model/Audit.ts"
import {
  AccountStore,
  type User,
  type UserChange,
  type UserKept,
  type UserQuery
} from "../storage/accounts/AccountStore.ts"
import { AuditLog } from "../storage/accounts/AuditLog.ts"
import { LinkRemovals, removedAtOnce } from "../storage/links/LinkRemovals.ts"
import type { StorageError } from "../storage/StorageError.ts"
import { WebhookStore } from "../storage/webhooks/WebhookStore.ts"
import { adminId } from "./Access.ts"

/** Why an account cannot be removed: see `UserKept`; `deployment`: it is the deployment's own, which would come back at the next start. */
export type NotRemoved = UserKept | "deployment"

/** What becomes of a user's links with the account: they go on redirecting, or they are deleted. */
export const linkFates = ["keep", "delete"] as const
/** See {@link linkFates}. */
export type LinkFate = (typeof linkFates)[number]

/**
 * What administrators do to accounts, and users to their own.
 *
 * Who is disabled has no sessions any more; API keys work on no node a second later, and webhooks are sent nothing. Who is removed has none of them. Links of a user who is gone
 * redirect as before, and are the administrators' alone, or are deleted, as who removes the account says. The audit log has everything that is done here.
 */
export class Users extends Context.Tag("linkmint/Users")<
  Users,
  {
    readonly list: (query: UserQuery) => Effect.Effect<ReadonlyArray<User>, StorageError>
    /** Changes an account: gives it as it is then. */
    readonly change: (
      id: string,
      change: UserChange,
      doer: Doer
    ) => Effect.Effect<User | UserKept, StorageError>
    /** Removes an account. Of links that are to be deleted the first `removedAtOnce` are by then, as a rule; `LinkRemoval` deletes the others. */
    readonly remove: (
      id: string,
      links: LinkFate,
      doer: Doer
    ) => Effect.Effect<"removed" | NotRemoved, StorageError>
  }
>() {}

/** What was done, by how an account was and is. */
const actionsOf = (before: User, after: User): ReadonlyArray<AuditAction> => {
  const wasDisabled = before.disabledAt !== null
  const isDisabled = after.disabledAt !== null
  return [
    ...(wasDisabled === isDisabled
      ? []
      : [isDisabled ? ("user.disabled" as const) : ("user.enabled" as const)]),
    ...(before.isAdmin === after.isAdmin
      ? []
      : [after.isAdmin ? ("admin.granted" as const) : ("admin.withdrawn" as const)])
  ]
}

/** See {@link Users}. */
export const make = Effect.gen(function* () {
  const store = yield* AccountStore
  const webhooks = yield* WebhookStore
  const log = yield* AuditLog
  const removals = yield* LinkRemovals

  const eventOf = (doer: Doer, id: string, action: AuditAction, at: number): AuditEvent => ({
    doer,
    action,
    target: id,
    owner: id,
    at
  })

  return Users.of({
    list: store.listUsers,

    change: Effect.fn("Users.change")(function* (id, change, doer) {
      const at = yield* Clock.currentTimeMillis
      const changed = yield* log.recording(store.changeUser(id, change, at), (changed) =>
        typeof changed === "string"
          ? []
          : actionsOf(changed.before, changed.after).map((action) => eventOf(doer, id, action, at))
      )
      return typeof changed === "string" ? changed : changed.after
    }),

    remove: Effect.fn("Users.remove")(function* (id, links, doer) {
      if (id === adminId) return "deployment"
      const at = yield* Clock.currentTimeMillis
      const deletes = links === "delete"
      const removing = Effect.tap(store.removeUser(id), (removed) =>
        removed === "removed"
          ? Effect.zipRight(webhooks.removeAllOf(id), deletes ? removals.ask(id) : Effect.void)
          : Effect.void
      )
      const removed = yield* log.recording(removing, (removed) =>
        removed === "removed"
          ? [
              eventOf(doer, id, "user.deleted", at),
              ...(deletes ? [eventOf(doer, id, "links.deleted", at)] : [])
            ]
          : []
      )
      // Where that fails, it is done later like what is left.
      if (removed === "removed" && deletes) yield* Effect.ignoreLogged(removals.remove(removedAtOnce))
      return removed
    })
  })
})

/** See {@link make}. */
export const layer: Layer.Layer<Users, never, AccountStore | AuditLog | LinkRemovals | WebhookStore> =
  Layer.effect(Users, make)
