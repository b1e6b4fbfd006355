import { type Mutant, withFaults } from "./Mutant.ts"

/** What can be broken about how nodes are connected to the database. */
export const sessions: ReadonlyArray<Mutant> = [
  {
    name: "statement-timeout-removed",
    text: "A statement may take as long as it likes, and wait for locks.",
    promise: "C8",
    checker: "sessions",
    options: withFaults({ databaseSlow: { perMinute: 20, least_ms: 2_000, most_ms: 8_000 } }),
    make: () => ({
      connections: {
        bounds: { statement_ms: Number.POSITIVE_INFINITY, lock_ms: Number.POSITIVE_INFINITY }
      }
    })
  },
  {
    name: "idle-in-transaction-for-ever",
    text: "A transaction keeps its locks for as long as its client says nothing.",
    promise: "C8",
    checker: "sessions",
    options: withFaults(
      {
        databaseCalls: { refused: 0, lost: 0.03, ignored: 0.03 },
        pause: { perMinute: 6, least_ms: 1_000, most_ms: 12_000 }
      },
      { withKey: 0.3, withMaxVisits: 0.3 }
    ),
    make: () => ({ connections: { bounds: { idleInTransaction_ms: Number.POSITIVE_INFINITY } } })
  },
  {
    name: "read-only-connection-kept",
    text: "A node works on with a connection that leads to a server which takes no writes.",
    promise: "C8",
    checker: "liveness",
    options: withFaults({
      databaseFailover: { perMinute: 6, least_ms: 200, most_ms: 2_000 },
      standbyRoutes_ms: 3_000
    }),
    make: () => ({ connections: { pool: { keepsReadOnly: true } } })
  },
  {
    name: "former-primary-kept",
    text: "A node works on with a connection to a primary that lives on when another one was promoted.",
    promise: "C8",
    checker: "sessions",
    options: withFaults({
      databaseFailover: { perMinute: 6, least_ms: 200, most_ms: 1_000 },
      formerPrimary_ms: 6_000
    }),
    make: () => ({ connections: { pool: { keepsFormer: true } } })
  },
  {
    name: "pool-without-a-limit",
    text: "A node opens one more connection whenever all are in use.",
    promise: "C8",
    checker: "sessions",
    options: (options) => ({
      ...withFaults(
        { slowCalls: { probability: 0.3, most_ms: 2_000 } },
        { clients: 20, bursts: 0.3 }
      )(options),
      connectionsMax: 2
    }),
    make: () => ({ connections: { pool: { most: 1_000 } } })
  },
  {
    name: "silent-redis-kept",
    text: "A connection to Redis on which a command was not answered in time is used for the next ones.",
    promise: "C8",
    checker: "sessions",
    options: withFaults({
      redisCalls: { refused: 0, lost: 0.03, ignored: 0.03 },
      cutRedis: { perMinute: 6, least_ms: 1_500, most_ms: 5_000 }
    }),
    make: () => ({
      redis: (pool) => {
        pool.isKeptSilent = true
      }
    })
  }
]
