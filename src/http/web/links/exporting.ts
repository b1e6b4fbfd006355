import * as Links from "../api/Links.ts"
import type { Link } from "../api/Types.ts"
import { saveBlob } from "../ui/save.ts"

const pageLength = 500

/** How links can be saved. */
export type Format = "csv" | "json"

/** A link as a row; the import reads it again. */
const rowOf = (link: Link) => ({
  key: link.key,
  shortUrl: link.shortUrl,
  url: link.url,
  title: link.title ?? "",
  tags: link.tags.join("|"),
  createdAt: link.createdAt,
  expiresAt: link.expiresAt ?? "",
  maxVisits: link.maxVisits ?? "",
  hasPassword: link.hasPassword,
  visits: link.visits.total,
  bots: link.visits.bots
})

const csvOf = async (links: ReadonlyArray<Link>): Promise<string> => {
  const { default: Papa } = await import("papaparse")
  // A title that begins with = would be a formula to a spreadsheet.
  return Papa.unparse(links.map(rowOf), { escapeFormulae: true, newline: "\r\n" })
}

/** Reads all links of a filter and saves them as a file. Tells how many it has read. */
export const save = async (
  filter: Links.Filter,
  format: Format,
  onProgress: (count: number) => void,
  signal: AbortSignal
): Promise<number> => {
  const links: Array<Link> = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof Links.list>> = await Links.list(filter, pageLength, cursor, signal)
    links.push(...page.data)
    cursor = page.nextCursor
    onProgress(links.length)
  } while (cursor !== null)
  const [text, type] =
    format === "csv" ? [await csvOf(links), "text/csv"] : [JSON.stringify(links, null, 2), "application/json"]
  saveBlob(new Blob([text], { type }), `links-${new Date().toISOString().slice(0, 10)}.${format}`)
  return links.length
}
