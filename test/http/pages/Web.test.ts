import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createHash } from "node:crypto"
import { afterAll } from "vitest"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { read } from "../../../src/http/pages/WebAssets.ts"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { TestService, get, withService } from "../../support/TestService.ts"

const folder = mkdtempSync(join(tmpdir(), "linkmint-web-"))
const script = "export const answer = 42\n".repeat(100)
mkdirSync(join(folder, "assets"))
writeFileSync(
  join(folder, "index.html"),
  `<!doctype html><html lang="en"><style>p { color: green }</style><meta name="linkmint" content="%SETTINGS%"><p>page<!--home-->home<!--form-->form<!--/form--><!--/home-->`
)
writeFileSync(join(folder, "index.de.html"), `<!doctype html><html lang="de"><p>Seite`)
writeFileSync(join(folder, "assets/main-abc.js"), script)
writeFileSync(join(folder, "assets/main-abc.js.br"), brotliCompressSync(script))
writeFileSync(join(folder, "assets/main-abc.js.gz"), gzipSync(script))
writeFileSync(join(folder, "assets/font-abc.woff2"), "a font")
afterAll(() => rmSync(folder, { recursive: true }))

const policy = expect.stringMatching(
  /^default-src 'none'; script-src 'self'; style-src 'self' 'sha256-[^']+'; font-src/
)

/** As a browser, which undoes the compression. */
const browse = (path: string, encoding: string) =>
  Effect.flatMap(TestService, ({ port }) =>
    Effect.promise(async () => {
      const headers = { "accept-encoding": encoding }
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
      return { headers: response.headers, text: await response.text() }
    })
  )

withService("a web page for users alone", { webFolder: folder, anonymousCreates: false }, (it) => {
  it.effect("has no form before its script has come", () =>
    Effect.gen(function* () {
      const { text } = yield* get("/")
      expect(text).toContain("-->home")
      expect(text).not.toContain("-->form")
    })
  )
})

withService("the web page", { baseUrl: new URL("https://sho.rt"), webFolder: folder, signUp: true }, (it) => {
  for (const path of ["/", "/app/links", "/app/links/abc/stats?from=here"]) {
    it.effect(`is at ${path}, allows no script within it, and is asked for anew each time`, () =>
      Effect.gen(function* () {
        const { headers, status, text } = yield* get(path)
        expect(status).toBe(200)
        expect(text).toContain("<p>page")
        expect(headers).toMatchObject({
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": policy,
          "cache-control": "no-cache",
          "x-frame-options": "DENY"
        })
        expect(headers["content-security-policy"]).not.toContain("unsafe")
        expect(headers["x-robots-tag"]).toBe(path === "/" ? undefined : "noindex")
      })
    )
  }

  it.effect("is told what the operator has chosen", () =>
    Effect.gen(function* () {
      const { text } = yield* get("/")
      const [, settings] = /content="([^"]*)"/.exec(text)!
      expect(JSON.parse(settings!.replaceAll("&quot;", '"'))).toEqual({
        shortHost: "sho.rt",
        anonymousCreates: true,
        defaultExpiry: false,
        signUp: true,
        brand: { name: "Linkmint" }
      })
    })
  )

  it.effect("has the form only at /, and the colours that were chosen", () =>
    Effect.gen(function* () {
      const shown = yield* get("/")
      expect(shown.text).toContain("-->home")
      expect(shown.text).toContain("-->form")
      expect(shown.text).not.toContain("data-theme")
      const dark = yield* get("/", { cookie: "linkmint_theme=dark" })
      expect(dark.text).toContain('<html data-theme="dark" lang="en">')
      expect(dark.headers["etag"]).not.toBe(shown.headers["etag"])
      expect((yield* get("/app/links")).text).not.toContain("-->home")
    })
  )

  it.effect("is in the language that was chosen, else in one that the browser prefers", () =>
    Effect.gen(function* () {
      for (const [headers, language] of [
        [{}, "en"],
        [{ "accept-language": "fr, de-AT;q=0.9, en;q=0.8" }, "de"],
        [{ "accept-language": "en-GB, de;q=0.9" }, "en"],
        [{ "accept-language": "en", cookie: "linkmint_language=de" }, "de"],
        [{ "accept-language": "fr", cookie: "linkmint_language=fr" }, "en"]
      ] as const) {
        for (const path of ["/", "/app/links"]) {
          expect((yield* get(path, headers)).text, JSON.stringify(headers)).toContain(`lang="${language}"`)
        }
      }
    })
  )

  it.effect("allows the styles in its HTML by their hash, and no others", () =>
    Effect.gen(function* () {
      const { headers } = yield* get("/")
      const hash = createHash("sha256").update("p { color: green }").digest("base64")
      expect(headers["content-security-policy"]).toContain(`style-src 'self' 'sha256-${hash}';`)
    })
  )

  it.effect("is not sent again to who has it", () =>
    Effect.gen(function* () {
      const { headers } = yield* get("/")
      const again = yield* get("/", { "if-none-match": headers["etag"] })
      expect([again.status, again.text]).toEqual([304, ""])
      expect((yield* get("/", { "if-none-match": '"another"' })).status).toBe(200)
    })
  )

  for (const [accepted, encoding] of [
    ["gzip, deflate, br", "br"],
    ["gzip, deflate", "gzip"],
    ["identity", null]
  ] as const) {
    it.effect(
      `comes with ${encoding ?? "no compression"} to who accepts ${accepted}, and so do its files`,
      () =>
        Effect.gen(function* () {
          for (const [path, content] of [
            ["/", "<p>page"],
            ["/assets/main-abc.js", script]
          ] as const) {
            const { headers, text } = yield* browse(path, accepted)
            expect(headers.get("content-encoding")).toBe(encoding)
            expect(headers.get("vary")).toBe(
              path === "/" ? "accept-encoding, accept-language, cookie" : "accept-encoding"
            )
            expect(text).toContain(content)
          }
        })
    )
  }

  it.effect("has files that may be kept for ever, by names that change with them", () =>
    Effect.gen(function* () {
      const { headers, status } = yield* get("/assets/main-abc.js")
      expect(status).toBe(200)
      expect(headers).toMatchObject({
        "content-type": "text/javascript; charset=utf-8",
        "cache-control": "public, max-age=31536000, immutable"
      })
      expect(yield* get("/assets/font-abc.woff2", { "accept-encoding": "br" })).toMatchObject({
        text: "a font",
        headers: { "content-type": "font/woff2" }
      })
    })
  )

  it.effect("has no other files", () =>
    Effect.gen(function* () {
      for (const name of ["none.js", "main-abc.js.br", "..%2Findex.html", "%2e%2e/index.html"]) {
        const { status } = yield* get(`/assets/${name}`)
        expect(status, name).toBe(404)
      }
      expect(jsonOf(yield* get("/assets/none.js"))).toMatchObject({ status: 404 })
    })
  )

  it.effect("answers HEAD with the headers alone", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      const { headers, status, text } = yield* send({ method: "HEAD", path: "/" })
      expect([status, text]).toEqual([200, ""])
      expect(headers["content-security-policy"]).toEqual(policy)
    })
  )
})

const settings = { shortHost: "sho.rt", anonymousCreates: true, signUp: false, defaultExpiry: false }

describe("a web page that was not built", () => {
  it.effect("ends the start with the folder and what to do", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read("/nowhere/web", settings))
      expect(error.message).toBe("The web page is not in /nowhere/web. Build it with npm run build.")
    })
  )
})
