import type { Checker, Violation } from "../Evidence.ts"
import { type Life, lifeLeftBy, versionLeftBy } from "./facts/lives.ts"

/**
 * A bulk edit that was followed to its last page has a result for each link that was in lists from its first request to its last answer, and for none twice; what it says that it changed is changed so, and a link that was archived meanwhile is not.
 */
export const BulkEdits: Checker = {
  name: "bulk edits",
  check: ({ exchanges, lives }) => {
    const all = Array.from(lives.values()).flat()
    return exchanges.flatMap((exchange) => {
      const { answered_us, answeredBy, edited, number, sent_us, since_us = sent_us } = exchange
      if (edited === undefined || answered_us === undefined) return []
      const violation = (key: string, text: string): Violation => ({
        checker: BulkEdits.name,
        at_us: answered_us,
        text: `the bulk edit that ended with request ${number} ${text}, by ${answeredBy}`,
        keys: [key, `#${number}`]
      })
      const has = new Set(edited.map(({ key }) => key))
      const isListed = ({ bound_us, ended_us, versions }: Life) =>
        bound_us < since_us &&
        ended_us > answered_us &&
        versions.every(
          ({ link, since_us: from_us }, index) =>
            link.extras?.archived !== true ||
            from_us > answered_us ||
            (versions[index + 1]?.since_us ?? answered_us) < since_us
        )
      const missing = all.filter((life) => isListed(life) && !has.has(life.link.key))
      const seen = new Set<string>()
      const twice = edited.filter(({ key }) => seen.size === seen.add(key).size)
      const changed = edited.flatMap(({ isChanged, key, status }) => {
        // Forgotten links are not judged.
        if (status !== 200 || !lives.has(key)) return []
        const life = lifeLeftBy(lives, key, exchange)
        if (life === undefined)
          return [
            violation(key, `says that it has changed ${key}, or that nothing was to be changed, and did not`)
          ]
        const index = versionLeftBy(life, exchange)
        return isChanged && life.versions[index - 1]?.link.extras?.archived === true
          ? [violation(key, `has changed ${key}, which was archived`)]
          : []
      })
      return [
        ...missing.map(({ link: { key } }) => violation(key, `has no result for ${key}`)),
        ...twice.map(({ key }) => violation(key, `has two results for ${key}`)),
        ...changed
      ]
    })
  }
}
