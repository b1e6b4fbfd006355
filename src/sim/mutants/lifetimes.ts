import { Effect, Exit } from "effect"
import type { LinkLifetime } from "../../storage/links/LinkLifetime.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import { ms_us } from "../world/Time.ts"
import { aloneOver } from "../presets/Aims.ts"
import { type Mutant, withFaults } from "./Mutant.ts"

type Lifetime = typeof LinkLifetime.Service

/** A mutant of the sweep at a process's end of the connection. */
const atPort =
  (mutate: (lifetime: Lifetime, process: VirtualProcess) => Partial<Lifetime>): Mutant["make"] =>
  () => ({
    ports: ({ lifetime }, process) => ({ lifetime: { ...lifetime, ...mutate(lifetime, process) } })
  })

/** Links that end soon and often. */
const shortLived: Mutant["options"] = (options) => ({
  ...options,
  workload: { ...options.workload, withExpiry: 0.4, deleted: 0.15 }
})

/** The same, under faults that make pools forget and refills stop halfway, so that records stay open. */
const recorded: Mutant["options"] = (options) => ({
  ...withFaults(
    {
      redisCalls: { refused: 0.1, lost: 0.3, ignored: 0 },
      redisLoss: { perMinute: 6, least_ms: 100, most_ms: 1_000 }
    },
    { withExpiry: 0.8, withAlias: 0, created: 0.6 }
  )(options),
  databases: 1,
  keyOrder: "permuted",
  pools: 1,
  quarantine_s: 2
})

/** A process alone over SQLite, whose machine's clock jumps. */
const byItsMachine: Mutant["options"] = (options) => ({
  ...aloneOver(
    withFaults(
      { clockJump: { perMinute: 8, least_ms: 2_000, most_ms: 60_000 } },
      { withExpiry: 0.4, created: 0.6 }
    )(options),
    "sqlite"
  ),
  databases: 1,
  linkReplicaLag_ms: null
})

/** What can be broken about the end of links, and about keys that are free again. */
export const lifetimes: ReadonlyArray<Mutant> = [
  {
    name: "quarantine-ignored",
    text: "The key of a link that has ended is free at once.",
    promise: "C1",
    checker: "quarantine",
    make: atPort((lifetime) => ({
      recycle: (options) => lifetime.recycle({ ...options, quarantine_ms: 0 })
    }))
  },
  {
    name: "quarantine-by-the-nodes-clock",
    text: "The quarantine is over when it is by the clock of the node that sweeps.",
    promise: "C1",
    checker: "quarantine",
    make: atPort((lifetime, process) => ({
      recycle: (options) =>
        Effect.suspend(() =>
          lifetime.recycle({
            ...options,
            quarantine_ms: Math.max(0, options.quarantine_ms - process.skew_us / ms_us)
          })
        )
    }))
  },
  {
    name: "time-by-the-nodes-clock",
    text: "A node judges links by its machine's clock.",
    promise: "C4",
    checker: "freshness",
    options: shortLived,
    make: () => ({ clock: (process) => () => process.wallClock_ms() })
  },
  {
    name: "tombstone-forgotten",
    text: "A link that has expired leaves no tombstone.",
    promise: "C3",
    checker: "read your writes",
    options: shortLived,
    make: () => ({
      database: ({ lifetime }, { ended, rows }) => {
        const gone = (keys: ReadonlyArray<string>) =>
          keys.forEach((key) => {
            rows.delete(key)
            ended.delete(key)
          })
        return {
          lifetime: {
            ...lifetime,
            expire: (keys) => Effect.tap(lifetime.expire(keys), gone),
            expireSome: (count) => Effect.tap(lifetime.expireSome(count), gone)
          }
        }
      }
    })
  },
  {
    name: "freed-key-in-a-record",
    text: "A key that is freed stays in the record of an open batch, whose finisher hands it out as well.",
    promise: "C1",
    checker: "specification",
    options: recorded,
    make: () => ({
      database: ({ lifetime }, { stocked: { batches } }) => ({
        lifetime: {
          ...lifetime,
          recycle: (options) =>
            Effect.suspend(() => {
              const before = new Map(batches)
              return Effect.tap(lifetime.recycle(options), () =>
                before.forEach((batch, id) => batches.set(id, batch))
              )
            })
        }
      })
    })
  },
  {
    name: "freed-key-not-stocked",
    text: "A minted key that is freed goes nowhere.",
    promise: "C6",
    checker: "ledger",
    preset: "calm",
    options: shortLived,
    make: () => ({
      database: ({ lifetime }, { stocked: { stock } }) => ({
        lifetime: {
          ...lifetime,
          recycle: (options) =>
            Effect.tap(lifetime.recycle(options), (freed) => freed.forEach(({ key }) => stock.delete(key)))
        }
      })
    })
  },
  {
    name: "sweep-after-a-jump",
    text: "A node ends links and frees keys also when the database's clock has jumped.",
    promise: "C4",
    checker: "quarantine",
    options: withFaults(
      { databaseClock: { perMinute: 2, least_ms: 3_000, most_ms: 30_000 } },
      { withExpiry: 0.4, deleted: 0.15 }
    ),
    make: () => ({ time: (time) => ({ ...time, isSettled: () => true }) })
  },
  {
    name: "machine-clock-believed",
    text: "A process alone goes by its machine's clock, also when that has jumped.",
    promise: "C4",
    checker: "machine time",
    options: byItsMachine,
    make: () => ({ clock: (process) => () => process.wallClock_ms() })
  },
  {
    name: "sweep-by-a-wrong-clock",
    text: "A process alone ends links also while its machine's clock is wrong.",
    promise: "C4",
    checker: "machine time",
    options: byItsMachine,
    make: () => ({ time: (time) => ({ ...time, isSettled: () => true }) })
  },
  {
    name: "ended-too-early",
    text: "Links end for good 3 s before they expire.",
    promise: "C3",
    checker: "quarantine",
    options: shortLived,
    make: () => ({
      database: ({ lifetime }, { rows }) => ({
        lifetime: {
          ...lifetime,
          expireSome: (count) =>
            Effect.suspend(() => {
              const changed = Array.from(rows.values()).filter(({ expiresAt }) => expiresAt !== null)
              changed.forEach((link) => rows.set(link.key, { ...link, expiresAt: link.expiresAt! - 3_000 }))
              return Effect.tap(lifetime.expireSome(count), () =>
                changed.forEach(({ expiresAt, key }) => rows.set(key, { ...rows.get(key)!, expiresAt }))
              )
            })
        }
      })
    })
  },
  {
    name: "expired-in-the-node-cache",
    text: "A node does not look at the expiry of a link that it has in its cache.",
    promise: "C4",
    checker: "freshness",
    options: (options) => ({
      ...shortLived(options),
      faults: { ...options.faults, clockJump: { perMinute: 0, least_ms: 0, most_ms: 0 } }
    }),
    make: () => ({
      cache: (cache) => ({
        ...cache,
        getThen: (key, answer, span) =>
          cache.getThen(
            key,
            (row) => answer(Exit.map(row, (link) => link && { ...link, expiresAt: null })),
            span
          )
      })
    })
  },
  {
    name: "sweep-ends-with-a-failure",
    text: "Once a turn of the sweep has failed, a node's sweep never does anything again.",
    promise: "C8",
    checker: "quarantine",
    options: (options) => ({
      ...withFaults(
        { databaseCalls: { refused: 0.3, lost: 0, ignored: 0 } },
        { withExpiry: 0.4, deleted: 0.15 }
      )(options),
      nodes: 1
    }),
    make: atPort((lifetime) => {
      let hasFailed = false
      return {
        expire: () => Effect.succeed([]),
        expireSome: (count) =>
          Effect.suspend(() => (hasFailed ? Effect.never : lifetime.expireSome(count))).pipe(
            Effect.tapError(() =>
              Effect.sync(() => {
                hasFailed = true
              })
            )
          )
      }
    })
  },
  {
    name: "writes-for-nobody",
    text: "A node that stood still carries out what clients asked for that have gone meanwhile.",
    promise: "C2",
    checker: "late requests",
    options: withFaults({ pause: { perMinute: 6, least_ms: 5_000, most_ms: 12_000 } }, { deleted: 0.15 }),
    make: () => ({ late: (late) => ({ ...late, mayBeLate: () => false }) })
  }
]
