import { expect, it } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, Option, Scope, TestClock } from "effect"
import { describe } from "vitest"
import * as Quotas from "../../src/accounts/Quotas.ts"
import * as RateLimiter from "../../src/accounts/RateLimiter.ts"
import { AdminKey } from "../../src/accounts/AdminKey.ts"
import * as AccountStoreMemory from "../../src/sim/stores/AccountStoreMemory.ts"
import * as QuotaStoreMemory from "../../src/sim/stores/QuotaStoreMemory.ts"
import * as WebhookListeners from "../../src/storage/webhooks/WebhookListeners.ts"
import { type Delivery, retryMax_ms, WebhookStore } from "../../src/storage/webhooks/WebhookStore.ts"
import * as WebhookStoreMemory from "../../src/sim/stores/WebhookStoreMemory.ts"
import { StorageError } from "../../src/storage/StorageError.ts"
import { testHashLayer } from "../support/TestHash.ts"
import { adminKeyIdOf, type Webhook } from "../../src/model/Webhook.ts"
import { drawChallenge } from "../../src/webhooks/WebhookMessages.ts"
import * as WebhookDelivery from "../../src/webhooks/WebhookDelivery.ts"
import * as WebhookUpkeep from "../../src/webhooks/WebhookUpkeep.ts"
import { TrustedTime } from "../../src/time/TrustedTime.ts"
import { type Answer, NotTaken, WebhookSender } from "../../src/webhooks/WebhookSender.ts"
import { addVerified, claimOf, keyOf, userOf, webhookOf } from "../support/samples/SomeWebhooks.ts"

const webhook = (id: string, changes: Partial<Webhook> = {}): Webhook =>
  webhookOf(id, { owner: `usr_${id}`, events: ["link.created"], ...changes })

const messages = (owner: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({
    id: `msg_${String(from + index).padStart(4, "0")}`,
    owner: `usr_${owner}`,
    event: "link.created" as const,
    body: "{}"
  }))

/** The ids of the events that a message tells. */
const eventsOf = ({ body, event, id }: Pick<Delivery, "id" | "event" | "body">): ReadonlyArray<string> =>
  event === "events"
    ? (JSON.parse(body) as { data: ReadonlyArray<{ id: string }> }).data.map((one) => one.id)
    : [id]

/** An attempt that a node made, and when, in milliseconds from the test's beginning. */
interface Attempt extends Delivery {
  readonly at: number
}

const taken: Answer = { status: 204, body: "" }

/** How receivers answer. */
type Reply = (delivery: Delivery) => Effect.Effect<Answer, NotTaken>

const digest = "d".repeat(64)

/** A node that delivers, in virtual time; `reply` is what becomes of each attempt. */
const start = (reply: Reply, store?: typeof WebhookStore.Service) =>
  Effect.gen(function* () {
    const webhooks = store ?? (yield* WebhookStoreMemory.make)
    const attempts: Array<Attempt> = []
    const underWay = { now: 0, most: 0 }
    const send = (delivery: Delivery) =>
      Effect.gen(function* () {
        attempts.push({ ...delivery, at: yield* Clock.currentTimeMillis })
        underWay.most = Math.max(underWay.most, ++underWay.now)
        return yield* reply(delivery)
      }).pipe(Effect.ensuring(Effect.sync(() => underWay.now--)))
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    yield* Layer.buildWithScope(
      Layer.merge(WebhookDelivery.layer, WebhookUpkeep.layer).pipe(
        Layer.provide([
          Layer.succeed(WebhookStore, webhooks),
          Layer.provide(WebhookListeners.layer, Layer.succeed(WebhookStore, webhooks)),
          Layer.succeed(WebhookSender, { send }),
          Layer.succeed(AdminKey, { digest, drawn: Option.none() }),
          Quotas.layer(Quotas.unlimited).pipe(
            Layer.provide(RateLimiter.layer),
            Layer.provide([QuotaStoreMemory.layer, testHashLayer])
          )
        ])
      ),
      scope
    )
    return { store: webhooks, attempts, underWay, stop: Scope.close(scope, Exit.void) }
  })

const fails = new NotTaken({ reason: "It answered 500." })

/** Lets time pass in small steps, so that what happens in between happens in its order: in larger ones where nothing more is to come. */
const pass = (seconds: number, step_ms = 100) =>
  Effect.repeatN(TestClock.adjust(step_ms), Math.round((seconds * 1_000) / step_ms) - 1)

describe("WebhookDelivery", () => {
  it.scoped("delivers what is queued within a second, each message once", () =>
    Effect.gen(function* () {
      const { attempts, store } = yield* start(() => Effect.succeed(taken))
      yield* addVerified(store, webhook("a"))
      yield* store.offer(messages("a", 10))
      yield* pass(2)
      expect(attempts.flatMap(eventsOf).toSorted()).toEqual(messages("a", 10).map(({ id }) => id))
      expect(yield* store.find("a")).toMatchObject({ pending: 0, deadLetters: 0 })
    })
  )

  it.effect("waits longer with each attempt, 17 hours in all at least, and less than a day", () =>
    Effect.gen(function* () {
      let total_s = 0
      for (let attempt = 1; attempt < WebhookDelivery.attemptsMax; attempt++) {
        const { pause_ms, retryIn_ms } = yield* WebhookDelivery.afterFailure(
          { attempt, failures: attempt - 1 },
          "It answered 500."
        )
        const most_ms = 5_000 * 2 ** (attempt - 1)
        expect(retryIn_ms).toBeGreaterThanOrEqual(0.75 * most_ms)
        expect(retryIn_ms).toBeLessThanOrEqual(most_ms)
        expect(most_ms).toBeLessThan(retryMax_ms)
        expect(pause_ms).toBe(Math.min(1_000 * 2 ** (attempt - 1), 300_000))
        total_s += retryIn_ms! / 1_000
      }
      expect(total_s).toBeGreaterThan(17 * 3_600)
      expect(total_s).toBeLessThan(23 * 3_600)
      const last = { attempt: WebhookDelivery.attemptsMax, failures: 1_000_000 }
      expect(yield* WebhookDelivery.afterFailure(last, "It answered 500.")).toEqual({
        reason: "It answered 500.",
        retryIn_ms: null,
        pause_ms: 300_000
      })
    })
  )

  it.scoped("gives a message up after 15 attempts", () =>
    Effect.gen(function* () {
      const { attempts, store } = yield* start(() => fails)
      yield* addVerified(store, webhook("a"))
      yield* store.offer(messages("a", 1))
      for (let attempt = 1; attempt < WebhookDelivery.attemptsMax; attempt++) {
        const [delivery] = yield* store.claim(claimOf())
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

  it.scoped("delivers nothing for a former admin key, however often its webhooks cannot be ended", () =>
    Effect.gen(function* () {
      const memory = yield* WebhookStoreMemory.make
      yield* addVerified(memory, webhook("a", { keyId: adminKeyIdOf("f".repeat(64)) }))
      yield* memory.offer(messages("a", 1))
      const away = new StorageError({ operation: "WebhookStore.lapse", applied: "no", reason: "it is away" })
      let failures = 3
      const { attempts } = yield* start(() => Effect.succeed(taken), {
        ...memory,
        lapse: (adminKeyId) =>
          Effect.suspend(() => (failures-- > 0 ? Effect.fail(away) : memory.lapse(adminKeyId)))
      })
      yield* pass(10)
      expect(failures).toBeLessThan(0)
      expect(attempts).toEqual([])
      expect(yield* memory.find("a")).toMatchObject({ status: "ended", pending: 0 })
    })
  )

  it.scoped("neither sweeps nor ends webhooks while the time is in doubt, and does both when it is not", () =>
    Effect.gen(function* () {
      let isSettled = false
      const done: Array<string> = []
      const memory = yield* WebhookStoreMemory.make
      const store: typeof WebhookStore.Service = {
        ...memory,
        sweep: Effect.sync(() => void done.push("sweep")),
        lapse: (adminKeyId) =>
          Effect.sync(() => (done.push(adminKeyId === null ? "lapse" : "lapse at the start"), 0))
      }
      yield* start(() => Effect.succeed(taken), store).pipe(
        Effect.provideService(TrustedTime, {
          isSettled: () => isSettled,
          wallAhead_ms: () => 0,
          heard: () => Effect.void
        })
      )
      yield* pass(660, 60_000)
      expect(done).toEqual(["lapse at the start"])
      isSettled = true
      yield* pass(600, 60_000)
      expect(new Set(done)).toEqual(new Set(["lapse at the start", "lapse", "sweep"]))
    })
  )

  it.scoped(
    "delivers what was paused, queued and retried while the clock was ahead once it is corrected",
    () =>
      Effect.gen(function* () {
        let ahead_ms = 86_400_000
        const clock = yield* Effect.clock
        const now_ms = () => clock.unsafeCurrentTimeMillis() + ahead_ms
        const ofDatabase = Effect.withClock(
          Object.assign(Object.create(clock) as Clock.Clock, {
            unsafeCurrentTimeMillis: now_ms,
            currentTimeMillis: Effect.sync(now_ms)
          })
        )
        const memory = yield* WebhookStoreMemory.make
        let isDown = true
        const { attempts, store } = yield* start(
          () => Effect.suspend(() => (isDown ? fails : Effect.succeed(taken))),
          {
            ...memory,
            offer: (messages) => ofDatabase(memory.offer(messages)),
            claim: (claim) => ofDatabase(memory.claim(claim)),
            failed: (delivery, failure) => ofDatabase(memory.failed(delivery, failure))
          }
        )
        yield* addVerified(store, webhook("a"))
        yield* store.offer(messages("a", 1))
        yield* pass(2)
        expect(attempts.flatMap(eventsOf)).toEqual(["msg_0000"])
        yield* store.offer(messages("a", 1, 1))
        isDown = false
        ahead_ms = 0
        yield* pass(3)
        expect(attempts.flatMap(eventsOf).toSorted()).toEqual(["msg_0000", "msg_0000", "msg_0001"])
        expect(yield* store.find("a")).toMatchObject({ pending: 0, deadLetters: 0 })
      })
  )

  it.scoped("delivers everything to a receiver that recovers, and asks it seldom before", () =>
    Effect.gen(function* () {
      let isDown = true
      const { attempts, store } = yield* start(() => (isDown ? fails : Effect.succeed(taken)))
      yield* addVerified(store, webhook("a"))
      yield* store.offer(messages("a", 1_000))
      yield* pass(60, 1_000)
      // Four at once, then one after 1, 16 and 32 s.
      expect(attempts).toHaveLength(7)
      expect(yield* store.find("a")).toMatchObject({ pending: 1_000, failures: 7 })
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
            : Effect.succeed(taken)
      )
      for (const id of ["hangs", "fails", "well"]) {
        yield* addVerified(store, webhook(id))
        yield* store.offer(messages(id, 1_000))
      }
      yield* pass(10)
      const toOthers = attempts.filter(({ webhookId }) => webhookId === "well")
      expect(toOthers.flatMap(eventsOf)).toHaveLength(1_000)
      expect(attempts.filter(({ webhookId }) => webhookId === "hangs")).toHaveLength(4)
      expect(underWay.most).toBeLessThanOrEqual(8)
    })
  )

  it.scoped("has 64 messages under way at most", () =>
    Effect.gen(function* () {
      const { store, underWay } = yield* start(() => Effect.as(Effect.sleep("10 seconds"), taken))
      for (let index = 0; index < 20; index++) {
        yield* addVerified(store, webhook(`w${index}`))
        yield* store.offer(messages(`w${index}`, 1_000))
      }
      yield* pass(5)
      expect(underWay.now).toBe(64)
      yield* pass(60, 500)
      expect(underWay.most).toBe(64)
    })
  )

  it.scoped("gives back at its stop what it was delivering, for others at once", () =>
    Effect.gen(function* () {
      const { attempts, stop, store } = yield* start(() => Effect.never)
      yield* addVerified(store, webhook("a"))
      yield* store.offer(messages("a", 1))
      yield* pass(2)
      expect(attempts).toHaveLength(1)
      const claim = claimOf()
      expect(yield* store.claim(claim)).toEqual([])
      yield* stop
      expect(yield* store.claim(claim)).toMatchObject([{ id: "msg_0000", attempt: 1 }])
    })
  )

  it.scoped("joins what is due, up to 100 events a message, and tells each event once", () =>
    Effect.gen(function* () {
      const { attempts, store } = yield* start(() => Effect.succeed(taken))
      const ids = Array.from({ length: 10 }, (_, index) => `w${index}`)
      for (const id of ids)
        yield* addVerified(store, webhook(id, { owner: "usr_a", url: "https://one.example/" }))
      yield* store.offer(messages("a", 1_000))
      yield* pass(12)
      yield* pass(18, 1_000)
      for (const id of ids) {
        const told = attempts.filter(({ webhookId }) => webhookId === id)
        // All of them full: ten messages of up to 101 would tell a thousand events, too.
        expect(told.map((attempt) => eventsOf(attempt).length)).toEqual(Array(10).fill(100))
        expect(new Set(told.flatMap(eventsOf)).size).toBe(1_000)
      }
    })
  )

  it.scoped("waits half a second for what comes with the first event", () =>
    Effect.gen(function* () {
      const { attempts, store } = yield* start(() => Effect.succeed(taken))
      yield* addVerified(store, webhook("a"))
      for (let part = 0; part < 10; part++) {
        yield* store.offer(messages("a", 10, part * 10))
        yield* TestClock.adjust("40 millis")
      }
      yield* pass(3)
      expect(attempts).toHaveLength(1)
      expect(eventsOf(attempts[0]!)).toHaveLength(100)
      yield* store.offer(messages("a", 1, 100))
      yield* pass(3)
      expect(attempts.slice(1)).toMatchObject([{ event: "link.created", body: "{}" }])
    })
  )

  /** The most attempts of some within a second. */
  const mostInASecond = (attempts: ReadonlyArray<Attempt>) =>
    Math.max(
      ...attempts.map(({ at }) => attempts.filter((one) => one.at >= at && one.at < at + 1_000).length)
    )

  it.scoped("sends 10 messages of a user's a second at most, whatever hosts they go to", () =>
    Effect.gen(function* () {
      const { attempts, store } = yield* start(() => Effect.succeed(taken))
      for (let index = 0; index < 10; index++)
        yield* addVerified(store, webhook(`w${index}`, { owner: "usr_a" }))
      yield* addVerified(store, webhook("b"))
      yield* store.offer([...messages("a", 1_000), ...messages("b", 1)])
      yield* pass(2)
      expect(attempts.filter(({ owner }) => owner === "usr_b")).toHaveLength(1)
      yield* pass(15)
      yield* pass(45, 1_000)
      const ofUser = attempts.filter(({ owner }) => owner === "usr_a")
      expect(ofUser).toHaveLength(100)
      expect(mostInASecond(ofUser)).toBe(10)
    })
  )

  it.scoped("sends 50 messages a second to a host at most, whoever has webhooks there", () =>
    Effect.gen(function* () {
      const { attempts, store } = yield* start(() => Effect.succeed(taken))
      for (let index = 0; index < 80; index++) {
        const owner = `usr_${index}`
        yield* addVerified(store, webhook(`w${index}`, { owner, url: `https://one.example:${index + 1}/` }))
        yield* store.offer(messages(String(index), 300))
      }
      yield* addVerified(store, webhook("other"))
      yield* store.offer(messages("other", 1))
      yield* pass(2)
      expect(attempts.filter(({ host }) => host === "other.example")).toHaveLength(1)
      yield* pass(8)
      yield* pass(22, 1_000)
      const toHost = attempts.filter(({ host }) => host === "one.example")
      expect(toHost).toHaveLength(240)
      expect(mostInASecond(toHost)).toBe(50)
    })
  )

  it.scoped(
    "has 8 messages of a user's under way at most, so that slow receivers leave the others room",
    () =>
      Effect.gen(function* () {
        const { attempts, store, underWay } = yield* start(({ owner }) =>
          owner === "usr_slow" ? Effect.as(Effect.sleep("9 seconds"), taken) : Effect.succeed(taken)
        )
        for (let index = 0; index < 10; index++) {
          yield* addVerified(store, webhook(`slow${index}`, { owner: "usr_slow" }))
        }
        yield* store.offer(messages("slow", 5_000))
        yield* pass(3)
        expect(underWay.now).toBe(8)
        yield* addVerified(store, webhook("b"))
        yield* store.offer(messages("b", 100))
        yield* pass(2)
        expect(attempts.filter(({ owner }) => owner === "usr_b").flatMap(eventsOf)).toHaveLength(100)
        expect(underWay.most).toBe(9)
      })
  )
})

describe("WebhookDelivery of challenges", () => {
  const add = (store: typeof WebhookStore.Service, id: string, changes?: Partial<Webhook>) =>
    Effect.flatMap(drawChallenge(0), (challenge) => store.add(webhook(id, changes), challenge, 100))

  /** Answers challenges rightly. */
  const proof = ({ body }: Delivery) => {
    const { data } = JSON.parse(body) as { readonly data: { readonly challenge: string } }
    return data.challenge
  }

  for (const [title, answerTo] of [
    ["as text", (delivery: Delivery) => `${proof(delivery)}\n`],
    ["as JSON", (delivery: Delivery) => JSON.stringify({ status: "ok", challenge: proof(delivery) })]
  ] as const) {
    it.scoped(
      `verifies a receiver that gives its challenge back, ${title}, and tells it what comes then`,
      () =>
        Effect.gen(function* () {
          const { attempts, store } = yield* start((delivery) =>
            Effect.succeed({
              status: 200,
              body: delivery.event === "webhook.verification" ? answerTo(delivery) : ""
            })
          )
          yield* add(store, "a")
          yield* pass(2)
          expect(attempts).toHaveLength(1)
          expect(yield* store.find("a")).toMatchObject({ status: "active", failures: 0, pending: 0 })
          yield* store.offer(messages("a", 1))
          yield* pass(2)
          expect(attempts.slice(1)).toMatchObject([{ id: "msg_0000", event: "link.created" }])
        })
    )
  }

  it.scoped("tries a receiver that gives its challenge not back again and again, and sends it no event", () =>
    Effect.gen(function* () {
      const { attempts, store } = yield* start(({ body }) => Effect.succeed({ status: 200, body }))
      yield* add(store, "a")
      yield* store.offer(messages("a", 100))
      yield* pass(80, 500)
      expect(attempts).toHaveLength(3)
      expect(new Set(attempts.map(({ body, event, id }) => `${event} ${id} ${body}`)).size).toBe(1)
      expect(attempts[0]!.event).toBe("webhook.verification")
      expect(yield* store.find("a")).toMatchObject({
        status: "unverified",
        pending: 0,
        failures: 3,
        lastFailure: "It answered 200 without the challenge."
      })
    })
  )

  it.scoped("tells why a receiver could not be asked", () =>
    Effect.gen(function* () {
      const { store } = yield* start(() => fails)
      yield* add(store, "a")
      yield* pass(2)
      expect(yield* store.find("a")).toMatchObject({ status: "unverified", lastFailure: "It answered 500." })
    })
  )

  it.scoped("sends 10 a minute for a user, however many webhooks they have, and the others later", () =>
    Effect.gen(function* () {
      const { attempts, store } = yield* start((delivery) =>
        Effect.succeed({ status: 200, body: proof(delivery) })
      )
      for (let index = 0; index < 20; index++) yield* add(store, `w${index}`, { owner: "usr_a" })
      yield* add(store, "b")
      yield* pass(5)
      expect(attempts.filter(({ owner }) => owner === "usr_b")).toHaveLength(1)
      expect(attempts.filter(({ owner }) => owner === "usr_a")).toHaveLength(10)
      yield* pass(30, 500)
      expect(attempts.filter(({ owner }) => owner === "usr_a").length).toBeLessThanOrEqual(16)
      yield* pass(60, 500)
      expect(attempts).toHaveLength(21)
      expect((yield* store.list("usr_a")).every(({ status }) => status === "active")).toBe(true)
    })
  )

  it.scoped("sends 20 a minute to a host, whoever has webhooks there", () =>
    Effect.gen(function* () {
      const { attempts, store } = yield* start(() => fails)
      for (let index = 0; index < 60; index++) {
        yield* add(store, `w${index}`, { owner: `usr_${index}`, url: `https://one.example:${index + 1}/` })
      }
      yield* add(store, "b")
      yield* pass(5)
      expect(attempts.filter(({ owner }) => owner === "usr_b")).toHaveLength(1)
      const toHost = () => attempts.filter(({ host }) => host === "one.example").length
      expect(toHost()).toBeGreaterThanOrEqual(20)
      expect(toHost()).toBeLessThanOrEqual(22)
      yield* pass(55, 500)
      expect(toHost()).toBeLessThanOrEqual(40)
    })
  )
})

describe("WebhookDelivery of webhooks that end", () => {
  it.scoped("sends nothing more once the API key is revoked, and drops what waits within a minute", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStoreMemory.make
      yield* accounts.addUser(userOf("usr_a"))
      yield* accounts.addKey(keyOf("key_1", "usr_a"), 10)
      const { attempts, store } = yield* start(
        () => Effect.succeed(taken),
        yield* WebhookStoreMemory.makeOver(accounts)
      )
      yield* addVerified(store, webhook("a", { keyId: "key_1" }))
      yield* store.offer(messages("a", 5_000))
      yield* pass(2)
      const before = attempts.length
      expect(before).toBeGreaterThan(0)
      expect(before).toBeLessThan(50)
      yield* accounts.removeKey("key_1", null)
      yield* store.offer(messages("a", 100, 5_000))
      yield* pass(70, 500)
      expect(attempts).toHaveLength(before)
      const dropped = 5_000 - before * 100
      expect(yield* store.find("a")).toMatchObject({ status: "ended", pending: 0, dropped })
      expect(yield* store.lapse(null)).toBe(0)
    })
  )

  it.scoped("sends nothing for an administrator's key that was another one before the start", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStoreMemory.make
      yield* addVerified(store, webhook("old", { owner: "usr_a", keyId: adminKeyIdOf("0".repeat(64)) }))
      yield* addVerified(store, webhook("current", { owner: "usr_a", keyId: adminKeyIdOf(digest) }))
      yield* store.offer(messages("a", 10))
      const { attempts } = yield* start(() => Effect.succeed(taken), store)
      yield* pass(5)
      expect(attempts.map(({ webhookId }) => webhookId)).toEqual(["current"])
      expect(yield* store.find("old")).toMatchObject({ status: "ended", dropped: 10 })
    })
  )
})
