// The rows of MySQL's dumps, as mysqldump and phpMyAdmin write them, read a piece at a time.

import { Unreadable } from "./Unreadable.ts"

/** A row that a dump inserts, and the line on which it begins. */
export interface SqlRow {
  readonly line: number
  readonly table: string
  /** The names of the columns, where the statement has them. */
  readonly columns: ReadonlyArray<string> | undefined
  /** `null` for NULL. */
  readonly values: ReadonlyArray<string | null>
}

/** Characters of a row, and of a statement before its rows, at most. */
const lengthMax = 1_000_000

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", 0: "\0", b: "\b", Z: "\u001a" }

const insert =
  /INSERT\s+(?:IGNORE\s+)?INTO\s+(?:[\w`"]+\.)?[`"]?([^\s`"(]+)[`"]?\s*(?:\(([^)]*)\)\s*)?VALUES\s*$/i

const columnsIn = (list: string | undefined) =>
  list?.split(",").map((column) => column.trim().replaceAll(/^[`"]|[`"]$/g, ""))

/** Reads the rows of all `INSERT` statements. Holds one piece and one row at a time. */
export async function* readSql(pieces: AsyncIterable<string>): AsyncGenerator<SqlRow> {
  let line = 1
  let begunAt = 1
  let head = ""
  let table = ""
  let columns: ReadonlyArray<string> | undefined
  let values: Array<string | null> = []
  let value = ""
  let isText = false
  let length = 0
  let state: "head" | "rows" | "row" | "text" | "escape" | "text-end" = "head"

  const endValue = () => {
    values.push(isText ? value : value.trim().toUpperCase() === "NULL" ? null : value.trim())
    value = ""
    isText = false
  }

  const take = (character: string): SqlRow | undefined => {
    if (++length > lengthMax) throw new Unreadable(begunAt, "a row is too long; is a quote missing?")
    switch (state) {
      case "head":
        if (character === ";" || (character === "\n" && head.startsWith("--"))) head = ""
        else if (head !== "" || !/\s/.test(character)) head += character
        if (/\s|S/i.test(character) || character === "(") {
          const found = character === "(" ? insert.exec(head.slice(0, -1)) : null
          if (found !== null) {
            table = found[1]!
            columns = columnsIn(found[2])
            state = "row"
            begunAt = line
            head = ""
          }
        }
        if (head === "") length = 0
        return undefined
      case "rows":
        if (character === "(") {
          state = "row"
          begunAt = line
          length = 0
        } else if (character === ";") state = "head"
        else if (!/[\s,]/.test(character)) {
          // What follows the rows, such as ON DUPLICATE KEY UPDATE.
          state = "head"
          head = character
        }
        return undefined
      case "text":
        if (character === "\\") state = "escape"
        else if (character === "'") state = "text-end"
        else value += character
        return undefined
      case "escape":
        value += escapes[character] ?? character
        state = "text"
        return undefined
      case "text-end":
        if (character === "'") {
          value += "'"
          state = "text"
          return undefined
        }
        state = "row"
        return take(character)
      case "row":
        if (character === "'" && !isText && value.trim() === "") {
          value = ""
          isText = true
          state = "text"
        } else if (character === ",") endValue()
        else if (character === ")") {
          endValue()
          const row = { line: begunAt, table, columns, values }
          values = []
          state = "rows"
          length = 0
          return row
        } else if (!isText) value += character
        else if (!/\s/.test(character)) throw new Unreadable(line, "there is text behind the end of a value")
        return undefined
    }
  }

  for await (const piece of pieces) {
    for (const character of piece) {
      if (character === "\n") line++
      const row = take(character)
      if (row !== undefined) yield row
    }
  }
  if (state !== "head" && state !== "rows") throw new Unreadable(begunAt, "a row does not end")
}
