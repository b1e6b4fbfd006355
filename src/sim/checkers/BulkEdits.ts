import type { Checker, Violation } from "../Evidence.ts"
import { type Life, lifeLeftBy, versionLeftBy, versionsIn } from "./facts/lives.ts"

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
      const keys = edited.map(({ key }) => key)
      const has = new Set(keys)
      const isListed = (life: Life) =>
        life.bound_us < since_us &&
        life.ended_us > answered_us &&
        versionsIn(life, since_us, answered_us).every(({ link }) => link.extras?.archived !== true)
      const missing = all.filter((life) => isListed(life) && !has.has(life.link.key))
      const twice = keys.filter((key, index) => keys.indexOf(key) !== index)
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
        ...twice.map((key) => violation(key, `has two results for ${key}`)),
        ...changed
      ]
    })
  }
}
