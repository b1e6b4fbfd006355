import { Array } from "effect"
import type { Checker, Evidence } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { s_us } from "../../world/Time.ts"
import { databaseTime } from "../facts/databaseTime.ts"
import { domainsUnread } from "../facts/domainReads.ts"
import { type Known, knownOf } from "../facts/known.ts"
import { createdLinks, type Life, usedElsewhere } from "../facts/lives.ts"
import { isTarget, mayBeBlocked } from "../facts/targets.ts"

/** Tries that the load balancer gives a redirect; how many it gave one that was never answered is not known. */
export const triesMax = 4

/**
 * Visits that a request can have used: each try at a node one, but for the last when that was told that none is left, that the owner's quota is used up, or to give the password. `hasEnded`: the link has ended otherwise by the answer; then the node may
 * have taken one, not heard so, and asked once more.
 */
const usedAtMost = ({ status, tries }: Exchange, hasEnded: boolean): number => {
  if (status === 0) return triesMax
  const isRefused = status === 401 || status === 429 || (status === 410 && !hasEnded)
  return isRefused ? tries - 1 : tries
}

/** A time in which a link had a limit all along: microseconds since the world's beginning. */
interface Limited {
  /** From when on each redirect counts for certain; `undefined`: nobody was told of the change that gave it the limit. */
  readonly counted_us: number | undefined
  /** By which change, as the place of the version that it left; 0: it was created with it. */
  readonly index: number
  /** When a change took the limit away, if one did. */
  until_us: number
  /** Redirects at most: as many as the highest limit says that it had meanwhile. */
  visits: number
}

/** The times in which a link had a limit. A link that gets one by a change may redirect uncounted for a second; one that brings a limit along has used some of it elsewhere, until that is taken away. */
const limitedOf = (life: Life, { acknowledged_us }: Known): ReadonlyArray<Limited> => {
  const all: Array<Limited> = []
  let before: number | null = null
  const elsewhere = usedElsewhere(life)
  for (const [index, { link, since_us }] of life.versions.entries()) {
    const { maxVisits } = link
    const last = all.at(-1)
    if (maxVisits === null) {
      if (before !== null) last!.until_us = since_us
    } else if (before === null) {
      const told_us = acknowledged_us(life, index)
      const counted_us = index === 0 ? life.bound_us : told_us === undefined ? undefined : told_us + s_us
      const visits = index === 0 ? maxVisits - elsewhere : maxVisits
      all.push({ counted_us, index, until_us: Number.POSITIVE_INFINITY, visits })
    } else {
      last!.visits = Math.max(last!.visits, last!.index === 0 ? maxVisits - elsewhere : maxVisits)
    }
    before = maxVisits
  }
  return all
}

/** A redirect too many, if there is one. */
const excessOf = (life: Life, asked: ReadonlyArray<Exchange>, known: Known) =>
  limitedOf(life, known).flatMap(({ counted_us, index, until_us, visits }) => {
    if (counted_us === undefined) return []
    const told_us = counted_us - s_us
    const followed = asked.filter(
      (exchange) =>
        exchange.status === 302 &&
        life.versions.some(({ link }) => isTarget(link, exchange.location)) &&
        exchange.answered_us! < until_us &&
        (index === 0 || (exchange.sent_us > counted_us && !known.isExcused(life, exchange, told_us)))
    )
    return followed.length > visits ? [{ at_us: followed.at(-1)!.answered_us!, followed, visits }] : []
  })

/** Whether a request may use a visit: a probe that is answered 404 was not one of the link. */
const isVisit = ({ isHead, kind, status }: Exchange): boolean =>
  (kind === "redirect" && isHead !== true) || (kind === "probe" && status !== 404)

/**
 * C5: a link with `maxVisits` redirects so often and no more; and it is not said to be used up before so many were asked for. What was granted counts, also
 * when the answer was lost on the way. Where a change gives a link its limit, what is asked for in the next second need not count.
 */
export const ExactVisits: Checker = {
  name: "exact visits",
  check: (evidence: Evidence) => {
    const { end_us, exchanges, lives } = evidence
    const time = databaseTime(evidence)
    const known = knownOf(evidence)
    const isUnread = domainsUnread(evidence)
    const redirects = Array.groupBy(exchanges.filter(isVisit), ({ key }) => key ?? "")
    return [...createdLinks(exchanges, lives).keys()].flatMap((life) => {
      if (life.versions.every(({ link }) => link.maxVisits === null)) return []
      const { bound_us, ended_us, freed_us, link } = life
      const { key } = link
      const asked = (redirects[key] ?? []).filter(
        ({ answered_us = end_us, sent_us }) => answered_us >= bound_us && sent_us <= freed_us
      )
      const violation = (at_us: number, text: string) => [
        { checker: ExactVisits.name, at_us, text, keys: [key] }
      ]
      const [excess] = excessOf(life, asked, known)
      if (excess !== undefined)
        return violation(
          excess.at_us,
          `${key} has ${excess.visits} visits, and redirected ${excess.followed.length} times`
        )
      const hasEnded = (exchange: Exchange) => {
        const { answeredBy, answered_us = end_us, sent_us } = exchange
        return (
          ended_us <= answered_us ||
          known
            .versionsFor(life, exchange)
            .some((version) => time.mayHaveExpired(version.link, answeredBy, sent_us, answered_us))
        )
      }
      for (const ended of asked) {
        if (ended.status !== 410 || ended.sent_us < bound_us || hasEnded(ended)) continue
        if (known.mayBeFormer(life, ended)) continue
        if (mayBeBlocked(known.versionsFor(life, ended), ended.answered_us!)) continue
        // A shorter alias may have answered in its place.
        if (key.includes("/") && isUnread(ended.answeredBy, ended.sent_us)) continue
        const at_us = ended.answered_us!
        const used = asked
          .filter(({ sent_us }) => sent_us < at_us)
          .reduce((sum, exchange) => sum + usedAtMost(exchange, hasEnded(exchange)), 0)
        const least =
          Math.min(
            ...known
              .versionsFor(life, ended)
              .map(({ link: { maxVisits } }) => maxVisits ?? Number.POSITIVE_INFINITY)
          ) - usedElsewhere(life)
        if (used < least)
          return violation(
            at_us,
            `${key} has ${least} visits, and was said to have ended after ${used} at most`
          )
      }
      return []
    })
  }
}
