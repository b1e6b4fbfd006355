import { computed, signal } from "@preact/signals"
import { languageCookie } from "../../pages/LanguageCookie.ts"
import * as Kept from "../app/Kept.ts"
import type { messages } from "../../../model/Messages.ts"
import type { entryMessages, unreadableMessages } from "../../../transfer/Messages.ts"

/** The texts of one area in a language: a text, or its forms by number (the plural categories of the Unicode CLDR, `other` always). */
export type Words = Readonly<Record<string, string | Readonly<Record<string, string>>>>

/** All texts of a language, by area. */
type Translation = Readonly<Record<string, Words>>

/** The name under which a translation has its {@link Answers}. English needs none. */
const answersArea = "answers"

/** What the service says in English alone, in another language: by the English text, both with `{name}` for each value. */
export type Answers = Readonly<
  Record<
    (typeof messages)[number] | (typeof entryMessages)[number] | (typeof unreadableMessages)[number],
    string
  >
>

/** English is in the areas' own files, so that its readers load no more than they see. A file beside this folder's is all that a further language takes. */
const files = import.meta.glob<Translation>("../messages/*.ts", { import: "default" })

/** The languages of the page by their tags (BCP 47), English first. */
export const languages: ReadonlyArray<string> = [
  "en",
  ...Object.keys(files).map((file) => /([\w-]+)\.ts$/.exec(file)![1]!)
]

const kept = Kept.read<string>("language")

/** The language of the page, and its texts; `undefined` for English. They change together. */
const current = signal<{ readonly language: string; readonly translation: Translation | undefined }>({
  language: "en",
  translation: undefined
})

/** The tag of the page's language. */
export const language = computed(() => current.value.language)

/** The language as numbers and times are written in: with the region that the browser has for it. */
export const locale = computed(
  () =>
    navigator.languages.find((tag) => tag === language.value || tag.startsWith(`${language.value}-`)) ??
    language.value
)

const load = async (chosen: string): Promise<void> => {
  const file = files[`../messages/${chosen}.ts`]
  current.value = { language: chosen, translation: await file?.() }
  document.documentElement.lang = chosen
}

/** Begins with the language that was chosen, else with that of the HTML, which the service has chosen by what the browser prefers. Where its texts cannot be loaded, with English. */
export const begin = (): Promise<void> => {
  const { lang } = document.documentElement
  return load([kept, lang].find((one) => one !== undefined && languages.includes(one)) ?? "en").catch(() =>
    load("en")
  )
}

/** How long the cookie lasts. It is set again whenever the page is opened. */
const year_s = 365 * 24 * 60 * 60

/** Tells the service, whose pages for visitors have the same language. */
const tell = (chosen: string) => {
  const secure = location.protocol === "https:" ? "; Secure" : ""
  document.cookie = `${languageCookie}=${chosen}; Path=/; Max-Age=${year_s}; SameSite=Lax${secure}`
}

if (kept !== undefined && languages.includes(kept)) tell(kept)

/** Changes the language, and keeps the choice. Fails where its texts cannot be loaded. */
export const choose = async (chosen: string): Promise<void> => {
  await load(chosen)
  Kept.write("language", chosen)
  tell(chosen)
}

/** What the service says in English alone; `undefined` where the page is in English as well. */
export const answers = (): Readonly<Record<string, string>> | undefined =>
  current.value.translation?.[answersArea] as Answers | undefined

/** The texts of an area in the page's language, by those in English. What is read in a component follows the choice. */
export const wordsOf =
  <A extends Words>(area: string, english: A) =>
  (): A => {
    const translated = current.value.translation?.[area]
    return translated === undefined ? english : ({ ...english, ...translated } as A)
  }
