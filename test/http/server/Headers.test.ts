import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { plainPolicy } from "../../../src/http/exchange/StrictHeaders.ts"
import type { Answer } from "../../support/http/HttpClient.ts"
import { documentOf, operationsOf } from "../../support/http/OpenApi.ts"
import { adminKey, asAdmin, create, get, TestService, withService } from "../../support/TestService.ts"

const strict = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": expect.stringContaining("geolocation=()"),
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

/** What differs from answer to answer by its nature. */
const constantPart = ({ headers, rawHeaders, status, text }: Answer) => ({
  status,
  text,
  names: rawHeaders.filter((_, index) => index % 2 === 0),
  headers: { ...headers, date: "", "x-request-id": "" }
})

withService("every answer but a redirect", {}, (it) => {
  const paths = [
    "/health/live",
    "/health/ready",
    "/openapi.json",
    "/unknown",
    "/a/b/c",
    "/api/v1/links/unknown"
  ]
  for (const path of paths) {
    it.effect(`has strict headers: ${path}`, () =>
      Effect.map(get(path), ({ headers }) =>
        expect(headers).toMatchObject({
          ...strict,
          "cache-control": "no-store",
          "content-security-policy": plainPolicy
        })
      )
    )
  }

  it.effect("may be kept by nobody where it tells of links or accounts", () =>
    Effect.gen(function* () {
      yield* asAdmin("POST", "/api/v1/links", { url: "https://example.com/", alias: "kept" })
      const readable = operationsOf(documentOf(yield* get("/openapi.json")))
        .filter(({ method, path }) => method === "get" && !path.endsWith("/events"))
        .map(({ path }) => path.replace("{key}", "kept").replace("{id}", "whk_x"))
      expect(readable.length).toBeGreaterThan(12)
      for (const path of readable) {
        const { headers } = yield* asAdmin("GET", path)
        const kept = path === "/robots.txt" ? "public" : path.endsWith("/qr") ? "private" : "no-store"
        expect(headers["cache-control"], path).toContain(path === "/kept" ? "private, max-age=0" : kept)
      }
      const removed = yield* asAdmin("DELETE", "/api/v1/links/kept")
      expect([removed.status, removed.headers["cache-control"]]).toEqual([204, "no-store"])
    })
  )

  it.effect("names the charset of its text", () =>
    Effect.gen(function* () {
      for (const path of ["/docs", "/robots.txt", "/unknown"]) {
        const { headers } = yield* get(path, { accept: "text/html" })
        expect(headers["content-type"], path).toMatch(/^text\/.*; charset=utf-8$/)
      }
    })
  )

  it.effect("is for pages of other sites to read in no case", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      for (const origin of ["https://evil.example", "null", "http://localhost"]) {
        for (const method of ["GET", "OPTIONS", "POST"]) {
          const asked = { origin, "access-control-request-method": "POST", "x-api-key": adminKey }
          const { headers, status } = yield* send({ method, path: "/api/v1/me", headers: asked })
          expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([])
          expect(status).toBe(method === "GET" ? 200 : 404)
        }
      }
    })
  )

  it.effect("does not name the program's parts, nor their versions", () =>
    Effect.gen(function* () {
      for (const path of ["/", "/kept", "/unknown", "/docs", "/api/v1/me"]) {
        const { headers } = yield* get(path)
        expect(headers).not.toHaveProperty("server")
        expect(headers).not.toHaveProperty("x-powered-by")
      }
    })
  )

  it.effect("takes credentials from headers alone, not from the address", () =>
    Effect.gen(function* () {
      for (const name of ["api_key", "x-api-key", "token", "access_token", "linkmint_session"]) {
        expect((yield* get(`/api/v1/me?${name}=${adminKey}`)).status).toBe(401)
      }
    })
  )

  it.effect("has them when it is made or refused, too", () =>
    Effect.gen(function* () {
      const made = yield* create({ url: "https://example.com/" })
      const refused = yield* create({ url: "nonsense" })
      expect([made.status, refused.status]).toEqual([201, 400])
      for (const { headers } of [made, refused]) {
        expect(headers).toMatchObject({ ...strict, "content-security-policy": plainPolicy })
      }
    })
  )

  it.effect("runs exactly its own scripts where it is the contract's page", () =>
    Effect.gen(function* () {
      const { headers, text } = yield* get("/docs", { accept: "text/html" })
      expect(headers).toMatchObject(strict)
      const script = /<script>([^]*?)<\/script>/.exec(text)![1]!
      const hash = createHash("sha256").update(script).digest("base64")
      const directives = String(headers["content-security-policy"]).split("; ")
      expect(directives).toContain(`script-src 'sha256-${hash}'`)
      expect(directives).toEqual(
        expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"])
      )
    })
  )
})

withService("a key that is not to be found", {}, (it) => {
  for (const accept of ["text/html", "application/json"]) {
    it.effect(`does not tell why, for Accept: ${accept}`, () =>
      Effect.gen(function* () {
        const { send } = yield* TestService
        const paths = ["/unknown", "/Zz3k9Qx", "/a.b", "/%00", `/${"a".repeat(65)}`, "/a%2Cb"]
        const [first, ...others] = yield* Effect.forEach(paths, (path) => send({ path, headers: { accept } }))
        expect(first!.status).toBe(404)
        for (const other of others) expect(constantPart(other)).toEqual(constantPart(first!))
      })
    )
  }
})

withService("behind https, every answer", { baseUrl: new URL("https://sho.rt") }, (it) => {
  it.effect(
    "tells browsers to come by https from now on: redirects, pages, problems and what cannot be read",
    () =>
      Effect.gen(function* () {
        const { send } = yield* TestService
        const url = "https://example.com/"
        const answers = [
          yield* create({ url, alias: "secure" }),
          yield* create({ url: "no url" }),
          yield* get("/secure"),
          yield* get("/secure"),
          yield* get("/%73ecure"),
          yield* get("/secure+"),
          yield* get("/nowhere"),
          yield* get("/docs"),
          yield* get("/health/live"),
          yield* get("/health/ready"),
          yield* get("/a/b/c"),
          yield* get("/METRICS/"),
          yield* get("/api/v1/links"),
          yield* get("/health/live", { host: "a b" }),
          yield* send({ method: "HEAD", path: "/secure" })
        ]
        for (const { headers } of answers) {
          expect(headers["strict-transport-security"]).toBe("max-age=31536000")
        }
      })
  )
})

withService("without https, no answer", {}, (it) => {
  it.effect("says anything of it", () =>
    Effect.gen(function* () {
      for (const path of ["/nowhere", "/health/live"]) {
        expect((yield* get(path)).headers).not.toHaveProperty("strict-transport-security")
      }
    })
  )
})
