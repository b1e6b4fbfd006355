import type { Checker, Violation } from "../Evidence.ts"
import type { Exchange, ListWish } from "../History.ts"
import { isWanted } from "./facts/listed.ts"
import { type Life, type Version, versionsIn } from "./facts/lives.ts"
import { hasForgotten } from "./facts/remembered.ts"
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
    const { exchanges, journal, lives, userKeys } = evidence
    const asked = exchanges.filter(({ kind, pages }) => kind === "list" && pages !== undefined)
    if (asked.length === 0) return []
    const all = Array.from(lives.values()).flat()
    const userOf = new Map(userKeys.map(({ secret, user }) => [secret, user]))
    const isForgotten = hasForgotten(journal)
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
      const owner = apiKey === undefined ? undefined : (userOf.get(apiKey) ?? "")
      const violation = (text: string, key?: string): Violation => ({
        checker: Lists.name,
        at_us: until_us,
        text: `the list of request ${number} ${text}, by ${answeredBy}`,
        keys: [...(key === undefined ? [] : [key]), `#${number}`]
      })
      const isOf = (version: Version) => isWanted(wish, owner, version)
      /** Whether a list that is asked for from the beginning to `end_us` must have a link; and whether it may. */
      const must = (life: Life, end_us: number) =>
        life.bound_us < since_us && life.ended_us > end_us && versionsIn(life, since_us, end_us).every(isOf)
      const mayHaveBeen = (life: Life) => life.bound_us <= until_us && life.ended_us >= since_us
      const may = (life: Life) => mayHaveBeen(life) && versionsIn(life, since_us, until_us).some(isOf)

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
      const missing = isWhole ? all.filter((life) => must(life, until_us) && !has.has(life.link.key)) : []
      const moments = rows.map(({ shown }) => Date.parse(shown.createdAt))
      const count = total?.count ?? 0
      const least = total === undefined ? 0 : all.filter((life) => must(life, total.at_us)).length
      const most = total === undefined || isForgotten ? count : all.filter(may).length
      return [
        ...rowsFaults,
        ...missing.map(({ link: { key } }) => violation(`is without ${key}, which was there`, key)),
        ...misplacedIn(moments, wish).map((index) =>
          violation(`has ${rows[index]!.key} in the wrong place`, rows[index]!.key)
        ),
        ...pages
          .filter(({ length }) => length > wish.limit)
          .map(({ length }) => violation(`has a page of ${length} links, and ${wish.limit} were asked for`)),
        ...(count < least || count > most
          ? [violation(`says that there are ${count} links, and there were ${least} to ${most}`)]
          : [])
      ]
    }
    return asked.flatMap(judged)
  }
}
