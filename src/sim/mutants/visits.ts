import { Effect } from "effect"
import type { VisitStore } from "../../storage/visits/VisitStore.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import { later, type Mutant, withFaults } from "./Mutant.ts"

type Write = (typeof VisitStore.Service)["write"]

const writing =
  (mutate: (write: Write, process: VirtualProcess) => Write): Mutant["make"] =>
  () => ({
    ports: ({ visits }, process) => ({ visits: { ...visits, write: mutate(visits.write, process) } })
  })

/** Clients who follow links. */
const followed = { created: 0.2, changed: 0, deleted: 0 }

/** What can be broken about the counting of visits. */
export const visits: ReadonlyArray<Mutant> = [
  {
    name: "visits-dropped",
    text: "Every third batch of visits is thrown away.",
    promise: "C11",
    checker: "visits",
    make: writing((write) => {
      let batches = 0
      return (batch) => (++batches % 3 === 0 ? Effect.void : write(batch))
    })
  },
  {
    name: "visits-counted-twice",
    text: "Every batch of visits is written under two names.",
    promise: "C11",
    checker: "visits",
    make: writing(
      (write) => (batch) =>
        Effect.zipRight(write(batch), write({ ...batch, writer: `${batch.writer}, again` }))
    )
  },
  {
    name: "visits-shown-once-each",
    text: "A link that was visited is shown with one visit.",
    promise: "C11",
    checker: "shown links",
    options: withFaults({}, { ...followed, shown: 0.3 }),
    make: () => ({
      ports: ({ visits }) => ({
        visits: {
          ...visits,
          totals: (subjects) =>
            Effect.map(visits.totals(subjects), (counts) =>
              counts.map((count) => ({ ...count, nonBots: Math.min(1, count.nonBots) }))
            )
        }
      })
    })
  },
  {
    name: "visits-written-behind",
    text: "A batch of visits is taken for written 3 s before it is.",
    promise: "C11",
    checker: "visits",
    options: withFaults({ kill: { perMinute: 12, least_ms: 500, most_ms: 2_000 } }, followed),
    make: writing((write, process) => (batch) => later(process, 3_000, write(batch)))
  },
  {
    name: "visits-repeated-anew",
    text: "A batch of visits whose write was not answered gets a new number.",
    promise: "C11",
    checker: "visits",
    options: withFaults({ databaseCalls: { refused: 0, lost: 0.1, ignored: 0 } }, followed),
    make: writing((write) => {
      let sequence = 0
      return (batch) => Effect.suspend(() => write({ ...batch, sequence: ++sequence }))
    })
  },
  {
    name: "visits-given-up",
    text: "Visits are given up without a word when they cannot be written at once.",
    promise: "C11",
    checker: "visits",
    options: withFaults({ databaseCalls: { refused: 0.2, lost: 0, ignored: 0 } }, followed),
    make: writing((write) => (batch) => Effect.ignore(write(batch)))
  }
]
