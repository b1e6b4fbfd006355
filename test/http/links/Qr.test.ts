import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { createRequire } from "node:module"
import { PNG } from "pngjs"
import * as QrImage from "../../../src/http/links/QrImage.ts"
import { expectProblem, refuses } from "../../support/Problems.ts"
import { adminKey, asAdmin, create, get, TestService, withService } from "../../support/TestService.ts"

const { default: jsQR } = createRequire(import.meta.url)("jsqr") as typeof import("jsqr")

/** What a QR reader makes of a PNG, and how large that is. */
const readPng = (bytes: Uint8Array) => {
  const { data, height, width } = PNG.sync.read(Buffer.from(bytes))
  return { text: jsQR(new Uint8ClampedArray(data), width, height)?.data, width, height }
}

const path = (key: string, query = "") => `/api/v1/links/${key}/qr${query}`

/** An image as bytes, which the tests' own client would take for text. */
const fetchImage = (key: string, query: string) =>
  Effect.flatMap(TestService, ({ port }) =>
    Effect.promise(async () => {
      const url = `http://127.0.0.1:${port}${path(key, query)}`
      const response = await fetch(url, { headers: { "x-api-key": adminKey } })
      const { headers, status } = response
      return { status, headers, bytes: new Uint8Array(await response.arrayBuffer()) }
    })
  )

withService("a link's QR code", {}, (it) => {
  for (const size of [QrImage.sizeMin, 65, 256, 999, QrImage.sizeMax]) {
    it.effect(`can be read as PNG of ${size} pixels`, () =>
      Effect.gen(function* () {
        const { port } = yield* TestService
        yield* create({ url: "https://example.com/", alias: "drawn" })
        const { bytes, headers, status } = yield* fetchImage("drawn", `?format=png&size=${size}`)
        expect([status, headers.get("content-type")]).toEqual([200, "image/png"])
        expect(readPng(bytes)).toEqual({ text: `http://localhost:${port}/drawn`, width: size, height: size })
      })
    )
  }

  it.effect("has the colours that are asked for, as PNG and as SVG", () =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      yield* create({ url: "https://example.com/", alias: "coloured" })
      const query = "?size=300&color=0A3d91&background=fff4d6"
      const { bytes } = yield* fetchImage("coloured", `${query}&format=png`)
      expect(readPng(bytes)).toMatchObject({ text: `http://localhost:${port}/coloured` })
      const { data } = PNG.sync.read(Buffer.from(bytes))
      const colours = new Set<string>()
      for (let at = 0; at < data.length; at += 4) colours.add(data.subarray(at, at + 4).toString("hex"))
      expect(colours).toEqual(new Set(["0a3d91ff", "fff4d6ff"]))
      const { text } = yield* asAdmin("GET", path("coloured", query))
      expect(text).toContain('stroke="#0a3d91"')
      expect(text).toContain('fill="#fff4d6"')
    })
  )

  it.effect("grows where a module would be less than a pixel", () =>
    Effect.gen(function* () {
      const text = `https://${"a".repeat(60)}.example/${"b".repeat(300)}`
      const { text: read, width } = readPng(yield* QrImage.png(text, QrImage.sizeMin))
      expect(read).toBe(text)
      expect(width).toBeGreaterThan(QrImage.sizeMin)
    })
  )

  it.effect("is SVG of 256 pixels unless told otherwise", () =>
    Effect.gen(function* () {
      yield* create({ url: "https://example.com/", alias: "vector" })
      const plain = yield* asAdmin("GET", path("vector"))
      expect(plain.status).toBe(200)
      expect(plain.headers).toMatchObject({
        "content-type": "image/svg+xml",
        "cache-control": "private, max-age=86400",
        "x-content-type-options": "nosniff"
      })
      expect(plain.text).toMatch(/^<svg [^>]*width="256" height="256"/)
      const told = yield* asAdmin("GET", path("vector", "?format=svg&size=256"))
      expect(told.text).toBe(plain.text)
    })
  )

  it.effect("is not sent again to a client that has it", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      yield* create({ url: "https://example.com/", alias: "kept" })
      const ask = (query: string, known: string) =>
        send({ path: path("kept", query), headers: { "x-api-key": adminKey, "if-none-match": known } })
      const etag = (yield* ask("", '"other"')).headers.etag!
      for (const known of [etag, `"other", W/${etag}`, "*"]) {
        const again = yield* ask("", known)
        expect([again.status, again.text, again.headers.etag]).toEqual([304, "", etag])
      }
      expect((yield* ask("?size=300", etag)).status).toBe(200)
      expect((yield* ask("?format=png", etag)).status).toBe(200)
      expect((yield* ask("?color=111111", etag)).status).toBe(200)
    })
  )

  const wrong = [
    ["?size=63", "size"],
    ["?size=2049", "size"],
    ["?size=1e3", "size"],
    ["?size=", "size"],
    ["?size=100&size=200", "size"],
    ["?color=red", "color"],
    ["?color=%23000000", "color"],
    ["?color=000000&color=111111", "color"],
    ["?background=fff", "background"],
    ["?format=gif", "format"],
    ["?format=svg&format=png", "format"]
  ] as const
  for (const [query, parameter] of wrong) {
    it.effect(`is refused for ${query}`, () =>
      refuses(asAdmin("GET", path("any", query)), "invalid-request", [parameter, /must be/])
    )
  }

  it.effect("is only drawn of a link that is there, for those who may see it", () =>
    Effect.gen(function* () {
      yield* create({ url: "https://example.com/", alias: "secret" })
      expectProblem(yield* get(path("secret")), "unauthorized")
      expectProblem(yield* asAdmin("GET", path("nothing")), "not-found")
      expectProblem(yield* asAdmin("GET", path("a.b")), "not-found")
      yield* asAdmin("DELETE", "/api/v1/links/secret")
      expectProblem(yield* asAdmin("GET", path("secret")), "not-found")
    })
  )
})
