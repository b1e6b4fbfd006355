import type { Link } from "./Link.ts"

/** The dimensions by which visits are counted, beside time: ten, and no more. A visit has at most one value of each. A dimension's number, which is stored, is its position. */
export const dimensions = [
  "referrers",
  "countries",
  "browsers",
  "os",
  "devices",
  "targets",
  "utmSources",
  "utmMediums",
  "utmCampaigns",
  "cities"
] as const
/** See {@link dimensions}. */
export type Dimension = (typeof dimensions)[number]

/** The dimensions in which most visits have no value. */
export const seldomDimensions: ReadonlySet<Dimension> = new Set([
  "targets",
  "utmSources",
  "utmMediums",
  "utmCampaigns",
  "cities"
])

/** Characters of a dimension's value at most: a host name's length (RFC 1035). */
export const valueLengthMax = 253

/** Different values of a dimension that are kept for a subject's hour or day; visits with further ones count only in the total. */
export const valuesMax = 50

/** Hours are whole numbers since the Unix epoch, in UTC. */
export const hour_ms = 3_600_000

/** The hour of a moment, in milliseconds since the Unix epoch. */
export const hourOf = (at: number): number => Math.floor(at / hour_ms)

/** Hours of a day, which begins at midnight in UTC. */
export const dayHours = 24

/** For so many days visits are kept by the hour, and by the day, whatever is set. */
export const shortestKept_days = { hours: 8, days: 366 } as const

/** Numbers of visits. */
export interface VisitCount {
  readonly nonBots: number
  readonly bots: number
  /** `true` where the database that has them does not answer, and others do: both are 0. */
  readonly isUnknown?: true
}

/**
 * What a request says of a visitor before it is classified. The addresses serve to find the country; neither they nor the texts are stored or logged.
 */
export interface VisitSource {
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  readonly userAgent: string | undefined
  readonly referrer: string | undefined
  /** The short URL's path and query, as they came. */
  readonly url: string
  /** The address of the connection's other end. */
  readonly peer: string | undefined
  /** What proxies say of where the request came from: only trusted ones are believed. */
  readonly forwardedFor: string | undefined
  readonly country: string | undefined
}

/** A visit of a link. */
export interface Visit extends VisitSource {
  readonly link: Link
  /** The rule or variant that led it, by name; `undefined` for a link that has neither. */
  readonly target: string | undefined
}

/** Why no link redirected a visitor: the names of a domain's targets. */
export const orphanReasons = ["home", "unknown", "expired", "usedUp", "pending"] as const
/** See {@link orphanReasons}. */
export type OrphanReason = (typeof orphanReasons)[number]

/** A visit of a domain that no link redirected. */
export interface OrphanVisit extends VisitSource {
  /** The domain's number. */
  readonly domain: number
  readonly reason: OrphanReason
}

/** A classified visit: its value in each dimension, in their order; `undefined` where it has none that is kept. */
export interface VisitClass {
  readonly isBot: boolean
  /** What is counted of the visitor: see `VisitorSketch`. Nothing of bots, and where visitors are not told apart. */
  readonly visitor?: number | undefined
  readonly values: ReadonlyArray<string | undefined>
}

/**
 * The subject of a link's visits. A key that is bound again has another time of creation, and so does not inherit the visits of its
 * former link; an import that says the same time waits until those visits are forgotten (`storage/visits/VisitRemovals`).
 */
export const subjectOfLink = ({ createdAt, key }: Pick<Link, "createdAt" | "key">): string =>
  `${key}@${createdAt.toString(36)}`

/** The link of such a subject. */
export const linkOfSubject = (subject: string): Pick<Link, "createdAt" | "key"> => {
  const [key, createdAt] = subject.split("@")
  return { key: key!, createdAt: Number.parseInt(createdAt!, 36) }
}

/** The subject of the visits of all links of an owner: no user id has an `@`. */
export const subjectOfOwner = (owner: string): string => owner

/** The subject of a domain's orphan visits: of all, or of those for one reason. No user id has a `:`. */
export const subjectOfOrphans = (domain: number, reason?: OrphanReason): string =>
  reason === undefined ? `orphans:${domain}` : `orphans:${domain}:${reason}`

/** Whether the counts of a subject are those of single visits, so that all such subjects together have each visit once. */
export const isVisitSubject = (subject: string): boolean =>
  isLinkSubject(subject) || /^orphans:\d+:/.test(subject)

/** Whether a subject is one link. */
export const isLinkSubject = (subject: string): boolean => subject.includes("@")
