import { Context, Effect, Record as Records } from "effect"
import { AccountStore } from "../../../storage/accounts/AccountStore.ts"
import type { AuditEvent } from "../../../model/Audit.ts"
import { AuditLog } from "../../../storage/accounts/AuditLog.ts"
import { QuotaStore } from "../../../storage/accounts/QuotaStore.ts"
import type { StorageError } from "../../../storage/StorageError.ts"
import { verificationType, type WebhookMessage } from "../../../model/Webhook.ts"
import { type Delivery, WebhookStore } from "../../../storage/webhooks/WebhookStore.ts"
import type { Journal, Leased } from "../../Journal.ts"
import type { Mutation } from "../../mutants/Mutation.ts"
import type { VirtualProcess } from "../../world/VirtualProcess.ts"
import { type Plan, query, statement, transaction } from "../database/Transactions.ts"
import type { UserStores } from "../sql/SqlStores.ts"
import { type Call, together } from "./Call.ts"

/** What the ports of users ask and tell the database. */
export interface Surroundings {
  readonly journal: Pick<Journal, "add">
  /** The stores as they are at one moment. */
  readonly users: UserStores
}

type Ask = <A>(
  operation: string,
  plan: Plan,
  self: Effect.Effect<A, StorageError>
) => Effect.Effect<A, StorageError>

const notSimulated = Effect.dieMessage("this is not asked of users")

const accountStore = (ask: Ask, by: string, { journal, users: { accounts } }: Surroundings) =>
  ({
    ...Records.map(accounts, () => () => notSimulated),
    keyBySecret: (hash) => ask("AccountStore.keyBySecret", query, accounts.keyBySecret(hash)),
    userById: (id) => ask("AccountStore.userById", query, accounts.userById(id)),
    userByEmail: (email) => ask("AccountStore.userByEmail", query, accounts.userByEmail(email)),
    sessionByToken: (hash) => ask("AccountStore.sessionByToken", query, accounts.sessionByToken(hash)),
    touchSession: (hash, at) =>
      ask("AccountStore.touchSession", statement(), accounts.touchSession(hash, at)),
    addSession: (session, passwordHash, max) =>
      ask(
        "AccountStore.addSession",
        transaction(() => [`users ${session.userId}`], undefined, undefined),
        Effect.tap(accounts.addSession(session, passwordHash, max), (isBegun) => {
          const { tokenHash, userId: user } = session
          if (isBegun) journal.add({ tag: "session begun", by, session: tokenHash, user })
        })
      ),
    sessionsOf: (user) => ask("AccountStore.sessionsOf", query, accounts.sessionsOf(user)),
    endSessionsOf: (user, kept) =>
      ask(
        "AccountStore.endSessionsOf",
        statement(() => [`users ${user}`]),
        Effect.flatMap(accounts.sessionsOf(user), (all) =>
          Effect.tap(accounts.endSessionsOf(user, kept), () => {
            for (const { tokenHash: session } of all)
              if (session !== kept) journal.add({ tag: "session ended", by, session })
          })
        )
      ),
    setPassword: (user, change) =>
      ask(
        "AccountStore.setPassword",
        transaction(() => [`users ${user}`], undefined, undefined),
        Effect.tap(accounts.setPassword(user, change), (isSet) => {
          const { passwordIsTemporary: isTemporary, revokesKeys } = change
          if (isSet) journal.add({ tag: "password changed", by, user, isTemporary, revokesKeys })
        })
      ),
    changeUser: (user, change, at) =>
      ask(
        "AccountStore.changeUser",
        transaction(() => [`users ${user}`], undefined, undefined),
        Effect.tap(accounts.changeUser(user, change, at), (changed) => {
          if (typeof changed === "string") return
          const [was, is] = [changed.before, changed.after].map(({ disabledAt }) => disabledAt !== null)
          if (was !== is) journal.add({ tag: is ? "user disabled" : "user enabled", by, user })
        })
      ),
    addUser: (user) =>
      ask(
        "AccountStore.addUser",
        statement(() => [`users ${user.id}`]),
        Effect.tap(accounts.addUser(user), (isAdded) => {
          if (isAdded) journal.add({ tag: "user added", by, user: user.id, email: user.email })
        })
      ),
    listUsers: (asked) => ask("AccountStore.listUsers", query, accounts.listUsers(asked)),
    removeUser: (user) =>
      ask(
        "AccountStore.removeUser",
        transaction(() => [`users ${user}`], undefined),
        Effect.tap(accounts.removeUser(user), (removed) => {
          if (removed === "removed") journal.add({ tag: "user removed", by, user })
        })
      ),
    addKey: (key, max) =>
      ask(
        "AccountStore.addKey",
        transaction(() => [`users ${key.userId}`], undefined, undefined),
        Effect.tap(accounts.addKey(key, max), (added) => {
          if (added === "added") journal.add({ tag: "key added", by, apiKey: key.id, user: key.userId })
        })
      ),
    keysOf: (user) => ask("AccountStore.keysOf", query, accounts.keysOf(user)),
    removeKey: (id, user) =>
      ask(
        "AccountStore.removeKey",
        statement(() => [`keys ${id}`]),
        Effect.tap(accounts.removeKey(id, user), (owner) => {
          if (owner !== null) journal.add({ tag: "key revoked", by, apiKey: id })
        })
      ),
    endSession: (session) =>
      ask(
        "AccountStore.endSession",
        statement(() => [`sessions ${session}`]),
        Effect.tap(accounts.endSession(session), (user) => {
          if (user !== null) journal.add({ tag: "session ended", by, session })
        })
      )
  }) as typeof AccountStore.Service

const auditLog = (
  ask: Ask,
  call: Call,
  by: string,
  { journal, users: { audit } }: Surroundings
): typeof AuditLog.Service => {
  const recordAll = (events: ReadonlyArray<AuditEvent>) =>
    Effect.tap(Effect.forEach(events, audit.record, { discard: true }), () => {
      if (events.length > 0) journal.add({ tag: "audited", by, events })
    })
  const withRecord = together(call, "AuditLog.record")
  return {
    record: (event) => ask("AuditLog.record", transaction(undefined, undefined), recordAll([event])),
    recording: (act, eventsOf) => withRecord(act, (done) => recordAll(eventsOf(done))),
    list: (query_) => ask("AuditLog.list", query, audit.list(query_)),
    forget: (before, max) =>
      ask(
        "AuditLog.forget",
        statement(),
        Effect.tap(audit.forget(before, max), () => journal.add({ tag: "audit swept", by }))
      )
  }
}

const quotaStore = (
  ask: Ask,
  by: string,
  { journal, users: { quotas } }: Surroundings
): typeof QuotaStore.Service => ({
  leaseMany: (asks) =>
    ask(
      "QuotaStore.leaseMany",
      transaction(() => asks.map(({ id }) => `quotas ${id}`), undefined),
      Effect.tap(quotas.leaseMany(asks), (leases) =>
        leases.forEach(({ granted, nextIn_ms }, index) => {
          const { demand, id: quota, limit, period } = asks[index]!
          journal.add({ tag: "granted", by, quota, limit, period, demand, granted, nextIn_ms })
        })
      )
    ),
  sweep: (max) => ask("QuotaStore.sweep", statement(), quotas.sweep(max))
})

/** Which message of which webhook a process has been given. */
const leasedOf = ({ event, id: message, lease, webhookId: webhook }: Delivery): Leased => ({
  webhook,
  message,
  lease,
  isChallenge: event === verificationType
})

/** Notes events that were queued. */
export const noteQueued = (
  journal: Surroundings["journal"],
  by: string,
  messages: ReadonlyArray<WebhookMessage>
): void => {
  const events = messages.map(({ event, id, owner }) => ({ id, owner, event }))
  if (events.length > 0) journal.add({ tag: "queued", by, events })
}

const webhookStore = (
  ask: Ask,
  by: string,
  { journal, users: { webhooks } }: Surroundings
): typeof WebhookStore.Service => ({
  add: (webhook, challenge, max) =>
    ask(
      "WebhookStore.add",
      transaction(() => [`users ${webhook.owner}`], undefined, undefined),
      Effect.tap(webhooks.add(webhook, challenge, max), (added) => {
        if (added) journal.add({ tag: "webhook added", by, webhook })
      })
    ),
  challenge: (id, challenge) =>
    ask(
      "WebhookStore.challenge",
      transaction(undefined, () => [`webhooks ${id}`], undefined),
      webhooks.challenge(id, challenge)
    ),
  verify: (webhook, message) =>
    ask(
      "WebhookStore.verify",
      transaction(() => [`webhooks ${webhook}`], undefined),
      Effect.tap(webhooks.verify(webhook, message), (isLatest) => {
        journal.add({ tag: "webhook verified", by, webhook, message, isLatest })
      })
    ),
  list: (owner) => ask("WebhookStore.list", query, webhooks.list(owner)),
  find: (id) => ask("WebhookStore.find", query, webhooks.find(id)),
  remove: (webhook) =>
    ask(
      "WebhookStore.remove",
      transaction(() => [`webhooks ${webhook}`], undefined),
      Effect.tap(webhooks.remove(webhook), (removed) => {
        if (removed) journal.add({ tag: "webhook removed", by, webhook })
      })
    ),
  removeAllOf: (owner) => ask("WebhookStore.removeAllOf", statement(), webhooks.removeAllOf(owner)),
  deadLetters: (id, limit, after) =>
    ask("WebhookStore.deadLetters", query, webhooks.deadLetters(id, limit, after)),
  revive: (id, message) =>
    ask(
      "WebhookStore.revive",
      transaction(undefined, undefined),
      Effect.tap(webhooks.revive(id, message), (outcome) => {
        if (outcome === "queued") journal.add({ tag: "revived", by, webhook: id, message })
      })
    ),
  look: (known) => ask("WebhookStore.look", query, webhooks.look(known)),
  offer: (messages) =>
    ask(
      "WebhookStore.offer",
      statement(),
      Effect.tap(webhooks.offer(messages), () => noteQueued(journal, by, messages))
    ),
  claim: (claim) =>
    ask(
      "WebhookStore.claim",
      transaction(undefined, undefined),
      Effect.tap(webhooks.claim(claim), (deliveries) => {
        const messages = deliveries.map(leasedOf)
        if (messages.length > 0) journal.add({ tag: "leased messages", by, messages })
      })
    ),
  delivered: (delivery) =>
    ask(
      "WebhookStore.delivered",
      transaction(undefined, undefined),
      Effect.tap(webhooks.delivered(delivery), () => {
        journal.add({ tag: "delivered", by, ...leasedOf(delivery) })
      })
    ),
  failed: (delivery, failure) =>
    ask(
      "WebhookStore.failed",
      transaction(undefined, undefined),
      Effect.tap(webhooks.failed(delivery, failure), () => {
        const { attempt } = delivery
        const { pause_ms, retryIn_ms: for_ms } = failure
        journal.add({ tag: "put off", by, ...leasedOf(delivery), attempt, for_ms, pause_ms })
      })
    ),
  release: (delivery, in_ms) =>
    ask(
      "WebhookStore.release",
      statement(),
      Effect.tap(webhooks.release(delivery, in_ms), () => {
        journal.add({ tag: "untried", by, ...leasedOf(delivery) })
      })
    ),
  lapse: (adminKeyId) =>
    ask(
      "WebhookStore.lapse",
      statement(),
      Effect.tap(webhooks.lapse(adminKeyId), () => journal.add({ tag: "webhooks lapsed", by }))
    ),
  sweep: ask("WebhookStore.sweep", statement(), webhooks.sweep)
})

/** The stores of users and what they did, of quotas and webhooks, as a process reaches them. */
export const make = (
  call: Call,
  process: VirtualProcess,
  surroundings: Surroundings,
  mutation: Pick<Mutation, "audit" | "quotas" | "webhooks">
): Context.Context<AccountStore | AuditLog | QuotaStore | WebhookStore> => {
  const ask: Ask = (operation, plan, self) => call(operation, plan, () => self)
  const audit = auditLog(ask, call, process.id, surroundings)
  const quotas = quotaStore(ask, process.id, surroundings)
  const webhooks = webhookStore(ask, process.id, surroundings)
  return Context.make(AccountStore, accountStore(ask, process.id, surroundings)).pipe(
    Context.add(AuditLog, mutation.audit?.(audit, process) ?? audit),
    Context.add(QuotaStore, mutation.quotas?.(quotas, process) ?? quotas),
    Context.add(WebhookStore, mutation.webhooks?.(webhooks, process) ?? webhooks)
  )
}
