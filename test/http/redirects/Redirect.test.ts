import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { type IncomingMessage, request as httpRequest } from "node:http"
import { plainPolicy } from "../../../src/http/exchange/StrictHeaders.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import { asAdmin, create, get, startOfTests_ms, TestService, withService } from "../../support/TestService.ts"

const url = "https://example.com/a?b=c#d"

const headNames = (headers: object) => Object.keys(headers).toSorted()

withService("a redirect", {}, (it) => {
  it.effect("is 302 to the target, with no body, and may be kept by nobody but the browser", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "plain" })
      const answer = yield* get("/plain")
      expect(answer.status).toBe(302)
      expect(answer.text).toBe("")
      expect(answer.headers).toEqual({
        location: url,
        "content-length": "0",
        "cache-control": "private, max-age=0",
        "referrer-policy": "no-referrer-when-downgrade",
        "x-robots-tag": "noindex",
        "x-request-id": expect.stringMatching(/^[0-9a-f]{16}$/),
        date: expect.any(String),
        connection: "keep-alive",
        "keep-alive": expect.any(String)
      })
    })
  )

  it.effect("answers HEAD with the same status and headers", () =>
    Effect.gen(function* () {
      const service = yield* TestService
      yield* create({ url, alias: "headed" })
      const get = yield* service.send({ path: "/headed" })
      const head = yield* service.send({ method: "HEAD", path: "/headed" })
      const constant = { "x-request-id": "", date: "" }
      expect({ ...head, headers: { ...head.headers, ...constant }, rawHeaders: [] }).toEqual({
        ...get,
        headers: { ...get.headers, ...constant },
        rawHeaders: []
      })
    })
  )

  for (const path of ["/query?utm_source=a", "/query?", "/query/"]) {
    it.effect(`takes no notice of what follows the key in ${path}`, () =>
      Effect.gen(function* () {
        yield* create({ url, alias: "query" })
        const answer = yield* get(path)
        expect({ status: answer.status, location: answer.headers.location }).toEqual({
          status: 302,
          location: url
        })
      })
    )
  }

  it.effect("understands a percent-encoded key", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "enc-oded" })
      expect((yield* get("/enc%2Doded")).status).toBe(302)
    })
  )
})

withService("a key that leads nowhere", {}, (it) => {
  const deleted = Effect.gen(function* () {
    yield* create({ url, alias: "deleted" })
    yield* asAdmin("DELETE", "/api/v1/links/deleted")
  })
  const expired = Effect.gen(function* () {
    const { clock } = yield* TestService
    yield* create({ url, alias: "expired", expiresIn: "PT1S" })
    clock.set(startOfTests_ms + 2_000)
  })
  const cases = {
    unknown: { given: Effect.void, path: "/unknown", kind: "not-found", status: 404 },
    deleted: { given: deleted, path: "/deleted", kind: "gone", status: 410 },
    expired: { given: expired, path: "/expired", kind: "gone", status: 410 }
  } as const

  for (const [what, { given, kind, path, status }] of Object.entries(cases)) {
    const asked = (accept: string | undefined) =>
      Effect.zipRight(given, get(path, accept === undefined ? {} : { accept }))

    const html = [
      undefined,
      "*/*",
      "text/html",
      "text/*",
      "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8",
      "text/html, application/json",
      "application/json;q=0.5, text/html",
      "image/png",
      ""
    ]
    for (const accept of html) {
      it.effect(`because it is ${what} is ${status} as a page for Accept: ${accept ?? "(none)"}`, () =>
        Effect.map(asked(accept), (answer) => {
          expect(answer.status).toBe(status)
          expect(answer.text).toMatch(/^<!doctype html>/)
          expect(answer.headers).toMatchObject({
            "content-type": "text/html; charset=utf-8",
            "cache-control": "no-store",
            "content-security-policy": plainPolicy,
            "x-content-type-options": "nosniff",
            vary: "accept, accept-language",
            "x-request-id": expect.stringMatching(/^[0-9a-f]{16}$/)
          })
          expect(answer.headers.location).toBeUndefined()
        })
      )
    }

    const json = [
      "application/json",
      "application/problem+json",
      "application/*",
      "application/json, text/html;q=0.9",
      "application/json, */*;q=0.1"
    ]
    for (const accept of json) {
      it.effect(`because it is ${what} is ${status} as a problem for Accept: ${accept}`, () =>
        Effect.map(asked(accept), (answer) => {
          expectProblem(answer, kind)
          expect(answer.headers.vary).toBe("accept")
        })
      )
    }

    it.effect(`because it is ${what} answers HEAD with the same status and headers, and no body`, () =>
      Effect.gen(function* () {
        const service = yield* TestService
        const whole = yield* asked("text/html")
        const head = yield* service.send({ method: "HEAD", path, headers: { accept: "text/html" } })
        expect({ status: head.status, text: head.text }).toEqual({ status, text: "" })
        expect(headNames(head.headers)).toEqual(headNames(whole.headers))
        expect(head.headers["content-length"]).toBe(whole.headers["content-length"])
      })
    )
  }

  const shapeless = [
    "/a%20b",
    "/a%2Fb",
    "/a.b",
    "/%C3%A4",
    "/%00",
    "/%0d%0aSet-Cookie:%20a=b",
    `/${"a".repeat(65)}`,
    "/a+"
  ]
  for (const path of shapeless) {
    it.effect(`because no key looks like ${path.slice(0, 30)} is 404`, () =>
      Effect.map(get(path), (answer) => {
        expectProblem(answer, "not-found")
        expect(answer.headers["set-cookie"]).toBeUndefined()
      })
    )
  }

  it.effect("shows nothing of the request in its page", () =>
    Effect.map(
      get("/%3Cscript%3Ealert(1)%3C/script%3E?q=%3Cscript%3E", { accept: "text/html" }),
      (answer) => {
        expect(answer.status).toBe(404)
        expect(answer.text).not.toMatch(/script/i)
      }
    )
  )
})

withService("a password that takes long to come", {}, (it) => {
  const body = "password=sesame"

  /** Sends the first half of the form, changes the link, and sends the rest. */
  const afterChange = (alias: string, change: Effect.Effect<unknown, unknown, TestService>) =>
    Effect.gen(function* () {
      yield* create({ url, alias, password: "sesame" })
      const { port } = yield* TestService
      const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": body.length }
      const form = httpRequest({ port, method: "POST", path: `/${alias}`, headers })
      yield* Effect.promise(() => new Promise((resolve) => form.write(body.slice(0, 5), resolve)))
      // The service reads what came first.
      yield* get("/health/live")
      yield* change
      const answered = once(form, "response")
      form.end(body.slice(5))
      const [response] = yield* Effect.promise(() => answered as Promise<[IncomingMessage]>)
      response.resume()
      return [response.statusCode, response.headers.location]
    })

  it.effect("leads by the link as it is when it has come", () =>
    Effect.gen(function* () {
      const path = "/api/v1/links"
      const other = "https://example.com/other"
      expect(yield* afterChange("same", Effect.void)).toEqual([303, url])
      expect(yield* afterChange("changed", asAdmin("PATCH", `${path}/changed`, { url: other }))).toEqual([
        303,
        other
      ])
      expect(yield* afterChange("gone", asAdmin("DELETE", `${path}/gone`))).toEqual([410, undefined])
      const locked = asAdmin("PATCH", `${path}/locked`, { password: "another" })
      expect((yield* afterChange("locked", locked))[0]).not.toBe(303)
    })
  )
})
