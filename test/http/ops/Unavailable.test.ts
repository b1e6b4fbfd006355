import { expect, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { describe } from "vitest"
import { type Answer, jsonOf, type NoAnswer } from "../../support/http/HttpClient.ts"
import type { Fault } from "../../support/StoreFaults.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import { answerMax_ms, inTime } from "../../support/InTime.ts"
import * as RawConnection from "../../support/http/RawConnection.ts"
import { asAdmin, create, get, layer, TestService } from "../../support/TestService.ts"

const url = "https://example.com/"

const expectUnavailable = (answer: Answer) => {
  expectProblem(answer, "unavailable")
  expect(answer.headers["retry-after"]).toMatch(/^[1-9]\d*$/)
  expect(answer.text).not.toContain("the test has broken it")
}

const stores = ["links", "ranges", "stock"] as const

/** What needs a store, when nothing is cached and no key is at hand. */
const needing: Record<
  (typeof stores)[number],
  ReadonlyArray<Effect.Effect<Answer, NoAnswer, TestService>>
> = {
  links: [
    create({ url }),
    create({ url, alias: "my-alias" }),
    get("/present"),
    asAdmin("GET", "/api/v1/links/present"),
    asAdmin("GET", "/api/v1/links"),
    asAdmin("PATCH", "/api/v1/links/present", { title: "t" }),
    asAdmin("DELETE", "/api/v1/links/present")
  ],
  ranges: [create({ url })],
  stock: [create({ url })]
}
/** Waits until the service is ready; a lease that was silent meanwhile may have to end first. */
const ready = get("/health/ready").pipe(Effect.repeat({ until: ({ status }) => status === 200 }))

const ways: Record<Exclude<Fault, "none" | "fails once">, string> = {
  fails: "fails",
  silent: "never answers",
  stuck: "never answers and cannot be interrupted"
}

const kinds = stores.flatMap((store) =>
  Object.entries(ways).map(([fault, how]) => ({ store, fault: fault as Fault, how }))
)

describe("what needs a store that is away is answered 503 within 5 s", () => {
  it.scopedLive(`where it ${Object.values(ways).join(", and where it ")}`, () =>
    Effect.gen(function* () {
      // All are started before the first is broken: what takes its time then is the service, not the test.
      const services = yield* Effect.forEach(kinds, () => Layer.build(layer()))
      yield* Effect.forEach(services, (service) => Effect.provide(get("/health/live"), service))
      yield* Effect.forEach(
        kinds,
        ({ fault, how, store }, index) =>
          Effect.gen(function* () {
            const { setFault, stored } = yield* TestService
            yield* setFault(store, fault)
            const asked = Effect.all(needing[store], { concurrency: "unbounded" })
            const answers = yield* inTime(`the store of ${store} ${how}`, asked)
            answers.forEach(expectUnavailable)
            expect(yield* stored).toBe(0)
          }).pipe(Effect.provide(services[index]!)),
        // All at once, since they do nothing but wait.
        { concurrency: "unbounded", discard: true }
      )
    })
  )
})

// Some tests wait for seconds, each on a service of its own.
describe.concurrent("while a store is away,", () => {
  for (const store of stores) {
    it.scopedLive(`creates and redirects work again when the store of ${store} is back`, () =>
      Effect.gen(function* () {
        const { setFault } = yield* TestService
        yield* setFault(store, "fails")
        expectUnavailable(yield* create({ url }))
        yield* setFault(store, "none")
        const created = yield* create({ url })
        expect(created.status).toBe(201)
        const { key } = jsonOf(created) as { key: string }
        expect((yield* get(`/${key}`)).headers.location).toBe(url)
      }).pipe(Effect.provide(layer()))
    )
  }

  it.scopedLive("a redirect that was followed before is followed again, at once", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      yield* create({ url, alias: "followed" })
      expect((yield* get("/followed")).status).toBe(302)
      yield* setFault("links", "stuck")
      expect((yield* get("/followed")).status).toBe(302)
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("a bad create is told so, as ever", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      yield* Effect.all([setFault("links", "fails"), setFault("ranges", "fails"), setFault("stock", "fails")])
      expectProblem(yield* create({ url: "ftp://example.com/" }), "invalid-url", [["url", "must start with"]])
    }).pipe(Effect.provide(layer()))
  )

  for (const [store, part] of [
    ["ranges", "database"],
    ["stock", "pools"]
  ] as const) {
    for (const fault of ["fails", "silent"] as const) {
      it.scopedLive(
        `the service lives and says that it is not ready by ${part}: the store of ${store} ${ways[fault]}`,
        () =>
          Effect.gen(function* () {
            const { setFault } = yield* TestService
            yield* setFault(store, fault)
            expect((yield* get("/health/live")).status).toBe(200)
            const [duration, answer] = yield* Effect.timed(get("/health/ready"))
            expect(Duration.toMillis(duration)).toBeLessThan(answerMax_ms)
            expect(answer.status).toBe(503)
            expect(answer.headers).toMatchObject({ "retry-after": "1", "content-type": "application/json" })
            const report = jsonOf(answer) as Record<string, unknown>
            expect(report["status"]).toBe("unready")
            expect(report[part]).toMatchObject(
              part === "pools" ? [{ shard: 0, ok: false, depth: null }] : { ok: false }
            )
            yield* setFault(store, "none")
            yield* ready
          }).pipe(Effect.provide(layer()))
      )
    }
  }

  for (const fault of ["fails", "silent"] as const) {
    it.scopedLive(`the service is not ready before it holds keys: the pool ${ways[fault]}`, () =>
      Effect.gen(function* () {
        const { setFault } = yield* TestService
        yield* setFault("leases", fault)
        const [duration, answer] = yield* Effect.timed(get("/health/ready"))
        expect(Duration.toMillis(duration)).toBeLessThan(answerMax_ms)
        expect(answer.status).toBe(503)
        expect(jsonOf(answer)).toMatchObject({
          database: { ok: true },
          pools: [{ ok: true }],
          keys: { ok: false }
        })
        yield* setFault("leases", "none")
        yield* ready
        // What makes it ready is what the first create needs.
        yield* setFault("leases", fault)
        expect((yield* create({ url: "https://example.com/" })).status).toBe(201)
      }).pipe(Effect.provide(layer()))
    )
  }

  it.scopedLive("nothing is waited for longer than 5 s either when it is the client that is silent", () =>
    Effect.gen(function* () {
      const { port, stored } = yield* TestService
      const connection = yield* RawConnection.open(port)
      yield* connection.write(
        "POST /api/v1/links HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
      )
      const answer = yield* inTime("the client is silent", connection.heard(/\r\n\r\n\{.*\}$/))
      expect(answer).toMatch(/^HTTP\/1.1 503 [^]*retry-after: 1\r\n/)
      expect(yield* stored).toBe(0)
    }).pipe(Effect.provide(layer()))
  )
})
