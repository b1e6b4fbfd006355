import { expect, it } from "@effect/vitest"
import { Clock, Effect, Schedule } from "effect"
import { describe } from "vitest"
import {
  type Claim,
  leaseMax_ms,
  pauseMax_ms,
  pendingMax,
  retryMax_ms,
  type WebhookStore
} from "../../../src/storage/webhooks/WebhookStore.ts"
import type { WebhookMessage } from "../../../src/model/Webhook.ts"
import type { Open } from "../../support/Stores.ts"
import {
  addVerified,
  challengeOf,
  claimOf as claims,
  fresh,
  webhookOf as webhook
} from "../../support/samples/SomeWebhooks.ts"
import { withUsers, type WebhookStores } from "./WebhookStores.ts"

type Store = WebhookStore["Type"]

const message = (id: string, changes: Partial<WebhookMessage> = {}): WebhookMessage => ({
  id,
  owner: "usr_a",
  event: "link.created",
  body: `{"id":"${id}"}`,
  ...changes
})

const numbered = (count: number, changes: Partial<WebhookMessage> = {}) =>
  Array.from({ length: count }, (_, index) => message(`m${String(index).padStart(5, "0")}`, changes))

const only = (busy: Partial<Claim["busy"]>): Claim["busy"] => ({
  webhooks: [],
  owners: [],
  hosts: [],
  ...busy
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
export const webhookStoreLaws = (title: string, openBoth: Open<WebhookStores["Type"]>): void => {
  const open = Effect.map(
    withUsers(openBoth),
    Effect.map(({ webhooks }) => webhooks)
  )
  const store = Effect.flatten(open)

  describe(`${title}: webhooks`, () => {
    it.scopedLive("lists those of an owner in the order in which they were made", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        const second = webhook("b", { createdAt: 2_000, events: ["link.visited"] })
        yield* addVerified(webhooks, second)
        yield* addVerified(webhooks, webhook("c", { owner: "usr_b" }))
        yield* addVerified(webhooks, webhook("a"))
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
          (index) => addVerified(clients[index % 2]!, webhook(`w${index}`), 3),
          { concurrency: "unbounded" }
        )
        expect(added.filter(Boolean)).toHaveLength(3)
        expect(yield* clients[0].list("usr_a")).toHaveLength(3)
        expect(yield* addVerified(clients[0], webhook("other", { owner: "usr_b" }), 3)).toBe(true)
      })
    )

    it.scopedLive("removes a webhook once, and its messages with it", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhook("a"))
        yield* webhooks.offer(numbered(3))
        expect(yield* webhooks.remove("a")).toBe(true)
        expect(yield* webhooks.remove("a")).toBe(false)
        expect(yield* webhooks.find("a")).toBeNull()
        yield* addVerified(webhooks, webhook("a"))
        expect(yield* webhooks.claim(claims())).toEqual([])
      })
    )

    it.scopedLive("removes all webhooks of an owner, their messages with them, and none of others", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        for (const id of ["a", "b"]) yield* addVerified(webhooks, webhook(id))
        yield* addVerified(webhooks, webhook("c", { owner: "usr_b" }))
        yield* webhooks.offer([...numbered(3), message("other", { owner: "usr_b" })])
        const before = (yield* webhooks.look(null)).listeners
        expect(yield* webhooks.removeAllOf("usr_a")).toBe(2)
        expect(yield* webhooks.removeAllOf("usr_a")).toBe(0)
        expect(yield* webhooks.list("usr_a")).toEqual([])
        expect([...(yield* webhooks.look(before!.version)).listeners!.byOwner.keys()]).toEqual(["usr_b"])
        expect((yield* webhooks.claim(claims())).map(({ id }) => id)).toEqual(["other"])
      })
    )

    it.scopedLive("tells who listens to what, and only when that has changed", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        const before = (yield* webhooks.look(null)).listeners
        expect(before!.byOwner.size).toBe(0)
        expect((yield* webhooks.look(before!.version)).listeners).toBeNull()
        yield* addVerified(webhooks, webhook("a", { events: ["link.created"] }))
        yield* addVerified(webhooks, webhook("b", { events: ["link.visited"] }))
        yield* addVerified(webhooks, webhook("c", { owner: "usr_b", events: ["link.deleted"] }))
        const after = (yield* webhooks.look(before!.version)).listeners
        expect(after!.byOwner).toEqual(
          new Map([
            ["usr_a", new Set(["link.created", "link.visited"])],
            ["usr_b", new Set(["link.deleted"])]
          ])
        )
        yield* webhooks.remove("c")
        const last = (yield* webhooks.look(after!.version)).listeners
        expect(last!.byOwner.has("usr_b")).toBe(false)
      })
    )
  })

  describe(`${title}: the queue`, () => {
    it.scopedLive("keeps a message for each webhook of its owner that wants its event", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhook("a"))
        yield* addVerified(webhooks, webhook("b", { events: ["link.visited"] }))
        yield* addVerified(webhooks, webhook("c"))
        yield* addVerified(webhooks, webhook("d", { owner: "usr_b" }))
        expect(yield* webhooks.offer([message("m", { body: `{"text":"ü 𝄞 \\"' $1"}` })])).toBe(0)
        expect(yield* webhooks.offer([])).toBe(0)
        const found = yield* webhooks.claim(claims())
        expect(found.map(({ webhookId }) => webhookId).toSorted()).toEqual(["a", "c"])
        const { lease: _, ...first } = found.find(({ webhookId }) => webhookId === "a")!
        expect(first).toEqual({
          id: "m",
          webhookId: "a",
          owner: "usr_a",
          host: "a.example",
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
        yield* addVerified(webhooks, webhook("a"))
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
        yield* addVerified(clients[0], webhook("a"))
        yield* addVerified(clients[0], webhook("b"))
        yield* clients[0].offer(numbered(100))
        const found = yield* Effect.forEach(
          Array.from({ length: 40 }, (_, index) => index),
          (index) => clients[index % 4]!.claim(claims({ max: 10 })),
          { concurrency: "unbounded" }
        )
        const rest = yield* clients[0].claim(claims({ max: 1_000, roomFor: () => 1_000 }))
        const all = [...found.flat(), ...rest].map(({ id, webhookId }) => `${webhookId}/${id}`)
        expect(all).toHaveLength(200)
        expect(new Set(all).size).toBe(200)
      })
    )

    it.scopedLive("claims as many as wanted, of each webhook as many as wanted, and none of busy ones", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        for (const id of ["a", "b", "c"]) yield* addVerified(webhooks, webhook(id))
        yield* webhooks.offer(numbered(5))
        const some = yield* webhooks.claim(claims({ roomFor: () => 2, busy: only({ webhooks: ["b"] }) }))
        expect(some.map(({ webhookId }) => webhookId).toSorted()).toEqual(["a", "a", "c", "c"])
        expect(yield* webhooks.claim(claims({ max: 3 }))).toHaveLength(3)
        expect(yield* webhooks.claim(claims({ busy: only({ webhooks: ["a", "b", "c"] }) }))).toEqual([])
      })
    )

    it.scopedLive("gives a message again when its lease has ended, and heeds nobody who has lost it", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhook("a"))
        yield* webhooks.offer([message("m")])
        const [lost] = yield* webhooks.claim(claims({ lease_ms: 100 }))
        const [held] = yield* claimed(webhooks)
        expect(held).toMatchObject({ id: "m", attempt: 2 })
        yield* webhooks.delivered(lost!)
        yield* webhooks.release(lost!, 0)
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
        yield* addVerified(webhooks, webhook("a"))
        yield* webhooks.offer([message("m")])
        const [delivery] = yield* webhooks.claim(claims())
        yield* webhooks.release(delivery!, 0)
        expect(yield* webhooks.claim(claims())).toMatchObject([{ id: "m", attempt: 1 }])
      })
    )

    it.scopedLive("gives a failed message again after its time", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhook("a"))
        yield* webhooks.offer([message("m"), message("n")])
        const [first, second] = yield* webhooks.claim(claims())
        const start = yield* Clock.currentTimeMillis
        yield* webhooks.failed(first!, { ...failure, retryIn_ms: 2_000 })
        yield* webhooks.failed(second!, { ...failure, retryIn_ms: 3_600_000 })
        expect(yield* webhooks.claim(claims())).toEqual([])
        expect(yield* claimed(webhooks)).toMatchObject([{ id: first!.id, attempt: 2, failures: 2 }])
        expect((yield* Clock.currentTimeMillis) - start).toBeGreaterThanOrEqual(1_990)
        expect(yield* webhooks.claim(claims())).toEqual([])
      })
    )

    it.scopedLive("tries a webhook that failed with one message at a time, until one is delivered", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhook("a"))
        yield* webhooks.offer(numbered(5))
        const [one] = yield* webhooks.claim(claims({ roomFor: () => 1 }))
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
        yield* addVerified(webhooks, webhook("a"))
        yield* addVerified(webhooks, webhook("b", { owner: "usr_b" }))
        yield* webhooks.offer(numbered(3))
        const [one] = yield* webhooks.claim(claims({ roomFor: () => 1 }))
        yield* webhooks.failed(one!, { ...failure, pause_ms: 60_000 })
        yield* webhooks.offer([message("new"), message("other", { owner: "usr_b" })])
        expect(idsOf(yield* webhooks.claim(claims()))).toEqual(["other"])
      })
    )

    it.scopedLive("resumes a paused webhook after its time", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhook("a"))
        yield* webhooks.offer(numbered(3))
        const [one] = yield* webhooks.claim(claims({ roomFor: () => 1 }))
        yield* webhooks.failed(one!, { ...failure, pause_ms: 2_000 })
        yield* webhooks.offer([message("new")])
        expect(yield* webhooks.claim(claims())).toEqual([])
        const [probe] = yield* claimed(webhooks)
        yield* webhooks.delivered(probe!)
        expect(yield* claimed(webhooks)).toHaveLength(3)
      })
    )

    it.scopedLive("heeds the longest pause, and none that only a clock that was ahead can have set", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhook("a"))
        yield* webhooks.offer(numbered(3))
        const [one] = yield* webhooks.claim(claims({ roomFor: () => 1 }))
        yield* webhooks.failed(one!, { ...failure, pause_ms: pauseMax_ms })
        expect(yield* webhooks.claim(claims())).toEqual([])
        yield* webhooks.failed(one!, { ...failure, pause_ms: pauseMax_ms + 60_000 })
        expect(yield* webhooks.claim(claims())).toMatchObject([{ failures: 2 }])
      })
    )

    it.scopedLive(
      "heeds the longest retry and lease, and none that only a clock that was ahead can have set",
      () =>
        Effect.gen(function* () {
          const webhooks = yield* store
          yield* addVerified(webhooks, webhook("a"))
          yield* webhooks.offer([message("m")])
          const [first] = yield* webhooks.claim(claims({ lease_ms: leaseMax_ms }))
          expect(yield* webhooks.claim(claims())).toEqual([])
          yield* webhooks.failed(first!, { ...failure, retryIn_ms: retryMax_ms })
          expect(yield* webhooks.claim(claims())).toEqual([])
          yield* webhooks.offer([message("n")])
          const [second] = yield* webhooks.claim(claims({ lease_ms: leaseMax_ms + 60_000 }))
          expect(second).toMatchObject({ id: "n", attempt: 1 })
          const [third] = yield* webhooks.claim(claims())
          expect(third).toMatchObject({ id: "n", attempt: 2 })
          yield* webhooks.failed(second!, failure)
          expect(yield* webhooks.claim(claims())).toEqual([])
          yield* webhooks.failed(third!, { ...failure, retryIn_ms: retryMax_ms + 60_000 })
          expect(yield* webhooks.claim(claims())).toMatchObject([{ id: "n", attempt: 3 }])
          expect(yield* webhooks.claim(claims())).toEqual([])
        })
    )

    it.scopedLive("gives an event that waits though it was never tried, before all others", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhook("a"))
        yield* webhooks.offer(numbered(2))
        const [first, second] = yield* webhooks.claim(claims())
        // As if it had been queued while the clock was an hour ahead.
        yield* webhooks.release(second!, 3_600_000)
        yield* webhooks.release(first!, 0)
        const gathering = { gatherFor_ms: 60_000, roomFor: () => 1 }
        expect(yield* webhooks.claim(claims(gathering))).toMatchObject([{ id: second!.id, attempt: 1 }])
        expect(yield* webhooks.claim(claims(gathering))).toMatchObject([{ id: first!.id, attempt: 1 }])
        expect(yield* webhooks.claim(claims())).toEqual([])
      })
    )

    it.scopedLive("lets a challenge wait that was not tried", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* webhooks.add(webhook("a"), challengeOf("a"), 10)
        const [delivery] = yield* webhooks.claim(claims())
        yield* webhooks.release(delivery!, 60_000)
        expect(yield* webhooks.claim(claims())).toEqual([])
      })
    )

    it.scopedLive(
      "drops and counts what comes when too many wait, and does not drop it for others",
      () =>
        Effect.gen(function* () {
          const webhooks = yield* store
          yield* addVerified(webhooks, webhook("a"))
          yield* webhooks.offer(numbered(pendingMax - 1))
          yield* addVerified(webhooks, webhook("b"))
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
        yield* addVerified(webhooks, webhook("a"))
        yield* webhooks.offer(numbered(count))
        const found = yield* webhooks.claim(claims({ max: count }))
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
        expect(yield* webhooks.revive("a", "m00001")).toBe("queued")
        expect(yield* webhooks.revive("a", "m00001")).toBe("none")
        expect(yield* webhooks.revive("b", "m00000")).toBe("none")
        expect(yield* webhooks.revive("a", "z")).toBe("none")
        expect(yield* webhooks.claim(claims())).toMatchObject([{ id: "m00001", attempt: 1 }])
        expect(idsOf(yield* webhooks.deadLetters("a", 10, null))).toEqual(["m00000"])
      })
    )
  })
}
