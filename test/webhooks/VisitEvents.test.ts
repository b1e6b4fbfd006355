import { expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope, TestClock } from "effect"
import { describe } from "vitest"
import type { Link } from "../../src/model/Link.ts"
import { StorageError } from "../../src/storage/StorageError.ts"
import * as WebhookListeners from "../../src/storage/webhooks/WebhookListeners.ts"
import { eventsDropped } from "../../src/storage/webhooks/WebhookMetrics.ts"
import { pendingMax, WebhookStore } from "../../src/storage/webhooks/WebhookStore.ts"
import * as WebhookStoreMemory from "../../src/sim/stores/WebhookStoreMemory.ts"
import * as News from "../../src/webhooks/VisitEvents.ts"
import { VisitEvents } from "../../src/webhooks/VisitEvents.ts"
import * as WebhookMessages from "../../src/webhooks/WebhookMessages.ts"
import * as Metered from "../../src/telemetry/Metered.ts"
import { linkOf } from "../support/samples/SomeLinks.ts"
import { addVerified, claimOf, webhookOf } from "../support/samples/SomeWebhooks.ts"

const owned = (key: string, owner: string | null): Link => ({ ...linkOf(key), owner })

const webhook = (owner: string) => webhookOf(`whk_${owner}`, { owner, events: ["link.visited"] })

const messages = WebhookMessages.make({
  link: () => ({}),
  names: (key) => ({ key, shortUrl: `https://sho.rt/${key}` })
})

/** News over a store in memory, whose offers fail as long as it is away. */
const start = Effect.gen(function* () {
  const memory = yield* WebhookStoreMemory.make
  const state = { isAway: false, offers: 0 }
  const away = new StorageError({ operation: "test", applied: "unknown", reason: "it is away" })
  const store = WebhookStore.of({
    ...memory,
    // Applied all the same, as when the answer is lost.
    offer: (offered) =>
      Effect.flatMap(memory.offer(offered), (dropped) => {
        state.offers++
        return state.isAway ? away : Effect.succeed(dropped)
      })
  })
  for (const owner of ["usr_a", "usr_b"]) yield* addVerified(store, webhook(owner))
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const { note } = yield* Effect.provide(
    VisitEvents,
    yield* Layer.buildWithScope(
      News.layer(messages.visited).pipe(
        Layer.provide(WebhookListeners.layer),
        Layer.provide(Layer.succeed(WebhookStore, store))
      ),
      scope
    )
  )
  const queued = Effect.map(memory.claim(claimOf({ max: 1_000 })), (deliveries) =>
    deliveries.map(({ body, webhookId }) => ({
      webhookId,
      ...(JSON.parse(body) as { data: { links: Array<unknown> } })
    }))
  )
  /** Queues as many events of an owner as can wait. */
  const fill = (owner: string) =>
    memory.offer(
      Array.from({ length: pendingMax }, (_, index) => ({
        id: `msg_${index}`,
        owner,
        event: "link.visited" as const,
        body: "{}"
      }))
    )
  return { fill, note, queued, state, store, stop: Scope.close(scope, Exit.void) }
})

describe("VisitEvents", () => {
  it.scoped("tells each owner who listens of visits of their links, once a second", () =>
    Effect.gen(function* () {
      const { note, queued } = yield* start
      note(owned("a", "usr_a"), false)
      note(owned("a", "usr_a"), false)
      note(owned("a", "usr_a"), true)
      note(owned("b", "usr_a"), false)
      note(owned("c", "usr_b"), true)
      note(owned("d", "usr_c"), false)
      note(owned("e", null), false)
      expect(yield* queued).toEqual([])
      yield* TestClock.adjust("1 seconds")
      const told = (yield* queued).toSorted((one, other) => (one.webhookId < other.webhookId ? -1 : 1))
      expect(told).toEqual([
        {
          webhookId: "whk_usr_a",
          type: "link.visited",
          timestamp: "1970-01-01T00:00:01.000Z",
          data: {
            from: "1970-01-01T00:00:00.000Z",
            to: "1970-01-01T00:00:01.000Z",
            links: [
              { key: "a", shortUrl: "https://sho.rt/a", visits: { total: 3, nonBots: 2, bots: 1 } },
              { key: "b", shortUrl: "https://sho.rt/b", visits: { total: 1, nonBots: 1, bots: 0 } }
            ]
          }
        },
        expect.objectContaining({ webhookId: "whk_usr_b" })
      ])
      yield* TestClock.adjust("10 seconds")
      expect(yield* queued).toEqual([])
      note(owned("a", "usr_a"), false)
      yield* TestClock.adjust("1 seconds")
      // From the end of what was told last.
      expect(yield* queued).toMatchObject([
        { data: { from: "1970-01-01T00:00:01.000Z", to: "1970-01-01T00:00:12.000Z" } }
      ])
    })
  )

  it.scoped("tells of many links in parts, and of no more than it has room for", () =>
    Effect.gen(function* () {
      const { note, queued } = yield* start
      for (let index = 0; index < 12_000; index++) note(owned(`k${index}`, "usr_a"), false)
      yield* TestClock.adjust("1 seconds")
      const told = yield* queued
      expect(told.map(({ data }) => data.links.length)).toEqual(Array(20).fill(500))
    })
  )

  it.scoped("queues once what the store did not answer, and goes on", () =>
    Effect.gen(function* () {
      const { note, queued, state } = yield* start
      state.isAway = true
      note(owned("a", "usr_a"), false)
      yield* TestClock.adjust("5 seconds")
      note(owned("a", "usr_a"), true)
      yield* TestClock.adjust("5 seconds")
      state.isAway = false
      yield* TestClock.adjust("5 seconds")
      expect((yield* queued).map(({ data }) => data.links)).toMatchObject([
        [{ visits: { nonBots: 1, bots: 0 } }],
        [{ visits: { nonBots: 0, bots: 1 } }]
      ])
    })
  )

  it.scoped("counts the events for which a webhook has no room", () =>
    Effect.gen(function* () {
      const { fill, note, store } = yield* start
      yield* fill("usr_a")
      const before = Metered.read(eventsDropped).count
      note(owned("a", "usr_a"), false)
      note(owned("b", "usr_b"), false)
      yield* TestClock.adjust("1 seconds")
      expect((yield* store.find("whk_usr_b"))?.pending).toBe(1)
      expect(Metered.read(eventsDropped).count - before).toBe(1)
    })
  )

  it.scoped("loses nothing at its stop", () =>
    Effect.gen(function* () {
      const { note, queued, state, stop } = yield* start
      state.isAway = true
      note(owned("a", "usr_a"), false)
      yield* TestClock.adjust("1 seconds")
      note(owned("b", "usr_a"), false)
      state.isAway = false
      yield* stop
      expect(yield* queued).toHaveLength(2)
    })
  )

  it.scoped("counts as dropped what it could not tell at its stop, what is gathered included", () =>
    Effect.gen(function* () {
      const { note, state, stop } = yield* start
      const dropped = () => Metered.read(News.visitsUntold).count
      const before = dropped()
      state.isAway = true
      for (const isBot of [false, false, true]) note(owned("a", "usr_a"), isBot)
      yield* TestClock.adjust("1 seconds")
      note(owned("b", "usr_a"), false)
      note(owned("c", "usr_b"), true)
      const stopping = yield* Effect.fork(stop)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(stopping)
      expect(dropped() - before).toBe(5)
    })
  )

  it.scoped("stops at once where there is nothing to tell", () =>
    Effect.gen(function* () {
      const { note, state, stop } = yield* start
      note(owned("a", "usr_a"), false)
      yield* TestClock.adjust("1 seconds")
      expect(state.offers).toBe(1)
      state.isAway = true
      const stopping = yield* Effect.fork(stop)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(stopping)
      expect(state.offers).toBe(1)
    })
  )
})
