import { formatMoment } from "../../../model/Iso8601.ts"
import { Array } from "effect"
import { type Dimension, dimensions, hour_ms } from "../../../model/Visit.ts"
import { orphansFor, orphansIn } from "../../deployment/Orphans.ts"
import { allows } from "../../deployment/Users.ts"
import { bothDays } from "../../clients/Statistics.ts"
import { type Counted, countedOf } from "../../clients/Traits.ts"
import type { Checker, Evidence, Violation } from "../../Evidence.ts"
import type { Exchange, StatisticsWish } from "../../History.ts"
import { takenIn } from "../../Journal.ts"
import { ms_us, s_us } from "../../world/Time.ts"
import { answersOf } from "../facts/answers.ts"
import { domainsUnread } from "../facts/domainReads.ts"
import { type Life, visitsElsewhere } from "../facts/lives.ts"
import { hasForgotten } from "../facts/remembered.ts"
import { sendersOf } from "../facts/senders.ts"

/** Named values, or moments, with their visits. */
type Figures = ReadonlyMap<string, number>

/** What an answer tells. */
interface Told {
  readonly total: number
  readonly nonBots: number
  readonly bots: number
  readonly series: Figures
  readonly visitors: Figures
  readonly sumOfVisitors: number
  /** Visits that a link brought along from elsewhere. */
  readonly imported: number
  readonly values: ReadonlyMap<Dimension, Figures>
}

interface Body extends Partial<
  Record<Dimension, ReadonlyArray<{ readonly value: string; readonly visits: number }>>
> {
  readonly total: number
  readonly nonBots: number
  readonly bots: number
  readonly series: ReadonlyArray<{ readonly at: string; readonly visits: number }>
  readonly uniqueVisitors?: {
    readonly sumOfDays: number
    readonly days: ReadonlyArray<{ readonly at: string; readonly visitors: number }>
  }
  readonly imported?: { readonly total: number }
}

const ofJson = (text: string): Told => {
  const { bots, imported, nonBots, series, total, uniqueVisitors, ...others } = JSON.parse(text) as Body
  return {
    total,
    nonBots,
    bots,
    series: new Map(series.map(({ at, visits }) => [at, visits])),
    visitors: new Map(uniqueVisitors?.days.map(({ at, visitors }) => [at, visitors])),
    sumOfVisitors: uniqueVisitors?.sumOfDays ?? 0,
    imported: imported?.total ?? 0,
    values: new Map(
      dimensions.flatMap((dimension) => {
        const values = others[dimension]
        return values === undefined
          ? []
          : [[dimension, new Map(values.map(({ value, visits }) => [value, visits]))] as const]
      })
    )
  }
}

/** A value as a table has it, which a spreadsheet must not take for a formula. */
const cellOf = (value: string) => (value.startsWith("=") ? `'${value}` : value)

const ofTable = (text: string): Told => {
  const rows = text
    .split("\r\n")
    .slice(1, -1)
    .map((line) => line.split(","))
  const of = (name: string): Figures =>
    new Map(rows.flatMap(([first, value, visits]) => (first === name ? [[value!, Number(visits)]] : [])))
  const one = (name: string) => of(name).get("") ?? 0
  return {
    total: one("total"),
    nonBots: one("nonBots"),
    bots: one("bots"),
    series: new Map([...of("hour"), ...of("day")]),
    visitors: of("uniqueVisitors"),
    sumOfVisitors: one("uniqueVisitorsSumOfDays"),
    imported: one("imported"),
    values: new Map(
      dimensions.map((dimension) => [dimension, of(dimension)] as const).filter(([, { size }]) => size > 0)
    )
  }
}

/** The dimensions in which every visit has a value, those in which a bot is one and is left out without bots, and those that only managers of a link are told. */
const always: ReadonlySet<Dimension> = new Set(["referrers", "countries", "browsers", "os", "devices"])
const botsApart: ReadonlySet<Dimension> = new Set(["browsers", "os", "devices"])
const managersAlone: ReadonlySet<Dimension> = new Set([
  "targets",
  "utmSources",
  "utmMediums",
  "utmCampaigns",
  "cities"
])

/** Those whose values are not known to the clients: what led a visit. */
const unknown: ReadonlySet<Dimension> = new Set(["targets"])

/** Those of which links have names of their own. */
const ofOneLink: ReadonlySet<Dimension> = new Set(["targets"])

/** How long after it was decided a redirect is answered at most, but for pauses. */
const answered_us = 5 * s_us

/** Visits of one batch of which those of links and of their owners are certainly written together. */
const togetherMax = 80

/** A visit that may be counted. */
interface Happened {
  readonly at_us: number
  readonly isSure: boolean
  readonly counted: Counted
}

const sumOf = (figures: Figures) => [...figures.values()].reduce((sum, one) => sum + one, 0)

const plain = countedOf(undefined, undefined)

/** The visits of each key, and of visitors whom no link has led (see `orphansOf`), in their order. */
const visitsOf = ({ journal }: Evidence): ReadonlyMap<string, ReadonlyArray<Happened>> => {
  const visits = new Map<string, Array<Happened>>()
  const add = (name: string, visit: Happened) => {
    const known = visits.get(name)
    if (known === undefined) visits.set(name, [visit])
    else known.push(visit)
  }
  for (const entry of journal) {
    if (entry.tag !== "visited" && entry.tag !== "not led") continue
    const { at_us, counted = plain, isSure } = entry
    const names = entry.tag === "visited" ? [entry.key] : orphansIn(entry)
    for (const name of names) add(name, { at_us, isSure, counted })
  }
  return visits
}

/** How many visits of a link, of all links of a user, or of visitors whom no link has led, the store had taken by a time. No key is the id of a user. */
const takenOf = ({ journal }: Evidence) => {
  const all = new Map<string, Array<{ readonly at_us: number; readonly visits: number }>>()
  for (const entry of journal) {
    if (entry.tag !== "counted") continue
    const { at_us } = entry
    for (const [name, visits] of [...takenIn(entry), ...(entry.owned ?? [])]) {
      const known = all.get(name)
      if (known === undefined) all.set(name, [{ at_us, visits }])
      else known.push({ at_us, visits })
    }
  }
  return (name: string, by_us: number): number =>
    (all.get(name) ?? []).reduce((sum, { at_us, visits }) => (at_us < by_us ? sum + visits : sum), 0)
}

/** How long a point is. */
const lengthOf_ms = (interval: "hour" | "day") => (interval === "hour" ? hour_ms : 24 * hour_ms)

/** The moments at which the points begin of a time, which has those in which it begins and ends. */
const pointsFrom = (
  { from, to }: Pick<StatisticsWish, "from" | "to">,
  length_ms: number
): ReadonlyArray<string> => {
  const first_ms = Math.floor(Date.parse(from) / length_ms) * length_ms
  return Array.makeBy(Math.ceil((Date.parse(to) - first_ms) / length_ms), (index) =>
    formatMoment(first_ms + index * length_ms)
  )
}

/** The moments at which points begin that a visit may be of: two where it is near the end of one. */
const pointsOf = (
  { at_us, isSure }: Happened,
  interval: "hour" | "day",
  beginning_ms: number,
  slack_us: number
): ReadonlyArray<string> => {
  const length_ms = lengthOf_ms(interval)
  const pointAt = (us: number) => {
    const moment_ms = beginning_ms + us / ms_us
    return formatMoment(moment_ms - (moment_ms % length_ms))
  }
  const [first, last] = [pointAt(at_us - slack_us), pointAt(isSure ? at_us : at_us + slack_us)]
  return first === last ? [first] : [first, last]
}

/** What is wrong with figures of visits that may be counted, of which `missing` at most are not: each is of one of `namesOf`, or of the first or the second of them. */
const faultsOf = (
  what: string,
  figures: Figures,
  visits: ReadonlyArray<Happened>,
  missing: number,
  namesOf: (visit: Happened) => ReadonlyArray<string>,
  count: (visits: ReadonlyArray<Happened>) => number = ({ length }) => length
): ReadonlyArray<string> => {
  const [sure, possible] = [new Map<string, Array<Happened>>(), new Map<string, Array<Happened>>()]
  const add = (to: Map<string, Array<Happened>>, name: string, visit: Happened) =>
    to.set(name, [...(to.get(name) ?? []), visit])
  for (const visit of visits) {
    const names = namesOf(visit)
    for (const name of names) {
      add(possible, name, visit)
      if (names.length === 1) add(sure, name, visit)
    }
  }
  return [...new Set([...figures.keys(), ...possible.keys()])].flatMap((name) => {
    const told = figures.get(name) ?? 0
    const [least, most] = [count(sure.get(name) ?? []) - missing, count(possible.get(name) ?? [])]
    return told < least || told > most
      ? [`${what} ${name} are ${told}, and there were ${Math.max(0, least)} to ${most}`]
      : []
  })
}

/** Of what statistics are that are of no link. */
const subjectOf = ({ orphans }: StatisticsWish): string =>
  orphans === undefined
    ? "all links"
    : `visitors whom no link has led in domain ${orphans.domain} (${orphans.reason ?? "for whatever reason"})`

/** What is wrong with the moments of figures. */
const otherPoints = (what: string, figures: Figures, right: ReadonlyArray<string>): ReadonlyArray<string> => {
  const told = [...figures.keys()]
  return told.join() === right.join() ? [] : [`have the ${what} ${told.join()} rather than ${right.join()}`]
}

const visitorsOf = (visits: ReadonlyArray<Happened>) =>
  new Set(visits.map(({ counted }) => counted.visitor)).size

/**
 * C11 for statistics: they have no visits of a link, of all links of a user, or of visitors whom no link has led, but those that happened, none of a link that had the key before, and all that the store had taken. Of those that they have each value, hour and
 * day has as many as the requests of visitors say, and a day has as many visitors; sums agree with the total. A user is told of their own links and of those with public statistics alone, of these
 * without what only managers of a link are told.
 */
export const Statistics: Checker = {
  name: "statistics",
  check: (evidence) => {
    const { beginning_ms, clock, end_us, exchanges, faults, journal, lives, options } = evidence
    const asked = exchanges.filter(({ kind }) => kind === "statistics")
    if (asked.length === 0) return []
    const violations: Array<Violation> = []
    const { isThere, livesFor, versionsOf } = answersOf(evidence)
    const isUnread = domainsUnread(evidence)
    const visits = visitsOf(evidence)
    const taken = takenOf(evidence)
    const senderOf = sendersOf(evidence)
    const isForgotten = hasForgotten(journal)
    // A batch is written to each database by itself.
    const areTogether =
      options.databases === 1 &&
      journal.every(
        (entry) =>
          entry.tag !== "counted" || entry.visits.reduce((sum, [, count]) => sum + count, 0) <= togetherMax
      )
    const paused_us = journal.reduce(
      (most, entry) => (entry.tag === "paused" ? Math.max(most, entry.for_us) : most),
      0
    )
    // By a clock that is not right a visit may be of another hour.
    const isRight = clock.jumps.length === 0 && clock.ahead_us(s_us) === 0 && !faults.has("clockJump")
    const slack_us = isRight ? answered_us + paused_us : Number.POSITIVE_INFINITY
    const midnight_us = (24 * hour_ms - (beginning_ms % (24 * hour_ms))) * ms_us
    const [wholeFrom, wholeTo] = bothDays(beginning_ms)
    /** Whether all of the run is asked for, whatever clocks say. */
    const isOfRun = ({ from, to }: StatisticsWish) =>
      isRight
        ? Date.parse(from) <= beginning_ms && Date.parse(to) > beginning_ms + end_us / ms_us
        : from === wholeFrom && to === wholeTo
    const owned = Array.groupBy(Array.fromIterable(lives.values()).flat(), ({ link }) => link.owner ?? "")

    /** How many visits of all of a user's links the store had at least: as many as it had of each link that has been theirs alone. */
    const leastOf = (user: string, own: ReadonlyArray<Life>, by_us: number): number => {
      const keys = new Set(own.map(({ link }) => link.key))
      const theirs = areTogether
        ? [...keys].filter((key) => lives.get(key)!.every(({ link }) => link.owner === user))
        : []
      return Math.max(
        taken(user, by_us),
        theirs.reduce((sum, key) => sum + taken(key, by_us), 0)
      )
    }

    /** The visits of some lives. */
    const visitsOfAll = (of: ReadonlyArray<Life>): ReadonlyArray<Happened> => {
      const firstOf = new Map<string, number>()
      for (const { bound_us, link } of of)
        firstOf.set(link.key, Math.min(bound_us, firstOf.get(link.key) ?? bound_us))
      return [...firstOf].flatMap(([key, from_us]) =>
        (visits.get(key) ?? []).filter(({ at_us }) => at_us >= from_us)
      )
    }

    /** What is wrong with an answer about some visits, of which the store had taken `least`; `elsewhere`: how many may have been brought along. */
    const judged = (
      exchange: Exchange,
      visits: ReadonlyArray<Happened>,
      least: number,
      isManager: boolean,
      elsewhere: ReadonlyArray<number> = [0]
    ) => {
      const { answered_us, statistics } = exchange
      const { bots, format, interval } = statistics!
      const points = pointsFrom(statistics!, lengthOf_ms(interval))
      const asked = new Set(points)
      const told = format === "csv" ? ofTable(exchange.body!) : ofJson(exchange.body!)
      const nameOf = format === "csv" ? cellOf : (value: string) => value
      const mayBeAsked = (visit: Happened) =>
        !isRight || pointsOf(visit, interval, beginning_ms, slack_us).some((point) => asked.has(point))
      const happened = visits.filter((visit) => visit.at_us <= answered_us! && mayBeAsked(visit))
      const people = happened.filter(({ counted }) => !counted.isBot)
      const all = told.nonBots + told.bots
      const [missing, missingPeople] = [happened.length - all, people.length - told.nonBots]
      const isShort = missing < 0 || all < (isOfRun(statistics!) ? least : 0)
      const days = pointsFrom(statistics!, lengthOf_ms("day"))
      const total = bots === "exclude" ? told.nonBots : all
      const one = (name: string, value: number, right: number) =>
        value === right ? [] : [`${name} is ${value} rather than ${right}`]
      return [
        ...(isShort ? [`have ${all} visits, and there were ${least} to ${happened.length}`] : []),
        ...(elsewhere.includes(told.imported)
          ? []
          : [`have ${told.imported} visits of elsewhere rather than ${elsewhere.join(" or ")}`]),
        ...one("the total", told.total, total),
        ...one("the sum of the series", sumOf(told.series), total),
        ...one("the sum of visitors", told.sumOfVisitors, sumOf(told.visitors)),
        ...otherPoints("points", told.series, points),
        ...(told.visitors.size === 0 ? [] : otherPoints("days with visitors", told.visitors, days)),
        ...faultsOf(
          "visits by people or bots:",
          new Map([
            ["people", told.nonBots],
            ["bots", told.bots]
          ]),
          happened,
          missing,
          ({ counted }) => [counted.isBot ? "bots" : "people"]
        ),
        ...(slack_us === Number.POSITIVE_INFINITY
          ? []
          : [
              ...faultsOf(
                `visits in the ${interval}`,
                new Map([...told.series].filter(([, count]) => count > 0)),
                bots === "exclude" ? people : happened,
                bots === "exclude" ? missingPeople : missing,
                (visit) => pointsOf(visit, interval, beginning_ms, slack_us)
              ),
              ...faultsOf(
                "visitors on",
                new Map([...told.visitors].filter(([, count]) => count > 0)),
                people,
                missingPeople,
                (visit) => pointsOf(visit, "day", beginning_ms, slack_us),
                visitorsOf
              )
            ]),
        ...dimensions.flatMap((dimension) => {
          const values = told.values.get(dimension)
          if (!isManager && managersAlone.has(dimension))
            return values === undefined ? [] : [`have ${dimension}, which only managers are told`]
          const isApart = bots === "exclude" && botsApart.has(dimension)
          const [some, left, sum] = isApart ? [people, missingPeople, told.nonBots] : [happened, missing, all]
          if (values !== undefined && sumOf(values) < sum)
            return [`have ${sumOf(values)} visits in ${dimension}, and ${sum} in all`]
          if (exchange.key === undefined && ofOneLink.has(dimension) && values !== undefined)
            return [`have ${dimension}, which are of one link`]
          if (unknown.has(dimension)) return []
          // Where none has a value, nothing is said of the others.
          const isTold = values !== undefined || always.has(dimension)
          return faultsOf(
            `visits with the ${dimension}`,
            values ?? new Map<string, number>(),
            isTold ? some : some.filter(({ counted }) => counted.values[dimension] !== undefined),
            left,
            ({ counted }) => [nameOf(counted.values[dimension] ?? "other")]
          )
        })
      ]
    }

    for (const exchange of asked) {
      const { answered_us, answeredBy, body, key, number, sent_us, statistics, status } = exchange
      if (answered_us === undefined) continue
      const found = (text: string) =>
        violations.push({
          checker: Statistics.name,
          at_us: answered_us,
          text: `the statistics of ${key ?? subjectOf(statistics!)} ${text} (request ${number}), by ${answeredBy}`,
          keys: [...(key === undefined ? [] : [key]), `#${number}`]
        })
      const { key: askedBy, user } = senderOf(exchange)
      const mayRead = askedBy !== undefined && allows(askedBy, ["stats:read"])
      const { as, from, interval } = statistics!
      if (isRight) {
        const isOfLastDay = Date.parse(from) >= beginning_ms + midnight_us / ms_us
        const isKept =
          options.visitsSettle_s === null || options.visitHours_days > 0 || interval === "day" || isOfLastDay
        if (status === 400 && (isKept || answered_us < midnight_us))
          found("are refused as if they were kept no more")
        if (status === 200 && !isKept && sent_us > midnight_us) found("are told by the hour, and not kept so")
      }
      if (statistics!.orphans !== undefined) {
        const { domain, reason } = statistics!.orphans
        if (status !== 200 || isForgotten) continue
        const orphans = orphansFor(domain, reason)
        const least = reason === undefined ? taken(orphans, sent_us) : 0
        for (const text of judged(exchange, visits.get(orphans) ?? [], least, true)) found(text)
        continue
      }
      if (key === undefined) {
        if (status !== 200 || isForgotten) continue
        const own = owned[user!] ?? []
        for (const text of judged(exchange, visitsOfAll(own), leastOf(user!, own, sent_us), true)) found(text)
        continue
      }
      const all = lives.get(key)
      if (all === undefined) continue
      const isManaged = ({ link }: Life) => as === "administrator" || (mayRead && link.owner === user)
      const managed = all.filter(isManaged)
      if (
        status === 404 &&
        isThere(managed, exchange) &&
        !(key.includes("/") && isUnread(answeredBy, sent_us))
      )
        found("are told to nobody, and it was created")
      if (status !== 200 || body === undefined) continue
      const may = livesFor(all, exchange)
      const isPublic = versionsOf(all, exchange).some(({ link }) => link.extras?.publicStats === true)
      const isManager = may.every(isManaged)
      if (may.length === 0) found("are told, and it was deleted")
      else if (!may.some(isManaged) && !isPublic) found(`are told to ${user ?? "somebody unknown"}`)
      // Which of them it is may be unknown.
      if (may.length === 0 || (!isManager && (!isPublic || may.some(isManaged)))) continue
      const isSole = all.length === 1 && all[0]!.freed_us > answered_us && !isForgotten
      const least = isSole ? taken(key, sent_us) : 0
      for (const text of judged(exchange, visitsOfAll(may), least, isManager, may.map(visitsElsewhere)))
        found(text)
    }
    return violations
  }
}
