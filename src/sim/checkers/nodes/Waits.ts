import type { Checker } from "../../Evidence.ts"
import { ms_us, s_us } from "../../world/Time.ts"

/** Within what time a node answers whose stores or owners do not; and how long requests, answers and what is under way beside them take at most. */
const answersWithin_us = 5 * s_us
const slack_us = 200 * ms_us

/** A node that goes on answers each request within five seconds, whatever does not answer it; the time for which it stood still does not count. That of clients who asked one node themselves is known. */
export const Waits: Checker = {
  name: "waits",
  check: ({ exchanges, journal }) => {
    const pauses = journal.filter((entry) => entry.tag === "paused")
    const ended_us = new Map(
      journal.flatMap(({ at_us, by, tag }) => (tag === "killed" || tag === "ended" ? [[by, at_us]] : []))
    )
    return exchanges.flatMap(({ answered_us, kind, number, sent_us, sentTo, status }) => {
      if (answered_us === undefined || sentTo === undefined) return []
      if (answered_us - sent_us <= answersWithin_us + slack_us) return []
      if ((ended_us.get(sentTo) ?? Number.POSITIVE_INFINITY) < answered_us) return []
      const paused_us = pauses
        .filter(({ by }) => by === sentTo)
        .reduce((sum, { at_us, for_us }) => {
          const overlap_us = Math.min(answered_us, at_us + for_us) - Math.max(sent_us, at_us)
          return sum + Math.max(0, overlap_us)
        }, 0)
      const waited_us = answered_us - sent_us - paused_us
      if (waited_us <= answersWithin_us + slack_us) return []
      const text = `request ${number} (${kind}) was answered ${status === 0 ? "never" : status} within ${Math.round(waited_us / ms_us)} ms, by ${sentTo}`
      return [{ checker: Waits.name, at_us: answered_us, text, keys: [`#${number}`] }]
    })
  }
}
