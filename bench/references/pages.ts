// Bare `node:http` with pages of 50 links, by `pg` with prepared statements: one statement, or a part of the page from each of several databases, put in order.

import { createServer } from "node:http"
import { Pool } from "pg"

const urls = process.env["DATABASE_URLS"]!.split(",")
const pools = urls.map((connectionString) => new Pool({ connectionString, max: Math.ceil(20 / urls.length) }))
const limit = 50

/** Rows of one database: as many as Linkmint asks it for. */
const rowsEach = urls.length === 1 ? limit + 1 : 21

const page = {
  name: "page",
  text: `SELECT key, url, title, tags, custom, created_at, updated_at, expires_at FROM links
         WHERE owner = $1 AND deleted_at IS NULL ORDER BY created_at DESC, key DESC LIMIT ${rowsEach}`,
  values: [process.env["OWNER"]]
}

interface Row {
  readonly created_at: string
}

const newestFirst = (one: Row, other: Row) => Number(other.created_at) - Number(one.created_at)

createServer((_, response) => {
  Promise.all(pools.map((pool) => pool.query<Row>(page))).then(
    (answers) => {
      const links = answers
        .flatMap(({ rows }) => rows)
        .toSorted(newestFirst)
        .slice(0, limit)
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ links }))
    },
    () => response.writeHead(500).end()
  )
}).listen(Number(process.env["PORT"]), "127.0.0.1")
