import { Clock, Context, Effect, Layer } from "effect"
import type { AuditAction, AuditEvent, Doer } from "../Audit.ts"
import {
  AccountStore,
  type User,
  type UserChange,
  type UserKept,
  type UserQuery
} from "../storage/AccountStore.ts"
import { AuditLog } from "../storage/AuditLog.ts"
import type { StorageError } from "../storage/StorageError.ts"
import { WebhookStore } from "../storage/WebhookStore.ts"
import { adminId } from "./Access.ts"

/** Why an account cannot be removed: see `UserKept`; `deployment`: it is the deployment's own, which would come back at the next start. */
export type NotRemoved = UserKept | "deployment"

/**
 * What administrators do to accounts, and users to their own.
 *
 * Who is disabled has no sessions any more; API keys work on no node a second later, and webhooks are sent nothing. Who is removed has none of them. Links stay as they are, and redirect: those of
 * a user who is gone are the administrators' alone. The audit log has everything that is done here.
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
    /** Removes an account. */
    readonly remove: (id: string, doer: Doer) => Effect.Effect<"removed" | NotRemoved, StorageError>
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

    remove: Effect.fn("Users.remove")(function* (id, doer) {
      if (id === adminId) return "deployment"
      const at = yield* Clock.currentTimeMillis
      const removing = Effect.tap(store.removeUser(id), (removed) =>
        removed === "removed" ? webhooks.removeAllOf(id) : Effect.void
      )
      return yield* log.recording(removing, (removed) =>
        removed === "removed" ? [eventOf(doer, id, "user.deleted", at)] : []
      )
    })
  })
})

/** See {@link make}. */
export const layer: Layer.Layer<Users, never, AccountStore | AuditLog | WebhookStore> = Layer.effect(
  Users,
  make
)
