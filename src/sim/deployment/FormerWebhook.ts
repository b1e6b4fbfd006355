import { Effect } from "effect"
import { adminKeyIdOf, type Webhook, type WebhookEvent } from "../../model/Webhook.ts"
import type { StorageError } from "../../storage/StorageError.ts"
import { pendingFor_ms, retryMax_ms, type WebhookStore } from "../../storage/webhooks/WebhookStore.ts"
import type { DatabaseClock } from "../stores/database/DatabaseClock.ts"
import { attemptsMax } from "../../webhooks/WebhookDelivery.ts"

/** The user who has a webhook that is older than the run. The webhook is for visits, and has messages from before. */
export const owner = "usr_1"
/** Its id. */
export const formerWebhook = "whk_former"
/** What it is told of. */
export const event: WebhookEvent = "link.visited"

const minute_ms = 60_000
const hour_ms = 60 * minute_ms

/** When messages of it were given up, in hours before the beginning: the first one so long ago that it is to be forgotten. */
const givenUp_h = [7 * 24 + 1, 6 * 24, 30, 2]

/** The dead letters that it has, by their ids; the first one is to be forgotten. */
export const formerDead: ReadonlyArray<string> = givenUp_h.map((_, index) => `msg_given_up_${index}`)
/** One that was given up before, too, and queued again. */
const formerRevived = formerDead[2]!
/** When one of them was given up. */
export const formerGivenUpAt = (id: string, beginning_ms: number): number | undefined => {
  const ago_h = givenUp_h[formerDead.indexOf(id)]
  return ago_h && beginning_ms - ago_h * hour_ms
}
/** A message that has one attempt left, soon after the beginning. */
export const formerTried = "msg_tried"
/** A message that has waited for so long that it is to be given up, and waits on. */
export const formerLate = "msg_late"

/** How long after the beginning the last attempt is due. */
const lastAttempt_ms = 5_000

/** The webhook, at the beginning of a run. */
export const webhookOf = (beginning_ms: number): Webhook => ({
  id: formerWebhook,
  owner,
  keyId: null,
  url: "https://former.example.com/text",
  events: [event],
  secret: `whsec_${Buffer.from(formerWebhook).toString("base64")}`,
  createdAt: beginning_ms - 30 * 24 * hour_ms
})

/** Whose webhook it is that was made with an `ADMIN_API_KEY` which is another one now. */
export const keyHolder = "usr_key_holder"

/** That webhook: nobody may be given the message that waits for it. */
const ofFormerKey = (beginning_ms: number): Webhook => ({
  ...webhookOf(beginning_ms),
  id: "whk_of_former_key",
  owner: keyHolder,
  keyId: adminKeyIdOf("f0f0"),
  url: "https://former.example.com/key"
})

/** Makes the webhooks of {@link owner} and {@link keyHolder}, and has happen in their order what became of its messages, each at its time: before anybody else has one. */
export const begin = (
  webhooks: typeof WebhookStore.Service,
  { ago, now_ms }: Pick<DatabaseClock, "ago" | "now_ms">
): Effect.Effect<void, StorageError> =>
  Effect.gen(function* () {
    const claim = webhooks.claim({
      max: 1,
      roomFor: () => 1,
      busy: { webhooks: [], owners: [], hosts: [] },
      join: { events: 1, bytes: 1_000 },
      gatherFor_ms: 0,
      lease_ms: minute_ms
    })
    const queueFor = (owner: string, id: string, ago_ms: number) =>
      ago(ago_ms)(
        webhooks.offer([{ id, owner, event, body: JSON.stringify({ type: event, data: { links: [] } }) }])
      )
    const queue = (id: string, ago_ms: number) => queueFor(owner, id, ago_ms)
    const fail = (ago_ms: number, retryIn_ms: number | null) =>
      ago(ago_ms)(
        Effect.flatMap(claim, (claimed) =>
          Effect.forEach(claimed, (delivery) =>
            webhooks.failed(delivery, { reason: "It answered 500.", retryIn_ms, pause_ms: 0 })
          )
        )
      )

    const addProven = (webhook: Webhook) => {
      const challenge = { id: `challenge of ${webhook.id}`, body: "{}" }
      return Effect.zipRight(webhooks.add(webhook, challenge, 1), webhooks.verify(webhook.id, challenge.id))
    }
    const webhook = webhookOf(now_ms)
    yield* addProven(webhook)
    for (const [index, ago_h] of givenUp_h.entries()) {
      const id = formerDead[index]!
      const ago_ms = ago_h * hour_ms
      const queued_ms = id === formerRevived ? ago_ms + 2 * minute_ms : ago_ms
      yield* queue(id, queued_ms)
      if (id === formerRevived) {
        yield* fail(queued_ms, null)
        yield* ago(ago_ms + minute_ms)(webhooks.revive(webhook.id, id))
      }
      yield* fail(ago_ms, null)
    }
    const late_ms = pendingFor_ms + hour_ms
    yield* queue(formerLate, late_ms)
    yield* fail(late_ms, retryMax_ms)
    yield* fail(late_ms - retryMax_ms, retryMax_ms)
    const since_ms = 11 * hour_ms
    yield* queue(formerTried, since_ms)
    for (let attempt = 1; attempt < attemptsMax; attempt++) {
      const ago_ms = since_ms - attempt * minute_ms
      yield* fail(ago_ms, attempt === attemptsMax - 1 ? ago_ms + lastAttempt_ms : 0)
    }
    yield* fail(late_ms - 2 * retryMax_ms, retryMax_ms)
    yield* addProven(ofFormerKey(now_ms))
    yield* queueFor(keyHolder, "msg_of_former_key", minute_ms)
  })
