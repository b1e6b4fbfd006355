// @ts-check
// One connection to an SQLite file, in a thread of its own: carries out one order after the other, and answers each. The build puts it into one file with
// what it imports (`bundle.mjs`).

import Database from "libsql"
import { LRUCache } from "lru-cache"
import { parentPort, workerData } from "node:worker_threads"

/** @import { MessagePort } from "node:worker_threads" */
/** @import { Answer, Opening, Order, Rows, Statement } from "./SqliteThread.ts" */

const { path, pragmas } = /** @type {Opening} */ (workerData)
const port = /** @type {MessagePort} */ (parentPort)

/** Statements that are kept prepared at most: that takes half the time of one that reads a row. */
const preparedMax = 200

/** @typedef {LRUCache<string, Database.Statement>} Statements */
/** @typedef {{ readonly db: Database.Database, readonly prepared: Statements, readonly preparedJson: Statements }} Connection */

/** Opened by the first order that finds none. @type {Connection | undefined} */
let connection

/** @returns {Connection} */
const open = () => {
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

const close = () => {
  const db = connection?.db
  connection = undefined
  // libSQL keeps the file and its locks as long as a prepared statement is not collected: a transaction's lock must go now.
  if (db?.inTransaction) db.exec("ROLLBACK")
  db?.close()
}

/** @type {(connection: Connection, sql: string) => Database.Statement} */
const prepare = ({ db, prepared }, sql) => {
  const known = prepared.get(sql)
  if (known !== undefined) return known
  const statement = db.prepare(sql).safeIntegers(true)
  if (statement.reader) statement.raw(true)
  prepared.set(sql, statement)
  return statement
}

/** An argument as the driver takes it: of a type that it does not know it would end the process. @param {unknown} value */
const argumentOf = (value) => {
  if (typeof value === "boolean") return value ? 1 : 0
  if (value === null || typeof value === "string" || typeof value === "bigint") return value
  if (typeof value === "number" && Number.isFinite(value)) return value
  throw new TypeError(`an argument of a statement is ${String(value)}`)
}

/** @param {unknown} value */
const resultOf = (value) => {
  if (typeof value !== "bigint") return value
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new RangeError("a result is an integer beyond 2^53")
  return number
}

const isSelect = /^\s*SELECT\b/i

/** @type {Rows} */
const noRows = { columns: [], rows: [] }

/** @param {unknown} error */
const codeOf = (error) => (error instanceof Error && "code" in error ? String(error.code) : undefined)

/** @param {unknown} error */
const isBusy = (error) => codeOf(error)?.startsWith("SQLITE_BUSY") === true

/** Numbers that `JSON.parse` may not have whole, outside of most texts: integers beyond 2^53, and fractions of which SQLite writes 15 digits. */
const longNumber = /[[,]-?[\d.e+]{16,}[\],]/

/**
 * A `SELECT` whose rows SQLite itself writes as one JSON text: that takes half the time of having each value from the driver and sending it to the other thread.
 *
 * @type {(connection: Connection, sql: string) => Database.Statement}
 */
const prepareJson = ({ db, preparedJson }, sql) => {
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

/** @type {(connection: Connection, statement: Statement) => Rows | string} */
const run = (connection, { args, isUnnamed = false, sql }) => {
  const values = args.map(argumentOf)
  try {
    if (isUnnamed && isSelect.test(sql)) {
      const [[json]] = /** @type {[[string]]} */ (prepareJson(connection, sql).all(values))
      if (!longNumber.test(json)) return json
    }
    const statement = prepare(connection, sql)
    if (!statement.reader) {
      statement.run(values)
      return noRows
    }
    const rows = /** @type {Array<Array<unknown>>} */ (statement.all(values))
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

/** @type {(connection: Connection, order: Order) => Rows | string} */
const carryOut = (opened, { kind, statement }) => {
  const { db } = opened
  try {
    const rows = statement === undefined ? noRows : run(opened, statement)
    if (kind === "alone" || kind === "commit") db.exec("COMMIT")
    if (kind === "rollBack") db.exec("ROLLBACK")
    return rows
  } catch (error) {
    if ((kind === "alone" || kind === "commit") && connection?.db.inTransaction) db.exec("ROLLBACK")
    throw error
  }
}

/** @type {(order: Order) => Answer} */
const answer = (order) => {
  const { id, kind } = order
  const begins = kind === "alone" || kind === "first"
  let isUntouched = begins || kind === "outside"
  try {
    connection ??= open()
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

port.on("message", (/** @type {Order | null} */ order) => {
  if (order !== null) return port.postMessage(answer(order))
  close()
  port.close()
})
