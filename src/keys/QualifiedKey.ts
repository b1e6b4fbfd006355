/** The domain of links that name none: all links, as long as a deployment has one domain. Numbers of further domains count up from 1. */
export const defaultDomain = 0

/**
 * What is between a key and the number of its domain. It is in no key and no alias, and means nothing elsewhere: `@` ends the key in the names of guards and in the subjects of
 * visits.
 */
const separator = "~"

/** A link's key, and the number of the domain that it belongs to. */
export interface DomainKey {
  readonly domain: number
  readonly key: string
}

/**
 * The text by which a link is stored, cached, owned and counted: in the default domain its key, in every other one the key, `~` and the domain's number, as `docs~3`. Two
 * links have the same text only where they have the same domain and the same key.
 */
export const qualifiedKey = ({ domain, key }: DomainKey): string =>
  domain === defaultDomain ? key : `${key}${separator}${domain}`

/** The key in the text of a link. */
export const plainKeyOf = (qualified: string): string => {
  const end = qualified.indexOf(separator)
  return end === -1 ? qualified : qualified.slice(0, end)
}

/** A key as it is compared where its case does not count. Keys are ASCII. */
export const foldedKey = (key: string): string => key.toLowerCase()

/** The domain and the key that {@link qualifiedKey} was given. */
export const domainKeyOf = (qualified: string): DomainKey => {
  const end = qualified.indexOf(separator)
  return end === -1
    ? { domain: defaultDomain, key: qualified }
    : { domain: Number(qualified.slice(end + 1)), key: qualified.slice(0, end) }
}
