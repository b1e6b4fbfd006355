import type { Scope } from "../../../accounts/Access.ts"
import { defaultDomain } from "../../../keys/QualifiedKey.ts"
import { domainNumbers, hostOf, mayCreateIn } from "../../deployment/FurtherDomains.ts"
import { administrator, allows } from "../../deployment/Users.ts"
import type { Checker } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { answersOf } from "../facts/answers.ts"
import { domainsUnread } from "../facts/domainReads.ts"
import type { Life } from "../facts/lives.ts"
import { sendersOf } from "../facts/senders.ts"

/** What is needed for what is asked for. Of webhooks it depends on their events, which `OwnWebhooks` tells. */
const neededFor: Readonly<Partial<Record<Exchange["kind"], ReadonlyArray<Scope>>>> = {
  create: ["links:write"],
  show: ["links:read"],
  list: ["links:read"],
  change: ["links:write"],
  delete: ["links:write"],
  edit: ["links:read", "links:write"],
  statistics: ["stats:read"]
}

/** What is wrong with the hosts of a list of a user's domains: it has those in which they may create links, and of an administrator all. */
const wronglyListed = (user: string | undefined, listed: ReadonlyArray<string>): ReadonlyArray<string> =>
  domainNumbers.slice(1).flatMap((number) => {
    const isListed = listed.includes(hostOf(number))
    const isRight = isListed === (user === administrator || mayCreateIn(number, user))
    return isRight ? [] : [`${isListed ? "have" : "are without"} ${hostOf(number)}`]
  })

/** Answers that tell nothing of what somebody may: none came, there were too many requests, nobody could answer, or who asked is not known any more, which others judge. */
const isOpen = ({ refusedWith, status }: Exchange): boolean =>
  status === 0 || status === 429 || status >= 500 || (status === 401 && refusedWith !== 401)

/**
 * An API key may do what its scopes say, and nothing else. It finds the links of its user, and none of others. A domain that has owners is in their lists, and they alone create links there. What somebody may not ask for is refused, whoever it is: strangers, API keys,
 * users who are no administrators, and other sites in a user's session.
 */
export const Permissions: Checker = {
  name: "permissions",
  check: (evidence) => {
    const { exchanges, lives } = evidence
    const { isThere } = answersOf(evidence)
    const isUnread = domainsUnread(evidence)
    const senderOf = sendersOf(evidence)
    return exchanges.flatMap((exchange) => {
      const {
        answered_us,
        answeredBy,
        asked,
        domain = defaultDomain,
        key: text,
        kind,
        number,
        refusedWith,
        sent_us,
        status
      } = exchange
      if (answered_us === undefined || isOpen(exchange)) return []
      const violation = (what: string) => [
        {
          checker: Permissions.name,
          at_us: answered_us,
          text: `${what} (request ${number}), by ${answeredBy}`,
          keys: [...(text === undefined ? [] : [text]), `#${number}`]
        }
      ]
      const { key, user } = senderOf(exchange)
      if (refusedWith !== undefined)
        return status === refusedWith
          ? []
          : violation(
              `${key?.id ?? user ?? "somebody"} was answered ${status} rather than ${refusedWith} to ${asked}`
            )
      if (kind === "domains" && exchange.listed !== undefined)
        return wronglyListed(user, exchange.listed).flatMap((what) =>
          violation(`the domains of ${user} ${what}`)
        )
      const isAllowedIn = mayCreateIn(domain, user)
      if (kind === "create" && status < 300 && !isAllowedIn)
        return violation(`${user ?? "somebody"} created a link in domain ${domain}, which is others' alone`)
      const needed = neededFor[kind]
      if (key === undefined || needed === undefined) return []
      const mayDo = allows(key, needed)
      if (status === 403 && mayDo && isAllowedIn)
        return violation(`${key.id} was forbidden a ${kind}, and may`)
      // Some links have statistics that anybody may read.
      const mayBeAnybodys = kind === "statistics" && text !== undefined
      if (status !== 403 && !mayDo && !mayBeAnybodys)
        return violation(`${key.id} was answered ${status} to a ${kind}, and may not`)
      if ((kind !== "change" && kind !== "delete") || text === undefined) return []
      const all = lives.get(text)
      if (all === undefined) return []
      const own = all.filter(({ link }: Life) => link.owner === user)
      if (status < 300 && own.length === 0)
        return violation(`${text} was ${kind}d by ${key.id}, whose user's it is not`)
      const mayBeElsewhere = text.includes("/") && isUnread(answeredBy, sent_us)
      return status === 404 && isThere(own, exchange) && !mayBeElsewhere
        ? violation(`${text} was not found by ${key.id}, whose user's it is`)
        : []
    })
  }
}
