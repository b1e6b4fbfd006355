import { Effect } from "effect"
import type { Placement } from "../../storage/links/BucketPlacement.ts"
import { withDatabases } from "../cli/Presets.ts"
import { type Mutant, withFaults } from "./Mutant.ts"

/** Several databases, and buckets that move between them most of the time. */
const moving: Mutant["options"] = (options) => {
  const several = withDatabases(
    withFaults({}, { created: 0.6, deleted: 0.1, changed: 0.1, think_ms: 1_000, clients: 10 })(options),
    2 + (options.nodes % 3),
    1
  )
  const bucketMove = { perMinute: 12, least_ms: 1_000, most_ms: 3_000 }
  return { ...several, faults: { ...several.faults, bucketMove, moverCrash: 0.02 } }
}

/** The same, with nodes that are frozen meanwhile. */
const pausing: Mutant["options"] = (options) => {
  const several = moving!(options)
  const pause = { perMinute: 8, least_ms: 200, most_ms: 4_000 }
  return { ...several, faults: { ...several.faults, pause } }
}

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
    name: "keys-carried-twice",
    text: "A key that is free again enters the stock of the control database before it leaves its own.",
    promise: "C1",
    checker: "key ways",
    options: (options) => ({
      ...moving!(options),
      quarantine_s: 2,
      staleRedirects_s: 0,
      workload: { ...moving!(options).workload, deleted: 0.3, withExpiry: 0.3 }
    }),
    make: () => ({ moves: { carriesTwice: true } })
  }
]
