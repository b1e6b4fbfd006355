import { expect, it } from "@effect/vitest"
import { Clock, Effect, Schedule } from "effect"
import { describe } from "vitest"
import type { Claim, WebhookStore } from "../../src/storage/WebhookStore.ts"
import { pendingMax } from "../../src/storage/WebhookStore.ts"
import type { Webhook, WebhookMessage } from "../../src/Webhook.ts"
import type { Open } from "./stores.ts"

type Store = WebhookStore["Type"]

const webhook = (id: string, changes: Partial<Webhook> = {}): Webhook => ({
  id,
  owner: "usr_a",
  url: `https://${id}.example/hook`,
  events: ["link.created", "link.deleted"],
  secret: "whsec_c2VjcmV0",
  createdAt: 1_000,
  ...changes
})

const message = (id: string, changes: Partial<WebhookMessage> = {}): WebhookMessage => ({
  id,
  owner: "usr_a",
  event: "link.created",
  body: `{"id":"${id}"}`,
  ...changes
})

const numbered = (count: number, changes: Partial<WebhookMessage> = {}) =>
  Array.from({ length: count }, (_, index) => message(`m${String(index).padStart(5, "0")}`, changes))

const claims = (changes: Partial<Claim> = {}): Claim => ({
  max: 100,
  perWebhook: 100,
  busy: [],
  lease_ms: 60_000,
  ...changes
})

const failure = { reason: "It answered 500.", retryIn_ms: 0, pause_ms: 0 }

/** Claims until there is something, ten seconds at most. */
const claimed = (store: Store, changes: Partial<Claim> = {}) =>
  store.claim(claims(changes)).pipe(
    Effect.filterOrFail(
      (found) => found.length > 0,
      () => "nothing is due"
    ),
    Effect.retry(Schedule.spaced("20 millis").pipe(Schedule.upTo("10 seconds")))
  )

const idsOf = (deliveries: ReadonlyArray<{ readonly id: string }>) =>
  deliveries.map(({ id }) => id).toSorted()

/** The laws of `WebhookStore`, as tests of one backend. */
export const webhookStoreLaws = (title: string, open: Open<Store>): void => {
  const store = Effect.flatten(open)

  describe(`${title}: webhooks`, () => {
    it.scopedLive("lists those of an owner in the order in which they were made", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        const second = webhook("b", { createdAt: 2_000, events: ["link.visited"] })
        yield* webhooks.add(second, 10)
        yield* webhooks.add(webhook("c", { owner: "usr_b" }), 10)
        yield* webhooks.add(webhook("a"), 10)
        const fresh = { pending: 0, deadLetters: 0, dropped: 0, failures: 0 }
        expect(yield* webhooks.list("usr_a")).toEqual([
          { ...webhook("a"), ...fresh },
          { ...second, ...fresh }
        ])
        expect(yield* webhooks.find("b")).toEqual({ ...second, ...fresh })
        expect(yield* webhooks.find("z")).toBeNull()
        expect(yield* webhooks.list("usr_z")).toEqual([])
      })
    )

    it.scopedLive("keeps no more of an owner than allowed, however many are added at once", () =>
      Effect.gen(function* () {
        const client = yield* open
        const clients = yield* Effect.all([client, client])
        const added = yield* Effect.forEach(
          Array.from({ length: 12 }, (_, index) => index),
          (index) => clients[index % 2]!.add(webhook(`w${index}`), 3),
          { concurrency: "unbounded" }
        )
        expect(added.filter(Boolean)).toHaveLength(3)
        expect(yield* clients[0].list("usr_a")).toHaveLength(3)
        expect(yield* clients[0].add(webhook("other", { owner: "usr_b" }), 3)).toBe(true)
      })
    )

    it.scopedLive("removes a webhook once, and its messages with it", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* webhooks.add(webhook("a"), 10)
        yield* webhooks.offer(numbered(3))
        expect(yield* webhooks.remove("a")).toBe(true)
        expect(yield* webhooks.remove("a")).toBe(false)
        expect(yield* webhooks.find("a")).toBeNull()
        yield* webhooks.add(webhook("a"), 10)
        expect(yield* webhooks.claim(claims())).toEqual([])
      })
    )

    it.scopedLive("tells who listens to what, and only when that has changed", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        const before = yield* webhooks.listeners(null)
        expect(before!.byOwner.size).toBe(0)
        expect(yield* webhooks.listeners(before!.version)).toBeNull()
        yield* webhooks.add(webhook("a", { events: ["link.created"] }), 10)
        yield* webhooks.add(webhook("b", { events: ["link.visited"] }), 10)
        yield* webhooks.add(webhook("c", { owner: "usr_b", events: ["link.deleted"] }), 10)
        const after = yield* webhooks.listeners(before!.version)
        expect(after!.byOwner).toEqual(
          new Map([
            ["usr_a", new Set(["link.created", "link.visited"])],
            ["usr_b", new Set(["link.deleted"])]
          ])
        )
        yield* webhooks.remove("c")
        const last = yield* webhooks.listeners(after!.version)
        expect(last!.byOwner.has("usr_b")).toBe(false)
      })
    )
  })

  describe(`${title}: the queue`, () => {
    it.scopedLive("keeps a message for each webhook of its owner that wants its event", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* webhooks.add(webhook("a"), 10)
        yield* webhooks.add(webhook("b", { events: ["link.visited"] }), 10)
        yield* webhooks.add(webhook("c"), 10)
        yield* webhooks.add(webhook("d", { owner: "usr_b" }), 10)
        expect(yield* webhooks.offer([message("m", { body: `{"text":"ü 𝄞 \\"' $1"}` })])).toBe(0)
        expect(yield* webhooks.offer([])).toBe(0)
        const found = yield* webhooks.claim(claims())
        expect(found.map(({ webhookId }) => webhookId).toSorted()).toEqual(["a", "c"])
        const { lease: _, ...first } = found.find(({ webhookId }) => webhookId === "a")!
        expect(first).toEqual({
          id: "m",
          webhookId: "a",
          event: "link.created",
          body: `{"text":"ü 𝄞 \\"' $1"}`,
          url: "https://a.example/hook",
          secret: "whsec_c2VjcmV0",
          attempt: 1,
          failures: 0
        })
        expect(yield* webhooks.find("a")).toMatchObject({ pending: 1, deadLetters: 0 })
      })
    )

    it.scopedLive("keeps a message once, however often it is offered, until it is delivered", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* webhooks.add(webhook("a"), 10)
        yield* webhooks.offer([message("m"), message("m")])
        yield* webhooks.offer([message("m")])
        const [delivery, ...others] = yield* webhooks.claim(claims())
        expect(others).toEqual([])
        yield* webhooks.offer([message("m")])
        expect(yield* webhooks.claim(claims())).toEqual([])
        yield* webhooks.delivered(delivery!)
        expect(yield* webhooks.claim(claims())).toEqual([])
        expect(yield* webhooks.find("a")).toMatchObject({ pending: 0, deadLetters: 0 })
      })
    )

    it.scopedLive("gives each message to one of many who claim at once", () =>
      Effect.gen(function* () {
        const client = yield* open
        const clients = yield* Effect.all([client, client, client, client])
        yield* clients[0].add(webhook("a"), 10)
        yield* clients[0].add(webhook("b"), 10)
        yield* clients[0].offer(numbered(100))
        const found = yield* Effect.forEach(
          Array.from({ length: 40 }, (_, index) => index),
          (index) => clients[index % 4]!.claim(claims({ max: 10 })),
          { concurrency: "unbounded" }
        )
        const rest = yield* clients[0].claim(claims({ max: 1_000, perWebhook: 1_000 }))
        const all = [...found.flat(), ...rest].map(({ id, webhookId }) => `${webhookId}/${id}`)
        expect(all).toHaveLength(200)
        expect(new Set(all).size).toBe(200)
      })
    )

    it.scopedLive("claims as many as wanted, of each webhook as many as wanted, and none of busy ones", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        for (const id of ["a", "b", "c"]) yield* webhooks.add(webhook(id), 10)
        yield* webhooks.offer(numbered(5))
        const some = yield* webhooks.claim(claims({ perWebhook: 2, busy: ["b"] }))
        expect(some.map(({ webhookId }) => webhookId).toSorted()).toEqual(["a", "a", "c", "c"])
        expect(yield* webhooks.claim(claims({ max: 3 }))).toHaveLength(3)
        expect(yield* webhooks.claim(claims({ busy: ["a", "b", "c"] }))).toEqual([])
      })
    )

    it.scopedLive("gives a message again when its lease has ended, and heeds nobody who has lost it", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* webhooks.add(webhook("a"), 10)
        yield* webhooks.offer([message("m")])
        const [lost] = yield* webhooks.claim(claims({ lease_ms: 100 }))
        const [held] = yield* claimed(webhooks)
        expect(held).toMatchObject({ id: "m", attempt: 2 })
        yield* webhooks.delivered(lost!)
        yield* webhooks.release(lost!)
        yield* webhooks.failed(lost!, { ...failure, retryIn_ms: null })
        expect(yield* webhooks.find("a")).toMatchObject({ pending: 1, deadLetters: 0 })
        expect(yield* webhooks.claim(claims())).toEqual([])
        yield* webhooks.delivered(held!)
        expect(yield* webhooks.find("a")).toMatchObject({ pending: 0, deadLetters: 0, failures: 1 })
      })
    )

    it.scopedLive("gives a message again that was given back, without counting the attempt", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* webhooks.add(webhook("a"), 10)
        yield* webhooks.offer([message("m")])
        const [delivery] = yield* webhooks.claim(claims())
        yield* webhooks.release(delivery!)
        expect(yield* webhooks.claim(claims())).toMatchObject([{ id: "m", attempt: 1 }])
      })
    )

    it.scopedLive("gives a failed message again after its time", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* webhooks.add(webhook("a"), 10)
        yield* webhooks.offer([message("m"), message("n")])
        const [first, second] = yield* webhooks.claim(claims())
        const start = yield* Clock.currentTimeMillis
        yield* webhooks.failed(first!, { ...failure, retryIn_ms: 300 })
        yield* webhooks.failed(second!, { ...failure, retryIn_ms: 3_600_000 })
        expect(yield* webhooks.claim(claims())).toEqual([])
        expect(yield* claimed(webhooks)).toMatchObject([{ id: first!.id, attempt: 2, failures: 2 }])
        expect((yield* Clock.currentTimeMillis) - start).toBeGreaterThanOrEqual(290)
        expect(yield* webhooks.claim(claims())).toEqual([])
      })
    )

    it.scopedLive("tries a webhook that failed with one message at a time, until one is delivered", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* webhooks.add(webhook("a"), 10)
        yield* webhooks.offer(numbered(5))
        const [one] = yield* webhooks.claim(claims({ perWebhook: 1 }))
        yield* webhooks.failed(one!, { ...failure, retryIn_ms: 60_000 })
        const [probe, ...others] = yield* webhooks.claim(claims())
        expect(others).toEqual([])
        expect(probe).toMatchObject({ failures: 1 })
        yield* webhooks.delivered(probe!)
        expect(yield* webhooks.claim(claims())).toHaveLength(3)
        expect(yield* webhooks.find("a")).toMatchObject({ failures: 0, pending: 4 })
      })
    )

    it.scopedLive("gives a paused webhook no message, old or new, and the others theirs", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* webhooks.add(webhook("a"), 10)
        yield* webhooks.add(webhook("b", { owner: "usr_b" }), 10)
        yield* webhooks.offer(numbered(3))
        const [one] = yield* webhooks.claim(claims({ perWebhook: 1 }))
        yield* webhooks.failed(one!, { ...failure, pause_ms: 60_000 })
        yield* webhooks.offer([message("new"), message("other", { owner: "usr_b" })])
        expect(idsOf(yield* webhooks.claim(claims()))).toEqual(["other"])
      })
    )

    it.scopedLive("resumes a paused webhook after its time", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* webhooks.add(webhook("a"), 10)
        yield* webhooks.offer(numbered(3))
        const [one] = yield* webhooks.claim(claims({ perWebhook: 1 }))
        yield* webhooks.failed(one!, { ...failure, pause_ms: 300 })
        yield* webhooks.offer([message("new")])
        expect(yield* webhooks.claim(claims())).toEqual([])
        const [probe] = yield* claimed(webhooks)
        yield* webhooks.delivered(probe!)
        expect(yield* claimed(webhooks)).toHaveLength(3)
      })
    )

    it.scopedLive(
      "drops and counts what comes when too many wait, and does not drop it for others",
      () =>
        Effect.gen(function* () {
          const webhooks = yield* store
          yield* webhooks.add(webhook("a"), 10)
          yield* webhooks.offer(numbered(pendingMax - 1))
          yield* webhooks.add(webhook("b"), 10)
          expect(yield* webhooks.offer([message("x"), message("y"), message("z")])).toBe(2)
          expect(yield* webhooks.find("a")).toMatchObject({ pending: pendingMax, dropped: 2 })
          expect(yield* webhooks.find("b")).toMatchObject({ pending: 3, dropped: 0 })
        }),
      60_000
    )
  })

  describe(`${title}: dead letters`, () => {
    const died = (webhooks: Store, count: number) =>
      Effect.gen(function* () {
        yield* webhooks.add(webhook("a"), 10)
        yield* webhooks.offer(numbered(count))
        const found = yield* webhooks.claim(claims({ max: count, perWebhook: count }))
        yield* Effect.forEach(found, (one) => webhooks.failed(one, { ...failure, retryIn_ms: null }))
        return found
      })

    it.scopedLive("keeps those that are given up, and lists them page by page, the newest first", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* died(webhooks, 5)
        expect(yield* webhooks.claim(claims())).toEqual([])
        expect(yield* webhooks.find("a")).toMatchObject({ pending: 0, deadLetters: 5, failures: 5 })
        const first = yield* webhooks.deadLetters("a", 3, null)
        const rest = yield* webhooks.deadLetters("a", 3, first[2]!)
        expect(idsOf([...first, ...rest])).toEqual(idsOf(numbered(5)))
        const failedAt = [...first, ...rest].map((letter) => letter.failedAt)
        expect(failedAt).toEqual(failedAt.toSorted((one, other) => other - one))
        expect(first[0]).toMatchObject({ event: "link.created", attempts: 1, reason: "It answered 500." })
        expect(first[0]!.failedAt).toBeGreaterThanOrEqual(first[0]!.queuedAt)
        expect(yield* webhooks.deadLetters("b", 3, null)).toEqual([])
      })
    )

    it.scopedLive("queues one again as if it were new, and no message that is not dead", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* died(webhooks, 2)
        expect(yield* webhooks.revive("a", "m00001")).toBe(true)
        expect(yield* webhooks.revive("a", "m00001")).toBe(false)
        expect(yield* webhooks.revive("b", "m00000")).toBe(false)
        expect(yield* webhooks.revive("a", "z")).toBe(false)
        expect(yield* webhooks.claim(claims())).toMatchObject([{ id: "m00001", attempt: 1 }])
        expect(idsOf(yield* webhooks.deadLetters("a", 10, null))).toEqual(["m00000"])
      })
    )
  })
}
