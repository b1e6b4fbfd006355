import type { SqlClient } from "@effect/sql"
import { Array as Arrays, Effect } from "effect"
import { fromStrings } from "../../keys/PackedKeys.ts"
import type { WebhookEvent, WebhookMessage } from "../../model/Webhook.ts"
import type { KeyStock } from "../keys/KeyStock.ts"
import { strikeFrom } from "../keys/KeyStockSql.ts"
import * as KeyTablesSql from "../keys/KeyTablesSql.ts"
import { databaseNow, isOneOf } from "../sql/SqlDialect.ts"
import { rowsOf } from "../sql/SqlRows.ts"
import { asStorageError, inTransaction } from "../sql/SqlTransaction.ts"
import type { StorageError } from "../StorageError.ts"
import { countDropped } from "../webhooks/WebhookMetrics.ts"
import type { WebhookStore } from "../webhooks/WebhookStore.ts"

/** Keeps messages for webhooks in the database of their links, in the transaction of the change, until they are carried to the queue of the control database. */
export const offerTo =
  (sql: SqlClient.SqlClient) =>
  (messages: ReadonlyArray<WebhookMessage>): Effect.Effect<number, StorageError> => {
    if (messages.length === 0) return Effect.succeed(0)
    const rows = rowsOf(sql, {
      id: ["text", messages.map(({ id }) => id)],
      owner: ["text", messages.map(({ owner }) => owner)],
      event: ["text", messages.map(({ event }) => event)],
      body: ["text", messages.map(({ body }) => body)]
    })
    return Effect.as(
      sql`INSERT INTO link_outbox (id, owner, event, body, queued_at)
          SELECT id, owner, event, body, ${databaseNow(sql)} FROM ${rows} AS given ON CONFLICT (id) DO NOTHING`,
      0
    ).pipe(asStorageError("LinkOutbox.offer"))
  }

/** What is carried from a database of links to the control database. */
export interface Carrying {
  readonly sql: SqlClient.SqlClient
  /** Of the control database. */
  readonly control: SqlClient.SqlClient
  readonly webhooks: Pick<typeof WebhookStore.Service, "offer">
  readonly stock: Pick<typeof KeyStock.Service, "add">
  /** Called with keys that left the one database and did not arrive in the other. */
  readonly lost: (keys: number) => void
}

/** Messages that are carried at a time: each can have some kilobytes. */
const messagesMax = 100

/** How messages go from a database of links to the queue. */
export interface MessageSteps {
  /** Up to so many of those that wait in the one, the oldest first. */
  readonly waiting: (count: number) => Effect.Effect<ReadonlyArray<WebhookMessage>, StorageError>
  /** Queues them in the other. */
  readonly queue: (messages: ReadonlyArray<WebhookMessage>) => Effect.Effect<unknown, StorageError>
  /** Deletes them from the one. */
  readonly remove: (messages: ReadonlyArray<WebhookMessage>) => Effect.Effect<unknown, StorageError>
}

/**
 * Carries messages: they are queued, and then deleted here. Whoever dies in between has them queued again under the same ids, which the queue deduplicates unless they were delivered
 * meanwhile. Gives whether there may be more.
 */
export const carryMessagesBy = ({
  queue,
  remove,
  waiting
}: MessageSteps): Effect.Effect<boolean, StorageError> =>
  Effect.gen(function* () {
    const messages = yield* waiting(messagesMax)
    if (messages.length === 0) return false
    yield* queue(messages)
    yield* remove(messages)
    return messages.length === messagesMax
  })

/** {@link carryMessagesBy} between PostgreSQL servers. */
export const carryMessages = ({ sql, webhooks }: Pick<Carrying, "sql" | "webhooks">) => {
  const named = asStorageError("LinkOutbox.carryMessages")
  return carryMessagesBy({
    waiting: (count) =>
      named(sql<WebhookMessage & { readonly event: WebhookEvent }>`
        SELECT id, owner, event, body FROM link_outbox ORDER BY queued_at, id LIMIT ${count}`),
    queue: (messages) => Effect.tap(webhooks.offer(messages), countDropped),
    remove: (messages) =>
      named(
        sql`DELETE FROM link_outbox WHERE ${isOneOf(
          sql,
          "id",
          messages.map(({ id }) => id)
        )}`
      )
  })
}

/** How keys that are free again go from one database to another. */
export interface CarryingSteps {
  /** Takes up to so many out of the one, in a transaction. */
  readonly leave: (count: number) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /** Puts them into the stock of the other, and takes them out of its records of open batches, in a transaction. */
  readonly arrive: (keys: ReadonlyArray<string>) => Effect.Effect<unknown, StorageError>
  /** Puts them back into the one. */
  readonly comeBack: (keys: ReadonlyArray<string>) => Effect.Effect<unknown, StorageError>
  readonly lost: (keys: number) => void
}

/**
 * Carries up to `count` keys that are free again to the stock. They leave the one database before they enter the other, so that no key is in both: whoever dies in between loses them. Gives whether
 * there may be more.
 */
export const carryBy = (
  { arrive, comeBack, leave, lost }: CarryingSteps,
  count: number
): Effect.Effect<boolean, StorageError> =>
  Effect.gen(function* () {
    const keys = yield* leave(count)
    if (keys.length === 0) return false
    yield* Effect.tapError(arrive(keys), ({ applied }) =>
      applied === "no"
        ? Effect.catchAll(comeBack(keys), () => Effect.sync(() => lost(keys.length)))
        : Effect.sync(() => lost(keys.length))
    )
    return keys.length === count
  }).pipe(Effect.uninterruptible)

/** {@link carryBy} between PostgreSQL servers. */
export const carryKeys = ({ control, lost, sql, stock }: Omit<Carrying, "webhooks">, count: number) => {
  const { free } = KeyTablesSql.make(sql)
  const named = asStorageError("LinkOutbox.carryKeys")
  return carryBy(
    {
      leave: (count) => named(inTransaction(sql, free.take(count))),
      arrive: (keys) =>
        named(
          inTransaction(control, Effect.zipRight(strikeFrom(control, keys), stock.add(fromStrings(keys))))
        ),
      comeBack: (keys) => named(free.put(keys)),
      lost
    },
    count
  )
}

interface MayBeAway {
  /** Whether it is known not to answer. */
  readonly isAway: () => boolean
}

/**
 * One turn: carries what is in each further database, one after the other. Those that are known to be away are left out, and so are all while the control database is: keys that leave for it
 * would be lost. Gives whether there may be more. What fails is carried later, but for the keys that were lost.
 */
export const carryAll = <D extends MayBeAway>(
  control: MayBeAway,
  further: ReadonlyArray<D>,
  carry: (database: D) => Effect.Effect<boolean, StorageError>
): Effect.Effect<boolean> =>
  Effect.forEach(further, (database) =>
    control.isAway() || database.isAway()
      ? Effect.succeed(false)
      : Effect.catchAll(carry(database), ({ message }) =>
          Effect.as(Effect.logWarning(`What is in a database of links is carried later: ${message}`), false)
        )
  ).pipe(Effect.map(Arrays.some(Boolean)))
