import { expect } from "@effect/vitest"
import { Effect } from "effect"
import type { Answer } from "./client.ts"
import { create, get, TestService, withService } from "./TestService.ts"

/** Each way to answer draws the first half of its request ids anew. */
const wayOf = ({ headers }: Answer) => String(headers["x-request-id"]).slice(0, 8)

/** What does not differ from answer to answer by its nature. */
const constantPart = ({ headers, status, text }: Answer) => ({
  status,
  text,
  headers: { ...headers, date: "", "x-request-id": "" }
})

const url = "https://example.com/?a=b#c"

withService("what is answered without HttpApi", {}, (it) => {
  const hot = [
    {},
    { redirectStatus: 301 },
    { redirectStatus: 307 },
    { redirectStatus: 308 },
    { crawlable: true },
    { forwardQuery: true },
    { expiresIn: "P1D" },
    { tags: ["a"], title: "b" }
  ]
  for (const [index, fields] of hot.entries()) {
    it.effect(`is a redirect of a link at hand, which stays the same: ${JSON.stringify(fields)}`, () =>
      Effect.gen(function* () {
        const { send } = yield* TestService
        yield* create({ url, alias: `hot-${index}`, ...fields })
        const others = wayOf(yield* get("/health/live"))
        for (const method of ["GET", "HEAD"]) {
          const path = `/hot-${index}`
          const ask = send({ method, path })
          if (method === "GET") expect(wayOf(yield* send({ path: `/%68ot-${index}` }))).toBe(others)
          const direct = yield* ask
          expect(wayOf(direct)).not.toBe(others)
          const through = yield* send({ method, path: `/%68ot-${index}` })
          expect(wayOf(through)).toBe(others)
          expect(constantPart(direct)).toEqual(constantPart(through))
        }
      })
    )
  }

  const cold = [
    { path: "/cold?c=d", fields: { forwardQuery: true } },
    { path: "/cold", fields: { password: "p" } },
    { path: "/cold", fields: { maxVisits: 5 } },
    { path: "/cold+", fields: {} },
    { path: "/cold/", fields: {} },
    { path: "/cold", fields: { validSince: "2027-01-01T00:00:00Z" } }
  ]
  for (const [index, { fields, path }] of cold.entries()) {
    it.effect(`is not whatever asks for more: ${path} ${JSON.stringify(fields)}`, () =>
      Effect.gen(function* () {
        yield* create({ url, alias: `cold-${index}`, ...fields })
        const others = wayOf(yield* get("/health/live"))
        for (let turn = 0; turn < 3; turn++) {
          expect(wayOf(yield* get(path.replace("cold", `cold-${index}`)))).toBe(others)
        }
      })
    )
  }

  it.effect("is not the page whose path could be a key, in any case", () =>
    Effect.forEach(["/docs", "/Docs"], (path) =>
      Effect.map(get(path, { accept: "text/html" }), ({ status }) => expect(status).toBe(200))
    )
  )

  it.effect("is a create, and whether the node is ready", () =>
    Effect.gen(function* () {
      const others = wayOf(yield* get("/health/live"))
      expect(wayOf(yield* create({ url }))).not.toBe(others)
      expect(wayOf(yield* create({ url: "nonsense" }))).not.toBe(others)
      expect(wayOf(yield* get("/health/ready"))).not.toBe(others)
    })
  )
})

withService("through HttpApi", { isLean: false }, (it) => {
  it.effect("all is answered where that is wanted", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "hot" })
      const answers = [
        yield* create({ url }),
        yield* get("/hot"),
        yield* get("/hot"),
        yield* get("/health/ready")
      ]
      expect(new Set(answers.map(wayOf)).size).toBe(1)
    })
  )
})
