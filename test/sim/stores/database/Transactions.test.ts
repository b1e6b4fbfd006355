// One suite of schedules for PostgreSQL and for its model in the simulation.

import { Duration, Effect } from "effect"
import { setTimeout } from "node:timers/promises"
import { Client } from "pg"
import { connections } from "../../../../src/storage/sql/postgres/PostgresClient.ts"
import { boundsFor } from "../../../../src/storage/sql/postgres/PrimaryClient.ts"
import { type Backend, type Command, type Reply } from "../../../../src/sim/stores/database/Backend.ts"
import { describePostgres, freshDatabase } from "../../../support/services/postgres/Postgres.ts"
import { littleWorld } from "../VirtualStores.ts"
import { type Outcome, type Scheduled, transactionLaws } from "./TransactionLaws.ts"

/** How long nothing takes that does not wait, in the model. */
const promptly_ms = 50

/** No wait of a schedule is longer. */
const longest_ms = 10_000

const inSimulation = Effect.map(littleWorld(), (little): Scheduled => {
  const { sessions } = little.database
  const values = { a: 0, b: 0 }
  return {
    rows: Effect.sync(() => ({ ...values })),
    idle: (for_ms) => Effect.sync(() => little.pass(for_ms)),
    isReal: false,
    hasStalled: Effect.succeed(false),
    session: Effect.sync(() => {
      let isLost = false
      let answered: Outcome | undefined
      const backend = sessions.accept(() => {
        isLost = true
      }) as Backend
      const raised: Array<"a" | "b"> = []
      const outcomeOf = (reply: Reply): Outcome =>
        "problem" in reply ? (reply.problem.code as Outcome) : "done"
      const until = (for_ms: number): Outcome => {
        const isOver = () => answered !== undefined || isLost
        for (let left = for_ms; !isOver() && left > 0; left--) little.pass(1)
        return isLost ? "lost" : (answered ?? "waits")
      }
      const ask = (command: Partial<Command>) =>
        Effect.sync(() => {
          answered = undefined
          little.world.after(0, null, () =>
            backend.execute(
              { locks: undefined, writes: true, ends: "no", apply: undefined, ...command },
              (reply) => (answered = outcomeOf(reply))
            )
          )
          return until(promptly_ms)
        })
      return {
        raise: (row) => {
          raised.push(row)
          return ask({ locks: () => [row] })
        },
        look: Effect.sync(() => until(1)),
        outcome: Effect.sync(() => until(longest_ms)),
        commit: ask({ ends: "commit", apply: () => raised.forEach((row) => values[row]++) }),
        rollback: ask({ ends: "rollback" }),
        vanish: Effect.sync(() => backend.hangUp(false))
      }
    })
  }
})

/** The sessions of PostgreSQL have the bounds of production's. */
const settings = (() => {
  const bounds = boundsFor(Duration.toMillis(connections.answerTimeout))
  return {
    statement_timeout: bounds.statement_ms,
    lock_timeout: bounds.lock_ms,
    idle_in_transaction_session_timeout: bounds.idleInTransaction_ms
  }
})()

/** What takes longer than this on PostgreSQL, and does not wait for a lock, was held up. */
const heldUp_ms = 500

/** Says whether this process, or what it waited for, was held up since it was made. */
const stalls = Effect.gen(function* () {
  let has = false
  /** Notes how long something took that takes `expected_ms` otherwise. */
  const prompt = async <A>(work: () => Promise<A>, expected_ms = 0): Promise<A> => {
    const start_ms = performance.now()
    const value = await work()
    if (performance.now() - start_ms > expected_ms + heldUp_ms) has = true
    return value
  }
  const tick_ms = 50
  yield* Effect.forkScoped(
    Effect.forever(Effect.promise(() => prompt(() => setTimeout(tick_ms, undefined), tick_ms)))
  )
  return { prompt, hasStalled: Effect.sync(() => has) }
})

const inPostgres = Effect.gen(function* () {
  const { hasStalled, prompt } = yield* stalls
  const url = yield* freshDatabase
  const connect = Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client({ connectionString: url, ...settings })
      client.on("error", () => {})
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end().catch(() => {}))
  )
  const observer = yield* connect
  yield* Effect.promise(() =>
    observer.query("CREATE TABLE r (name text PRIMARY KEY, n int); INSERT INTO r VALUES ('a', 0), ('b', 0)")
  )
  const clients = yield* Effect.all([connect, connect])
  let given = 0
  const isWaiting = async (pid: number) => {
    const { rows } = await observer.query<{ waits: boolean }>(
      "SELECT cardinality(pg_blocking_pids($1)) > 0 AS waits",
      [pid]
    )
    return rows[0]!.waits
  }
  return {
    rows: Effect.promise(async () => {
      const { rows } = await observer.query<{ a: number; b: number }>(
        "SELECT sum(n) FILTER (WHERE name = 'a')::int AS a, sum(n) FILTER (WHERE name = 'b')::int AS b FROM r"
      )
      return rows[0]!
    }),
    // PostgreSQL's own clock measures the time.
    idle: (for_ms) =>
      Effect.promise(() => prompt(() => observer.query("SELECT pg_sleep($1)", [for_ms / 1_000]), for_ms)),
    isReal: true,
    hasStalled,
    session: Effect.promise(async () => {
      const client = clients[given++]!
      const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")
      const pid = rows[0]!.pid
      let isBegun = false
      let last: Promise<Outcome> = Promise.resolve("done")
      const ask = async (statement: string): Promise<Outcome> => {
        let isOver = false
        last = client
          .query(statement)
          .then(
            (): Outcome => "done",
            (error: { readonly code?: string }): Outcome =>
              error.code === undefined || error.code === "25P03" ? "lost" : (error.code as Outcome)
          )
          .finally(() => {
            isOver = true
          })
        const goesOn = () => !isOver
        while (goesOn()) if (await isWaiting(pid)) return "waits"
        return last
      }
      return {
        raise: (row) =>
          Effect.promise(async () => {
            return prompt(async () => {
              if (!isBegun) await client.query("BEGIN")
              isBegun = true
              return ask(`UPDATE r SET n = n + 1 WHERE name = '${row}'`)
            })
          }),
        look: Effect.promise(async () => {
          const waits = isWaiting(pid).then((waits): Outcome | undefined => (waits ? "waits" : undefined))
          return (await waits) ?? last
        }),
        outcome: Effect.promise(() => last),
        commit: Effect.promise(() => prompt(() => ask("COMMIT"))),
        rollback: Effect.promise(() => prompt(() => ask("ROLLBACK"))),
        vanish: Effect.sync(() =>
          (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
        )
      }
    })
  } satisfies Scheduled
})

transactionLaws("transactions in the simulation", inSimulation)

describePostgres("on PostgreSQL", () => transactionLaws("transactions", inPostgres))
