import { answerMax_us } from "../../deployment/VirtualNode.ts"
import type { Checker, Violation } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { s_us } from "../../world/Time.ts"
import { triesMax } from "../visits/ExactVisits.ts"
import type { Use } from "./Quotas.ts"

/** Within what time a node ends what it has reserved for a look-up: it answers every request within it. */
const endedWithin_us = 12 * s_us

/** Look-ups that led nowhere by the answers. An answer other than the last may have got lost on its way, and what was answered late may have been found by then. */
const failedBy = ({ answered_us, kind, sent_us, status, tries }: Exchange): Use => {
  if (answered_us === undefined || status === 0) return { least: 0, most: triesMax }
  const most = Math.max(1, tries)
  if (status === 404) return { least: kind === "guess" ? 1 : 0, most }
  // Others than nodes answer 502 and 504.
  const isUnknown = status === 502 || status === 504 || answered_us - sent_us >= answerMax_us
  return { least: 0, most: isUnknown ? most : most - 1 }
}

/**
 * A text of no link leads nowhere. Each look-up that led nowhere is counted for its client, no other one is, and none stays reserved.
 */
export const FailedLookUps: Checker = {
  name: "failed look-ups",
  seesForgotten: true,
  check: ({ end_us, exchanges, journal, options }) => {
    const violations: Array<Violation> = []
    const found = (at_us: number, text: string, keys: ReadonlyArray<string> = []) =>
      violations.push({ checker: FailedLookUps.name, at_us, text, keys })
    for (const { answered_us = end_us, key, kind, number, status } of exchanges)
      if (kind === "guess" && status < 500 && ![0, 404, 429].includes(status))
        found(answered_us, `request ${number} was answered ${status} for a link that never was`, [key!])
    if (options.failedLookupsPerMinute === null || options.workload.withAccount === 0) return violations

    const { least, most } = exchanges
      .filter(({ from }) => from !== undefined)
      .map(failedBy)
      .reduce((sum, one) => ({ least: sum.least + one.least, most: sum.most + one.most }), {
        least: 0,
        most: 0
      })
    const kept = journal.filter(({ tag }) => tag === "kept").length
    if (kept < least || kept > most)
      found(end_us, `${kept} look-ups were counted as failed, of ${least} to ${most} that failed`)

    const ended = new Set(journal.flatMap(({ by, tag }) => (tag === "killed" || tag === "ended" ? [by] : [])))
    const open = new Map<string, { readonly by: string; readonly at_us: number }>()
    for (const entry of journal) {
      if (entry.tag === "took" && entry.reservation !== undefined)
        open.set(`${entry.by} ${entry.reservation}`, entry)
      if (entry.tag === "kept" || entry.tag === "gave back") open.delete(`${entry.by} ${entry.reservation}`)
    }
    for (const { at_us, by } of open.values())
      if (at_us < end_us - endedWithin_us && !ended.has(by))
        found(at_us, `${by} has not ended what it reserved for a look-up`)
    return violations
  }
}
