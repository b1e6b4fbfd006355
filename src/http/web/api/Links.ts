import { request } from "./Client.ts"
import type {
  Bulk,
  BulkEdit,
  BulkEdited,
  Link,
  LinkChange,
  Links,
  NewLink,
  Preview,
  StatsQuery
} from "./Types.ts"

const base = "/api/v1/links"
const query = (parameters: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "")
  return given.length === 0
    ? ""
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
}

/** By what this page names a link: its key, and in a further domain that as well. No key has an `@`. */
export const nameOf = ({ domain, key }: Pick<Link, "domain" | "key">): string =>
  domain === undefined ? key : `${key}@${domain}`

/** Where the API has something of a link, by the link's name. */
const of = (name: string, what = "", parameters: Parameters<typeof query>[0] = {}) => {
  const [key = "", domain] = name.split("@")
  return `${base}/${encodeURIComponent(key)}${what}${query({ domain, ...parameters })}`
}

/** Which links a list has, and in which order. */
export interface Filter {
  readonly q?: string
  readonly tag?: string
  /** A tag that the links do not have. */
  readonly notTag?: string
  /** Whether the links are archived, or may be. Empty: they are not. */
  readonly archived?: "" | "true" | "any"
  /** The host name of the links' domain. */
  readonly domain?: string
  readonly orderBy?: "createdAt-desc" | "createdAt-asc" | "visits-desc" | "lastVisit-desc"
}

/** A filter, and whether the links of all pages are to be counted. */
interface ListQuery extends Filter {
  readonly total?: boolean
}

/** Makes a link. */
export const create = (body: NewLink) => request<Link>("POST", base, { body })

/** Makes up to 1,000 links. A repeat with the same `idempotencyKey` makes none twice. */
export const createMany = (links: ReadonlyArray<NewLink>, idempotencyKey: string, signal: AbortSignal) =>
  request<Bulk>("POST", `${base}/bulk`, {
    body: { links },
    headers: { "idempotency-key": idempotencyKey },
    signal
  })

/** The service's time, in milliseconds since 1970, rounded down to seconds: the browser's clock may be wrong. */
export const serviceTime = async (signal: AbortSignal): Promise<number> => {
  const date = Date.parse((await fetch("/health/live", { signal })).headers.get("date") ?? "")
  return Number.isNaN(date) ? Date.now() : date
}

/** A page of links. */
export const list = (filter: ListQuery, limit: number, cursor: string | null, signal?: AbortSignal) =>
  request<Links>(
    "GET",
    base + query({ ...filter, limit, cursor: cursor ?? undefined, total: filter.total ? "true" : undefined }),
    signal ? { signal } : {}
  )

/** A link. */
export const get = (name: string, signal: AbortSignal) => request<Link>("GET", of(name), { signal })

/** Changes a link, and gives it as it is then. */
export const change = (name: string, body: LinkChange) => request<Link>("PATCH", of(name), { body })

/** What becomes of all links of a filter, and from where on. */
export type Edit = Omit<BulkEdit, "filter">

/** Changes or deletes the links of a filter, so many of them as fit into an answer. */
export const editMany = ({ archived, domain, notTag, q, tag }: Filter, edit: Edit, signal: AbortSignal) => {
  const parts = Object.entries({ q, tag, notTag, archived, domain }).filter(
    ([, part]) => part !== undefined && part !== ""
  )
  return request<BulkEdited>("POST", `${base}/bulk-edit`, {
    body: { ...edit, filter: Object.fromEntries(parts) },
    signal
  })
}

/** Deletes a link. */
export const remove = (name: string) => request("DELETE", of(name))

/** Deletes links while the page goes away: nobody waits for the answer. */
export const removeWhileLeaving = (name: string): void => {
  void fetch(of(name), { method: "DELETE", keepalive: true })
}

/** What anybody may know of a link, without a visit. The key has the characters of one. */
export const preview = (key: string, signal?: AbortSignal) =>
  request<Preview>("GET", `/${key}+`, signal ? { signal } : {})

/** Where the visits of a link, or of all links (`null`), are. */
export const statsPath = (name: string | null, asked: StatsQuery): string =>
  name === null ? `/api/v1/stats${query({ ...asked })}` : of(name, "/stats", { ...asked })
