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
      const { answered_us, answeredBy, key, kind, location, number, password, status } = exchange
      if (kind !== "redirect" || key === undefined || answered_us === undefined) return []
      const found = (text: string) => [
        {
          checker: Passwords.name,
          at_us: answered_us,
          text: `${key} ${text} (request ${number}), by ${answeredBy}`,
          keys: [key]
        }
      ]
      const isOf = ({ link }: Version) => link.passwordHash === password
      if (status === 302) {
        const life = lifeLedBy(lives, key, location, answered_us)
        if (life === undefined) return []
        const versions = versionsFor(life, exchange).filter(({ link }) => leads(link, exchange))
        return versions.length > 0 && versions.every((version) => hasPassword(version) && !isOf(version))
          ? found(`led somebody ${password === undefined ? "without its" : "with a wrong"} password`)
          : []
      }
      if (status !== 401) return []
      const all = lives.get(key)
      if (all === undefined) return []
      const isThere = all.some((life) => life.bound_us < exchange.sent_us && life.freed_us > answered_us)
      // Where its row came or went just then, or the node does not know that there are such aliases, the link of a shorter one asks.
      const isKnown = isThere && !isUnread(answeredBy, exchange.sent_us)
      const asking = isKnown ? [key] : meantBy({ key, path: exchange.path }).map((one) => one.key)
      const versions = asking
        .flatMap((one) => lives.get(one) ?? [])
        .flatMap((life) => versionsFor(life, exchange))
      if (!versions.some(hasPassword)) return found("asked for a password, and has none")
      return versions.some((version) => hasPassword(version) && !isOf(version))
        ? []
        : found("refused its password")
    })
  }
}
