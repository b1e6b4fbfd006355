import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"
import { KnownDomains } from "../../../src/http/domains/Domains.ts"
import { bodyOf, textOf } from "../../../src/http/links/LinkAnswers.ts"
import type { Link } from "../../../src/model/Link.ts"
import { plainRow } from "../../support/Plain.ts"

const moment = fc.integer({ min: 0, max: Date.UTC(9999, 0) })

const domains = new KnownDomains()

const links: fc.Arbitrary<Link> = fc.record({
  createdAt: moment,
  updatedAt: moment,
  expiresAt: fc.option(moment),
  validSince: fc.option(moment),
  maxVisits: fc.option(fc.nat()),
  redirectStatus: fc.constantFrom(301, 302, 307, 308),
  forwardQuery: fc.boolean(),
  crawlable: fc.boolean(),
  passwordHash: fc.option(fc.string()),
  custom: fc.boolean(),
  owner: fc.constant(null),
  deletedAt: fc.constant(null),
  visitsLeft: fc.option(fc.nat()),
  importedVisits: fc.record({ nonBots: fc.nat(), bots: fc.nat() }),
  extras: fc.record({
    expiredUrl: fc.webUrl(),
    forwardPath: fc.constant(true as const),
    note: fc.string({ unit: "grapheme" })
  }),
  key: fc.stringMatching(/^[\w-]{1,64}(~[1-9]\d?)?$/),
  url: fc.oneof(
    fc.webUrl({ withQueryParameters: true, withFragments: true }).map((url) => new URL(url).href),
    fc.constant('https://example.com/?\\"')
  ),
  title: fc.option(fc.string({ unit: "grapheme" })),
  tags: fc.array(fc.string({ unit: "grapheme" }), { maxLength: 3 })
})

it("a link's text is its body in JSON", () => {
  const naming = { baseUrl: new URL("https://sho.rt:8443/"), domains }
  fc.assert(
    fc.property(links, fc.nat(), fc.nat(), (link, bots, nonBots) => {
      const visits = { total: bots + nonBots, nonBots, bots }
      expect(textOf(link, naming, visits)).toBe(JSON.stringify(bodyOf(link, naming, visits)))
    })
  )
})

it("a link's text is its own, also after that of one which differs in a single field", () => {
  const naming = { baseUrl: new URL("https://sho.rt/"), domains }
  const visits = { total: 0, nonBots: 0, bots: 0 }
  const fields = fc.constantFrom<keyof Link>(
    ...(Object.keys(plainRow) as ReadonlyArray<keyof Link>),
    "key",
    "url",
    "custom",
    "createdAt",
    "updatedAt",
    "importedVisits",
    "extras"
  )
  fc.assert(
    fc.property(links, links, fields, (one, other, field) => {
      textOf(one, naming, visits)
      const changed = { ...one, [field]: other[field] } as Link
      expect(textOf(changed, naming, visits)).toBe(JSON.stringify(bodyOf(changed, naming, visits)))
    }),
    { numRuns: 1_000 }
  )
})
