import type { Checker, Evidence, Violation } from "../Evidence.ts"
import type { JournalEntry } from "../Journal.ts"
import { s_us } from "../world/Time.ts"

/** A link of a URL, for as long as it was there: microseconds since the world's beginning. */
interface Standing {
  readonly key: string
  readonly url: string
  readonly since_us: number
  until_us: number
}

/** The links of owners, in the order in which they were bound, and which of them were one too many. */
const standings = (journal: ReadonlyArray<JournalEntry>, urls: ReadonlySet<string>) => {
  const all: Array<Standing> = []
  const doubles: Array<readonly [Standing, Standing]> = []
  const live = new Map<string, Standing>()
  for (const entry of journal) {
    const { at_us } = entry
    if (entry.tag === "bound" && urls.has(entry.link.url)) {
      const { key, url } = entry.link
      const one: Standing = { key, url, since_us: at_us, until_us: Number.POSITIVE_INFINITY }
      for (const other of live.values()) if (other.url === url) doubles.push([other, one])
      all.push(one)
      live.set(key, one)
    }
    if (entry.tag !== "deleted" && entry.tag !== "changed") continue
    const ended = live.get(entry.key)
    if (ended === undefined) continue
    ended.until_us = at_us
    live.delete(entry.key)
  }
  return { all, doubles }
}

/** What asks all databases for the links of a URL, and how long before a create binds its link it may have asked. */
const looking: ReadonlySet<string> = new Set(["GuardedCreates.findByUrl", "LinkEpoch.isInForce"])
const askedBefore_us = 10 * s_us

/** Whether one of several databases may not have answered a create that bound its link at a time: then a link there is not found. */
const mayBeMissed = ({ journal, options, silences }: Evidence) => {
  if (options.databases === 1) return () => false
  const unanswered_us = journal.flatMap((entry) =>
    entry.tag === "unanswered" && looking.has(entry.operation) ? [entry.at_us] : []
  )
  return (at_us: number) =>
    unanswered_us.some((when_us) => at_us - askedBefore_us < when_us && when_us <= at_us) ||
    silences.some(({ from_us, until_us }) => from_us <= at_us && until_us > at_us - askedBefore_us)
}

/**
 * C7: of a URL that is asked for with `reuse` there is one live link at most, no matter who asks at once; and a link that is given again was there, live, at
 * some moment of the request. Nobody asks for such a URL otherwise, nor changes another link to it. While one of several
 * databases does not answer, there can be two.
 */
export const ReusedLinks: Checker = {
  name: "reused links",
  check: (evidence) => {
    const { exchanges, journal } = evidence
    const asked = exchanges.filter(({ reuse }) => reuse === true)
    if (asked.length === 0) return []
    const { all, doubles } = standings(journal, new Set(asked.map(({ url }) => url!)))
    const isMissed = mayBeMissed(evidence)
    const violation = (at_us: number, text: string, keys: ReadonlyArray<string>): Violation => ({
      checker: ReusedLinks.name,
      at_us,
      text,
      keys
    })
    return [
      ...doubles.flatMap(([one, other]) =>
        isMissed(other.since_us)
          ? []
          : violation(other.since_us, `${other.key} was bound to ${one.url}, and ${one.key} was there`, [
              one.key,
              other.key
            ])
      ),
      ...asked.flatMap(({ answered_us, isReplay, key, number, sent_us, status, url }) => {
        if (status !== 200 || isReplay) return []
        const wasThere = all.some(
          (one) =>
            one.key === key && one.url === url && one.since_us <= answered_us! && one.until_us >= sent_us
        )
        return wasThere
          ? []
          : [
              violation(
                answered_us!,
                `request ${number} was given ${key}, which was no live link of ${url}`,
                [key!]
              )
            ]
      })
    ]
  }
}
