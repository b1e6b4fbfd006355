import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { Data, Effect } from "effect"
import german from "./messages/de.ts"
import english from "./messages/en.ts"

/** All text of the visitors' pages in one language. The HTML around it is in `Markup`. */
export type VisitorWords = typeof english

/** The text of a page that is only a message: what happened, and what the visitor can do. */
export type Message = VisitorWords["messages"]["ended"]

/** The text of the visitors' pages by language tags (BCP 47). */
export type Languages = ReadonlyMap<string, VisitorWords> & {
  readonly get: (tag: "en") => VisitorWords
}

/** What languages there are without files of the operator's. */
export const builtIn: Languages = new Map([
  ["en", english],
  ["de", german]
]) as Languages

/** Files that are read of a folder at most, and bytes of each. */
const filesMax = 32
const fileMax_bytes = 65_536

/** Characters of a text at most. */
const textMax = 500

/** The folder of messages cannot be used. */
export class MessagesUnusable extends Data.TaggedError("MessagesUnusable")<{ readonly fault: string }> {
  override get message() {
    return `MESSAGES_DIR: ${this.fault}`
  }
}

interface Texts {
  readonly [name: string]: string | Texts
}

/** Texts by the names that `known` has. A name that `given` lacks gets the text of `otherwise`. */
const merged = (
  known: Texts,
  given: unknown,
  otherwise: Texts | undefined,
  fault: (text: string) => never,
  at = ""
): Texts => {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return fault(`${at === "" ? "it" : at} must be an object of texts`)
  }
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name))
  if (unknown !== undefined) return fault(`${at}${unknown} is no text of these pages`)
  const texts = given as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(known).map(([name, form]) => {
      const place = `${at}${name}`
      const [text, other] = [texts[name], otherwise?.[name]]
      if (text === undefined && other !== undefined) return [name, other]
      if (typeof form !== "string") {
        return [name, merged(form, text ?? {}, other as Texts | undefined, fault, `${place}.`)]
      }
      if (typeof text !== "string" || text.trim() === "" || text.length > textMax) {
        return fault(`${place} must be a text of 1 to ${textMax} characters`)
      }
      return [name, text]
    })
  )
}

const readFile = (folder: string, name: string): readonly [string, VisitorWords] => {
  const fault = (text: string): never => {
    throw new MessagesUnusable({ fault: `${join(folder, name)}: ${text}` })
  }
  const tag = name.slice(0, -".json".length)
  if (!/^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$/.test(tag)) {
    return fault("a file's name must be a language tag such as fr.json")
  }
  const file = join(folder, name)
  if (statSync(file).size > fileMax_bytes) return fault(`it must have at most ${fileMax_bytes} bytes`)
  let given: unknown
  try {
    given = JSON.parse(readFileSync(file, "utf8"))
  } catch {
    return fault("it is not JSON")
  }
  return [tag, merged(english, given, builtIn.get(tag as "en"), fault) as VisitorWords]
}

/**
 * The built-in languages and those of a folder: `fr.json` has all texts of a further language, `de.json` those that replace built-in ones. Fails with
 * what is wrong with which file.
 */
export const readLanguages = (folder: string): Effect.Effect<Languages, MessagesUnusable> =>
  Effect.try({
    try: () => {
      const names = readdirSync(folder).filter((name) => name.endsWith(".json"))
      if (names.length > filesMax) {
        throw new MessagesUnusable({ fault: `${folder} must have at most ${filesMax} files` })
      }
      return new Map([...builtIn, ...names.toSorted().map((name) => readFile(folder, name))]) as Languages
    },
    catch: (error) =>
      error instanceof MessagesUnusable
        ? error
        : new MessagesUnusable({ fault: `${folder} cannot be read (${String(error)})` })
  })
