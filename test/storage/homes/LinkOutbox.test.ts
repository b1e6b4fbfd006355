import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { toStrings } from "../../../src/keys/PackedKeys.ts"
import type { WebhookMessage } from "../../../src/model/Webhook.ts"
import { carryAll, carryKeys, carryMessages, offerTo } from "../../../src/storage/homes/LinkOutbox.ts"
import { inTransaction } from "../../../src/storage/sql/SqlTransaction.ts"
import { eventsDropped } from "../../../src/storage/webhooks/WebhookMetrics.ts"
import { StorageError } from "../../../src/storage/StorageError.ts"
import * as Metered from "../../../src/telemetry/Metered.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { severalDatabases } from "../../support/SeveralDatabases.ts"

const message = (id: string): WebhookMessage => ({
  id,
  owner: "me",
  event: "link.created",
  body: `{"n":"${id}"}`
})

const failure = (applied: "no" | "unknown") =>
  new StorageError({ operation: "test", applied, reason: "planted" })

describePostgres("messages in a database of links", () => {
  const open = severalDatabases(2)

  it.scopedLive("are queued once, in their order, after the transaction that wrote them", () =>
    Effect.gen(function* () {
      const { databases } = yield* Effect.flatten(open)
      const { sql } = databases[1]!
      const queued: Array<WebhookMessage> = []
      const webhooks = {
        offer: (some: ReadonlyArray<WebhookMessage>) => Effect.sync(() => queued.push(...some))
      }
      const offer = offerTo(sql)
      yield* Effect.flip(inTransaction(sql, Effect.zipRight(offer([message("gone")]), Effect.fail("no"))))
      yield* inTransaction(sql, offer([message("a"), message("b")]))
      yield* offer([message("a")])
      expect(yield* carryMessages({ sql, webhooks })).toBe(false)
      expect(queued.map(({ id }) => id)).toEqual(["a", "b"])
      expect(queued[0]).toEqual(message("a"))
      yield* carryMessages({ sql, webhooks })
      expect(queued).toHaveLength(2)
    })
  )

  it.scopedLive(
    "stay where the queue does not take them, come a hundred at a time, and are counted where there is no room",
    () =>
      Effect.gen(function* () {
        const { databases } = yield* Effect.flatten(open)
        const { sql } = databases[1]!
        yield* offerTo(sql)(Array.from({ length: 150 }, (_, index) => message(`m${index}`)))
        yield* Effect.flip(carryMessages({ sql, webhooks: { offer: () => failure("unknown") } }))
        const taken: Array<number> = []
        const before = Metered.read(eventsDropped).count
        const webhooks = {
          offer: (some: ReadonlyArray<WebhookMessage>) =>
            Effect.sync(() => void taken.push(some.length)).pipe(Effect.as(3))
        }
        expect(yield* carryMessages({ sql, webhooks })).toBe(true)
        expect(yield* carryMessages({ sql, webhooks })).toBe(false)
        expect(taken).toEqual([100, 50])
        expect(Metered.read(eventsDropped).count - before).toBe(6)
      })
  )
})

describePostgres("keys that are free again in a database of links", () => {
  const open = severalDatabases(2)

  it.scopedLive("enter the stock, and are in one of both places", () =>
    Effect.gen(function* () {
      const { databases, stock } = yield* Effect.flatten(open)
      const [{ sql: control }, { sql }] = databases as [(typeof databases)[0], (typeof databases)[0]]
      yield* sql`INSERT INTO keys (key) VALUES ('a'), ('b'), ('c')`
      const lost: Array<number> = []
      const carrying = { control, sql, stock, lost: (keys: number) => void lost.push(keys) }
      const here = Effect.map(sql`SELECT key FROM keys`, (rows) => rows.length)
      yield* Effect.flip(carryKeys({ ...carrying, stock: { add: () => failure("no") } }, 2))
      expect([yield* here, yield* stock.size, lost]).toEqual([3, 0, []])
      expect(yield* carryKeys(carrying, 2)).toBe(true)
      expect([yield* here, yield* stock.size]).toEqual([1, 2])
      expect(yield* carryKeys(carrying, 2)).toBe(false)
      const claim = yield* stock.claim(1)
      const taken = yield* stock.take({ ...claim, sequence: 1 }, 10)
      expect(toStrings(taken).toSorted()).toEqual(["a", "b", "c"])
    })
  )

  it.scopedLive("are counted as lost where it is not known whether they entered it", () =>
    Effect.gen(function* () {
      const { databases } = yield* Effect.flatten(open)
      const [{ sql: control }, { sql }] = databases as [(typeof databases)[0], (typeof databases)[0]]
      yield* sql`INSERT INTO keys (key) VALUES ('a'), ('b')`
      const lost: Array<number> = []
      const carrying = { control, sql, lost: (keys: number) => void lost.push(keys) }
      yield* Effect.flip(carryKeys({ ...carrying, stock: { add: () => failure("unknown") } }, 10))
      expect(lost).toEqual([2])
      expect(yield* sql`SELECT key FROM keys`).toEqual([])
    })
  )
})

describe("what is in databases of links", () => {
  it.effect("is carried from those that answer, as long as the control database does", () =>
    Effect.gen(function* () {
      const away = new Set([2])
      const at = (number: number) => ({ number, isAway: () => away.has(number) })
      const carried: Array<number> = []
      const turn = carryAll(at(0), [at(1), at(2), at(3), at(4)], ({ number }) =>
        Effect.suspend(() => {
          carried.push(number)
          // The control database is found to be away when the keys of the third have left it.
          if (number === 3) away.add(0)
          return number === 1 ? Effect.succeed(true) : failure("unknown")
        })
      )
      expect(yield* turn).toBe(true)
      expect(carried.splice(0)).toEqual([1, 3])
      expect(yield* turn).toBe(false)
      expect(carried).toEqual([])
      away.clear()
      yield* turn
      expect(carried).toEqual([1, 2, 3])
    })
  )
})
