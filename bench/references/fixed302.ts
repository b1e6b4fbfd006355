// Bare `node:http`: the same redirect for every request, but for the one with which a load balancer asks for its health.

import { createServer } from "node:http"

createServer((request, response) => {
  if (request.url!.startsWith("/health/")) return void response.end()
  response.writeHead(302, { location: "https://www.example.com/articles/of/a/usual/length/1" })
  response.end()
}).listen(Number(process.env["PORT"]), "127.0.0.1")
