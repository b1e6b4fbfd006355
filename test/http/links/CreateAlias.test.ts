import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { refuses } from "../../support/http/Problems.ts"
import {
  asAdmin,
  create,
  get,
  startOfTests_ms,
  TestService,
  userKeys,
  withService
} from "../../support/TestService.ts"

const url = "https://example.com/"

withService("an alias", {}, (it) => {
  const good: Record<string, string> = {
    "3 characters": "abc",
    "64 characters": "a".repeat(64),
    "digits alone": "2027",
    "hyphens and underscores alone": "-_-",
    "upper and lower case": "aLiAs",
    "a reserved word inside": "my-api",
    "several segments": "events/2026/berlin",
    "5 segments, and a reserved word behind the first": "one/two/api/four/five"
  }
  for (const [what, alias] of Object.entries(good)) {
    it.effect(`may have ${what}`, () =>
      Effect.gen(function* () {
        const answer = yield* create({ url, alias })
        expect(answer.status).toBe(201)
        expect(jsonOf(answer)).toMatchObject({ key: alias, custom: true })
        expect((yield* get(`/${alias}`)).headers.location).toBe(url)
      })
    )
  }

  for (const length of [0, 1, 2, 65, 1_000]) {
    it.effect(`may not have ${length} characters`, () =>
      refuses(create({ url, alias: "a".repeat(length) }), "invalid-request", [
        "alias",
        /^must have 3 to 64 characters$/
      ])
    )
  }

  it.effect("may not have a segment of fewer than 3 characters", () =>
    Effect.forEach(["ab/cde", "abc/de", "abc/de/fgh"], (alias) =>
      refuses(create({ url, alias }), "invalid-request", ["alias", "3 characters at least in each segment"])
    )
  )

  for (const alias of ["x", "y1", "z/1"]) {
    it.effect(`may have ${alias.length} characters where an administrator makes it`, () =>
      Effect.gen(function* () {
        expect((yield* create({ url, alias }, { "x-api-key": userKeys.one })).status).toBe(400)
        expect((yield* asAdmin("POST", "/api/v1/links", { url, alias })).status).toBe(201)
        expect((yield* get(`/${alias}`)).headers.location).toBe(url)
      })
    )
  }

  const characters = [
    "a b",
    "/abc",
    "abc/",
    "abc//def",
    "abc/../def",
    "abc/d.f",
    "one/two/three/four/five/six",
    "a.b",
    "a+b",
    "a%b",
    "../a",
    "äöü",
    "abc\n",
    "abc\u0000",
    "🍃🍃",
    "a?b",
    "a#b",
    "<b>"
  ]
  for (const alias of characters) {
    it.effect(`may not be ${JSON.stringify(alias)}`, () =>
      refuses(create({ url, alias }), "invalid-request", ["alias", "may contain A-Z, a-z, 0-9, - and _ only"])
    )
  }

  for (const alias of [
    "api",
    "API",
    "Docs",
    "health",
    "openapi",
    "metrics",
    "robots",
    "admin",
    "ADMIN",
    "sign-in",
    "api/v-1",
    "Docs/2026/plan",
    "health/ready"
  ]) {
    it.effect(`may not be "${alias}", which is reserved`, () =>
      refuses(create({ url, alias }), "alias-reserved", ["alias", "is reserved"])
    )
  }

  it.effect("may not be taken, and the link that has it stays as it is", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "taken" })
      yield* refuses(create({ url: "https://example.org/", alias: "taken" }), "alias-taken", [
        "alias",
        '"taken" is taken'
      ])
      expect((yield* get("/taken")).headers.location).toBe(url)
    })
  )

  it.effect("may differ from another one by case alone", () =>
    Effect.gen(function* () {
      yield* create({ url: "https://example.com/upper", alias: "CASE" })
      expect((yield* create({ url: "https://example.com/lower", alias: "case" })).status).toBe(201)
      expect((yield* get("/CASE")).headers.location).toBe("https://example.com/upper")
      expect((yield* get("/case")).headers.location).toBe("https://example.com/lower")
      expect((yield* get("/Case")).status).toBe(404)
    })
  )

  it.effect("stays taken when its link is deleted", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "deleted" })
      expect((yield* asAdmin("DELETE", "/api/v1/links/deleted")).status).toBe(204)
      yield* refuses(create({ url, alias: "deleted" }), "alias-taken", ["alias", "is taken"])
      expect((yield* get("/deleted")).status).toBe(410)
    })
  )

  it.effect("stays taken when its link has expired", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      yield* create({ url, alias: "expired", expiresIn: "PT1S" })
      clock.set(startOfTests_ms + 1_000)
      yield* refuses(create({ url, alias: "expired" }), "alias-taken", ["alias", "is taken"])
      clock.set(startOfTests_ms)
    })
  )

  it.effect("goes to one of many who ask for it at once", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.forEach(
        Array.from({ length: 16 }, (_, index) => `https://example.com/${index}`),
        (url) => create({ url, alias: "contested" }),
        { concurrency: "unbounded" }
      )
      const winners = answers.filter(({ status }) => status === 201)
      expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(15).fill(409)])
      const winner = jsonOf(winners[0]!) as { url: string }
      expect((yield* get("/contested")).headers.location).toBe(winner.url)
    })
  )
})
