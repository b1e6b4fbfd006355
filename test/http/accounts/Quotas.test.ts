import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { formatMoment } from "../../../src/model/Iso8601.ts"
import { ask, asAdmin, newKey, newSession } from "../../support/samples/Account.ts"
import { type Answer, jsonOf, keyOf, type NoAnswer } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import { create, get, TestService, withService } from "../../support/TestService.ts"

const url = "https://example.com/"
const from = (address: string) => ({ "x-forwarded-for": address, accept: "application/json" })

/** Repeats a request until it is refused: how often it was not, and the refusal. */
const drain = (request: Effect.Effect<Answer, NoAnswer, TestService>, status: number, max = 200) =>
  Effect.gen(function* () {
    for (let allowed = 0; allowed < max; allowed++) {
      const answer = yield* request
      if (answer.status !== status) return { allowed, refused: answer }
    }
    throw new Error(`nothing was refused of ${max}`)
  })

const wait = (ms: number) =>
  Effect.map(TestService, ({ clock }) => clock.set(clock.unsafeCurrentTimeMillis() + ms))

withService("creates", { quotas: { createsPerMinute: 6 }, trustedProxies: "127.0.0.1" }, (it) => {
  it.effect("are as many a minute as an owner may make, by whatever key, and each tells what is left", () =>
    Effect.gen(function* () {
      const { stored } = yield* TestService
      const { headers } = yield* newSession
      const key = yield* newKey({ scopes: ["links:write"] }, headers)
      const first = yield* create({ url }, headers)
      expect(first.headers).toMatchObject({
        "ratelimit-limit": "6",
        "ratelimit-remaining": "5",
        "ratelimit-reset": "10"
      })
      const { allowed, refused } = yield* drain(create({ url }, key.headers), 201)
      expect(allowed).toBe(5)
      expectProblem(refused, "rate-limited")
      expect(refused.headers).toMatchObject({
        "retry-after": "10",
        "ratelimit-limit": "6",
        "ratelimit-remaining": "0",
        "ratelimit-reset": "60"
      })
      const before = yield* stored
      expectProblem(yield* create({ url }, headers), "rate-limited")
      expect(yield* stored).toBe(before)
      yield* wait(20_000)
      expect((yield* drain(create({ url }, headers), 201)).allowed).toBe(2)
    })
  )

  it.effect("are as many as a key may make, where that is less", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const key = yield* newKey({ scopes: ["links:write"], createsPerMinute: 2 }, headers)
      const { allowed, refused } = yield* drain(create({ url }, key.headers), 201)
      expect(allowed).toBe(2)
      expect(refused.headers).toMatchObject({ "ratelimit-limit": "2", "retry-after": "30" })
      // What the key was refused is not taken from its owner.
      expect((yield* drain(create({ url }, headers), 201)).allowed).toBe(4)
    })
  )

  it.effect("are not counted where the request is wrong", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      for (let turn = 0; turn < 10; turn++) expect((yield* create({ url: "x" }, headers)).status).toBe(400)
      expect((yield* drain(create({ url }, headers), 201)).allowed).toBe(6)
    })
  )

  it.effect("of others are not limited by it, nor the administrator's, nor the anonymous", () =>
    Effect.gen(function* () {
      const one = yield* newSession
      yield* drain(create({ url }, one.headers), 201)
      const other = yield* newSession
      expect((yield* create({ url }, other.headers)).status).toBe(201)
      for (const headers of [asAdmin, from("203.0.113.1")]) {
        for (let turn = 0; turn < 10; turn++) {
          const answer = yield* create({ url }, headers)
          expect(answer.status).toBe(201)
          expect(answer.headers["ratelimit-limit"]).toBeUndefined()
        }
      }
    })
  )

  it.effect("and their use are shown to their owner", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const quotas = Effect.map(
        ask("GET", "/api/v1/me", headers),
        (answer) => (jsonOf(answer) as { readonly quotas: unknown }).quotas
      )
      yield* create({ url }, headers)
      yield* create({ url }, headers)
      const now = (yield* TestService).clock.unsafeCurrentTimeMillis()
      expect(yield* quotas).toEqual({
        createsPerMinute: { limit: 6, used: 2, remaining: 4, resetAt: formatMoment(now + 20_000) },
        redirectsPerDay: null
      })
      yield* quotas
      expect((yield* drain(create({ url }, headers), 201)).allowed).toBe(4)
    })
  )
})

withService(
  "anonymous creates",
  { quotas: { anonymousCreatesPerMinute: 3 }, trustedProxies: "127.0.0.1" },
  (it) => {
    it.effect("are as many a minute as one client may make", () =>
      Effect.gen(function* () {
        const { allowed, refused } = yield* drain(create({ url }, from("198.51.100.7")), 201)
        expect(allowed).toBe(3)
        expectProblem(refused, "rate-limited")
        expect((yield* create({ url }, from("198.51.100.8"))).status).toBe(201)
      })
    )

    it.effect("are counted for a client's whole network in IPv6", () =>
      Effect.gen(function* () {
        for (const host of [1, 2, 3])
          expect((yield* create({ url }, from(`2001:db8:1:2::${host}`))).status).toBe(201)
        expectProblem(yield* create({ url }, from("2001:db8:1:2:ffff::4")), "rate-limited")
        expect((yield* create({ url }, from("2001:db8:1:3::1"))).status).toBe(201)
      })
    )

    it.effect("are four times as many for all networks of a /48 together, however they are rotated", () =>
      Effect.gen(function* () {
        let network = 0
        const { allowed, refused } = yield* drain(
          Effect.suspend(() => create({ url }, from(`2001:db8:7:${(network++).toString(16)}::1`))),
          201
        )
        expect(allowed).toBe(12)
        expectProblem(refused, "rate-limited")
        expect((yield* create({ url }, from("2001:db8:8::1"))).status).toBe(201)
      })
    )

    it.effect("are counted for a trusted proxy that names no client", () =>
      Effect.gen(function* () {
        expect((yield* drain(create({ url }), 201)).allowed).toBe(3)
        expectProblem(yield* create({ url }, from("unknown")), "rate-limited")
        expect((yield* create({ url }, from("198.51.100.10"))).status).toBe(201)
      })
    )

    it.effect("are not limited for callers who say who they are", () =>
      Effect.gen(function* () {
        yield* drain(create({ url }, from("198.51.100.9")), 201)
        const { headers } = yield* newSession
        const all = { ...headers, ...from("198.51.100.9") }
        for (let turn = 0; turn < 5; turn++) expect((yield* create({ url }, all)).status).toBe(201)
      })
    )
  }
)

withService("where no proxy is trusted, a client", { quotas: { anonymousCreatesPerMinute: 3 } }, (it) => {
  it.effect("is not believed whom it says it speaks for", () =>
    Effect.gen(function* () {
      for (let turn = 0; turn < 10; turn++)
        expect((yield* create({ url }, from("198.51.100.7"))).status).toBe(201)
    })
  )
})

withService("redirects where users have no quota", {}, (it) => {
  it.effect("are as many a day as the API key may have by which links were made", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const limited = yield* newKey({ scopes: ["links:write"], redirectsPerDay: 3 }, headers)
      const [one, free] = [
        keyOf(yield* create({ url }, limited.headers)),
        keyOf(yield* create({ url }, headers))
      ]
      const { allowed, refused } = yield* drain(get(`/${one}`), 302)
      expect(allowed).toBe(3)
      expectProblem(refused, "rate-limited")
      expect((yield* get(`/${free}`)).status).toBe(302)
    })
  )
})

withService("redirects", { quotas: { redirectsPerDay: 20 } }, (it) => {
  it.effect("are as many a day as their owner has, and again from midnight in UTC", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const [one, other] = [keyOf(yield* create({ url }, headers)), keyOf(yield* create({ url }, headers))]
      expect((yield* drain(get(`/${one}`), 302)).allowed).toBe(20)
      const refused = yield* get(`/${other}`)
      expectProblem(refused, "rate-limited")
      // 14 hours are left of the day.
      expect(refused.headers).toMatchObject({ "retry-after": "50400", "ratelimit-limit": "20" })
      expect((yield* get(`/${one}`, {})).status).toBe(429)
      expect(jsonOf(yield* ask("GET", "/api/v1/me", headers))).toMatchObject({
        quotas: {
          redirectsPerDay: { limit: 20, used: 20, remaining: 0, resetAt: "2026-11-22T00:00:00.000Z" }
        }
      })
      yield* wait(14 * 3_600_000)
      expect((yield* drain(get(`/${other}`), 302)).allowed).toBe(20)
      yield* wait(-14 * 3_600_000)
    })
  )

  it.effect("of others, of the administrator and of the anonymous are not limited by it", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      yield* drain(get(`/${keyOf(yield* create({ url }, headers))}`), 302)
      const other = yield* newSession
      expect((yield* get(`/${keyOf(yield* create({ url }, other.headers))}`)).status).toBe(302)
      for (const headers of [asAdmin, {}]) {
        const key = keyOf(yield* create({ url }, headers))
        for (let turn = 0; turn < 25; turn++) expect((yield* get(`/${key}`)).status).toBe(302)
      }
    })
  )

  it.effect("are as many a day as the API key may have by which links were made, where that is less", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const limited = yield* newKey({ scopes: ["links:write"], redirectsPerDay: 3 }, headers)
      const [one, other, free] = [
        keyOf(yield* create({ url }, limited.headers)),
        keyOf(yield* create({ url }, limited.headers)),
        keyOf(yield* create({ url }, headers))
      ]
      expect((yield* get(`/${one}`)).status).toBe(302)
      const { allowed, refused } = yield* drain(get(`/${other}`), 302)
      expect(allowed).toBe(2)
      expectProblem(refused, "rate-limited")
      expect(refused.headers).toMatchObject({ "ratelimit-limit": "3" })
      expect((yield* get(`/${one}`)).status).toBe(429)
      expect(jsonOf(yield* ask("GET", "/api/v1/me", limited.headers))).toMatchObject({
        quotas: { redirectsPerDay: { limit: 3, used: 3 } }
      })
      // What the key was refused is not taken from its owner.
      expect((yield* drain(get(`/${free}`), 302)).allowed).toBe(17)
    })
  )

  it.effect("that are refused use up no visit of a link of few visits", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const [limited, free] = [
        keyOf(yield* create({ url, maxVisits: 3 }, headers)),
        keyOf(yield* create({ url }, headers))
      ]
      expect((yield* get(`/${limited}`)).status).toBe(302)
      yield* drain(get(`/${free}`), 302)
      for (let turn = 0; turn < 4; turn++) expect((yield* get(`/${limited}`)).status).toBe(429)
      yield* wait(14 * 3_600_000)
      expect((yield* drain(get(`/${limited}`), 302)).allowed).toBe(2)
      expect((yield* get(`/${limited}`)).status).toBe(410)
      yield* wait(-14 * 3_600_000)
    })
  )

  it.effect("are not counted where a key leads nowhere", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const [live, ended] = [keyOf(yield* create({ url }, headers)), keyOf(yield* create({ url }, headers))]
      yield* ask("DELETE", `/api/v1/links/${ended}`, headers)
      for (let turn = 0; turn < 25; turn++) expect((yield* get(`/${ended}`)).status).toBe(410)
      expect((yield* drain(get(`/${live}`), 302)).allowed).toBe(20)
    })
  )
})

withService(
  "asking for keys that lead nowhere",
  { quotas: { failedLookupsPerMinute: 5 }, trustedProxies: "127.0.0.1" },
  (it) => {
    const scan = (address: string) => (turn: number) => get(`/nothing-${turn}`, from(address))

    it.effect("is stopped for a client that does it often, whatever it asks for then", () =>
      Effect.gen(function* () {
        const key = keyOf(yield* create({ url }))
        const address = "198.51.100.7"
        let turn = 0
        const { allowed, refused } = yield* drain(
          Effect.suspend(() => scan(address)(turn++)),
          404
        )
        expect(allowed).toBe(5)
        expectProblem(refused, "rate-limited")
        expect((yield* get(`/${key}`, from(address))).status).toBe(429)
        expect((yield* get(`/${key}`, from("198.51.100.8"))).status).toBe(302)
        yield* wait(60_000)
        expect((yield* get(`/${key}`, from(address))).status).toBe(302)
      })
    )

    it.effect("is stopped where it asks for statistics, of which only public ones lead somewhere", () =>
      Effect.gen(function* () {
        const address = from("198.51.100.12")
        const key = keyOf(yield* create({ url, publicStats: true }))
        const stats = `/api/v1/links/${key}/stats`
        for (let turn = 0; turn < 20; turn++) expect((yield* get(stats, address)).status).toBe(200)
        let turn = 0
        const { allowed, refused } = yield* drain(
          Effect.suspend(() => get(`/api/v1/links/nothing-${turn++}/stats`, address)),
          401
        )
        expect(allowed).toBe(5)
        expectProblem(refused, "rate-limited")
        expect((yield* get(stats, address)).status).toBe(429)
      })
    )

    it.effect("is stopped where it asks for statistics that are not public, of links at hand as well", () =>
      Effect.gen(function* () {
        const address = from("198.51.100.13")
        const key = keyOf(yield* create({ url }))
        expect((yield* get(`/${key}`, from("198.51.100.14"))).status).toBe(302)
        const { allowed, refused } = yield* drain(get(`/api/v1/links/${key}/stats`, address), 401)
        expect(allowed).toBe(5)
        expectProblem(refused, "rate-limited")
      })
    )

    it.effect("is stopped where it asks for statistics that it may not see, whoever has signed in", () =>
      Effect.gen(function* () {
        const shown = keyOf(yield* create({ url, publicStats: true }))
        const hidden = keyOf(yield* create({ url }))
        const { headers: user } = yield* newSession
        const own = keyOf(yield* create({ url }, user))
        const deleted = keyOf(yield* create({ url, publicStats: true }, user))
        expect((yield* ask("DELETE", `/api/v1/links/${deleted}`, user)).status).toBe(204)
        const asking = (headers: Readonly<Record<string, string>>, address: string) => (key: string) =>
          ask("GET", `/api/v1/links/${key}/stats`, { ...headers, ...from(address) })
        const nothing = (stats: ReturnType<typeof asking>) => {
          let turn = 0
          return Effect.suspend(() => stats(`nothing-${turn++}`))
        }

        const one = asking(user, "198.51.100.15")
        for (let turn = 0; turn < 20; turn++) {
          for (const key of [own, shown]) expect((yield* one(key)).status).toBe(200)
          expectProblem(yield* one(deleted), "not-found")
        }
        const other = asking(user, "198.51.100.16")
        for (const [stats, guess] of [
          [one, nothing(one)],
          [other, other(hidden)]
        ] as const) {
          const { allowed, refused } = yield* drain(guess, 404)
          expect(allowed).toBe(5)
          expectProblem(refused, "rate-limited")
          for (const key of [shown, hidden, "nothing"]) expectProblem(yield* stats(key), "rate-limited")
          // What one manages is no guess.
          expect((yield* stats(own)).status).toBe(200)
          expectProblem(yield* stats(deleted), "not-found")
        }

        // Nor where the key may not see it.
        const { headers: scopeless } = yield* newKey({ scopes: ["links:read"] }, user)
        const narrow = asking(scopeless, "198.51.100.19")
        const ownKeys = [own, deleted]
        for (let turn = 0; turn < 20; turn++) {
          for (const key of ownKeys) expectProblem(yield* narrow(key), "forbidden")
        }
        const narrowly = yield* drain(nothing(narrow), 403)
        expect(narrowly.allowed).toBe(5)
        for (const key of [shown, hidden]) expectProblem(yield* narrow(key), "rate-limited")
        for (const key of ownKeys) expectProblem(yield* narrow(key), "forbidden")

        // Administrators manage every link.
        const admin = asking(asAdmin, "198.51.100.17")
        const guess = nothing(admin)
        for (let turn = 0; turn < 20; turn++) expect((yield* guess).status).toBe(404)
        for (const key of [own, shown, hidden]) expect((yield* admin(key)).status).toBe(200)
        expectProblem(yield* admin(deleted), "not-found")

        // Of others' deleted links nobody learns more than of keys without one.
        const { headers: stranger } = yield* newSession
        const { allowed, refused } = yield* drain(asking(stranger, "198.51.100.18")(deleted), 404)
        expect(allowed).toBe(5)
        expectProblem(refused, "rate-limited")
      })
    )

    it.effect("is not counted for links that are there", () =>
      Effect.gen(function* () {
        const key = keyOf(yield* create({ url }))
        for (let turn = 0; turn < 20; turn++)
          expect((yield* get(`/${key}`, from("198.51.100.9"))).status).toBe(302)
      })
    )

    it.effect("is stopped also where all of it is asked at once, with previews and passwords among it", () =>
      Effect.gen(function* () {
        const key = keyOf(yield* create({ url }))
        const address = from("198.51.100.10")
        const answers = yield* Effect.forEach(
          Array.from({ length: 60 }, (_, turn) => turn),
          (turn) => get(turn % 3 === 0 ? `/never-${turn}+` : `/never-${turn}`, address),
          { concurrency: "unbounded" }
        )
        const statuses = answers.map(({ status }) => status)
        expect(statuses.filter((status) => status === 404)).toHaveLength(5)
        expect(statuses.filter((status) => status === 429)).toHaveLength(55)
        for (const { headers, status } of answers)
          if (status === 429) expect(Number(headers["retry-after"])).toBeGreaterThanOrEqual(1)
        expect((yield* get(`/${key}`, from("198.51.100.11"))).status).toBe(302)
      })
    )
  }
)

withService("asking for keys on this machine itself", { quotas: { failedLookupsPerMinute: 5 } }, (it) => {
  it.effect("is not counted, nor are creates", () =>
    Effect.gen(function* () {
      for (let turn = 0; turn < 20; turn++) expect((yield* get(`/nothing-${turn}`)).status).toBe(404)
      for (let turn = 0; turn < 5; turn++) expect((yield* create({ url })).status).toBe(201)
    })
  )
})

withService(
  "a limit of 120 keys that lead nowhere",
  { quotas: { failedLookupsPerMinute: 120 }, trustedProxies: "127.0.0.1" },
  (it) => {
    it.effect(
      "lets 120 through of 250 that are asked at once, and none of those that lead somewhere in vain",
      () =>
        Effect.gen(function* () {
          const statusesOf = (paths: ReadonlyArray<string>, address: string) =>
            Effect.map(
              Effect.forEach(paths, (path) => get(path, from(address)), { concurrency: "unbounded" }),
              (answers) => answers.map(({ status }) => status)
            )
          const nowhere = Array.from({ length: 250 }, (_, turn) => `/nothing-${turn}`)
          const statuses = yield* statusesOf(nowhere, "198.51.100.7")
          expect(statuses.filter((status) => status === 404)).toHaveLength(120)
          expect(statuses.filter((status) => status === 429)).toHaveLength(130)
          const keys = yield* Effect.forEach(nowhere, () => Effect.map(create({ url }), keyOf))
          expect(
            new Set(
              yield* statusesOf(
                keys.map((key) => `/${key}`),
                "198.51.100.8"
              )
            )
          ).toEqual(new Set([302]))
        })
    )
  }
)
