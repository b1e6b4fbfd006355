import { adminId } from "../../../accounts/Access.ts"
import { defaultDomain, domainKeyOf } from "../../../keys/QualifiedKey.ts"
import type { Checker, Evidence, Violation } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import type { Link } from "../../../model/Link.ts"
import type { JournalEntry } from "../../Journal.ts"
import { s_us } from "../../world/Time.ts"
import { sendersOf } from "../facts/senders.ts"

/** A link of a URL, for as long as it could be reused: microseconds since the world's beginning. */
interface Standing {
  readonly key: string
  readonly url: string
  /** Its owner's id and URL. */
  readonly name: string
  /** The process that bound it, or made it so. */
  readonly by: string
  readonly since_us: number
  /** Whether it was there before, and a change made it so. */
  readonly isChanged: boolean
  until_us: number
  /** Whether it has a limit of visits, ends by itself, or is valid only later: then another one may take its place when it is used up or has ended, or before it is. */
  isLimited: boolean
}

/** What a link is found by. */
const nameOf = ({ owner, url }: Pick<Link, "owner" | "url">): string => `${owner} ${url}`

const isLimited = ({ expiresAt, maxVisits, validSince }: Link): boolean =>
  expiresAt !== null || maxVisits !== null || validSince !== null

/** Links in further domains are not reused. */
const isReusable = ({ key }: Link): boolean => domainKeyOf(key).domain === defaultDomain

/** The links of owners of some URLs (`nameOf`), in the order in which they were bound, and which of them were one too many. */
const standings = (journal: ReadonlyArray<JournalEntry>, names: ReadonlySet<string>) => {
  const all: Array<Standing> = []
  const doubles: Array<readonly [Standing, Standing]> = []
  const live = new Map<string, Standing>()
  const begin = (link: Link, by: string, since_us: number, isChanged: boolean) => {
    const { key, url } = link
    const until_us = Number.POSITIVE_INFINITY
    const name = nameOf(link)
    const one = { key, url, name, by, since_us, isChanged, until_us, isLimited: isLimited(link) }
    all.push(one)
    live.set(key, one)
    return one
  }
  const end = (key: string, at_us: number) => {
    const ended = live.get(key)
    if (ended === undefined) return
    ended.until_us = at_us
    live.delete(key)
  }
  /** A link with further choices is not reused; without them it is again, whether or not there is another one by then. */
  const change = (link: Link, by: string, at_us: number) => {
    const known = live.get(link.key)
    const mayBeReused = names.has(nameOf(link)) && link.extras === undefined
    if (mayBeReused && known?.name === nameOf(link)) {
      known.isLimited = isLimited(link)
      return
    }
    end(link.key, at_us)
    if (mayBeReused) begin(link, by, at_us, true)
  }
  for (const entry of journal) {
    const { at_us, by } = entry
    if (entry.tag === "bound" && isReusable(entry.link) && names.has(nameOf(entry.link))) {
      const name = nameOf(entry.link)
      const others = Array.from(live.values()).filter((other) => other.name === name && !other.isLimited)
      const one = begin(entry.link, by, at_us, false)
      for (const other of others) doubles.push([other, one])
    }
    if (entry.tag === "deleted") end(entry.key, at_us)
    if (entry.tag === "changed" && isReusable(entry.link)) change(entry.link, by, at_us)
  }
  return { all, doubles }
}

/** How long before a create binds its link it may have asked all databases for the links of its URL. */
const askedBefore_us = 10 * s_us

/**
 * Whether the node that bound a link may have taken one of several databases for away when it asked for others of its URL: then those there are not found. A database that is there is asked again where
 * its answer is lost.
 */
const mayBeMissed =
  ({ aways, options }: Evidence) =>
  ({ by, since_us }: Standing) =>
    options.databases > 1 &&
    aways.some((one) => one.by === by && one.from_us <= since_us && one.until_us > since_us - askedBefore_us)

/** Whether a link could be reused only since a change that came when the create of the second had been sent, which may have looked before. */
const cameBetween =
  (creates: ReadonlyArray<Exchange>) =>
  (one: Standing, other: Standing): boolean => {
    const create = creates.find(({ key, status }) => key === other.key && status === 201)
    return one.isChanged && one.since_us > (create?.sent_us ?? other.since_us - askedBefore_us)
  }

/**
 * C7: of a URL that is asked for with `reuse` an owner has one live link at most, however many ask at once; and a link that is given again was there, live and the owner's, at
 * some moment of the request. Nobody asks for such a URL otherwise but in further domains, nor changes another link to it. While a node takes one of
 * several databases for away, it can make a second one.
 */
export const ReusedLinks: Checker = {
  name: "reused links",
  check: (evidence) => {
    const { exchanges, journal } = evidence
    const asked = exchanges.filter(({ reuse }) => reuse === true)
    if (asked.length === 0) return []
    const senderOf = sendersOf(evidence)
    const wanted = (exchange: Exchange) => {
      const { user = exchange.isByAdmin === true ? adminId : null } = senderOf(exchange)
      return nameOf({ owner: user, url: exchange.url! })
    }
    const { all, doubles } = standings(journal, new Set(asked.map(wanted)))
    const isMissed = mayBeMissed(evidence)
    const isBetween = cameBetween(asked)
    const violation = (at_us: number, text: string, keys: ReadonlyArray<string>): Violation => ({
      checker: ReusedLinks.name,
      at_us,
      text,
      keys
    })
    return [
      ...doubles.flatMap(([one, other]) =>
        isMissed(other) || isBetween(one, other)
          ? []
          : violation(other.since_us, `${other.key} was bound to ${one.url}, and ${one.key} was there`, [
              one.key,
              other.key
            ])
      ),
      ...asked.flatMap((exchange) => {
        const { answered_us, isReplay, key, number, sent_us, status, url } = exchange
        if (status !== 200 || isReplay) return []
        const wasThere = all.some(
          (one) =>
            one.key === key &&
            one.name === wanted(exchange) &&
            one.since_us <= answered_us! &&
            one.until_us >= sent_us
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
