import { signal } from "@preact/signals"

/** The address at which the list of links was last seen, with its filter and page. */
export const lastList = signal("/app/links")

/** The address of a link's statistics, by the link's name. */
export const statsPath = (name: string): string => `/app/links/${encodeURIComponent(name)}/stats`

/** The address of what could not be delivered to a webhook. */
export const deadLettersPath = (id: string): string => `/app/webhooks/${encodeURIComponent(id)}`

/** The id of the webhook whose dead letters are at an address. */
export const webhookIdOf = (path: string): string | undefined => /^\/app\/webhooks\/([\w-]+)$/.exec(path)?.[1]

/** The address of a domain's visits that no link redirected. */
export const domainPath = (host: string): string => `/app/domains/${encodeURIComponent(host)}`

/** The host of the domain whose lost visits are at an address. */
export const domainHostOf = (path: string): string | undefined =>
  /^\/app\/domains\/([\w.-]+)$/.exec(path)?.[1]

/** The name of the link whose statistics are at an address. */
export const statsKeyOf = (path: string): string | undefined => {
  const [, name] = /^\/app\/links\/([^/]+)\/stats$/.exec(path) ?? []
  return name === undefined ? undefined : decodeURIComponent(name)
}
