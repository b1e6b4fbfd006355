import type { Evidence } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import type { JournalEntry } from "../../Journal.ts"
import { ms_us } from "../../world/Time.ts"
import { meantBy } from "./attributed.ts"
import { livesOf } from "./lives.ts"

/** The key of a link that an entry is about. */
const linkOf = (entry: JournalEntry): string | undefined =>
  "link" in entry ? entry.link.key : "key" in entry && entry.tag !== "visited" ? entry.key : undefined

/** How long what a process was told by a primary that had been left behind may be on its way, and how long no other answer of it makes one time of two. */
const onItsWay_us = 200 * ms_us
const apart_us = 10_000 * ms_us

/** The times in which processes were answered by a primary that had been left behind: no request of them is known to the checkers. */
const leftBehindOf = (journal: ReadonlyArray<JournalEntry>) => {
  const times: Array<{ readonly from_us: number; until_us: number }> = []
  for (const { at_us, tag } of journal) {
    if (tag !== "left behind") continue
    const last = times.at(-1)
    if (last !== undefined && at_us - last.until_us < apart_us) last.until_us = at_us + onItsWay_us
    else times.push({ from_us: at_us, until_us: at_us + onItsWay_us })
  }
  return times
}

/** How long a request that ends sessions or links is under way at most. */
const requestLasts_us = 15_000 * ms_us

/** Whether a request that is not known to the checkers, since a process worked on a primary that had been left behind, may have been under way at some moment of a time. */
export const mayBeAskedUnseen = (
  journal: ReadonlyArray<JournalEntry>
): ((since_us: number, to_us?: number) => boolean) => {
  const leftBehind = leftBehindOf(journal)
  return (since_us, to_us = since_us) =>
    leftBehind.some(
      ({ from_us, until_us }) => to_us >= from_us - requestLasts_us && since_us <= until_us + requestLasts_us
    )
}

/** Whether a failover had a part in some links, of which checkers know nothing; see {@link remembered}. */
export const hasForgotten = (journal: ReadonlyArray<JournalEntry>): boolean =>
  journal.some(({ tag }) => tag === "database forgot" || tag === "left behind")

/**
 * The evidence without the links that a failover of the database had a part in: those that the commits which it forgot were about, and requests with an `Idempotency-Key` that were under way
 * then; and without what was asked while processes worked on a primary that had been left behind. Of these nothing is promised but that their keys are given to no others; see `Forgotten`.
 */
export const remembered = (evidence: Evidence): Evidence => {
  const { end_us, exchanges, journal, options } = evidence
  const forgot = journal.filter((entry) => entry.tag === "database forgot")
  if (!hasForgotten(journal)) return evidence
  const lag_us = options.faults.databaseLag_ms * ms_us
  const leftBehind = leftBehindOf(journal)
  const wasLeftBehind = ({ answered_us = end_us, sent_us, since_us = sent_us }: Exchange) =>
    leftBehind.some(({ from_us, until_us }) => since_us <= until_us && answered_us >= from_us)
  const links = new Set([
    ...forgot.flatMap(({ links }) => links),
    ...exchanges.flatMap((one) => (one.key !== undefined && wasLeftBehind(one) ? [one.key] : []))
  ])
  const urls = new Set<string>()
  for (const entry of journal) if ("link" in entry && links.has(entry.link.key)) urls.add(entry.link.url)
  const isAbout = ({ alias, key, kind, path, url }: Exchange) =>
    (key !== undefined && links.has(key)) ||
    // What it led to may be of any of them.
    (kind === "redirect" && key !== undefined && meantBy({ key, path }).some((one) => links.has(one.key))) ||
    (alias !== undefined && links.has(alias)) ||
    (kind === "create" && url !== undefined && urls.has(url))
  const wasUnderWay = ({ answered_us = end_us, sent_us }: Exchange) =>
    forgot.some(({ at_us }) => sent_us <= at_us && answered_us >= at_us - lag_us)
  const repeats = new Set(
    exchanges.flatMap((one) =>
      one.idempotencyKey !== undefined && (isAbout(one) || wasUnderWay(one) || wasLeftBehind(one))
        ? [one.idempotencyKey]
        : []
    )
  )
  const known = journal.filter((entry) => {
    const key = linkOf(entry)
    return key === undefined || !links.has(key)
  })
  return {
    ...evidence,
    exchanges: exchanges.filter(
      (one) =>
        !isAbout(one) &&
        !wasLeftBehind(one) &&
        (one.idempotencyKey === undefined || !repeats.has(one.idempotencyKey))
    ),
    journal: known,
    lives: livesOf(known)
  }
}
