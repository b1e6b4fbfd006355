import { chosenAs, choiceNames, choiceOf, isSameChoice } from "../../clients/Choices.ts"
import type { Checker, Violation } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { listings } from "../facts/listed.ts"
import { lifeLeftBy, versionLeftBy } from "../facts/lives.ts"

/**
 * A bulk edit that was followed to its last page has a result for each link that its filter had from its first request to its last answer, and for none twice; what it says that it changed is changed so, tags among it, and nothing else of it, what it says that it deleted ended meanwhile, and both had
 * belonged to the filter, and to the user who asked. A number of links that is said to be exact is one that there was.
 */
export const BulkEdits: Checker = {
  name: "bulk edits",
  check: (evidence) => {
    const { exchanges, lives } = evidence
    const listing = listings(evidence)
    const judged = (exchange: Exchange): ReadonlyArray<Violation> => {
      const { answered_us, answeredBy, apiKey, choices, edit, edited = [], list, number, pages } = exchange
      const { sent_us, since_us = sent_us } = exchange
      if (answered_us === undefined || list === undefined || edit === undefined) return []
      const violation = (text: string, key?: string): Violation => ({
        checker: BulkEdits.name,
        at_us: answered_us,
        text: `the bulk edit that ended with request ${number} ${text}, by ${answeredBy}`,
        keys: [...(key === undefined ? [] : [key]), `#${number}`]
      })
      const { isOf, may, missing, wrongTotal } = listing(
        { list, apiKey, since_us, answered_us },
        ({ link }) => choices !== undefined && link.title === choices.title
      )
      if (pages?.total !== undefined) {
        const wrong = wrongTotal(pages.total)
        return wrong === undefined ? [] : [violation(wrong)]
      }
      if (exchange.edited === undefined) return []
      const keys = edited.map(({ key }) => key)
      const twice = keys.filter((key, index) => keys.indexOf(key) !== index)
      const changed = edited.flatMap(({ isChanged, key, status }) => {
        // Forgotten links are not judged.
        const known = lives.get(key)
        if (known === undefined) return []
        if (status === 204)
          return known.some((life) => may(life) && life.ended_us <= answered_us)
            ? []
            : [
                violation(
                  `says that it has deleted ${key}, which did not end then, or does not belong to it`,
                  key
                )
              ]
        if (status !== 200) return []
        const life = lifeLeftBy(lives, key, exchange)
        if (life === undefined)
          return [
            violation(`says that it has changed ${key}, or that nothing was to be changed, and did not`, key)
          ]
        const index = versionLeftBy(life, exchange)
        const before = life.versions[index - 1]
        if (!isChanged || before === undefined) return []
        const { link } = life.versions[index]!
        const { tags } = link
        const { addTags = [], removeTags = [] } = edit
        const wrong =
          removeTags.some((tag) => tags.includes(tag) && !addTags.includes(tag)) ||
          addTags.some((tag) => !tags.includes(tag)) ||
          before.link.tags.some((tag) => !tags.includes(tag) && !removeTags.includes(tag))
        const other = choiceNames.find((name) => {
          if (name === "tags") return false
          const chosen = choices ?? {}
          const wanted = name in chosen ? chosenAs(name, chosen[name]) : choiceOf(before.link, name)
          return !isSameChoice(choiceOf(link, name), wanted)
        })
        return [
          ...(other === undefined
            ? []
            : [
                violation(
                  `has changed ${key}, whose ${other} is ${JSON.stringify(choiceOf(link, other))}, and was ${JSON.stringify(choiceOf(before.link, other))}`,
                  key
                )
              ]),
          ...(wrong ? [violation(`has changed ${key}, and its tags are ${tags.join(", ")}`, key)] : []),
          ...(isOf(before) ? [] : [violation(`has changed ${key}, which did not belong to it`, key)])
        ]
      })
      return [
        ...missing(new Set(keys)).map(({ link: { key } }) => violation(`has no result for ${key}`, key)),
        ...twice.map((key) => violation(`has two results for ${key}`, key)),
        ...changed
      ]
    }
    return exchanges.filter(({ kind }) => kind === "edit").flatMap(judged)
  }
}
