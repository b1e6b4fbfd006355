import { expect } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { domainKeyOf, qualifiedKey } from "../../../src/keys/QualifiedKey.ts"
import { jsonOf } from "../../support/http/HttpClient.ts"
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

const domains = "/api/v1/domains"
const url = "https://example.com/"

interface Proof {
  readonly txt: { readonly name: string; readonly value: string }
  readonly file: { readonly url: string; readonly content: string }
}

/** Adds a domain: gives its proof. */
const add = (host: string, owners?: ReadonlyArray<string>) =>
  Effect.map(asAdmin("POST", domains, { host, ...(owners && { owners }) }), (answer) => {
    expect(answer.status).toBe(201)
    return (jsonOf(answer) as { readonly proof: Proof }).proof
  })

const verify = (host: string) => asAdmin("POST", `${domains}/${host}/verify`)

/** Adds a domain, and verifies it by its TXT record. */
const addVerified = (host: string, owners?: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { shown } = yield* TestService
    const { txt } = yield* add(host, owners)
    shown.txt.set(txt.name, txt.value)
    expect((yield* verify(host)).status).toBe(200)
  })

const at = (host: string, path: string) => get(path, { accept: "application/json", host })

withService("a domain", {}, (it) => {
  it.effect("is used once its TXT record is there", () =>
    Effect.gen(function* () {
      const { shown } = yield* TestService
      const { txt } = yield* add("TXT.example")
      expect(txt.name).toBe("_linkmint.txt.example")
      expect(txt.value).toMatch(/^linkmint-domain=[0-9a-f]{32}$/)
      expectProblem(yield* verify("txt.example"), "domain-not-proven")
      shown.txt.set(txt.name, `${txt.value}0`)
      expectProblem(yield* verify("txt.example"), "domain-not-proven")
      expect((yield* create({ url, alias: "early", domain: "txt.example" })).status).toBe(400)
      shown.txt.set(txt.name, txt.value)
      expect(jsonOf(yield* verify("txt.example"))).toMatchObject({ host: "txt.example" })
      expect((yield* create({ url, alias: "early", domain: "txt.example" })).status).toBe(201)
      expect((yield* at("txt.example", "/early")).headers.location).toBe(url)
      // What was shown once need not stay.
      shown.txt.delete(txt.name)
      expect((yield* verify("txt.example")).status).toBe(200)
    })
  )

  it.effect("is used once its file is there", () =>
    Effect.gen(function* () {
      const { shown } = yield* TestService
      const { file } = yield* add("file.example")
      expect(file.url).toBe("http://file.example/.well-known/linkmint-domain")
      shown.files.set("file.example/.well-known/linkmint-domain", `${file.content}x`)
      expectProblem(yield* verify("file.example"), "domain-not-proven")
      shown.files.set("file.example/.well-known/linkmint-domain", `${file.content}\n`)
      expect((yield* verify("FILE.example")).status).toBe(200)
    })
  )

  it.effect("finds aliases in whatever case once it ignores case, and minted keys as they are", () =>
    Effect.gen(function* () {
      yield* addVerified("fold.example")
      const domain = "fold.example"
      const change = (ignoresCase: boolean) => asAdmin("PATCH", `${domains}/${domain}`, { ignoresCase })
      const leads = (path: string) => Effect.map(at(domain, path), ({ headers }) => headers.location)
      const minted = jsonOf(yield* create({ url: `${url}minted`, domain })) as { readonly key: string }
      expect(jsonOf(yield* change(true))).toMatchObject({ ignoresCase: true })
      const made = yield* create({ url: `${url}notes`, alias: "NoteS", domain })
      expect(jsonOf(made)).toMatchObject({ key: "notes", domain })
      // The second time it is cached.
      for (const path of ["/notes", "/NOTES", "/NOTES", "/nOtes"])
        expect(yield* leads(path)).toBe(`${url}notes`)
      expect(jsonOf(yield* at(domain, "/NOTES+"))).toMatchObject({ key: "notes" })
      expect((yield* create({ url, alias: "NOTES", domain })).status).toBe(409)
      expect(yield* leads(`/${minted.key}`)).toBe(`${url}minted`)
      const other =
        minted.key === minted.key.toUpperCase() ? minted.key.toLowerCase() : minted.key.toUpperCase()
      expect(yield* leads(`/${other}`)).toBeUndefined()
      // Of an alias that differs from a minted key in case alone each is found.
      expect((yield* create({ url: `${url}alias`, alias: other, domain })).status).toBe(201)
      expect(yield* leads(`/${other}`)).toBe(`${url}alias`)
      expect(yield* leads(`/${minted.key}`)).toBe(
        minted.key === minted.key.toLowerCase() ? `${url}alias` : `${url}minted`
      )
      const link = (key: string, method = "GET", body?: object) =>
        asAdmin(method, `/api/v1/links/${key}?domain=${domain}`, body)
      expect(jsonOf(yield* link("NoTes", "PATCH", { title: "Notes" }))).toMatchObject({
        key: "notes",
        title: "Notes"
      })
      expect((yield* link("NOTES", "DELETE")).status).toBe(204)
      expect((yield* at(domain, "/notes")).status).toBe(410)
      expect((yield* at(domain, "/NOTES")).status).toBe(410)
      // Nothing of this concerns other domains.
      yield* create({ url: `${url}default`, alias: "CaseCounts" })
      expect((yield* get("/casecounts")).status).toBe(404)
      expect((yield* get("/CaseCounts")).headers.location).toBe(`${url}default`)
    })
  )

  it.effect("finds, changes and deletes no minted key that is written in capitals", () =>
    Effect.gen(function* () {
      const { links } = yield* TestService
      const domain = "minted.example"
      yield* addVerified(domain)
      yield* asAdmin("PATCH", `${domains}/${domain}`, { ignoresCase: true })
      yield* create({ url: `${url}minted`, domain })
      const [row] = (yield* links.list({ order: "createdAt-desc", limit: 1, lookedAtMax: 1 })).links
      const { domain: number } = domainKeyOf(row!.key)
      // As a key is that was minted without capitals.
      const key = "abc4efg"
      yield* links.insertMany([{ ...row!, key: qualifiedKey({ domain: number, key }), createId: 1 }])
      expect((yield* at(domain, `/${key}`)).headers.location).toBe(`${url}minted`)
      const written = key.toUpperCase()
      // The second time it is cached.
      for (const path of [`/${written}`, `/${written}`, `/${written}+`])
        expect((yield* at(domain, path)).status).toBe(404)
      const link = (key: string, method: string, body?: object) =>
        asAdmin(method, `/api/v1/links/${key}?domain=${domain}`, body)
      expect((yield* link(written, "PATCH", { title: "Another one" })).status).toBe(404)
      expect((yield* link(written, "DELETE")).status).toBe(404)
      expect(jsonOf(yield* link(key, "GET"))).toMatchObject({ title: null })
    })
  )

  it.effect("ignores no case while it has aliases with capital letters, which it names", () =>
    Effect.gen(function* () {
      yield* addVerified("mixed.example")
      const domain = "mixed.example"
      for (const alias of ["Guide", "guide", "News", "plain"]) yield* create({ url, alias, domain })
      const refused = yield* asAdmin("PATCH", `${domains}/${domain}`, { ignoresCase: true })
      expectProblem(refused, "aliases-with-capitals")
      expect((jsonOf(refused) as { detail: string }).detail).toContain("letters: News, Guide.")
      const report = asAdmin("GET", `${domains}/${domain}/capitals`)
      expect(jsonOf(yield* report)).toEqual({
        data: [
          { key: "News", folded: "news", collides: false },
          { key: "Guide", folded: "guide", collides: true }
        ],
        isComplete: true
      })
      for (const alias of ["Guide", "News"])
        yield* asAdmin("DELETE", `/api/v1/links/${alias}?domain=${domain}`)
      expect((yield* asAdmin("PATCH", `${domains}/${domain}`, { ignoresCase: true })).status).toBe(200)
      // The old alias answers no longer for the new one.
      yield* create({ url: `${url}news`, alias: "News", domain })
      expect((yield* at(domain, "/News")).headers.location).toBe(`${url}news`)
      expect(jsonOf(yield* report)).toEqual({ data: [], isComplete: true })
      const asUser = get(`${domains}/${domain}/capitals`, { "x-api-key": userKeys.one })
      expectProblem(yield* asUser, "forbidden")
    })
  )

  it.effect("is not proven by what another domain shows", () =>
    Effect.gen(function* () {
      const { shown } = yield* TestService
      const { txt } = yield* add("shown.example")
      const other = yield* add("hidden.example")
      shown.txt.set(other.txt.name, txt.value)
      expectProblem(yield* verify("hidden.example"), "domain-not-proven")
    })
  )

  it.effect("must have a host name that is no other domain's", () =>
    Effect.gen(function* () {
      for (const host of ["1.2.3.4", "a b.example", "https://a.example", "a.example:80", ""]) {
        expectProblem(yield* asAdmin("POST", domains, { host }), "invalid-request", [
          ["host", "must be a host name"]
        ])
      }
      expectProblem(yield* asAdmin("POST", domains, { host: "localhost" }), "invalid-request", [
        ["host", "is the default domain"]
      ])
      yield* add("twice.example")
      expectProblem(yield* asAdmin("POST", domains, { host: "Twice.Example" }), "domain-taken")
    })
  )

  it.effect("is named in its own script or in Punycode, in whatever case", () =>
    Effect.gen(function* () {
      const { shown } = yield* TestService
      const host = "xn--bcher-kva.example"
      const { txt } = yield* add("bücher.example")
      shown.txt.set(txt.name, txt.value)
      expect(jsonOf(yield* verify(encodeURIComponent("Bücher.example")))).toMatchObject({ host })
      for (const [alias, domain] of [
        ["own-script", "bücher.example"],
        ["own-capital", "BÜCHER.example"],
        ["punycode", "XN--bcher-kva.example"]
      ] as const) {
        expect(jsonOf(yield* create({ url, alias, domain }))).toMatchObject({ key: alias, domain: host })
        const name = encodeURIComponent(domain)
        expect((yield* asAdmin("GET", `/api/v1/links/${alias}?domain=${name}`)).status).toBe(200)
        expect((yield* get(`/health/certificate?domain=${name}`)).status).toBe(200)
      }
      const list = yield* asAdmin("GET", `/api/v1/links?domain=${encodeURIComponent("bücher.example")}`)
      expect((jsonOf(list) as { data: ReadonlyArray<unknown> }).data).toHaveLength(3)
      expectProblem(yield* create({ url, domain: "büchér.example" }), "invalid-request", [
        ["domain", "is not a domain of this service"]
      ])
    })
  )

  it.effect("is for everybody, or for its owners alone", () =>
    Effect.gen(function* () {
      yield* addVerified("owned.example", ["usr_one"])
      const body = { url, alias: "owned", domain: "owned.example" }
      expectProblem(yield* create(body, { "x-api-key": userKeys.other }), "forbidden", [
        ["domain", "is for its owners alone"]
      ])
      const changed = yield* asAdmin("PATCH", `${domains}/owned.example`, {
        owners: ["usr_one", "usr_other"]
      })
      expect(jsonOf(changed)).toMatchObject({ owners: ["usr_one", "usr_other"] })
      expect((yield* create(body, { "x-api-key": userKeys.other })).status).toBe(201)
      yield* asAdmin("PATCH", `${domains}/owned.example`, { owners: null })
      expect((yield* create({ ...body, alias: "anybody" })).status).toBe(201)
    })
  )

  it.effect("is listed for administrators, and for those who may use it without its proof", () =>
    Effect.gen(function* () {
      yield* add("mine.example", ["usr_one"])
      yield* add("theirs.example", ["usr_other"])
      const hosts = (list: unknown) =>
        (list as { data: ReadonlyArray<{ host: string }> }).data.map(({ host }) => host)
      expect(hosts(jsonOf(yield* asAdmin("GET", domains)))).toEqual(
        expect.arrayContaining(["mine.example", "theirs.example"])
      )
      const list = yield* withKey(userKeys.one, "GET", domains)
      expect(hosts(jsonOf(list))).toContain("mine.example")
      expect(hosts(jsonOf(list))).not.toContain("theirs.example")
      expect(list.text).not.toContain("linkmint-domain")
    })
  )

  it.effect("takes its links along when it is removed, also when its host is added again", () =>
    Effect.gen(function* () {
      yield* addVerified("gone.example")
      yield* create({ url, alias: "left", domain: "gone.example" }, { "x-api-key": userKeys.one })
      expect((yield* at("gone.example", "/left")).status).toBe(302)
      expect((yield* asAdmin("DELETE", `${domains}/gone.example`)).status).toBe(204)
      expect((yield* at("gone.example", "/left")).status).toBe(404)
      yield* addVerified("gone.example")
      expect((yield* at("gone.example", "/left")).status).toBe(404)
      // Its owner still sees and deletes it, under a name that no host has.
      const list = jsonOf(yield* withKey(userKeys.one, "GET", "/api/v1/links?q=left")) as {
        data: ReadonlyArray<{ key: string; domain: string }>
      }
      expect(list.data).toHaveLength(1)
      const { domain } = list.data[0]!
      expect(domain).toMatch(/^removed-\d+\.invalid$/)
      const path = `/api/v1/links/left?domain=${domain}`
      expect((yield* withKey(userKeys.one, "DELETE", path)).status).toBe(204)
    })
  )

  it.effect("may have a certificate once it is verified, as the default domain may", () =>
    Effect.gen(function* () {
      const ask = (host: string) =>
        Effect.map(get(`/health/certificate?domain=${host}`), ({ status }) => status)
      yield* add("unproven.example")
      yield* addVerified("proven.example")
      expect(yield* ask("proven.example")).toBe(200)
      expect(yield* ask("localhost")).toBe(200)
      expect(yield* ask("unproven.example")).toBe(404)
      expect(yield* ask("nobody.example")).toBe(404)
      expect((yield* get("/health/certificate")).status).toBe(404)
    })
  )

  it.effect("is added, changed, verified and removed on record", () =>
    Effect.gen(function* () {
      const { audit } = yield* TestService
      yield* addVerified("audited.example")
      yield* asAdmin("PATCH", `${domains}/audited.example`, { owners: [] })
      yield* asAdmin("DELETE", `${domains}/audited.example`)
      const entries = yield* audit.list({ limit: 500 })
      const actions = entries.filter(({ target }) => target === "audited.example").map(({ action }) => action)
      expect(actions.toSorted()).toEqual([
        "domain.added",
        "domain.changed",
        "domain.removed",
        "domain.verified"
      ])
    })
  )

  for (const [method, path] of [
    ["POST", domains],
    ["PATCH", `${domains}/a.example`],
    ["POST", `${domains}/a.example/verify`],
    ["DELETE", `${domains}/a.example`]
  ] as const) {
    it.effect(`is an administrator's matter: ${method} ${path}`, () =>
      Effect.map(withKey(userKeys.one, method, path, {}), (answer) => expectProblem(answer, "forbidden"))
    )
  }

  it.effect("sends visitors elsewhere whom no link redirects, and leaves programs their problem", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      const host = "targets.example"
      yield* addVerified(host)
      const of = (alias: string, more: object) => create({ url, alias, domain: host, ...more })
      yield* of("expired", { expiresIn: "PT1S" })
      yield* of("used", { maxVisits: 1 })
      yield* of("pending", { validSince: "2027-01-01T00:00:00Z" })
      yield* of("deleted", {})
      yield* asAdmin("DELETE", `/api/v1/links/deleted?domain=${host}`)
      yield* at(host, "/used")
      clock.set(startOfTests_ms + 1_000)
      const paths = {
        home: "/",
        unknown: "/nothing",
        expired: "/expired",
        usedUp: "/used",
        pending: "/pending"
      }
      const targets = Object.fromEntries(Object.keys(paths).map((name) => [name, `${url}${name}`]))
      const page = (path: string) => get(path, { accept: "text/html", host })
      for (const path of Object.values(paths)) expect((yield* page(path)).headers.location).toBeUndefined()
      const changed = yield* asAdmin("PATCH", `${domains}/${host}`, { targets })
      expect(jsonOf(changed)).toMatchObject({ targets })
      for (const [name, path] of Object.entries(paths)) {
        const answer = yield* page(path)
        expect([answer.status, answer.headers.location]).toEqual([302, `${url}${name}`])
        const problem = yield* at(host, path)
        expect(problem.headers["content-type"]).toBe("application/problem+json")
        expect(problem.status).toBeGreaterThanOrEqual(404)
      }
      expect((yield* page("/deleted")).status).toBe(410)
      // The default domain has nothing of it.
      expect((yield* get("/nothing", { accept: "text/html" })).status).toBe(404)
      // A path of several segments that no link redirects is as unknown as a key without one.
      for (const path of ["/no/thing", "/deleted/thing", "/no/thing/..", "/a.b/c", "//nothing", "/docs"]) {
        expect([path, (yield* page(path)).headers.location]).toEqual([path, targets["unknown"]])
        expect([path, (yield* at(host, path)).status]).toEqual([path, 404])
      }
      for (const path of ["/api/v1/links", "/metrics", "/openapi.json"]) {
        expect([path, (yield* page(path)).status]).toEqual([path, 404])
      }
      yield* asAdmin("PATCH", `${domains}/${host}`, { targets: { unknown: null } })
      expect((yield* page("/nothing")).status).toBe(404)
      expect((yield* page("/expired")).status).toBe(302)
      clock.set(startOfTests_ms)
    })
  )

  it.effect("sends visitors only where links may lead", () =>
    Effect.gen(function* () {
      yield* addVerified("strict.example")
      const change = (home: string) => asAdmin("PATCH", `${domains}/strict.example`, { targets: { home } })
      expectProblem(yield* change("ftp://example.com/"), "invalid-url", [
        ["targets.home", "must start with http:// or https:// and a host"]
      ])
      expectProblem(yield* change("http://strict.example/"), "blocked-target", [
        ["targets.home", /^leads to this service itself/]
      ])
    })
  )

  it.effect("is verified while no other one is", () =>
    Effect.gen(function* () {
      const { shown } = yield* TestService
      yield* add("slow.example")
      yield* add("next.example")
      const begun = yield* Deferred.make<void>()
      const released = yield* Deferred.make<void>()
      shown.wait = Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(released))
      const first = yield* Effect.fork(verify("slow.example"))
      yield* Deferred.await(begun)
      expectProblem(yield* verify("next.example"), "unavailable")
      yield* Deferred.succeed(released, undefined)
      expectProblem(yield* Fiber.join(first), "domain-not-proven")
      shown.wait = Effect.void
      expectProblem(yield* verify("next.example"), "domain-not-proven")
    })
  )
})

const limited = { trustedProxies: "127.0.0.1", quotas: { failedLookupsPerMinute: 5 } }

withService("a domain that ignores case", limited, (it) => {
  it.effect("does not count a look-up as one that led nowhere for the case in which it was written", () =>
    Effect.gen(function* () {
      yield* addVerified("quota.example")
      const domain = "quota.example"
      yield* asAdmin("PATCH", `${domains}/${domain}`, { ignoresCase: true })
      yield* create({ url, alias: "quota", domain })
      const headers = { accept: "application/json", host: domain, "x-forwarded-for": "203.0.113.9" }
      const answers = yield* Effect.replicateEffect(get("/QUOTA", headers), 10)
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]))
      const missed = yield* Effect.replicateEffect(get("/NOBODY", headers), 6)
      expect(missed.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 429])
    })
  )
})
