// Files of other services as links to make. Columns are told by their names, whatever their order, case and punctuation.

import type { NewLink } from "../api/Types.ts"

/** A row of a file as a link to make, and the line on which it stands. */
export interface Row {
  readonly line: number
  readonly link: NewLink
}

/** A line that is no link, and why. */
export interface Skipped {
  readonly line: number
  readonly text: string
  readonly reason: string
}

/** What a file has. */
export interface Parsed {
  /** Whose export it is. */
  readonly source: string
  readonly rows: ReadonlyArray<Row>
  readonly skipped: ReadonlyArray<Skipped>
}

/** In which columns, by their plain names, a service writes what. The first that a file has counts. */
interface Format {
  readonly source: string
  /** Columns that tell this service's files from others'. */
  readonly tells: ReadonlyArray<string>
  readonly url: ReadonlyArray<string>
  readonly short: ReadonlyArray<string>
}

const formats: ReadonlyArray<Format> = [
  { source: "Linkmint", tells: ["key", "shorturl", "haspassword"], url: ["url"], short: ["key"] },
  { source: "YOURLS", tells: ["keyword", "url"], url: ["url"], short: ["keyword"] },
  { source: "Shlink", tells: ["shorturl", "longurl"], url: ["longurl"], short: ["shortcode", "shorturl"] },
  { source: "Kutt", tells: ["address", "target"], url: ["target"], short: ["address"] },
  { source: "Kutt", tells: ["target", "link"], url: ["target"], short: ["link"] },
  {
    source: "Bitly",
    tells: ["longurl", "link"],
    url: ["longurl"],
    short: ["customlink", "custombitlinks", "custombitlink", "link"]
  },
  {
    source: "Bitly",
    tells: ["destinationurl", "link"],
    url: ["destinationurl"],
    short: ["customlink", "custombackhalf", "link"]
  },
  { source: "Bitly", tells: ["longurl", "bitlink"], url: ["longurl"], short: ["custombitlink", "bitlink"] },
  {
    source: "CSV",
    tells: [],
    url: ["url", "longurl", "target", "destination", "destinationurl", "originalurl", "long"],
    short: ["alias", "keyword", "slug", "shortcode", "key", "backhalf", "shorturl", "link"]
  }
]

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "")

/** What stands behind the last slash of a short URL: `https://sho.rt/abc` and `abc` are both `abc`. */
const keyOf = (short: string): string =>
  short
    .trim()
    .replace(/[?#].*$/, "")
    .replace(/\/+$/, "")
    .replace(/^.*\//, "")

const isUrl = (text: string): boolean => /^https?:\/\//i.test(text)

/** Tags stand in one cell, separated in whatever way, maybe as a JSON list. */
const tagsIn = (cell: string): ReadonlyArray<string> =>
  [
    ...new Set(
      cell
        .replace(/^\[|\]$/g, "")
        .split(/[|,;]/)
        .map((tag) => tag.trim().replace(/^"|"$/g, "").slice(0, 64))
        .filter((tag) => tag !== "")
    )
  ].slice(0, 20)

type Cells = Readonly<Record<string, string>>

const firstOf = (cells: Cells, names: ReadonlyArray<string>): string =>
  names.map((name) => (cells[name] ?? "").trim()).find((cell) => cell !== "") ?? ""

const expiryOf = (cells: Cells): string | undefined => {
  const text = firstOf(cells, ["expiresat", "expirein", "expirationdate", "validuntil"])
  const moment = Date.parse(text)
  return Number.isNaN(moment) ? undefined : new Date(moment).toISOString()
}

const linkOf = (cells: Cells, format: Format, keepsKeys: boolean): NewLink => {
  const alias = keyOf(firstOf(cells, format.short))
  const title = firstOf(cells, ["title", "description", "name"])
  const tags = tagsIn(firstOf(cells, ["tags"]))
  const expiresAt = expiryOf(cells)
  return {
    url: firstOf(cells, format.url),
    // Keys that cannot be aliases here get a new one.
    ...(keepsKeys && /^[A-Za-z0-9_-]{3,64}$/.test(alias) && { alias }),
    ...(title !== "" && { title: Array.from(title).slice(0, 256).join("") }),
    ...(tags.length > 0 && { tags }),
    ...(expiresAt !== undefined && { expiresAt })
  }
}

const reasonAgainst = ({ expiresAt, url }: NewLink): string | undefined => {
  if (url === "") return "has no URL"
  if (!isUrl(url)) return "is no http or https URL"
  return expiresAt !== undefined && Date.parse(expiresAt) <= Date.now() ? "has ended already" : undefined
}

/** Reads the rows of a file, of which the first names the columns unless it has a URL itself. */
export const read = (table: ReadonlyArray<ReadonlyArray<string>>, keepsKeys: boolean): Parsed => {
  const hasNames = table.length > 0 && !table[0]!.some(isUrl)
  const names = hasNames ? table[0]!.map(plain) : ["url", "alias"]
  const format = formats.find(({ tells, url }) =>
    tells.length === 0
      ? true
      : tells.every((name) => names.includes(name)) && url.some((name) => names.includes(name))
  )!
  const rows: Array<Row> = []
  const skipped: Array<Skipped> = []
  table.slice(hasNames ? 1 : 0).forEach((values, index) => {
    const line = index + (hasNames ? 2 : 1)
    const cells = Object.fromEntries(names.map((name, column) => [name, values[column] ?? ""]))
    const link = linkOf(cells, format, keepsKeys)
    const reason = reasonAgainst(link)
    if (reason === undefined) rows.push({ line, link })
    else skipped.push({ line, text: link.url === "" ? values.join(", ") : link.url, reason })
  })
  return { source: hasNames ? format.source : "CSV", rows, skipped }
}

/** Reads pasted lines: a URL each, and an alias behind a space if there is one. */
export const readLines = (text: string): Parsed => {
  const rows: Array<Row> = []
  const skipped: Array<Skipped> = []
  text.split("\n").forEach((content, index) => {
    const [first = "", alias = ""] = content.trim().split(/[\s,;]+/)
    if (first === "") return
    const url = isUrl(first) || first.includes(":") ? first : `https://${first}`
    const link: NewLink = { url, ...(alias !== "" && { alias }) }
    const reason = reasonAgainst(link)
    if (reason === undefined) rows.push({ line: index + 1, link })
    else skipped.push({ line: index + 1, text: content.trim(), reason })
  })
  return { source: "Pasted", rows, skipped }
}
