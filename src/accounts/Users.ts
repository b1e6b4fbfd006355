import { Clock, Context, Effect, Layer } from "effect"
import type { AuditAction, Doer } from "../model/Audit.ts"
import {
  AccountStore,
  type User,
  type UserChange,
  type UserKept,
  type UserQuery
} from "../storage/accounts/AccountStore.ts"
import type { AuditLog } from "../storage/accounts/AuditLog.ts"
import { LinkRemovals, removedAtOnce } from "../storage/links/LinkRemovals.ts"
import type { StorageError } from "../storage/StorageError.ts"
import { WebhookStore } from "../storage/webhooks/WebhookStore.ts"
import { adminId } from "./Access.ts"
import * as AuditRecorder from "./AuditRecorder.ts"

/** Why an account cannot be removed: see `UserKept`; `deployment`: it is the deployment's administrator, who would be added again at the next start. */
export type NotRemoved = UserKept | "deployment"

/** What happens to the links of a user who is removed: they go on redirecting, or they are deleted. */
export const linkFates = ["keep", "delete"] as const
/** See {@link linkFates}. */
export type LinkFate = (typeof linkFates)[number]

/**
 * What administrators do to accounts, and users to their own.
 *
 * A disabled user's sessions end; their API keys work on no node a second later, and their webhooks receive nothing. Removing a user removes them all. The links of a removed user
 * redirect as before and belong to the administrators, or are deleted, as the caller chooses. The audit log records everything that is done here.
 */
export class Users extends Context.Tag("linkmint/Users")<
  Users,
  {
    readonly list: (query: UserQuery) => Effect.Effect<ReadonlyArray<User>, StorageError>
    /** Changes an account, and gives it as it is afterwards. */
    readonly change: (
      id: string,
      change: UserChange,
      doer: Doer
    ) => Effect.Effect<User | UserKept, StorageError>
    /** Removes an account. Of links that are to be deleted, it usually deletes the first `removedAtOnce` at once; `LinkRemoval` deletes the others. */
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
  const recording = yield* AuditRecorder.make
  const removals = yield* LinkRemovals

  return Users.of({
    list: store.listUsers,

    change: Effect.fn("Users.change")(function* (id, change, doer) {
      const at = yield* Clock.currentTimeMillis
      const changed = yield* recording(doer, store.changeUser(id, change, at), (changed) =>
        typeof changed === "string"
          ? []
          : actionsOf(changed.before, changed.after).map((action) => [action, id, id])
      )
      return typeof changed === "string" ? changed : changed.after
    }),

    remove: Effect.fn("Users.remove")(function* (id, links, doer) {
      if (id === adminId) return "deployment"
      const deletes = links === "delete"
      const removing = Effect.tap(store.removeUser(id), (removed) =>
        removed === "removed"
          ? Effect.zipRight(webhooks.removeAllOf(id), deletes ? removals.ask(id) : Effect.void)
          : Effect.void
      )
      const removed = yield* recording(doer, removing, (removed): ReadonlyArray<AuditRecorder.Done> => {
        if (removed !== "removed") return []
        return [["user.deleted", id, id], ...(deletes ? [["links.deleted", id, id] as const] : [])]
      })
      // If this fails, `LinkRemoval` deletes these too.
      if (removed === "removed" && deletes) yield* Effect.ignoreLogged(removals.remove(removedAtOnce))
      return removed
    })
  })
})

/** See {@link make}. */
export const layer: Layer.Layer<Users, never, AccountStore | AuditLog | LinkRemovals | WebhookStore> =
  Layer.effect(Users, make)
