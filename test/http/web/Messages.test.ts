import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { builtIn } from "../../../src/http/pages/Words.ts"
import { translator } from "../../../src/http/web/language/translator.ts"
import { messages as serviceMessages } from "../../../src/model/Messages.ts"
import { entryMessages, unreadableMessages } from "../../../src/transfer/Messages.ts"
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

/** What the service says in English: other languages have it as an area of its own. */
const said = [...new Set<string>([...serviceMessages, ...entryMessages, ...unreadableMessages])]

const english: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(
    await Promise.all(
      readdirSync(join(messages, "en")).map(async (file) => [
        file.slice(0, -3),
        await load(join(messages, "en", file))
      ])
    )
  ),
  answers: Object.fromEntries(said.map((template) => [template, template]))
}

const languages = readdirSync(messages).filter((file) => file.endsWith(".ts"))

describe("the texts of the web page", () => {
  it.each(languages)("in %s are all there, with the placeholders and forms that they need", async (file) => {
    expectSame(file.slice(0, -3), await load(join(messages, file)), english)
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
  const translatorOf = async (file: string) => {
    const { answers } = (await load(join(messages, file))) as {
      readonly answers: Readonly<Record<string, string>>
    }
    const translate = translator(answers, (value) => String(value / 1_000))
    return { answers, translate }
  }

  it.each(languages)("is told apart in %s, whatever its values are", async (file) => {
    const { answers, translate } = await translatorOf(file)
    for (const values of ["7", "1.5", "a, b and c: (d).", "$&"]) {
      const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => `${values}${name}`)
      for (const template of said) expect(translate(filled(template))).toBe(filled(answers[template]!))
    }
  })

  it.each([
    ['"auf-deutsch" is taken', "„auf-deutsch“ ist vergeben"],
    ["must have 1 to 1,024 characters", "muss 1 bis 1.024 Zeichen haben"],
    [
      "must have 1 to 64 characters, none of them a control character",
      "muss 1 bis 64 Zeichen haben, ohne Steuerzeichen"
    ],
    [
      "The limit of 60 is used up. Please try again later.",
      "Die Grenze von 60 ist erreicht. Bitte später noch einmal versuchen."
    ],
    ["It answered 500.", "Die Antwort war 500."],
    ["It answered 200 without the challenge.", "Die Antwort war 200, ohne den Prüftext."],
    ["This is new.", "This is new."],
    ["constructor", "constructor"]
  ])("is in German with its values: %s", async (english, german) => {
    const { translate } = await translatorOf("de.ts")
    expect(translate(english)).toBe(german)
  })
})

describe("the texts of visitors' pages", () => {
  it.each([...builtIn.keys()])("in %s are all there", (language) => {
    expectSame(language, builtIn.get(language as "en"), builtIn.get("en"))
  })
})
