// `INSERT … unnest` of 1,000 rows at a time by `pg` alone, as many at once as the other side has callers. Of some million random keys two are mostly the same.

import { randomInt } from "node:crypto"
import { Pool } from "pg"

const callers = Number(process.env["CALLERS"])
const rows = 1_000
const end = performance.now() + Number(process.argv[2]) * 1_000
const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: callers })
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const drawKey = () => Array.from({ length: 7 }, () => alphabet[randomInt(62)]).join("")

const latencies: Array<number> = []
const url = "https://www.example.com/articles/of/a/usual/length/1"
const start = performance.now()

const call = async () => {
  while (performance.now() < end) {
    const begun = performance.now()
    const keys = Array.from({ length: rows }, drawKey)
    await pool.query({
      name: "insert",
      text: "INSERT INTO links (key, url) SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING",
      values: [keys, keys.map(() => url)]
    })
    latencies.push(performance.now() - begun)
  }
}
await Promise.all(Array.from({ length: callers }, call))
const seconds = (performance.now() - start) / 1_000
await pool.end()

latencies.sort((a, b) => a - b)
const at = (part: number) =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? null
const { system, user } = process.cpuUsage()
const sample = {
  count: latencies.length * rows,
  seconds,
  p50_ms: at(0.5),
  p99_ms: at(0.99),
  p999_ms: at(0.999),
  errors: 0,
  cpu_us: system + user,
  rss_MB: process.memoryUsage.rss() / 2 ** 20
}
process.stdout.write(`LOAD ${JSON.stringify(sample)}\n`)
