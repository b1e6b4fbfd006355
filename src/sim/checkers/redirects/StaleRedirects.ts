import { Array } from "effect"
import { isNamedAsStored } from "../../deployment/FurtherDomains.ts"
import type { Checker, Evidence } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { ms_us, s_us } from "../../world/Time.ts"

/** From when a node knows that the database is away, or a request has been sent to it, until the answer is there: it looks every 100 ms, and messages take their time where networks are slow. */
const promptly_us = s_us

/** What a node that knows that the database is away need not do at once: it stops, or stood still. */
const isHindered = ({ journal }: Evidence, node: string, from_us: number, to_us: number): boolean =>
  journal.some(
    (entry) =>
      entry.by === node &&
      entry.at_us <= to_us &&
      ((entry.tag === "draining" && entry.at_us > from_us - 60 * s_us) ||
        (entry.tag === "paused" && entry.at_us + entry.for_us >= from_us))
  )

/** What does not write a link that is asked for it. */
const reading: ReadonlySet<Exchange["kind"]> = new Set(["redirect", "show", "preview", "statistics"])

/** Links that are written, by their keys: when, and by what. */
const writesOf = ({ exchanges, journal }: Evidence): ReadonlyMap<string, ReadonlyArray<number>> => {
  const writes = new Map<string, Array<number>>()
  const add = (key: string, at_us: number) => {
    const present = writes.get(key)
    if (present === undefined) writes.set(key, [at_us])
    else present.push(at_us)
  }
  for (const entry of journal) {
    if (entry.tag === "bound" || entry.tag === "changed") add(entry.link.key, entry.at_us)
    if (entry.tag === "deleted" || entry.tag === "expired" || entry.tag === "freed")
      add(entry.key, entry.at_us)
  }
  // A node forgets what it asks to be changed, whatever comes of that.
  for (const { answered_us, key, kind, sent_us } of exchanges) {
    if (key === undefined || reading.has(kind)) continue
    add(key, sent_us)
    if (answered_us !== undefined) add(key, answered_us)
  }
  return writes
}

/**
 * While a node knows that the database is away, and for `staleRedirects_s` from when it last heard of it, it redirects at once by the row of a plain link that it has at hand, also those who
 * ask already. One that it redirected by before, while it had the database's news, it has at hand if nobody wrote the link and its cache has room; others it
 * reads from a replica, if there is one.
 */
export const StaleRedirects: Checker = {
  name: "stale redirects",
  check: (evidence) => {
    const { aways, exchanges, faults, homes, listenings, lives, options, silences } = evidence
    const stale_us = options.staleRedirects_s * s_us
    if (stale_us === 0 || faults.has("bucketMove") || options.level !== "actors") return []
    const writes = writesOf(evidence)
    const isWritten = (key: string, from_us: number, to_us: number) =>
      (writes.get(key) ?? []).some((at_us) => at_us >= from_us && at_us <= to_us)
    const hasForgotten = (node: string, from_us: number, to_us: number) =>
      listenings.some(({ at_us, by }) => by === node && at_us >= from_us && at_us <= to_us)
    const isPlain = (key: string) =>
      (lives.get(key) ?? []).every(({ versions }) =>
        versions.every(({ link }) => link.passwordHash === null && link.maxVisits === null)
      )
    const byNode = Array.groupBy(exchanges, ({ answeredBy }) => answeredBy ?? "")

    /** When a node redirected by a key's row last, before it had no news any more: that row is at hand. */
    const hadAtHand = (
      answers: ReadonlyArray<Exchange>,
      { database, heard_us }: Evidence["aways"][number],
      key: string
    ) => {
      const last = answers.findLast(
        (one) =>
          one.kind === "redirect" && one.key === key && one.status === 302 && one.answered_us! <= heard_us
      )
      if (last === undefined) return undefined
      const wasSilent = silences.some(
        (one) =>
          one.by === last.answeredBy &&
          one.database === database &&
          one.from_us <= last.answered_us! &&
          one.until_us > last.sent_us &&
          one.from_us < heard_us
      )
      return wasSilent ? undefined : last
    }

    const { linkReplicaLag_ms } = options
    /** By then a replica has a row for certain that nobody has written since. */
    const replicated_us = s_us + (linkReplicaLag_ms ?? 0) * ms_us
    const isReplicated = (key: string, at_us: number) =>
      linkReplicaLag_ms !== null &&
      lives
        .get(key)
        ?.some(({ bound_us, ended_us }) => bound_us < at_us - replicated_us && ended_us > at_us) === true

    return aways.flatMap((away) => {
      const { heard_us } = away
      const answers = byNode[away.by] ?? []
      const end_us = Math.min(away.until_us, heard_us + stale_us)
      return answers.flatMap((exchange) => {
        const { answered_us, from, key, kind, number, path, sent_us, status, tries } = exchange
        if (kind !== "redirect" || key === undefined || tries > 1) return []
        // With a path it may be another link, and where look-ups that lead nowhere are counted, the counters are in the database.
        if (path !== undefined || from !== undefined || !homes(key).has(away.database)) return []
        // Another link may have the key as it is written, and be none that is at hand.
        if (!isNamedAsStored(key)) return []
        const due_us = Math.max(away.from_us, sent_us) + promptly_us
        const isLate = answered_us! > due_us
        const isUnavailable = status >= 500 && answered_us! > away.from_us + promptly_us
        if (due_us > end_us || !(isLate || isUnavailable) || !isPlain(key)) return []
        const violation = (by: string) => {
          const late_ms = Math.round((answered_us! - due_us) / ms_us)
          return {
            checker: StaleRedirects.name,
            at_us: answered_us!,
            text: `request ${number} for ${key} was answered ${status} ${late_ms} ms after it could have been redirected by ${by}, by ${away.by}`,
            keys: [key]
          }
        }
        if (
          isReplicated(key, heard_us) &&
          !isWritten(key, heard_us - replicated_us, answered_us!) &&
          !isHindered(evidence, away.by, sent_us, answered_us!)
        )
          return [violation("a replica")]
        const last = hadAtHand(answers, away, key)
        if (last === undefined || isWritten(key, last.sent_us - s_us, answered_us!)) return []
        const asked = new Set(
          answers
            .filter((one) => one.answered_us! >= last.sent_us && one.sent_us <= due_us)
            .map((one) => one.key)
        )
        if (2 * asked.size > options.redirectCacheMax) return []
        if (hasForgotten(away.by, last.sent_us, due_us)) return []
        if (isHindered(evidence, away.by, last.sent_us, answered_us!)) return []
        return [violation("the row at hand")]
      })
    })
  }
}
