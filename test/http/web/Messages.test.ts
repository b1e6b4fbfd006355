import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { builtIn } from "../../../src/http/pages/Words.ts"
import type { Answers } from "../../../src/http/web/language/Language.ts"
import { hardCodedTexts } from "./HardCodedTexts.ts"

const web = join(import.meta.dirname, "../../../src/http/web")
const messages = join(web, "messages")

const load = async (file: string): Promise<unknown> =>
  ((await import(file)) as { readonly default: unknown }).default

/** Texts by their paths; those by number have none of their forms' names. */
const textsOf = (
  value: unknown,
  at = ""
): ReadonlyArray<readonly [path: string, forms: ReadonlyMap<string, string>]> => {
  if (typeof value === "string") return [[at, new Map([["", value]])]]
  const entries = Object.entries(value as object)
  return entries.some(([name]) => name === "other")
    ? [[at, new Map(entries as Array<[string, string]>)]]
    : entries.flatMap(([name, inner]) => textsOf(inner, `${at}/${name}`))
}

/** Placeholders and tags of a text, in whatever order. */
const partsOf = (text: string) => [...text.matchAll(/\{\w+\}|<\/?\w+>/g)].map(([part]) => part).toSorted()

/** Names and examples, which are the same everywhere, and what looks like a text. */
const sameInAllLanguages = [
  "app/Early.ts: #app input[name=url]",
  "app/Theme.ts: (prefers-color-scheme: dark)",
  "domains/DomainDialog.tsx: go.example.com",
  "links/ExportButtons.tsx:  CSV",
  "links/ExportButtons.tsx:  JSON",
  "rules/ConditionFields.tsx: Europe/Berlin",
  "rules/words.ts: DE, AT, CH",
  "rules/words.ts: de, fr-CH",
  "rules/words.ts: ref=letter, beta",
  "stats/StatsOf.tsx:  CSV",
  "utm/UtmFields.tsx: header button",
  "utm/UtmFields.tsx: running shoes"
]

/** What other languages have beside the texts in English, which the service itself has. */
const answers = "answers"

const expectSame = (language: string, translated: unknown, english: unknown) => {
  const [others, ours] = [new Map(textsOf(translated)), new Map(textsOf(english))]
  expect([...others.keys()].toSorted()).toEqual([...ours.keys()].toSorted())
  const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
  for (const [path, forms] of others) {
    const known = ours.get(path)!
    expect(known.has("other"), path).toBe(forms.has("other"))
    if (forms.has("other"))
      expect([...forms.keys()].toSorted(), path).toEqual([...pluralCategories].toSorted())
    for (const text of forms.values()) {
      expect(text.trim(), path).not.toBe("")
      expect(partsOf(text), path).toEqual(partsOf(known.get("other") ?? known.get("")!))
    }
  }
}

const english = Object.fromEntries(
  await Promise.all(
    readdirSync(join(messages, "en")).map(async (file) => [
      file.slice(0, -3),
      await load(join(messages, "en", file))
    ])
  )
) as Readonly<Record<string, unknown>>

const languages = readdirSync(messages).filter((file) => file.endsWith(".ts"))

describe("the texts of the web page", () => {
  it.each(languages)("in %s are all there, with the placeholders and forms that they need", async (file) => {
    const { [answers]: said, ...translated } = (await load(join(messages, file))) as typeof english
    expect(said).toBeDefined()
    expectSame(file.slice(0, -3), translated, english)
  })

  it("are in no module of it", async () => {
    const files = readdirSync(web, { recursive: true, encoding: "utf8" }).filter(
      (file) => /\.tsx?$/.test(file) && !file.startsWith("messages")
    )
    expect(files.length).toBeGreaterThan(100)
    const texts = await Promise.all(
      files.map(async (file) => {
        const source = readFileSync(join(web, file), "utf8")
        return (await hardCodedTexts(source, file)).map((text) => `${file}: ${text}`)
      })
    )
    expect(texts.flat().toSorted()).toEqual(sameInAllLanguages)
  })

  it.each([
    ["an element", `<p>Read <b>this</b></p>`, ["Read ", "this"]],
    [
      "an attribute",
      `<button aria-label="copy" class="a plain one" title={x ? "yes" : t.no} />`,
      ["copy", "yes"]
    ],
    ["a part of a text", "<p>{`${count} visits`}</p>", [" visits"]],
    ["a sum", `<p>{"read " + count}</p>`, ["read "]],
    [
      "a component's property",
      `<Field hint={isOld && "old"}>{(c) => <input {...c} type="text" />}</Field>`,
      ["old"]
    ],
    ["a message", `say("It is done.")`, ["It is done."]],
    [
      "a table",
      `const names: Record<"a", string> = { a: "Systems", b: "some more", c: "KeyRange" }`,
      ["Systems", "some more"]
    ],
    [
      "nothing",
      `const f = (a: "Two words") => a === "Two words" && <a href="/a" class="two words">{t.a}</a>`,
      []
    ]
  ])("are found in %s", async (_, source, texts) => {
    expect(await hardCodedTexts(source, "a.tsx")).toEqual(texts)
  })
})

describe("what the service says in English", () => {
  const service = join(web, "../..")
  /** The service's sources with `#` for what a text has of numbers: those that are written, and those that are put in. */
  const sources = readdirSync(service, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.startsWith("http/web"))
    .map((file) => readFileSync(join(service, file), "utf8"))
    .join("\n")
    .replaceAll(/\$\{[^}]*\}/g, "#")
    .replaceAll(/\d+(?:,\d{3})*/g, "#")

  it.each(languages)("is said as %s has it", async (file) => {
    const { [answers]: said } = (await load(join(messages, file))) as typeof english
    const { details } = said as Answers
    // Whole texts: a part of one would never be found.
    const isWhole = (english: string) =>
      ['"', "`"].some((quote) => sources.includes(`${quote}${english}${quote}`))
    expect(Object.keys(details).filter((english) => !isWhole(english))).toEqual([])
    for (const [english, text] of Object.entries(details)) {
      expect(text.split("#").length, english).toBe(english.split("#").length)
    }
  })
})

describe("the texts of visitors' pages", () => {
  it.each([...builtIn.keys()])("in %s are all there", (language) => {
    expectSame(language, builtIn.get(language as "en"), builtIn.get("en"))
  })
})
