import { Clock, Context, Duration, Effect, Layer, Redacted } from "effect"
import type { Doer } from "../model/Audit.ts"
import * as Secret from "../secrets/Secret.ts"
import { AccountStore, type Session, type User } from "../storage/accounts/AccountStore.ts"
import type { AuditLog } from "../storage/accounts/AuditLog.ts"
import type { StorageError } from "../storage/StorageError.ts"
import { type KnownCaller, signedIn } from "./Access.ts"
import * as AuditRecorder from "./AuditRecorder.ts"

/** Sessions of one user at most; the oldest end. */
const sessionsMax = 20

/** How long a session lasts, however much it is used. */
export const sessionMax = Duration.days(14)

/** How old the stored last use of a session may be, so that not every request writes: this, or a tenth of the idle time after which a session ends. */
const touchEvery = Duration.minutes(5)

/** What a session is begun with, in the names of `bowser`, and where. */
export interface SessionClient {
  readonly browser: string
  readonly os: string
  /** See `Doer.client`. */
  readonly hash: string | null
}

/** A session as its user sees it. */
export interface SessionView extends Omit<Session, "tokenHash"> {
  readonly id: string
}

const tokenShape = /^[A-Za-z0-9_-]{43}$/

const hashOf = (token: Redacted.Redacted) => Secret.digest(Redacted.value(token))

/** A session's id, by which its user ends it: a part of its token's hash, which opens nothing. */
/** The id by which its user knows a session. */
export const idOf = (tokenHash: string): string => `ses_${tokenHash.slice(0, 24)}`

/**
 * Sessions of users who have signed in. A token has 256 random bits and is looked up by its SHA-256, so that neither the database nor the time of a look-up
 * reveals it. Each sign-in has its own token.
 *
 * The audit log records each session that begins, and each that its user ends.
 *
 * A session ends when its user ends it, with the password by which it began, after `sessionMax`, and when it is not used for a while.
 */
export class Sessions extends Context.Tag("linkmint/Sessions")<
  Sessions,
  {
    /** Whose session this is, which counts as a use; `null` where there is none, or it has ended. */
    readonly of: (token: Redacted.Redacted) => Effect.Effect<KnownCaller | null, StorageError>
    /** The same, which counts as no use. */
    readonly peek: (token: Redacted.Redacted) => Effect.Effect<KnownCaller | null, StorageError>
    /** Begins a session of a user who has just shown the password; `null` where that was changed meanwhile. The session that it replaces ends. */
    readonly begin: (
      user: User,
      client: SessionClient,
      replaced: Redacted.Redacted | null
    ) => Effect.Effect<Redacted.Redacted | null, StorageError>
    /** Ends a session, as its user at this client (see `Doer`). */
    readonly end: (token: Redacted.Redacted, client: string | null) => Effect.Effect<void, StorageError>
    /** A user's sessions that have not ended, the newest first. */
    readonly list: (userId: string) => Effect.Effect<ReadonlyArray<SessionView>, StorageError>
    /** Ends one of a user's sessions by its id; `false` where there is none. */
    readonly endOne: (userId: string, id: string, doer: Doer) => Effect.Effect<boolean, StorageError>
    /** Ends a user's sessions, except the one with this id. */
    readonly endOthers: (userId: string, id: string | null, doer: Doer) => Effect.Effect<void, StorageError>
  }
>() {}

const doerOf = (userId: string, client: string | null): Doer => ({
  by: "session",
  userId,
  keyId: null,
  client
})

/** See {@link Sessions}. `idle`: after how long without use a session ends. */
export const make = (options: { readonly idle: Duration.Duration }) =>
  Effect.gen(function* () {
    const store = yield* AccountStore
    const recording = yield* AuditRecorder.make
    const idle_ms = Duration.toMillis(options.idle)
    const touchEvery_ms = Math.min(Duration.toMillis(touchEvery), idle_ms / 10)

    const isLive = ({ expiresAt, lastUsedAt }: Session, now: number) =>
      expiresAt > now && lastUsedAt + idle_ms > now

    const withId = (userId: string, id: string | null) =>
      Effect.map(store.sessionsOf(userId), (all) => all.find(({ tokenHash }) => idOf(tokenHash) === id))

    const endAs = (doer: Doer, tokenHash: string) =>
      recording(doer, store.endSession(tokenHash), (userId) =>
        userId === null ? [] : [["session.ended", userId, userId]]
      )

    const find = Effect.fnUntraced(function* (token: Redacted.Redacted) {
      if (!tokenShape.test(Redacted.value(token))) return null
      const now = yield* Clock.currentTimeMillis
      const found = yield* store.sessionByToken(hashOf(token))
      return found !== null && isLive(found.session, now) ? { ...found, now } : null
    })

    const callerOf = ({ session, user }: { readonly session: Session; readonly user: User }) =>
      signedIn(user.id, user.isAdmin, {
        id: idOf(session.tokenHash),
        begunAt: session.createdAt,
        hasTemporaryPassword: user.passwordIsTemporary
      })

    return Sessions.of({
      of: Effect.fn("Sessions.of")(function* (token) {
        const found = yield* find(token)
        if (found === null) return null
        const { now, session } = found
        if (now - session.lastUsedAt >= touchEvery_ms) yield* store.touchSession(session.tokenHash, now)
        return callerOf(found)
      }),

      peek: Effect.fn("Sessions.peek")(function* (token) {
        const found = yield* find(token)
        return found === null ? null : callerOf(found)
      }),

      begin: Effect.fn("Sessions.begin")(function* (user, client, replaced) {
        if (user.passwordHash === null) return null
        const token = Redacted.make((yield* Secret.draw(32)).toString("base64url"))
        const now = yield* Clock.currentTimeMillis
        const session: Session = {
          browser: client.browser,
          os: client.os,
          tokenHash: hashOf(token),
          userId: user.id,
          createdAt: now,
          expiresAt: now + Duration.toMillis(sessionMax),
          lastUsedAt: now
        }
        const begun = yield* recording(
          doerOf(user.id, client.hash),
          store.addSession(session, user.passwordHash, sessionsMax),
          (begun) => [[begun ? "session.begun" : "session.refused", user.id, user.id]]
        )
        if (!begun) return null
        if (replaced !== null) yield* store.endSession(hashOf(replaced))
        return token
      }),

      end: Effect.fn("Sessions.end")(function* (token, client) {
        const tokenHash = hashOf(token)
        const found = yield* store.sessionByToken(tokenHash)
        if (found !== null) yield* endAs(doerOf(found.user.id, client), tokenHash)
      }),

      list: Effect.fn("Sessions.list")(function* (userId) {
        const now = yield* Clock.currentTimeMillis
        const all = yield* store.sessionsOf(userId)
        return all
          .filter((session) => isLive(session, now))
          .map(({ tokenHash, ...session }) => ({ ...session, id: idOf(tokenHash) }))
      }),

      endOne: Effect.fn("Sessions.endOne")(function* (userId, id, doer) {
        const session = yield* withId(userId, id)
        return session !== undefined && (yield* endAs(doer, session.tokenHash)) !== null
      }),

      endOthers: Effect.fn("Sessions.endOthers")(function* (userId, id, doer) {
        const kept = yield* withId(userId, id)
        yield* recording(doer, store.endSessionsOf(userId, kept?.tokenHash ?? null), (ended) =>
          ended > 0 ? [["session.ended", userId, userId]] : []
        )
      })
    })
  })

/** See {@link make}. */
export const layer = (options: {
  readonly idle: Duration.Duration
}): Layer.Layer<Sessions, never, AccountStore | AuditLog> => Layer.effect(Sessions, make(options))
