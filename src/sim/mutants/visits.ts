import { Effect } from "effect"
import { isLinkSubject, linkOfSubject } from "../../model/Visit.ts"
import type { HourCount, VisitStore } from "../../storage/visits/VisitStore.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import type { SimOptions } from "../cli/Options.ts"
import { later, type Mutant, withFaults } from "./Mutant.ts"

type Write = (typeof VisitStore.Service)["write"]

const writing =
  (mutate: (write: Write, process: VirtualProcess) => Write): Mutant["make"] =>
  () => ({
    ports: ({ visits }, process) => ({ visits: { ...visits, write: mutate(visits.write, process) } })
  })

/** Clients who follow links. */
const followed = { created: 0.2, changed: 0, deleted: 0 }

/** Those who ask for statistics. */
const measured: Mutant["options"] = withFaults({}, { ...followed, statistics: 0.2 })

/** Likewise, where days are rolled up. */
const rolledUp = (options: SimOptions): SimOptions => ({
  ...measured!(options),
  databases: 1,
  compared: true,
  visitsSettle_s: 2
})

/** Likewise, of users' links. */
const measuredByUsers: Mutant["options"] = (options) => {
  const { workload, ...others } = measured!(options)
  return {
    ...others,
    createsPerMinute: null,
    redirectsPerDay: null,
    workload: { ...workload, created: 0.4, withAccount: 0.5 }
  }
}

/** Likewise, of keys that are soon free again. */
const measuredAgain: Mutant["options"] = (options) => {
  const { workload, ...others } = measured!(options)
  return {
    ...others,
    quarantine_s: 2,
    staleRedirects_s: 0,
    workload: { ...workload, deleted: 0.1, withAlias: 0.9, wished: 0.3, remembered: 8 }
  }
}

/** Those who ask for lists, of links that were visited before the run's first hour ends. */
const ranked = (options: SimOptions): SimOptions => ({
  ...withFaults({}, { ...followed, listed: 0.2 })(options),
  visitsSettle_s: 2
})

type Visits = typeof VisitStore.Service

/** The store of visits, as a process has it. */
const storing =
  (mutate: (visits: Visits) => Partial<Visits>): Mutant["make"] =>
  () => ({ ports: ({ visits }) => ({ visits: { ...visits, ...mutate(visits) } }) })

/** Batches with hours that are not as they were counted. */
const countedAs = (mutate: (hours: ReadonlyArray<HourCount>) => ReadonlyArray<HourCount>): Mutant["make"] =>
  writing((write) => (batch) => write({ ...batch, hours: mutate(batch.hours) }))

/** The subject of a key's visits, whichever link it is of. */
const ofKey = (subject: string) => (isLinkSubject(subject) ? `${linkOfSubject(subject).key}@0` : subject)

/** The subject of a domain's orphan visits, for whatever reason. */
const ofAnyReason = (subject: string) => subject.replace(/^(orphans:\d+):.+$/, "$1")

/** Statistics of other subjects than those that are asked for. */
const readAs = (
  { series, top, visitors }: Visits,
  otherOf: (subject: string) => string
): Pick<Visits, "series" | "top" | "visitors"> => ({
  series: (range, interval) => series({ ...range, subject: otherOf(range.subject) }, interval),
  top: (range, max) => top({ ...range, subject: otherOf(range.subject) }, max),
  visitors: (range, interval) => visitors({ ...range, subject: otherOf(range.subject) }, interval)
})

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
  },
  {
    name: "orphans-of-the-default-domain",
    text: "Visitors whom no link leads are all counted in the default domain.",
    promise: "C11",
    checker: "visits",
    options: withFaults({}, { ...followed, withDomain: 0.6 }),
    make: countedAs((hours) =>
      hours.map((hour) => ({ ...hour, subject: hour.subject.replace(/^orphans:[1-9]\d*/, "orphans:0") }))
    )
  },
  {
    name: "orphans-of-ended-links-missing",
    text: "Visitors whose link has expired, or was used up, are counted as those of links that never were.",
    promise: "C11",
    checker: "visits",
    options: withFaults({}, { ...followed, withExpiry: 0.4, withMaxVisits: 0.4 }),
    make: countedAs((hours) =>
      hours.map((hour) => ({ ...hour, subject: hour.subject.replace(/:(?:expired|usedUp)$/, ":unknown") }))
    )
  },
  {
    name: "statistics-hours-late",
    text: "Visits are counted in the hour after their own.",
    promise: "C11",
    checker: "statistics",
    options: measured,
    make: countedAs((hours) => hours.map((one) => ({ ...one, hour: one.hour + 1 })))
  },
  {
    name: "statistics-until-now",
    text: "Statistics have all visits since a moment, also those after the time that is asked for.",
    promise: "C11",
    checker: "statistics",
    options: measured,
    make: storing(({ top }) => ({ top: (range, max) => top({ ...range, to: range.to + 48 }, max) }))
  },
  {
    name: "statistics-of-the-key",
    text: "A link has the visits of all links that had its key.",
    promise: "C11",
    checker: "statistics",
    options: measuredAgain,
    make: storing((visits) => ({
      ...readAs(visits, ofKey),
      write: (batch) =>
        visits.write({
          ...batch,
          hours: batch.hours.map((one) => ({ ...one, subject: ofKey(one.subject) }))
        }),
      forget: () => Effect.void
    }))
  },
  {
    name: "statistics-of-domains-for-any-reason",
    text: "A domain's statistics for one reason are those for all.",
    promise: "C11",
    checker: "statistics",
    options: withFaults({}, { ...followed, statistics: 0.2, withDomain: 0.6 }),
    make: storing((visits) => readAs(visits, ofAnyReason))
  },
  {
    name: "statistics-of-owners-uncounted",
    text: "Visits are not counted for the owners of their links.",
    promise: "C11",
    checker: "statistics",
    options: measuredByUsers,
    make: countedAs((hours) => hours.filter(({ subject }) => isLinkSubject(subject)))
  },
  {
    name: "statistics-values-once",
    text: "Each value counts once in a batch, however many visits have it.",
    promise: "C11",
    checker: "statistics",
    options: measured,
    make: countedAs((hours) =>
      hours.map((one) => ({ ...one, values: one.values.map((value) => ({ ...value, visits: 1 })) }))
    )
  },
  {
    name: "statistics-visitors-alike",
    text: "All visitors are taken for one.",
    promise: "C11",
    checker: "statistics",
    options: measured,
    make: countedAs((hours) =>
      hours.map((one) => ({ ...one, visitors: one.visitors?.slice(0, 1).map(() => 1) }))
    )
  },
  {
    name: "statistics-for-everybody",
    text: "The statistics of all links are public.",
    promise: "C11",
    checker: "statistics",
    options: measured,
    make: () => ({
      ports: ({ links }) => ({
        links: {
          ...links,
          findMany: (keys) =>
            Effect.map(links.findMany(keys), (rows) =>
              rows.map((row) => row && { ...row, extras: { ...row.extras, publicStats: true } })
            )
        }
      })
    })
  },
  {
    name: "visits-rolled-up-as-bots",
    text: "A day has the visits of its bots alone.",
    promise: "C11",
    checker: "stores",
    options: rolledUp,
    make: () => ({ statement: (sql) => sql.replace("sum(non_bots), sum(bots),", "0, sum(bots),") })
  },
  {
    name: "visits-rolled-up-without-values",
    text: "A day has no visits by value.",
    promise: "C11",
    checker: "stores",
    options: rolledUp,
    make: () => ({
      statement: (sql) =>
        sql.replace("WHERE finer.subject = whole.subject", "WHERE finer.subject <> finer.subject")
    })
  },
  {
    name: "hours-dropped-too-soon",
    text: "Visits by the hour are dropped before their days are to be.",
    promise: "C11",
    checker: "stores",
    options: (options) => ({ ...rolledUp(options), visitHours_days: 1 }),
    make: storing(({ drop }) => ({
      drop: ({ hours, ...before }, max) => drop({ ...before, hours: hours + 24 }, max)
    }))
  },
  {
    name: "only-the-first-rank",
    text: "Of the links that are ranked at once only the first gets its rank.",
    promise: "lists",
    checker: "lists",
    options: ranked,
    make: () => ({
      ports: ({ links }) => ({
        links: { ...links, rankMany: (ranks) => links.rankMany(ranks.slice(0, 1)) }
      })
    })
  },
  {
    name: "last-visit-by-age",
    text: "A list by the last visit is one by age.",
    promise: "lists",
    checker: "lists",
    options: ranked,
    make: () => ({
      ports: ({ links }) => ({
        links: {
          ...links,
          list: (query) =>
            links.list(query.order === "lastVisit-desc" ? { ...query, order: "createdAt-desc" } : query)
        }
      })
    })
  }
]
