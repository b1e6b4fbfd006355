import { Effect, Redacted, Struct } from "effect"
import type { Accounts } from "../../accounts/Accounts.ts"
import type { KnownCaller } from "../../accounts/Access.ts"
import type { Standing } from "../../accounts/Meter.ts"
import { isReserved, type Reservation } from "../../accounts/Reservations.ts"
import type { RateLimiter } from "../../accounts/RateLimiter.ts"
import type { Sessions } from "../../accounts/Sessions.ts"
import type { AccountStore, Session } from "../../storage/accounts/AccountStore.ts"
import type { SimOptions } from "../cli/Options.ts"
import type { World } from "../world/World.ts"
import { length_ms, QuotaStore } from "../../storage/accounts/QuotaStore.ts"
import * as QuotaStoreMemory from "../stores/QuotaStoreMemory.ts"
import { ms_us, s_us } from "../world/Time.ts"
import { type Mutant, withFaults } from "./Mutant.ts"

type Limiter = typeof RateLimiter.Service

/** Users whose links have quotas of a day, which ends in the middle of the run. */
const daily: Mutant["options"] = (options) => ({
  ...withFaults({}, { withAccount: 0.8, created: 0.15, deleted: 0 })(options),
  redirectsPerDay: 2_000
})

const refusal: Standing = { isAllowed: false, limit: 30, remaining: 0, retryIn_ms: 1_000, resetIn_ms: 1_000 }

const isRedirect = (limits: Parameters<Limiter["takeAll"]>[0]) =>
  limits[0]?.id.startsWith("redirect:") === true

/** Clients who are users, with quotas that they use up. */
const known = (options: SimOptions): SimOptions => ({
  ...options,
  createsPerMinute: 6,
  workload: { ...options.workload, withAccount: 0.6, created: 0.6 }
})

/** The same, and receivers that now and then do not answer. */
const unheard: Mutant["options"] = (options) =>
  known(withFaults({ webhookCalls: { refused: 0.2, lost: 0, ignored: 0 } })(options))

/** The same in a run in which nothing fails. */
const undisturbed: Mutant["options"] = (options) => known(withFaults({})(options))

/** What the database does with users. */
const accountsWith =
  (mutate: (accounts: Store) => Partial<Store>): Mutant["make"] =>
  () => ({ users: (accounts) => ({ ...accounts, ...mutate(accounts) }) })

const limiting =
  (mutate: (limiter: Limiter) => Partial<Limiter>): Mutant["make"] =>
  () => ({ limiter: (limiter) => ({ ...limiter, ...mutate(limiter) }) })

/** Who has shown an API key. */
const calling =
  (mutate: (caller: KnownCaller) => KnownCaller): Mutant["make"] =>
  () => ({
    accounts: (accounts) => ({
      ...accounts,
      ofKeyNow: () => undefined,
      ofKey: (secret) => Effect.map(accounts.ofKey(secret), (caller) => caller && mutate(caller))
    })
  })

/** What is told of quotas that were taken. */
const standing = (mutate: (standing: Standing) => Standing): Mutant["make"] =>
  limiting((limiter) => ({
    takeAllNow: () => undefined,
    takeAll: (limits) => Effect.map(limiter.takeAll(limits), (one) => one && mutate(one))
  }))

/** Believes for so long what was said of a secret. */
const remembering = (world: World, for_us: number, ask: (typeof Accounts.Service)["ofKey"]): typeof ask => {
  const known = new Map<string, { readonly at_us: number; readonly caller: KnownCaller }>()
  return (secret) =>
    Effect.suspend(() => {
      const name = Redacted.value(secret)
      const found = known.get(name)
      if (found !== undefined && world.now_us - found.at_us < for_us) return Effect.succeed(found.caller)
      return Effect.tap(ask(secret), (caller) => {
        if (caller !== null) known.set(name, { at_us: world.now_us, caller })
      })
    })
}

/** A node believes for so long what its cache, or the database, has said of an API key. */
const believing =
  (for_us: number): Mutant["make"] =>
  () => ({
    accounts: (accounts, { world }) => ({
      ...accounts,
      ofKeyNow: () => undefined,
      ofKey: remembering(world, for_us, accounts.ofKey)
    })
  })

/** The same, in browsers. */
const signedIn: Mutant["options"] = (options) => {
  const { workload, ...more } = known(options)
  return { ...more, workload: { ...workload, signedIn: 0.5 } }
}

const sessionsWith =
  (mutate: (sessions: typeof Sessions.Service) => Partial<typeof Sessions.Service>): Mutant["make"] =>
  () => ({ sessions: (sessions) => ({ ...sessions, ...mutate(sessions) }) })

/** Clients on other machines who ask for what there is not, and now and then for what there is. */
const guessing: Mutant["options"] = (options) => ({
  ...known(withFaults({}, { guessed: 0.5 })(options)),
  failedLookupsPerMinute: 30
})

/** Has look-ups end in another way than they should. */
const ending =
  (mutate: (reserved: Reservation) => Partial<Reservation>): Mutant["make"] =>
  () => ({
    quotasOf: (quotas) => {
      const mutated = (found: Reservation | Standing) =>
        isReserved(found) ? { ...found, ...mutate(found) } : found
      return {
        ...quotas,
        lookUpNow: (client) => {
          const found = quotas.lookUpNow(client)
          return found && mutated(found)
        },
        lookUp: (client) => Effect.map(quotas.lookUp(client), mutated)
      }
    }
  })

type Store = typeof AccountStore.Service

/** Has the database know some sessions longer than it should: those that are `kept`. */
const keeping =
  (mutate: (accounts: Store, kept: Map<string, Session>) => Partial<Store>): Mutant["make"] =>
  () => ({
    users: (accounts) => {
      const kept = new Map<string, Session>()
      return {
        ...accounts,
        sessionByToken: (tokenHash) => {
          const session = kept.get(tokenHash)
          return session === undefined
            ? accounts.sessionByToken(tokenHash)
            : Effect.map(accounts.userById(session.userId), (user) => user && { session, user })
        },
        endSession: (tokenHash) =>
          Effect.map(accounts.endSession(tokenHash), (user) => {
            const session = kept.get(tokenHash)
            kept.delete(tokenHash)
            return user ?? session?.userId ?? null
          }),
        ...mutate(accounts, kept)
      }
    }
  })

/** What can be broken about users: their quotas, their API keys, their sessions, and what their webhooks are told. */
export const users: ReadonlyArray<Mutant> = [
  {
    name: "quota-counted-twice",
    text: "Each create is taken from its quotas twice.",
    promise: "quotas",
    checker: "quotas",
    options: known,
    make: limiting((limiter) => ({
      takeAllNow: () => undefined,
      takeAll: (limits) => Effect.zipRight(limiter.takeAll(limits), limiter.takeAll(limits))
    }))
  },
  {
    name: "quota-not-taken",
    text: "Creates are not taken from quotas.",
    promise: "quotas",
    checker: "quotas",
    options: known,
    make: limiting(() => ({ takeAllNow: () => null, takeAll: () => Effect.succeed(null) }))
  },
  {
    name: "redirect-not-taken",
    text: "Redirects are not taken from quotas.",
    promise: "quotas",
    checker: "quotas",
    options: daily,
    make: limiting((limiter) => ({
      takeAllNow: (limits) => (isRedirect(limits) ? null : limiter.takeAllNow(limits)),
      takeAll: (limits) => (isRedirect(limits) ? Effect.succeed(null) : limiter.takeAll(limits))
    }))
  },
  {
    name: "lease-outlives-its-day",
    text: "What a node has been granted of a day is good for a day more.",
    promise: "quotas",
    checker: "quotas",
    options: daily,
    make: () => ({
      quotas: (store) => ({
        ...store,
        leaseMany: (asks) =>
          Effect.map(store.leaseMany(asks), (leases) =>
            leases.map((lease) => ({ ...lease, resetIn_ms: lease.resetIn_ms + length_ms.day }))
          )
      })
    })
  },
  {
    name: "quota-granted-in-part",
    text: "The store grants a node one of what it asks for at a time, whatever is left.",
    promise: "quotas",
    checker: "quotas",
    options: undisturbed,
    make: () => ({
      quotaTables: (quotas) => ({
        ...quotas,
        leaseMany: (asks) =>
          Effect.map(quotas.leaseMany(asks), (leases) =>
            leases.map((lease) => ({ ...lease, granted: Math.min(1, lease.granted) }))
          )
      })
    })
  },
  {
    name: "quota-of-each-node",
    text: "Each node has a quota of its own.",
    promise: "quotas",
    checker: "quotas",
    options: known,
    make: () => ({ quotas: () => Effect.runSync(QuotaStoreMemory.make) })
  },
  {
    name: "quota-not-given-back",
    text: "What was taken from the first of two quotas is not given back when the second refuses.",
    promise: "quotas",
    checker: "quotas",
    options: undisturbed,
    make: limiting((limiter) => ({
      takeAllNow: () => undefined,
      takeAll: (limits) =>
        Effect.reduce(
          limits,
          null as Effect.Effect.Success<ReturnType<Limiter["takeAll"]>>,
          (before, limit) => (before?.isAllowed === false ? Effect.succeed(before) : limiter.takeAll([limit]))
        )
    }))
  },
  {
    name: "quota-refuses-early",
    text: "Every tenth create is refused whatever is left.",
    promise: "quotas",
    checker: "quotas",
    options: known,
    make: () => {
      let count = 0
      return standing((one) => (++count % 10 === 0 ? { ...one, isAllowed: false } : one))()
    }
  },
  {
    name: "waits-in-thousandths",
    text: "Clients are told in thousandths of a second when they may ask again.",
    promise: "quotas",
    checker: "limits told",
    options: known,
    make: standing((one) => ({
      ...one,
      retryIn_ms: 1_000 * one.retryIn_ms,
      resetIn_ms: 1_000 * one.resetIn_ms
    }))
  },
  {
    name: "quota-store-grants-too-much",
    text: "The store grants one more than is left.",
    promise: "quotas",
    checker: "quotas",
    options: known,
    make: () => ({
      quotas: (store) =>
        QuotaStore.of({
          ...store,
          leaseMany: (asks) =>
            Effect.map(store.leaseMany(asks), (leases) =>
              leases.map((lease) => ({ ...lease, granted: lease.granted + 1 }))
            )
        })
    })
  },
  {
    name: "failed-look-up-not-counted",
    text: "A look-up that led nowhere is given back.",
    promise: "quotas",
    checker: "failed look-ups",
    options: guessing,
    make: ending(({ giveBack }) => ({ keep: giveBack }))
  },
  {
    name: "look-up-of-a-link-counted",
    text: "A look-up that found a link counts as one that led nowhere.",
    promise: "quotas",
    checker: "failed look-ups",
    options: guessing,
    make: ending(({ keep }) => ({ giveBack: keep }))
  },
  {
    name: "look-up-stays-reserved",
    text: "A look-up that found a link stays reserved.",
    promise: "quotas",
    checker: "failed look-ups",
    options: guessing,
    make: ending(() => ({ giveBack: () => {} }))
  },
  {
    name: "look-up-refused-now-and-then",
    text: "Every twentieth time a client asks, its look-ups count as used up.",
    promise: "quotas",
    checker: "quotas",
    options: guessing,
    make: limiting((limiter) => {
      let times = 0
      return { usedUp: (limits) => limiter.usedUp(limits) ?? (++times % 20 === 0 ? refusal : undefined) }
    })
  },
  {
    name: "key-cached-for-long",
    text: "A node believes for 6 s what it knows of an API key.",
    promise: "accounts",
    checker: "revocation",
    options: known,
    make: believing(6 * s_us)
  },
  {
    name: "key-cached-twice",
    text: "A node believes for 0.75 s more what its cache says of an API key, however late the database answered.",
    promise: "accounts",
    checker: "revocation",
    options: (options) => ({
      ...known(withFaults({ slowCalls: { probability: 0.2, most_ms: 3_000 } }, { followed: 1 })(options)),
      databases: 1
    }),
    make: believing(750 * ms_us)
  },
  {
    name: "key-refused-now-and-then",
    text: "Every twentieth time a valid API key is refused.",
    promise: "accounts",
    checker: "revocation",
    options: known,
    make: () => ({
      accounts: (accounts) => {
        let count = 0
        return {
          ...accounts,
          ofKeyNow: () => undefined,
          ofKey: (secret) => (++count % 20 === 0 ? Effect.succeed(null) : accounts.ofKey(secret))
        }
      }
    })
  },
  {
    name: "key-of-a-disabled-user",
    text: "An API key that was found once is found as well when its user is disabled.",
    promise: "accounts",
    checker: "revocation",
    options: signedIn,
    make: () => ({
      users: (accounts) => {
        const found = new Map<string, Effect.Effect.Success<ReturnType<Store["keyBySecret"]>>>()
        return {
          ...accounts,
          keyBySecret: (hash) =>
            Effect.flatMap(accounts.keyBySecret(hash), (key) => {
              if (key !== null) found.set(hash, key)
              const last = found.get(hash) ?? null
              if (key !== null || last === null) return Effect.succeed(key)
              return Effect.map(accounts.userById(last.user.id), (user) =>
                user !== null && user.disabledAt !== null ? last : null
              )
            })
        }
      }
    })
  },
  {
    name: "session-of-a-disabled-user",
    text: "A disabled user can sign in.",
    promise: "accounts",
    checker: "sessions of users",
    options: signedIn,
    make: keeping((accounts, kept) => ({
      addSession: (session, passwordHash, max) =>
        Effect.zipWith(
          accounts.addSession(session, passwordHash, max),
          accounts.userById(session.userId),
          (isBegun, user) => {
            if (isBegun || user?.passwordHash !== passwordHash) return isBegun
            kept.set(session.tokenHash, session)
            return true
          }
        )
    }))
  },
  {
    name: "session-outlives-its-password",
    text: "Sessions go on when their user's password is changed.",
    promise: "accounts",
    checker: "sessions of users",
    options: signedIn,
    make: keeping((accounts, kept) => ({
      setPassword: (id, change) =>
        Effect.zipRight(
          Effect.map(accounts.sessionsOf(id), (sessions) =>
            sessions.forEach((session) => kept.set(session.tokenHash, session))
          ),
          accounts.setPassword(id, change)
        )
    }))
  },
  {
    name: "session-cached-for-long",
    text: "A node believes for 6 s what it knows of a session.",
    promise: "accounts",
    checker: "sessions of users",
    options: signedIn,
    make: () => ({
      sessions: (sessions, { world }) => ({ ...sessions, of: remembering(world, 6 * s_us, sessions.of) })
    })
  },
  {
    name: "links-of-a-removed-user-left",
    text: "The links of a user who is removed with them stay.",
    promise: "accounts",
    checker: "removals",
    options: signedIn,
    make: () => ({
      database: ({ ownersGone }) => ({ ownersGone: { ...ownersGone, ask: () => Effect.void } })
    })
  },
  {
    name: "removal-in-several-transactions",
    text: "A user is removed in one transaction, and the end of their links is asked for in another.",
    promise: "accounts",
    checker: "removals",
    options: (options) =>
      withFaults({ databaseCalls: { refused: 0.1, lost: 0.1, ignored: 0.1 } }, {})(signedIn(options)),
    make: () => ({
      audit: (log) => ({
        ...log,
        recording: (act, eventsOf) =>
          Effect.tap(act, (done) => Effect.forEach(eventsOf(done), log.record, { discard: true }))
      })
    })
  },
  {
    name: "links-of-others-removed",
    text: "With the links of a user who is removed a link of somebody else is deleted.",
    promise: "accounts",
    checker: "removals",
    options: signedIn,
    make: () => ({
      database: ({ ownersGone }, { ended, rows }) => ({
        ownersGone: {
          ...ownersGone,
          remove: (count) =>
            Effect.map(ownersGone.remove(count), (keys) => {
              const other = Array.from(rows.values()).find(
                (link) => link.owner === null && link.deletedAt === null
              )
              if (keys.length === 0 || other === undefined) return keys
              rows.set(other.key, { ...other, deletedAt: other.createdAt })
              ended.set(other.key, other.createdAt)
              return [...keys, other.key]
            })
        }
      })
    })
  },
  {
    name: "sign-out-forgotten",
    text: "A session goes on when its user signs out.",
    promise: "accounts",
    checker: "sessions of users",
    options: signedIn,
    make: sessionsWith(() => ({ end: () => Effect.void }))
  },
  {
    name: "other-sessions-go-on",
    text: "Sessions go on when their user ends all others.",
    promise: "accounts",
    checker: "sessions of users",
    options: signedIn,
    make: sessionsWith(() => ({ endOthers: () => Effect.void }))
  },
  {
    name: "own-session-ends-with-the-others",
    text: "Who ends all other sessions ends the own one as well.",
    promise: "accounts",
    checker: "sessions of users",
    options: signedIn,
    make: sessionsWith((sessions) => ({
      endOthers: (userId, _, doer) => sessions.endOthers(userId, null, doer)
    }))
  },
  {
    name: "sessions-listed-without-the-oldest",
    text: "A list of a user's sessions is without the oldest one.",
    promise: "accounts",
    checker: "sessions of users",
    options: signedIn,
    make: sessionsWith((sessions) => ({
      list: (userId) => Effect.map(sessions.list(userId), (all) => (all.length > 2 ? all.slice(0, -1) : all))
    }))
  },
  {
    name: "last-administrator-ends",
    text: "Who is not disabled by a change can lose the role by it, also the last administrator.",
    promise: "accounts",
    checker: "last administrator",
    options: signedIn,
    make: accountsWith((accounts) => ({
      changeUser: (id, change, at) =>
        change.isDisabled === false && change.isAdmin === false
          ? Effect.map(accounts.userById(id), (user) =>
              user === null ? "nobody" : { before: user, after: { ...user, isAdmin: false } }
            )
          : accounts.changeUser(id, change, at)
    }))
  },
  {
    name: "disabled-administrators-count",
    text: "The last administrator who is not disabled can be, and can lose the role, as another one is there who is disabled.",
    promise: "accounts",
    checker: "last administrator",
    options: signedIn,
    make: accountsWith((accounts) => ({
      changeUser: (id, change, at) =>
        Effect.gen(function* () {
          const done = yield* accounts.changeUser(id, change, at)
          const all = yield* accounts.listUsers({ limit: 100 })
          const before = all.find((user) => user.id === id)
          if (done !== "last-administrator" || before === undefined) return done
          return all.some((user) => user.isAdmin && user.id !== id) ? { before, after: before } : done
        })
    }))
  },
  {
    name: "newest-of-too-many-sessions-ends",
    text: "Where a user has as many sessions as there may be, the newest ends for another one, and not the oldest.",
    promise: "accounts",
    checker: "sessions of users",
    options: signedIn,
    make: accountsWith((accounts) => ({
      addSession: (session, passwordHash, max) =>
        Effect.flatMap(accounts.sessionsOf(session.userId), (all) =>
          Effect.zipRight(
            Effect.when(accounts.endSession(all[0]?.tokenHash ?? ""), () => all.length >= max),
            accounts.addSession(session, passwordHash, max)
          )
        )
    }))
  },
  {
    name: "newest-of-too-many-sessions-ends-over-sql",
    text: "The database ends the newest sessions of a user who has too many.",
    promise: "accounts",
    checker: "stores",
    options: (options) => ({ ...signedIn!(options), databases: 1, compared: true }),
    make: () => ({
      statement: (sql) =>
        sql.replace("ORDER BY created_at DESC, token_hash LIMIT", "ORDER BY created_at, token_hash LIMIT")
    })
  },
  {
    name: "addresses-by-their-case",
    text: "An address in capitals is another one.",
    promise: "accounts",
    checker: "directory of users",
    options: signedIn,
    make: accountsWith((accounts) => ({
      addUser: (user) =>
        accounts.addUser({ ...user, email: `${user.email}${/[A-Z]/.test(user.email) ? "x" : ""}` })
    }))
  },
  {
    name: "newest-user-unlisted",
    text: "A page of the list of users begins behind its first one.",
    promise: "accounts",
    checker: "directory of users",
    options: signedIn,
    make: accountsWith((accounts) => ({
      listUsers: (asked) =>
        Effect.map(accounts.listUsers(asked), (users) => users.slice(asked.after === undefined ? 0 : 1))
    }))
  },
  {
    name: "password-replaces-any",
    text: "Who changes a password replaces the one that somebody has set meanwhile.",
    promise: "accounts",
    checker: "sessions of users",
    options: signedIn,
    make: accountsWith((accounts) => ({
      setPassword: (id, change) => accounts.setPassword(id, Struct.omit(change, "replaces"))
    }))
  },
  {
    name: "temporary-password-kept",
    text: "Who has a password that an administrator gave may go on with it.",
    promise: "accounts",
    checker: "sessions of users",
    options: signedIn,
    make: accountsWith((accounts) => ({
      setPassword: (id, change) => accounts.setPassword(id, { ...change, passwordIsTemporary: false })
    }))
  },
  {
    name: "key-that-may-only-read-creates",
    text: "An API key allows what its user may do, whatever its scopes.",
    promise: "accounts",
    checker: "permissions",
    options: signedIn,
    make: calling((caller) => ({ ...caller, scopes: new Set(["links:read", "links:write"]) }))
  },
  {
    name: "key-manages-all-links",
    text: "An API key that may write changes and deletes the links of all users.",
    promise: "accounts",
    checker: "permissions",
    options: signedIn,
    make: calling((caller) => ({ ...caller, isAdmin: true }))
  },
  {
    name: "administrator-for-ever",
    text: "An API key that was made by an administrator may do what one may, though its user is none any more.",
    promise: "accounts",
    checker: "permissions",
    options: signedIn,
    make: accountsWith((accounts) => ({
      keyBySecret: (hash) =>
        Effect.map(
          accounts.keyBySecret(hash),
          (found) => found && { ...found, user: { ...found.user, isAdmin: true } }
        )
    }))
  },
  {
    name: "password-said-to-be-temporary",
    text: "Users are told that they must choose another password when they need not, and that they need not when they must.",
    promise: "accounts",
    checker: "own accounts",
    options: signedIn,
    make: () => ({
      accounts: (accounts) => ({
        ...accounts,
        user: (id) =>
          Effect.map(
            accounts.user(id),
            (user) => user && { ...user, passwordIsTemporary: !user.passwordIsTemporary }
          )
      })
    })
  },
  {
    name: "key-without-its-expiry",
    text: "An API key is accepted after the moment at which it should end.",
    promise: "accounts",
    checker: "revocation",
    options: signedIn,
    make: accountsWith((accounts) => ({
      addKey: (key, max) => accounts.addKey({ ...key, expiresAt: null }, max)
    }))
  },
  {
    name: "session-refused-now-and-then",
    text: "Every twentieth time a session that has not ended is refused.",
    promise: "accounts",
    checker: "sessions of users",
    options: signedIn,
    make: () => ({
      sessions: (sessions) => {
        let count = 0
        return {
          ...sessions,
          of: (token) => (++count % 20 === 0 ? Effect.succeed(null) : sessions.of(token))
        }
      }
    })
  },
  {
    name: "event-outside-the-transaction",
    text: "An event is queued after the transaction of its link, which now and then is not done any more.",
    promise: "webhooks",
    checker: "webhook events",
    options: known,
    make: () => {
      let changes = 0
      return {
        outbox: (outbox, { store }) => ({
          ...outbox,
          insertMany: (links) => (++changes % 10 === 0 ? store.insertMany(links) : outbox.insertMany(links))
        })
      }
    }
  },
  {
    name: "delivered-before-it-is-sent",
    text: "A message is taken from the queue when it is claimed.",
    promise: "webhooks",
    checker: "webhook events",
    options: unheard,
    make: () => ({
      webhooks: (store) => ({
        ...store,
        claim: (wanted) =>
          Effect.tap(store.claim(wanted), (deliveries) =>
            Effect.forEach(deliveries, store.delivered, { discard: true })
          )
      })
    })
  },
  {
    name: "failed-is-delivered",
    text: "A message whose receiver did not answer is taken for delivered.",
    promise: "webhooks",
    checker: "webhook events",
    options: unheard,
    make: () => ({
      webhooks: (store) => ({ ...store, failed: (delivery) => store.delivered(delivery) })
    })
  },
  {
    name: "delivery-not-said",
    text: "A message that was delivered stays in the queue.",
    promise: "webhooks",
    checker: "webhook events",
    options: undisturbed,
    make: () => ({ webhooks: (store) => ({ ...store, delivered: () => Effect.void }) })
  },
  {
    name: "webhook-retried-at-once",
    text: "A message that failed is sent again as soon as its webhook is not paused.",
    promise: "webhooks",
    checker: "webhook events",
    options: unheard,
    make: () => ({
      webhooks: (store) => ({
        ...store,
        failed: (delivery, failure) =>
          store.failed(delivery, { ...failure, retryIn_ms: failure.retryIn_ms === null ? null : 0 })
      })
    })
  },
  {
    name: "delivery-ends",
    text: "A node that has run for 20 s delivers nothing any more.",
    promise: "webhooks",
    checker: "webhook events",
    options: undisturbed,
    make: () => ({
      webhooks: (store, { world }) => {
        const started_us = world.now_us
        return {
          ...store,
          claim: (wanted) =>
            Effect.suspend(() =>
              world.now_us - started_us > 20_000 * ms_us ? Effect.succeed([]) : store.claim(wanted)
            )
        }
      }
    })
  }
]
