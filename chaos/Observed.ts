// What the clients saw: who was answered, when, and under which fault.

import type { FaultKind } from "./FaultKind.ts"

/**
 * What requests do: redirect by a link that is asked for all the time, or by another one; make a link; change one.
 */
export const operations = ["hot", "cold", "create", "change"] as const

/** See {@link operations}. */
export type Operation = (typeof operations)[number]

/** The time that a request came in: under a fault, or under none. */
export type Phase = FaultKind | "calm"

/** An answer that comes later than this does not count as one. */
export const answerMax_ms = 5_000

/** Counts of requests. */
export interface Tally {
  sent: number
  answered: number
}

/** See {@link Tally}. */
export type Tallies = Record<Operation, Tally>

const none = (): Tallies => {
  const tally = () => ({ sent: 0, answered: 0 })
  return { hot: tally(), cold: tally(), create: tally(), change: tally() }
}

/** Something that Linkmint promises never happens, with what shows it. */
export interface Violation {
  /** C1 … C8, or what else was promised. */
  readonly promise: string
  readonly evidence: string
}

/** A request that is over. Times are milliseconds of one clock. */
export interface Finished {
  readonly operation: Operation
  readonly start: number
  readonly end: number
  readonly ok: boolean
  /** What came instead of the answer. */
  readonly instead: string
}

/** Evidence that is kept of each promise; more are counted alone. */
const evidenceMax = 10

/** Requests of the last faults that recovery is told from. */
const recentMax = 20_000

/** How finely the beginning of a steady time is looked for, in milliseconds. */
const step_ms = 100

/** See the parts. Times are those of `now`, in milliseconds. */
export class Observed {
  readonly #now: () => number
  readonly tallies = new Map<Phase, Tallies>()
  /** What failed requests got, by phase, operation and answer. */
  readonly failures = new Map<string, number>()
  readonly violations: Array<Violation> = []
  violationsUntold = 0
  phase: Phase = "calm"
  /** Slots of the steady load that no client was free for. */
  skipped = 0
  /** Starts of requests under way. */
  readonly #underWay = new Set<{ readonly start: number }>()
  #recent: Array<Finished> = []

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Notes that a request begins; call what comes back at its end. */
  begin(operation: Operation): (ok: boolean, instead: string) => Finished {
    const request = { start: this.#now() }
    const phaseAtStart = this.phase
    this.#underWay.add(request)
    return (ok, instead) => {
      this.#underWay.delete(request)
      const end = this.#now()
      const isLate = ok && end - request.start > answerMax_ms
      const finished = {
        operation,
        start: request.start,
        end,
        ok: ok && !isLate,
        instead: isLate ? "late" : instead
      }
      // One that began just before a fault failed for it.
      const phase = phaseAtStart === "calm" && !finished.ok ? this.phase : phaseAtStart
      this.#count(phase, finished)
      this.#recent.push(finished)
      if (this.#recent.length > recentMax) this.#recent = this.#recent.slice(recentMax / 2)
      return finished
    }
  }

  #count(phase: Phase, { instead, ok, operation }: Finished) {
    const tally = this.tallies.get(phase) ?? none()
    this.tallies.set(phase, tally)
    tally[operation].sent++
    if (ok) {
      tally[operation].answered++
    } else {
      const name = `${phase} ${operation}: ${instead}`
      this.failures.set(name, (this.failures.get(name) ?? 0) + 1)
    }
  }

  /** What was counted in a phase so far. */
  tallyOf(phase: Phase): Tallies {
    return structuredClone(this.tallies.get(phase) ?? none())
  }

  /** What was counted in a phase since it was `before`. */
  tallySince(phase: Phase, before: Tallies): Tallies {
    const tally = this.tallyOf(phase)
    for (const operation of operations) {
      tally[operation].sent -= before[operation].sent
      tally[operation].answered -= before[operation].answered
    }
    return tally
  }

  /** Notes a broken promise. */
  violate(promise: string, evidence: string): void {
    if (this.violations.filter((one) => one.promise === promise).length < evidenceMax) {
      this.violations.push({ promise, evidence })
    } else {
      this.violationsUntold++
    }
  }

  /** What failed among the requests that began at `from` or later. */
  failedSince(from: number): ReadonlyArray<Finished> {
    return this.#recent.filter(({ ok, start }) => !ok && start >= from)
  }

  /**
   * The first moment from `from` on such that for `steady_ms` after it every request was answered, with at least 5 creates and 5 redirects;
   * null while there is none.
   */
  steadyFrom(from: number, steady_ms: number): number | null {
    const since = this.#recent.filter(({ start }) => start >= from)
    // Also moments at which nothing failed: on a busy machine there can be too few requests in the time before.
    const steps = Math.max(0, Math.floor((this.#now() - steady_ms - from) / step_ms))
    const moments = [
      ...Array.from({ length: steps + 1 }, (_, step) => from + step * step_ms),
      ...since.filter(({ ok }) => !ok).map(({ start }) => start + 0.001)
    ]
    const isSteady = (moment: number) => {
      const end = moment + steady_ms
      if (this.#now() < end) return false
      if ([...this.#underWay].some(({ start }) => start >= moment && start < end)) return false
      const within = since.filter(({ start }) => start >= moment && start < end)
      const enough = (...some: ReadonlyArray<Operation>) =>
        within.filter(({ operation }) => some.includes(operation)).length >= 5
      return within.every(({ ok }) => ok) && enough("create") && enough("hot", "cold")
    }
    return moments.toSorted((a, b) => a - b).find(isSteady) ?? null
  }
}
