import { Effect } from "effect"
import { verificationType } from "../../model/Webhook.ts"
import type { WebhookStore } from "../../storage/webhooks/WebhookStore.ts"
import { attemptsMax } from "../../webhooks/WebhookDelivery.ts"
import { type Mutant, withFaults } from "./Mutant.ts"

type Store = typeof WebhookStore.Service

/** Users who make webhooks and have links, in runs in which nothing fails. */
const making: Mutant["options"] = withFaults(
  {},
  { withAccount: 0.5, created: 0.5, deleted: 0.1, signedIn: 0.5, withWebhooks: 0.5 }
)

/** Users with many links, whose receivers often say nothing for long. */
const busy: Mutant["options"] = withFaults(
  { webhookCalls: { refused: 0, lost: 0, ignored: 0.2 } },
  { withAccount: 0.8, created: 0.6, deleted: 0.1, signedIn: 0.3, withWebhooks: 0.1, bulk: 0.1 }
)

/** Users whose links are followed. */
const visited: Mutant["options"] = withFaults(
  {},
  { withAccount: 0.6, created: 0.3, deleted: 0, signedIn: 0.3, withWebhooks: 0.2 }
)

/** Users with webhooks, whose queue is compared with SQL. */
const keptOverSql: Mutant["options"] = (options) => ({ ...making!(options), databases: 1, compared: true })

/** What a process does with the store. */
const asking =
  (mutate: (store: Store) => Partial<Store>): Mutant["make"] =>
  () => ({ webhooks: (store) => ({ ...store, ...mutate(store) }) })

/** What the database does. */
const tables =
  (mutate: (store: Store) => Partial<Store>): Mutant["make"] =>
  () => ({ webhookTables: (store) => ({ ...store, ...mutate(store) }) })

/** What can be broken about the webhooks that users make. */
export const webhooks: ReadonlyArray<Mutant> = [
  {
    name: "removed-webhook-goes-on",
    text: "A webhook that was removed is shown to nobody any more, and is still sent messages.",
    promise: "webhooks",
    checker: "webhooks of users",
    options: making,
    make: tables((store) => {
      const removed = new Set<string>()
      return {
        remove: (id) =>
          Effect.map(store.find(id), (found) => {
            const isThere = found !== null && !removed.has(id)
            removed.add(id)
            return isThere
          }),
        find: (id) => (removed.has(id) ? Effect.succeed(null) : store.find(id)),
        list: (owner) => Effect.map(store.list(owner), (all) => all.filter(({ id }) => !removed.has(id)))
      }
    })
  },
  {
    name: "unproven-webhook-active",
    text: "A webhook becomes active as well when its receiver does not answer its challenge.",
    promise: "webhooks",
    checker: "webhooks of users",
    options: making,
    make: asking((store) => ({
      failed: (delivery, failure) =>
        delivery.event === verificationType
          ? Effect.asVoid(store.verify(delivery.webhookId, delivery.id))
          : store.failed(delivery, failure)
    }))
  },
  {
    name: "challenge-left-out",
    text: "A webhook is made without a challenge to its receiver.",
    promise: "webhooks",
    checker: "webhooks of users",
    options: making,
    make: tables((store) => ({
      claim: (claim) =>
        Effect.map(store.claim(claim), (claimed) => claimed.filter(({ event }) => event !== verificationType))
    }))
  },
  {
    name: "signed-with-another-secret",
    text: "Messages to a webhook are signed with the secret of another one.",
    promise: "webhooks",
    checker: "webhooks of users",
    options: making,
    make: asking((store) => ({
      claim: (claim) =>
        Effect.map(store.claim(claim), (claimed) =>
          claimed.map((delivery) => ({ ...delivery, secret: claimed[0]!.secret }))
        )
    }))
  },
  {
    name: "owners-at-once-unbounded",
    text: "A process sends to each webhook of a user as many messages at once as if it were the only one.",
    promise: "webhooks",
    checker: "webhook rates",
    options: busy,
    make: asking((store) => ({
      claim: (claim) => store.claim({ ...claim, busy: { ...claim.busy, owners: [] }, roomFor: () => 4 })
    }))
  },
  {
    name: "unwanted-event-queued",
    text: "A webhook for new links is told as well of links that were deleted.",
    promise: "webhooks",
    checker: "webhooks of users",
    options: making,
    make: tables((store) => ({
      offer: (messages) => store.offer(messages.map((message) => ({ ...message, event: "link.created" })))
    }))
  },
  {
    name: "webhook-outlives-its-key",
    text: "A webhook goes on when the API key that made it is revoked.",
    promise: "webhooks",
    checker: "webhooks of users",
    options: making,
    make: tables((store) => ({
      add: (webhook, challenge, max) => store.add({ ...webhook, keyId: null }, challenge, max)
    }))
  },
  {
    name: "webhook-outlives-the-admin-key",
    text: "A webhook that a former `ADMIN_API_KEY` made goes on.",
    promise: "webhooks",
    checker: "webhooks of users",
    options: making,
    make: () => ({
      webhooks: (store) => ({ ...store, lapse: () => store.lapse(null) })
    })
  },
  {
    name: "one-webhook-too-many",
    text: "A user may have one webhook more than ten.",
    promise: "webhooks",
    checker: "own webhooks",
    options: making,
    make: asking((store) => ({ add: (webhook, challenge, max) => store.add(webhook, challenge, max + 1) }))
  },
  {
    name: "webhook-not-removed",
    text: "The removal of a webhook is answered, and the webhook stays.",
    promise: "webhooks",
    checker: "own webhooks",
    options: making,
    make: asking(() => ({ remove: () => Effect.succeed(true) }))
  },
  {
    name: "webhook-of-another-listed",
    text: "A list of webhooks has those of another user as well.",
    promise: "webhooks",
    checker: "own webhooks",
    options: making,
    make: asking((store) => ({
      list: (owner) =>
        owner === "usr_0"
          ? store.list(owner)
          : Effect.zipWith(store.list("usr_0"), store.list(owner), (one, other) => [...one, ...other])
    }))
  },
  {
    name: "webhook-of-another-found",
    text: "A webhook belongs to the user who has asked last for theirs.",
    promise: "webhooks",
    checker: "own webhooks",
    options: making,
    make: asking((store) => {
      let last: string | undefined
      return {
        list: (owner) => {
          last = owner
          return store.list(owner)
        },
        find: (id) =>
          Effect.map(store.find(id), (found) =>
            found === null ? null : { ...found, owner: last ?? found.owner }
          )
      }
    })
  },
  {
    name: "revived-with-its-attempts",
    text: "A message that is queued again keeps the number of its attempts.",
    promise: "webhooks",
    checker: "webhooks of users",
    options: withFaults(
      { webhookCalls: { refused: 0.3, lost: 0, ignored: 0 } },
      { withAccount: 0.5, created: 0.3, signedIn: 0.6, withWebhooks: 0.6 }
    ),
    make: tables((store) => {
      const revived = new Set<string>()
      return {
        revive: (webhook, id) =>
          Effect.tap(store.revive(webhook, id), (outcome) => {
            if (outcome === "queued") revived.add(id)
          }),
        claim: (claim) =>
          Effect.map(store.claim(claim), (claimed) =>
            claimed.map((delivery) =>
              revived.has(delivery.id) ? { ...delivery, attempt: delivery.attempt + attemptsMax } : delivery
            )
          )
      }
    })
  },
  {
    name: "visits-told-to-nobody",
    text: "Messages of visits are not queued.",
    promise: "webhooks",
    checker: "visits for webhooks",
    options: visited,
    make: asking((store) => ({
      offer: (messages) => store.offer(messages.filter(({ event }) => event !== "link.visited"))
    }))
  },
  {
    name: "visits-told-twice",
    text: "A message of visits is queued once more as another one.",
    promise: "webhooks",
    checker: "visits for webhooks",
    options: visited,
    make: () => ({
      webhooks: (store, process) => ({
        ...store,
        offer: (messages) =>
          store.offer(
            messages.flatMap((message) =>
              message.event === "link.visited"
                ? [message, { ...message, id: `${message.id}_${process.id.length}` }]
                : [message]
            )
          )
      })
    })
  },
  {
    name: "visits-told-from-the-start",
    text: "Each message of visits says that its period began with the first one's.",
    promise: "webhooks",
    checker: "visits for webhooks",
    options: visited,
    make: asking((store) => {
      let first: string | undefined
      const since = (body: string) => {
        first ??= /"from":"[^"]*"/.exec(body)?.[0]
        return body.replace(/"from":"[^"]*"/, first ?? "")
      }
      return {
        offer: (messages) =>
          store.offer(
            messages.map((message) =>
              message.event === "link.visited" ? { ...message, body: since(message.body) } : message
            )
          )
      }
    })
  },
  {
    name: "new-messages-given-up",
    text: "Messages are given up that have not waited for long.",
    promise: "webhooks",
    checker: "stores",
    options: keptOverSql,
    make: () => ({ statement: (sql) => sql.replace(/ AND queued_at < /, " AND queued_at > ") })
  },
  {
    name: "new-dead-letters-forgotten",
    text: "Dead letters are forgotten that were given up not long ago.",
    promise: "webhooks",
    checker: "stores",
    options: keptOverSql,
    make: () => ({
      statement: (sql) =>
        sql.replace(/webhook_messages WHERE dead_at < /, "webhook_messages WHERE dead_at > ")
    })
  },
  {
    name: "revived-with-its-attempts-over-sql",
    text: "The database keeps the number of attempts of a message that is queued again.",
    promise: "webhooks",
    checker: "stores",
    options: keptOverSql,
    make: () => ({
      statement: (sql) => sql.replace("attempts = 0, queued_at", "attempts = attempts, queued_at")
    })
  }
]
