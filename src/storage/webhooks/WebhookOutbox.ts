import { SqlClient, type SqlError } from "@effect/sql"
import { Effect, Layer } from "effect"
import type { Link } from "../../model/Link.ts"
import type { WebhookMessage } from "../../model/Webhook.ts"
import { type Deletion, LinkStore } from "../links/LinkStore.ts"
import { asStorageError, inTransaction } from "../sql/SqlTransaction.ts"
import { WebhookListeners } from "./WebhookListeners.ts"
import { countDropped } from "./WebhookMetrics.ts"
import { WebhookStore } from "./WebhookStore.ts"

/** The messages of changes of links. */
export interface OutboxMessages {
  readonly created: (link: Link, owner: string) => WebhookMessage
  readonly deleted: (deletion: Deletion, owner: string) => WebhookMessage
}

/** What an outbox stands on. */
export interface OutboxParts {
  readonly store: typeof LinkStore.Service
  readonly webhooks: Pick<typeof WebhookStore.Service, "offer">
  readonly listeners: Pick<typeof WebhookListeners.Service, "has">
  /** Makes what it runs happen as a whole, or not at all. */
  readonly inTransaction: <A, E>(run: Effect.Effect<A, E>) => Effect.Effect<A, E | SqlError.SqlError>
}

/**
 * A `LinkStore` that queues messages for webhooks in the transaction of the change, so that neither exists without the other. A batch without links of owners
 * with webhooks is passed on as it is.
 *
 * A repeat of a create or a delete offers the message again under the same id, which the queue deduplicates unless it was delivered meanwhile.
 */
export const over = (
  messagesOf: OutboxMessages,
  { inTransaction, listeners, store, webhooks }: OutboxParts
): typeof LinkStore.Service => {
  /** Writes a batch together with the messages of the changes that were made. */
  const writing =
    <A>(
      operation: string,
      write: (questions: ReadonlyArray<A>) => ReturnType<typeof store.insertMany>,
      messageOf: (question: A) => WebhookMessage | undefined
    ) =>
    (questions: ReadonlyArray<A>): ReturnType<typeof store.insertMany> => {
      const messages = questions.map(messageOf)
      if (messages.every((message) => message === undefined)) return write(questions)
      return inTransaction(
        Effect.bindTo(write(questions), "done").pipe(
          Effect.bind("dropped", ({ done }) =>
            webhooks.offer(
              messages.flatMap((message, index) =>
                message !== undefined && done[index] === true ? [message] : []
              )
            )
          )
        )
      ).pipe(
        Effect.tap(({ dropped }) => countDropped(dropped)),
        Effect.map(({ done }) => done),
        asStorageError(operation)
      )
    }

  return LinkStore.of({
    ...store,
    insertMany: writing("LinkStore.insertMany", store.insertMany, (link) =>
      link.owner !== null && listeners.has(link.owner, "link.created")
        ? messagesOf.created(link, link.owner)
        : undefined
    ),
    deleteMany: writing("LinkStore.deleteMany", store.deleteMany, (deletion) => {
      const { owner = null } = deletion
      return owner !== null && listeners.has(owner, "link.deleted")
        ? messagesOf.deleted(deletion, owner)
        : undefined
    })
  })
}

/** See {@link over}, in transactions of the SQL client. */
export const layer = (
  messagesOf: OutboxMessages
): Layer.Layer<LinkStore, never, LinkStore | WebhookStore | WebhookListeners | SqlClient.SqlClient> =>
  Layer.effect(
    LinkStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return over(messagesOf, {
        store: yield* LinkStore,
        webhooks: yield* WebhookStore,
        listeners: yield* WebhookListeners,
        inTransaction: (run) => inTransaction(sql, run)
      })
    })
  )
