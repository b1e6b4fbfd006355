import { SqlClient } from "@effect/sql"
import { SqlError } from "@effect/sql/SqlError"
import { expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Layer } from "effect"
import { describe } from "vitest"
import { asStorageError, inTransaction } from "../../../src/storage/sql/SqlTransaction.ts"
import { Fenced, StorageError } from "../../../src/storage/StorageError.ts"
import { describePostgres, freshDatabase } from "../../support/services/postgres/Postgres.ts"
import { type Cut, makeCuttingProxy } from "../../support/CuttingProxy.ts"
import { atOnce } from "../../support/Property.ts"
import { onEveryDatabase, postgresAt } from "../../support/Stores.ts"

/** Makes the table that these tests write to. */
const table = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.zipRight(sql`DROP TABLE IF EXISTS marks`, sql`CREATE TABLE marks (name TEXT PRIMARY KEY)`)
)
const insert = (name: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`INSERT INTO marks VALUES (${name})`)
const names = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql<{ name: string }>`SELECT name FROM marks ORDER BY name`, (rows) =>
    rows.map((row) => row.name)
  )
)
const transaction = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => inTransaction(sql, effect)).pipe(asStorageError("test"))

const sqlStateError = (code: string, message = "Failed to execute statement") =>
  new SqlError({ cause: Object.assign(new Error("the driver's words"), { code }), message })

describe("a storage error", () => {
  it.effect.each([
    ["a constraint", sqlStateError("23505")],
    ["a deadlock", sqlStateError("40P01")],
    ["a cancelled statement", sqlStateError("57014")],
    ["a full disk", sqlStateError("53100")],
    ["no connection to be had", sqlStateError("ECONNREFUSED", "Failed to acquire connection")],
    [
      "no connection for a transaction",
      sqlStateError("ETIMEDOUT", "Failed to acquire connection for transaction")
    ],
    ["a constraint of SQLite", sqlStateError("SQLITE_CONSTRAINT_PRIMARYKEY")],
    ["a locked SQLite database", sqlStateError("SQLITE_BUSY")]
  ] as const)("says that nothing was applied after %s", ([, error]) =>
    Effect.gen(function* () {
      for (const failed of [Effect.fail(error), Effect.die(error)]) {
        const told = yield* Effect.flip(asStorageError("Port.method")(failed))
        expect(told).toBeInstanceOf(StorageError)
        expect(told).toMatchObject({ operation: "Port.method", applied: "no" })
        expect(told.reason).toContain("the driver's words")
      }
    })
  )

  it.effect.each([
    ["an administrator's shutdown", sqlStateError("57P01")],
    ["a crash", sqlStateError("57P02")],
    ["a broken connection", sqlStateError("08006")],
    ["an unknown completion", sqlStateError("40003")],
    ["a fault of the server", sqlStateError("XX000")],
    ["a reset connection", sqlStateError("ECONNRESET")],
    ["a closed pipe", sqlStateError("EPIPE")],
    ["a disk fault below SQLite", sqlStateError("SQLITE_IOERR_FSYNC")],
    ["an error without a code", new SqlError({ cause: new Error("?"), message: "Failed" })],
    ["an error without a cause", new SqlError({ cause: undefined, message: "Failed" })]
  ] as const)("leaves open what was applied after %s", ([, error]) =>
    Effect.gen(function* () {
      for (const failed of [Effect.fail(error), Effect.die(error)]) {
        expect((yield* Effect.flip(asStorageError("Port.method")(failed))).applied).toBe("unknown")
      }
    })
  )

  it.effect("is not made of other errors and defects", () =>
    Effect.gen(function* () {
      const fenced = new Fenced({ shard: 1, epoch: 2 })
      expect(yield* Effect.flip(asStorageError("x")(Effect.fail(fenced)))).toBe(fenced)
      const defect = new Error("a bug")
      expect(yield* Effect.exit(asStorageError("x")(Effect.die(defect)))).toEqual(Exit.die(defect))
    })
  )
})

onEveryDatabase((client) => {
  const run = <A, E>(body: Effect.Effect<A, E, SqlClient.SqlClient>) =>
    Effect.provide(Effect.zipRight(table, body), client)

  describe("a transaction", () => {
    it.live("commits all its statements, or none when it fails or dies", () =>
      run(
        Effect.gen(function* () {
          yield* transaction(Effect.zipRight(insert("a"), insert("b")))
          const error = yield* Effect.flip(
            transaction(Effect.zipRight(insert("c"), Effect.fail("mine" as const)))
          )
          expect(error).toBe("mine")
          const exit = yield* Effect.exit(transaction(Effect.zipRight(insert("d"), Effect.die("bug"))))
          expect(exit).toEqual(Exit.die("bug"))
          expect(yield* names).toEqual(["a", "b"])
        })
      )
    )

    it.live("is rolled back by a failed statement, as not applied", () =>
      run(
        Effect.gen(function* () {
          yield* insert("a")
          const error = yield* Effect.flip(transaction(Effect.zipRight(insert("b"), insert("a"))))
          expect(error.applied).toBe("no")
          expect(yield* names).toEqual(["a"])
        })
      )
    )

    it.live("within another one takes back its own part alone", () =>
      run(
        Effect.gen(function* () {
          const inner = transaction(Effect.zipRight(insert("inner"), Effect.fail("stop" as const)))
          yield* transaction(Effect.all([insert("a"), Effect.ignore(inner), insert("b")]))
          yield* Effect.ignore(transaction(Effect.zipRight(transaction(insert("c")), Effect.fail("stop"))))
          expect(yield* names).toEqual(["a", "b"])
        })
      )
    )

    it.live("is rolled back when its fiber is interrupted", () =>
      run(
        Effect.gen(function* () {
          const entered = yield* Deferred.make<void>()
          const body = insert("a").pipe(
            Effect.zipRight(Deferred.succeed(entered, undefined)),
            Effect.zipRight(Effect.never)
          )
          const fiber = yield* Effect.fork(transaction(body))
          yield* Deferred.await(entered)
          yield* Fiber.interrupt(fiber)
          expect(yield* names).toEqual([])
          yield* transaction(insert("b"))
          expect(yield* names).toEqual(["b"])
        })
      )
    )
  })
})

describePostgres("a transaction on PostgreSQL", () => {
  /** Two ways to one database: near, and far behind a network that can be cut, with a pool of two. */
  const ways = Effect.gen(function* () {
    const url = yield* freshDatabase
    const proxy = yield* makeCuttingProxy(url)
    const build = (at: string) => Layer.build(postgresAt(at, { maxConnections: 2 }))
    const near = yield* build(url)
    const far = yield* build(proxy.url)
    yield* Effect.provide(table, near)
    return { near, far, cutAt: proxy.cutAt }
  })

  for (const [cut, applied] of [
    [{ when: "before", text: "BEGIN" }, false],
    [{ when: "before", text: "INSERT" }, false],
    [{ when: "before", text: "COMMIT" }, false],
    [{ when: "after", text: "COMMIT" }, true]
  ] satisfies ReadonlyArray<[Cut, boolean]>) {
    const place = `${cut.when} its ${cut.text}`
    it.scopedLive(`whose connection is lost ${place} may have been applied, and leaves the pool whole`, () =>
      Effect.gen(function* () {
        const { cutAt, far, near } = yield* ways
        cutAt(cut)
        for (let round = 0; round < 15; round++) {
          const errors = yield* atOnce([
            Effect.flip(transaction(insert(`a${round}`))),
            Effect.flip(transaction(insert(`b${round}`)))
          ]).pipe(Effect.provide(far))
          for (const error of errors) {
            expect(error).toBeInstanceOf(StorageError)
            expect(error.applied).toBe("unknown")
          }
        }
        cutAt(null)
        yield* atOnce([transaction(insert("c")), transaction(insert("d"))]).pipe(Effect.provide(far))
        expect(yield* Effect.provide(names, near)).toHaveLength(applied ? 32 : 2)
      })
    )
  }

  it.scopedLive("whose backend is terminated in the middle fails, and leaves the pool whole", () =>
    Effect.gen(function* () {
      const { far, near } = yield* ways
      const terminate = (pid: number) =>
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT pg_terminate_backend(${pid}, 5000)`).pipe(
          Effect.provide(near)
        )
      const body = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`
        yield* insert("a")
        yield* terminate(row!.pid)
      })
      for (let round = 0; round < 15; round++) {
        const lostCommit = yield* Effect.flip(transaction(body)).pipe(Effect.provide(far))
        expect(lostCommit).toMatchObject({ _tag: "StorageError", applied: "unknown" })
        const lostStatement = yield* Effect.flip(transaction(Effect.zipRight(body, insert("b")))).pipe(
          Effect.provide(far)
        )
        expect(lostStatement._tag).toBe("StorageError")
      }
      yield* atOnce([transaction(insert("c")), transaction(insert("d"))]).pipe(Effect.provide(far))
      expect(yield* Effect.provide(names, near)).toEqual(["c", "d"])
    })
  )

  it.scopedLive("that is refused at its commit was not applied", () =>
    Effect.gen(function* () {
      const { near } = yield* ways
      const error = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE late (n INTEGER UNIQUE DEFERRABLE INITIALLY DEFERRED)`
        return yield* Effect.flip(
          transaction(Effect.zipRight(insert("a"), sql`INSERT INTO late VALUES (1), (1)`))
        )
      }).pipe(Effect.provide(near))
      expect(error.applied).toBe("no")
      expect(yield* Effect.provide(names, near)).toEqual([])
    })
  )

  it.scopedLive(
    "in which a statement failed is not called committed, even if nobody minded the failure",
    () =>
      Effect.gen(function* () {
        const { near } = yield* ways
        const body = Effect.all([insert("a"), Effect.ignore(insert("a")), Effect.ignore(insert("b"))])
        const error = yield* Effect.flip(transaction(body)).pipe(Effect.provide(near))
        expect(error).toMatchObject({ _tag: "StorageError", applied: "no" })
        expect(yield* Effect.provide(names, near)).toEqual([])
      })
  )

  it.scopedLive(
    "that is interrupted in the middle of a statement holds up nobody, and cancels nothing else",
    () =>
      Effect.gen(function* () {
        const { near } = yield* ways
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          for (let round = 0; round < 8; round++) {
            // One waits for the other's row; the pool has no third connection for anything.
            const entered = yield* Deferred.make<void>()
            const both = yield* atOnce([
              Effect.fork(
                transaction(
                  insert("a").pipe(
                    Effect.zipRight(Deferred.succeed(entered, undefined)),
                    Effect.zipRight(sql`SELECT pg_sleep(0.05)`)
                  )
                )
              ),
              Effect.fork(transaction(Effect.zipRight(Deferred.await(entered), insert("a"))))
            ])
            yield* Deferred.await(entered)
            yield* Effect.yieldNow()
            yield* Fiber.interruptAll(both).pipe(
              Effect.timeoutFail({ duration: "4 seconds", onTimeout: () => "held up" })
            )
            yield* atOnce(Array.from({ length: 4 }, () => sql`SELECT pg_sleep(0.01)`))
          }
          expect(yield* names).toEqual([])
        }).pipe(Effect.provide(near))
      })
  )

  it.scopedLive(
    "for which there is no connection in time was not applied, and those that come later are",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase
        const pool = yield* Layer.build(
          postgresAt(url, { maxConnections: 1, connectTimeout: Duration.seconds(2) })
        )
        yield* Effect.gen(function* () {
          yield* table
          const [entered, leave] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
          const holder = yield* Effect.fork(
            transaction(Effect.zipRight(Deferred.succeed(entered, undefined), Deferred.await(leave)))
          )
          yield* Deferred.await(entered)
          const errors = yield* atOnce(["a", "b"].map((name) => Effect.flip(transaction(insert(name)))))
          expect(errors.map(({ applied }) => applied)).toEqual(["no", "no"])
          yield* Deferred.succeed(leave, undefined)
          yield* Fiber.join(holder)
          yield* transaction(insert("c"))
          expect(yield* names).toEqual(["c"])
        }).pipe(Effect.provide(pool))
      })
  )
})
