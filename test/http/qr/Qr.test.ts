import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PNG } from "pngjs"
import { afterAll } from "vitest"
import * as Brand from "../../../src/http/pages/Brand.ts"
import { shapes } from "../../../src/http/qr/QrDrawing.ts"
import * as QrImage from "../../../src/http/qr/QrImage.ts"
import { expectProblem, refuses } from "../../support/http/Problems.ts"
import { adminKey, asAdmin, create, get, TestService, withService } from "../../support/TestService.ts"

const { default: jsQR } = createRequire(import.meta.url)("jsqr") as typeof import("jsqr")

/** What a QR reader makes of a PNG, and how large that is. Of a large one it sees every fourth pixel: it takes seconds for all of them, in which connections end. */
const readPng = (bytes: Uint8Array) => {
  const { data, height, width } = PNG.sync.read(Buffer.from(bytes))
  const step = width > 1_000 ? 4 : 1
  const [seenWidth, seenHeight] = [Math.floor(width / step), Math.floor(height / step)]
  const seen = new Uint8ClampedArray(4 * seenWidth * seenHeight)
  for (let at = 0; at < seenWidth * seenHeight; at++) {
    const from = 4 * step * (Math.floor(at / seenWidth) * width + (at % seenWidth))
    seen.set(data.subarray(from, from + 4), 4 * at)
  }
  return { text: jsQR(seen, seenWidth, seenHeight)?.data, width, height }
}

/** What a QR reader makes of the modules of an SVG, each drawn as a square. */
const readSvg = (svg: string): string | undefined => {
  const across = Number(/viewBox="0 0 (\d+)/.exec(svg)![1])
  const scale = 4
  const side = across * scale
  const pixels = new Uint8ClampedArray(4 * side * side).fill(255)
  const dark = svg.split("<path ")[2]!
  for (const [, x, y, length = "1"] of dark.matchAll(/M(\d+) (\d+)(?:h(\d+)v1)?/g)) {
    for (let row = 0; row < scale; row++) {
      for (let column = 0; column < Number(length) * scale; column++) {
        const pixel = 4 * ((Number(y) * scale + row) * side + Number(x) * scale + column)
        pixels.fill(0, pixel, pixel + 3)
      }
    }
  }
  return jsQR(pixels, side, side)?.data
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

const plain = { colours: QrImage.blackOnWhite, shape: "square", logo: undefined } as const

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
      expect(text).toContain('fill="#0a3d91"')
      expect(text).toContain('fill="#fff4d6"')
    })
  )

  it.effect("can be read in every shape, as PNG and as SVG, each another image", () =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      yield* create({ url: "https://example.com/", alias: "shaped" })
      const images = new Set<string>()
      for (const shape of shapes) {
        for (const size of [QrImage.sizeMin, 300]) {
          const { bytes } = yield* fetchImage("shaped", `?format=png&size=${size}&shape=${shape}`)
          const text = `http://localhost:${port}/shaped`
          expect(readPng(bytes), `${shape} ${size}`).toEqual({ text, width: size, height: size })
          images.add(Buffer.from(bytes).toString("base64"))
        }
        const svg = (yield* asAdmin("GET", path("shaped", `?shape=${shape}`))).text
        expect(readSvg(svg), shape).toBe(`http://localhost:${port}/shaped`)
        images.add(svg)
      }
      expect(images.size).toBe(3 * shapes.length)
    })
  )

  it.effect("has no logo where the service has none", () =>
    refuses(asAdmin("GET", path("any", "?logo=brand")), "invalid-request", ["logo", /has no logo of its own/])
  )

  it.effect("grows where a module would be less than a pixel", () =>
    Effect.gen(function* () {
      const text = `https://${"a".repeat(60)}.example/${"b".repeat(300)}`
      const { text: read, width } = readPng(yield* QrImage.png(text, { ...plain, size: QrImage.sizeMin }))
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
      expect((yield* ask("?shape=dot", etag)).status).toBe(200)
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
    ["?shape=star", "shape"],
    ["?shape=dot&shape=round", "shape"],
    ["?logo=https://example.com/logo.png", "logo"],
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

const folder = mkdtempSync(join(tmpdir(), "linkmint-qr-"))
afterAll(() => rmSync(folder, { recursive: true }))

const brandWith = (name: string, logo: string | Buffer) => {
  const logoFile = join(folder, name)
  writeFileSync(logoFile, logo)
  return { ...Brand.own, logoFile }
}

/** A picture of one colour, which covers the whole place of a logo. */
const pngOf = (width: number, height: number) => {
  const png = new PNG({ width, height })
  for (let at = 0; at < png.data.length; at += 4) png.data.set([220, 30, 30, 255], at)
  return PNG.sync.write(png)
}

/** The share of an image that is as red as the logo. */
const redOf = (bytes: Uint8Array) => {
  const { data, height, width } = PNG.sync.read(Buffer.from(bytes))
  let red = 0
  for (let at = 0; at < data.length; at += 4) if (data.readUIntBE(at, 3) === 0xdc1e1e) red++
  return red / (width * height)
}

withService("a QR code with the service's logo", { brand: brandWith("logo.png", pngOf(90, 60)) }, (it) => {
  it.effect("can be read in every shape, as PNG and as SVG, beside a logo of up to a twentieth of it", () =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      yield* create({ url: "https://example.com/", alias: "branded" })
      const text = `http://localhost:${port}/branded`
      for (const shape of shapes) {
        for (const size of [128, 500]) {
          const query = `?format=png&size=${size}&shape=${shape}&logo=brand`
          const { bytes } = yield* fetchImage("branded", query)
          expect(readPng(bytes), `${shape} ${size}`).toEqual({ text, width: size, height: size })
          const red = redOf(bytes)
          expect(red).toBeGreaterThan(0.01)
          expect(red).toBeLessThan(0.05)
        }
        const svg = (yield* asAdmin("GET", path("branded", `?shape=${shape}&logo=brand`))).text
        expect(svg).toContain('<image href="data:image/png;base64,')
        expect(readSvg(svg), shape).toBe(text)
      }
      const withNone = yield* asAdmin("GET", path("branded", "?logo=none"))
      expect(withNone.text).not.toContain("<image")
    })
  )
})

withService("a QR code with a logo that is no PNG", { brand: brandWith("logo.svg", "<svg></svg>") }, (it) => {
  it.effect("is drawn as SVG alone", () =>
    Effect.gen(function* () {
      yield* create({ url: "https://example.com/", alias: "vectors" })
      const { text } = yield* asAdmin("GET", path("vectors", "?logo=brand"))
      expect(text).toContain('<image href="data:image/svg+xml;base64,')
      const asPng = asAdmin("GET", path("vectors", "?logo=brand&format=png"))
      yield* refuses(asPng, "invalid-request", ["logo", /SVG can have it/])
    })
  )
})

withService(
  "a QR code with a logo of many pixels",
  { brand: brandWith("huge.png", pngOf(1_025, 2)) },
  (it) => {
    it.effect("is drawn as SVG alone", () =>
      Effect.gen(function* () {
        yield* create({ url: "https://example.com/", alias: "huge" })
        expect((yield* asAdmin("GET", path("huge", "?logo=brand"))).status).toBe(200)
        expectProblem(yield* asAdmin("GET", path("huge", "?logo=brand&format=png")), "invalid-request", [
          ["logo", /SVG can have it/]
        ])
      })
    )
  }
)
