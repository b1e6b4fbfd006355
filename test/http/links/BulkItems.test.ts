import { expect, layer } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import * as TestService from "../../support/TestService.ts"

/** Values that each field may have, of which the last is refused. */
const values = {
  title: ["one", "other", ""],
  tags: [[], ["a"], ["c"], ["a", "b"], ["b", "b"], ["a", 1]],
  maxVisits: [1, 2, 0],
  redirectStatus: [301, 302, 300],
  crawlable: [true, false, "true"],
  expiresIn: ["P1D", "P2D", "P"],
  expiresAt: ["2027-01-01T00:00:00Z", "2020-01-01T00:00:00Z"],
  unknown: [1]
} as const

const names = Object.keys(values) as ReadonlyArray<keyof typeof values>

/** A change of one field: it gets a value, or is not there; and whether it is refused. */
const change = fc.constantFrom(...names, "tags" as const).chain((name) =>
  fc.constantFrom(
    { field: {}, isRefused: false },
    ...[undefined, ...values[name]].map((value, place) => ({
      field: { [name]: value },
      isRefused: place === values[name].length
    }))
  )
)

const url = fc.oneof(
  fc.webPath().map((path) => `https://example.com${path}`),
  fc.constantFrom("ftp://a", 7)
)

/** Items in a row mostly say the same but for the URL, as in a bulk; some differ in one field from those before. */
const items = fc.array(fc.tuple(change, url), { minLength: 2, maxLength: 24 }).map((changes) => {
  let latest: Record<string, unknown> = {}
  return changes.map(([{ field, isRefused }, url]) => {
    const item = { ...latest, ...field, url }
    if (!isRefused) latest = item
    return JSON.parse(JSON.stringify(item)) as unknown
  })
})

/** An answer without what differs for each link. */
const shown = (
  status: number,
  { key, shortUrl, createdAt, updatedAt, ...rest }: Record<string, unknown>
) => ({
  status,
  hasKey: typeof key === "string" && String(shortUrl).endsWith(key),
  isNew: createdAt === updatedAt,
  ...rest
})

layer(TestService.layer())("the items of a bulk", (it) => {
  it.effect("are answered as each would be by itself", () =>
    Effect.gen(function* () {
      for (const links of fc.sample(items, 100)) {
        const bulk = yield* TestService.asAdmin("POST", "/api/v1/links/bulk", { links })
        const { results } = JSON.parse(bulk.text) as {
          readonly results: ReadonlyArray<{
            readonly status: number
            readonly link?: Record<string, unknown>
            readonly problem?: Record<string, unknown>
          }>
        }
        for (const [place, body] of links.entries()) {
          const alone = yield* TestService.asAdmin("POST", "/api/v1/links", body)
          const { link, problem, status } = results[place]!
          expect(shown(status, (link ?? problem)!)).toEqual(
            shown(alone.status, JSON.parse(alone.text) as Record<string, unknown>)
          )
        }
      }
    })
  )
})
