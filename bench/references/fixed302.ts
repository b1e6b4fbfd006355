// Bare `node:http`: the same redirect for every request.

import { createServer } from "node:http"

createServer((_, response) => {
  response.writeHead(302, { location: "https://www.example.com/articles/of/a/usual/length/1" })
  response.end()
}).listen(Number(process.env["PORT"]), "127.0.0.1")
