import { Effect, Either } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { own } from "../../../src/http/pages/Brand.ts"
import { languageOf } from "../../../src/http/pages/Language.ts"
import { make } from "../../../src/http/pages/VisitorPages.ts"
import { read } from "../../../src/http/pages/WebAssets.ts"
import { builtIn, readLanguages } from "../../../src/http/pages/Words.ts"
import { parse } from "../../../src/http/pages/BrandColor.ts"
import { makeWebFolder } from "../../support/http/WebFolder.ts"

const folders: Array<string> = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

const english = builtIn.get("en")

const french = JSON.parse(JSON.stringify(english).replaceAll("No such link", "Lien inconnu"))

/** What comes of a folder with these files. */
const readFrom = (files: Readonly<Record<string, unknown>>) => {
  const folder = mkdtempSync(join(tmpdir(), "linkmint-messages-"))
  folders.push(folder)
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content))
  }
  return Effect.runSync(Effect.either(readLanguages(folder)))
}

const faultOf = (files: Readonly<Record<string, unknown>>) =>
  Either.match(readFrom(files), { onLeft: ({ message }) => message, onRight: () => undefined })

const titleOf = (pages: ReturnType<typeof make>, headers: Record<string, string>) =>
  /<html lang="(\w+)"[^]*<h1>([^<]*)/
    .exec(
      pages.refuse(
        { url: "/none", headers: { accept: "text/html", ...headers } },
        { kind: "not-found", detail: "There is no link with this key." }
      ).body
    )!
    .slice(1)

describe("the language of a visitor's page", () => {
  it.each([
    [{}, "en"],
    [{ "accept-language": "de-AT,de;q=0.9,en;q=0.8" }, "de"],
    [{ "accept-language": "fr, de;q=0.5" }, "de"],
    [{ "accept-language": "fr" }, "en"],
    [{ "accept-language": "*" }, "en"],
    [{ "accept-language": `${"x,".repeat(200)}de` }, "en"],
    [{ "accept-language": "en", cookie: "a=b; linkmint_language=de" }, "de"],
    [{ "accept-language": "de", cookie: "linkmint_language=xx" }, "de"]
  ])("is that of %j: %s", (headers, language) => {
    expect(languageOf(["en", "de"])({ headers })).toBe(language)
  })

  it("is that of all its text, and caches are told what decides", () => {
    const pages = make()
    expect(titleOf(pages, { "accept-language": "de" })).toEqual(["de", "Link nicht gefunden"])
    expect(titleOf(pages, {})).toEqual(["en", "No such link"])
    const german = pages.preview(
      { headers: { accept: "text/html", "accept-language": "de" } },
      {
        key: "k",
        shortUrl: "https://lnk.example/k",
        url: "https://example.com/",
        createdAt: "2026-11-21T10:00:00.000Z",
        visits: 1_234
      }
    )
    expect(german.body).toContain("21. November 2026")
    expect(german.body).toContain("1.234")
    expect(german.headers.join(": ")).toContain("vary: accept, accept-language")
  })
})

describe("a folder of messages", () => {
  it("adds languages, and replaces texts of those that are built in", () => {
    const languages = Either.getOrThrow(
      readFrom({ "fr.json": french, "de.json": { frame: { imprint: "Anbieter" } }, "README.md": "" })
    )
    const pages = make({ languages, brand: { ...own, imprintUrl: "https://example.com/i" } })
    expect(titleOf(pages, { "accept-language": "fr" })).toEqual(["fr", "Lien inconnu"])
    expect(languages.get("de" as "en").frame).toMatchObject({ imprint: "Anbieter", privacy: "Datenschutz" })
  })

  it.each([
    ["what is no JSON", { "fr.json": "{" }, /fr\.json: it is not JSON/],
    ["no object", { "de.json": [] }, /de\.json: it must be an object/],
    [
      "a text that is missing",
      { "fr.json": { ...french, password: {} } },
      /fr\.json: password\.title must be a text/
    ],
    [
      "an empty text",
      { "de.json": { frame: { home: " " } } },
      /de\.json: frame\.home must be a text of 1 to 500/
    ],
    ["a text that is too long", { "de.json": { frame: { home: "x".repeat(501) } } }, /frame\.home/],
    ["a text of no page", { "de.json": { frame: { house: "x" } } }, /de\.json: frame\.house is no text/],
    [
      "a name that is no language",
      { "German.json": {} },
      /German\.json: a file's name must be a language tag/
    ],
    ["a file that is too large", { "de.json": `"${"x".repeat(70_000)}"` }, /at most 65536 bytes/]
  ])("with %s is refused, and it is said why", (_, files, fault) => {
    expect(faultOf(files)).toMatch(fault)
  })

  it("that is not there is refused", () => {
    const found = Effect.runSync(Effect.either(readLanguages("/nowhere/at/all")))
    expect(Either.isLeft(found) && found.left.message).toMatch(
      /^MESSAGES_DIR: \/nowhere\/at\/all cannot be read/
    )
  })
})

describe("a brand", () => {
  const withLogo = (logo: string | Buffer) => {
    const folder = makeWebFolder()
    folders.push(folder)
    const logoFile = join(folder, "logo")
    writeFileSync(logoFile, logo)
    writeFileSync(join(folder, "index.html"), "<!doctype html><head><title>%BRAND%</title></head>")
    return read(
      folder,
      { shortHost: "lnk.example", signUp: true, anonymousCreates: true, defaultExpiry: false },
      {
        name: "Möbel & <Co>",
        logoFile,
        color: Either.getOrThrow(parse("#0b5cad")),
        footer: "Möbel & Co, Bremen",
        imprintUrl: "https://example.com/imprint?a=1&b=2",
        privacyUrl: undefined
      }
    )
  }

  it("is on every page, escaped, from files of this service alone", async () => {
    const { files, home, styleHashes, visitorFiles } = await Effect.runPromise(withLogo("<svg></svg>"))
    const brand = {
      ...own,
      name: "Möbel & <Co>",
      footer: "Möbel & Co, Bremen",
      imprintUrl: "https://example.com/imprint?a=1&b=2"
    }
    const { body, headers } = make({ files: visitorFiles, brand }).refuse(
      { url: "/none", headers: { accept: "text/html" } },
      { kind: "not-found", detail: "There is no link with this key." }
    )
    expect(body).toContain("<title>No such link · Möbel &#38; &#60;Co&#62;</title>")
    expect(body).toContain('<a href="https://example.com/imprint?a=1&#38;b=2">Imprint</a>')
    expect(body).toContain("<p>Möbel &#38; Co, Bremen")
    expect(body).not.toContain("Privacy")
    expect(headers.join()).toContain("img-src 'self'")
    const addresses = [...body.matchAll(/(?:src|href)="\/assets\/(brand-[\w-]+\.\w+)"/g)].map(
      ([, name]) => name!
    )
    expect(addresses.map((name) => files.get(name)?.contentType)).toEqual([
      "image/svg+xml",
      "text/css; charset=utf-8",
      "image/svg+xml"
    ])
    // The page has its colours in the HTML, which its policy allows by their hash.
    const html = home.get("en")!.auto.bodies.identity.toString()
    expect(html).toContain("<title>Möbel &amp; &lt;Co></title><style>:root{--mint:light-dark(#0b5cad,")
    expect(styleHashes).toHaveLength(1)
  })

  it.each([
    ["is no image", "hello", /is neither SVG nor PNG/],
    ["is too large", Buffer.alloc(65_537), /has 65537 bytes, and may have 65536/]
  ])("with a logo that %s is refused", async (_, logo, fault) => {
    const found = await Effect.runPromise(Effect.either(withLogo(logo)))
    expect(Either.isLeft(found) && found.left.message).toMatch(fault)
  })

  it("has an accent that can be read, whatever single colour is dark enough for light pages", () => {
    const { dark } = Either.getOrThrow(parse("#000000"))
    expect(dark.accent).not.toBe("#000000")
    expect(Either.isLeft(parse("#ffff00"))).toBe(true)
  })
})
