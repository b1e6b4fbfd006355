import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"
import { bodyOf, textOf } from "../../../src/http/links/LinkAnswers.ts"
import type { Link } from "../../../src/model/Link.ts"

const moment = fc.integer({ min: 0, max: Date.UTC(9999, 0) })

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
  visitsLeft: fc.constant(null),
  key: fc.stringMatching(/^[\w-]{1,64}$/),
  url: fc.oneof(
    fc.webUrl({ withQueryParameters: true, withFragments: true }).map((url) => new URL(url).href),
    fc.constant('https://example.com/?\\"')
  ),
  title: fc.option(fc.string({ unit: "grapheme" })),
  tags: fc.array(fc.string({ unit: "grapheme" }), { maxLength: 3 })
})

it("a link's text is its body in JSON", () => {
  const baseUrl = new URL("https://sho.rt:8443/")
  fc.assert(
    fc.property(links, fc.nat(), fc.nat(), (link, bots, nonBots) => {
      const visits = { total: bots + nonBots, nonBots, bots }
      expect(textOf(link, baseUrl, visits)).toBe(JSON.stringify(bodyOf(link, baseUrl, visits)))
    })
  )
})
