import { answers } from "./Language.ts"

/** Numbers as the service writes them. */
const numbers = /\d+(?:,\d{3})*/g

/** A text of the service in the page's language; `undefined` where only English is known of it. */
const translated = (english: string): string | undefined => {
  const text = answers()?.details[english.replaceAll(numbers, "#")]
  const found = english.match(numbers) ?? []
  let next = 0
  return text?.replaceAll("#", () => found[next++] ?? "")
}

/** What the service said, in the page's language where that is known. */
export const told = (english: string): string => translated(english) ?? english

/** What the service said of a problem, in the page's language where that is known, else what its kind means. */
export const toldOf = (kind: string, english: string): string =>
  translated(english) ??
  (answers()?.problems as Readonly<Record<string, string>> | undefined)?.[kind] ??
  english
