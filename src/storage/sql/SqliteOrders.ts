import Database from "libsql"
import { LRUCache } from "lru-cache"
import type { Answer, Opening, Order, Rows, Statement } from "./SqliteThread.ts"

/** Statements that are kept prepared at most: that takes half the time of one that reads a row. */
const preparedMax = 200

type Statements = LRUCache<string, Database.Statement>

interface Open {
  readonly db: Database.Database
  readonly prepared: Statements
  readonly preparedJson: Statements
}

const openAt = ({ path, pragmas }: Opening): Open => {
  const db = new Database(path)
  try {
    for (const pragma of pragmas) db.exec(`PRAGMA ${pragma}`)
  } catch (error) {
    db.close()
    throw error
  }
  return {
    db,
    prepared: new LRUCache({ max: preparedMax }),
    preparedJson: new LRUCache({ max: preparedMax })
  }
}

const prepare = ({ db, prepared }: Open, sql: string): Database.Statement => {
  const known = prepared.get(sql)
  if (known !== undefined) return known
  const statement = db.prepare(sql).safeIntegers(true)
  if (statement.reader) statement.raw(true)
  prepared.set(sql, statement)
  return statement
}

/** An argument as the driver takes it: of a type that it does not know it would end the process. */
const argumentOf = (value: unknown) => {
  if (typeof value === "boolean") return value ? 1 : 0
  if (value === null || typeof value === "string" || typeof value === "bigint") return value
  if (typeof value === "number" && Number.isFinite(value)) return value
  throw new TypeError(`an argument of a statement is ${String(value)}`)
}

const resultOf = (value: unknown) => {
  if (typeof value !== "bigint") return value
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new RangeError("a result is an integer beyond 2^53")
  return number
}

const isSelect = /^\s*SELECT\b/i

const noRows: Rows = { columns: [], rows: [] }

const codeOf = (error: unknown) =>
  error instanceof Error && "code" in error ? String(error.code) : undefined

const isBusy = (error: unknown) => codeOf(error)?.startsWith("SQLITE_BUSY") === true

/** Numbers that `JSON.parse` may not have whole, outside of most texts: integers beyond 2^53, and fractions of which SQLite writes 15 digits. */
const longNumber = /[[,]-?[\d.e+]{16,}[\],]/

/**
 * A `SELECT` whose rows SQLite itself writes as one JSON text: that takes half the time of having each value from the driver and sending it to the other thread.
 */
const prepareJson = ({ db, preparedJson }: Open, sql: string): Database.Statement => {
  const known = preparedJson.get(sql)
  if (known !== undefined) return known
  const names = db
    .prepare(sql)
    .columns()
    .map((_, index) => `c${index}`)
    .join(", ")
  const statement = db.prepare(
    `WITH given (${names}) AS (${sql}\n) SELECT json_group_array(json_array(${names})) FROM given`
  )
  preparedJson.set(sql, statement.raw(true))
  return statement
}

/** A connection to an SQLite file, opened by the first order that finds it closed. */
export interface SqliteOrders {
  /** Carries out an order, in this thread, and gives what became of it. */
  readonly answer: (order: Order) => Answer
  /** Takes back a transaction that is open, and gives up the file. */
  readonly close: () => void
}

/** Carries out one order after the other on a connection of its own. */
export const make = (opening: Opening): SqliteOrders => {
  let connection: Open | undefined

  const close = () => {
    const db = connection?.db
    connection = undefined
    // libSQL keeps the file and its locks as long as a prepared statement is not collected: a transaction's lock must go now.
    if (db?.inTransaction === true) db.exec("ROLLBACK")
    db?.close()
  }

  const run = (opened: Open, { args, isUnnamed = false, sql }: Statement): Rows | string => {
    const values = args.map(argumentOf)
    try {
      if (isUnnamed && isSelect.test(sql)) {
        const [[json]] = prepareJson(opened, sql).all(values) as [[string]]
        if (!longNumber.test(json)) return json
      }
      const statement = prepare(opened, sql)
      if (!statement.reader) {
        statement.run(values)
        return noRows
      }
      const rows = statement.all(values) as Array<Array<unknown>>
      for (const row of rows) for (const [index, value] of row.entries()) row[index] = resultOf(value)
      // Asked for now: SQLite prepares a statement anew when the schema has changed.
      return { columns: isUnnamed ? [] : statement.columns().map(({ name }) => name), rows }
    } catch (error) {
      // A statement that found the database locked stays unfinished until it is collected: whatever comes after it on this connection would see an old state, or
      // be taken back.
      if (isBusy(error)) close()
      throw error
    }
  }

  const carryOut = (opened: Open, { kind, statement }: Order): Rows | string => {
    const { db } = opened
    try {
      const rows = statement === undefined ? noRows : run(opened, statement)
      if (kind === "alone" || kind === "commit") db.exec("COMMIT")
      if (kind === "rollBack") db.exec("ROLLBACK")
      return rows
    } catch (error) {
      if ((kind === "alone" || kind === "commit") && connection?.db.inTransaction === true)
        db.exec("ROLLBACK")
      throw error
    }
  }

  const answer = (order: Order): Answer => {
    const { id, kind } = order
    const begins = kind === "alone" || kind === "first"
    let isUntouched = begins || kind === "outside"
    try {
      connection ??= openAt(opening)
      // By itself, so that no statement that writes finds the database locked; `exec` leaves nothing unfinished.
      if (begins) connection.db.exec("BEGIN IMMEDIATE")
      isUntouched = kind === "outside"
      // SQLite has taken a transaction back by itself after some errors, such as a full disk.
      if (kind === "next" && !connection.db.inTransaction) throw new Error("the transaction was rolled back")
      return { id, rows: carryOut(connection, order) }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const code = codeOf(error)
      return { id, failure: { code, message, isLocked: isUntouched && isBusy(error) } }
    }
  }

  return { answer, close }
}
