import { request } from "./Client.ts"
import type { Domain, DomainChange, NewDomain, StatsQuery } from "./Types.ts"

const base = "/api/v1/domains"
const of = (host: string) => `${base}/${encodeURIComponent(host)}`

/** The further domains in which one may create links; for administrators all of them. */
export const list = async (signal: AbortSignal) =>
  (await request<{ readonly data: ReadonlyArray<Domain> }>("GET", base, { signal })).data

/** Adds a domain. */
export const add = (body: NewDomain) => request<Domain>("POST", base, { body })

/** Changes a domain, and gives it as it is then. */
export const change = (host: string, body: DomainChange) => request<Domain>("PATCH", of(host), { body })

/** Looks for a domain's proof now. */
export const verify = (host: string) => request<Domain>("POST", `${of(host)}/verify`)

/** Removes a domain. */
export const remove = (host: string) => request("DELETE", of(host))

/** Where the visits of a domain are that no link redirected: all of them, or those for one reason. */
export const orphansPath = (host: string, reason: string, asked: StatsQuery): string =>
  `${of(host)}/stats?${new URLSearchParams({ ...asked, ...(reason !== "" && { reason }) })}`
