import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import * as Problem from "./Problem.ts"
import type * as RequestId from "./RequestId.ts"
import * as StrictHeaders from "./StrictHeaders.ts"

/** A name or an address, and perhaps a port, as RFC 9110, section 7.2, has it in `Host`; no list of them. */
const shape = /^(\[[0-9A-Za-z:.%]+\]|[A-Za-z0-9._~!$&'()*+;=%-]*)(:\d*)?$/

const isHost = (name: string) => name.length === 4 && name.toLowerCase() === "host"

/** The host that was seen last, and is well-formed: mostly all clients name the same. */
let seen = ""

const isWellFormed = (host: string): boolean => {
  if (host === seen) return true
  if (!shape.test(host)) return false
  seen = host
  return true
}

/** Whether a request names one host, or none, as HTTP/1.0 may. Node keeps the first of several; a proxy in front may use the last. */
const namesOne = ({ rawHeaders }: IncomingMessage): boolean => {
  let host: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (!isHost(rawHeaders[at]!)) continue
    if (host !== undefined) return false
    host = rawHeaders[at + 1]!
  }
  return host === undefined || isWellFormed(host)
}

const problem = Problem.faulty("invalid-request", [{ path: "Host", message: "must name one host" }])

const refuse = (response: ServerResponse, id: string, always: ReadonlyArray<string>) => {
  const answer = Problem.answer(problem)
  StrictHeaders.complete(answer)
  const length = String(Buffer.byteLength(answer.body))
  answer.headers.push("content-length", length, "connection", "close", "x-request-id", id, ...always)
  response.writeHead(answer.status, answer.headers)
  response.end(answer.body)
}

/** Refuses requests that name several hosts, or something else than a host (RFC 9112, section 3.2). `always`: headers that all answers have. */
export const checking =
  (idOf: RequestId.IdOf, always: ReadonlyArray<string>, listener: RequestListener): RequestListener =>
  (message, response) =>
    namesOne(message)
      ? listener(message, response)
      : refuse(response, idOf(message.headers as Readonly<Record<string, string | undefined>>), always)
