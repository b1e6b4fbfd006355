import { Clock, Context, Effect, Layer, Option, Redacted } from "effect"
import { Passwords, type PasswordsBusy } from "./Passwords.ts"
import * as Secret from "../secrets/Secret.ts"
import { AccountStore, newUser } from "../storage/accounts/AccountStore.ts"
import type { StorageError } from "../storage/StorageError.ts"
import { adminId } from "./Access.ts"

/** The administrator's e-mail address. */
export const adminEmail = "admin@localhost"

/** The user that `ADMIN_API_KEY` belongs to, who exists from the first start on. */
export class Administrator extends Context.Tag("linkmint/Administrator")<
  Administrator,
  {
    /** Their password, if this start drew it: to be shown once. */
    readonly drawnPassword: Option.Option<Redacted.Redacted>
  }
>() {}

/**
 * Adds the administrator's account if it is missing: with a random password where `drawsPassword`, else without one, so that nobody can sign in as administrator
 * before one is set.
 */
export const layer = (options: {
  readonly drawsPassword: boolean
}): Layer.Layer<Administrator, StorageError | PasswordsBusy, AccountStore | Passwords> =>
  Layer.effect(
    Administrator,
    Effect.gen(function* () {
      const store = yield* AccountStore
      const passwords = yield* Passwords
      if ((yield* store.userById(adminId)) !== null) return { drawnPassword: Option.none() }
      const password = Redacted.make((yield* Secret.draw(15)).toString("base64url"))
      const account = {
        id: adminId,
        email: adminEmail,
        passwordHash: options.drawsPassword ? yield* passwords.hash(password) : null,
        passwordIsTemporary: options.drawsPassword,
        isAdmin: true
      }
      const isOurs = yield* store.addUser(newUser(account, yield* Clock.currentTimeMillis))
      return { drawnPassword: isOurs && options.drawsPassword ? Option.some(password) : Option.none() }
    })
  )
