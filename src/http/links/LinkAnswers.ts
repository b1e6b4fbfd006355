import { Effect } from "effect"
import type { AliasTaken } from "../../actors/links/LinkDraft.ts"
import type { Unavailable } from "../../actors/Unavailable.ts"
import { defaultDomain, domainKeyOf } from "../../keys/QualifiedKey.ts"
import type { KnownDomains } from "../domains/Domains.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import { type Link, shownVisitsLeft } from "../../model/Link.ts"
import type * as Idempotency from "./Idempotency.ts"
import type { LinkBody } from "../contract/LinkSchemas.ts"
import * as Problem from "../exchange/Problem.ts"
import * as VisitTotals from "./VisitTotals.ts"

/** The problem of an alias that has a row. */
export const aliasTaken = (alias: string): Problem.Problem =>
  Problem.faulty("alias-taken", [{ path: "alias", message: `"${alias}" is taken` }])

/** What an actor could not do, as the client's problem; the cause stays in the log. */
export const orProblem = <A>(
  self: Effect.Effect<A, AliasTaken | Unavailable>
): Effect.Effect<A, Problem.Problem> =>
  Effect.catchTags(self, {
    AliasTaken: ({ alias }) => Effect.fail(aliasTaken(alias)),
    Unavailable: (error) => Problem.orUnavailable(error)
  })

const momentOrNull = (moment: number | null) => (moment === null ? null : Iso8601.formatMoment(moment))

/** The origins of URLs: `URL` puts one together each time it is asked. */
const origins = new WeakMap<URL, string>()

const originOf = (url: URL): string => {
  const known = origins.get(url) ?? url.origin
  origins.set(url, known)
  return known
}

/** How links are named to clients. */
export interface Naming {
  readonly baseUrl: URL
  readonly domains: Pick<KnownDomains, "hostOf">
}

/** A link's key, domain (`undefined`: the default one) and short URL, by the text under which it is stored. */
export const namesOf = (
  text: string,
  { baseUrl, domains }: Naming
): { readonly key: string; readonly domain?: string; readonly shortUrl: string } => {
  const { domain: number, key } = domainKeyOf(text)
  if (number === defaultDomain) return { key, shortUrl: `${originOf(baseUrl)}/${key}` }
  const domain = domains.hostOf(number)
  const port = baseUrl.port === "" ? "" : `:${baseUrl.port}`
  return { key, domain, shortUrl: `${baseUrl.protocol}//${domain}${port}/${key}` }
}

/** What a client gives out for a link. */
export const shortUrlOf = (text: string, naming: Naming): string => namesOf(text, naming).shortUrl

/** Where the API has a link. An alias may have slashes. */
const pathOf = ({ domain, key }: ReturnType<typeof namesOf>, { custom }: Pick<Link, "custom">): string =>
  `/api/v1/links/${custom ? encodeURIComponent(key) : key}${domain === undefined ? "" : `?domain=${domain}`}`

/** The answer to a create, as it is kept for repeats. */
export const createAnswer = (
  status: 200 | 201,
  link: Link,
  naming: Naming,
  visits: VisitTotals.VisitTotals
): Idempotency.Answer => ({
  status,
  contentType: "application/json",
  location: pathOf(namesOf(link.key, naming), link),
  body: textOf(link, naming, visits)
})

/** A text of URL or ISO 8601 characters, or `null`, in JSON. */
const quoted = (text: string | null): string => (text === null ? "null" : `"${text}"`)

const countsText = ({ bots, nonBots, total, unavailable }: VisitTotals.VisitTotals): string =>
  `{"total":${total},"nonBots":${nonBots},"bots":${bots}${unavailable === true ? `,"unavailable":true` : ""}}`

/** What follows a link's URL in {@link textOf}, up to its times. */
const describedOf = (link: Link): string =>
  `"title":${link.title === null ? "null" : JSON.stringify(link.title)},"tags":${JSON.stringify(link.tags)},`

/** What follows the times. */
const restOf = (link: Link, visits: VisitTotals.VisitTotals): string =>
  `"expiresAt":${quoted(momentOrNull(link.expiresAt))},"validSince":${quoted(momentOrNull(link.validSince))},` +
  `"maxVisits":${link.maxVisits},"redirectStatus":${link.redirectStatus},"forwardQuery":${link.forwardQuery},` +
  `"crawlable":${link.crawlable},"hasPassword":${link.passwordHash !== null},"custom":${link.custom},` +
  `${link.visitsLeft === null ? "" : `"visitsLeft":${shownVisitsLeft(link.visitsLeft)},`}"visits":${countsText(visits)}` +
  `${link.importedVisits === undefined ? "" : `,"importedVisits":${countsText(VisitTotals.importedOf(link))}`}` +
  `${link.extras === undefined ? "" : `,${JSON.stringify(link.extras).slice(1, -1)}`}}`

/** Whether two links differ in nothing that {@link describedOf} and {@link restOf} show. */
const isAlike = (one: Link, other: Link): boolean =>
  one.title === other.title &&
  (one.tags === other.tags || (one.tags.length === 0 && other.tags.length === 0)) &&
  one.expiresAt === other.expiresAt &&
  one.validSince === other.validSince &&
  one.maxVisits === other.maxVisits &&
  one.redirectStatus === other.redirectStatus &&
  one.forwardQuery === other.forwardQuery &&
  one.crawlable === other.crawlable &&
  (one.passwordHash === null) === (other.passwordHash === null) &&
  one.custom === other.custom &&
  one.visitsLeft === other.visitsLeft &&
  one.importedVisits === other.importedVisits &&
  one.extras === other.extras

/** The last result: most links of a bulk are alike, but for their times. */
let latest:
  | {
      readonly link: Link
      readonly visits: VisitTotals.VisitTotals
      readonly described: string
      readonly rest: string
    }
  | undefined

/** {@link bodyOf} in JSON. By hand, since a bulk answers a thousand: it takes a fraction of the time. */
export const textOf = (link: Link, naming: Naming, visits: VisitTotals.VisitTotals): string => {
  if (latest === undefined || latest.visits !== visits || !isAlike(latest.link, link)) {
    latest = { link, visits, described: describedOf(link), rest: restOf(link, visits) }
  }
  const { domain, key, shortUrl } = namesOf(link.key, naming)
  const inDomain = domain === undefined ? "" : `"domain":"${domain}",`
  const { createdAt, updatedAt, url } = link
  const created = Iso8601.formatMoment(createdAt)
  const updated = updatedAt === createdAt ? created : Iso8601.formatMoment(updatedAt)
  return (
    `{"key":"${key}",${inDomain}"shortUrl":"${shortUrl}","url":${JSON.stringify(url)},${latest.described}` +
    `"createdAt":"${created}","updatedAt":"${updated}",${latest.rest}`
  )
}

/** Shows a link, and how often it was visited, to clients. */
export const bodyOf = (
  link: Link,
  naming: Naming,
  visits: VisitTotals.VisitTotals
): typeof LinkBody.Type => ({
  ...namesOf(link.key, naming),
  url: link.url,
  title: link.title,
  tags: link.tags,
  createdAt: Iso8601.formatMoment(link.createdAt),
  updatedAt: Iso8601.formatMoment(link.updatedAt),
  expiresAt: momentOrNull(link.expiresAt),
  validSince: momentOrNull(link.validSince),
  maxVisits: link.maxVisits,
  redirectStatus: link.redirectStatus,
  forwardQuery: link.forwardQuery,
  crawlable: link.crawlable,
  hasPassword: link.passwordHash !== null,
  custom: link.custom,
  ...(link.visitsLeft !== null && { visitsLeft: shownVisitsLeft(link.visitsLeft) }),
  visits,
  ...(link.importedVisits !== undefined && { importedVisits: VisitTotals.importedOf(link) }),
  ...link.extras
})
