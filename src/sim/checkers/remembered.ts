import type { Evidence } from "../Evidence.ts"
import type { Exchange } from "../History.ts"
import type { JournalEntry } from "../Journal.ts"
import { ms_us } from "../world/Time.ts"
import { livesOf } from "./lives.ts"

/** The key of a link that an entry is about. */
const linkOf = (entry: JournalEntry): string | undefined =>
  "link" in entry ? entry.link.key : "key" in entry && entry.tag !== "visited" ? entry.key : undefined

/**
 * The evidence without the links that a failover of the database had a part in: those that the commits which it forgot were about, and requests with an `Idempotency-Key` that were under way
 * then. Of these nothing is promised but that their keys are given to no others; see `Forgotten`.
 */
export const remembered = (evidence: Evidence): Evidence => {
  const { end_us, exchanges, journal, options } = evidence
  const forgot = journal.filter((entry) => entry.tag === "database forgot")
  if (forgot.length === 0) return evidence
  const links = new Set(forgot.flatMap(({ links }) => links))
  const urls = new Set<string>()
  for (const entry of journal) if ("link" in entry && links.has(entry.link.key)) urls.add(entry.link.url)
  const lag_us = options.faults.databaseLag_ms * ms_us
  const isAbout = ({ alias, key, kind, url }: Exchange) =>
    (key !== undefined && links.has(key)) ||
    (alias !== undefined && links.has(alias)) ||
    (kind === "create" && url !== undefined && urls.has(url))
  const wasUnderWay = ({ answered_us = end_us, sent_us }: Exchange) =>
    forgot.some(({ at_us }) => sent_us <= at_us && answered_us >= at_us - lag_us)
  const repeats = new Set(
    exchanges.flatMap((one) =>
      one.idempotencyKey !== undefined && (isAbout(one) || wasUnderWay(one)) ? [one.idempotencyKey] : []
    )
  )
  const known = journal.filter((entry) => {
    const key = linkOf(entry)
    return key === undefined || !links.has(key)
  })
  return {
    ...evidence,
    exchanges: exchanges.filter(
      (one) => !isAbout(one) && (one.idempotencyKey === undefined || !repeats.has(one.idempotencyKey))
    ),
    journal: known,
    lives: livesOf(known)
  }
}
