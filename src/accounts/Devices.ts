import { Clock, Duration, Effect, Redacted } from "effect"
import { KeyedHash } from "../secrets/KeyedHash.ts"
import * as Secret from "../secrets/Secret.ts"
import { AccountStore, type User } from "../storage/accounts/AccountStore.ts"

/** How long a device is known after its user has signed in from it. */
export const deviceMax = Duration.days(90)

/** An id, when it ends (milliseconds since the Unix epoch), and the hash of both. */
const tokenShape = /^([A-Za-z0-9_-]{16})\.(\d{1,15})\.([A-Za-z0-9_-]{43})$/

/**
 * Devices from which users have signed in, so that strangers who try a user's password from elsewhere cannot lock the user out: OWASP's "device cookies" (Slow Down Online Guessing
 * Attacks). Nothing is stored: a token is signed for one user and their present password.
 */
export const make = Effect.gen(function* () {
  const store = yield* AccountStore
  const hash = yield* KeyedHash

  const signatureOf = (user: User, id: string, endsAt: string) =>
    hash.of("device", [user.id, user.passwordHash ?? "", id, endsAt].join("\n"))

  return {
    /** Makes the token of a device from which a user has just signed in. */
    begin: (user: User): Effect.Effect<Redacted.Redacted> =>
      Effect.map(Effect.all([Secret.draw(12), Clock.currentTimeMillis]), ([drawn, now]) => {
        const id = drawn.toString("base64url")
        const endsAt = String(now + Duration.toMillis(deviceMax))
        return Redacted.make(`${id}.${endsAt}.${signatureOf(user, id, endsAt)}`)
      }),

    /** The id of a device that is known to be the user's with this e-mail address; else `null`. */
    find: Effect.fn("Devices.find")(function* (email: string, token: Redacted.Redacted | undefined) {
      const [, id, endsAt, signature] =
        tokenShape.exec(token === undefined ? "" : Redacted.value(token)) ?? []
      if (id === undefined || Number(endsAt) <= (yield* Clock.currentTimeMillis)) return null
      const user = yield* store.userByEmail(email)
      if (user === null) return null
      return Secret.isSameDigest(signature!, signatureOf(user, id, endsAt!)) ? id : null
    })
  }
})
