import { STATUS_CODES, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as Problem from "../exchange/Problem.ts"
import * as StrictHeaders from "../exchange/StrictHeaders.ts"

/** What Node's parser has to say of a request that it cannot read, by its error's code. */
const problemOf = (code: string | undefined): Problem.Problem => {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { kind: "request-timeout", detail: "The request took too long to come." }
    case "HPE_HEADER_OVERFLOW":
      return { kind: "headers-too-large", detail: "The headers may have 16,384 bytes at most." }
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { kind: "payload-too-large", detail: "The body has too much beside its bytes." }
    default:
      return Problem.faulty("invalid-request", [{ path: "", message: "The request is not valid HTTP/1.1." }])
  }
}

/** The bytes of the last answer on a connection, where there is no response to write it to. */
const textOf = (problem: Problem.Problem): string => {
  const answer = Problem.answer(problem)
  StrictHeaders.complete(answer)
  const { body, headers, status } = answer
  headers.push("content-length", String(Buffer.byteLength(body)), "connection", "close")
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]!}`] : []))
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, "", body].join("\r\n")
}

/** Answers a request that cannot be read, and ends its connection. `next`: the response whose turn it is there, which must not be cut in two. */
export const refuse = (
  error: NodeJS.ErrnoException,
  socket: Socket,
  next: ServerResponse | undefined
): void => {
  if (!socket.writable || next?.headersSent === true) return void socket.destroy(error)
  socket.end(textOf(problemOf(error.code)))
  socket.destroySoon()
}
