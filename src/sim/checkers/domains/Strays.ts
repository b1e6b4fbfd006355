import { changingHost, hostOf, domainNumbers, ownHost, targetsOf } from "../../deployment/FurtherDomains.ts"
import type { Checker, Evidence } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { keptFromReading, knownWithin_us } from "../facts/domainReads.ts"

/** Hosts that may have a certificate as long as the service runs. */
const served: ReadonlySet<string> = new Set([ownHost, ...domainNumbers.map(hostOf)])

/** What programs ask for gets no page. */
const ofPrograms = /^\/(?:api\/|metrics|openapi\.json)/

/** Whether a host may have had a certificate at some moment by which a node may have answered, and whether it may have had none. */
const certificatesOf = ({ domainChanges, journal }: Evidence) => {
  const isKept = keptFromReading({ journal })
  return ({ answered_us, answeredBy, sent_us, stray }: Exchange): ReadonlyArray<boolean> => {
    const { host } = stray!
    if (host !== changingHost) return [served.has(host)]
    if (isKept(answeredBy!, sent_us)) return [true, false]
    const before = domainChanges.findLast(({ at_us }) => at_us <= sent_us - knownWithin_us)
    const since = domainChanges.filter(
      ({ at_us }) => at_us > sent_us - knownWithin_us && at_us <= answered_us!
    )
    return [before?.isServed === true, ...since.map(({ isServed }) => isServed)]
  }
}

/** Browsers are sent from a domain's home page, and from where nothing is, to its targets for these, where it has some, and from nowhere else; and of a certificate a reverse proxy is told that it may get one for the service's own host and verified domains alone. */
export const Strays: Checker = {
  name: "strays",
  check: (evidence) => {
    const certificatesFor = certificatesOf(evidence)
    return evidence.exchanges.flatMap((exchange) => {
      const { answered_us, answeredBy, kind, location, number, status, stray } = exchange
      if (kind !== "stray" || answered_us === undefined || status === 0 || status >= 500) return []
      const { host, isBrowser, url } = stray!
      const { home, unknown } = targetsOf(host)
      const elsewhere = /^\/(\?|$)/.test(url) ? home : unknown
      const target = isBrowser && !ofPrograms.test(url) ? elsewhere : null
      const isRight = url.startsWith("/health/")
        ? certificatesFor(exchange).some((may) => status === (may ? 200 : 404))
        : target === null
          ? status === 404 && location === undefined
          : status === 302 && location === target
      if (isRight) return []
      const text = `${url} at ${host} was answered ${status} ${location ?? ""} to ${isBrowser ? "a browser" : "a program"} (request ${number}), by ${answeredBy}`
      return [{ checker: Strays.name, at_us: answered_us, text, keys: [`#${number}`] }]
    })
  }
}
