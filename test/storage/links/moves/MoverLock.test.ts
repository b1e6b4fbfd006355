import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope, TestClock } from "effect"
import * as MoverLock from "../../../../src/storage/links/moves/MoverLock.ts"
import { describePostgres, freshDatabase } from "../../../support/services/postgres/Postgres.ts"
import { postgresAt } from "../../../support/Stores.ts"

describePostgres("the lock of those who move buckets or visits", () => {
  const open = (url: string) =>
    Effect.map(Layer.build(postgresAt(url)), (context) => Context.get(context, SqlClient.SqlClient))

  it.scopedLive("is had by one process in each database, and says where and who the other one is", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* open(yield* freshDatabase), yield* open(yield* freshDatabase)]
      const first = yield* Scope.make()
      yield* Scope.extend(MoverLock.hold({ number: 0, sql: one }, []), first)
      const [row] = yield* one<{ pid: number }>`SELECT pid FROM pg_locks WHERE locktype = 'advisory'
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
      const error = yield* Effect.flip(MoverLock.hold({ number: 0, sql: other }, [{ number: 7, sql: one }]))
      expect(error).toEqual(new MoverLock.MoverBusy({ database: 7, process: row!.pid }))
      expect(error.message).toContain(`process ${row!.pid} of PostgreSQL has the lock in database 7`)
      yield* Scope.close(first, Exit.void)
    })
  )

  it.scopedLive("is free when the scope has closed, of who did not have it in all databases as well", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* open(yield* freshDatabase), yield* open(yield* freshDatabase)]
      const both = MoverLock.hold({ number: 0, sql: one }, [{ number: 1, sql: other }])
      yield* Effect.scoped(both)
      yield* Effect.scoped(
        Effect.zipRight(MoverLock.hold({ number: 1, sql: other }, []), Effect.flip(Effect.scoped(both)))
      )
      yield* both
    })
  )

  it.scoped("is taken for lost where its session does not answer, and what was done under it ends", () =>
    Effect.gen(function* () {
      const sql = yield* open(yield* freshDatabase)
      const [begun, answers] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      let isSilent = false
      const silent = new Proxy(sql, {
        apply: (sql, self, parts) => {
          const statement = Reflect.apply(sql, self, parts)
          return Effect.suspend(() =>
            isSilent ? Effect.zipRight(Deferred.await(answers), statement) : statement
          )
        }
      })
      const control = yield* open(yield* freshDatabase)
      const lock = yield* MoverLock.hold({ number: 0, sql: control }, [{ number: 3, sql: silent }])
      const events: Array<string> = []
      const silence = Effect.sync(() => {
        isSilent = true
      })
      const work = silence.pipe(
        Effect.zipRight(Deferred.succeed(begun, undefined)),
        Effect.zipRight(Effect.never),
        Effect.onInterrupt(() => Effect.sync(() => events.push("interrupted")))
      )
      const others = yield* Effect.fork(lock.holding([], Effect.never))
      const fiber = yield* Effect.fork(Effect.flip(lock.holding([3], work)))
      yield* Deferred.await(begun)
      const isDone = Effect.map(Fiber.poll(fiber), ({ _tag }) => _tag === "Some")
      yield* Effect.repeat(Effect.zipRight(TestClock.adjust("1 second"), isDone), { until: (done) => done })
      expect(yield* Fiber.join(fiber)).toEqual(
        new MoverLock.MoverLockLost({ database: 3, reason: "no answer for 10s" })
      )
      expect(events).toEqual(["interrupted"])
      // What does not work on that database goes on.
      expect((yield* Fiber.poll(others))._tag).toBe("None")
      yield* Deferred.succeed(answers, undefined)
    })
  )
})
