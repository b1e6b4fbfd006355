import type { Checker, Violation } from "../Evidence.ts"
import { knownOf } from "./facts/known.ts"
import { type Version, lifeLedBy } from "./facts/lives.ts"
import { leads } from "./facts/targets.ts"

const hasPassword = ({ link }: Version) => link.passwordHash !== null

/** A link leads those who give its password alone for as long as it has one, and asks for none at other times; a node may miss that this has changed as long as it may miss any change. */
export const Passwords: Checker = {
  name: "passwords of links",
  check: (evidence) => {
    const { exchanges, lives } = evidence
    const { versionsFor } = knownOf(evidence)
    return exchanges.flatMap((exchange): ReadonlyArray<Violation> => {
      const { answered_us, answeredBy, isRight, key, kind, location, number, status } = exchange
      if (kind !== "redirect" || key === undefined || answered_us === undefined) return []
      const found = (text: string) => [
        {
          checker: Passwords.name,
          at_us: answered_us,
          text: `${key} ${text} (request ${number}), by ${answeredBy}`,
          keys: [key]
        }
      ]
      if (status === 302) {
        const life = lifeLedBy(lives, key, location, answered_us)
        if (isRight === true || life === undefined) return []
        const versions = versionsFor(life, exchange).filter(({ link }) => leads(link, exchange))
        return versions.length > 0 && versions.every(hasPassword)
          ? found(`led somebody ${isRight === undefined ? "without its" : "with a wrong"} password`)
          : []
      }
      if (status !== 401) return []
      if (isRight === true) return found("refused its password")
      const all = lives.get(key)
      return all === undefined || all.some((life) => versionsFor(life, exchange).some(hasPassword))
        ? []
        : found("asked for a password, and has none")
    })
  }
}
