import { type ExportFormat, exportedLine, headOf } from "../../../transfer/Exporting.ts"
import { ownError } from "../api/Client.ts"
import * as Links from "../api/Links.ts"
import { saveBlob } from "../ui/save.ts"
import { words } from "./words.ts"

const pageLength = 500

const types = { csv: "text/csv", jsonl: "application/jsonl" } as const

/** Reads all links of a filter and saves them as a file, which the import reads again. Tells how many it has read. Fails where some cannot be read: nobody would see that the file has gaps. */
export const save = async (
  filter: Links.Filter,
  format: ExportFormat,
  onProgress: (count: number) => void,
  signal: AbortSignal
): Promise<number> => {
  const parts: Array<Blob> = [new Blob([headOf(format)])]
  let count = 0
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof Links.list>> = await Links.list(filter, pageLength, cursor, signal)
    if (page.partial === true) throw ownError(words().notSaved)
    // Browsers keep large blobs on disk, and texts in memory.
    parts.push(new Blob(page.data.map((link) => exportedLine(link, format))))
    count += page.data.length
    cursor = page.nextCursor
    onProgress(count)
  } while (cursor !== null)
  const name = `links-${new Date().toISOString().slice(0, 10)}.${format}`
  saveBlob(new Blob(parts, { type: types[format] }), name)
  return count
}
