import { domainKeyOf } from "../../../keys/QualifiedKey.ts"
import type { Evidence } from "../../Evidence.ts"
import type { ListPages, ListWish } from "../../History.ts"
import { type Life, type Version, versionsIn } from "./lives.ts"
import { hasForgotten } from "./remembered.ts"

/** Whether a list that an owner's API key asks for, or an administrator, has a version of a link. */
export const isWanted = (
  { archived, domain, notTag, owner: named, q = "", tag }: ListWish,
  owner: string | undefined,
  { link }: Version
): boolean => {
  const { domain: number, key } = domainKeyOf(link.key)
  return (
    [owner, named].every((one) => one === undefined || link.owner === one) &&
    (archived === "any" || (link.extras?.archived === true) === (archived === "true")) &&
    (tag === undefined || link.tags.includes(tag)) &&
    (notTag === undefined || !link.tags.includes(notTag)) &&
    (domain === undefined || domain === number) &&
    [key, link.url, link.title ?? ""].some((text) => text.toLowerCase().includes(q.toLowerCase()))
  )
}

/** A request for the links of a filter, from its first page to the answer to the last: microseconds since the world's beginning. */
interface Asked {
  readonly list: ListWish
  readonly apiKey: string | undefined
  readonly since_us: number
  readonly answered_us: number
}

/** What requests for the links of filters may have, and must. */
export const listings = ({ journal, lives, userKeys }: Evidence) => {
  const all = Array.from(lives.values()).flat()
  const userOf = new Map(userKeys.map(({ secret, user }) => [secret, user]))
  const isForgotten = hasForgotten(journal)
  /** `isItsOwn`: whether a version was left by the request itself, which had the link before. */
  return (
    { answered_us, apiKey, list, since_us }: Asked,
    isItsOwn: (version: Version) => boolean = () => false
  ) => {
    const owner = apiKey === undefined ? undefined : (userOf.get(apiKey) ?? "")
    const isOf = (version: Version) => isWanted(list, owner, version)
    const must = (life: Life, end_us: number) =>
      life.bound_us < since_us &&
      life.ended_us > end_us &&
      versionsIn(life, since_us, since_us).every(isOf) &&
      versionsIn(life, since_us, end_us).every((version) => isOf(version) || isItsOwn(version))
    const mayHaveBeen = (life: Life) => life.bound_us <= answered_us && life.ended_us >= since_us
    const may = (life: Life) => mayHaveBeen(life) && versionsIn(life, since_us, answered_us).some(isOf)
    return {
      isOf,
      /** Whether a link was there at some time meanwhile; and whether it belonged to the filter then. */
      mayHaveBeen,
      may,
      /** The links that it must have, and that are not among these keys. */
      missing: (has: ReadonlySet<string>) =>
        all.filter((life) => must(life, answered_us) && !has.has(life.link.key)),
      /** What is wrong with a number of links that is said to be exact, if anything. */
      wrongTotal: ({ at_us, count }: NonNullable<ListPages["total"]>): string | undefined => {
        const least = all.filter((life) => must(life, at_us)).length
        const most = isForgotten ? count : all.filter(may).length
        return count < least || count > most
          ? `says that there are ${count} links, and there were ${least} to ${most}`
          : undefined
      }
    }
  }
}
