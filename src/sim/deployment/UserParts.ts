import { Context, Duration, Effect, Layer, type Scope } from "effect"
import type { AdminKey } from "../../accounts/AdminKey.ts"
import * as Accounts from "../../accounts/Accounts.ts"
import type { Passwords } from "../../accounts/Passwords.ts"
import * as Quotas from "../../accounts/Quotas.ts"
import type { Limit, Standing } from "../../accounts/Meter.ts"
import * as RateLimiter from "../../accounts/RateLimiter.ts"
import { isReserved, type Reservation } from "../../accounts/Reservations.ts"
import * as Sessions from "../../accounts/Sessions.ts"
import * as Users from "../../accounts/Users.ts"
import * as AccountRoutes from "../../http/accounts/AccountRoutes.ts"
import * as AuditRoutes from "../../http/accounts/AuditRoutes.ts"
import * as ApiKeyRoutes from "../../http/accounts/ApiKeyRoutes.ts"
import * as UserRoutes from "../../http/accounts/UserRoutes.ts"
import * as AuditSweep from "../../actors/AuditSweep.ts"
import { adding } from "../../node/Adding.ts"
import { KeyedHash } from "../../secrets/KeyedHash.ts"
import type { AccountStore } from "../../storage/accounts/AccountStore.ts"
import type { AuditLog } from "../../storage/accounts/AuditLog.ts"
import { QuotaStore } from "../../storage/accounts/QuotaStore.ts"
import type { LinkRemovals } from "../../storage/links/LinkRemovals.ts"
import type { WebhookStore } from "../../storage/webhooks/WebhookStore.ts"
import type { StorageError } from "../../storage/StorageError.ts"
import * as WebhookListeners from "../../storage/webhooks/WebhookListeners.ts"
import * as WebhookOutbox from "../../storage/webhooks/WebhookOutbox.ts"
import * as WebhookDelivery from "../../webhooks/WebhookDelivery.ts"
import * as VisitEvents from "../../webhooks/VisitEvents.ts"
import * as WebhookUpkeep from "../../webhooks/WebhookUpkeep.ts"
import * as WebhookMessages from "../../webhooks/WebhookMessages.ts"
import { WebhookSender } from "../../webhooks/WebhookSender.ts"
import * as WebhookRoutes from "../../http/webhooks/WebhookRoutes.ts"
import type { SimOptions } from "../cli/Options.ts"
import { hurried } from "./Hurried.ts"
import type { Journal } from "../Journal.ts"
import type { Mutation } from "../mutants/Mutation.ts"
import type { VirtualDatabase } from "../stores/VirtualDatabase.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import type { VirtualServer } from "../world/VirtualServer.ts"
import * as Receivers from "./Receivers.ts"

/** After how long without use a session ends in production: longer than a run. */
const idleMax_s = 24 * 3_600

/** How long entries of the audit log are kept, as in production. */
const auditRetention = Duration.days(365)
/** The same in milliseconds. */
export const keptFor_ms = Duration.toMillis(auditRetention)

/** How much more often than in production old messages are looked for: they are every 6 s then. */
const hurry = 100

/** What users' parts of a node stand on. */
export interface UserSurroundings {
  readonly options: SimOptions
  readonly journal: Journal
  readonly mutation: Mutation
  /** All that have links. The first has users, quotas and webhooks. */
  readonly databases: readonly [control: VirtualDatabase, ...further: ReadonlyArray<VirtualDatabase>]
  /** The receiver of all webhooks. */
  readonly receiver: VirtualServer
}

const messages = WebhookMessages.make({
  link: ({ key, url }) => ({ key, url }),
  names: (key) => ({ key, shortUrl: `http://linkmint.test/${key}` })
})

/** How often quotas are swept, and how many at a time. */
const sweepEvery = Duration.seconds(5)
const sweptAtOnce = 1_000

type Limiter = typeof RateLimiter.RateLimiter.Service

/** A limiter that notes what it allows and refuses, what it is given back, and what becomes of reservations. */
const noting = (limiter: Limiter, hash: typeof KeyedHash.Service, journal: Journal, by: string): Limiter => {
  const note: typeof limiter.takeAllNow = (limits) => {
    const standing = limiter.takeAllNow(limits)
    if (standing !== null && standing !== undefined) noted(limits, standing.isAllowed)
    return standing
  }
  const namesOf = (limits: ReadonlyArray<Limit>) => limits.map(({ id }) => hash.of("quota", id))
  const noted = (limits: ReadonlyArray<Limit>, isAllowed: boolean, reservation?: number) =>
    journal.add({
      tag: "took",
      by,
      use: limits[0]!.id.split(":", 1)[0]!,
      quotas: namesOf(limits),
      limits: limits.map(({ id, limit }) => ({ id, limit })),
      isAllowed,
      ...(limits.some(({ isHeld }) => isHeld) && {
        held: limits.map(({ limit, period }) => ({ limit, period }))
      }),
      ...(reservation !== undefined && { reservation })
    })
  let reservations = 0
  const reserved = (limits: ReadonlyArray<Limit>, found: Reservation | Standing): Reservation | Standing => {
    // As it is where nothing is counted.
    if (limits.length === 0) return found
    if (!isReserved(found)) {
      noted(limits, false)
      return found
    }
    const reservation = reservations++
    noted(limits, true, reservation)
    let isOver = false
    const end = (tag: "kept" | "gave back") => {
      if (!isOver) journal.add({ tag, by, quotas: namesOf(limits), reservation })
      isOver = true
    }
    return {
      isAllowed: true,
      keep: () => {
        end("kept")
        found.keep()
      },
      giveBack: () => {
        end("gave back")
        found.giveBack()
      }
    }
  }
  return {
    ...limiter,
    takeAllNow: note,
    giveBack: (limits) => {
      limiter.giveBack(limits)
      journal.add({ tag: "gave back", by, quotas: namesOf(limits) })
    },
    reserveNow: (limits) => {
      const found = limiter.reserveNow(limits)
      return found && reserved(limits, found)
    },
    reserve: (limits) => Effect.map(limiter.reserve(limits), (found) => reserved(limits, found)),
    usedUp: (limits) => {
      const standing = limiter.usedUp(limits)
      if (standing !== undefined) noted(limits, false)
      return standing
    },
    takeAll: (limits) =>
      Effect.tap(limiter.takeAll(limits), (standing) => {
        if (standing !== null) noted(limits, standing.isAllowed)
      })
  }
}

type Built<Has, E> = Effect.Effect<Context.Context<Has>, E, Scope.Scope>

/** Adds users' stores, and has changes of links tell their webhooks. What it adds is known to {@link after}. */
export const before =
  ({ databases, mutation }: UserSurroundings, process: VirtualProcess) =>
  <Has>(own: Built<Has, never>): Built<Has, StorageError> =>
    own.pipe(
      Effect.map((context) => Context.merge(context, databases[0].userStores(process, mutation))),
      adding(WebhookListeners.layer),
      adding(VisitEvents.layer(messages.visited)),
      Effect.tap((context) => {
        const listeners = Context.get(context, WebhookListeners.WebhookListeners)
        for (const database of databases)
          database.tellWebhooks(process, (parts) => {
            const sound = WebhookOutbox.over(messages, { ...parts, listeners })
            return mutation.outbox?.(sound, parts) ?? sound
          })
      })
    ) as unknown as Built<Has, StorageError>

/** What a node has by then: its stubs, and users' stores. */
type Known =
  | KeyedHash
  | LinkRemovals
  | AdminKey
  | AccountStore
  | AuditLog
  | Passwords
  | QuotaStore
  | WebhookStore
  | WebhookListeners.WebhookListeners

/** What else such a node answers, by what it has when it has begun: requests of users who sign in, of their API keys, their webhooks and what they did. `own`: where it is reached. */
export const routes = <Has>(context: Context.Context<Has>, own: WebhookRoutes.WebhookPolicy["own"]) =>
  Effect.provide(
    Effect.gen(function* () {
      return {
        ...(yield* AccountRoutes.make({ signUp: false })),
        apiKeys: yield* ApiKeyRoutes.make,
        users: yield* UserRoutes.make,
        audit: yield* AuditRoutes.make,
        webhooks: yield* WebhookRoutes.make({ own, allowPrivate: false })
      }
    }),
    context as unknown as Context.Context<
      Known | Accounts.Accounts | Quotas.Quotas | Sessions.Sessions | Users.Users
    >
  )

/** Sweeps quotas more often than the limiter does: that waits for a minute, which is as long as a run. */
const sweeping = Layer.scopedDiscard(
  Effect.flatMap(QuotaStore, (store) =>
    store.sweep(sweptAtOnce).pipe(Effect.ignore, Effect.delay(sweepEvery), Effect.forever, Effect.forkScoped)
  )
)

/** Adds accounts, quotas and the delivery of webhooks to all other parts of a node. */
export const after =
  ({ journal, mutation, options, receiver }: UserSurroundings, process: VirtualProcess) =>
  <Has, E>(whole: Built<Has, E>): Built<Has, E> => {
    const sender = Receivers.senderTo(receiver, process, journal)
    const { createsPerMinute, failedLookupsPerMinute, redirectsPerDay, sessionIdle_s } = options
    const quotas = { ...Quotas.unlimited, createsPerMinute, failedLookupsPerMinute, redirectsPerDay }
    return (whole as unknown as Built<Known, E>).pipe(
      adding(Sessions.layer({ idle: Duration.seconds(sessionIdle_s ?? idleMax_s) })),
      Effect.map((context) => {
        const sessions = Context.get(context, Sessions.Sessions)
        return Context.add(context, Sessions.Sessions, mutation.sessions?.(sessions, process) ?? sessions)
      }),
      adding(Accounts.layer),
      adding(Users.layer),
      adding(RateLimiter.layer),
      Effect.map((context) => {
        const limiter = Context.get(context, RateLimiter.RateLimiter)
        const hash = Context.get(context, KeyedHash)
        const accounts = Context.get(context, Accounts.Accounts)
        return context.pipe(
          Context.add(
            RateLimiter.RateLimiter,
            noting(mutation.limiter?.(limiter, process) ?? limiter, hash, journal, process.id)
          ),
          Context.add(Accounts.Accounts, mutation.accounts?.(accounts, process) ?? accounts)
        )
      }),
      adding(Quotas.layer(quotas)),
      adding(sweeping),
      Effect.map((context) => {
        const found = Context.get(context, Quotas.Quotas)
        return Context.add(context, Quotas.Quotas, mutation.quotasOf?.(found) ?? found)
      }),
      adding(AuditSweep.layer(auditRetention) as unknown as Layer.Layer<never, never, AuditLog>),
      adding(Layer.provide(WebhookDelivery.layer, Layer.effect(WebhookSender, sender))),
      adding(hurried(WebhookUpkeep.layer, { hurry, ahead_ms: 0 }))
    ) as unknown as Built<Has, E>
  }
