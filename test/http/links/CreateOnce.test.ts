import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { jsonOf, keyOf } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import {
  asAdmin,
  create,
  get,
  startOfTests_ms,
  TestService,
  userKeys,
  withKey,
  withService
} from "../../support/TestService.ts"

const url = "https://example.com/once"

const once = (key: string, body: unknown, headers: Record<string, string> = {}) =>
  create(body, { "idempotency-key": key, ...headers })

withService("a create with an Idempotency-Key", {}, (it) => {
  it.effect("gives a repeat the first answer again, byte for byte, and makes no second link", () =>
    Effect.gen(function* () {
      const service = yield* TestService
      const before = yield* service.stored
      const first = yield* once("a", { url, title: "one" })
      expect(first.status).toBe(201)
      expect(first.headers["idempotency-replayed"]).toBeUndefined()
      // The link has changed since: the first answer has not.
      yield* asAdmin("PATCH", `/api/v1/links/${keyOf(first)}`, { title: "two" })
      const second = yield* once("a", { url, title: "one" })
      expect([second.status, second.text]).toEqual([201, first.text])
      expect(second.headers).toMatchObject({
        location: first.headers.location,
        "content-type": "application/json",
        "idempotency-replayed": "true"
      })
      expect(yield* service.stored).toBe(before + 1)
    })
  )

  it.effect("answers another body with 422, and stores nothing", () =>
    Effect.gen(function* () {
      const service = yield* TestService
      yield* once("b", { url })
      const before = yield* service.stored
      expectProblem(yield* once("b", { url: `${url}/other` }), "idempotency-mismatch")
      expect(yield* service.stored).toBe(before)
    })
  )

  it.effect("makes one link of many at once; the others are told to wait, or get its answer", () =>
    Effect.gen(function* () {
      const service = yield* TestService
      const before = yield* service.stored
      const answers = yield* Effect.replicateEffect(once("c", { url }), 40).pipe(
        Effect.zipRight(
          Effect.forEach(Array.from({ length: 40 }), () => once("d", { url }), { concurrency: 40 })
        )
      )
      const made = answers.filter(({ status }) => status === 201)
      answers
        .filter(({ status }) => status !== 201)
        .forEach((answer) => expectProblem(answer, "idempotency-in-progress"))
      expect(new Set(made.map(({ text }) => text)).size).toBe(1)
      expect(yield* service.stored).toBe(before + 2)
    })
  )

  it.effect("keeps the keys of owners apart", () =>
    Effect.gen(function* () {
      const mine = yield* once("e", { url }, { "x-api-key": userKeys.one })
      const theirs = yield* once("e", { url }, { "x-api-key": userKeys.other })
      expect([mine.status, theirs.status]).toEqual([201, 201])
      expect(keyOf(theirs)).not.toBe(keyOf(mine))
    })
  )

  it.effect("keeps that an alias was taken, and nothing of what is wrong with a request", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "once-taken" })
      const taken = yield* once("f", { url, alias: "once-taken" })
      expectProblem(taken, "alias-taken", [["alias", /is taken/]])
      const again = yield* once("f", { url, alias: "once-taken" })
      expect([again.status, again.text]).toEqual([409, taken.text])
      expect(again.headers["content-type"]).toBe("application/problem+json")

      expectProblem(yield* once("g", { url: "nowhere" }), "invalid-url", [["url", /./]])
      expect((yield* once("g", { url })).status).toBe(201)
    })
  )

  it.effect("gives the first answer again also when the request would be refused by now", () =>
    Effect.gen(function* () {
      const service = yield* TestService
      const body = { url, expiresAt: "2026-11-21T10:01:00Z" }
      const first = yield* once("h", body)
      expect(first.status).toBe(201)
      service.clock.set(startOfTests_ms + 120_000)
      const second = yield* once("h", body)
      service.clock.set(startOfTests_ms)
      expect([second.status, second.text]).toEqual([201, first.text])
    })
  )

  it.effect("refuses a key that is none", () =>
    Effect.gen(function* () {
      const service = yield* TestService
      const before = yield* service.stored
      for (const key of ["k".repeat(256), "zażółć"]) {
        const answer = yield* create({ url }, { "idempotency-key": Buffer.from(key).toString("latin1") })
        expectProblem(answer, "invalid-request", [["Idempotency-Key", /1 to 255 printable/]])
      }
      expect(yield* service.stored).toBe(before)
      expect((yield* once("k".repeat(255), { url })).status).toBe(201)
    })
  )

  it.effect("can be repeated when its store was away", () =>
    Effect.gen(function* () {
      const service = yield* TestService
      yield* service.setFault("links", "fails")
      const away = yield* once("i", { url })
      yield* service.setFault("links", "none")
      expectProblem(away, "unavailable")
      expect((yield* once("i", { url })).status).toBe(201)
    })
  )
})

withService("a create with reuse", {}, (it) => {
  const reuse = (body: object, key: string = userKeys.one) =>
    withKey(key, "POST", "/api/v1/links", { reuse: true, ...body })

  it.effect("gives the caller's own link of the URL, with 200", () =>
    Effect.gen(function* () {
      const first = yield* reuse({ url: "https://EXAMPLE.com:443/reuse" })
      expect(first.status).toBe(201)
      yield* get(`/${keyOf(first)}`)
      const second = yield* reuse({ url: "https://example.com/reuse" })
      expect(second.status).toBe(200)
      expect(keyOf(second)).toBe(keyOf(first))
      expect(second.headers.location).toBe(`/api/v1/links/${keyOf(first)}`)
      // One that was made without it does as well.
      const plain = yield* withKey(userKeys.one, "POST", "/api/v1/links", {
        url: "https://example.com/plain"
      })
      expect(keyOf(yield* reuse({ url: "https://example.com/plain" }))).toBe(keyOf(plain))
    })
  )

  it.effect("shares no link between callers, and gives anonymous ones a new link each", () =>
    Effect.gen(function* () {
      const body = { url: "https://example.com/shared" }
      const keys = [
        yield* reuse(body),
        yield* reuse(body, userKeys.other),
        yield* create({ ...body, reuse: true }),
        yield* create({ ...body, reuse: true })
      ]
      expect(keys.map(({ status }) => status)).toEqual([201, 201, 201, 201])
      expect(new Set(keys.map(keyOf)).size).toBe(4)
    })
  )

  it.effect("makes one link of 200 requests at once", () =>
    Effect.gen(function* () {
      const service = yield* TestService
      const before = yield* service.stored
      const answers = yield* Effect.forEach(
        Array.from({ length: 200 }),
        () => reuse({ url: "https://example.com/many" }),
        { concurrency: "unbounded" }
      )
      expect(new Set(answers.map(keyOf)).size).toBe(1)
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(199)
      expect(yield* service.stored).toBe(before + 1)
    })
  )

  it.effect("makes a new link when the former has ended, or leads elsewhere", () =>
    Effect.gen(function* () {
      const body = { url: "https://example.com/former" }
      const first = yield* reuse(body)
      yield* withKey(userKeys.one, "DELETE", `/api/v1/links/${keyOf(first)}`)
      const second = yield* reuse(body)
      expect(second.status).toBe(201)
      yield* withKey(userKeys.one, "PATCH", `/api/v1/links/${keyOf(second)}`, {
        url: "https://example.com/away"
      })
      const third = yield* reuse(body)
      expect(third.status).toBe(201)
      expect(new Set([first, second, third].map(keyOf)).size).toBe(3)
      expect((yield* reuse(body)).status).toBe(200)
    })
  )

  it.effect("goes together with an Idempotency-Key", () =>
    Effect.gen(function* () {
      const headers = { "x-api-key": userKeys.one, "idempotency-key": "both" }
      const body = { url: "https://example.com/both", reuse: true }
      const first = yield* create(body, headers)
      const second = yield* create(body, headers)
      expect([first.status, second.status, second.text]).toEqual([201, 201, first.text])
      const found = yield* create(body, { ...headers, "idempotency-key": "other" })
      const again = yield* create(body, { ...headers, "idempotency-key": "other" })
      expect([found.status, again.status, again.text]).toEqual([200, 200, found.text])
      expect(again.headers["idempotency-replayed"]).toBe("true")
    })
  )
})

withService("a bulk", {}, (it) => {
  const bulk = (body: unknown, headers: Record<string, string> = {}) =>
    Effect.flatMap(TestService, (service) =>
      service.send({
        method: "POST",
        path: "/api/v1/links/bulk",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body)
      })
    )
  const resultsOf = (answer: { readonly text: string }) =>
    (
      JSON.parse(answer.text) as {
        results: ReadonlyArray<{
          status: number
          link?: { key: string; url: string }
          problem?: { type: string }
        }>
      }
    ).results

  it.effect("creates its links in the order given, and each item fails alone", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "bulk-taken" })
      const answer = yield* bulk({
        links: [
          { url: "https://example.com/1" },
          { url: "ftp://example.com/2" },
          { url: "https://example.com/3", alias: "bulk-taken" },
          7,
          { url: "https://example.com/5", extra: 1 },
          { url: "https://example.com/6", alias: "bulk-6" }
        ]
      })
      expect(answer.status).toBe(200)
      const results = resultsOf(answer)
      expect(results.map(({ status }) => status)).toEqual([201, 400, 409, 400, 400, 201])
      expect(results.map(({ problem }) => problem?.type.split("/").pop())).toEqual([
        undefined,
        "invalid-url",
        "alias-taken",
        "invalid-request",
        "invalid-request",
        undefined
      ])
      expect(results[5]!.link).toMatchObject({ key: "bulk-6", url: "https://example.com/6" })
      expect((yield* get(`/${results[0]!.link!.key}`)).headers.location).toBe("https://example.com/1")
    })
  )

  it.effect("takes 1,000 links, each with a key of its own, and no more", () =>
    Effect.gen(function* () {
      const service = yield* TestService
      const links = Array.from({ length: 1_000 }, (_, index) => ({ url: `https://example.com/${index}` }))
      const results = resultsOf(yield* bulk({ links }))
      expect(new Set(results.map(({ link }) => link?.key)).size).toBe(1_000)
      expect(results.map(({ link }) => link?.url)).toEqual(links.map((link) => link.url))
      const before = yield* service.stored
      for (const links of [[], Array.from({ length: 1_001 }, () => ({ url })), "no list", undefined]) {
        expectProblem(yield* bulk({ links }), "invalid-request", [["links", /list of 1 to 1,000/]])
      }
      expectProblem(yield* bulk({ links: [{ url }], more: 1 }), "invalid-request", [
        ["more", /not a known field/]
      ])
      expectProblem(yield* bulk("[]"), "invalid-request", [["", /JSON object/]])
      expect(yield* service.stored).toBe(before)
    })
  )

  it.effect("may have 4 MiB", () =>
    Effect.gen(function* () {
      const long = `https://example.com/${"a".repeat(2_000)}`
      const links = Array.from({ length: 1_000 }, () => ({ url: long }))
      expect(resultsOf(yield* bulk({ links })).every(({ status }) => status === 201)).toBe(true)
      expectProblem(yield* bulk(" ".repeat(4 * 1024 * 1024 + 1)), "payload-too-large")
    })
  )

  it.effect("needs what a create needs, and is repeated item by item", () =>
    Effect.gen(function* () {
      const service = yield* TestService
      expectProblem(yield* bulk({ links: [{ url }] }, { "x-api-key": "lm_nobody" }), "unauthorized")
      expectProblem(yield* bulk({ links: [{ url }] }, { "x-api-key": userKeys.reader }), "forbidden")
      const body = {
        links: [{ url: "https://example.com/a" }, { url: "nowhere" }, { url: "https://example.com/b" }]
      }
      const first = yield* bulk(body, { "idempotency-key": "bulk" })
      const before = yield* service.stored
      const second = yield* bulk(body, { "idempotency-key": "bulk" })
      const { results } = jsonOf(first) as { readonly results: ReadonlyArray<{ readonly status: number }> }
      expect(jsonOf(second)).toEqual({
        results: results.map((result) => (result.status === 201 ? { ...result, replayed: true } : result))
      })
      expect(yield* service.stored).toBe(before)
    })
  )
})
