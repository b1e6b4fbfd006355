import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem, refuses } from "../../support/http/Problems.ts"
import * as RawConnection from "../../support/http/RawConnection.ts"
import { asAdmin, create, TestService, withService } from "../../support/TestService.ts"

const url = "https://example.com/"

const faultsOf = (answer: Answer) =>
  (jsonOf(answer) as { readonly errors: ReadonlyArray<{ path: string; message: string }> }).errors

const bulk = (links: string) => asAdmin("POST", "/api/v1/links/bulk", `{"links":[${links}]}`)

const numbers = (count: number) => `[${"1,".repeat(count - 1)}1]`

const unknown = (count: number) => Array.from({ length: count }, (_, index) => `"field-${index}":1`).join(",")

const deep = `${"[".repeat(4_200)}${"]".repeat(4_200)}`

/** Every operation with a body, and one that it would take as far as its form goes. */
const operations: ReadonlyArray<readonly [method: string, path: string]> = [
  ["POST", "/api/v1/links"],
  ["POST", "/api/v1/links/bulk"],
  ["PATCH", "/api/v1/links/any"],
  ["POST", "/api/v1/users"],
  ["POST", "/api/v1/session"],
  ["POST", "/api/v1/api-keys"],
  ["POST", "/api/v1/webhooks"]
]

withService("a body is bounded before anybody looks inside:", { signUp: true }, (it) => {
  for (const [method, path] of operations) {
    it.effect(`${method} ${path} refuses too many values, and too deep ones, shortly`, () =>
      Effect.gen(function* () {
        const { send } = yield* TestService
        const ask = (body: string) =>
          path.endsWith("session")
            ? send({
                method,
                path,
                headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
                body
              })
            : asAdmin(method, path, body)
        const many = yield* ask(`{"tags":${numbers(30_000)},"links":${numbers(40_000)}}`.slice(0, 65_000))
        if (!path.endsWith("bulk")) expectProblem(many, "invalid-request", [["", /values at most/]])
        expectProblem(yield* ask(`{"a":${deep}}`), "invalid-request", [["", /nested 32 levels deep/]])
        expect(many.text.length).toBeLessThan(1_000)
      })
    )
  }

  it.effect("1,000 values are looked at, and one more is too many", () =>
    Effect.gen(function* () {
      // The body, its URL, its list and the numbers in it.
      const body = (values: number) => `{"url":"${url}","tags":${numbers(values - 3)}}`
      yield* refuses(create(body(1_000)), "invalid-request", ["tags", "may have 20 tags at most"])
      yield* refuses(create(body(1_001)), "invalid-request", ["", /1,000 values at most/])
    })
  )

  it.effect("JSON of any depth beside an Idempotency-Key is the client's fault", () =>
    refuses(create(`{"url":"${url}","a":${deep}}`, { "idempotency-key": "deep" }), "invalid-request", [
      "",
      /nested 32 levels deep/
    ])
  )

  it.effect("a bulk of 4 MB with 2 M numbers in one item is refused shortly", () =>
    Effect.gen(function* () {
      const answer = yield* bulk(`{"url":"${url}","tags":${numbers(2_000_000)}}`)
      expectProblem(answer, "invalid-request", [["", /64,000 values at most/]])
    })
  )

  it.effect("a bulk of 1,000 links with all that a link can have is none of that", () =>
    Effect.gen(function* () {
      const link = (index: number) =>
        JSON.stringify({
          url: `${url}${index}`,
          title: "a title",
          tags: Array.from({ length: 20 }, (_, tag) => `tag-${tag}`),
          expiresIn: "P30D",
          validSince: "2026-01-01T00:00:00Z",
          maxVisits: 10,
          redirectStatus: 301,
          forwardQuery: true,
          crawlable: true,
          reuse: false
        })
      const answer = yield* bulk(Array.from({ length: 1_000 }, (_, index) => link(index)).join(","))
      const { results } = jsonOf(answer) as { readonly results: ReadonlyArray<{ readonly status: number }> }
      expect(results.filter(({ status }) => status === 201)).toHaveLength(1_000)
    })
  )

  it.effect("a list that is too long is refused for its length, whatever is in it", () =>
    Effect.gen(function* () {
      yield* refuses(create(`{"url":"${url}","tags":${numbers(900)}}`), "invalid-request", [
        "tags",
        "may have 20 tags at most"
      ])
      yield* refuses(
        create(`{"alias":"a b","tags":${numbers(900)}}`),
        "invalid-request",
        ["url", "is required"],
        ["alias", "may contain"],
        ["tags", "may have 20 tags at most"]
      )
    })
  )

  it.effect("of many faults 20 are told, and how many more there are", () =>
    Effect.gen(function* () {
      const answer = yield* create(`{"url":"${url}",${unknown(900)}}`)
      const faults = faultsOf(answer)
      expect(faults).toHaveLength(21)
      expect(faults[0]).toEqual({ path: "field-0", message: "is not a known field" })
      expect(faults[20]).toEqual({ path: "", message: "and 880 more" })
      expect(answer.text.length).toBeLessThan(4_096)
    })
  )

  it.effect("of a long name the beginning is told", () =>
    Effect.gen(function* () {
      const name = "n".repeat(60_000)
      for (const answer of [
        yield* create(`{"url":"${url}","${name}":1}`),
        yield* asAdmin("POST", "/api/v1/links/bulk", `{"${name}":1}`)
      ]) {
        expectProblem(answer, "invalid-request", [[`${"n".repeat(64)}…`, "is not a known field"]])
        expect(answer.text.length).toBeLessThan(1_000)
      }
    })
  )

  it.effect("the answer to a bulk full of faults stays short, and tells one of each item", () =>
    Effect.gen(function* () {
      const item = `{"url":1,"alias":2,"title":3,"password":4,"maxVisits":"5",${unknown(20)}}`
      const answer = yield* bulk(Array.from({ length: 1_000 }, () => item).join(","))
      const { results } = jsonOf(answer) as {
        readonly results: ReadonlyArray<{ readonly problem: { readonly errors: ReadonlyArray<object> } }>
      }
      expect(results).toHaveLength(1_000)
      expect(results.every(({ problem }) => problem.errors.length >= 1)).toBe(true)
      expect(results.at(-1)!.problem.errors).toHaveLength(2)
      expect(answer.text.length).toBeLessThan(500_000)
    })
  )

  it.effect("a form has 100 fields at most", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      yield* create({ url, alias: "guarded-form", password: "p" })
      const post = (body: string) =>
        send({
          method: "POST",
          path: "/guarded-form",
          headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
          body
        })
      expectProblem(yield* post("&".repeat(60_000)), "payload-too-large")
      expect((yield* post(`${"a=1&".repeat(99)}password=p`)).status).toBe(303)
    })
  )
})

withService("what is counted is counted", { signUp: true, trustedProxies: "127.0.0.1" }, (it) => {
  for (const path of ["/api/v1/session", "/api/v1/users"]) {
    it.effect(`before the body is looked at: ${path}`, () =>
      Effect.gen(function* () {
        const { send } = yield* TestService
        const ask = send({
          method: "POST",
          path,
          headers: {
            "content-type": "application/json",
            "sec-fetch-site": "same-origin",
            "x-forwarded-for": `203.0.113.${path.length}`
          },
          body: `{"email":${numbers(900)}}`
        })
        for (let turn = 0; turn < 30; turn++) expect((yield* ask).status).toBe(400)
        expectProblem(yield* ask, "rate-limited")
      })
    )
  }

  it.effect("before the body is looked at: the password of a link", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      yield* create({ url, alias: "guarded", password: "p" })
      const ask = send({
        method: "POST",
        path: "/guarded",
        headers: {
          "content-type": "text/plain",
          accept: "application/json",
          "x-forwarded-for": "203.0.113.99"
        },
        body: "p"
      })
      for (let turn = 0; turn < 30; turn++) expect((yield* ask).status).toBe(415)
      expectProblem(yield* ask, "rate-limited")
    })
  )
})

withService("bodies that do not come to an end", { trustedProxies: "127.0.0.1" }, (it) => {
  const mebibyte = 1024 * 1024

  /** Sends all of a bulk but its last byte. */
  const begin = (client: string) =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      const connection = yield* RawConnection.open(port)
      const head = `POST /api/v1/links/bulk HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nX-Forwarded-For: ${client}\r\n`
      yield* connection.write(`${head}Content-Length: ${4 * mebibyte}\r\n\r\n`)
      yield* connection.write(Buffer.alloc(4 * mebibyte - 1, " "))
      return connection
    })

  it.effect("are so many of a client and no more, and leave room for others", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const begun = []
        for (let turn = 0; turn < 5; turn++) begun.push(yield* begin("203.0.113.1"))
        const refused = yield* Effect.raceAll(begun.map(({ heard }) => heard(/\r\n\r\n\{.*\}$/)))
        expect(refused).toMatch(/^HTTP\/1.1 503 /)
        expect(refused).toMatch(/retry-after: 1\r\n/i)
        expect(refused).toContain("no room for one more request body")
        // They get what is wrong with their bodies.
        const other = yield* begin("203.0.113.2")
        yield* other.write("x")
        expect(yield* other.heard(/\r\n\r\n\{.*\}$/)).toMatch(/^HTTP\/1.1 400 /)
      })
    )
  )
})
