import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Iso8601 from "../../../src/model/Iso8601.ts"
import type { Link } from "../../../src/model/Link.ts"
import { AccountStore } from "../../../src/storage/accounts/AccountStore.ts"
import * as AccountStoreSql from "../../../src/storage/accounts/AccountStoreSql.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkGroupCommit from "../../../src/storage/links/LinkGroupCommit.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import * as WebhookOutbox from "../../../src/storage/webhooks/WebhookOutbox.ts"
import { WebhookListeners } from "../../../src/storage/webhooks/WebhookListeners.ts"
import * as Listeners from "../../../src/storage/webhooks/WebhookListeners.ts"
import { eventsDropped } from "../../../src/storage/webhooks/WebhookMetrics.ts"
import { pendingMax, WebhookStore } from "../../../src/storage/webhooks/WebhookStore.ts"
import * as WebhookStoreSql from "../../../src/storage/webhooks/WebhookStoreSql.ts"
import * as Metered from "../../../src/telemetry/Metered.ts"
import * as WebhookMessages from "../../../src/webhooks/WebhookMessages.ts"
import { linkWriteLaws } from "../links/LinkStoreLaws.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { onEveryDatabase, onEverySqlBackend } from "../../support/Stores.ts"
import { addVerified, claimOf, userOf, webhookOf } from "../../support/samples/SomeWebhooks.ts"

const telling = WebhookMessages.make({
  link: ({ key, url }) => ({ key, url }),
  names: (key) => ({ key, shortUrl: `https://sho.rt/${key}` })
})

const everybodyListens = Layer.succeed(WebhookListeners, {
  has: () => true,
  refresh: Effect.void,
  waiting: Effect.never
})
onEverySqlBackend(
  LinkStore,
  WebhookOutbox.layer(telling).pipe(
    Layer.provide(LinkStoreSql.layer),
    Layer.provide(everybodyListens),
    Layer.provide(WebhookStoreSql.layer)
  ),
  (open) => linkWriteLaws("LinkStore that tells webhooks", open)
)

const webhook = webhookOf("whk_a")

const owned = (key: string, owner: string | null, changes: Partial<Link> = {}) => ({
  ...linkOf(key),
  owner,
  ...changes
})

/** What is queued, in the order of links' keys. */
const queued = Effect.gen(function* () {
  const { claim } = yield* WebhookStore
  const deliveries = yield* claim(claimOf())
  return deliveries
    .map(({ body, event, id }) => ({ id, event, payload: JSON.parse(body) as { data: { key: string } } }))
    .toSorted((one, other) => (one.payload.data.key < other.payload.data.key ? -1 : 1))
})

onEveryDatabase((client) => {
  const layer = LinkGroupCommit.links({ inFlightMax: 1 }).pipe(
    Layer.provide(WebhookOutbox.layer(telling)),
    Layer.provide(LinkStoreSql.layer),
    Layer.provideMerge(Listeners.layer),
    Layer.provideMerge(Layer.merge(WebhookStoreSql.layer, AccountStoreSql.layer)),
    Layer.provideMerge(client)
  )
  const test = (
    title: string,
    body: Effect.Effect<
      void,
      unknown,
      LinkStore | WebhookStore | WebhookListeners | AccountStore | SqlClient.SqlClient
    >
  ) => it.scopedLive(`WebhookOutbox ${title}`, () => Effect.orDie(Effect.provide(body, layer)))

  const listen = Effect.gen(function* () {
    yield* (yield* AccountStore).addUser(userOf("usr_a"))
    yield* addVerified(yield* WebhookStore, webhook)
    yield* (yield* WebhookListeners).refresh
  })

  test(
    "queues what was bound, for its owner alone",
    Effect.gen(function* () {
      const links = yield* LinkStore
      yield* links.insertMany([owned("before", "usr_a"), owned("taken", "usr_b")])
      yield* listen
      const batch = [owned("a", "usr_a"), owned("b", "usr_b"), owned("c", null), owned("taken", "usr_a")]
      expect(yield* links.insertMany(batch)).toEqual([true, true, true, false])
      expect(yield* queued).toEqual([
        {
          id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
          event: "link.created",
          payload: {
            type: "link.created",
            timestamp: Iso8601.formatMoment(batch[0]!.createdAt),
            data: { key: "a", url: batch[0]!.url }
          }
        }
      ])
    })
  )

  test(
    "queues what was deleted, for the owner who is named",
    Effect.gen(function* () {
      const links = yield* LinkStore
      yield* links.insertMany(["a", "b", "c"].map((key) => owned(key, "usr_a")))
      yield* listen
      const at = Date.parse("2026-11-21T10:00:00Z")
      const deletions = [
        { key: "a", at, deleteId: 1, owner: "usr_a" },
        { key: "b", at, deleteId: 2 },
        { key: "z", at, deleteId: 3, owner: "usr_a" }
      ]
      expect(yield* links.deleteMany(deletions)).toEqual([true, true, false])
      expect(yield* queued).toMatchObject([
        {
          event: "link.deleted",
          payload: {
            type: "link.deleted",
            timestamp: "2026-11-21T10:00:00.000Z",
            data: { key: "a", shortUrl: "https://sho.rt/a" }
          }
        }
      ])
    })
  )

  test(
    "counts the events for which a webhook has no room, of changes that were made",
    Effect.gen(function* () {
      const links = yield* LinkStore
      const sql = yield* SqlClient.SqlClient
      yield* listen
      const before = Metered.read(eventsDropped).count
      const dropped = () => Metered.read(eventsDropped).count - before
      yield* links.insertMany([owned("a", "usr_a")])
      expect(dropped()).toBe(0)
      yield* sql`UPDATE webhooks SET waiting = ${pendingMax}`
      expect(
        yield* links.insertMany([owned("b", "usr_a"), owned("c", "usr_a"), owned("d", "usr_b")])
      ).toEqual([true, true, true])
      expect(dropped()).toBe(2)
      yield* links.deleteMany([{ key: "a", at: 5, deleteId: 8, owner: "usr_a" }])
      expect(dropped()).toBe(3)
      expect(yield* queued).toMatchObject([{ event: "link.created", payload: { data: { key: "a" } } }])
    })
  )

  test(
    "queues a repeat once",
    Effect.gen(function* () {
      const links = yield* LinkStore
      yield* listen
      const link = owned("a", "usr_a", { createId: 7 })
      const deletion = { key: "a", at: 5, deleteId: 8, owner: "usr_a" }
      expect(yield* links.insertMany([link])).toEqual([true])
      expect(yield* links.insertMany([link])).toEqual([true])
      expect(yield* links.deleteMany([deletion])).toEqual([true])
      expect(yield* links.deleteMany([deletion])).toEqual([true])
      expect((yield* queued).map(({ event }) => event).toSorted()).toEqual(["link.created", "link.deleted"])
    })
  )

  test(
    "binds nothing that it cannot queue, and says so",
    Effect.gen(function* () {
      const links = yield* LinkStore
      const sql = yield* SqlClient.SqlClient
      yield* listen
      yield* sql`ALTER TABLE webhook_messages RENAME TO away`
      const error = yield* Effect.flip(links.insertMany([owned("a", "usr_a")]))
      expect(error).toMatchObject({ _tag: "StorageError", applied: "no" })
      expect(yield* links.insertMany([owned("b", "usr_b")])).toEqual([true])
      yield* sql`ALTER TABLE away RENAME TO webhook_messages`
      expect(yield* links.findMany(["a"])).toEqual([null])
    })
  )
})

it.live("LinkStoreTelling does nothing but write where nobody listens", () =>
  Effect.gen(function* () {
    const links = yield* LinkStore
    expect(yield* links.insertMany([owned("a", "usr_a")])).toEqual([true])
    expect(yield* links.deleteMany([{ key: "a", at: 1, owner: "usr_a" }])).toEqual([true])
  }).pipe(
    Effect.provide(WebhookOutbox.layer(telling)),
    Effect.provideService(LinkStore, {
      insertMany: () => Effect.succeed([true]),
      deleteMany: () => Effect.succeed([true])
    } as unknown as typeof LinkStore.Service),
    Effect.provideService(WebhookListeners, {
      has: () => false,
      refresh: Effect.void,
      waiting: Effect.never
    }),
    // Whatever is asked of these is a defect.
    Effect.provideService(WebhookStore, {} as typeof WebhookStore.Service),
    Effect.provideService(SqlClient.SqlClient, {} as SqlClient.SqlClient)
  )
)
