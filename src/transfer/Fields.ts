// The fields of a link in a file: how they are written, and how they are read again.

import { formatMoment } from "./Moment.ts"
import type { EntryMessage } from "./Messages.ts"

/** The values of a link by the names that this service has for them. Texts, or what JSON has. Nothing, `null` and the empty text are the same. */
export type Fields = Readonly<Record<string, unknown>>

/** What creates a link here: the body of a create. */
export interface NewLink {
  readonly url: string
  readonly alias?: string
  readonly domain?: string
  readonly title?: string
  readonly tags?: ReadonlyArray<string>
  readonly expiresAt?: string
  readonly validSince?: string
  readonly maxVisits?: number
  readonly password?: string
  readonly redirectStatus?: 301 | 302 | 307 | 308
  readonly forwardQuery?: boolean
  readonly crawlable?: boolean
  readonly expiredUrl?: string
  readonly forwardPath?: boolean
  readonly queryPrecedence?: "append" | "request" | "target"
  readonly card?: { readonly title?: string; readonly description?: string; readonly image?: string }
  /** As the service has them, which alone looks into them. */
  readonly rules?: ReadonlyArray<object>
  readonly variants?: ReadonlyArray<object>
  readonly note?: string
  readonly archived?: boolean
  readonly publicStats?: boolean
  readonly imported?: {
    readonly createdAt?: string
    readonly updatedAt?: string
    readonly visits?: number
    readonly bots?: number
    readonly visitsLeft?: number
  }
}

/** What is wrong with a field. */
export interface FieldFault {
  readonly field: string
  readonly message: EntryMessage
}

/** How links are read. */
export interface ReadingOptions {
  /** Whether their keys become aliases here; otherwise new ones are minted. */
  readonly keepsKeys: boolean
  /** Whether a title that is too long is cut, and its control characters become spaces; otherwise it is a fault. */
  readonly cutsTitles: boolean
  /** Tags that each link gets beside its own. */
  readonly tags?: ReadonlyArray<string>
}

const lengthsMax = {
  url: 2_048,
  title: 256,
  description: 512,
  note: 1_024,
  tag: 64,
  tags: 20,
  password: 128,
  domain: 253,
  json: 16_384
}
const countsMax = { maxVisits: 1_000_000_000, visits: 1_000_000_000_000 }

/** What a key can be here: up to 5 segments with a slash between them, 64 characters in all. */
const keyShape = /^(?=.{1,64}$)[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+){0,4}$/

const controls = /[\p{Cc}\p{Cs}]/u
/** Control characters that are no line breaks and tabs. */
const controlsInLines = /(?![\t\n\r])[\p{Cc}\p{Cs}]/u

/** Line breaks and tabs, with the spaces around them. Titles that were taken from web pages have them. */
const breaks = /\s*[\t-\r]\s*/g

const isShort = (text: string, max: number) => text.length <= 2 * max && Array.from(text).length <= max

const dateTime =
  /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?))? ?(Z|z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?$/

/** Milliseconds at or above which a number of 13 digits counts them, and below which one of 10 digits counts seconds. */
const epoch = /^\d{10}(\d{3})?$/

/**
 * A moment as a client of the API writes it: from ISO 8601's and SQL's way of writing, where no offset means UTC, and from seconds or milliseconds since 1970. `undefined` for
 * others, such as the 30th of February.
 */
export const momentOf = (text: string): string | undefined => {
  const found = dateTime.exec(text)
  if (found === null) {
    return epoch.test(text) ? formatMoment(Number(text.padEnd(13, "0"))) : undefined
  }
  const [, day, time = "00:00", zone = "Z"] = found
  if (
    Number.isNaN(Date.parse(`${day}T00:00Z`)) ||
    !formatMoment(Date.parse(`${day}T00:00Z`)).startsWith(day!)
  ) {
    return undefined
  }
  const offset = /^[+-]/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3).replace(":", "") || "00"}` : "Z"
  const moment = Date.parse(`${day}T${time.replace(",", ".")}${offset}`)
  return Number.isNaN(moment) ? undefined : formatMoment(moment)
}

const yes = new Set(["true", "t", "1", "yes"])
const no = new Set(["false", "f", "0", "no"])

/** Tags in one cell: between bars, with a backslash before one that is part of a tag, and before itself. */
export const joinTags = (tags: ReadonlyArray<string>): string =>
  tags.map((tag) => tag.replaceAll(/[\\|]/g, "\\$&")).join("|")

/** The tags of {@link joinTags}. */
export const splitTags = (cell: string): ReadonlyArray<string> => {
  if (cell === "") return []
  const tags = [""]
  for (let place = 0; place < cell.length; place++) {
    const next = cell[place + 1]
    if (cell[place] === "|") tags.push("")
    else if (cell[place] === "\\" && (next === "\\" || next === "|")) tags[tags.length - 1] += cell[++place]!
    else tags[tags.length - 1] += cell[place]!
  }
  return tags
}

/** What a text is in JSON; `undefined` where it is none. */
const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads one link. */
export const linkOf = (fields: Fields, options: ReadingOptions): NewLink | ReadonlyArray<FieldFault> => {
  const faults: Array<FieldFault> = []
  const fault = (field: string, message: EntryMessage) => void faults.push({ field, message })

  const textOf = (field: string): string | undefined => {
    const value = fields[field]
    if (value === undefined || value === null || value === "") return undefined
    if (typeof value === "string") return value
    if (typeof value === "number" || typeof value === "boolean") return String(value)
    fault(field, "is not a text")
    return undefined
  }
  const plain = (
    field: string,
    max: number,
    refused = controls,
    text = textOf(field)
  ): string | undefined => {
    if (text === undefined) return undefined
    if (refused.test(text)) return fault(field, "has control characters")
    return isShort(text, max) ? text : fault(field, `has more than ${max} characters`)
  }
  const moment = (field: string): string | undefined => {
    const text = textOf(field)
    return text === undefined
      ? undefined
      : (momentOf(text.trim()) ?? fault(field, `is no date: ${text.slice(0, 40)}`))
  }
  const count = (field: string, min: number, max: number): number | undefined => {
    const text = textOf(field)
    if (text === undefined) return undefined
    const number = /^\d{1,15}$/.test(text.trim()) ? Number(text) : Number.NaN
    return number >= min && number <= max
      ? number
      : fault(field, `must be a whole number from ${min} to ${max.toLocaleString("en")}`)
  }
  const flag = (field: string): boolean | undefined => {
    const text = textOf(field)?.trim().toLowerCase()
    if (text === undefined) return undefined
    if (yes.has(text)) return true
    return no.has(text) ? false : fault(field, "must be true or false")
  }
  const titleOf = (): string | undefined => {
    const given = textOf("title")
    const line = given?.replace(breaks, " ")
    // In one line, as browsers show it. Others stay as they are, character by character.
    const text = line === given ? given : line?.trim()
    if (text === undefined || text === "") return undefined
    if (!options.cutsTitles) return plain("title", lengthsMax.title, controls, text)
    const cut = Array.from(text.slice(0, 2 * lengthsMax.title), (one) => (controls.test(one) ? " " : one))
    const title = cut.slice(0, lengthsMax.title).join("").trim()
    return title === "" ? undefined : title
  }
  const addressOf = (field: string): string | undefined => {
    const url = textOf(field)?.trim() ?? ""
    if (url === "") return undefined
    if (!/^https?:\/\//i.test(url)) fault(field, "is no http or https URL")
    else if (url.length > lengthsMax.url) fault(field, "has more than 2,048 characters")
    return url
  }
  const urlOf = (): string => addressOf("url") ?? fault("url", "is missing") ?? ""
  const precedenceOf = (): NewLink["queryPrecedence"] => {
    const text = textOf("queryPrecedence")
    if (text === undefined || text === "append" || text === "request" || text === "target") return text
    return fault("queryPrecedence", "must be append, request or target")
  }
  const cardOf = (): NewLink["card"] => {
    const title = plain("cardTitle", lengthsMax.title)
    const description = plain("cardDescription", lengthsMax.description)
    const image = addressOf("cardImage")
    if (title === undefined && description === undefined && image === undefined) return undefined
    return {
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(image !== undefined && { image })
    }
  }
  /** A list of objects, which is JSON in a table. */
  const objectsOf = (field: string): ReadonlyArray<object> | undefined => {
    const value = fields[field]
    if (value === undefined || value === null || value === "") return undefined
    const list = typeof value === "string" && value.length <= lengthsMax.json ? jsonOf(value) : value
    const isOfObjects =
      Array.isArray(list) &&
      list.every((one) => typeof one === "object" && one !== null && !Array.isArray(one))
    return isOfObjects ? (list as ReadonlyArray<object>) : fault(field, "is not a list of objects in JSON")
  }
  const aliasOf = (): string | undefined => {
    const key = textOf("key")
    if (key === undefined || !options.keepsKeys) return undefined
    return keyShape.test(key)
      ? key
      : fault(
          "key",
          "cannot be a key here: it must have 1 to 64 characters of A-Z, a-z, 0-9, - and _, in up to 5 segments with a slash between them"
        )
  }
  const tagsOf = (): ReadonlyArray<string> => {
    const tags = fields["tags"] ?? ""
    const added = options.tags ?? []
    if (tags === "") return added
    if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === "string")) {
      fault("tags", "is not a list of texts")
      return []
    }
    const each = [...new Set([...(tags as ReadonlyArray<string>), ...added])]
    if (each.length > lengthsMax.tags) fault("tags", `has more than ${lengthsMax.tags} tags`)
    else if (each.some((tag) => tag === "")) fault("tags", "has an empty tag")
    else if (each.some((tag) => controls.test(tag))) fault("tags", "has control characters")
    else if (!each.every((tag) => isShort(tag, lengthsMax.tag)))
      fault("tags", `has a tag of more than ${lengthsMax.tag} characters`)
    return each
  }

  const url = urlOf()
  const alias = aliasOf()
  const title = titleOf()
  const tags = tagsOf()
  const expiresAt = moment("expiresAt")
  const validSince = moment("validSince")
  const createdAt = moment("createdAt")
  const updatedAt = moment("updatedAt")
  const maxVisits = count("maxVisits", 1, countsMax.maxVisits)
  const visits = count("visits", 0, countsMax.visits)
  const bots = count("bots", 0, countsMax.visits)
  const visitsLeft = count("visitsLeft", 0, countsMax.maxVisits)
  const status = count("redirectStatus", 300, 399)
  const forwardQuery = flag("forwardQuery")
  const crawlable = flag("crawlable")
  const password = plain("password", lengthsMax.password)
  const domain = plain("domain", lengthsMax.domain)
  const expiredUrl = addressOf("expiredUrl")
  const forwardPath = flag("forwardPath")
  const queryPrecedence = precedenceOf()
  const card = cardOf()
  const rules = objectsOf("rules")
  const variants = objectsOf("variants")
  const note = plain("note", lengthsMax.note, controlsInLines)
  const archived = flag("archived")
  const publicStats = flag("publicStats")
  if (status !== undefined && ![301, 302, 307, 308].includes(status)) {
    fault("redirectStatus", "must be 301, 302, 307 or 308")
  }
  if (bots !== undefined && bots > (visits ?? 0)) fault("bots", "is more than visits")
  if (visitsLeft !== undefined && visitsLeft > (maxVisits ?? 0)) fault("visitsLeft", "is more than maxVisits")
  if (flag("hasPassword") === true && password === undefined) {
    fault("password", "is not in the file: without one the link would be open to everybody")
  }
  const rulesFault = textOf("rulesFault")
  // See `ShlinkRules`.
  if (rulesFault !== undefined) fault("rules", rulesFault as EntryMessage)
  if (flag("banned") === true) fault("banned", "is true: the link is blocked where it comes from")
  if (faults.length > 0) return faults
  return {
    url,
    ...(alias !== undefined && { alias }),
    ...(title !== undefined && { title }),
    ...(tags.length > 0 && { tags }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(validSince !== undefined && { validSince }),
    ...(maxVisits !== undefined && { maxVisits }),
    ...(password !== undefined && { password }),
    ...(status !== undefined && { redirectStatus: status as 301 }),
    ...(forwardQuery !== undefined && { forwardQuery }),
    ...(crawlable !== undefined && { crawlable }),
    ...(domain !== undefined && { domain }),
    ...(expiredUrl !== undefined && { expiredUrl }),
    ...(forwardPath !== undefined && { forwardPath }),
    ...(queryPrecedence !== undefined && { queryPrecedence }),
    ...(card !== undefined && { card }),
    ...(rules !== undefined && { rules }),
    ...(variants !== undefined && { variants }),
    ...(note !== undefined && { note }),
    ...(archived !== undefined && { archived }),
    ...(publicStats !== undefined && { publicStats }),
    imported: {
      ...(createdAt !== undefined && { createdAt }),
      ...(updatedAt !== undefined && { updatedAt }),
      ...(visits !== undefined && { visits }),
      ...(bots !== undefined && { bots }),
      ...(visitsLeft !== undefined && { visitsLeft })
    }
  }
}
