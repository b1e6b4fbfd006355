import { Effect } from "effect"
import { nothing } from "../../storage/nodes/Witness.ts"
import type { FaultOptions, SimOptions } from "../cli/Options.ts"
import { noFaults } from "../presets/Faults.ts"
import * as LinkLifetimeMemory from "../stores/LinkLifetimeMemory.ts"
import { type Mutant, withFaults } from "./Mutant.ts"

/** Has runs whose database fails over all the time to a standby that lags, while actors move. */
const forgetful =
  (lag_ms: number, slowCalls: FaultOptions["slowCalls"] = noFaults.slowCalls) =>
  (options: SimOptions): SimOptions => ({
    ...withFaults(
      {
        databaseFailover: { perMinute: 15, least_ms: 50, most_ms: 500 },
        databaseLag_ms: lag_ms,
        slowCalls,
        move: { perMinute: 30, least_ms: 0, most_ms: 1_000 }
      },
      { created: 0.8, bursts: 0.1, withAccount: 0 }
    )(options),
    witnessed: true,
    nodes: 3,
    keyOrder: "permuted",
    keyStock: "none",
    bufferCapacity: 4,
    poolLow: 8,
    poolHigh: 20
  })

/** What can be broken about the way in which a database is noticed that has forgotten commits. */
export const standbys: ReadonlyArray<Mutant> = [
  {
    name: "witness-forgets",
    text: "A witness says that it remembers, and remembers nothing.",
    promise: "C9",
    checker: "minted once",
    options: forgetful(3_000),
    make: () => ({
      ports: ({ witness }) => ({
        witness: { ...witness, read: Effect.succeed(nothing), raise: () => Effect.void }
      })
    })
  },
  {
    name: "witness-ignored",
    text: "The database's mark moves whatever its witnesses know, and nobody looks.",
    promise: "C9",
    checker: "minted once",
    options: forgetful(3_000),
    make: () => ({
      ports: ({ mark }) => ({
        mark: {
          ...mark,
          move: ({ timeline }) => mark.move({ floor: 0, timeline }),
          look: Effect.map(mark.look, (found) => ({ ...found, mark: Number.MAX_SAFE_INTEGER }))
        }
      })
    })
  },
  {
    name: "mark-never-moves",
    text: "Keys leave the database without a move of its mark.",
    promise: "C9",
    checker: "forgotten keys",
    options: forgetful(3_000),
    make: () => ({ ports: ({ mark }) => ({ mark: { ...mark, move: () => mark.look } }) })
  },
  {
    name: "promotion-unnoticed",
    text: "The database does not say that another server was promoted.",
    promise: "C9",
    checker: "minted once",
    options: forgetful(300, { probability: 0.3, most_ms: 600 }),
    make: () => ({
      ports: ({ mark }) => ({
        mark: {
          ...mark,
          move: ({ floor }) =>
            Effect.flatMap(mark.look, ({ timeline }) =>
              Effect.map(mark.move({ floor, timeline }), (moved) => moved && { ...moved, timeline: 1 })
            ),
          recover: (witnessed) =>
            Effect.flatMap(mark.look, ({ timeline }) => mark.recover({ ...witnessed, timeline })),
          look: Effect.map(mark.look, (found) => ({ ...found, timeline: 1 })),
          identity: Effect.map(mark.identity, (own) => ({ ...own, timeline: 1 }))
        }
      })
    })
  },
  {
    name: "recovered-without-watermarks",
    text: "A database that had forgotten commits is recovered, and its ranges go on where it believes that they are.",
    promise: "C9",
    checker: "minted once",
    options: forgetful(3_000),
    make: () => ({
      ports: ({ mark }) => ({
        mark: {
          ...mark,
          recover: (witnessed) => mark.recover({ ...witnessed, watermarks: [] })
        }
      })
    })
  },
  {
    name: "recycled-though-forgotten",
    text: "A key is stocked that was free, and perhaps bound once more, in a time that the database has forgotten.",
    promise: "C9",
    checker: "key ways",
    options: (options) => ({
      ...forgetful(3_000)(options),
      quarantine_s: 4,
      staleRedirects_s: 0,
      workload: { ...options.workload, created: 0.6, deleted: 0.15, withExpiry: 0.4, withAccount: 0 }
    }),
    make: () => ({
      database: (_, { ended, rows, stocked }) => ({
        lifetime: LinkLifetimeMemory.makeOver({ ...stocked, links: rows, ended, regressions: [] })
      })
    })
  }
]
