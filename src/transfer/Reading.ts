// The links of a file, of this service or another one, read a piece at a time.

import { readCsv } from "./Csv.ts"
import { type FieldFault, linkOf, type NewLink, type ReadingOptions } from "./Fields.ts"
import { readJson } from "./Json.ts"
import {
  fieldsOf,
  missingIn,
  type Named,
  namedCells,
  namedJson,
  plain,
  type SourceName,
  sourceOf,
  titleOf
} from "./Sources.ts"
import { readSql } from "./Sql.ts"
import { Unreadable } from "./Unreadable.ts"

/** What a file has in one place: a link, or why it is none. */
export interface Entry {
  /** Its place among the entries, from 0 on. */
  readonly place: number
  /** Where it begins in the file, from 1 on; in a JSON document, its place in the list. */
  readonly line: number
  readonly link?: NewLink
  readonly faults: ReadonlyArray<FieldFault>
  /** What can be shown of it. */
  readonly key: string
  readonly url: string
}

/** How a file is read. */
export interface FileOptions extends ReadingOptions {
  /** Whose it is; told by its columns where it is not said. */
  readonly source?: SourceName
  /** Hears whose it is, before the first entry. */
  readonly onSource?: (source: SourceName) => void
}

/** Characters by which the kind of a file is told, at most. */
const headLength = 4_096

/** The pieces again, and the first ones together. */
const peek = async (pieces: AsyncIterable<string>) => {
  const iterator = pieces[Symbol.asyncIterator]()
  let head = ""
  let isOver = false
  while (head.length < headLength && !isOver) {
    const { done, value } = await iterator.next()
    if (done === true) isOver = true
    else head += value
  }
  const all = async function* () {
    try {
      yield head
      if (!isOver) yield* { [Symbol.asyncIterator]: () => iterator }
    } finally {
      await iterator.return?.()
    }
  }
  return { head: head.replace(/^\uFEFF/, "").trimStart(), all: all() }
}

const yourlsColumns = ["keyword", "url", "title", "timestamp", "ip", "clicks"]

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** Reads the entries of a file. Fails with {@link Unreadable} where it cannot be read at all. */
export async function* read(pieces: AsyncIterable<string>, options: FileOptions): AsyncGenerator<Entry> {
  const { all, head } = await peek(pieces)
  let place = 0
  let source = options.source

  const entryOf = (line: number, named: Named): Entry => {
    const fields = fieldsOf(named, source!)
    const read = linkOf(fields, options)
    const known = { place: place++, line, key: textOf(fields["key"]), url: textOf(fields["url"]) }
    return "url" in read ? { ...known, link: read, faults: [] } : { ...known, faults: read }
  }

  /** Settles whose file it is, by the names of its columns. */
  const know = (line: number, names: ReadonlySet<string>): void => {
    source ??= sourceOf(names)
    if (source === undefined) throw new Unreadable(line, "no column has the URLs of links")
    const missing = missingIn(source, names)
    if (missing.length > 0) {
      throw new Unreadable(
        line,
        `a file of ${titleOf(source)} has a column ${missing.join(" or ")}; this one has none`
      )
    }
    options.onSource?.(source)
  }

  if (/^[[{]/.test(head)) {
    let isKnown = false
    for await (const { fault, json, line } of readJson(all)) {
      if (fault !== undefined || typeof json !== "object" || json === null || Array.isArray(json)) {
        yield {
          place: place++,
          line,
          key: "",
          url: "",
          faults: [{ field: "", message: fault ?? "is no object" }]
        }
        continue
      }
      const named = namedJson(json as Readonly<Record<string, unknown>>)
      if (!isKnown) know(line, new Set(named.keys()))
      isKnown = true
      yield entryOf(line, named)
    }
    return
  }

  if (/^(--|\/\*|#|(CREATE|INSERT|SET|DROP|LOCK|START)\s)/i.test(head)) {
    source ??= "yourls"
    if (source !== "yourls") throw new Unreadable(1, `SQL is read of YOURLS, not of ${titleOf(source)}`)
    options.onSource?.(source)
    for await (const { columns = yourlsColumns, line, table, values } of readSql(all)) {
      if (!table.endsWith("url")) continue
      yield entryOf(line, namedCells(columns.map(plain), values, source))
    }
    return
  }

  let names: ReadonlyArray<string> | undefined
  for await (const { cells, line } of readCsv(all)) {
    if (names === undefined) {
      // Without a line of names: a URL each, and an alias maybe.
      const hasNames = !cells.some((cell) => /^https?:\/\//i.test(cell.trim()))
      names = hasNames ? cells.map(plain) : ["url", "alias"]
      know(line, new Set(names))
      if (hasNames) continue
    }
    yield entryOf(line, namedCells(names, cells, source!))
  }
}

/** Reads pasted lines: a URL each, and an alias behind a space if there is one. */
export async function* readLines(text: string, options: ReadingOptions): AsyncGenerator<Entry> {
  let place = 0
  for (const [index, content] of text.split("\n").entries()) {
    const [first = "", key = ""] = content.trim().split(/[\s,;]+/)
    if (first === "") continue
    const url = /^https?:\/\//i.test(first) || first.includes(":") ? first : `https://${first}`
    const read = linkOf({ url, key }, options)
    const known = { place: place++, line: index + 1, key, url: content.trim() }
    yield "url" in read ? { ...known, link: read, faults: [] } : { ...known, faults: read }
  }
}
