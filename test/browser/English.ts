// Finds texts in English on a page that is in German.

import { readdirSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"

const messages = join(import.meta.dirname, "../../src/http/web/messages")

type Texts = string | { readonly [name: string]: Texts }

const textsOf = (texts: Texts): ReadonlyArray<string> =>
  typeof texts === "string" ? [texts] : Object.values(texts).flatMap(textsOf)

const readTexts = async (language: string): Promise<ReadonlySet<string>> => {
  const files = readdirSync(join(messages, language))
  const areas = await Promise.all(
    files.map((file) => import(join(messages, language, file)) as Promise<{ readonly default: Texts }>)
  )
  return new Set(areas.flatMap((area) => textsOf(area.default)))
}

/** All that is read on a page, or heard. */
const shown = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const texts = []
  while (walker.nextNode()) texts.push(walker.currentNode.data.trim())
  for (const name of ["aria-label", "placeholder", "title", "alt"]) {
    for (const element of document.querySelectorAll("[" + name + "]")) texts.push(element.getAttribute(name))
  }
  return texts
})()`

/** The texts of the page in English, without what others than people read, and what is the same in German. */
const onlyEnglish = async (): Promise<ReadonlySet<string>> => {
  const german = await readTexts("de")
  return new Set([...(await readTexts("en"))].filter((text) => !german.has(text)))
}

/** The texts in English that a page shows. */
export const englishOn = async (page: Page): Promise<ReadonlyArray<string>> => {
  const [english, texts] = [await onlyEnglish(), await page.evaluate<ReadonlyArray<string>>(shown)]
  return texts.filter((text) => english.has(text))
}
