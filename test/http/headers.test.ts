import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { plainPolicy } from "../../src/http/StrictHeaders.ts"
import type { Answer } from "./client.ts"
import { create, get, TestService, withService } from "./TestService.ts"

const strict = {
  "cross-origin-opener-policy": "same-origin",
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
        expect(headers).toMatchObject({ ...strict, "content-security-policy": plainPolicy })
      )
    )
  }

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
        const paths = ["/unknown", "/Zz3k9Qx", "/a.b", "/%00", `/${"a".repeat(65)}`, "/a%2Fb"]
        const [first, ...others] = yield* Effect.forEach(paths, (path) => send({ path, headers: { accept } }))
        expect(first!.status).toBe(404)
        for (const other of others) expect(constantPart(other)).toEqual(constantPart(first!))
      })
    )
  }
})
