import type { Checker, Evidence } from "../../Evidence.ts"
import { s_us } from "../../world/Time.ts"

/** How long a step may be under way, at most, that began before its machine's clock jumped. */
const underWay_us = 10 * s_us

/** A jump of the database's clock by which a node certainly doubts the time, for so long after it has heard of it; how long before a node has known the time, and within what time it hears of another one. */
const jumpMin_us = 1.5 * s_us
const doubtedFor_us = 600 * s_us
const heard_us = 5 * s_us

/** Whether a process doubts the database's time at a moment: its clock has jumped by then, as the process has heard on the session by which it hears of changes. */
const doubtsOf = ({ clock, journal, options, silences }: Evidence) => {
  // A process alone over SQLite goes by its machine's clock.
  const jumps = options.alone === "sqlite" ? [] : clock.jumps
  const started_us = new Map(
    journal.flatMap(({ at_us, by, tag }) => (tag === "started" ? [[by, at_us]] : []))
  )
  return (process: string, at_us: number): boolean =>
    jumps.some((jump) => {
      const [from_us, to_us] = [jump.at_us - heard_us, jump.at_us + underWay_us]
      return (
        Math.abs(jump.by_us) >= jumpMin_us &&
        at_us > to_us &&
        at_us < jump.at_us + doubtedFor_us &&
        (started_us.get(process) ?? Number.POSITIVE_INFINITY) < from_us &&
        !jumps.some((other) => other !== jump && other.at_us > from_us && other.at_us < to_us) &&
        !silences.some((one) => one.by === process && one.from_us < to_us && one.until_us > from_us)
      )
    })
}

/**
 * A process that is told the time by its own machine goes by the true time, whether its clock is right or has jumped, before its start or afterwards; and ends no link and frees no key while that clock is wrong. Nor does a node that goes by the database's, when that has jumped.
 */
export const MachineTime: Checker = {
  name: "machine time",
  check: (evidence) => {
    const { journal } = evidence
    const isDoubted = doubtsOf(evidence)
    let wrongSince_us = Number.POSITIVE_INFINITY
    return journal.flatMap((entry) => {
      const { at_us, by, tag } = entry
      if (tag === "machine clock") {
        if (entry.ahead_us === 0) wrongSince_us = Number.POSITIVE_INFINITY
        else wrongSince_us = Math.min(wrongSince_us, at_us)
        return []
      }
      const violation = (text: string, keys: ReadonlyArray<string> = []) => [
        { checker: MachineTime.name, at_us, text: `${by} ${text}`, keys }
      ]
      if (tag === "kept wrong time") return violation(`went by a time that was ${entry.off_ms} ms ahead`)
      if (tag !== "expired" && tag !== "freed") return []
      if (at_us > wrongSince_us + underWay_us)
        return violation(`ended or freed ${entry.key} while its machine's clock was wrong`, [entry.key])
      return isDoubted(by, at_us)
        ? violation(`ended or freed ${entry.key} by a clock of the database that had jumped`, [entry.key])
        : []
    })
  }
}
