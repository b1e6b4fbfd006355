import { adminId } from "../../../accounts/Access.ts"
import { length_ms } from "../../../storage/accounts/QuotaStore.ts"
import type { Checker, Evidence, Violation } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import type { JournalEntry } from "../../Journal.ts"
import { ms_us, s_us } from "../../world/Time.ts"
import { triesMax } from "../visits/ExactVisits.ts"
import { databaseTime } from "../facts/databaseTime.ts"
import { type Life, lifeLedBy } from "../facts/lives.ts"
import { sendersOf } from "../facts/senders.ts"

/** How long a node allows everything after the store did not answer, and how long an answer of the store takes at most. */
const open_us = 1.5 * s_us

/** How long before the end of a call its caller may have given it up. */
const noticed_us = 50 * ms_us

/** How many more of a limit than it has are begun before the store is asked, and after what time again: half of a minute's limit must be there. */
const aheadMax = (limit: number) => Math.min(4, Math.floor(limit / 30))
const aheadEach_us = 25 * s_us

/** How many more than a limit on guessing a node can seem to have taken alone: some that were given back before may be noted after them. */
const unnoted = 3

/** How much longer than the store says a node refuses. */
const refusalSlack_us = s_us

type Granted = Extract<JournalEntry, { readonly tag: "granted" }>

/** How long after midnight a node may go by the day before: an answer of the store may have taken so long. */
const midnightSlack_us = 2 * s_us

/** What one process has of one quota. */
interface Lease {
  granted: number
  /** What it has taken and not given back: now, and at most. */
  taken: number
  takenMost: number
  /** The most that it was granted at once. */
  most: number
  /** Until when it may refuse, by what it was told last. */
  emptyUntil_us: number
  /** Of a limit on guessing: how many fewer than at first the process has left by itself, at a time. */
  short: number
  at_us: number
  /** How many more than it was granted it may have taken, since it reserves some before it has asked; and from when on. */
  ahead: number
  since_us: number
  /** What it counts by, and when its day ends; infinite for others. */
  period: Granted["period"]
  until_us: number
}

/** What a quota has left for all, as the store must have it at a moment of the database's clock. */
interface Bucket {
  readonly left: number
  readonly at_ms: number
}

/** How far back the database's clock goes at least if it was ahead before, and is right now. */
const corrected_ms = 1_000

/** What a quota can have left at a moment of the database's clock: one of a minute refills evenly, one of a day is whole again at midnight. */
const leftAt = ({ limit, period }: Granted, { at_ms, left }: Bucket, now_ms: number): number => {
  const each_ms = length_ms[period]
  if (period !== "day") return Math.min(limit, left + (Math.max(0, now_ms - at_ms) * limit) / each_ms)
  const isSameDay =
    (now_ms < at_ms && at_ms <= now_ms + corrected_ms) ||
    Math.floor(now_ms / each_ms) === Math.floor(at_ms / each_ms)
  return isSameDay ? left : limit
}

/** How often something may have counted for quotas, at least and at most. */
export interface Use {
  readonly least: number
  readonly most: number
}

const triesOf = (exchanges: Evidence["exchanges"]): number =>
  exchanges.reduce((sum, { status, tries }) => sum + (status === 0 ? triesMax : Math.max(1, tries)), 0)

/** Creates by users. */
const creates = ({ exchanges }: Evidence): Use => {
  const asked = exchanges.filter(
    ({ apiKey, kind, session }) => kind === "create" && (apiKey !== undefined || session !== undefined)
  )
  return {
    least: asked.filter(({ isReplay, status }) => status === 201 && !isReplay).length,
    most: triesOf(asked)
  }
}

/** Redirects of links that have a quota: their users', or their API keys'. */
const redirects = ({ end_us, exchanges, lives, options }: Evidence): Use => {
  const isCounted = ({ link: { keyRedirectsPerDay, owner } }: Life) =>
    options.redirectsPerDay === null ? keyRedirectsPerDay !== undefined : owner !== null && owner !== adminId
  const asked = exchanges.filter(
    ({ key, kind }) => (kind === "redirect" || kind === "probe") && lives.get(key!)?.some(isCounted)
  )
  const led = asked.filter(({ answered_us = end_us, key, location, status }) => {
    const life = status === 302 ? lifeLedBy(lives, key!, location, answered_us) : undefined
    return life !== undefined && isCounted(life)
  })
  return { least: led.length, most: triesOf(asked) }
}

/** How often quotas of users and API keys must have been taken at least, by their names. */
const leastOfEach = (evidence: Evidence) => {
  const { end_us, exchanges, lives, options, userKeys } = evidence
  const least = new Map<string, number>()
  const add = (name: string) => least.set(name, (least.get(name) ?? 0) + 1)
  const senderOf = sendersOf(evidence)
  for (const exchange of exchanges) {
    const { answered_us = end_us, isReplay, key, kind, location, status } = exchange
    if (kind === "create" && status === 201 && !isReplay && options.createsPerMinute !== null) {
      const { key: by, user } = senderOf(exchange)
      if (user !== undefined) add(`create:owner:${user}`)
      if (by?.createsPerMinute !== undefined) add(`create:key:${by.id}`)
    }
    // Of a path the link is another one's perhaps. Without users nothing is counted.
    const isTry = kind === "redirect" && exchange.password !== undefined && status === 401
    if (isTry && userKeys.length > 0 && exchange.path === undefined && !key!.includes("/"))
      add(`unlock:link:${key}`)
    if ((kind !== "redirect" && kind !== "probe") || status !== 302) continue
    const link = lifeLedBy(lives, key!, location, answered_us)?.link
    if (link === undefined) continue
    const { keyId, keyRedirectsPerDay, owner } = link
    if (options.redirectsPerDay !== null && owner !== null && owner !== adminId)
      add(`redirect:owner:${owner}`)
    if (keyRedirectsPerDay !== undefined) add(`redirect:key:${keyId}`)
  }
  return least
}

/** Tries of passwords that must have been counted at least, by what they are for: those of links that asked for one and were given another, and those of users that were answered. */
const leastOfTries = ({ exchanges, userKeys }: Evidence): ReadonlyMap<string, number> => {
  // Without users nothing is counted.
  const asked = userKeys.length === 0 ? [] : exchanges
  const count = (isOne: (exchange: Exchange) => boolean) => asked.filter(isOne).length
  const isDone = ({ status }: Exchange) => status >= 200 && status < 300
  return new Map([
    [
      "unlock",
      count(({ kind, password, status }) => kind === "redirect" && password !== undefined && status === 401)
    ],
    ["login", count((one) => one.kind === "sign in" && (isDone(one) || one.status === 401))],
    [
      "confirm",
      count(
        (one) => one.kind === "password" && (isDone(one) || (one.status === 400 && one.isRight === false))
      )
    ]
  ])
}

/** How much limits on guessing allow, by the beginnings of their names: as docs/api.md says. */
const limitsOnGuessing = {
  "unlock:uncounted": 60,
  "unlock:client": 30,
  "unlock:link": 600,
  "login:client": 10,
  "login:strangers": 50,
  "login:device": 50
}

/** How much quotas of users and API keys allow, by the beginnings of their names. */
const limitsOf = ({ createsPerMinute, keyRedirectsPerDay, redirectsPerDay }: Evidence["options"]) => ({
  "create:owner": createsPerMinute,
  "create:key": createsPerMinute === null ? null : 2 * createsPerMinute,
  "redirect:owner": redirectsPerDay,
  "redirect:key": keyRedirectsPerDay ?? (redirectsPerDay === null ? null : Math.ceil(redirectsPerDay / 2))
})

/** Sign-ins that succeeded, each of which gives back what it has taken. An answer other than the last may have got lost on its way. */
const signIns = ({ exchanges }: Evidence): Use => {
  const asked = exchanges.filter(({ kind }) => kind === "sign in")
  const isDone = ({ status }: Exchange) => status >= 200 && status < 300
  const isRefused = ({ status }: Exchange) => status >= 400 && status < 500
  return { least: asked.filter(isDone).length, most: triesOf(asked) - asked.filter(isRefused).length }
}

/**
 * Quotas hold for all nodes together and are used up: the store grants a limit and what refills, or a day's limit, and no less while that much is left; a node allows what it was granted, and more only
 * where the store did not answer; it refuses only when the store had less than it asked for, or when it has used up alone a limit on guessing; what it was granted is used, but for a lease or two; and of each
 * create, and each redirect, one is taken, of the quotas of its user and its API key, and of each try of a password one of the limits on these. What is given back was taken. Who signs in is given back what that has taken, and nobody else.
 */
export const Quotas: Checker = {
  name: "quotas",
  seesForgotten: true,
  check: (evidence) => {
    const { clock, end_us, journal, options } = evidence
    const { at_ms } = databaseTime(evidence)
    const violations: Array<Violation> = []
    const found = (at_us: number, text: string) =>
      violations.push({ checker: Quotas.name, at_us, text, keys: [] })
    const leases = new Map<string, Lease>()
    const buckets = new Map<string, Bucket>()
    /** From when to when each process was held up by the store, learned that it does not answer, or woke from a pause. */
    const aways = new Map<string, Array<{ readonly from_us: number; readonly to_us: number }>>()
    for (const entry of journal) {
      // Those that wait for the next call give up sooner than this one.
      const isAway =
        (entry.tag === "unanswered" || entry.tag === "held up") && entry.operation === "QuotaStore.leaseMany"
      if (!isAway && entry.tag !== "paused") continue
      const to_us = entry.tag === "paused" ? entry.at_us + entry.for_us : entry.at_us
      const waited_us =
        entry.tag === "held up" ? entry.for_us : entry.tag === "unanswered" ? (entry.interrupted_us ?? 0) : 0
      aways.set(entry.by, [...(aways.get(entry.by) ?? []), { from_us: to_us - waited_us, to_us }])
    }
    const leaseOf = (by: string, quota: string) => {
      const name = `${by} ${quota}`
      const lease = leases.get(name) ?? {
        granted: 0,
        taken: 0,
        takenMost: 0,
        most: 0,
        emptyUntil_us: 0,
        short: 0,
        at_us: 0,
        ahead: 0,
        since_us: Number.POSITIVE_INFINITY,
        period: "minute",
        until_us: Number.POSITIVE_INFINITY
      }
      leases.set(name, lease)
      return lease
    }
    const grant = (entry: Granted) => {
      const { at_us, by, demand, granted, limit, nextIn_ms, period, quota } = entry
      const now_ms = at_ms(at_us)
      const bucket = buckets.get(quota)
      const before = bucket === undefined ? limit : leftAt(entry, bucket, now_ms)
      const left = before - granted
      // The store counts in milliseconds.
      if (left < -0.1) found(at_us, `a quota of ${limit} was granted ${(-left).toFixed(1)} times too often`)
      if (granted < Math.min(demand, Math.floor(before - 0.1)))
        found(
          at_us,
          `a quota of ${limit} granted ${granted} of ${demand} times, and had ${before.toFixed(1)} left`
        )
      const wasAhead = bucket !== undefined && bucket.at_ms > now_ms + corrected_ms
      buckets.set(quota, { left, at_ms: wasAhead ? now_ms : Math.max(bucket?.at_ms ?? 0, now_ms) })
      const lease = leaseOf(by, quota)
      lease.granted += granted
      lease.most = Math.max(lease.most, granted)
      lease.period = period
      if (period === "day" && granted > 0)
        lease.until_us = at_us + (length_ms.day - (now_ms % length_ms.day)) * ms_us
      if (granted < demand)
        lease.emptyUntil_us = Math.max(lease.emptyUntil_us, at_us + nextIn_ms * ms_us + refusalSlack_us)
    }
    /** What was reserved while the store did not answer: the store has not granted it. */
    const free = new Set<string>()
    for (const entry of journal) {
      if (entry.tag === "granted") grant(entry)
      if (entry.tag === "gave back") {
        const isFree = free.has(`${entry.by} ${entry.reservation}`)
        for (const lease of entry.quotas.map((quota) => leaseOf(entry.by, quota))) {
          lease.short--
          if (isFree) continue
          if (lease.taken === 0 && !aways.has(entry.by))
            found(entry.at_us, `${entry.by} gave back what it had not taken`)
          lease.taken--
        }
      }
      if (entry.tag !== "took") continue
      const { at_us, by, held = [], isAllowed, quotas, reservation } = entry
      const isOpen = aways
        .get(by)
        ?.some(({ from_us, to_us }) => at_us > from_us - noticed_us && at_us < to_us + open_us)
      const own = quotas.map((quota) => leaseOf(by, quota))
      const isUsedUpAlone = held.map(({ limit, period }, index) => {
        const lease = own[index]!
        const refilled = ((at_us - lease.at_us) * limit) / (length_ms[period] * ms_us)
        lease.short = Math.max(0, lease.short - refilled)
        lease.at_us = at_us
        if (isAllowed) lease.short++
        if (isAllowed && lease.short > limit + unnoted)
          found(at_us, `${by} allowed more than the ${limit} times a ${period} that it may allow alone`)
        if (reservation !== undefined) {
          lease.since_us = Math.min(lease.since_us, at_us)
          const times = 1 + Math.floor((at_us - lease.since_us) / aheadEach_us) + (aways.get(by)?.length ?? 0)
          lease.ahead = aheadMax(limit) * times
        }
        // One that was taken just before may not have been noted yet.
        return lease.short > limit - 2
      })
      if (
        !isAllowed &&
        isOpen !== true &&
        !isUsedUpAlone.includes(true) &&
        !own.some(({ emptyUntil_us }) => at_us < emptyUntil_us)
      )
        found(at_us, `${by} refused what the store had not said was used up`)
      if (isOpen === true && reservation !== undefined) free.add(`${by} ${reservation}`)
      if (!isAllowed || isOpen === true) continue
      for (const lease of own) {
        if (at_us > lease.until_us + midnightSlack_us && clock.jumps.length === 0)
          found(at_us, `${by} allowed what it was granted on the day before`)
        if (lease.taken >= lease.granted + lease.ahead)
          found(at_us, `${by} allowed more than the ${lease.granted} times that it was granted`)
        lease.taken++
        lease.takenMost = Math.max(lease.takenMost, lease.taken)
      }
    }
    const dayOf = (at_us: number) => Math.floor(at_ms(at_us) / length_ms.day)
    /** How often a day ended: one to which the clock went back ends once more. */
    const midnights = 1 + 2 * clock.jumps.filter(({ at_us }) => dayOf(at_us) !== dayOf(at_us - 1)).length
    for (const [name, { granted, most, period, takenMost }] of leases) {
      const [by] = name.split(" ")
      // What is left of a day is lost at midnight.
      const bound =
        (period === "day" ? 2 + 2 * midnights : 2) * most + 1 + (aways.get(by!)?.length ?? 0) * (most + 16)
      if (granted - takenMost > bound)
        found(end_us, `${by} was granted ${granted} times of a quota, and used ${takenMost}`)
    }
    const takesOf = (name: string): number =>
      journal.filter((entry) => entry.tag === "took" && entry.use === name && entry.isAllowed).length
    const judge = (use: "create" | "redirect", { least, most }: Use) => {
      const takes = takesOf(use)
      if (takes < least || takes > most)
        found(
          end_us,
          `${takes} were taken of quotas for ${least} ${use}s, which were asked for ${most} times`
        )
    }
    const { least, most } = signIns(evidence)
    const given = journal.filter(
      (entry) => entry.tag === "gave back" && entry.reservation === undefined
    ).length
    if (given < least || given > most)
      found(end_us, `${given} sign-ins were given back, of ${least} to ${most} that succeeded`)
    const takenOfEach = new Map<string, number>()
    const right = new Map<string, number | null>(
      Object.entries({ ...limitsOf(options), ...limitsOnGuessing })
    )
    for (const entry of journal) {
      if (entry.tag !== "took") continue
      for (const { id, limit } of entry.limits) {
        if (entry.isAllowed) takenOfEach.set(id, (takenOfEach.get(id) ?? 0) + 1)
        const wanted = right.get(id.split(":", 2).join(":"))
        if (wanted !== undefined && wanted !== limit)
          found(entry.at_us, `${id} was taken as a quota of ${limit} rather than of ${wanted}`)
      }
    }
    for (const [use, least] of leastOfTries(evidence)) {
      const takes = takesOf(use)
      if (takes < least) found(end_us, `${takes} were taken of limits for ${least} tries (${use})`)
    }
    for (const [name, least] of leastOfEach(evidence)) {
      const takes = takenOfEach.get(name) ?? 0
      if (takes < least) found(end_us, `${takes} were taken of ${name}, which was used ${least} times`)
    }
    if (options.createsPerMinute !== null) judge("create", creates(evidence))
    if (options.redirectsPerDay !== null || options.keyRedirectsPerDay !== null)
      judge("redirect", redirects(evidence))
    return violations
  }
}
