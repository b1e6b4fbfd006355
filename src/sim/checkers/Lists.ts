import type { Checker, Violation } from "../Evidence.ts"
import { type Life, type Version, versionsIn } from "./facts/lives.ts"

/**
 * A list has each link once that was there when it was asked for and stays until it is answered, and no other one; archived links are in those alone that ask for them, and those of a tag have no others. Lists that are
 * not whole, since a database did not answer, are not judged.
 */
export const Lists: Checker = {
  name: "lists",
  check: ({ exchanges, lives }) => {
    const all = Array.from(lives.values()).flat()
    return exchanges.flatMap((exchange) => {
      const { answered_us, answeredBy, archived, kind, listed, number, since_us: sent_us, tag } = exchange
      if (sent_us === undefined || kind !== "list" || listed === undefined || answered_us === undefined)
        return []
      const violation = (key: string, text: string): Violation => ({
        checker: Lists.name,
        at_us: answered_us,
        text: `the list of request ${number} ${text}, by ${answeredBy}`,
        keys: [key, `#${number}`]
      })
      const isWanted = ({ link }: Version) =>
        (archived === "any" || (link.extras?.archived === true) === (archived === "true")) &&
        (tag === undefined || link.tags.includes(tag))
      /** What a link was like meanwhile. */
      const versionsOf = (life: Life) => versionsIn(life, sent_us, answered_us)
      const has = new Set(listed)
      const wasThere = (life: Life) => life.bound_us < sent_us && life.ended_us > answered_us
      const mayHaveBeen = (life: Life) => life.bound_us <= answered_us && life.ended_us >= sent_us
      const missing = all.filter(
        (life) => wasThere(life) && !has.has(life.link.key) && versionsOf(life).every(isWanted)
      )
      const twice = listed.filter((key, index) => listed.indexOf(key) !== index)
      // Of links that were forgotten nothing is said.
      const wrong = [...has].filter(
        (key) =>
          lives.get(key)?.some((life) => mayHaveBeen(life) && versionsOf(life).some(isWanted)) === false
      )
      return [
        ...missing.map(({ link: { key } }) => violation(key, `is without ${key}, which was there`)),
        ...twice.map((key) => violation(key, `has ${key} twice`)),
        ...wrong.map((key) => violation(key, `has ${key}, which does not belong to it`))
      ]
    })
  }
}
