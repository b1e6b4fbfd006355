import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import {
  type Claim,
  type Delivery,
  pendingBytesMax,
  type WebhookStore
} from "../../../src/storage/webhooks/WebhookStore.ts"
import type { WebhookMessage } from "../../../src/model/Webhook.ts"
import type { Open } from "../../support/Stores.ts"
import { addVerified, claimOf, webhookOf } from "../../support/samples/SomeWebhooks.ts"
import { withUsers, type WebhookStores } from "./WebhookStores.ts"

type Store = WebhookStore["Type"]

const bodyOf = (id: string, text = "") => ({
  type: "link.created",
  timestamp: "2026-11-21T10:00:00.000Z",
  data: { id, text }
})

const message = (id: string, text?: string): WebhookMessage => ({
  id,
  owner: "usr_a",
  event: "link.created",
  body: JSON.stringify(bodyOf(id, text))
})

const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => message(`m${String(from + index).padStart(4, "0")}`))

const joining = (changes: Partial<Claim> = {}) =>
  claimOf({ join: { events: 100, bytes: 262_144 }, ...changes })

interface Envelope {
  readonly type: string
  readonly timestamp: string
  readonly data: ReadonlyArray<{ readonly id: string }>
}

const envelopeOf = ({ body }: Delivery) => JSON.parse(body) as Envelope

const eventsIn = (deliveries: ReadonlyArray<Delivery>) =>
  deliveries.flatMap((delivery) => envelopeOf(delivery).data.map(({ id }) => id)).toSorted()

const failure = { reason: "It answered 500.", retryIn_ms: 0, pause_ms: 0 }

/** The laws of `WebhookStore` about messages that are joined, and about how many and how long they are. */
export const webhookJoiningLaws = (title: string, open: Open<WebhookStores["Type"]>): void => {
  const opened = withUsers(open)
  const store = Effect.map(Effect.flatten(opened), ({ webhooks }) => webhooks)

  const idsOf = (messages: ReadonlyArray<WebhookMessage>) => messages.map(({ id }) => id)

  describe(`${title}: joined messages`, () => {
    it.scopedLive(
      "are as few as the bounds allow, and tell each event once, as it would have come alone",
      () =>
        Effect.gen(function* () {
          const webhooks = yield* store
          yield* addVerified(webhooks, webhookOf("a"))
          const messages = [...numbered(249), message("m-odd", `ü 𝄞 \\"' $1`)]
          yield* webhooks.offer(messages)
          const found = yield* webhooks.claim(joining())
          expect(found.map((delivery) => envelopeOf(delivery).data.length).toSorted()).toEqual([100, 100, 50])
          expect(eventsIn(found)).toEqual(idsOf(messages).toSorted())
          for (const delivery of found) {
            expect(delivery).toMatchObject({ event: "events", attempt: 1, webhookId: "a" })
            expect(delivery.id).toMatch(/^msg_[0-9a-z]+$/)
            const { data, timestamp, type } = envelopeOf(delivery)
            expect(type).toBe("events")
            expect(timestamp).toMatch(/^\d{4}-.*Z$/)
            for (const event of data) {
              const { body } = messages.find(({ id }) => id === event.id)!
              expect(event).toEqual({ id: event.id, ...(JSON.parse(body) as object) })
            }
          }
          expect(new Set(found.map(({ id }) => id)).size).toBe(3)
          expect(yield* webhooks.claim(joining())).toEqual([])
          expect(yield* webhooks.find("a")).toMatchObject({ pending: 250 })
          yield* Effect.forEach(found, webhooks.delivered)
          expect(yield* webhooks.find("a")).toMatchObject({ pending: 0, deadLetters: 0 })
        })
    )

    it.scopedLive("have no longer bodies than allowed, unless one event alone has", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhookOf("a"))
        const long = (id: string, length: number) => message(id, "é".repeat(length / 2))
        yield* webhooks.offer([
          ...Array.from({ length: 10 }, (_, index) => long(`m${index}`, 3_000)),
          long("longest", 20_000)
        ])
        const found = yield* webhooks.claim(joining({ join: { events: 100, bytes: 10_000 } }))
        const lengths = found.map(({ body }) => Buffer.byteLength(body)).toSorted((a, b) => a - b)
        expect(lengths.slice(0, -1).every((length) => length <= 10_000)).toBe(true)
        expect(lengths.at(-1)).toBeGreaterThan(20_000)
        expect(found.length).toBeLessThanOrEqual(6)
        const alone = found.filter(({ event }) => event === "link.created").map(({ id }) => id)
        expect([...eventsIn(found.filter(({ event }) => event === "events")), ...alone]).toHaveLength(11)
        expect(alone).toContain("longest")
      })
    )

    it.scopedLive("have waited for as long as their oldest event", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        for (const id of ["a", "b"]) yield* addVerified(webhooks, webhookOf(id))
        const giveUp = (one: Delivery) => webhooks.failed(one, { ...failure, retryIn_ms: null })
        const queuedAt = (id: string) =>
          Effect.map(webhooks.deadLetters(id, 10, null), (letters) => letters.map((one) => one.queuedAt))
        yield* webhooks.offer([message("m1")])
        yield* Effect.sleep("20 millis")
        yield* webhooks.offer([message("m2")])
        // The same messages, for one webhook each alone.
        const alone = yield* webhooks.claim(
          joining({ join: { events: 1, bytes: 1 }, busy: { webhooks: ["a"], owners: [], hosts: [] } })
        )
        yield* Effect.forEach(alone, giveUp)
        yield* Effect.sleep("20 millis")
        yield* Effect.forEach(yield* webhooks.claim(joining()), giveUp)
        expect(yield* queuedAt("a")).toEqual([Math.min(...(yield* queuedAt("b")))])
      })
    )

    it.scopedLive("are given in one order with those that go alone: the longest due first", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        for (const id of ["a", "b"]) yield* addVerified(webhooks, webhookOf(id, { owner: `usr_${id}` }))
        yield* webhooks.offer([message("m1"), message("m2")])
        yield* webhooks.offer([{ ...message("m3"), owner: "usr_b" }])
        const found = yield* webhooks.claim(joining())
        expect(found.map(({ event, webhookId }) => `${webhookId} ${event}`)).toEqual([
          "a events",
          "b link.created"
        ])
      })
    )

    it.scopedLive("are none of one event, which goes as it is", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhookOf("a"))
        yield* addVerified(webhooks, webhookOf("b", { owner: "usr_b" }))
        yield* webhooks.offer([message("m"), { ...message("n"), owner: "usr_b" }])
        expect(yield* webhooks.claim(joining())).toMatchObject([
          { id: "m", event: "link.created", body: message("m").body },
          { id: "n", event: "link.created", body: message("n").body }
        ])
      })
    )

    it.scopedLive("come again under the same id, with the same body, and nothing is added to them", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhookOf("a"))
        yield* webhooks.offer(numbered(3))
        const [first] = yield* webhooks.claim(joining())
        const same = { id: first!.id, body: first!.body }
        yield* webhooks.release(first!, 0)
        yield* webhooks.offer(numbered(3, 3))
        const found = yield* webhooks.claim(joining())
        const again = found.find(({ id }) => id === first!.id)
        const [rest, ...others] = found.filter(({ id }) => id !== first!.id)
        expect(again).toMatchObject({ ...same, attempt: 1 })
        expect(others).toEqual([])
        yield* webhooks.failed(again!, failure)
        const [third] = yield* webhooks.claim(joining())
        expect(third).toMatchObject({ ...same, attempt: 2, failures: 1 })
        yield* webhooks.delivered(third!)
        expect(eventsIn([rest!])).toEqual(idsOf(numbered(3, 3)))
      })
    )

    it.scopedLive("take in no message that was given before by itself", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhookOf("a"))
        yield* webhooks.offer([message("m")])
        const [alone] = yield* webhooks.claim(joining())
        yield* webhooks.release(alone!, 0)
        yield* webhooks.offer(numbered(3))
        const found = yield* webhooks.claim(joining())
        expect(found.find(({ id }) => id === "m")).toMatchObject({ body: alone!.body, attempt: 1 })
        expect(eventsIn(found.filter(({ id }) => id !== "m"))).toEqual(idsOf(numbered(3)))
      })
    )

    it.scopedLive("keep their events from being queued again, until they are delivered", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhookOf("a"))
        yield* webhooks.offer(numbered(3))
        const [joined] = yield* webhooks.claim(joining())
        yield* webhooks.offer(numbered(4))
        expect(yield* webhooks.find("a")).toMatchObject({ pending: 4 })
        expect(yield* webhooks.claim(joining())).toMatchObject([{ id: "m0003" }])
        yield* webhooks.delivered(joined!)
        yield* webhooks.offer(numbered(3))
        expect(yield* webhooks.find("a")).toMatchObject({ pending: 4 })
      })
    )

    it.scopedLive("are dead letters like others: listed once, and queued again as they were", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhookOf("a"))
        yield* webhooks.offer(numbered(3))
        const [joined] = yield* webhooks.claim(joining())
        yield* webhooks.failed(joined!, { ...failure, retryIn_ms: null })
        expect(yield* webhooks.find("a")).toMatchObject({ pending: 0, deadLetters: 1 })
        expect(yield* webhooks.deadLetters("a", 10, null)).toMatchObject([
          { id: joined!.id, event: "events", events: 3, attempts: 1, reason: "It answered 500." }
        ])
        yield* webhooks.offer(numbered(3))
        expect(yield* webhooks.claim(joining())).toEqual([])
        expect(yield* webhooks.revive("a", joined!.id)).toBe("queued")
        expect(yield* webhooks.find("a")).toMatchObject({ pending: 3, deadLetters: 0 })
        expect(yield* webhooks.claim(joining())).toMatchObject([
          { id: joined!.id, body: joined!.body, attempt: 1 }
        ])
      })
    )

    it.scopedLive("wait for others for a while, and then go with all that have come", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhookOf("a"))
        yield* webhooks.offer(numbered(2))
        expect(yield* webhooks.claim(joining({ gatherFor_ms: 60_000 }))).toEqual([])
        yield* webhooks.offer(numbered(2, 2))
        const [joined] = yield* webhooks.claim(joining())
        expect(eventsIn([joined!])).toEqual(idsOf(numbered(4)))
        // One that is tried again has waited.
        yield* webhooks.failed(joined!, failure)
        expect(yield* webhooks.claim(joining({ gatherFor_ms: 60_000 }))).toMatchObject([{ id: joined!.id }])
      })
    )

    it.scopedLive("tell each event once, whoever claims at once", () =>
      Effect.gen(function* () {
        const client = yield* opened
        const clients = yield* Effect.all(
          Array.from({ length: 4 }, () => Effect.map(client, (c) => c.webhooks))
        )
        yield* addVerified(clients[0]!, webhookOf("a"))
        yield* addVerified(clients[0]!, webhookOf("b"))
        yield* clients[0]!.offer(numbered(200))
        const claim = joining({ join: { events: 7, bytes: 262_144 }, max: 3 })
        const found = yield* Effect.forEach(
          Array.from({ length: 24 }, (_, index) => index),
          (index) => clients[index % 4]!.claim(claim),
          { concurrency: "unbounded" }
        )
        const rest = yield* clients[0]!.claim(joining({ max: 1_000, join: { events: 1, bytes: 1 } }))
        const told = [
          ...found
            .flat()
            .flatMap((delivery) =>
              delivery.event === "events"
                ? envelopeOf(delivery).data.map(({ id }) => `${delivery.webhookId} ${id}`)
                : [`${delivery.webhookId} ${delivery.id}`]
            ),
          ...rest.map(({ id, webhookId }) => `${webhookId} ${id}`)
        ]
        expect(told).toHaveLength(400)
        expect(new Set(told).size).toBe(400)
        expect(found.flat().some(({ event }) => event === "events")).toBe(true)
      })
    )

    it.scopedLive("fail nobody, whatever is done at once, and are counted as they are in the end", () =>
      Effect.gen(function* () {
        const client = yield* opened
        const clients = yield* Effect.all(
          Array.from({ length: 4 }, () => Effect.map(client, (one) => one.webhooks))
        )
        const ids = ["a", "b", "c", "d", "e", "f"]
        for (const id of ids) {
          yield* addVerified(clients[0]!, webhookOf(id, { owner: id < "d" ? "usr_a" : "usr_b" }))
        }
        const outcomes = [
          (webhooks: Store, one: Delivery) => webhooks.delivered(one),
          (webhooks: Store, one: Delivery) => webhooks.failed(one, failure),
          (webhooks: Store, one: Delivery) => webhooks.release(one, 0),
          (webhooks: Store, one: Delivery) =>
            Effect.zipRight(
              webhooks.failed(one, { ...failure, retryIn_ms: null }),
              webhooks.revive(one.webhookId, one.id)
            )
        ]
        const play = (index: number) =>
          Effect.gen(function* () {
            const webhooks = clients[index % 4]!
            yield* webhooks.offer([
              ...numbered(5, 5 * (index % 20)),
              ...numbered(5, 5 * (index % 20)).map((one) => ({ ...one, owner: "usr_b" }))
            ])
            const found = yield* webhooks.claim(joining({ max: 8, join: { events: 3, bytes: 10_000 } }))
            yield* Effect.forEach(found, (one, at) =>
              outcomes[(index + at) % outcomes.length]!(webhooks, one)
            )
            if (index % 10 === 3) yield* webhooks.sweep
            if (index % 10 === 6)
              yield* addVerified(webhooks, webhookOf(`x${index}`, { owner: "usr_b" }), 100)
            if (index % 10 === 7) yield* webhooks.remove(`x${index - 1}`)
            yield* webhooks.lapse(null)
          })
        yield* Effect.forEach(
          Array.from({ length: 60 }, (_, index) => index),
          play,
          { concurrency: "unbounded" }
        )
        const webhooks = clients[0]!
        const before = [...(yield* webhooks.list("usr_a")), ...(yield* webhooks.list("usr_b"))]
        yield* webhooks.sweep
        const after = [...(yield* webhooks.list("usr_a")), ...(yield* webhooks.list("usr_b"))]
        // What is queued while its webhook is removed is found by the sweep.
        const counts = (all: typeof after) =>
          all.filter(({ id }) => ids.includes(id)).map(({ id, pending }) => `${id} ${pending}`)
        expect(counts(after)).toEqual(counts(before))
        expect(counts(after)).toHaveLength(6)
      })
    )

    it.scopedLive("go with their webhook", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhookOf("a"))
        yield* webhooks.offer(numbered(3))
        yield* webhooks.claim(joining({ lease_ms: 0 }))
        yield* webhooks.remove("a")
        yield* addVerified(webhooks, webhookOf("a"))
        expect(yield* webhooks.claim(joining())).toEqual([])
        yield* webhooks.offer(numbered(3))
        expect(yield* webhooks.find("a")).toMatchObject({ pending: 3 })
      })
    )
  })

  describe(`${title}: who is left out of a claim`, () => {
    const started = Effect.gen(function* () {
      const webhooks = yield* store
      yield* addVerified(webhooks, webhookOf("a", { url: "https://one.example/a" }))
      yield* addVerified(webhooks, webhookOf("b", { url: "https://one.example.:8443/b" }))
      yield* addVerified(webhooks, webhookOf("c", { owner: "usr_b", url: "https://one.example/c" }))
      yield* addVerified(webhooks, webhookOf("d", { owner: "usr_b", url: "https://other.example/d" }))
      yield* webhooks.offer([message("m"), { ...message("n"), owner: "usr_b" }])
      return webhooks
    })
    const claimed = (webhooks: Store, changes: Partial<Claim>) =>
      Effect.map(webhooks.claim(claimOf(changes)), (found) =>
        found.map(({ webhookId }) => webhookId).toSorted()
      )
    const busy = { webhooks: [], owners: [], hosts: [] }

    it.scopedLive("are the webhooks of an owner, and those to a host, whatever its port", () =>
      Effect.gen(function* () {
        const webhooks = yield* started
        expect(yield* claimed(webhooks, { busy: { ...busy, hosts: ["one.example"] } })).toEqual(["d"])
        expect(yield* claimed(webhooks, { busy: { ...busy, owners: ["usr_b"] } })).toEqual(["a", "b"])
      })
    )

    it.scopedLive("are those that there is no room for, of which nothing is taken", () =>
      Effect.gen(function* () {
        const webhooks = yield* started
        const asked: Array<string> = []
        const found = yield* claimed(webhooks, {
          roomFor: ({ host, id, owner }) => {
            asked.push(`${id} ${owner} ${host}`)
            return id === "b" ? 1 : 0
          }
        })
        expect(found).toEqual(["b"])
        expect(asked.toSorted()).toEqual([
          "a usr_a one.example",
          "b usr_a one.example",
          "c usr_b one.example",
          "d usr_b other.example"
        ])
        expect(yield* claimed(webhooks, {})).toEqual(["a", "c", "d"])
      })
    )
  })

  describe(`${title}: bytes that wait for a user`, () => {
    const mebibyte = (id: string) => message(id, "x".repeat(1_024 * 1_024))

    it.scopedLive(
      "are bounded over all webhooks: what comes then is dropped and counted, and for nobody else",
      () =>
        Effect.gen(function* () {
          const webhooks = yield* store
          yield* addVerified(webhooks, webhookOf("a"))
          yield* addVerified(webhooks, webhookOf("b"))
          yield* addVerified(webhooks, webhookOf("c", { owner: "usr_b" }))
          const mebibytes = pendingBytesMax / 1_024 / 1_024
          const messages = Array.from({ length: mebibytes }, (_, index) => mebibyte(`m${index}`))
          const dropped = yield* webhooks.offer(messages)
          // A little more than a mebibyte each.
          expect(dropped).toBe(2 * mebibytes - (mebibytes - 1))
          const [a, b] = yield* webhooks.list("usr_a")
          expect(a!.pending + b!.pending).toBe(mebibytes - 1)
          expect(a!.dropped + b!.dropped).toBe(dropped)
          expect(yield* webhooks.offer([mebibyte("more")])).toBe(2)
          expect(yield* webhooks.offer([message("small")])).toBe(0)
          expect(yield* webhooks.offer([{ ...mebibyte("other"), owner: "usr_b" }])).toBe(0)

          const [delivery] = yield* webhooks.claim(
            claimOf({ max: 1, busy: { ...nobody, owners: ["usr_b"] } })
          )
          yield* webhooks.delivered(delivery!)
          expect(yield* webhooks.offer([mebibyte("again")])).toBe(1)
          yield* webhooks.remove("a")
          expect(yield* webhooks.offer([mebibyte("after")])).toBe(0)
        }),
      60_000
    )

    it.scopedLive("include what is queued again, for which there may be no room", () =>
      Effect.gen(function* () {
        const webhooks = yield* store
        yield* addVerified(webhooks, webhookOf("a"))
        yield* webhooks.offer([mebibyte("dead")])
        const [delivery] = yield* webhooks.claim(claimOf())
        yield* webhooks.failed(delivery!, { ...failure, retryIn_ms: null })
        yield* webhooks.offer(Array.from({ length: 15 }, (_, index) => mebibyte(`m${index}`)))
        expect(yield* webhooks.revive("a", "dead")).toBe("full")
        expect(yield* webhooks.find("a")).toMatchObject({ pending: 15, deadLetters: 1 })
        const [one] = yield* webhooks.claim(claimOf({ max: 1 }))
        yield* webhooks.delivered(one!)
        expect(yield* webhooks.revive("a", "dead")).toBe("queued")
        expect(yield* webhooks.find("a")).toMatchObject({ pending: 15, deadLetters: 0 })
      })
    )
  })
}

const nobody = { webhooks: [], owners: [], hosts: [] }
