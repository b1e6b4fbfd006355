import { expect, it } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, Scope, TestClock } from "effect"
import { describe } from "vitest"
import { type Delivery, WebhookStore } from "../../src/storage/WebhookStore.ts"
import * as WebhookStoreMemory from "../../src/storage/WebhookStoreMemory.ts"
import type { Webhook } from "../../src/Webhook.ts"
import * as WebhookDelivery from "../../src/webhooks/WebhookDelivery.ts"
import { NotTaken, WebhookSender } from "../../src/webhooks/WebhookSender.ts"

const webhook = (id: string): Webhook => ({
  id,
  owner: `usr_${id}`,
  url: "https://a.example/",
  events: ["link.created"],
  secret: "whsec_",
  createdAt: 0
})

const messages = (webhookId: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `msg_${String(index).padStart(4, "0")}`,
    owner: `usr_${webhookId}`,
    event: "link.created" as const,
    body: "{}"
  }))

/** An attempt that a node made, and when, in milliseconds from the test's beginning. */
interface Attempt {
  readonly webhookId: string
  readonly id: string
  readonly at: number
}

/** A node that delivers, in virtual time; `reply` is what becomes of each attempt. */
const start = (reply: (delivery: Delivery) => Effect.Effect<void, NotTaken>) =>
  Effect.gen(function* () {
    const store = yield* WebhookStoreMemory.make
    const attempts: Array<Attempt> = []
    const underWay = { now: 0, most: 0 }
    const send = (delivery: Delivery) =>
      Effect.gen(function* () {
        const { id, webhookId } = delivery
        attempts.push({ webhookId, id, at: yield* Clock.currentTimeMillis })
        underWay.most = Math.max(underWay.most, ++underWay.now)
        return yield* reply(delivery)
      }).pipe(Effect.ensuring(Effect.sync(() => underWay.now--)))
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    yield* Layer.buildWithScope(
      WebhookDelivery.layer.pipe(
        Layer.provide([Layer.succeed(WebhookStore, store), Layer.succeed(WebhookSender, { send })])
      ),
      scope
    )
    return { store, attempts, underWay, stop: Scope.close(scope, Exit.void) }
  })

const fails = new NotTaken({ reason: "It answered 500." })

/** Lets time pass in small steps, so that what happens in between happens in its order. */
const pass = (seconds: number, step_ms = 100) =>
  Effect.repeatN(TestClock.adjust(step_ms), Math.round((seconds * 1_000) / step_ms) - 1)

describe("WebhookDelivery", () => {
  it.scoped("delivers what is queued within a second, each message once", () =>
    Effect.gen(function* () {
      const { attempts, store } = yield* start(() => Effect.void)
      yield* store.add(webhook("a"), 10)
      yield* store.offer(messages("a", 10))
      yield* pass(2)
      expect(attempts.map(({ id }) => id).toSorted()).toEqual(messages("a", 10).map(({ id }) => id))
      expect(yield* store.find("a")).toMatchObject({ pending: 0, deadLetters: 0 })
    })
  )

  it.effect("waits longer with each attempt, 17 hours in all at least, and less than a day", () =>
    Effect.gen(function* () {
      let total_s = 0
      for (let attempt = 1; attempt < WebhookDelivery.attemptsMax; attempt++) {
        const { pause_ms, retryIn_ms } = yield* WebhookDelivery.afterFailure(
          { attempt, failures: attempt - 1 },
          ""
        )
        const most_ms = 5_000 * 2 ** (attempt - 1)
        expect(retryIn_ms).toBeGreaterThanOrEqual(0.75 * most_ms)
        expect(retryIn_ms).toBeLessThanOrEqual(most_ms)
        expect(pause_ms).toBe(Math.min(1_000 * 2 ** (attempt - 1), 300_000))
        total_s += retryIn_ms! / 1_000
      }
      expect(total_s).toBeGreaterThan(17 * 3_600)
      expect(total_s).toBeLessThan(23 * 3_600)
      const last = { attempt: WebhookDelivery.attemptsMax, failures: 1_000_000 }
      expect(yield* WebhookDelivery.afterFailure(last, "why")).toEqual({
        reason: "why",
        retryIn_ms: null,
        pause_ms: 300_000
      })
    })
  )

  it.scoped("gives a message up after 15 attempts", () =>
    Effect.gen(function* () {
      const { attempts, store } = yield* start(() => fails)
      yield* store.add(webhook("a"), 10)
      yield* store.offer(messages("a", 1))
      for (let attempt = 1; attempt < WebhookDelivery.attemptsMax; attempt++) {
        const [delivery] = yield* store.claim({ max: 1, perWebhook: 1, busy: [], lease_ms: 1_000 })
        yield* store.failed(delivery!, { reason: "", retryIn_ms: 0, pause_ms: 0 })
      }
      yield* pass(2)
      expect(attempts).toHaveLength(1)
      expect(yield* store.deadLetters("a", 10, null)).toMatchObject([
        { attempts: 15, reason: "It answered 500." }
      ])
      expect(yield* store.find("a")).toMatchObject({ pending: 0, deadLetters: 1 })
    })
  )

  it.scoped("delivers everything to a receiver that recovers, and asks it seldom before", () =>
    Effect.gen(function* () {
      let isDown = true
      const { attempts, store } = yield* start(() => (isDown ? fails : Effect.void))
      yield* store.add(webhook("a"), 10)
      yield* store.offer(messages("a", 100))
      yield* pass(60, 1_000)
      // Four at once, then one after 1, 16 and 32 s.
      expect(attempts).toHaveLength(7)
      expect(yield* store.find("a")).toMatchObject({ pending: 100, failures: 7 })
      isDown = false
      yield* pass(120, 1_000)
      expect(yield* store.find("a")).toMatchObject({ pending: 0, deadLetters: 0, failures: 0 })
    })
  )

  it.scoped("delivers to others while receivers hang and fail", () =>
    Effect.gen(function* () {
      const { attempts, store, underWay } = yield* start(({ webhookId }) =>
        webhookId === "hangs"
          ? Effect.zipRight(Effect.sleep("10 seconds"), fails)
          : webhookId === "fails"
            ? fails
            : Effect.void
      )
      for (const id of ["hangs", "fails", "well"]) {
        yield* store.add(webhook(id), 10)
        yield* store.offer(messages(id, 200))
      }
      yield* pass(10)
      expect(attempts.filter(({ webhookId }) => webhookId === "well")).toHaveLength(200)
      expect(attempts.filter(({ webhookId }) => webhookId === "hangs")).toHaveLength(4)
      expect(underWay.most).toBeLessThanOrEqual(8)
    })
  )

  it.scoped("has 64 messages under way at most", () =>
    Effect.gen(function* () {
      const { store, underWay } = yield* start(() => Effect.sleep("10 seconds"))
      for (let index = 0; index < 20; index++) {
        yield* store.add(webhook(`w${index}`), 100)
        yield* store.offer(messages(`w${index}`, 10))
      }
      yield* pass(5)
      expect(underWay.now).toBe(64)
      yield* pass(60)
      expect(underWay.most).toBe(64)
    })
  )

  it.scoped("gives back at its stop what it was delivering, for others at once", () =>
    Effect.gen(function* () {
      const { attempts, stop, store } = yield* start(() => Effect.never)
      yield* store.add(webhook("a"), 10)
      yield* store.offer(messages("a", 1))
      yield* pass(2)
      expect(attempts).toHaveLength(1)
      const claim = { max: 1, perWebhook: 1, busy: [], lease_ms: 1_000 }
      expect(yield* store.claim(claim)).toEqual([])
      yield* stop
      expect(yield* store.claim(claim)).toMatchObject([{ id: "msg_0000", attempt: 1 }])
    })
  )
})
