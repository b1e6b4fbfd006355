import { expect } from "@effect/vitest"
import { Effect, FastCheck as fc, Runtime } from "effect"
import * as Iso8601 from "../../../src/model/Iso8601.ts"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem, type Kind, kindOf } from "../../support/http/Problems.ts"
import { create, get, startOfTests_ms, TestService, withService } from "../../support/TestService.ts"

/** What a create may be refused for. */
const refusals: ReadonlyArray<Kind> = [
  "invalid-request",
  "invalid-url",
  "alias-reserved",
  "alias-taken",
  "blocked-target",
  "payload-too-large"
]

const goodUrl = fc.webUrl({ withQueryParameters: true, withFragments: true, size: "medium" })
const anyUrl = fc.oneof(
  goodUrl,
  // A good one with something thrown in anywhere.
  fc.tuple(goodUrl, fc.string({ unit: "binary", maxLength: 3 }), fc.nat()).map(([url, text, at]) => {
    const index = at % (url.length + 1)
    return url.slice(0, index) + text + url.slice(index)
  }),
  fc
    .tuple(fc.constantFrom("http", "https", "ftp", "javascript"), fc.string({ unit: "grapheme" }))
    .map(([scheme, rest]) => `${scheme}://${rest}`),
  fc.tuple(goodUrl, fc.integer({ min: 1_900, max: 2_200 })).map(([url, length]) => url.padEnd(length, "ä")),
  fc.ipV6().map((address) => `http://[${address}]/`),
  fc.string({ unit: "binary" })
)

const anyAlias = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_-]{3,64}$/),
  fc.stringMatching(/^[abc]{3}$/),
  fc.constantFrom("api", "Docs", "new", "__proto__", "constructor"),
  fc.string({ maxLength: 70 })
)

const anyMoment = fc.oneof(
  fc.integer({ min: Date.parse("0001-01-01T00:00:00Z"), max: Iso8601.momentMax }).map(Iso8601.formatMoment),
  fc.integer({ min: startOfTests_ms, max: Iso8601.momentMax }).map(Iso8601.formatMoment),
  fc.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/),
  fc.string()
)

const anyDuration = fc.oneof(
  fc.stringMatching(/^P(\d{1,4}Y)?(\d{1,5}D)?(T\d{1,9}S)?$/),
  fc.stringMatching(/^P\d{1,3}[.,]\d{1,9}[YMWD]$/),
  fc.stringMatching(/^PT\d{0,3}[.,]?\d{1,20}[HMS]$/),
  fc.string()
)

/** A field's value of its kind most of the time, else anything that JSON can say. */
const mostly = (value: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: fc.jsonValue({ depthSize: "medium" }) })

const fields = {
  url: { weight: 9, arbitrary: mostly(anyUrl) },
  alias: mostly(anyAlias),
  expiresAt: mostly(anyMoment),
  expiresIn: mostly(anyDuration)
}

/** Few fields at a time, so that a good share of the bodies is valid. */
const anyFields = fc.oneof(
  { weight: 4, arbitrary: fc.record({ url: goodUrl }) },
  { weight: 4, arbitrary: fc.record({ url: fields.url.arbitrary }) },
  { weight: 2, arbitrary: fc.record({ url: goodUrl, alias: fields.alias }) },
  { weight: 2, arbitrary: fc.record({ url: goodUrl, expiresAt: fields.expiresAt }) },
  { weight: 2, arbitrary: fc.record({ url: goodUrl, expiresIn: fields.expiresIn }) },
  fc.record({ ...fields, url: fields.url.arbitrary }, { requiredKeys: [] }),
  fc.tuple(fc.record({ url: goodUrl }), fc.dictionary(fc.string(), fc.jsonValue())).map(([body, more]) => ({
    ...more,
    ...body
  }))
)

/** A body's bytes: mostly JSON of fields; else other JSON, JSON with a byte changed, or just bytes. */
const anyBody: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  { weight: 12, arbitrary: anyFields.map((body) => JSON.stringify(body)) },
  { weight: 1, arbitrary: fc.json({ depthSize: "large" }) },
  {
    weight: 2,
    arbitrary: fc.tuple(anyFields, fc.nat(), fc.nat({ max: 255 })).map(([body, at, byte]) => {
      const bytes = new TextEncoder().encode(JSON.stringify(body))
      bytes[at % bytes.length] = byte
      return bytes
    })
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) }
)

withService("whatever the body of a create is,", {}, (it) => {
  it.effect("it is answered with a link that redirects, or with a problem and nothing stored", () =>
    Effect.gen(function* () {
      const { stored } = yield* TestService
      const seen = { created: 0, refused: new Set<Kind>() }

      const holds = (body: string | Uint8Array) =>
        Effect.gen(function* () {
          const before = yield* stored
          const answer = yield* create(body)
          if (answer.status !== 201) {
            const kind = kindOf(answer)
            expect(refusals).toContain(kind)
            const { errors } = jsonOf(answer) as { errors?: ReadonlyArray<{ path: string }> }
            expectProblem(
              answer,
              kind,
              (errors ?? []).map(({ path }) => [path, /\S/] as const)
            )
            expect(yield* stored).toBe(before)
            seen.refused.add(kind)
            return
          }
          const link = jsonOf(answer) as { key: string; url: string; shortUrl: string }
          expect(yield* stored).toBe(before + 1)
          const redirect = yield* get(new URL(link.shortUrl).pathname)
          expect(redirect.status).toBe(302)
          expect(redirect.headers.location).toBe(link.url)
          // What is stored is a URL in ASCII that means the same to every client.
          expect(link.url).toMatch(/^https?:\/\/[\x21-\x7e]+$/)
          expect(new URL(link.url).href).toBe(link.url)
          seen.created++
        })

      const runtime = yield* Effect.runtime<TestService>()
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(anyBody, (body) => Runtime.runPromise(runtime)(holds(body))),
          { numRuns: 500 }
        )
      )
      // The bodies were neither all good nor all bad.
      expect(seen.created).toBeGreaterThan(50)
      expect(seen.refused.size).toBeGreaterThanOrEqual(2)
    })
  )
})
