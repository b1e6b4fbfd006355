import type { Domain } from "../../../model/Domain.ts"
import { changingHost } from "../../deployment/FurtherDomains.ts"
import type { Checker, Violation } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { s_us } from "../../world/Time.ts"
import { domainStates } from "../facts/domainStates.ts"

/** How long before a domain is verified its proof was seen at most. */
const seenWithin_us = 10 * s_us

/** What is read of a domain in an answer, and of a problem. */
interface DomainAnswer {
  readonly host?: string
  readonly verifiedAt?: string | null
  readonly targets?: Domain["targets"]
  readonly proof?: { readonly file: { readonly content: string } }
  readonly type?: string
}

const isAs = (domain: Domain, { host, proof, targets, verifiedAt }: DomainAnswer): boolean =>
  host === domain.host &&
  proof?.file.content === domain.token &&
  (verifiedAt === null) === (domain.verifiedAt === null) &&
  targets?.unknown === domain.targets.unknown

/**
 * What an administrator is answered about a domain is so at some moment of the request: it was added, verified, changed or removed, or was there already, was not there, or did not show its proof. None is verified that has
 * not shown its own.
 */
export const DomainRequests: Checker = {
  name: "requests about domains",
  check: ({ exchanges, journal }) => {
    const states = domainStates(journal)
    const violations: Array<Violation> = []
    const found = (at_us: number, text: string) =>
      violations.push({ checker: DomainRequests.name, at_us, text, keys: [] })

    for (const [index, { at_us, is }] of states.all.entries()) {
      const before = states.all[index - 1]?.is ?? null
      const isVerified = is !== null && is.verifiedAt !== null && before?.verifiedAt === null
      if (isVerified && !states.shownIn(at_us - seenWithin_us, at_us).includes(is.token))
        found(at_us, `${changingHost} was verified, and had not shown its proof`)
    }

    /** Whether a request was answered rightly. */
    const isRight = ({ about, answered_us, body = "", sent_us, status }: Exchange): boolean => {
      const { act, target = null } = about!
      const during = states.in(sent_us, answered_us!)
      const written = states.all.filter(({ at_us }) => at_us >= sent_us && at_us <= answered_us!)
      const isMissing = during.includes(null)
      const answer = body === "" ? {} : (JSON.parse(body) as DomainAnswer)
      if (status === 404) return act !== "add" && act !== "list" && isMissing
      switch (act) {
        case "add":
          return status === 201
            ? written.some(({ is }) => is !== null && is.verifiedAt === null && isAs(is, answer))
            : status === 409 &&
                answer.type?.endsWith("/domain-taken") === true &&
                during.some((is) => is !== null)
        case "verify":
          if (status === 200)
            return during.some((is) => is !== null && is.verifiedAt !== null && isAs(is, answer))
          return (
            status === 409 &&
            answer.type?.endsWith("/domain-not-proven") === true &&
            during.some(
              (is) =>
                is?.verifiedAt === null &&
                states.shownIn(sent_us, answered_us!).some((one) => one !== is.token)
            )
          )
        case "change":
          return (
            status === 200 &&
            written.some(({ is }) => is !== null && is.targets.unknown === target && isAs(is, answer))
          )
        case "refused":
          return status === 422 && answer.type?.endsWith("/blocked-target") === true
        case "remove":
          return status === 204 && written.some(({ is }) => is === null)
        case "list": {
          if (status !== 200) return false
          const { data } = answer as { readonly data: ReadonlyArray<DomainAnswer> }
          const listed = data.find(({ host }) => host === changingHost)
          return listed === undefined ? isMissing : during.some((is) => is !== null && isAs(is, listed))
        }
      }
    }

    for (const exchange of exchanges) {
      const { about, answered_us, answeredBy, body, kind, number, status } = exchange
      if (kind !== "domain" || answered_us === undefined || status === 0 || status >= 500) continue
      if (!isRight(exchange))
        found(
          answered_us,
          `request ${number} (${about!.act}) was answered ${status} ${body?.slice(0, 300)} by ${answeredBy}`
        )
    }
    return violations
  }
}
