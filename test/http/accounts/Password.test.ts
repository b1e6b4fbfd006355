import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { type Domain, noTargets } from "../../../src/model/Domain.ts"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import * as RawConnection from "../../support/http/RawConnection.ts"
import { adminKey, asAdmin, create, get, TestService, withService } from "../../support/TestService.ts"

const url = "https://example.com/secret?place"
const password = "pässwörd & 100 %"

const form = { "content-type": "application/x-www-form-urlencoded" }

/** Sends the form that the page shows, as a browser does unless told otherwise. */
const unlock = (key: string, body: string, headers: Record<string, string> = form) =>
  Effect.flatMap(TestService, ({ send }) =>
    send({ method: "POST", path: `/${key}`, headers: { accept: "text/html", ...headers }, body })
  )

const withPassword = (text: string) => new URLSearchParams({ password: text }).toString()

withService("a link that a password guards", {}, (it) => {
  it.effect("asks for it by a form, which can be sent, and does not tell where it leads", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "guarded", password })
      const { headers, status, text } = yield* get("/guarded", { accept: "text/html" })
      expect([status, headers.location]).toEqual([401, undefined])
      expect(headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "www-authenticate": expect.stringMatching(/^Form /),
        "x-frame-options": "DENY"
      })
      expect(headers["content-security-policy"]).toBe(
        "default-src 'none'; base-uri 'none'; form-action http: https:; frame-ancestors 'none'"
      )
      expect(text).toMatch(/<form method="post">/)
      expect(text).toMatch(/<input type="password" name="password"/)
      for (const path of ["/guarded", "/guarded+"]) {
        for (const accept of ["text/html", "application/json"]) {
          expect((yield* get(path, { accept })).text).not.toContain("secret")
        }
      }
    })
  )

  it.effect("asks for it by a problem where JSON is asked for, and by HEAD without a body", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      yield* create({ url, alias: "asked", password })
      expectProblem(yield* get("/asked"), "password-required")
      const head = yield* send({ method: "HEAD", path: "/asked" })
      expect([head.status, head.text, head.headers.location]).toEqual([401, "", undefined])
      expect(jsonOf(yield* get("/asked+"))).toMatchObject({ key: "asked", url: null })
      expect(jsonOf(yield* asAdmin("GET", "/api/v1/links/asked"))).toMatchObject({ url, hasPassword: true })
    })
  )

  it.effect("redirects with 303 for the password, to be kept by nobody", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "opened", password, redirectStatus: 308 })
      const answer = yield* unlock("opened", withPassword(password))
      expect([answer.status, answer.text]).toEqual([303, ""])
      expect(answer.headers).toMatchObject({ location: url, "cache-control": "no-store" })
    })
  )

  it.effect("asks again for any other, and for none", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "closed", password })
      const wrong = [
        "",
        "password=",
        "other=x",
        withPassword(`${password} `),
        withPassword("x".repeat(1_000))
      ]
      for (const body of wrong) {
        const answer = yield* unlock("closed", body)
        expect([answer.status, answer.headers.location]).toEqual([401, undefined])
        expect(answer.text).toContain("That was not the password.")
      }
      const json = yield* unlock("closed", withPassword("wrong"), { ...form, accept: "application/json" })
      expectProblem(json, "password-required")
    })
  )

  it.effect("counts its characters as its creator does, of whatever script they are", () =>
    Effect.gen(function* () {
      const longest = "🍃".repeat(128)
      yield* create({ url, alias: "longest", password: longest })
      expect((yield* unlock("longest", withPassword(`${longest}🍃`))).status).toBe(401)
      expect((yield* unlock("longest", withPassword(longest))).status).toBe(303)
    })
  )

  it.effect("takes the query string of the page along, and counts visits by the password alone", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "once", password, forwardQuery: true, maxVisits: 1 })
      expect((yield* get("/once?a=b")).status).toBe(401)
      expect((yield* unlock("once?a=b", withPassword("wrong"))).status).toBe(401)
      const opened = yield* unlock("once?a=b", withPassword(password))
      expect([opened.status, opened.headers.location]).toEqual([303, `${url}&a=b`])
      expect((yield* unlock("once", withPassword(password))).status).toBe(410)
      expect((yield* get("/once")).status).toBe(410)
    })
  )

  it.effect("redirects as others do once its password is taken away, also who has the form still", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      yield* create({ url, alias: "freed", password })
      const change = {
        method: "PATCH",
        path: "/api/v1/links/freed",
        body: JSON.stringify({ password: null })
      }
      const headers = { "x-api-key": adminKey, "content-type": "application/json" }
      expect((yield* send({ ...change, headers })).status).toBe(200)
      expect((yield* get("/freed")).status).toBe(302)
      expect((yield* unlock("freed", withPassword("any"))).status).toBe(303)
    })
  )

  it.effect("leads nowhere once it is deleted, also who had sent half of the form before", () =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      yield* create({ url, alias: "halved", password })
      const connection = yield* RawConnection.open(port)
      const [first, rest] = RawConnection.inHalves("POST", "/halved", form, withPassword(password))
      yield* connection.write(first)
      // The service has found the link, and waits for the rest.
      yield* get("/health/live")
      expect((yield* asAdmin("DELETE", "/api/v1/links/halved")).status).toBe(204)
      yield* connection.write(rest)
      yield* connection.heard(/^HTTP\/1\.1 410 /)
    }).pipe(Effect.scoped)
  )

  it.effect("reads a form of a bounded size and nothing else", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "strict", password })
      const json = { "content-type": "application/json", accept: "application/json" }
      expectProblem(yield* unlock("strict", JSON.stringify({ password }), json), "unsupported-media-type")
      const tooLarge = `password=${"x".repeat(70_000)}`
      expectProblem(
        yield* unlock("strict", tooLarge, { ...form, accept: "application/json" }),
        "payload-too-large"
      )
      expect(
        (yield* unlock("strict", withPassword(password), {
          "content-type": `${form["content-type"]}; charset=UTF-8`
        })).status
      ).toBe(303)
    })
  )

  it.effect("is as gone or unknown as any other", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "deleted", password })
      yield* asAdmin("DELETE", "/api/v1/links/deleted")
      expect((yield* unlock("deleted", withPassword(password))).status).toBe(410)
      expect((yield* unlock("nothing", withPassword(password))).status).toBe(404)
      expect((yield* unlock("a.b", withPassword(password))).status).toBe(404)
    })
  )

  it.effect("is tried so often in a minute and no more, whoever tries, the right password included", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "tried", password })
      yield* create({ url, alias: "other", password })
      const tries = Array.from({ length: 60 }, () => unlock("tried", withPassword("wrong")))
      const answers = yield* Effect.all(tries, { concurrency: 4 })
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
      const page = yield* unlock("tried", withPassword(password))
      expect([page.status, page.headers["content-type"]]).toEqual([429, "text/html; charset=utf-8"])
      expect(Number(page.headers["retry-after"])).toBeGreaterThan(0)
      const headers = { ...form, accept: "application/json" }
      expectProblem(yield* unlock("tried", withPassword(password), headers), "rate-limited")
      expect((yield* unlock("other", withPassword(password))).status).toBe(303)
    })
  )
})

/** A domain at whose addresses capitals are as small letters. */
const plainDomain: Domain = {
  number: 1,
  host: "plain.example",
  token: "token",
  verifiedAt: 1,
  owners: null,
  targets: noTargets,
  ignoresCase: true,
  createdAt: 1,
  updatedAt: 1
}

withService("a password at a domain that ignores case", { domains: [plainDomain] }, (it) => {
  it.effect("is tried so often in a minute and no more, however the address is written", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "tried", domain: plainDomain.host, password })
      const at = { ...form, host: plainDomain.host }
      const spellings = ["tried", "Tried", "tRied", "TRIED"]
      const tries = Array.from({ length: 60 }, (_, number) =>
        unlock(spellings[number % spellings.length]!, withPassword("wrong"), at)
      )
      const answers = yield* Effect.all(tries, { concurrency: 4 })
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
      for (const spelling of [...spellings, "triEd"]) {
        expect((yield* unlock(spelling, withPassword(password), at)).status).toBe(429)
      }
    })
  )
})
