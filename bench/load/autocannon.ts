// Load by autocannon, in a process of its own: the argument says what to send, as JSON.

import autocannon from "autocannon"
import { readFileSync } from "node:fs"
import type { LoadOptions } from "./Load.ts"

const {
  apiKey,
  connections,
  creates,
  path = "/",
  paths,
  port,
  seconds
} = JSON.parse(process.argv[2]!) as LoadOptions
const ways = paths === undefined ? [path] : readFileSync(paths, "utf8").trim().split("\n")
const body = creates && readFileSync(creates.body, "utf8")
let sent = 0

const next = (): autocannon.Request => {
  sent++
  if (creates === undefined || sent % creates.each !== 0) {
    const headers = apiKey === undefined ? {} : { "x-api-key": apiKey }
    return { method: "GET", path: ways[sent % ways.length]!, headers }
  }
  return {
    method: "POST",
    path: creates.path,
    headers: { "content-type": "application/json", "x-api-key": creates.apiKey },
    body: body!.replaceAll("%d", String(sent))
  }
}

const result = await autocannon({
  url: `http://127.0.0.1:${port}`,
  connections,
  duration: seconds,
  // Each answer right and wrong counts; what is wrong is told apart below.
  requests: [{ setupRequest: (request) => ({ ...request, ...next() }) }]
})
const sample = {
  count: result.requests.total,
  seconds: result.duration,
  p50_ms: result.latency.p50,
  p99_ms: result.latency.p99,
  p999_ms: result.latency.p99_9,
  errors: result.errors + result.timeouts + result["4xx"] + result["5xx"]
}
process.stdout.write(`LOAD ${JSON.stringify(sample)}\n`)
