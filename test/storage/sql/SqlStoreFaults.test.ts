import { Statement } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { describe } from "vitest"
import type { Link } from "../../../src/model/Link.ts"
import { count, toStrings } from "../../../src/keys/PackedKeys.ts"
import { KeyStock } from "../../../src/storage/keys/KeyStock.ts"
import * as KeyStockSql from "../../../src/storage/keys/KeyStockSql.ts"
import { GuardedCreates, guardTimes } from "../../../src/storage/links/GuardedCreates.ts"
import * as GuardedCreatesSql from "../../../src/storage/links/GuardedCreatesSql.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { makeCuttingProxy } from "../../support/CuttingProxy.ts"
import { keys, keysRecorded, numbered } from "../../support/samples/SomeKeys.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { migratedDatabase, onEveryDatabase, postgresAt } from "../../support/Stores.ts"

/** Does something else instead of the first statement that contains `text`. */
const insteadOf = (text: string, what: Effect.Effect<never>) =>
  Statement.withTransformer((statement) =>
    statement.compile()[0].includes(text) ? what : Effect.succeed(statement)
  )

const takeStatements = ["SELECT epoch", "DELETE FROM keys", "INSERT INTO pool_batches"]

onEveryDatabase((client) => {
  const stores = Layer.provideMerge(Layer.mergeAll(KeyStockSql.layer(), LinkStoreSql.layer), client)

  describe("taking keys from the stock", () => {
    /** A stock of ten keys, and its owner. */
    const prepared = Effect.gen(function* () {
      const stock = yield* KeyStock
      yield* stock.add(keys("s", 10))
      const owner = yield* stock.claim(1)
      const expectNothingDone = Effect.gen(function* () {
        expect(yield* stock.size).toBe(10)
        expect(yield* stock.openBatches(1)).toEqual([])
        expect(count(yield* stock.take({ ...owner, sequence: 2 }, 20))).toBe(10)
      })
      return { stock, take: stock.take({ ...owner, sequence: 1 }, 4), expectNothingDone }
    })

    for (const statement of takeStatements) {
      it.live(`does nothing when it dies before its ${statement}`, () =>
        Effect.gen(function* () {
          const { expectNothingDone, take } = yield* prepared
          const exit = yield* Effect.exit(take.pipe(insteadOf(statement, Effect.die("a bug"))))
          expect(exit._tag).toBe("Failure")
          yield* expectNothingDone
        }).pipe(Effect.provide(stores))
      )

      it.live(`does nothing when it is interrupted before its ${statement}`, () =>
        Effect.gen(function* () {
          const { expectNothingDone, take } = yield* prepared
          const reached = yield* Deferred.make<void>()
          const wait = Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never)
          const fiber = yield* Effect.fork(take.pipe(insteadOf(statement, wait)))
          yield* Deferred.await(reached)
          yield* Fiber.interrupt(fiber)
          yield* expectNothingDone
        }).pipe(Effect.provide(stores))
      )
    }

    it.live("makes a claim wait until it has taken, and takes nothing after that claim", () =>
      Effect.gen(function* () {
        const { stock, take } = yield* prepared
        const [reached, go] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const paused = Statement.withTransformer((statement) =>
          Effect.gen(function* () {
            if (!statement.compile()[0].includes("DELETE FROM keys")) return statement
            yield* Deferred.succeed(reached, undefined)
            yield* Deferred.await(go)
            return statement
          })
        )
        const taking = yield* Effect.fork(paused(take))
        yield* Deferred.await(reached)
        const claiming = yield* Effect.fork(stock.claim(1))
        // A claim that did not wait would be through by then.
        const overtaken = yield* Effect.race(
          Effect.as(Fiber.await(claiming), true),
          Effect.delay(Effect.succeed(false), "80 millis")
        )
        expect(overtaken).toBe(false)
        yield* Deferred.succeed(go, undefined)
        expect(count(yield* Fiber.join(taking))).toBe(4)
        yield* Fiber.join(claiming)
        expect((yield* Effect.flip(take))._tag).toBe("Fenced")
        expect(yield* stock.size).toBe(6)
      }).pipe(Effect.provide(stores))
    )
  })

  describe("a batch of links in which a statement fails", () => {
    it.live("is not applied at all where the database refuses one link, and says so", () =>
      Effect.gen(function* () {
        const links = yield* LinkStore
        const refused: Link = { ...linkOf("m"), url: null as unknown as string }
        const batch = [linkOf("a"), refused, linkOf("z")]
        const error = yield* Effect.flip(links.insertMany(batch))
        expect(error).toMatchObject({ operation: "LinkStore.insertMany", applied: "no" })
        expect(yield* links.takenAmong(["a", "m", "z"])).toEqual(new Set())
      }).pipe(Effect.provide(stores))
    )

    it.live(
      "is not applied at all where several of its creates have one guard, and one of these is refused",
      () =>
        Effect.gen(function* () {
          const links = yield* LinkStore
          const guards = yield* GuardedCreates
          const beginning = { token: 1, fingerprint: "f", ...guardTimes }
          yield* guards.beginMany(["a", "g"].map((name) => ({ name, ...beginning })))
          yield* links.insertMany([linkOf("taken")])
          const bind = (name: string, link: Link) => ({
            guards: [{ name, token: 1 }],
            answer: link.key,
            link
          })
          const refused: Link = { ...linkOf("refused"), url: null as unknown as string }
          const batch = [bind("a", linkOf("bystander")), bind("g", linkOf("taken")), bind("g", refused)]
          const error = yield* Effect.flip(guards.bindMany(batch))
          expect(error.applied).toBe("no")
          expect(yield* links.takenAmong(["bystander", "refused"])).toEqual(new Set())
          // Neither are its guards: they are held as before.
          expect(
            yield* guards.bindMany([bind("a", linkOf("bystander")), bind("g", linkOf("other"))])
          ).toEqual(["bound", "bound"])
        }).pipe(Effect.provide(Layer.provideMerge(GuardedCreatesSql.layer, stores)))
    )

    it.live("begins no guard where one of those of another kind is refused", () =>
      Effect.gen(function* () {
        const guards = yield* GuardedCreates
        const one = { name: "a", token: 1, fingerprint: "f", ...guardTimes }
        const refused = { ...one, name: "b", fingerprint: null as unknown as string, replaces: "k" }
        const error = yield* Effect.flip(guards.beginMany([one, refused]))
        expect(error).toMatchObject({ operation: "GuardedCreates.beginMany", applied: "no" })
        expect(yield* guards.beginMany([{ ...one, token: 2 }])).toEqual([{ _tag: "Begun" }])
      }).pipe(Effect.provide(Layer.provideMerge(GuardedCreatesSql.layer, stores)))
    )

    it.live("is applied in part at most, and says so, where it is large", () =>
      Effect.gen(function* () {
        const links = yield* LinkStore
        const batch = numbered("a", 300).concat(numbered("b", 300))
        const refused = { url: null as unknown as string }
        const rows = batch.map((key, index) => ({ ...linkOf(key), ...(index === 450 && refused) }))
        const error = yield* Effect.flip(links.insertMany(rows))
        const taken = yield* links.takenAmong(batch)
        expect([new Set(), new Set(numbered("a", 300))]).toContainEqual(taken)
        expect(error).toMatchObject({
          operation: "LinkStore.insertMany",
          applied: taken.size === 0 ? "no" : "unknown"
        })
      }).pipe(Effect.provide(stores))
    )

    it.live("is not applied where only the question about a repeat fails, since it is one transaction", () =>
      Effect.gen(function* () {
        const links = yield* LinkStore
        let inserts = 0
        const secondFails = Statement.withTransformer((statement, sql) =>
          Effect.succeed(
            statement.compile()[0].includes("INSERT INTO links") && ++inserts === 2
              ? sql`NONSENSE`
              : statement
          )
        )
        const batch = [linkOf("a"), { ...linkOf("a"), createId: 1 }]
        const error = yield* Effect.flip(links.insertMany(batch).pipe(secondFails))
        expect(error).toMatchObject({ operation: "LinkStore.insertMany", applied: "no" })
        expect(yield* links.findMany(["a"])).toEqual([null])
      }).pipe(Effect.provide(stores))
    )
  })
})

describePostgres("taking keys over a network that fails", () => {
  it.scopedLive("loses and doubles none, whether the commit arrived or not", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      const proxy = yield* makeCuttingProxy(url)
      const build = (at: string) =>
        Layer.build(
          Layer.provideMerge(KeyStockSql.layer(), Layer.fresh(postgresAt(at, { maxConnections: 2 })))
        )
      const [near, far] = [yield* build(url), yield* build(proxy.url)]
      const stock = yield* Effect.provide(KeyStock, near)
      const remote = yield* Effect.provide(KeyStock, far)
      yield* stock.add(keys("s", 100))
      const owner = yield* stock.claim(1)
      let sequence = 0
      for (const text of [
        "BEGIN",
        "SELECT epoch",
        "DELETE FROM keys",
        "INSERT INTO pool_batches",
        "COMMIT"
      ]) {
        for (const when of ["before", "after"] as const) {
          proxy.cutAt({ when, text })
          const error = yield* Effect.flip(remote.take({ ...owner, sequence: sequence++ }, 3))
          expect(error).toMatchObject({ _tag: "StorageError", operation: "KeyStock.take" })
        }
      }
      proxy.cutAt(null)
      const taken = yield* remote.take({ ...owner, sequence }, 3)
      // Of the ten that failed, the one whose commit arrived was applied.
      const recorded = keysRecorded(yield* stock.openBatches(1))
      expect(recorded).toHaveLength(6)
      expect(recorded).toEqual(expect.arrayContaining(toStrings(taken)))
      expect(yield* stock.size).toBe(94)
      yield* stock.take({ ...owner, sequence: 1_000 }, 1_000)
      expect(keysRecorded(yield* stock.openBatches(1))).toEqual(numbered("s", 100).toSorted())
    })
  )
})
