import { SqlClient, type Statement } from "@effect/sql"
import { Array as Arr, Effect } from "effect"
import * as Secret from "../../secrets/Secret.ts"
import { joinedType, type MessageType, verificationType } from "../../model/Webhook.ts"
import { camelRows } from "../sql/SqlPort.ts"
import { databaseMoment, databaseNow, isOneOf } from "../sql/SqlDialect.ts"
import { rowsOf } from "../sql/SqlRows.ts"
import { inTransaction } from "../sql/SqlTransaction.ts"
import { groupsOf, type Joinable, joinedBody } from "./WebhookJoining.ts"
import { notEnded } from "./WebhookRows.ts"
import { type Claim, type Delivery, leaseMax_ms, pauseMax_ms, retryMax_ms } from "./WebhookStore.ts"

/** A webhook with due messages. */
interface WaitingRow {
  readonly id: string
  readonly owner: string
  readonly host: string
  readonly url: string
  readonly secret: string
  readonly failures: number
  /** 1 where messages are due because the clock was ahead when their time was written. */
  readonly hasAhead: number
}

/** How many messages a webhook gets, and how many due messages are read for them. */
interface Look {
  readonly id: string
  readonly messages: number
  readonly most: number
  /** Whether it gets those that are due because the clock was ahead when their time was written, before all others. */
  readonly hasAhead: boolean
}

/** A message that is due. */
interface Due extends Joinable {
  readonly webhookId: string
  readonly event: MessageType
  readonly attempts: number
  readonly dueAt: number
  /** Whether `dueAt` was written while the clock was ahead. */
  readonly isAhead: boolean
  readonly queuedAt: number
}

type DueRow = Omit<Due, "isAhead" | "isSealed"> & { readonly sealed: number }

const dueOf = ({ sealed, ...row }: DueRow, isAhead: boolean): Due => ({
  ...row,
  isAhead,
  isSealed: sealed !== 0 || row.attempts > 0 || row.event === verificationType
})

/** Messages that become one. */
type Group = ReadonlyArray<Due>

/** The token of a claim, and how long it lasts. */
interface Lease {
  readonly token: string
  readonly for_ms: number
}

/** A message as it is given to its claimer. */
type Claimed = Pick<Delivery, "webhookId" | "id" | "event" | "body" | "attempt">

const inOrder = (one: Due, other: Due) =>
  Number(other.isAhead) - Number(one.isAhead) || one.dueAt - other.dueAt || (one.id < other.id ? -1 : 1)

/** The groups that become messages, for each webhook as many as it gets, the longest due first. */
const chosen = (due: ReadonlyArray<Due>, looks: ReadonlyArray<Look>, { join, max }: Claim) => {
  const byWebhook = new Map(looks.map(({ id }) => [id, [] as Array<Due>]))
  for (const message of due) byWebhook.get(message.webhookId)!.push(message)
  return looks
    .flatMap(({ id, messages }) => groupsOf(byWebhook.get(id)!.toSorted(inOrder), join).slice(0, messages))
    .toSorted(([one], [other]) => inOrder(one!, other!))
    .slice(0, max)
}

/** The part of `WebhookStore` that claims messages, and joins those that were never claimed before. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = databaseNow(sql)
  const moment = databaseMoment(sql)

  /** The next webhook, by id, with messages that are not dead. */
  const nextWaiting = (behind: Statement.Fragment) => sql`
    (SELECT webhook_id FROM webhook_messages WHERE dead_at IS NULL AND webhook_id > ${behind} ORDER BY webhook_id LIMIT 1)`

  /** When the first message of the webhook `w` is due, or has waited long enough for others. */
  const firstDue = (gatherFor_ms: number) => sql`
    (SELECT m.due_at + CASE WHEN m.sealed = 0 AND m.attempts = 0 AND m.event <> ${verificationType} THEN ${gatherFor_ms} ELSE 0 END
    FROM webhook_messages m WHERE m.webhook_id = w.id AND m.dead_at IS NULL ORDER BY m.due_at LIMIT 1)`

  const isDue = sql`m.due_at <= ${moment}`

  /** Whether a message `m` waits until a moment that only a clock that was ahead can have set. The first comparison is for the index. */
  const isAhead = sql`
    m.due_at > ${moment} AND m.due_at > ${moment} + CASE
      WHEN m.lease IS NOT NULL THEN ${leaseMax_ms}
      WHEN m.attempts = 0 AND m.event <> ${verificationType} THEN 0
      ELSE ${retryMax_ms} END`

  /**
   * Webhooks with due messages. It steps from webhook to webhook through the index of messages, so that its cost does not depend on how many wait for each. It
   * begins with SELECT, so that SQLite runs it on a reading connection.
   */
  const waiting = ({ busy, gatherFor_ms, max }: Claim) => sql<WaitingRow>`
    SELECT id, owner, host, url, secret, failures, has_ahead FROM (
      WITH RECURSIVE waiting (webhook_id) AS (
        SELECT ${nextWaiting(sql`''`)}
        UNION ALL
        SELECT ${nextWaiting(sql`waiting.webhook_id`)} FROM waiting WHERE waiting.webhook_id IS NOT NULL
      )
      SELECT w.*, ${firstDue(gatherFor_ms)} AS first_due, CASE WHEN EXISTS (
        SELECT 1 FROM webhook_messages m WHERE m.webhook_id = w.id AND m.dead_at IS NULL AND ${isAhead}
      ) THEN 1 ELSE 0 END AS has_ahead
      FROM waiting JOIN webhooks w ON w.id = waiting.webhook_id
      WHERE (w.paused_until <= ${moment} OR w.paused_until > ${moment} + ${pauseMax_ms}) AND NOT ${isOneOf(sql, "w.id", busy.webhooks)}
        AND NOT ${isOneOf(sql, "w.owner", busy.owners)} AND NOT ${isOneOf(sql, "w.host", busy.hosts)} AND ${notEnded(sql)}
    ) AS free WHERE has_ahead = 1 OR first_due <= ${moment} ORDER BY has_ahead DESC, first_due, id LIMIT ${max}`

  /** The first due messages of some webhooks, of those whose time was written while the clock was ahead or of the others; on PostgreSQL locked. */
  const due = Effect.fnUntraced(function* (looks: ReadonlyArray<Look>, ahead: boolean) {
    if (looks.length === 0) return []
    const columns = sql`m.webhook_id, m.id, m.event, m.bytes, m.attempts, m.sealed, m.due_at, m.queued_at`
    const firstOf = (id: Statement.Fragment) => sql`
      m.webhook_id = ${id} AND m.dead_at IS NULL AND ${ahead ? isAhead : isDue} AND (m.event = ${verificationType}
        OR EXISTS (SELECT 1 FROM webhooks w WHERE w.id = ${id} AND w.verified_at IS NOT NULL))
      ORDER BY m.due_at, m.id`
    const rows = sql.onDialectOrElse({
      // SQLite: a limit cannot depend on the row.
      orElse: () => sql<DueRow>`
        SELECT ${columns} FROM json_each(${JSON.stringify(looks)}) AS looks CROSS JOIN webhook_messages m
        WHERE m.webhook_id = looks.value ->> 'id' AND m.id IN (
          SELECT m.id FROM webhook_messages m WHERE ${firstOf(sql`looks.value ->> 'id'`)}
          LIMIT ${Math.max(...looks.map(({ most }) => most))})`,
      pg: () => sql<DueRow>`
        SELECT m.* FROM json_to_recordset(${JSON.stringify(looks)}::json) AS looks (id text, most integer)
        CROSS JOIN LATERAL (
          SELECT ${columns} FROM webhook_messages m WHERE ${firstOf(sql`looks.id`)} LIMIT looks.most FOR UPDATE OF m SKIP LOCKED
        ) AS m`
    })
    return (yield* camelRows(rows)).map((row) => dueOf(row, ahead))
  })

  /** Whether a row is one of these messages. */
  const isAmong = (messages: ReadonlyArray<Due>) => {
    const names = rowsOf(sql, {
      webhook_id: ["text", messages.map(({ webhookId }) => webhookId)],
      id: ["text", messages.map(({ id }) => id)]
    })
    return sql`(webhook_id, id) IN (SELECT webhook_id, id FROM ${names} AS names)`
  }

  const bodiesOf = Effect.fnUntraced(function* (messages: ReadonlyArray<Due>) {
    const rows = yield* sql<{ webhook_id: string; id: string; body: string }>`
      SELECT webhook_id, id, body FROM webhook_messages WHERE ${isAmong(messages)}`
    const bodies = new Map(rows.map((row) => [`${row.webhook_id} ${row.id}`, row.body]))
    return ({ id, webhookId }: Due) => bodies.get(`${webhookId} ${id}`)!
  })

  /** Remembers which messages were joined into another one. */
  const remember = (members: ReadonlyArray<{ webhookId: string; id: string; messageId: string }>) => {
    const rows = rowsOf(sql, {
      webhook_id: ["text", members.map(({ webhookId }) => webhookId)],
      id: ["text", members.map(({ id }) => id)],
      message_id: ["text", members.map(({ messageId }) => messageId)]
    })
    return sql`
      INSERT INTO webhook_joined (webhook_id, id, message_id)
      SELECT webhook_id, id, message_id FROM ${rows} AS members WHERE true ON CONFLICT DO NOTHING`
  }

  /** Replaces each group by one message, which is leased already. Its bytes are those of its members, so that the counts stay right. */
  const join = Effect.fnUntraced(function* (
    groups: ReadonlyArray<Group>,
    bodyOf: (message: Due) => string,
    { for_ms, token }: Lease
  ) {
    if (groups.length === 0) return []
    const [clock] = yield* sql<{ now: number }>`SELECT ${now} AS now`
    const at = clock!.now
    const joined = yield* Effect.forEach(groups, (members) =>
      Effect.map(Secret.draw(16), (drawn) => ({
        webhookId: members[0]!.webhookId,
        id: `msg_${drawn.toString("hex")}`,
        members,
        body: joinedBody(
          members.map((member) => ({ id: member.id, body: bodyOf(member) })),
          at
        )
      }))
    )
    yield* remember(
      joined.flatMap(({ id, members, webhookId }) =>
        members.map((member) => ({ webhookId, id: member.id, messageId: id }))
      )
    )
    yield* sql`DELETE FROM webhook_messages WHERE ${isAmong(groups.flat())}`
    for (const { body, id, members, webhookId } of joined) {
      yield* sql`INSERT INTO webhook_messages ${sql.insert({
        webhook_id: webhookId,
        id,
        event: joinedType,
        body,
        events: members.length,
        bytes: members.reduce((sum, { bytes }) => sum + bytes, 0),
        sealed: 1,
        queued_at: Math.min(...members.map(({ queuedAt }) => queuedAt)),
        due_at: at + for_ms,
        attempts: 1,
        lease: token
      })}`
    }
    return joined.map(({ body, id, webhookId }): Claimed => ({
      webhookId,
      id,
      event: joinedType,
      body,
      attempt: 1
    }))
  })

  /** Leases messages that are not joined. */
  const lease = Effect.fnUntraced(function* (
    messages: ReadonlyArray<Due>,
    bodyOf: (message: Due) => string,
    { for_ms, token }: Lease
  ) {
    if (messages.length === 0) return []
    yield* sql`
      UPDATE webhook_messages SET lease = ${token}, due_at = ${now} + ${for_ms}, attempts = attempts + 1, sealed = 1
      WHERE ${isAmong(messages)}`
    return messages.map((message): Claimed => {
      const { attempts, event, id, webhookId } = message
      return { webhookId, id, event, body: bodyOf(message), attempt: attempts + 1 }
    })
  })

  const take = Effect.fnUntraced(function* (looks: ReadonlyArray<Look>, claim: Claim, held: Lease) {
    const [ahead, others] = Arr.partition(looks, ({ hasAhead }) => !hasAhead)
    const found = [...(yield* due(ahead, true)), ...(yield* due(others, false))]
    const groups = chosen(found, looks, claim)
    const bodyOf = yield* bodiesOf(groups.flat())
    const [several, single] = Arr.partition(groups, ({ length }) => length === 1)
    const leased = (yield* lease(single.flat(), bodyOf, held)).values()
    const joined = (yield* join(several, bodyOf, held)).values()
    return groups.map(({ length }) => (length === 1 ? leased : joined).next().value!)
  })

  return Effect.fnUntraced(function* (claim: Claim) {
    const rows = yield* camelRows(waiting(claim))
    const fair = Math.ceil(claim.max / rows.length)
    const looks = rows.flatMap((row): ReadonlyArray<Look> => {
      const messages = Math.min(row.failures > 0 ? 1 : fair, claim.roomFor(row))
      if (messages <= 0) return []
      return [{ id: row.id, messages, most: messages * claim.join.events, hasAhead: row.hasAhead === 1 }]
    })
    if (looks.length === 0) return []
    const token = (yield* Secret.draw(16)).toString("hex")
    const claimed = yield* inTransaction(sql, take(looks, claim, { token, for_ms: claim.lease_ms }))
    const byId = new Map(rows.map((row) => [row.id, row]))
    return claimed.map((message): Delivery => {
      const { failures, host, owner, secret, url } = byId.get(message.webhookId)!
      return { ...message, owner, host, url, secret, failures, lease: token }
    })
  })
})
