import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { KnownDomains } from "../../../src/http/domains/Domains.ts"
import { type Domain, noTargets } from "../../../src/model/Domain.ts"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { open } from "../../support/http/RawConnection.ts"
import { expectProblem, refuses } from "../../support/http/Problems.ts"
import { asAdmin, create, get, TestService, userKeys, withService } from "../../support/TestService.ts"

const domainOf = (number: number, host: string, more: Partial<Domain> = {}): Domain => ({
  number,
  host,
  token: "token",
  verifiedAt: 1,
  owners: null,
  targets: noTargets,
  ignoresCase: false,
  createdAt: 1,
  updatedAt: 1,
  ...more
})

const domains = [
  domainOf(1, "one.example"),
  domainOf(2, "two.example", { owners: ["usr_one"] }),
  domainOf(3, "three.example", { verifiedAt: null })
]

const url = "https://example.com/"

/** Follows a path at a host. */
const at = (host: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
  get(path, { accept: "application/json", host, ...headers })

withService("further domains", { domains }, (it) => {
  it.effect("have links of their own under the same alias", () =>
    Effect.gen(function* () {
      yield* create({ url: `${url}default`, alias: "guide" })
      const answer = yield* create({ url: `${url}one`, alias: "guide", domain: "One.example" })
      expect(answer.status).toBe(201)
      expect(answer.headers.location).toBe("/api/v1/links/guide?domain=one.example")
      const { port } = yield* TestService
      const shortUrl = `http://one.example:${port}/guide`
      expect(jsonOf(answer)).toMatchObject({ key: "guide", domain: "one.example", shortUrl })
      for (let turn = 0; turn < 3; turn++) {
        expect((yield* at("one.example", "/guide")).headers.location).toBe(`${url}one`)
        expect((yield* at(`ONE.example.:${port}`, "/guide")).headers.location).toBe(`${url}one`)
        expect((yield* get("/guide")).headers.location).toBe(`${url}default`)
        expect((yield* at("two.example", "/guide")).status).toBe(404)
      }
      expect(jsonOf(yield* at("one.example", "/guide+"))).toMatchObject({ key: "guide", shortUrl })
    })
  )

  it.effect("have links with minted keys, which are theirs alone", () =>
    Effect.gen(function* () {
      const single = yield* create({ url, domain: "two.example" }, { "x-api-key": userKeys.one })
      expect(single.status).toBe(201)
      const bulk = yield* asAdmin("POST", "/api/v1/links/bulk", {
        links: [{ url, domain: "one.example" }, { url }, { url, domain: "ONE.example" }]
      })
      type Made = { readonly key: string; readonly domain?: string }
      const { results } = jsonOf(bulk) as { readonly results: ReadonlyArray<{ readonly link: Made }> }
      const links = [jsonOf(single) as Made, ...results.map(({ link }) => link)]
      expect(links.map(({ domain }) => domain)).toEqual([
        "two.example",
        "one.example",
        undefined,
        "one.example"
      ])
      expect(new Set(links.map(({ key }) => key)).size).toBe(4)
      for (const { domain = "localhost", key } of links) {
        for (const host of ["localhost", "one.example", "two.example"]) {
          expect((yield* at(host, `/${key}`)).status).toBe(host === domain ? 302 : 404)
        }
      }
    })
  )

  it.effect("are reached by their hosts alone", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "alone", domain: "one.example" })
      expect((yield* at("one.example", "/alone")).status).toBe(302)
      for (const path of ["/alone", "/alone~1", "/alone%7E1", "/alone~1+", "/alone~1?a", "/alone~1/"]) {
        expect((yield* get(path)).status).toBe(404)
        expect((yield* at("two.example", path)).status).toBe(404)
      }
      expect((yield* at("one.example", "/alone~1")).status).toBe(404)
      expect((yield* asAdmin("GET", "/api/v1/links/alone~1")).status).toBe(404)
      expect((yield* at("nobody.example", "/alone")).status).toBe(404)
    })
  )

  it.effect("serve what visitors see, and nothing else", () =>
    Effect.gen(function* () {
      for (const path of ["/", "/app/links", "/api/v1/links", "/openapi.json", "/docs", "/metrics"]) {
        expect((yield* at("one.example", path)).status).toBe(404)
      }
      expect((yield* at("one.example", "/health/live")).status).toBe(200)
    })
  )

  it.effect("show crawlers their own links", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "seen-here", crawlable: true, domain: "one.example" })
      yield* create({ url, alias: "seen-there", crawlable: true })
      const here = (yield* at("one.example", "/robots.txt")).text
      expect(here).toContain("Allow: /seen-here$")
      expect(here).not.toContain("seen-there")
      const there = (yield* get("/robots.txt")).text
      expect(there).toContain("Allow: /seen-there$")
      expect(there).not.toContain("seen-here")
    })
  )

  it.effect("have their links managed by key and domain", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "managed" })
      yield* create({ url, alias: "managed", domain: "one.example" })
      const path = "/api/v1/links/managed?domain=one.example"
      const changed = yield* asAdmin("PATCH", path, { url: `${url}changed` })
      expect(jsonOf(changed)).toMatchObject({ key: "managed", domain: "one.example", url: `${url}changed` })
      expect(jsonOf(yield* asAdmin("GET", path))).toMatchObject({ url: `${url}changed` })
      expect(jsonOf(yield* asAdmin("GET", "/api/v1/links/managed"))).toMatchObject({ url })
      expect((yield* asAdmin("GET", "/api/v1/links/managed?domain=two.example")).status).toBe(404)
      expect((yield* asAdmin("GET", "/api/v1/links/managed?domain=localhost")).status).toBe(200)
      expect((yield* asAdmin("GET", "/api/v1/links/managed/stats?domain=one.example")).status).toBe(200)
      expect((yield* asAdmin("GET", "/api/v1/links/managed/qr?domain=one.example")).status).toBe(200)
      expect((yield* asAdmin("DELETE", path)).status).toBe(204)
      expect((yield* at("one.example", "/managed")).status).toBe(410)
      expect((yield* get("/managed")).headers.location).toBe(url)
    })
  )

  it.effect("are listed with the other links, from page to page", () =>
    Effect.gen(function* () {
      for (const domain of ["one.example", "two.example"]) {
        yield* create({ url, alias: "listed", tags: ["paged"], domain }, { "x-api-key": userKeys.one })
      }
      const seen: Array<unknown> = []
      let cursor: string | null = null
      do {
        const from: string = cursor === null ? "" : `&cursor=${cursor}`
        const answer = jsonOf(yield* asAdmin("GET", `/api/v1/links?tag=paged&limit=1${from}`)) as {
          data: ReadonlyArray<{ key: string; domain: string }>
          nextCursor: string | null
        }
        seen.push(...answer.data.map(({ domain, key }) => `${key} ${domain}`))
        cursor = answer.nextCursor
      } while (cursor !== null)
      expect(seen.toSorted()).toEqual(["listed one.example", "listed two.example"])
      const keysIn = (domain: string) =>
        Effect.map(asAdmin("GET", `/api/v1/links?tag=paged&domain=${domain}`), (answer) =>
          (jsonOf(answer) as { data: ReadonlyArray<{ domain: string }> }).data.map(({ domain }) => domain)
        )
      expect(yield* keysIn("one.example")).toEqual(["one.example"])
      expect(yield* keysIn("TWO.example")).toEqual(["two.example"])
      expect(yield* keysIn("localhost")).toEqual([])
      expectProblem(yield* asAdmin("GET", "/api/v1/links?domain=nobody.example"), "invalid-request", [
        ["domain", "is not a domain of this service"]
      ])
    })
  )

  it.effect("refuse aliases that are taken there or reserved", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "taken", domain: "one.example" })
      yield* refuses(create({ url, alias: "taken", domain: "one.example" }), "alias-taken", [
        "alias",
        '"taken" is taken'
      ])
      yield* refuses(create({ url, alias: "admin", domain: "one.example" }), "alias-reserved", [
        "alias",
        "is reserved"
      ])
    })
  )

  it.effect("take links from their owners alone", () =>
    Effect.gen(function* () {
      const body = { url, alias: "owned", domain: "two.example" }
      const refusal = ["domain", "is for its owners alone"] as const
      yield* refuses(create(body), "forbidden", refusal)
      yield* refuses(create(body, { "x-api-key": userKeys.other }), "forbidden", refusal)
      expect((yield* create(body, { "x-api-key": userKeys.one })).status).toBe(201)
    })
  )

  it.effect("are known and verified before they take links", () =>
    Effect.gen(function* () {
      const of = (domain: string) => create({ url, alias: "nowhere", domain })
      yield* refuses(of("nobody.example"), "invalid-request", ["domain", "is not a domain of this service"])
      yield* refuses(of("three.example"), "invalid-request", ["domain", "has not been verified yet"])
    })
  )

  it.effect("are no targets of links", () =>
    Effect.gen(function* () {
      for (const target of ["http://one.example/", "https://ONE.example:8443/a", "https://two.example./"]) {
        yield* refuses(create({ url: target }), "blocked-target", ["url", /^leads to this service itself/])
      }
      // Nobody has shown that it is this service's.
      expect((yield* create({ url: "https://three.example/" })).status).toBe(201)
    })
  )

  it.scoped("are told apart by fast answers on one connection as well", () =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      yield* create({ url: `${url}default`, alias: "fast" })
      yield* create({ url: `${url}one`, alias: "fast", domain: "one.example" })
      const connection = yield* open(port)
      const hosts = ["localhost", "one.example", "localhost", "two.example", "one.example"]
      const targets: Array<string | undefined> = []
      for (const host of hosts) {
        yield* connection.write(`GET /fast HTTP/1.1\r\nHost: ${host}\r\nAccept: application/json\r\n\r\n`)
        const answer = yield* connection.heard(/^HTTP\/1\.1 302[^]*\r\n\r\n$|^HTTP\/1\.1 404[^]*\}$/)
        targets.push(/^location: (\S*)/im.exec(answer)?.[1])
      }
      expect(targets).toEqual([`${url}default`, `${url}one`, `${url}default`, undefined, `${url}one`])
    })
  )

  it.effect("are not chosen by what a client says of a proxy", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "proxied", domain: "one.example" })
      expect((yield* get("/proxied", { "x-forwarded-host": "one.example" })).status).toBe(404)
    })
  )
})

withService("further domains behind a trusted proxy", { domains, trustedProxies: "127.0.0.1" }, (it) => {
  it.effect("are chosen by the last host of X-Forwarded-Host", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "proxied", domain: "one.example" })
      const forwarded = (host: string) => get("/proxied", { "x-forwarded-host": host })
      expect((yield* forwarded("one.example")).headers.location).toBe(url)
      expect((yield* forwarded("two.example, one.example")).headers.location).toBe(url)
      expect((yield* forwarded("one.example, two.example")).status).toBe(404)
    })
  )
})

withService(
  "hosts that nobody has, where they are not found",
  { baseUrl: new URL("http://127.0.0.1/"), domains, unknownHosts: "not-found" },
  (it) => {
    it.effect("get nothing but the answers for load balancers", () =>
      Effect.gen(function* () {
        yield* create({ url, alias: "guide" })
        expect((yield* get("/guide")).status).toBe(302)
        for (const host of ["nobody.example", "three.example"]) {
          expect((yield* at(host, "/guide")).status).toBe(404)
          expect((yield* at(host, "/")).status).toBe(404)
          expect((yield* at(host, "/health/live")).status).toBe(200)
        }
      })
    )
  }
)

it("the domain of a host is told by the newest list, also of the host that was named last", () => {
  const known = new KnownDomains()
  const number = () =>
    known.numberOf({ headers: { host: "one.example" } } as never, { isByProxy: () => false })
  const isServed = (version: number, verifiedAt: number | null) =>
    known.set({
      version,
      lastNumber: 2,
      longAliasesIn: [],
      domains: [domainOf(1, "one.example", { verifiedAt }), domainOf(2, "two.example")]
    })
  const numbers = [1, null, 1].map((verifiedAt, index) => {
    isServed(index + 1, verifiedAt)
    return [number(), number()]
  })
  expect(numbers).toEqual([
    [1, 1],
    [0, 0],
    [1, 1]
  ])
})

it("no domain is served any more, and where hosts that nobody has are not found, neither is the one that was named last", () => {
  const known = new KnownDomains({ ownHost: "own.example", unknownHosts: "not-found" })
  const number = () =>
    known.numberOf({ headers: { host: "one.example" } } as never, { isByProxy: () => false })
  const numbers = [1, null, 1].map((verifiedAt, index) => {
    known.set({
      version: index + 1,
      lastNumber: 1,
      longAliasesIn: [],
      domains: [domainOf(1, "one.example", { verifiedAt })]
    })
    return [number(), number()]
  })
  expect(numbers).toEqual([
    [1, 1],
    [undefined, undefined],
    [1, 1]
  ])
})

it("a target of a domain is none while links may not lead there", () => {
  const known = new KnownDomains()
  const targets = { ...noTargets, home: `${url}home`, unknown: `${url}unknown` }
  known.set({
    version: 1,
    lastNumber: 1,
    longAliasesIn: [],
    domains: [domainOf(1, "one.example", { targets })]
  })
  const fault = "leads to a host that is blocked here (one.example)" as const
  const policy = { faultOf: (target: string) => (target.endsWith("home") ? fault : undefined) }
  const targetOf = (number: number, reason: keyof typeof targets) => known.targetOf(number, reason, policy)
  expect(targetOf(1, "home")).toBeNull()
  expect(targetOf(1, "unknown")).toBe(`${url}unknown`)
  expect(targetOf(1, "expired")).toBeNull()
  expect(targetOf(0, "unknown")).toBeNull()
})
