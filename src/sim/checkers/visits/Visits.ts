import { Duration } from "effect"
import { isOfAllOrphans, orphansIn } from "../../deployment/Orphans.ts"
import { stopMax } from "../../../visits/Visits.ts"
import type { Checker, Evidence, Violation } from "../../Evidence.ts"
import { type JournalEntry, takenIn } from "../../Journal.ts"
import { ms_us, s_us } from "../../world/Time.ts"

/** What a kill may lose while the store takes each batch in time: the visits of the last second. */
const killed_us = s_us

/** How long a visit waits at most until it is among those that are written next. */
const classified_us = 100 * ms_us

/** How long before a kill pauses are looked for, which hold everything up. */
const pausesWithin_us = 20 * s_us

/** So long a process that stops tries at least to write visits that are not written yet, before it drops them; until then it still serves for a while. */
const tries_us = Duration.toMillis(stopMax) * ms_us

interface Visited {
  readonly at_us: number
  readonly isSure: boolean
}

/** When a writer began to write its newest batch, and the one before; whether the store has the newest, and whether the process has heard so. */
interface Newest {
  readonly sequence: number
  readonly begun_us: number
  readonly before_us: number
  isTaken: boolean
  isHeard: boolean
}

/** The visits of one process, by key, and how many of them were counted. */
class Account {
  readonly visited = new Map<string, Array<Visited>>()
  readonly counted = new Map<string, number>()
  /** Those that were counted, and that the database has forgotten. */
  readonly forgotten = new Map<string, number>()
  killed_us: number | undefined
  /** From when on there may be visits that a batch has left to another one, where there are several writers. */
  #leftFrom_us = Number.POSITIVE_INFINITY
  /** Of each of its writers; mostly there is one. */
  readonly #newest = new Map<string | undefined, Newest>()

  add(entry: JournalEntry) {
    switch (entry.tag) {
      case "visited":
        return this.#visit(entry.key, entry)
      case "not led":
        return orphansIn(entry).forEach((name) => this.#visit(name, entry))
      case "counting": {
        const { at_us, sequence, writer } = entry
        const newest = this.#newestOf(writer)
        if (writer !== undefined && sequence > newest.sequence && !newest.isHeard)
          this.#leftFrom_us = Math.min(this.#leftFrom_us, newest.before_us - classified_us)
        if (sequence > newest.sequence)
          this.#newest.set(writer, {
            sequence,
            begun_us: at_us,
            before_us: newest.begun_us,
            isTaken: false,
            isHeard: false
          })
        return
      }
      case "heard counted":
        this.#newestOf(entry.writer).isHeard = true
        return
      case "counted":
        // Where there are several it may be a part.
        if (entry.writer === undefined) this.#newestOf(undefined).isTaken = true
        return takenIn(entry).forEach(([key, visits]) =>
          this.counted.set(key, (this.counted.get(key) ?? 0) + visits)
        )
      case "killed":
        this.killed_us = entry.at_us
        return
    }
  }

  #visit(name: string, visited: Visited) {
    const known = this.visited.get(name)
    if (known === undefined) this.visited.set(name, [visited])
    else known.push(visited)
  }

  #newestOf(writer: string | undefined): Newest {
    const known = this.#newest.get(writer)
    if (known !== undefined) return known
    const none: Newest = { sequence: 0, begun_us: 0, before_us: 0, isTaken: false, isHeard: true }
    this.#newest.set(writer, none)
    return none
  }

  forget(visits: ReadonlyArray<readonly [key: string, visits: number]>) {
    for (const [key, count] of visits) {
      this.counted.set(key, this.counted.get(key)! - count)
      this.forgotten.set(key, (this.forgotten.get(key) ?? 0) + count)
    }
  }

  /** From when on its visits may be lost with it. */
  lostFrom_us(journal: ReadonlyArray<JournalEntry>, by: string): number {
    if (this.killed_us === undefined) return Number.POSITIVE_INFINITY
    const end_us = this.killed_us
    const paused_us = journal.reduce(
      (sum, entry) =>
        entry.tag === "paused" && entry.by === by && entry.at_us + entry.for_us > end_us - pausesWithin_us
          ? sum + entry.for_us
          : sum,
      0
    )
    return Array.from(this.#newest.values()).reduce(
      (from_us, { before_us, begun_us, isHeard, isTaken }) =>
        isHeard ? from_us : Math.min(from_us, (isTaken ? begun_us : before_us) - classified_us - paused_us),
      Math.min(end_us - killed_us, this.#leftFrom_us) - paused_us
    )
  }
}

/** How long processes took from SIGTERM to their end. */
const stops = (journal: ReadonlyArray<JournalEntry>) => {
  const since = new Map<string, number>()
  return journal.flatMap(({ at_us, by, tag }) => {
    if (tag === "draining") since.set(by, at_us)
    return tag === "ended" && since.has(by) ? [at_us - since.get(by)!] : []
  })
}

const accountsOf = (journal: ReadonlyArray<JournalEntry>) => {
  const accounts = new Map<string, Account>()
  for (const entry of journal) {
    const account = accounts.get(entry.by) ?? new Account()
    account.add(entry)
    accounts.set(entry.by, account)
    if (entry.tag !== "database forgot") continue
    for (const [by, visits] of entry.visits) accounts.get(by)?.forget(visits)
  }
  return accounts
}

/**
 * C11: every redirect that a node has answered is counted once, and so is every visitor of a domain whom no link has led; nothing else is. A kill loses the visits of the last second, and of the time in which the
 * store took none; a failover those that it makes the database forget; all others that are missing were reported as shed, and only where the store did not answer.
 */
export const Visits: Checker = {
  name: "visits",
  seesForgotten: true,
  check: ({ end_us, faults, journal, options, visitsShed }: Evidence) => {
    const violations: Array<Violation> = []
    const found = (text: string, ...keys: ReadonlyArray<string>) =>
      violations.push({ checker: Visits.name, at_us: end_us, text, keys })
    let [missing, missingOfAll] = [0, 0]
    for (const [by, account] of accountsOf(journal)) {
      const lostFrom_us = account.lostFrom_us(journal, by)
      for (const key of new Set([...account.visited.keys(), ...account.counted.keys()])) {
        const visited = account.visited.get(key) ?? []
        const counted = account.counted.get(key) ?? 0
        if (counted > visited.length)
          found(`${counted} visits of ${key} were counted by ${by}, which had ${visited.length}`, key)
        const safe = visited.filter(({ at_us, isSure }) => isSure && at_us < lostFrom_us).length
        const taken = counted + (account.forgotten.get(key) ?? 0)
        if (taken >= safe) continue
        if (account.killed_us === undefined && isOfAllOrphans(key)) missingOfAll += safe - taken
        else if (account.killed_us === undefined) missing += safe - taken
        else
          found(
            `${by} was killed, and of ${safe} visits of ${key} that were due ${counted} were counted`,
            key
          )
      }
    }
    // Nor are visits taken of buckets that are being moved.
    const wasAway =
      faults.has("bucketMove") ||
      journal.some((entry) => entry.tag === "unanswered" && entry.operation === "VisitStore.write")
    const shed = Object.values(visitsShed).reduce((sum, count) => sum + count, 0)
    if (missingOfAll > shed)
      found(`${missingOfAll} visitors of domains were not counted, and ${shed} reported as dropped`)
    if (missing > shed) found(`${missing} visits were not counted, and ${shed} reported as dropped`)
    if (shed > 0 && !wasAway) found(`${shed} visits were dropped, and the store had always answered`)
    if (
      visitsShed.stopped > 0 &&
      !stops(journal).some((took_us) => took_us >= options.drainDelay_ms * ms_us + tries_us)
    )
      found(
        `${visitsShed.stopped} visits were dropped at a stop, for which no process took as long as it should`
      )
    return violations
  }
}
