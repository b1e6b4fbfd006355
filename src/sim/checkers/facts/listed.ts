import { domainKeyOf } from "../../../keys/QualifiedKey.ts"
import type { ListWish } from "../../History.ts"
import type { Version } from "./lives.ts"

/** Whether a list that an owner's API key asks for, or an administrator, has a version of a link. */
export const isWanted = (
  { archived, domain, notTag, q = "", tag }: ListWish,
  owner: string | undefined,
  { link }: Version
): boolean => {
  const { domain: number, key } = domainKeyOf(link.key)
  return (
    (owner === undefined || link.owner === owner) &&
    (archived === "any" || (link.extras?.archived === true) === (archived === "true")) &&
    (tag === undefined || link.tags.includes(tag)) &&
    (notTag === undefined || !link.tags.includes(notTag)) &&
    (domain === undefined || domain === number) &&
    [key, link.url, link.title ?? ""].some((text) => text.toLowerCase().includes(q.toLowerCase()))
  )
}
