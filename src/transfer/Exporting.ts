// Links as this service writes them into files.

import { csvLine } from "./Csv.ts"
import { joinTags } from "./Fields.ts"

interface Counts {
  readonly total: number
  readonly bots: number
}

/** A link as the API shows it. */
export interface ShownLink {
  readonly key: string
  readonly domain?: string
  readonly shortUrl: string
  readonly url: string
  readonly title: string | null
  readonly tags: ReadonlyArray<string>
  readonly createdAt: string
  readonly updatedAt: string
  readonly expiresAt: string | null
  readonly validSince: string | null
  readonly maxVisits: number | null
  readonly visitsLeft?: number
  readonly redirectStatus: number
  readonly forwardQuery: boolean
  readonly crawlable: boolean
  readonly hasPassword: boolean
  readonly visits: Counts
  readonly importedVisits?: Counts
  readonly expiredUrl?: string
  readonly forwardPath?: boolean
  readonly queryPrecedence?: "request" | "target"
  readonly card?: { readonly title?: string; readonly description?: string; readonly image?: string }
  readonly rules?: ReadonlyArray<object>
  readonly variants?: ReadonlyArray<object>
  readonly note?: string
  readonly archived?: boolean
  readonly publicStats?: boolean
}

/** How links are written: a table, or a JSON object a line. */
export type ExportFormat = "csv" | "jsonl"

/**
 * What a file has of a link, in the order of its columns. Not `custom`, since a key that moves is chosen, and no password, of which only a hash is known. `visits` are all visits ever, those of before included.
 */
export const columns: ReadonlyArray<
  readonly [
    name: string,
    valueOf: (
      link: ShownLink
    ) => string | number | boolean | ReadonlyArray<string> | ReadonlyArray<object> | null
  ]
> = [
  ["key", ({ key }) => key],
  ["shortUrl", ({ shortUrl }) => shortUrl],
  ["url", ({ url }) => url],
  ["title", ({ title }) => title],
  ["tags", ({ tags }) => tags],
  ["createdAt", ({ createdAt }) => createdAt],
  ["updatedAt", ({ updatedAt }) => updatedAt],
  ["validSince", ({ validSince }) => validSince],
  ["expiresAt", ({ expiresAt }) => expiresAt],
  ["maxVisits", ({ maxVisits }) => maxVisits],
  ["visitsLeft", ({ visitsLeft = null }) => visitsLeft],
  ["redirectStatus", ({ redirectStatus }) => redirectStatus],
  ["forwardQuery", ({ forwardQuery }) => forwardQuery],
  ["crawlable", ({ crawlable }) => crawlable],
  ["hasPassword", ({ hasPassword }) => hasPassword],
  ["visits", ({ importedVisits, visits }) => visits.total + (importedVisits?.total ?? 0)],
  ["bots", ({ importedVisits, visits }) => visits.bots + (importedVisits?.bots ?? 0)],
  ["domain", ({ domain = null }) => domain],
  ["expiredUrl", ({ expiredUrl = null }) => expiredUrl],
  ["forwardPath", ({ forwardPath = null }) => forwardPath],
  ["queryPrecedence", ({ queryPrecedence = null }) => queryPrecedence],
  ["cardTitle", ({ card }) => card?.title ?? null],
  ["cardDescription", ({ card }) => card?.description ?? null],
  ["cardImage", ({ card }) => card?.image ?? null],
  ["rules", ({ rules = null }) => rules],
  ["variants", ({ variants = null }) => variants],
  ["note", ({ note = null }) => note],
  ["archived", ({ archived = null }) => archived],
  ["publicStats", ({ publicStats = null }) => publicStats]
]

/** A value in a table: tags side by side, other lists in JSON. */
const cellOf = (value: ReturnType<(typeof columns)[number][1]>): string => {
  if (value === null || typeof value !== "object") return String(value ?? "")
  const isOfTexts = value.every((one): one is string => typeof one === "string")
  return isOfTexts ? joinTags(value as ReadonlyArray<string>) : JSON.stringify(value)
}

/** What stands before the links. */
export const headOf = (format: ExportFormat): string =>
  format === "csv" ? csvLine(columns.map(([name]) => name)) : ""

/** A link, with its end of line. */
export const exportedLine = (link: ShownLink, format: ExportFormat): string => {
  const values = columns.map(([name, valueOf]) => [name, valueOf(link)] as const)
  if (format === "jsonl") {
    return `${JSON.stringify(Object.fromEntries(values.filter(([, value]) => value !== null)))}\n`
  }
  return csvLine(values.map(([, value]) => cellOf(value)))
}
