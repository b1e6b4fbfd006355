import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { encode } from "../../../src/telemetry/PrometheusText.ts"
import { samplesOf, valueOf } from "../../support/http/MetricsText.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import { asAdmin, create, get, TestService, withService } from "../../support/TestService.ts"

const token = "the-token-of-tests"

/** What is kept for a second is read again. */
let moment = 0
const metrics = Effect.gen(function* () {
  const { clock } = yield* TestService
  clock.set(Date.parse("2026-11-22T10:00:00.000Z") + 2_000 * ++moment)
  return yield* asAdmin("GET", "/metrics")
})

withService("the metrics", {}, (it) => {
  it.effect("count requests by route and status, however many paths there are", () =>
    Effect.gen(function* () {
      const countOf = (text: string, labels: object) => valueOf(text, "linkmint_http_requests_total", labels)
      const before = (yield* metrics).text
      yield* create({ url: "https://example.com/?secret=hunter2", alias: "counted" })
      for (let times = 0; times < 3; times++) yield* get("/counted")
      yield* get("/counted?x=1")
      yield* get("/uncounted")
      yield* get("/api/v1/links/counted")
      yield* get("/such/a/path")
      yield* asAdmin("PURGE", "/such/a/path")
      const answer = yield* metrics
      expect(answer.headers).toMatchObject({
        "content-type": "text/plain; version=0.0.4; charset=utf-8",
        "cache-control": "no-store"
      })
      const { text } = answer
      const grew = (labels: object) => countOf(text, labels) - countOf(before, labels)
      expect(grew({ method: "POST", route: "/api/v1/links", status: "201" })).toBe(1)
      expect(grew({ method: "GET", route: "/{key}", status: "302" })).toBe(4)
      // What is behind a key is its path.
      expect(grew({ method: "GET", route: "/{key}", status: "404" })).toBe(2)
      expect(grew({ method: "GET", route: "/api/v1/links/{key}", status: "401" })).toBe(1)
      expect(grew({ method: "any", route: "other", status: "404" })).toBe(1)
      const redirects = { method: "GET", route: "/{key}" }
      expect(valueOf(text, "linkmint_http_request_duration_seconds_count", redirects)).toBeGreaterThanOrEqual(
        5
      )
      expect(valueOf(text, "linkmint_http_requests_in_flight", {})).toBe(1)
      for (const told of ["counted", "hunter2", "example.com"]) expect(text).not.toContain(told)
    })
  )

  it.effect("count each lookup of a link once", () =>
    Effect.gen(function* () {
      // It asks all owners, which starts them.
      expect((yield* get("/health/ready")).status).toBe(200)
      yield* create({ url: "https://example.com/", alias: "looked-up" })
      const before = (yield* metrics).text
      yield* get("/looked-up")
      yield* get("/looked-up")
      yield* get("/looked-up")
      const { text } = yield* metrics
      const grew = (level: string, outcome: string) =>
        valueOf(text, `linkmint_${level}_lookups_total`, { outcome }) -
        valueOf(before, `linkmint_${level}_lookups_total`, { outcome })
      expect([grew("l1", "miss"), grew("l1", "hit")]).toEqual([1, 2])
      // The owner kept what it wrote.
      expect([grew("l2", "miss"), grew("l2", "hit")]).toEqual([0, 1])
    })
  )

  it.effect("tell how many shards the node owns, and not what the library knows of them", () =>
    Effect.gen(function* () {
      const { text } = yield* metrics
      expect(valueOf(text, "linkmint_owned_shards", {})).toBe(64)
      // Shards that are given to others stay counted there.
      expect(text).not.toContain("effect_cluster_shards")
    })
  )

  it.effect("leave out what the stores do not tell, and tell the rest", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      yield* create({ url: "https://example.com/" })
      expect((yield* metrics).text).toContain("linkmint_key_range_remaining_keys{")
      yield* setFault("ranges", "fails")
      const { status, text } = yield* metrics
      expect(status).toBe(200)
      expect(text).not.toContain("linkmint_key_range_remaining_keys{")
      expect(text).toContain("linkmint_key_buffer_keys ")
    })
  )
})

withService("without METRICS_TOKEN the metrics", {}, (it) => {
  it.effect("are for administrators alone", () =>
    Effect.gen(function* () {
      expect((yield* asAdmin("GET", "/metrics")).status).toBe(200)
      expectProblem(yield* get("/metrics"), "unauthorized")
      expectProblem(yield* get("/metrics", { authorization: `Bearer ${token}` }), "unauthorized")
    })
  )
})

withService("with METRICS_TOKEN the metrics", { metricsToken: token }, (it) => {
  it.effect("are for its bearer and administrators alone", () =>
    Effect.gen(function* () {
      expect((yield* get("/metrics", { authorization: `Bearer ${token}` })).status).toBe(200)
      expect((yield* asAdmin("GET", "/metrics")).status).toBe(200)
      expectProblem(yield* get("/metrics"), "unauthorized")
      expectProblem(yield* get("/metrics", { authorization: "Bearer the-token-of-others" }), "unauthorized")
      // A query makes no short key of the path.
      expectProblem(yield* get("/metrics?x"), "unauthorized")
    })
  )

  it.effect("are written so that no text of a label or a description ends it", () =>
    Effect.sync(() => {
      const awkward = 'a "quoted" \\ and\nbroken'
      const text = encode([
        {
          name: "awkward",
          help: awkward,
          type: "gauge",
          samples: [
            { labels: { awkward }, value: Number.POSITIVE_INFINITY },
            { labels: {}, value: 0.1 + 0.2 },
            { labels: { n: "1" }, value: 3n }
          ]
        }
      ])
      expect(samplesOf(text).map(({ labels, value }) => [labels, value])).toEqual([
        [{ awkward }, Number.POSITIVE_INFINITY],
        [{}, 0.1 + 0.2],
        [{ n: "1" }, 3]
      ])
    })
  )
})
