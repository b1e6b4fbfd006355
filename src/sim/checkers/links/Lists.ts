import type { Checker, Violation } from "../../Evidence.ts"
import type { Exchange, ListWish } from "../../History.ts"
import { isRanked } from "../../../storage/links/LinkStore.ts"
import { listings } from "../facts/listed.ts"
import { hasForgotten } from "../facts/remembered.ts"
import { ranksOf, unranked } from "../facts/ranks.ts"
import { versionsIn } from "../facts/lives.ts"
import { isShownAs, wrongTotalsOf } from "../facts/shown.ts"

/** A link's place in a list: when it was created, and the least and the most that its rank may have been meanwhile. */
interface Place {
  readonly createdAt: number
  readonly least: number
  readonly most: number
}

/** Whether a link may come before another one. */
const mayPrecede = (one: Place, other: Place, { orderBy }: ListWish): boolean => {
  if (one.most !== other.least) return one.most > other.least
  return orderBy === "createdAt-asc" ? one.createdAt <= other.createdAt : one.createdAt >= other.createdAt
}

/**
 * A list has each link once that was there when it was asked for and stays until it is answered, and no other one; those alone that its filter has, and that are a user's own where a user asks: as they were meanwhile, in its order, with no more on a
 * page than were asked for. In an order by visits a link that is ranked meanwhile may be missing from several pages; each link that was visited gets its rank. A number of links that is said to be exact is one that there was. What is missing from lists that are not whole, since a database did not answer, is not judged.
 */
export const Lists: Checker = {
  name: "lists",
  check: (evidence) => {
    const { exchanges, lives } = evidence
    const asked = exchanges.filter(({ kind, pages }) => kind === "list" && pages !== undefined)
    const withoutRank = unranked(evidence).map(({ link: { key } }) => ({
      checker: Lists.name,
      at_us: evidence.end_us,
      text: `${key} was visited, and no list by visits knows that`,
      keys: [key]
    }))
    if (asked.length === 0) return withoutRank
    const listing = listings(evidence)
    const wrongVisits = wrongTotalsOf(evidence)
    const ranks = ranksOf(evidence)
    const isForgotten = hasForgotten(evidence.journal)

    const judged = ({
      answered_us: until_us,
      answeredBy,
      apiKey,
      list: wish,
      number,
      pages: answer,
      since_us
    }: Exchange): ReadonlyArray<Violation> => {
      if (until_us === undefined || since_us === undefined || wish === undefined || answer === undefined)
        return []
      const { isWhole, pages, total } = answer
      const asked_us = { sent_us: since_us, answered_us: until_us }
      const violation = (text: string, key?: string): Violation => ({
        checker: Lists.name,
        at_us: until_us,
        text: `the list of request ${number} ${text}, by ${answeredBy}`,
        keys: [...(key === undefined ? [] : [key]), `#${number}`]
      })
      const asking = { list: wish, apiKey, since_us, answered_us: until_us }
      const { isOf, mayHaveBeen, missing, wrongTotal } = listing(asking)
      const rows = pages.flat()
      const has = new Set(rows.map(({ key }) => key))
      /** A key whose link has ended meanwhile can be another link's on a later page. */
      const links = new Set<string>()
      const rowsFaults = rows.flatMap(({ key, shown }) => {
        const link = `${key} ${shown.createdAt}`
        const known = lives.get(key)
        const may = known?.filter(mayHaveBeen) ?? []
        const alike = may.filter((life) => life.link.createdAt === Date.parse(shown.createdAt))
        const twice = links.has(link) && alike.length < 2 ? [violation(`has ${key} twice`, key)] : []
        links.add(link)
        // Of links that were forgotten nothing is said.
        if (known === undefined) return twice
        const versions = may.flatMap((life) => versionsIn(life, since_us, until_us))
        if (!versions.some(isOf)) return [...twice, violation(`has ${key}, which does not belong to it`, key)]
        if (!versions.some((version) => isOf(version) && isShownAs(version, shown)))
          return [...twice, violation(`has ${key} as it was not meanwhile: ${JSON.stringify(shown)}`, key)]
        const wrong = wrongVisits(known, may, asked_us, shown.visits)
        return wrong === undefined ? twice : [...twice, violation(`has ${key}, which ${wrong}`, key)]
      })
      const { orderBy } = wish
      // What a standby has not been given has no rank there.
      const isUnknown = isRanked(orderBy) && isForgotten
      const rankOf = (link: Parameters<typeof ranks>[0]) =>
        isRanked(orderBy) ? ranks(link, orderBy, since_us, until_us) : { least: 0, most: 0 }
      const places = rows.map(({ key, shown }): Place => {
        const createdAt = Date.parse(shown.createdAt)
        return { createdAt, ...rankOf({ key, createdAt }) }
      })
      const isMoved = (link: Parameters<typeof ranks>[0]) => {
        const { least, most } = rankOf(link)
        return pages.length > 1 && (isUnknown || least !== most)
      }
      const wrong = total === undefined ? undefined : wrongTotal(total)
      return [
        ...rowsFaults,
        ...(isWhole ? missing(has) : [])
          .filter(({ link }) => !isMoved(link))
          .map(({ link: { key } }) => violation(`is without ${key}, which was there`, key)),
        ...(isUnknown ? [] : places).flatMap((place, index) =>
          index === 0 || mayPrecede(places[index - 1]!, place, wish)
            ? []
            : [violation(`has ${rows[index]!.key} in the wrong place`, rows[index]!.key)]
        ),
        ...pages
          .filter(({ length }) => length > wish.limit)
          .map(({ length }) => violation(`has a page of ${length} links, and ${wish.limit} were asked for`)),
        ...(wrong === undefined ? [] : [violation(wrong)])
      ]
    }
    return [...asked.flatMap(judged), ...withoutRank]
  }
}
