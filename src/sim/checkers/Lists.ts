import type { Checker, Violation } from "../Evidence.ts"
import type { Exchange, ListWish } from "../History.ts"
import { listings } from "./facts/listed.ts"
import { versionsIn } from "./facts/lives.ts"
import { isShownAs, visitsOf } from "./facts/shown.ts"

/** The places where a page's order is broken. */
const misplacedIn = (moments: ReadonlyArray<number>, { orderBy }: ListWish): ReadonlyArray<number> => {
  const sign = orderBy === "createdAt-asc" ? 1 : -1
  return moments.flatMap((moment, index) =>
    index > 0 && sign * (moment - moments[index - 1]!) < 0 ? [index] : []
  )
}

/**
 * A list has each link once that was there when it was asked for and stays until it is answered, and no other one; those alone that its filter has, and that are a user's own where a user asks: as they were meanwhile, in its order, with no more on a
 * page than were asked for. A number of links that is said to be exact is one that there was. What is missing from lists that are not whole, since a database did not answer, is not judged.
 */
export const Lists: Checker = {
  name: "lists",
  check: (evidence) => {
    const { exchanges, lives } = evidence
    const asked = exchanges.filter(({ kind, pages }) => kind === "list" && pages !== undefined)
    if (asked.length === 0) return []
    const listing = listings(evidence)
    const visits = visitsOf(evidence)

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
      const violation = (text: string, key?: string): Violation => ({
        checker: Lists.name,
        at_us: until_us,
        text: `the list of request ${number} ${text}, by ${answeredBy}`,
        keys: [...(key === undefined ? [] : [key]), `#${number}`]
      })
      const asking = { list: wish, apiKey, since_us, answered_us: until_us }
      const { isOf, mayHaveBeen, missing, wrongTotal } = listing(asking)
      const rows = pages.flat()
      const has = new Set<string>()
      const rowsFaults = rows.flatMap(({ key, shown }) => {
        const twice = has.has(key) ? [violation(`has ${key} twice`, key)] : []
        has.add(key)
        // Of links that were forgotten nothing is said.
        const known = lives.get(key)
        if (known === undefined) return twice
        const versions = known.filter(mayHaveBeen).flatMap((life) => versionsIn(life, since_us, until_us))
        if (!versions.some(isOf)) return [...twice, violation(`has ${key}, which does not belong to it`, key)]
        if (!versions.some((version) => isOf(version) && isShownAs(version, shown)))
          return [...twice, violation(`has ${key} as it was not meanwhile: ${JSON.stringify(shown)}`, key)]
        const happened = visits(key).happened_us.filter((at_us) => at_us <= until_us).length
        return known.length === 1 && shown.visits.total > happened
          ? [
              ...twice,
              violation(`has ${key} with ${shown.visits.total} visits, of which ${happened} happened`, key)
            ]
          : twice
      })
      const moments = rows.map(({ shown }) => Date.parse(shown.createdAt))
      const wrong = total === undefined ? undefined : wrongTotal(total)
      return [
        ...rowsFaults,
        ...(isWhole ? missing(has) : []).map(({ link: { key } }) =>
          violation(`is without ${key}, which was there`, key)
        ),
        ...misplacedIn(moments, wish).map((index) =>
          violation(`has ${rows[index]!.key} in the wrong place`, rows[index]!.key)
        ),
        ...pages
          .filter(({ length }) => length > wish.limit)
          .map(({ length }) => violation(`has a page of ${length} links, and ${wish.limit} were asked for`)),
        ...(wrong === undefined ? [] : [violation(wrong)])
      ]
    }
    return asked.flatMap(judged)
  }
}
