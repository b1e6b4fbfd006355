import { partitionOf } from "../../../actors/links/UrlMapping.ts"
import type { Checker, Evidence } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { keyLasts_s } from "../../clients/AccountRequests.ts"
import { endOf } from "../../clients/Lasting.ts"
import { ms_us, s_us } from "../../world/Time.ts"
import { databaseTime } from "../facts/databaseTime.ts"

/** How long after the end of all faults everything must work again. */
const healWithin_us = 5 * s_us

/** For so long after the faults a node may be short of connections: those that it had given up before, after 4 s, count for 15 s as ones that the database still has. */
const shortFor_us = 20 * s_us

/** The nodes in which actors of a name run at a time: a whole name, or that of all of a kind, such as `PoolShard/`. */
const hostsOf = (journal: Evidence["journal"], name: string, then_us: number): ReadonlySet<string> => {
  const isOfIt = (actor: string) => (name.endsWith("/") ? actor.startsWith(name) : actor === name)
  const hosts = new Map<string, string>()
  for (const entry of journal) {
    if (entry.at_us > then_us) break
    const { by, tag } = entry
    if (tag === "activated" && isOfIt(entry.actor)) hosts.set(`${by} ${entry.actor}`, by)
    else if (tag === "deactivated") hosts.delete(`${by} ${entry.actor}`)
    else if (tag === "killed" || tag === "ended")
      for (const [id, host] of hosts) if (host === by) hosts.delete(id)
  }
  return new Set(hosts.values())
}

/**
 * Whether a request failed since there were no connections, as far as that may be: the node that answered it made none meanwhile, or the one that owns its link, or
 * every node that owns a pool shard from which a create could get its key.
 */
const isShort = (
  { end_us, healed_us, journal, sessions }: Evidence,
  { alias, answered_us = end_us, answeredBy, key, kind, sent_us }: Exchange
): boolean => {
  if (sent_us >= healed_us + shortFor_us) return false
  const short = new Set(
    sessions.refusals.flatMap(({ at_us, by }) => (sent_us <= at_us && at_us <= answered_us ? [by] : []))
  )
  if (short.size === 0) return false
  if (answeredBy !== undefined && short.has(answeredBy)) return true
  const name = key ?? alias
  const owners = hostsOf(
    journal,
    kind === "create" && name === undefined
      ? "PoolShard/"
      : `UrlMapping/${name === undefined ? "" : partitionOf(name)}`,
    answered_us
  )
  return owners.size > 0 && [...owners].every((by) => short.has(by))
}

/** Answers that tell clients of something that they did or do not have: others judge whether that is so. */
const refusals = new Set([401, 403, 404, 409, 410, 422, 429])

/** How long after its end the simulation starts a process again, and how long that takes to listen. */
const startsWithin_us = 1.5 * s_us

/** Whether a request found no node since the one that it was for, if there is one alone or it asked one alone, was told to stop before the faults ended, and finished what was under way. */
const isBetweenStarts = (
  { healed_us, journal, options }: Evidence,
  { answeredBy, direct, sent_us }: Exchange
): boolean => {
  if ((options.nodes > 1 && direct !== true) || answeredBy !== undefined) return false
  const stopping = new Set(
    journal.flatMap(({ at_us, by, tag }) => (tag === "draining" && at_us < healed_us ? [by] : []))
  )
  return journal.some(
    ({ at_us, by, tag }) =>
      tag === "ended" && stopping.has(by) && at_us > healed_us && sent_us < at_us + startsWithin_us
  )
}

/** C8: after faults have ended, every request is answered as it should be, without help. And no request ever ends as a fault of the service, nor as if there were no such operation. */
export const Liveness: Checker = {
  name: "liveness",
  check: (evidence) => {
    const { beginning_ms, end_us, exchanges, healed_us, unready } = evidence
    const time = databaseTime(evidence)
    /** Whether an API key may have had no time left when a node looked. */
    const mayBeTooLate = ({ answered_us, answeredBy, sent_us }: Exchange) => {
      const expiresAt = beginning_ms + sent_us / ms_us + 1_000 * keyLasts_s.least
      return time.mayHaveExpired({ expiresAt }, answeredBy, sent_us, answered_us!)
    }
    /** Whether a link that is to begin at a moment, and to end after a while, may have ended before it begins by a node whose clock is behind. */
    const mayEndBefore = ({ answered_us, answeredBy, choices, lasts, sent_us }: Exchange) => {
      const since = choices?.validSince
      if (typeof since !== "string" || lasts === undefined) return false
      const { least_ms } = time.moments(answeredBy, sent_us, answered_us!)
      return Date.parse(since) >= endOf(least_ms, lasts)
    }
    /** Whether a link is to end at a moment that may be over by the clock of who looked. */
    const mayBeOver = ({ answered_us, answeredBy, expiresAt, sent_us }: Exchange) =>
      typeof expiresAt === "string" &&
      time.mayHaveExpired({ expiresAt: Date.parse(expiresAt) }, answeredBy, sent_us, answered_us!)
    return [
      ...unready.map((node) => ({
        checker: Liveness.name,
        at_us: end_us,
        text: `${node} is not ready again`,
        keys: []
      })),
      ...exchanges.flatMap((exchange) => {
        const { alias, answered_us, key, kind, number, sent_us, status } = exchange
        const violation = (text: string) => [
          { checker: Liveness.name, at_us: answered_us ?? end_us, text, keys: [key ?? alias ?? ""] }
        ]
        if (status === 500 || (kind === "create" && status === 404))
          return violation(`request ${number} (${kind}) was answered ${status}`)
        if (sent_us < healed_us + healWithin_us || refusals.has(status)) return []
        // Whether they may be refused is told by `Statistics`.
        if (kind === "statistics" && status === 400) return []
        if (kind === "password" && status === 400) return []
        if (kind === "key" && status === 400 && mayBeTooLate(exchange)) return []
        if (kind === "create" && status === 400 && (mayEndBefore(exchange) || mayBeOver(exchange))) return []
        // Whether it was refused rightly is told by `Refusals`.
        if (status === exchange.refusal?.status || (kind === "change" && status === 400)) return []
        if (answered_us === undefined && end_us - sent_us < healWithin_us) return []
        if (status === 503 && isShort(evidence, exchange)) return []
        if ((status === 503 || status === 0) && isBetweenStarts(evidence, exchange)) return []
        return status >= 200 && status < 400
          ? []
          : violation(
              `request ${number} (${kind}), ${((sent_us - healed_us) / s_us).toFixed(1)} s after the last fault, was answered ${status === 0 ? "never" : status}`
            )
      })
    ]
  }
}
