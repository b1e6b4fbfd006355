import type { Checker, Violation } from "../../Evidence.ts"
import { meantBy } from "../facts/attributed.ts"
import { domainsUnread } from "../facts/domainReads.ts"
import { knownOf } from "../facts/known.ts"
import { type Version, lifeLedBy } from "../facts/lives.ts"
import { leads } from "../facts/targets.ts"

const hasPassword = ({ link }: Version) => link.passwordHash !== null

/** A link leads those who give its password alone for as long as it has one, and asks for none at other times; a node may miss that this has changed as long as it may miss any change. */
export const Passwords: Checker = {
  name: "passwords of links",
  check: (evidence) => {
    const { exchanges, lives } = evidence
    const { versionsFor } = knownOf(evidence)
    const isUnread = domainsUnread(evidence)
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
      if (all === undefined) return []
      const isThere = all.some((life) => life.bound_us < exchange.sent_us && life.freed_us > answered_us)
      // Where its row came or went just then, or the node does not know that there are such aliases, the link of a shorter one asks.
      const isKnown = isThere && !isUnread(answeredBy, exchange.sent_us)
      const asking = isKnown ? [key] : meantBy({ key, path: exchange.path }).map((one) => one.key)
      const mayAsk = asking
        .flatMap((one) => lives.get(one) ?? [])
        .some((life) => versionsFor(life, exchange).some(hasPassword))
      return mayAsk ? [] : found("asked for a password, and has none")
    })
  }
}
