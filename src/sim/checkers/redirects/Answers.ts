import { domainKeyOf } from "../../../keys/QualifiedKey.ts"
import type { Link } from "../../../model/Link.ts"
import { targetsOf } from "../../deployment/FurtherDomains.ts"
import { factsOf } from "../../clients/Visitors.ts"
import type { Checker, Evidence, Violation } from "../../Evidence.ts"
import type { Exchange, Manner } from "../../History.ts"
import { meantBy } from "../facts/attributed.ts"
import type { Moments } from "../facts/conditions.ts"
import { databaseTime } from "../facts/databaseTime.ts"
import { domainsUnread } from "../facts/domainReads.ts"
import { knownOf } from "../facts/known.ts"
import { createdLinks, type Life, lifeAt, lifeLedBy } from "../facts/lives.ts"
import { removalsOf } from "../facts/removals.ts"
import { leads, locationsFor, mayBeBlocked } from "../facts/targets.ts"
import { s_us } from "../../world/Time.ts"

/** How a request is answered that a link leads, or whose link shows its card. */
type Led = Pick<Manner, "isIndexed" | "status" | "vary">

/** The statuses of answers that people get as pages, and programs as JSON. */
const explained: ReadonlySet<number> = new Set([401, 404, 410, 429])

/** By which headers caches tell the answers of a link apart. */
const varyOf = ({ extras }: Link): string | undefined => {
  const all = (extras?.rules ?? []).map(({ when }) => when)
  const names = [
    ...(extras?.card !== undefined || all.some(({ devices, os }) => (devices ?? os) !== undefined)
      ? ["user-agent"]
      : []),
    ...(all.some(({ languages }) => languages !== undefined) ? ["accept-language"] : [])
  ]
  return names.length === 0 ? undefined : names.join(", ")
}

const isAnsweredAs = (one: Led, { isIndexed, status, vary }: Led): boolean =>
  one.status === status && one.isIndexed === isIndexed && one.vary === vary

/** Whether a link leads somewhere at some of these moments. */
const isValid = ({ validSince }: Link, { most_ms }: Moments): boolean =>
  validSince === null || validSince <= most_ms

const isCardFor = ({ extras }: Link, { password, visitor }: Exchange): boolean =>
  extras?.card !== undefined && password === undefined && factsOf(visitor).drawsPreviews === true

/** Whether a link, as it is in some version, led a request to its location in this manner. */
const isLedSo = (link: Link, exchange: Exchange, manner: Manner, moments: Moments): boolean =>
  isValid(link, moments) &&
  !isCardFor(link, exchange) &&
  leads(link, exchange, moments) &&
  isAnsweredAs(manner, {
    status: exchange.password === undefined ? link.redirectStatus : 303,
    isIndexed: link.crawlable,
    vary: varyOf(link)
  })

/** What the values of a page say, as browsers read them. */
const read = (html: string): string =>
  html.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))

/** Whether a link shows a request its card by such a body. */
const isShownSo = (link: Link, exchange: Exchange, manner: Manner, moments: Moments): boolean => {
  const body = read(exchange.body ?? "")
  const { card = {} } = link.extras ?? {}
  return (
    isValid(link, moments) &&
    isCardFor(link, exchange) &&
    link.passwordHash === null &&
    isAnsweredAs(manner, { status: 200, isIndexed: link.crawlable, vary: varyOf(link) }) &&
    locationsFor(link, exchange, moments).some((location) => body.includes(`href="${location}"`)) &&
    [card.title, card.description, card.image].every(
      (part) => part === undefined || body.includes(`content="${part}"`)
    )
  )
}

/**
 * A redirect is answered as the documentation says of one of the states of its link that a node may still know, at one of the moments at which it may have been answered: with the location of the rule that holds
 * then, what is forwarded, and the link's status; with its card to crawlers that draw previews; and where it has expired or is used up, people are sent to its own target for that, or to its domain's, as from a link that is yet to begin, or is not there. People get pages, programs JSON. Caches keep no redirect.
 */
export const Answers: Checker = {
  name: "answers",
  check: (evidence: Evidence) => {
    const { exchanges, lives } = evidence
    const time = databaseTime(evidence)
    const { isExcused, versionsFor } = knownOf(evidence)
    const isUnread = domainsUnread(evidence)
    const created = createdLinks(exchanges, lives)
    const removals = removalsOf(exchanges)
    const violations: Array<Violation> = []
    for (const exchange of exchanges) {
      const {
        answered_us,
        answeredBy,
        key,
        kind,
        location,
        manner,
        number,
        password,
        path,
        sent_us,
        status,
        visitor
      } = exchange
      if (kind !== "redirect" || manner === undefined || key === undefined || answered_us === undefined)
        continue
      const found = (text: string) =>
        violations.push({
          checker: Answers.name,
          at_us: answered_us,
          text: `${key} ${text} (request ${number}), by ${answeredBy}`,
          keys: [key]
        })
      const moments = time.moments(answeredBy, sent_us, answered_us)
      const { isPerson = false } = factsOf(visitor)
      /** Whether some link that the path may be of, as it is in some version, answers so. */
      const mayBe = (isSo: (link: Link, asked: Exchange, life: Life) => boolean): boolean =>
        meantBy({ key, path }).some((meant) =>
          lives
            .get(meant.key)
            ?.some(
              (life) =>
                life.bound_us <= answered_us &&
                life.freed_us >= sent_us &&
                versionsFor(life, exchange).some(({ link }) => isSo(link, { ...exchange, ...meant }, life))
            )
        )
      /** A link that was deleted had expired by then, or never does. */
      const mayHaveExpired = (link: Link, life: Life): boolean =>
        sent_us > life.ended_us + s_us && !isExcused(life, exchange, life.ended_us)
          ? time.mayHaveExpired(link, undefined, life.ended_us, life.ended_us)
          : time.mayHaveExpired(link, answeredBy, sent_us, answered_us)
      const { cacheControl = "" } = manner
      const isCached =
        manner.status === 303
          ? cacheControl !== "no-store"
          : location !== undefined && !/^private, max-age=0(, must-revalidate)?$/.test(cacheControl)
      if (isCached) found(`may be kept by caches: ${cacheControl}`)
      const said = `${manner.status}${location === undefined ? "" : ` to ${location}`}, by Vary of ${manner.vary} and ${manner.isIndexed ? "" : "not "}to be listed`
      if (status === 302) {
        const life = lifeLedBy(lives, key, location, answered_us)
        // What no link leads to is told by `UniqueBinding`.
        if (life === undefined) continue
        if (!versionsFor(life, exchange).some(({ link }) => isLedSo(link, exchange, manner, moments)))
          found(`answered ${visitor ?? "somebody"} with ${said}`)
      }
      if (status === 200 && !mayBe((link, asked) => isShownSo(link, asked, manner, moments)))
        found(`showed ${visitor ?? "somebody"} a card that it has not, with ${said}`)
      if (explained.has(manner.status) && manner.form !== (isPerson ? "page" : "json"))
        found(`answered ${visitor ?? "somebody"} ${manner.status} with ${manner.form ?? "nothing"}`)
      if (status !== 404 && status !== 410) continue
      const targets = targetsOf(domainKeyOf(key).domain)
      const isSent = isAnsweredAs(manner, {
        status: password === undefined ? 302 : 303,
        isIndexed: false,
        vary: "accept"
      })
      const life = lifeAt(lives, key, sent_us)
      const link = life && created.get(life)
      const isThere =
        life !== undefined &&
        link !== undefined &&
        link.create.answered_us! < sent_us &&
        life.freed_us > answered_us
      if (status === 404) {
        // Which link it is of depends on what else there is, and on what the node has read.
        const isOfOne = path === undefined && !key.includes("/")
        const versions = isThere ? versionsFor(life, exchange) : []
        const isPending = versions.length > 0 && versions.every(({ link }) => !isValid(link, moments))
        const right = !isPerson
          ? null
          : isPending
            ? targets.pending
            : lives.get(key) === undefined
              ? targets.unknown
              : undefined
        const may =
          isPerson &&
          isSent &&
          (location === targets.unknown ||
            (location === targets.pending &&
              mayBe(({ validSince }) => time.mayBePending({ validSince }, answeredBy, sent_us, answered_us))))
        if (location !== undefined && !may) found(`sent ${visitor ?? "somebody"} with ${said}`)
        else if (isOfOne && right !== undefined && right !== (location ?? null))
          found(`sent ${visitor ?? "somebody"} to ${location ?? "nowhere"} rather than ${right ?? "nowhere"}`)
        continue
      }
      if (location !== undefined) {
        const isRightly =
          isPerson &&
          isSent &&
          mayBe((link, _, life) => {
            const [hasExpired, isUsedUp] = [mayHaveExpired(link, life), link.maxVisits !== null]
            const own = link.extras?.expiredUrl
            if (own !== undefined) return location === own && (isUsedUp || hasExpired)
            return (location === targets.usedUp && isUsedUp) || (location === targets.expired && hasExpired)
          })
        if (!isRightly) found(`sent ${visitor ?? "somebody"} with ${said}`)
        continue
      }
      if (life === undefined || link === undefined || !isPerson) continue
      if (link.deletes > 0 || removals.mayEnd(life, answered_us)) continue
      if (mayBeBlocked(versionsFor(life, exchange), answered_us)) continue
      if (sent_us <= link.create.answered_us! || (key.includes("/") && isUnread(answeredBy, sent_us)))
        continue
      const isSentByDomain = targets.expired !== null && targets.usedUp !== null
      if (
        isSentByDomain ||
        versionsFor(life, exchange).every((version) => version.link.extras?.expiredUrl !== undefined)
      )
        found(`has ended, and did not send ${visitor} where it should`)
    }
    return violations
  }
}
