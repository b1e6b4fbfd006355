import { expect } from "@effect/vitest"
import { Effect, Ref } from "effect"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { type ExpectedFault, expectProblem, refuses } from "../../support/http/Problems.ts"
import {
  adminKey,
  asAdmin,
  create,
  get,
  startOfTests_ms,
  TestService,
  withService
} from "../../support/TestService.ts"

const url = "https://example.com/"

const patch = (alias: string, body: unknown) => asAdmin("PATCH", `/api/v1/links/${alias}`, body)

const shown = (alias: string) => Effect.map(asAdmin("GET", `/api/v1/links/${alias}`), jsonOf)

const everything = {
  url: "https://example.com/changed",
  title: "Changed",
  tags: ["a", "b"],
  expiresAt: "2027-01-01T00:00:00.000Z",
  validSince: "2026-12-01T00:00:00.000Z",
  maxVisits: 10,
  redirectStatus: 301,
  forwardQuery: true,
  crawlable: true,
  expiredUrl: "https://example.com/over",
  forwardPath: true,
  card: { title: "Shown", image: "https://example.com/i.png" },
  rules: [{ url: "https://example.com/rule", name: "german", when: { languages: ["de"] } }],
  variants: [
    { url: "https://example.com/a", weight: 1 },
    { url: "https://example.com/b", name: "b", weight: 2 }
  ],
  note: "Between us",
  archived: true,
  publicStats: true
}

withService("a patch", {}, (it) => {
  it.effect("changes everything that it says, at once and for the redirect too, and shows the link", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      const created = jsonOf(yield* create({ url, alias: "whole" })) as object
      expect((yield* get("/whole")).headers.location).toBe(url)
      clock.set(startOfTests_ms + 1_000)
      const { validSince: _, ...said } = everything
      const patched = yield* patch("whole", said)
      expect(patched.status).toBe(200)
      expect(patched.headers).toMatchObject({
        "content-type": "application/json",
        "cache-control": "no-store"
      })
      expect(jsonOf(patched)).toEqual({
        ...created,
        ...said,
        visitsLeft: said.maxVisits,
        updatedAt: "2026-11-21T10:00:01.000Z"
      })
      expect(yield* shown("whole")).toEqual(jsonOf(patched))
      expect(everything.variants.map((one) => one.url)).toContain((yield* get("/whole")).headers.location)
      const german = yield* get("/whole", { "accept-language": "de" })
      expect(german.headers.location).toBe("https://example.com/rule")
      clock.set(startOfTests_ms)
    })
  )

  it.effect("leaves everything else as it is", () =>
    Effect.gen(function* () {
      const created = jsonOf(yield* create({ ...everything, alias: "parts" })) as object
      let expected = created
      for (const [name, value] of Object.entries({
        title: "x",
        tags: ["c"],
        maxVisits: 3,
        redirectStatus: 308,
        forwardQuery: false,
        crawlable: false,
        expiredUrl: "https://example.com/passed",
        card: { description: "As a whole" },
        rules: [{ url, name: "french", when: { languages: ["fr"] } }],
        note: "Two\nlines",
        url
      })) {
        expected = { ...expected, [name]: value, ...(name === "maxVisits" && { visitsLeft: value }) }
        expect(jsonOf(yield* patch("parts", { [name]: value }))).toEqual(expected)
      }
      expect(jsonOf(yield* patch("parts", {}))).toEqual(expected)
    })
  )

  const cleared: ReadonlyArray<readonly [name: string, shown: object]> = [
    ["title", { title: null }],
    ["tags", { tags: [] }],
    ["expiresAt", { expiresAt: null }],
    ["expiresIn", { expiresAt: null }],
    ["validSince", { validSince: null }],
    ["maxVisits", { maxVisits: null, visitsLeft: undefined }],
    ["redirectStatus", { redirectStatus: 302 }],
    ["forwardQuery", { forwardQuery: false }],
    ["crawlable", { crawlable: false }],
    ["expiredUrl", { expiredUrl: undefined }],
    ["forwardPath", { forwardPath: undefined }],
    ["card", { card: undefined }],
    ["rules", { rules: undefined }],
    ["variants", { variants: undefined }],
    ["note", { note: undefined }],
    ["archived", { archived: undefined }],
    ["publicStats", { publicStats: undefined }],
    ["password", { hasPassword: false }]
  ]
  for (const [name, becomes] of cleared) {
    it.effect(`clears ${name} by null`, () =>
      Effect.gen(function* () {
        const alias = `clear-${name}`
        const created = jsonOf(yield* create({ ...everything, alias, password: "secret" })) as object
        const patched = yield* patch(alias, { [name]: null })
        expect(patched.status).toBe(200)
        expect(jsonOf(patched)).toEqual({ ...created, ...becomes })
        expect(yield* shown(alias)).toEqual(jsonOf(patched))
      })
    )
  }

  it.effect("of rules may take a name that it takes from others, but none that a variant keeps", () =>
    Effect.gen(function* () {
      yield* create({ ...everything, alias: "names" })
      const named = (name: string) => ({ rules: [{ ...everything.rules[0], name }] })
      expect((yield* patch("names", named("german"))).status).toBe(200)
      expectProblem(yield* patch("names", named("b")), "invalid-request", [
        ["rules.0.name", /^is that of another rule or variant$/]
      ])
      expect((yield* patch("names", { ...named("b"), variants: null })).status).toBe(200)
    })
  )

  it.effect("sets a password, and shows nothing of it", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "guarded" })
      const patched = yield* patch("guarded", { password: "a secret 🍃" })
      expect(jsonOf(patched)).toMatchObject({ hasPassword: true })
      expect(patched.text).not.toMatch(/secret|argon|passwordHash/)
    })
  )

  it.effect("brings an expired link back to life, and ends a live one", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      yield* create({ url, alias: "revived", expiresIn: "PT10S" })
      clock.set(startOfTests_ms + 10_000)
      expect((yield* get("/revived")).status).toBe(410)
      expect((yield* patch("revived", { title: "still expired" })).status).toBe(200)
      expect((yield* get("/revived")).status).toBe(410)
      expect((yield* patch("revived", { expiresIn: "PT1H" })).status).toBe(200)
      expect((yield* get("/revived")).status).toBe(302)
      expect((yield* patch("revived", { expiresAt: "2026-11-21T10:00:20Z" })).status).toBe(200)
      clock.set(startOfTests_ms + 20_000)
      expect((yield* get("/revived")).status).toBe(410)
      expect((yield* patch("revived", { expiresAt: null })).status).toBe(200)
      expect((yield* get("/revived")).status).toBe(302)
      clock.set(startOfTests_ms)
    })
  )

  it.effect("of a deleted link and of none is 404", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "deleted" })
      yield* asAdmin("DELETE", "/api/v1/links/deleted")
      expectProblem(yield* patch("deleted", { expiresAt: null }), "not-found")
      expect((yield* get("/deleted")).status).toBe(410)
      for (const key of ["unknown", "a%20b", "%00", "a".repeat(65)]) {
        expectProblem(yield* patch(key, { title: "t" }), "not-found")
      }
    })
  )

  it.effect("needs a key: 401 without", () =>
    Effect.gen(function* () {
      const service = yield* TestService
      yield* create({ url, alias: "unguarded" })
      const answer = yield* service.send({
        method: "PATCH",
        path: "/api/v1/links/unguarded",
        headers: { "content-type": "application/json" },
        body: `{"title":"t"}`
      })
      expectProblem(answer, "unauthorized")
      expect(yield* shown("unguarded")).toMatchObject({ title: null })
    })
  )
})

withService("a bad patch", {}, (it) => {
  const past = "2026-11-21T10:00:00Z"
  const refused: ReadonlyArray<readonly [body: unknown, ...faults: ReadonlyArray<ExpectedFault>]> = [
    [{ alias: "other" }, ["alias", /^is not a known field$/]],
    [{ alias: null }, ["alias", /^is not a known field$/]],
    [{ reuse: true }, ["reuse", /^is not a known field$/]],
    [
      { key: "k", owner: "usr", visits: null },
      ["key", /not a known/],
      ["owner", /not a known/],
      ["visits", /not a/]
    ],
    [{ url: null }, ["url", /^must be a string$/]],
    [{ title: "" }, ["title", /^must have 1 to 256 characters$/]],
    [{ title: "\u0000" }, ["title", /control characters/]],
    [{ tags: [null] }, ["tags.0", /^must be a string$/]],
    [{ maxVisits: 0 }, ["maxVisits", /^must be a whole number from 1 to 1,000,000,000$/]],
    [{ password: "" }, ["password", /^must have 1 to 128 characters$/]],
    [{ password: "x".repeat(129) }, ["password", /^must have 1 to 128 characters$/]],
    [{ password: 1 }, ["password", /^must be a string$/]],
    [{ redirectStatus: 303 }, ["redirectStatus", /^must be 301, 302, 307 or 308$/]],
    [{ forwardQuery: "no" }, ["forwardQuery", /^must be true or false$/]],
    [{ forwardPath: "no" }, ["forwardPath", /^must be true or false$/]],
    [{ archived: "no" }, ["archived", /^must be true or false$/]],
    [{ publicStats: 1 }, ["publicStats", /^must be true or false$/]],
    [{ note: "" }, ["note", /^must have 1 to 1,024 characters$/]],
    [{ expiredUrl: 1 }, ["expiredUrl", /^must be a string$/]],
    [{ expiresAt: past }, ["expiresAt", /^must lie in the future/]],
    [{ expiresAt: "soon" }, ["expiresAt", /^must be an RFC 3339 date-time/]],
    [{ expiresIn: "P0D" }, ["expiresIn", /^must be an ISO 8601 duration/]],
    [
      { expiresAt: "2027-01-01T00:00:00Z", expiresIn: "P1D" },
      ["expiresIn", /^cannot stand beside expiresAt$/]
    ],
    [{ expiresAt: null, expiresIn: "P1D" }, ["expiresIn", /^cannot stand beside expiresAt$/]],
    [{ expiresAt: null, expiresIn: null }, ["expiresIn", /^cannot stand beside expiresAt$/]],
    [{ validSince: "soon" }, ["validSince", /^must be an RFC 3339 date-time/]],
    [{ validSince: "9999-12-31T23:59:59-05:00" }, ["validSince", /^must lie in the years 0 to 9999 of UTC$/]],
    [{ validSince: "2026-11-24T10:00:00Z" }, ["validSince", /^must lie before the link's end$/]],
    [{ expiresAt: "2026-11-22T10:00:00Z" }, ["expiresAt", /^must lie after validSince$/]],
    [{ expiresIn: "P1D" }, ["expiresAt", /^must lie after validSince$/]],
    [{ title: 1, forwardQuery: 1 }, ["title", /string/], ["forwardQuery", /true or false/]],
    [[], ["", /^The body must be a JSON object.$/]],
    ["null", ["", /^The body must be a JSON object.$/]],
    ["{", ["", /^The body is not valid JSON/]]
  ]
  for (const [body, ...faults] of refused) {
    it.effect(`is refused and changes nothing: ${JSON.stringify(body).slice(0, 50)}`, () =>
      Effect.gen(function* () {
        const made = { url, alias: "kept", validSince: "2026-11-22T10:00:00Z", expiresIn: "P3D" }
        yield* create(made)
        const before = yield* shown("kept")
        yield* refuses(patch("kept", body), "invalid-request", ...faults)
        expect(yield* shown("kept")).toEqual(before)
      })
    )
  }

  it.effect("is refused for its target, as a create is", () =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      yield* create({ url, alias: "aimed" })
      yield* refuses(patch("aimed", { url: "ftp://example.com/" }), "invalid-url", ["url", /./])
      yield* refuses(patch("aimed", { url: "" }), "invalid-url", ["url", /./])
      yield* refuses(patch("aimed", { url: `http://localhost:${port}/x` }), "blocked-target", ["url", /./])
      expect((yield* get("/aimed")).headers.location).toBe(url)
    })
  )

  it.effect("is refused when it is no JSON, or too much of it", () =>
    Effect.gen(function* () {
      const service = yield* TestService
      yield* create({ url, alias: "wrong" })
      const sent = (contentType: string, body: string) =>
        service.send({
          method: "PATCH",
          path: "/api/v1/links/wrong",
          headers: { "x-api-key": adminKey, "content-type": contentType },
          body
        })
      expectProblem(yield* sent("text/plain", `{"title":"t"}`), "unsupported-media-type")
      expectProblem(yield* sent("application/json", `{"title":"${"t".repeat(70_000)}"}`), "payload-too-large")
      expect(yield* shown("wrong")).toMatchObject({ title: null })
    })
  )
})

withService("races of patches", {}, (it) => {
  it.effect("of different fields lose nothing", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "raced" })
      const { validSince: _, ...parts } = everything
      const answers = yield* Effect.forEach(
        Object.entries(parts),
        ([name, value]) => patch("raced", { [name]: value }),
        { concurrency: "unbounded" }
      )
      expect(answers.every(({ status }) => status === 200)).toBe(true)
      expect(yield* shown("raced")).toMatchObject(parts)
    })
  )

  it.effect("with a delete end deleted: whatever was answered, the link is gone for good", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 10; round++) {
        const alias = `doomed-${round}`
        yield* create({ url, alias })
        const [deleted, ...patched] = yield* Effect.all(
          [
            asAdmin("DELETE", `/api/v1/links/${alias}`),
            ...Array.from({ length: 6 }, (_, index) =>
              patch(alias, { url: `${url}${index}`, expiresAt: null })
            )
          ],
          { concurrency: "unbounded" }
        )
        expect(deleted!.status).toBe(204)
        expect(patched.every(({ status }) => status === 200 || status === 404)).toBe(true)
        expect((yield* get(`/${alias}`)).status).toBe(410)
        expectProblem(yield* patch(alias, { title: "t" }), "not-found")
      }
    })
  )

  it.effect("with redirects show the old target or the new one, and the new one from the answer on", () =>
    Effect.gen(function* () {
      yield* create({ url: `${url}0`, alias: "followed" })
      const versions = 20
      const acknowledged = yield* Ref.make(0)
      const following = Effect.gen(function* () {
        let atLeast = 0
        while (atLeast < versions) {
          const known = yield* Ref.get(acknowledged)
          const { headers, status } = yield* get("/followed")
          expect(status).toBe(302)
          const seen = Number(headers.location!.slice(url.length))
          // What was acknowledged before the question is seen, and nobody goes back.
          expect(seen).toBeGreaterThanOrEqual(Math.max(known, atLeast))
          atLeast = seen
        }
      })
      const changing = Effect.gen(function* () {
        for (let version = 1; version <= versions; version++) {
          expect((yield* patch("followed", { url: `${url}${version}` })).status).toBe(200)
          yield* Ref.set(acknowledged, version)
        }
      })
      yield* Effect.all([changing, following, following, following], { concurrency: "unbounded" })
    })
  )
})
