import { Clock, Duration, Effect } from "effect"
import { Links } from "../../actors/links/Links.ts"
import * as FreshCache from "../../fibers/FreshCache.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import * as Domains from "../domains/Domains.ts"
import { defaultDomain, domainKeyOf } from "../../keys/QualifiedKey.ts"
import { flatten } from "../exchange/Answer.ts"
import { orProblem } from "../links/LinkAnswers.ts"

/**
 * Links that crawlers are shown at most, the newest ones: with keys of 64 characters they make 365 KB, and crawlers read no more than 500 KiB for
 * certain (RFC 9309, section 2.5).
 */
const crawlableMax = 5_000

/** How long a node caches what it has read. */
export const keepFor = Duration.minutes(1)

const headers = {
  "content-type": "text/plain; charset=utf-8",
  "cache-control": `public, max-age=${Duration.toSeconds(keepFor)}`
}

/** The longest rule wins (RFC 9309, section 2.2.2), so that nothing may be crawled but these. */
const robotsOf = (keys: ReadonlyArray<string>): string =>
  ["User-agent: *", ...keys.map((key) => `Allow: /${key}$`), "Disallow: /", ""].join("\n")

/** Tells crawlers which links are for them. */
export const make = Effect.gen(function* () {
  const links = yield* Links
  const domainOf = yield* Domains.numberOf
  const read = Effect.gen(function* () {
    const at = yield* Clock.currentTimeMillis
    const found = yield* orProblem(links.crawlable({ at, limit: crawlableMax }))
    const byDomain = new Map<number, Array<string>>()
    for (const { domain, key } of found.map(domainKeyOf)) {
      const keys = byDomain.get(domain)
      if (keys === undefined) byDomain.set(domain, [key])
      else keys.push(key)
    }
    return byDomain
  })
  const lists = yield* FreshCache.make({ max: 1, freshFor: keepFor, read: () => read })
  return {
    robots: (request) =>
      Effect.map(lists.get("crawlable"), (byDomain) => {
        const keys = byDomain.get(domainOf(request) ?? defaultDomain) ?? []
        return { status: 200, headers: flatten(headers), body: robotsOf(keys) }
      })
  } satisfies OperationsOf<"robots">
})
