// Bare `node:http` with one INSERT a request, by `pg` with a pool of 20 and a prepared statement: a random key, the same JSON as Linkmint's, no checks.

// As by hand: without Effect. @effect-diagnostics globalDate:off
import { randomInt } from "node:crypto"
import { createServer } from "node:http"
import { Pool } from "pg"

const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: 20 })
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const drawKey = () => Array.from({ length: 7 }, () => alphabet[randomInt(62)]).join("")

const insert = async (url: string) => {
  const key = drawKey()
  await pool.query({
    name: "insert",
    text: "INSERT INTO links (key, url) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    values: [key, url]
  })
  return key
}

const bodyOf = (key: string, url: string) => ({
  key,
  shortUrl: `http://localhost:8080/${key}`,
  url,
  title: null,
  tags: [],
  createdAt: new Date().toISOString(),
  expiresAt: null,
  validSince: null,
  maxVisits: null,
  hasPassword: false,
  redirectStatus: 302,
  forwardQuery: false,
  crawlable: false,
  custom: false,
  visits: { total: 0, nonBots: 0, bots: 0 }
})

createServer((request, response) => {
  if (request.method !== "POST") return void response.writeHead(404).end()
  let text = ""
  request.setEncoding("utf8")
  request.on("data", (chunk: string) => (text += chunk))
  request.on("end", () => {
    const { url } = JSON.parse(text) as { url: string }
    insert(url).then(
      (key) => {
        response.writeHead(201, { "content-type": "application/json", location: `/${key}` })
        response.end(JSON.stringify(bodyOf(key, url)))
      },
      () => response.writeHead(500).end()
    )
  })
}).listen(Number(process.env["PORT"]), "127.0.0.1")
