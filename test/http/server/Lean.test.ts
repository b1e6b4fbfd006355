import { expect, it } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { describe } from "vitest"
import { Quotas } from "../../../src/accounts/Quotas.ts"
import { uncounted } from "../../../src/accounts/Reservations.ts"
import { Links } from "../../../src/actors/links/Links.ts"
import { Visits } from "../../../src/visits/Visits.ts"
import * as LeanRedirect from "../../../src/http/redirects/LeanRedirect.ts"
import { Redirects } from "../../../src/http/redirects/Redirects.ts"
import type { Request } from "../../../src/http/exchange/Request.ts"
import type { Link } from "../../../src/model/Link.ts"
import { plainRow } from "../../support/Plain.ts"
import type { Answer } from "../../support/HttpClient.ts"
import { adminKey, create, get, TestService, withService } from "../../support/TestService.ts"

/** Each way to answer draws the first half of its request ids again. */
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

  for (const fields of [{}, { redirectStatus: 308 }, { crawlable: true }]) {
    it.effect(
      `is a redirect of a link that is not at hand, which stays the same: ${JSON.stringify(fields)}`,
      () =>
        Effect.gen(function* () {
          const others = wayOf(yield* get("/health/live"))
          const alias = `not-at-hand-${JSON.stringify(fields).length}`
          yield* create({ url, alias, ...fields })
          const direct = yield* get(`/${alias}`)
          expect(wayOf(direct)).not.toBe(others)
          expect(direct.status).toBe("redirectStatus" in fields ? 308 : 302)
          expect(constantPart(direct)).toEqual(constantPart(yield* get(`/%6e${alias.slice(1)}`)))
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
      it.effect(
        `is what one must look up, which stays the same: ${JSON.stringify(fields)} as ${accept}`,
        () =>
          Effect.gen(function* () {
            const alias = `cold-${index}-${accept.slice(0, 4)}`
            yield* create({ url, alias, ...fields })
            const direct = yield* get(`/${alias}${query}`, { accept })
            const through = yield* get(`/%63${alias.slice(1)}${query}`, { accept })
            expect(wayOf(direct)).not.toBe(wayOf(through))
            expect(constantPart(direct)).toEqual(constantPart(through))
          })
      )
    }
  }

  it.effect("is that there is no link, which stays the same", () =>
    Effect.forEach(["application/json", "text/html"], (accept) =>
      Effect.gen(function* () {
        const direct = yield* get("/nowhere-at-all", { accept })
        const through = yield* get("/%6eowhere-at-all", { accept })
        expect(direct.status).toBe(404)
        expect(wayOf(direct)).not.toBe(wayOf(through))
        expect(constantPart(direct)).toEqual(constantPart(through))
      })
    )
  )

  it.effect("is not a preview, nor what is no key", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "elsewhere" })
      const others = wayOf(yield* get("/health/live"))
      for (const path of ["/elsewhere+", "/elsewhere/"]) expect(wayOf(yield* get(path))).toBe(others)
    })
  )

  it.effect("is not the page whose path could be a key, in its own letters alone", () =>
    Effect.gen(function* () {
      const others = wayOf(yield* get("/health/live"))
      const page = yield* get("/docs", { accept: "text/html" })
      expect([page.status, wayOf(page)]).toEqual([200, others])
      const key = yield* get("/Docs")
      expect(key.status).toBe(404)
      expect(wayOf(key)).not.toBe(others)
    })
  )

  it.effect("is a create, and whether the node is ready", () =>
    Effect.gen(function* () {
      const others = wayOf(yield* get("/health/live"))
      expect(wayOf(yield* create({ url }))).not.toBe(others)
      expect(wayOf(yield* create({ url: "nonsense" }))).not.toBe(others)
      expect(wayOf(yield* get("/health/ready"))).not.toBe(others)
    })
  )

  it.effect("is a bulk, which stays the same", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      const others = wayOf(yield* get("/health/live"))
      const bulk = (query: string, body: unknown) =>
        send({
          method: "POST",
          path: `/api/v1/links/bulk${query}`,
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body)
        })
      const links = [{ url: "nonsense" }, { url, alias: "docs" }]
      for (const body of [{ links }, { links: [] }, 1]) {
        const direct = yield* bulk("", body)
        const through = yield* bulk("?", body)
        expect(wayOf(direct)).not.toBe(others)
        expect(wayOf(through)).toBe(others)
        expect(constantPart(direct)).toEqual(constantPart(through))
      }
    })
  )

  it.effect("is a change or a deletion of a link, which stays the same", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      const others = wayOf(yield* get("/health/live"))
      const asks = [
        { method: "PATCH", body: { url: "https://example.com/changed" } },
        { method: "PATCH", body: { url: "nonsense" } },
        { method: "PATCH", body: { url }, isAnonymous: true },
        { method: "DELETE" },
        { method: "DELETE", isAnonymous: true }
      ]
      for (const [index, { body, isAnonymous, method }] of asks.entries()) {
        const answers = yield* Effect.forEach(["", "?"], (query) =>
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
        const [direct, through] = answers as [Answer, Answer]
        expect(wayOf(direct)).not.toBe(others)
        expect(wayOf(through)).toBe(others)
        expect(constantPart(direct)).toEqual(constantPart(through))
      }
    })
  )
})

describe("a redirect of a link that is read", () => {
  const request: Request = {
    method: "GET",
    url: "/k",
    headers: {},
    remoteAddress: Option.none(),
    readBytes: () => {}
  }

  /** What a request comes to whose link is read while it waits, or when nobody waits for it any more. */
  const redirected = (isOver: boolean) =>
    Effect.gen(function* () {
      const events: Array<string> = []
      let tell: (found: Exit.Exit<Link | null>) => void = () => {}
      const redirect = yield* LeanRedirect.make.pipe(
        Effect.withTracerEnabled(false),
        Effect.provideService(Links, {
          findSoon: (_: string, done: typeof tell) => {
            tell = done
          },
          peek: () => undefined,
          stale: () => undefined
        } as unknown as typeof Links.Service),
        Effect.provideService(Quotas, {
          redirectNow: () => null,
          lookUpNow: () => uncounted
        } as unknown as typeof Quotas.Service),
        Effect.provideService(Visits, { record: () => events.push("visit") }),
        Effect.provideService(Redirects, {
          redirect: () => Effect.die("not asked")
        } as unknown as typeof Redirects.Service)
      )
      const isTaken = redirect.soon(request, "k", {
        answer: ({ status }) => events.push(`answer ${status}`),
        instead: () => events.push("instead"),
        isOver: () => isOver
      })
      tell(Exit.succeed({ ...plainRow, url, key: "k", custom: false, createdAt: 1, updatedAt: 1 }))
      return { isTaken, events }
    })

  it.effect("is answered without an effect, and is a visit", () =>
    Effect.map(redirected(false), (came) =>
      expect(came).toEqual({ isTaken: true, events: ["visit", "answer 302"] })
    )
  )

  it.effect("is no visit when its client has gone, or was told that it takes too long", () =>
    Effect.map(redirected(true), (came) => expect(came).toEqual({ isTaken: true, events: [] }))
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
