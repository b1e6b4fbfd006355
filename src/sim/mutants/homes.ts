import { Effect } from "effect"
import type { Placement } from "../../storage/links/buckets/BucketPlacement.ts"
import type { SimOptions, WorkloadOptions } from "../cli/Options.ts"
import { StorageError } from "../../storage/StorageError.ts"
import { s_us } from "../world/Time.ts"
import { withDatabases } from "../presets/Databases.ts"
import { never } from "../presets/Faults.ts"
import { type Mutant, withFaults } from "./Mutant.ts"
import type { Mutation } from "./Mutation.ts"

/** Several databases, and buckets that move between them most of the time. */
const moving = (options: SimOptions): SimOptions => {
  const several = withDatabases(
    withFaults(
      {},
      { created: 0.6, deleted: 0.1, changed: 0.1, think_ms: 1_000, clients: 10, withAccount: 0 }
    )(options),
    2 + (options.nodes % 3),
    1
  )
  const bucketMove = { perMinute: 12, least_ms: 1_000, most_ms: 3_000 }
  return { ...several, faults: { ...several.faults, bucketMove, moverCrash: 0.02 } }
}

/** The same, with other shares of requests. */
const movingWith = (workload: Partial<WorkloadOptions>) => (options: SimOptions) => {
  const several = moving(options)
  return { ...several, workload: { ...several.workload, ...workload } }
}

/** The same, with nodes that are frozen meanwhile. */
const pausing = (options: SimOptions): SimOptions => {
  const several = moving(options)
  const pause = { perMinute: 8, least_ms: 200, most_ms: 4_000 }
  return { ...several, faults: { ...several.faults, pause } }
}

/** Links that everybody asks for end and change in several databases, from which nodes are cut off one by one while buckets move. */
const cutOff = (options: SimOptions): SimOptions => {
  const several = moving(options)
  return {
    ...several,
    nodes: 3,
    staleRedirects_s: 0,
    redirectCacheMax: 64,
    workload: {
      ...several.workload,
      clients: 20,
      think_ms: 500,
      created: 0.04,
      deleted: 0.02,
      changed: 0.1,
      remembered: 20
    },
    faults: { ...several.faults, cutDatabase: { perMinute: 8, least_ms: 4_000, most_ms: 12_000 } }
  }
}

/** Nodes are cut off from one of two databases for long, between which nothing moves, and redirect meanwhile by what they have. */
const staleCutOff = (options: SimOptions): SimOptions => {
  const several = moving(options)
  return {
    ...several,
    databases: 2,
    staleRedirects_s: 14,
    workload: { ...several.workload, clients: 8, created: 0.2 },
    faults: {
      ...several.faults,
      bucketMove: never,
      cutDatabase: { perMinute: 12, least_ms: 3_000, most_ms: 12_000 }
    }
  }
}

/** One node cannot read the placement in every other span of 10 s. */
const unreadByOne: Mutation["placement"] = (store, process) => ({
  ...store,
  read: Effect.suspend(() =>
    process.name !== "node-0" || Math.floor(process.world.now_us / (10 * s_us)) % 2 === 0
      ? store.read
      : new StorageError({ operation: "BucketPlacement.read", applied: "no", reason: "no answer" })
  )
})

/** What can be broken about several databases of links, and moves between them. */
export const homes: ReadonlyArray<Mutant> = [
  {
    name: "old-placement-not-fenced",
    text: "A database takes writes of nodes that know an old placement: neither its epoch nor a barrier is asked.",
    promise: "C2",
    checker: "durability",
    options: pausing,
    make: () => ({ moves: { isUnfenced: true } })
  },
  {
    name: "switched-before-it-is-copied",
    text: "Buckets are switched over with what the target had when it was copied.",
    promise: "C2",
    checker: "durability",
    options: moving,
    make: () => ({ moves: { switchesUncopied: true } })
  },
  {
    name: "deleted-before-the-switch",
    text: "A move deletes the rows where its buckets are still at home.",
    promise: "C3",
    checker: "read your writes",
    options: moving,
    make: () => ({ moves: { deletesBeforeSwitch: true } })
  },
  {
    name: "refusal-taken-for-success",
    text: "An insert that a database refuses, since the placement is old, is reported as done.",
    promise: "C2",
    checker: "durability",
    options: pausing,
    make: () => ({ moves: { refusalsAreAnswers: true } })
  },
  {
    name: "placement-read-once",
    text: "A node knows no other placement than that of its start.",
    promise: "C8",
    checker: "liveness",
    options: moving,
    make: () => ({
      placement: (store) => {
        let known: Placement | undefined
        return {
          ...store,
          read: Effect.suspend(() =>
            known === undefined
              ? Effect.tap(store.read, (placement) => {
                  known = placement
                })
              : Effect.succeed(known)
          )
        }
      }
    })
  },
  {
    name: "cached-through-a-move",
    text: "Caches keep what they have when buckets come to another database, though news of the former one may be missing.",
    promise: "C4",
    checker: "freshness",
    options: cutOff,
    make: () => ({ moves: { keepsCached: true } })
  },
  {
    name: "away-by-control",
    text: "A node that does not reach the database of a link waits for it, though the link is at hand, unless it does not reach the control database either.",
    promise: "C8",
    checker: "stale redirects",
    options: staleCutOff,
    make: () => ({ moves: { asksControlAlone: true } })
  },
  {
    name: "departures-unheard",
    text: "A node that cannot read the placement uses what it has cached of buckets that have left their database since.",
    promise: "C4",
    checker: "freshness",
    options: cutOff,
    make: () => ({
      moves: { epochsUnheard: true },
      // A node that is cut off from the control database gets few requests.
      placement: unreadByOne
    })
  },
  {
    name: "reuse-in-one-database",
    text: "A create asks the control database alone for a link of its URL.",
    promise: "C7",
    checker: "reused links",
    options: movingWith({ reused: 0.4 }),
    make: () => ({ moves: { looksInOne: true } })
  },
  {
    name: "gathered-at-old-homes",
    text: "A list does without links whose old home has deleted them, and does not ask at the new one.",
    promise: "lists",
    checker: "lists",
    options: movingWith({ listed: 0.3 }),
    make: () => ({ moves: { gathersOnce: true } })
  },
  {
    name: "statistics-of-the-old-home",
    text: "Statistics are read in a database that the bucket has left, which has deleted its visits by then.",
    promise: "C11",
    checker: "statistics",
    options: movingWith({ created: 0.1, statistics: 0.4, withExpiry: 0, deleted: 0 }),
    make: () => ({ moves: { confirmsNothing: true }, placement: unreadByOne })
  },
  {
    name: "messages-removed-unqueued",
    text: "Messages for webhooks are deleted from their database before they are queued in the control database.",
    promise: "webhooks",
    checker: "webhook events",
    options: (options) => {
      const several = movingWith({ withAccount: 0.5 })(options)
      return {
        ...several,
        faults: { ...several.faults, databaseCalls: { refused: 0.1, lost: 0, ignored: 0 } }
      }
    },
    make: () => ({ moves: { removesUnqueued: true } })
  },
  {
    name: "links-of-a-removed-user-left-elsewhere",
    text: "The links of a user who is removed with them stay in all databases but the control database.",
    promise: "accounts",
    checker: "removals",
    options: movingWith({ withAccount: 0.5, signedIn: 0.3 }),
    make: () => ({ moves: { removesInOne: true } })
  },
  {
    name: "silence-taken-for-no-links",
    text: "A user who is removed with their links is forgotten though one of several databases did not say whether it has some.",
    promise: "accounts",
    checker: "removals",
    options: (options) => {
      const several = movingWith({ withAccount: 0.5, signedIn: 0.3 })(options)
      const cutDatabase = { perMinute: 20, least_ms: 20_000, most_ms: 30_000 }
      return { ...several, databases: 3, faults: { ...several.faults, bucketMove: never, cutDatabase } }
    },
    make: () => ({ moves: { takesSilenceForNone: true } })
  },
  {
    name: "keys-carried-twice",
    text: "A key that is free again enters the stock of the control database before it leaves its own.",
    promise: "C1",
    checker: "key ways",
    options: (options) => ({
      ...movingWith({ deleted: 0.3, withExpiry: 0.3 })(options),
      quarantine_s: 2,
      staleRedirects_s: 0
    }),
    make: () => ({ moves: { carriesTwice: true } })
  }
]
