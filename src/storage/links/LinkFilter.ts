import { domainKeyOf, foldedKey } from "../../keys/QualifiedKey.ts"
import type { Link } from "../../model/Link.ts"
import { fold } from "./LinkColumns.ts"
import type { LinkQuery } from "./LinkStore.ts"

/** Whether a link is among those that a query looks at. */
export const isListed = (link: Link, { archived, owner }: LinkQuery): boolean =>
  link.deletedAt === null &&
  (owner === undefined || link.owner === owner) &&
  (archived === undefined || archived === (link.extras?.archived === true))

/** Whether a query finds a link that it looks at. */
export const isFound = (link: Link, { domain, hasCapitals, notTag, tag, text = "" }: LinkQuery): boolean =>
  (hasCapitals === undefined || (link.custom && link.key !== foldedKey(link.key))) &&
  (tag === undefined || link.tags.includes(tag)) &&
  (notTag === undefined || !link.tags.includes(notTag)) &&
  (domain === undefined || domainKeyOf(link.key).domain === domain) &&
  [domainKeyOf(link.key).key, link.url, link.title ?? ""].some((part) => fold(part).includes(fold(text)))
