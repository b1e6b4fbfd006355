import { Effect } from "effect"
import type { AliasTaken } from "../../actors/links/LinkDraft.ts"
import type { Unavailable } from "../../actors/Unavailable.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import type { Link } from "../../model/Link.ts"
import type * as Idempotency from "./Idempotency.ts"
import type { LinkBody } from "../contract/LinkSchemas.ts"
import * as Problem from "../exchange/Problem.ts"
import type * as VisitTotals from "./VisitTotals.ts"

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

/** What a client gives out for a link. */
export const shortUrlOf = (key: string, baseUrl: URL): string => `${originOf(baseUrl)}/${key}`

/** The answer to a create, as it is kept for repeats. */
export const createAnswer = (
  status: 200 | 201,
  link: Link,
  baseUrl: URL,
  visits: VisitTotals.VisitTotals
): Idempotency.Answer => ({
  status,
  contentType: "application/json",
  location: `/api/v1/links/${link.key}`,
  body: textOf(link, baseUrl, visits)
})

/** A text of URL or ISO 8601 characters, or `null`, in JSON. */
const quoted = (text: string | null): string => (text === null ? "null" : `"${text}"`)

/** {@link bodyOf} in JSON. By hand, since a bulk answers a thousand: it takes a fifth of the time. */
export const textOf = (link: Link, baseUrl: URL, visits: VisitTotals.VisitTotals): string => {
  const { createdAt, expiresAt, key, tags, title, updatedAt, url, validSince } = link
  return (
    `{"key":"${key}","shortUrl":"${shortUrlOf(key, baseUrl)}","url":${JSON.stringify(url)},` +
    `"title":${title === null ? "null" : JSON.stringify(title)},"tags":${tags.length === 0 ? "[]" : JSON.stringify(tags)},` +
    `"createdAt":"${Iso8601.formatMoment(createdAt)}","updatedAt":"${Iso8601.formatMoment(updatedAt)}",` +
    `"expiresAt":${quoted(momentOrNull(expiresAt))},"validSince":${quoted(momentOrNull(validSince))},` +
    `"maxVisits":${link.maxVisits},"redirectStatus":${link.redirectStatus},"forwardQuery":${link.forwardQuery},` +
    `"crawlable":${link.crawlable},"hasPassword":${link.passwordHash !== null},"custom":${link.custom},` +
    `"visits":{"total":${visits.total},"nonBots":${visits.nonBots},"bots":${visits.bots}}}`
  )
}

/** Shows a link, and how often it was visited, to clients. */
export const bodyOf = (link: Link, baseUrl: URL, visits: VisitTotals.VisitTotals): typeof LinkBody.Type => ({
  key: link.key,
  shortUrl: shortUrlOf(link.key, baseUrl),
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
  visits
})
