import type { ReadingOptions } from "../../../transfer/Fields.ts"
import { type Rejected, unreadOf } from "../../../transfer/Importing.ts"
import { type Entry, read, readLines } from "../../../transfer/Reading.ts"
import { titleOf } from "../../../transfer/Sources.ts"
import { textOf } from "../../../transfer/Utf8.ts"
import { idOf } from "./importing.ts"
import { words } from "./words.ts"

/** Links that are shown before they are made, and lines that are none of which more is known than their number. */
const shownMax = { links: 8, faulty: 100 }

/** What can be imported. */
export interface Source {
  /** Tells it from others, also after the page was loaded again. */
  readonly id: string
  /** What people call it. */
  readonly title: string
  /** Reads it, from its beginning each time. */
  readonly entries: () => AsyncGenerator<Entry>
  readonly total: number
  /** Links that it has, and the first of them. */
  readonly links: number
  readonly first: ReadonlyArray<Entry>
  /** Lines that are no links, the first of them and their number. */
  readonly faulty: ReadonlyArray<Rejected>
  readonly faultyCount: number
}

/** Reads everything once. */
const looked = async (
  id: string,
  titleOfIt: () => string,
  entries: () => AsyncGenerator<Entry>
): Promise<Source> => {
  const first: Array<Entry> = []
  const faulty: Array<Rejected> = []
  let [total, links] = [0, 0]
  for await (const entry of entries()) {
    total++
    if (entry.link === undefined) {
      if (faulty.length < shownMax.faulty) faulty.push(unreadOf(entry))
    } else if (++links <= shownMax.links) first.push(entry)
  }
  return { id, title: titleOfIt(), entries, total, links, first, faulty, faultyCount: total - links }
}

/** The bytes of a file. Not every browser lets a stream be iterated over. */
async function* bytesOf(file: Blob): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}

/** Looks through a file. Fails with `Unreadable` where it is none that can be read. */
export const lookAtFile = (file: File, options: ReadingOptions): Promise<Source> => {
  let title = ""
  const entries = () =>
    read(textOf(bytesOf(file)), { ...options, onSource: (source) => (title = titleOf(source)) })
  return looked(idOf(file, options), () => title, entries)
}

/** Looks through pasted lines. */
export const lookAtLines = (text: string): Promise<Source> => {
  const lines = { name: text, size: text.length, lastModified: 0 }
  return looked(
    idOf(lines, {}),
    () => words().pasted,
    () => readLines(text, { keepsKeys: true, cutsTitles: false })
  )
}
