import { expect } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { type Domain, noTargets } from "../../../src/model/Domain.ts"
import { hasDotSegment } from "../../../src/http/redirects/Location.ts"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import { asAdmin, get, TestService, withService } from "../../support/TestService.ts"

const url = "https://example.com/"

const domainOf = (number: number, host: string, ignoresCase: boolean): Domain => ({
  number,
  host,
  token: "token",
  verifiedAt: 1,
  owners: null,
  targets: { ...noTargets, unknown: `${url}unknown` },
  ignoresCase,
  createdAt: 1,
  updatedAt: 1
})

const domains = [domainOf(1, "one.example", false), domainOf(2, "folding.example", true)]

const made = (alias: string, more: object = {}) =>
  Effect.map(asAdmin("POST", "/api/v1/links", { url: url + alias, alias, ...more }), (answer) => {
    expect(answer.status, alias).toBe(201)
    return answer
  })

const locationOf = (path: string, host?: string) =>
  Effect.map(
    get(path, { accept: "application/json", ...(host !== undefined && { host }) }),
    ({ headers, status }) => headers.location ?? status
  )

withService("an alias of several segments", { domains }, (it) => {
  it.effect("leads to its target, and is no other path", () =>
    Effect.gen(function* () {
      const { port, send } = yield* TestService
      const alias = "events/2026/berlin"
      const answer = yield* made(alias)
      expect(answer.headers.location).toBe("/api/v1/links/events%2F2026%2Fberlin")
      expect(jsonOf(answer)).toMatchObject({
        key: alias,
        shortUrl: `http://localhost:${port}/${alias}`,
        custom: true
      })
      for (let turn = 0; turn < 3; turn++) {
        expect(yield* locationOf(`/${alias}`)).toBe(url + alias)
        expect(yield* locationOf(`/${alias}/`)).toBe(url + alias)
        expect(yield* locationOf(`/${alias}?a=b`)).toBe(url + alias)
        expect((yield* send({ method: "HEAD", path: `/${alias}` })).headers.location).toBe(url + alias)
      }
      for (const path of [
        "/events",
        "/events/2026",
        "/events/2026/berlin/more",
        "/events/2026//berlin",
        "/events//2026/berlin",
        "/events/2026/berlin//",
        "/events/2026/./berlin",
        "/events/2026/x/../berlin",
        "/events/2026/%62erlin",
        "/events%2F2026%2Fberlin",
        "/events/2026%2Fberlin",
        "/Events/2026/berlin",
        "/2026/berlin"
      ]) {
        expect(yield* locationOf(path), path).toBe(404)
      }
    })
  )

  it.effect("is shown, changed, counted and deleted by its encoded key", () =>
    Effect.gen(function* () {
      const alias = "talks/2026/plan"
      yield* made(alias, { forwardQuery: true })
      const path = "/api/v1/links/talks%2F2026%2Fplan"
      expect(jsonOf(yield* asAdmin("GET", path))).toMatchObject({ key: alias })
      expect(jsonOf(yield* asAdmin("PATCH", path, { title: "Plan" }))).toMatchObject({ title: "Plan" })
      expect((yield* asAdmin("GET", `${path}/stats`)).status).toBe(200)
      expect((yield* asAdmin("GET", `${path}/qr`)).status).toBe(200)
      expect(yield* locationOf(`/${alias}?a=b`)).toBe(`${url}${alias}?a=b`)
      expect(jsonOf(yield* get(`/${alias}+`))).toMatchObject({ key: alias, url: url + alias })
      const list = jsonOf(yield* asAdmin("GET", "/api/v1/links?q=2026/plan&limit=1"))
      expect(list).toMatchObject({ data: [{ key: alias }] })
      expect((yield* asAdmin("DELETE", path)).status).toBe(204)
      expect(yield* locationOf(`/${alias}`)).toBe(410)
      expect(yield* locationOf(`/${alias}+`)).toBe(410)
    })
  )

  it.effect("has a preview that a slash may follow, before what a shorter alias forwards", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      const aliases = ["shows", "shows/2026", "shows/2026/berlin", "shows/a01/b02/c03/d04"]
      for (const alias of aliases) yield* made(alias, { forwardPath: alias !== "shows/2026/berlin" })
      for (const alias of aliases) {
        // Also where this node has the links at hand.
        for (let turn = 0; turn < 2; turn++) {
          for (const path of [`/${alias}+`, `/${alias}+/`]) {
            expect(jsonOf(yield* get(path)), path).toMatchObject({ key: alias, url: url + alias, visits: 0 })
          }
        }
      }
      for (const path of ["shows/2027+/", "shows/2026/berlin+x/", "shows/2026/+/"]) {
        expect(yield* locationOf(`/${path}`), path).toBe(url + path)
      }
      expect((yield* send({ method: "POST", path: "/shows/2026/berlin+/" })).status).toBe(404)
      expect(yield* locationOf("/nowhere/2026+/")).toBe(404)
    })
  )

  it.effect("goes to the longest alias, before the path that a shorter one forwards", () =>
    Effect.gen(function* () {
      yield* made("guide", { forwardPath: true })
      yield* made("guide/2026", { forwardPath: true })
      yield* made("guide/2026/plan")
      for (const [path, target] of [
        ["/guide/2026/plan", "guide/2026/plan"],
        ["/guide/2026/plan/", "guide/2026/plan"],
        ["/guide/2026/plan/a", 404],
        ["/guide/2026/plans", "guide/2026/plans"],
        ["/guide/2026/plan+x", "guide/2026/plan+x"],
        ["/guide/2026/a/b/c/d/e/f", "guide/2026/a/b/c/d/e/f"],
        ["/guide/2026", "guide/2026"],
        ["/guide/2027/plan", "guide/2027/plan"],
        ["/guide//2026/plan", "guide/2026/plan"]
      ] as const) {
        const expected = typeof target === "number" ? target : url + target
        expect(yield* locationOf(path), path).toBe(expected)
      }
      expect(jsonOf(yield* get("/guide/2026+"))).toMatchObject({ key: "guide/2026" })
      expect(yield* locationOf("/guide/2027+")).toBe(`${url}guide/2027+`)
      expect((yield* asAdmin("DELETE", "/api/v1/links/guide%2F2026%2Fplan")).status).toBe(204)
      expect(yield* locationOf("/guide/2026/plan")).toBe(410)
    })
  )

  it.effect(
    "has a preview that sends nobody elsewhere, also where there is no link any more, or never was",
    () =>
      Effect.gen(function* () {
        const host = "one.example"
        yield* made("talks/over", { domain: host, maxVisits: 1, expiredUrl: `${url}over` })
        const page = (path: string) =>
          Effect.map(
            get(path, { accept: "text/html", host }),
            ({ headers, status }) => headers.location ?? status
          )
        expect([yield* page("/talks/over"), yield* page("/talks/over")]).toEqual([
          `${url}talks/over`,
          `${url}over`
        ])
        expect([yield* page("/talks/over+"), yield* page("/talks/over+/")]).toEqual([410, 410])
        expect(yield* Effect.forEach(["none", "none+", "none+/"], (key) => page(`/talks/${key}`))).toEqual([
          `${url}unknown`,
          404,
          404
        ])
      })
  )

  it.effect("asks for its password where it is", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      yield* made("vault/2026", { password: "sesame" })
      expectProblem(yield* get("/vault/2026"), "password-required")
      const post = (path: string) =>
        send({
          method: "POST",
          path,
          headers: { "content-type": "application/x-www-form-urlencoded" },
          body: "password=sesame"
        })
      const posted = yield* post("/vault/2026")
      expect([posted.status, posted.headers.location]).toEqual([303, `${url}vault/2026`])
      expect((yield* post("/vault/2026+")).status).toBe(404)
    })
  )

  it.effect("belongs to its domain, and is found in whatever case where that ignores case", () =>
    Effect.gen(function* () {
      yield* made("team/lunch", { domain: "one.example" })
      yield* made("Team/Lunch", { domain: "folding.example", forwardPath: true })
      expect(yield* locationOf("/team/lunch", "one.example")).toBe(`${url}team/lunch`)
      expect(yield* locationOf("/team/lunch")).toBe(404)
      expect(yield* locationOf("/TEAM/lunch/Menu", "folding.example")).toBe(`${url}Team/Lunch/Menu`)
      expect((yield* asAdmin("GET", "/api/v1/links/TEAM%2Flunch?domain=folding.example")).status).toBe(200)
    })
  )

  it.effect("redirects exactly as often as it may", () =>
    Effect.gen(function* () {
      yield* made("once/only", { maxVisits: 1 })
      const statuses = yield* Effect.forEach([1, 2], () => get("/once/only"))
      expect(statuses.map(({ status }) => status)).toEqual([302, 410])
    })
  )

  it.effect("never gets the visitors of another path, however that is written", () =>
    Effect.gen(function* () {
      const forwarding = new Set(["trips", "trips/a/b"])
      const aliases = ["trips", "trips/a", "trips/a/b", "trips/a/b/c"]
      for (const alias of aliases) yield* made(alias, { forwardPath: forwarding.has(alias) })
      const part = fc.constantFrom(
        "a",
        "b",
        "c",
        "A",
        "",
        ".",
        "..",
        "%2e",
        "%2E.",
        "..;x",
        "%61",
        "%00",
        "a%2Fb",
        "\\",
        "~1",
        "+"
      )
      const slash = fc.constantFrom("/", "/", "/", "//", "%2F", "%252f", "/./")
      const paths = fc.sample(fc.array(fc.tuple(slash, part), { minLength: 1, maxLength: 5 }), {
        numRuns: 400,
        seed: 21
      })
      for (const parts of paths) {
        const path = `trips${parts.flat().join("")}`
        const location = yield* locationOf(`/${path}`)
        if (typeof location === "number") continue
        // The longest alias that the path begins with, as it is written.
        const alias = aliases.findLast((alias) => path === alias || path.startsWith(`${alias}/`))!
        const rest = path.slice(alias.length)
        expect(rest === "" || rest === "/" || (forwarding.has(alias) && !hasDotSegment(rest)), path).toBe(
          true
        )
        expect(new URL(location).pathname.startsWith(`/${alias}`), path).toBe(true)
        // What a browser makes of it is still below the target.
        expect(location.startsWith(`${url}${alias}`), path).toBe(true)
      }
    })
  )
})

withService("a path of several segments", { domains }, (it) => {
  it.effect("costs look-ups of aliases only in domains that have some of several segments", () =>
    Effect.gen(function* () {
      const { lookedUp } = yield* TestService
      const cost = (path: string, host?: string) =>
        Effect.gen(function* () {
          const before = yield* lookedUp
          expect(yield* locationOf(path, host)).toBe(404)
          return (yield* lookedUp) - before
        })
      const costs = Effect.all([
        cost("/nothing"),
        cost("/nothing/a/b"),
        cost("/nothing/a/b", "one.example"),
        cost("/nothing//b"),
        cost("/docs/a/b")
      ])
      expect(yield* costs).toEqual([1, 1, 1, 1, 0])
      yield* made("several/segments")
      expect(yield* costs).toEqual([1, 3, 1, 1, 0])
      yield* made("several/segments", { domain: "one.example" })
      expect(yield* costs).toEqual([1, 3, 3, 1, 0])
    })
  )
})
