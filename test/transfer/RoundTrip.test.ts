import { expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Layer, Runtime } from "effect"
import { qualifiedKey } from "../../src/keys/QualifiedKey.ts"
import { noTargets } from "../../src/model/Domain.ts"
import { subjectOfLink } from "../../src/model/Visit.ts"
import { formatMoment } from "../../src/transfer/Moment.ts"
import { type ExportFormat, exportedLine, headOf, type ShownLink } from "../../src/transfer/Exporting.ts"
import type { NewLink } from "../../src/transfer/Fields.ts"
import { type Progress, type Rejected, type Result, run } from "../../src/transfer/Importing.ts"
import { read } from "../../src/transfer/Reading.ts"
import { jsonOf } from "../support/http/HttpClient.ts"
import { adminKey, layer, startOfTests_ms, TestService } from "../support/TestService.ts"

const moment = (min: number, max: number) =>
  fc.integer({ min, max }).map((moment_ms) => formatMoment(moment_ms))

const text = (max: number) =>
  fc
    .string({ unit: "grapheme", minLength: 1, maxLength: max })
    .map((one) =>
      Array.from(one.replaceAll(/[\p{Cc}\p{Cs}]/gu, "="))
        .slice(0, max)
        .join("")
    )
    .filter((one) => one !== "")

/** Links of every kind that a create accepts, formulas and separators among their texts. */
const newLink: fc.Arbitrary<NewLink> = fc
  .record({
    url: fc.webUrl({ withQueryParameters: true, withFragments: true }).map((url) => new URL(url).href),
    alias: fc.stringMatching(/^[A-Za-z0-9_-]{8,21}(\/[A-Za-z0-9_-]{3,20}){0,2}$/),
    title: fc.option(fc.oneof(text(40), fc.stringMatching(/^['=+@,;|"\\ -]{1,8}$/)), { nil: undefined }),
    tags: fc.uniqueArray(fc.oneof(text(20), fc.stringMatching(/^['=,;|"\\[\]-]{1,5}$/)), { maxLength: 5 }),
    createdAt: moment(0, startOfTests_ms - 1),
    late: fc.boolean(),
    expiresAt: fc.option(moment(startOfTests_ms + 1_000_000, Date.UTC(9999, 0)), { nil: undefined }),
    validSince: fc.option(moment(0, startOfTests_ms + 999_999), { nil: undefined }),
    maxVisits: fc.option(fc.integer({ min: 1, max: 1_000_000_000 }), { nil: undefined }),
    left: fc.nat(),
    redirectStatus: fc.constantFrom(301 as const, 302 as const, 307 as const, 308 as const),
    forwardQuery: fc.boolean(),
    crawlable: fc.boolean(),
    extras: fc.record(
      {
        domain: fc.constant("further.example"),
        expiredUrl: fc.webUrl({ withQueryParameters: true }).map((url) => new URL(url).href),
        forwardPath: fc.constant(true),
        queryPrecedence: fc.constantFrom("request" as const, "target" as const),
        card: fc
          .record(
            { title: text(40), description: text(60), image: fc.webUrl().map((url) => new URL(url).href) },
            { requiredKeys: [] }
          )
          .filter((card) => Object.keys(card).length > 0),
        rules: fc.array(
          fc.record({
            url: fc.webUrl().map((url) => new URL(url).href),
            when: fc.record({
              query: fc.array(fc.record({ name: text(9), value: text(9) }), { minLength: 1, maxLength: 3 }),
              from: moment(0, startOfTests_ms)
            })
          }),
          { minLength: 1, maxLength: 3 }
        ),
        variants: fc.array(
          fc.record({
            url: fc.webUrl().map((url) => new URL(url).href),
            weight: fc.integer({ min: 1, max: 1_000 })
          }),
          { minLength: 2, maxLength: 4 }
        ),
        archived: fc.boolean(),
        publicStats: fc.constant(true),
        note: fc.oneof(text(40), fc.stringMatching(/^['=+@,;|"\\ \t\r\n-]{1,8}$/))
      },
      { requiredKeys: [] }
    ),
    visits: fc.nat(1_000_000),
    bots: fc.nat(1_000_000)
  })
  .map(
    ({ bots, createdAt, expiresAt, extras, late, left, maxVisits, title, validSince, visits, ...link }) => ({
      ...link,
      ...extras,
      ...(title !== undefined && { title }),
      ...(expiresAt !== undefined && { expiresAt }),
      ...(validSince !== undefined && { validSince }),
      ...(maxVisits !== undefined && { maxVisits }),
      imported: {
        createdAt,
        ...(late && { updatedAt: formatMoment(startOfTests_ms) }),
        visits: visits + bots,
        bots,
        ...(maxVisits !== undefined && { visitsLeft: left % (maxVisits + 1) })
      }
    })
  )

const headers = { "x-api-key": adminKey, "content-type": "application/json" }

const sendBulk = (links: ReadonlyArray<NewLink>, idempotencyKey: string) =>
  Effect.flatMap(TestService, ({ send }) =>
    send({
      method: "POST",
      path: "/api/v1/links/bulk",
      headers: { ...headers, "idempotency-key": idempotencyKey },
      body: JSON.stringify({ links })
    })
  ).pipe(Effect.map((answer) => (jsonOf(answer) as { readonly results: ReadonlyArray<Result> }).results))

const getJson = (path: string) =>
  Effect.flatMap(TestService, ({ send }) => Effect.map(send({ path, headers }), jsonOf))

/** All links, the oldest first. */
const listed = Effect.gen(function* () {
  const links: Array<ShownLink> = []
  let cursor: string | null = ""
  while (cursor !== null) {
    const page = (yield* getJson(
      `/api/v1/links?archived=any&limit=77&orderBy=createdAt-asc${cursor === "" ? "" : `&cursor=${cursor}`}`
    )) as { readonly data: ReadonlyArray<ShownLink>; readonly nextCursor: string | null }
    links.push(...page.data)
    cursor = page.nextCursor
  }
  return links
})

const fileOf = (links: ReadonlyArray<ShownLink>, format: ExportFormat) =>
  headOf(format) + links.map((link) => exportedLine(link, format)).join("")

/** All that a link has, but that its key was chosen, and where its visits were counted. */
const whole = ({ importedVisits, visits, ...link }: ShownLink) => ({
  ...link,
  custom: undefined,
  visits: visits.total + (importedVisits?.total ?? 0),
  bots: visits.bots + (importedVisits?.bots ?? 0)
})

async function* inPieces(file: string) {
  for (let from = 0; from < file.length; from += 10_000) yield file.slice(from, from + 10_000)
}

/** Loads a file. */
const imported = (file: string, atOnce = 100) =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<TestService>()
    const rejected: Array<Rejected> = []
    const start: Progress = { settled: 0, made: 0, present: 0, rejected: 0, base_ms: startOfTests_ms }
    const done = yield* Effect.promise(() =>
      run(read(inPieces(file), { keepsKeys: true, cutsTitles: false }), start, {
        atOnce,
        ports: {
          send: (links, key) => Runtime.runPromise(runtime)(sendBulk(links, key)),
          urlOf: (key, domain) =>
            Runtime.runPromise(runtime)(
              getJson(
                `/api/v1/links/${encodeURIComponent(key)}${domain === undefined ? "" : `?domain=${domain}`}`
              )
            ).then((link) => (link as { readonly url?: string }).url),
          pause: async () => {},
          mayPass: () => false,
          onSettled: (_, some) => void rejected.push(...some),
          isStopped: () => false
        }
      })
    )
    return { done, rejected }
  })

const baseUrl = new URL("https://sho.rt/")

const domains = [
  {
    number: 1,
    host: "further.example",
    token: "token",
    verifiedAt: 1,
    owners: null,
    targets: noTargets,
    ignoresCase: false,
    createdAt: 1,
    updatedAt: 1
  }
]

/** An empty service, which does not outlive the effect. */
const inEmptyService = <A, E>(effect: Effect.Effect<A, E, TestService>) =>
  Effect.scoped(
    Effect.flatMap(Layer.build(Layer.fresh(layer({ baseUrl, domains }))), (service) =>
      Effect.provide(effect, service)
    )
  )

const [seed, count] = [20_261_125, 400]

it.live.each(["csv", "jsonl"] as const)(
  "what is exported as %s and imported elsewhere is exported there again, character by character",
  (format) =>
    Effect.gen(function* () {
      const links = [
        ...new Map(fc.sample(newLink, { seed, numRuns: count }).map((link) => [link.alias, link])).values()
      ]
      const before = yield* inEmptyService(
        Effect.gen(function* () {
          for (let from = 0; from < links.length; from += 100) {
            const results = yield* sendBulk(links.slice(from, from + 100), `fill ${from}`)
            expect(results.filter(({ status }) => status !== 201)).toEqual([])
          }
          // Some were visited since.
          const { visits } = yield* TestService
          yield* visits.write({
            writer: "test",
            sequence: 1,
            at: startOfTests_ms,
            hours: links.slice(0, 50).map(({ alias, domain, imported }, place) => ({
              subject: subjectOfLink({
                key: qualifiedKey({ domain: domain === undefined ? 0 : 1, key: alias! }),
                createdAt: Date.parse(imported!.createdAt!)
              }),
              hour: 400_000,
              nonBots: place,
              bots: 2 * place,
              values: []
            }))
          })
          // One without anything, with a minted key.
          yield* sendBulk([{ url: "https://example.com/" }], "bare")
          return yield* listed
        })
      )
      expect(before).toHaveLength(links.length + 1)
      const file = fileOf(before, format)
      const after = yield* inEmptyService(
        Effect.gen(function* () {
          const { done, rejected } = yield* imported(file)
          expect(rejected).toEqual([])
          expect(done).toMatchObject({ made: links.length + 1, present: 0, rejected: 0 })
          const there = yield* listed
          // The same file again, in other batches too, makes nothing.
          for (const atOnce of [100, 33]) {
            const again = yield* imported(file, atOnce)
            expect(again.done).toMatchObject({ made: 0, present: links.length + 1, rejected: 0 })
          }
          expect(yield* listed).toEqual(there)
          return there
        })
      )
      expect(after.map(whole)).toEqual(before.map(whole))
      expect(fileOf(after, format)).toBe(file)
    }),
  120_000
)

it.live("a file with faults stores nothing of the lines that have them, and names each", () =>
  inEmptyService(
    Effect.gen(function* () {
      const { stored } = yield* TestService
      const { done, rejected } = yield* imported(
        `key,shortUrl,hasPassword,url,title,expiresAt
api,,,https://example.com/,,
first,,,https://example.com/,,
first,,,https://example.com/other,,
second,,,javascript:alert(1),,
third,,,https://example.com/,${"x".repeat(257)},
fourth,,,https://example.com/,,someday
fifth,,,https://user:word@example.com/,,
over,,,https://example.com/over,,2020-01-01
`
      )
      const more =
        yield* imported(`key,shortUrl,hasPassword,url,domain,expiredUrl,forwardPath,queryPrecedence,cardDescription,cardImage,note
one-1,,,https://example.com/,nowhere.example,,,,,
two-2,,,https://example.com/,,ftp://example.com/,,,,
three-3,,,https://example.com/,,,maybe,,,
four-4,,,https://example.com/,,,,both,,
five-5,,,https://example.com/,,,,,${"x".repeat(513)},
six-6,,,https://example.com/,,,,,,image.png,
seven-7,,,https://example.com/,,,,,,,"two
lines ${"x".repeat(1_015)}"
`)
      expect(more.rejected.map(({ field, line }) => [line, field])).toEqual([
        [2, "domain"],
        [3, "expiredUrl"],
        [4, "forwardPath"],
        [5, "queryPrecedence"],
        [6, "cardDescription"],
        [7, "cardImage"],
        [8, "note"]
      ])
      expect(rejected.map(({ field, key, line }) => [line, field, key])).toEqual([
        [2, "key", "api"],
        [4, "key", "first"],
        [5, "url", "second"],
        [6, "title", "third"],
        [7, "expiresAt", "fourth"],
        [8, "url", "fifth"]
      ])
      expect(rejected.every(({ reason }) => reason !== "")).toBe(true)
      expect(done).toMatchObject({ settled: 8, made: 2, present: 0, rejected: 6 })
      expect(yield* stored).toBe(2)
    })
  )
)
