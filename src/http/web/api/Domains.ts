import { request } from "./Client.ts"
import type { Domain, DomainChange, NewDomain, Stats } from "./Types.ts"

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

/** The visits of a domain that no link redirected, from a moment on: all of them, or those for one reason. */
export const orphans = (
  host: string,
  reason: string,
  from: string,
  interval: "hour" | "day",
  signal: AbortSignal
) =>
  request<Stats>(
    "GET",
    `${of(host)}/stats?${new URLSearchParams({ from, interval, ...(reason !== "" && { reason }) })}`,
    { signal }
  )
