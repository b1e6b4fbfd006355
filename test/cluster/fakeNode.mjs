// A node as the load balancer sees it: it answers, or fails in the way that the request asks of it.
//
// `node fakeNode.mjs NAME PORT` writes a line of JSON for each request. `x-fault: NAME=FAULT` makes the node of that name fail;
// SIGTERM makes it unready, as a node does that is about to stop.

import { createServer } from "node:http"

const [, , name, port] = process.argv
let isReady = true
process.on("SIGTERM", () => {
  isReady = false
})

const faults = {
  // As the client sees a death.
  close: (response) => response.socket.destroy(),
  die: () => process.kill(process.pid, "SIGKILL"),
  half: (response) => {
    response.socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n")
    setTimeout(() => response.socket.destroy(), 50)
  },
  hang: () => {},
  junk: (response) => response.socket.end("This is not HTTP.\r\n\r\n"),
  slow: (response, answer) => setTimeout(answer, 2_000),
  unavailable: (response) => response.writeHead(503, { "retry-after": "1" }).end("unavailable")
}

createServer((request, response) => {
  if (request.url === "/health/ready") return response.writeHead(isReady ? 200 : 503).end()
  if (request.url === "/health/live") return response.end()
  let body = ""
  request.on("data", (chunk) => {
    body += chunk
  })
  request.on("end", () => {
    const [victim, fault] = (request.headers["x-fault"] ?? "").split("=")
    const seen = { name, method: request.method, url: request.url, headers: request.headers, body }
    const answer = () => response.end(JSON.stringify(seen))
    process.stdout.write(`${JSON.stringify(seen)}\n`, () => {
      if (victim === name || victim === "all") faults[fault](response, answer)
      else answer()
    })
  })
}).listen(Number(port), "127.0.0.1")
