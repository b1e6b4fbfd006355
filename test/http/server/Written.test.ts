import { expect } from "@effect/vitest"
import { Effect } from "effect"
import type { Answer } from "../../support/http/HttpClient.ts"
import { adminKey, create, get, TestService, withService } from "../../support/TestService.ts"

/** What does not differ from answer to answer by its nature. */
const constantPart = ({ headers, status, text }: Answer) => ({
  status,
  text,
  headers: { ...headers, date: "", "x-request-id": "" }
})

const url = "https://example.com/?a=b#c"

withService("how a target is written makes no difference to", {}, (it) => {
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
    it.effect(`a redirect of a link at hand: ${JSON.stringify(fields)}`, () =>
      Effect.gen(function* () {
        const { send } = yield* TestService
        yield* create({ url, alias: `hot-${index}`, ...fields })
        for (const method of ["GET", "HEAD"]) {
          const plain = yield* send({ method, path: `/hot-${index}` })
          const encoded = yield* send({ method, path: `/%68ot-${index}` })
          expect(constantPart(plain)).toEqual(constantPart(encoded))
        }
      })
    )
  }

  for (const fields of [{}, { redirectStatus: 308 }, { crawlable: true }]) {
    it.effect(`a redirect of a link that is not at hand: ${JSON.stringify(fields)}`, () =>
      Effect.gen(function* () {
        const alias = `not-at-hand-${JSON.stringify(fields).length}`
        yield* create({ url, alias, ...fields })
        const plain = yield* get(`/${alias}`)
        expect(plain.status).toBe("redirectStatus" in fields ? 308 : 302)
        expect(constantPart(plain)).toEqual(constantPart(yield* get(`/%6e${alias.slice(1)}`)))
      })
    )
  }

  const cold = [
    { query: "?c=d", fields: { forwardQuery: true } },
    { query: `?${"c".repeat(8_000)}`, fields: { forwardQuery: true } },
    { query: "", fields: { password: "p" } },
    { query: "", fields: { maxVisits: 100 } },
    { query: "", fields: { validSince: "2099-01-01T00:00:00Z" } }
  ]
  for (const [index, { fields, query }] of cold.entries()) {
    for (const accept of ["application/json", "text/html"]) {
      it.effect(`a redirect that needs a look at the link: ${JSON.stringify(fields)} as ${accept}`, () =>
        Effect.gen(function* () {
          const alias = `cold-${index}-${accept.slice(0, 4)}`
          yield* create({ url, alias, ...fields })
          const plain = yield* get(`/${alias}${query}`, { accept })
          const encoded = yield* get(`/%63${alias.slice(1)}${query}`, { accept })
          expect(constantPart(plain)).toEqual(constantPart(encoded))
        })
      )
    }
  }

  it.effect("a link that is not there", () =>
    Effect.forEach(["application/json", "text/html"], (accept) =>
      Effect.gen(function* () {
        const plain = yield* get("/nowhere-at-all", { accept })
        const encoded = yield* get("/%6eowhere-at-all", { accept })
        expect(plain.status).toBe(404)
        expect(constantPart(plain)).toEqual(constantPart(encoded))
      })
    )
  )

  it.effect("a bulk", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      const bulk = (query: string, body: unknown) =>
        send({
          method: "POST",
          path: `/api/v1/links/bulk${query}`,
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body)
        })
      const links = [{ url: "nonsense" }, { url, alias: "docs" }]
      for (const body of [{ links }, { links: [] }, 1]) {
        expect(constantPart(yield* bulk("", body))).toEqual(constantPart(yield* bulk("?", body)))
      }
    })
  )

  it.effect("a change or a deletion of a link", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      const asks = [
        { method: "PATCH", body: { url: "https://example.com/changed" } },
        { method: "PATCH", body: { url: "nonsense" } },
        { method: "PATCH", body: { url }, isAnonymous: true },
        { method: "DELETE" },
        { method: "DELETE", isAnonymous: true }
      ]
      for (const [index, { body, isAnonymous, method }] of asks.entries()) {
        const [plain, other] = yield* Effect.forEach(["", "?"], (query) =>
          Effect.gen(function* () {
            const alias = `managed-${index}-${query.length}`
            yield* create({ url, alias })
            const answer = yield* send({
              method,
              path: `/api/v1/links/${alias}${query}`,
              headers: {
                "content-type": "application/json",
                ...(isAnonymous !== true && { "x-api-key": adminKey })
              },
              ...(body !== undefined && { body: JSON.stringify(body) })
            })
            return { ...answer, text: answer.text.replaceAll(alias, "managed") }
          })
        )
        expect(constantPart(plain!)).toEqual(constantPart(other!))
      }
    })
  )

  it.effect("neither is a page a key, but in its own letters alone", () =>
    Effect.gen(function* () {
      expect((yield* get("/docs", { accept: "text/html" })).status).toBe(200)
      expect((yield* get("/Docs")).status).toBe(404)
    })
  )
})
