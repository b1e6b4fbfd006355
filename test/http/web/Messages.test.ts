import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { builtIn } from "../../../src/http/pages/Words.ts"

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
    expectSame(file.slice(0, -3), await load(join(messages, file)), english)
  })

  // What is not in this list still has its English in its components.
  it.each(["domains", "app/App.tsx", "app/Header.tsx", "ui/Tabs.tsx", "language"])(
    "of %s are in the files of messages",
    (place) => {
      const at = join(web, place)
      const files = place.endsWith(".tsx")
        ? [at]
        : readdirSync(at).flatMap((name) => (name.endsWith(".tsx") ? [join(at, name)] : []))
      expect(files.length).toBeGreaterThan(0)
      for (const file of files) {
        const source = readFileSync(file, "utf8").replaceAll(/\/\*\*?[^]*?\*\/|\/\/.*$/gm, "")
        // Words between tags, and attributes that are read: examples of addresses are the same everywhere.
        expect(
          [...source.matchAll(/>[ \n]*([A-Z][a-z]+[ a-z.,]*)[ \n]*</g)].map(([, text]) => text),
          file
        ).toEqual([])
        expect(
          [...source.matchAll(/\b(?:aria-label|title|alt|hint|text)="([^"]*[A-Z][^"]*)"/g)].map(
            ([, text]) => text
          ),
          file
        ).toEqual([])
      }
    }
  )
})

describe("the texts of visitors' pages", () => {
  it.each([...builtIn.keys()])("in %s are all there", (language) => {
    expectSame(language, builtIn.get(language as "en"), builtIn.get("en"))
  })
})
