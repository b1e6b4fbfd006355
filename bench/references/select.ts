// Bare `node:http` with one SELECT a request, by `pg` with a pool of 20 and a prepared statement.

import { createServer } from "node:http"
import { Pool } from "pg"

const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: 20 })

createServer((request, response) => {
  const query = {
    name: "find",
    text: "SELECT url FROM links WHERE key = $1",
    values: [request.url!.slice(1)]
  }
  pool.query<{ url: string }>(query).then(
    ({ rows: [row] }) => {
      if (row === undefined) response.writeHead(404)
      else response.writeHead(302, { location: row.url })
      response.end()
    },
    () => response.writeHead(500).end()
  )
}).listen(Number(process.env["PORT"]), "127.0.0.1")
