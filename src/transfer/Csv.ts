// CSV as RFC 4180 has it, read and written a piece at a time.

import { Unreadable } from "./Unreadable.ts"

/** A record of a file, and the line on which it begins. */
export interface CsvRecord {
  readonly line: number
  readonly cells: ReadonlyArray<string>
}

/** Characters of a record at most: a quote that is never closed would take the rest of the file. */
const recordLengthMax = 1_000_000

const separators = [",", ";", "\t"] as const

/** What separates the cells of a file, by its first line. Spreadsheets write semicolons where the decimal point is a comma. */
const separatorOf = (line: string): string => {
  const bare = line.replaceAll(/"[^"]*"/g, "")
  const counts = separators.map((separator) => bare.split(separator).length)
  return separators[counts.indexOf(Math.max(...counts))]!
}

/** Whether the text from `start` on has a whole line. */
const lineEnd = (text: string): number => text.search(/[\r\n]/)

type State = "start" | "bare" | "quoted" | "closed"

/**
 * Reads records, without empty lines. Holds one piece and one record at a time. Fails with {@link Unreadable} where a quoted cell does not end, or goes on after its end.
 */
export async function* readCsv(pieces: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  let separator: string | undefined
  let pending = ""
  let line = 1
  let begunAt = 1
  let cells: Array<string> = []
  let cell = ""
  let state = "start" as State
  let length = 0
  let afterReturn = false

  const take = (text: string): ReadonlyArray<CsvRecord> => {
    const records: Array<CsvRecord> = []
    const endCell = () => {
      cells.push(cell)
      cell = ""
      state = "start"
    }
    const endRecord = () => {
      endCell()
      if (cells.length > 1 || cells[0] !== "") records.push({ line: begunAt, cells })
      cells = []
      length = 0
    }
    for (const character of text) {
      const isSecondHalf = afterReturn && character === "\n"
      afterReturn = character === "\r"
      if (character === "\r" || (character === "\n" && !isSecondHalf)) line++
      if (++length > recordLengthMax)
        throw new Unreadable(begunAt, "a record is too long; is a quote missing?")
      if (state === "quoted") {
        if (character === '"') state = "closed"
        else cell += character
      } else if (character === "\r" || character === "\n") {
        if (!isSecondHalf) endRecord()
        begunAt = line
        length = 0
      } else if (character === separator) endCell()
      else if (character === '"' && state === "closed") {
        cell += '"'
        state = "quoted"
      } else if (character === '"' && state === "start") state = "quoted"
      else if (state === "closed") {
        throw new Unreadable(line, "there is text behind the closing quote of a cell")
      } else {
        cell += character
        state = "bare"
      }
    }
    return records
  }

  for await (const piece of pieces) {
    if (separator === undefined) {
      pending += piece
      const end = lineEnd(pending)
      if (end === -1 && pending.length < recordLengthMax) continue
      separator = separatorOf(end === -1 ? pending : pending.slice(0, end))
      yield* take(pending.replace(/^\uFEFF/, ""))
      pending = ""
    } else yield* take(piece)
  }
  separator ??= separatorOf(pending)
  yield* take(pending.replace(/^\uFEFF/, ""))
  if (state === "quoted") throw new Unreadable(begunAt, "a quoted cell does not end")
  if (cells.length > 0 || cell !== "" || state === "closed") yield* take("\n")
}

// A spreadsheet whose separator is a semicolon or a tab also begins a cell behind one within a cell of ours: quotes that follow a comma do not quote there. Nor do they keep
// line breaks together, and two quotes at the start of its cell are an empty quoted text, which a formula may follow.
const beginnings = "(?<=^|[;\\t\\r\\n])"
const ofFormula = `(?=['"]*[=+\\-@\\t\\r])`
const unguarded = new RegExp(beginnings + ofFormula, "g")
const guards = new RegExp(`${beginnings}'${ofFormula}`, "g")

/** A text of which no spreadsheet takes any part for a formula, be its separator a comma, a semicolon or a tab; {@link bared} undoes it. */
export const guarded = (text: string): string => text.replaceAll(unguarded, "'")

/** The text of which {@link guarded} made this. */
export const bared = (text: string): string => text.replaceAll(guards, "")

const quoted = (cell: string): string =>
  /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell

/** Writes a record, with its end of line. Cells that a spreadsheet would take for formulas are guarded. */
export const csvLine = (cells: ReadonlyArray<string>): string =>
  `${cells.map((cell) => quoted(guarded(cell))).join(",")}\r\n`
