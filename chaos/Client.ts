// What a client of the load balancer, or of one node, sees.

import { Agent, request } from "node:http"

/** A client gives up a request after this, where it is not told otherwise. */
const clientTimeout_ms = 6_000

/** An answer, or why there is none. */
export interface Answer {
  /** 0 where there is no answer. */
  readonly status: number
  readonly location: string | undefined
  readonly body: string
  /** By which the request is known in the logs of the load balancer and of the nodes. */
  readonly requestId: string
  /** Why there is no answer. */
  readonly error: string | null
}

/** What to ask. */
export interface Asking {
  readonly method: "GET" | "POST" | "PATCH"
  readonly path: string
  readonly requestId: string
  readonly apiKey?: string
  readonly json?: unknown
  readonly idempotencyKey?: string
}

/** A client with one connection that it keeps, to one port of the loopback address. */
export interface Client {
  /** Sends a request once, and never fails. */
  readonly ask: (asking: Asking) => Promise<Answer>
  readonly close: () => void
}

const bodyMax = 16_384

/** See {@link Client}. */
export const make = (port: number, timeout_ms = clientTimeout_ms): Client => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })

  const ask = ({ apiKey, idempotencyKey, json, method, path, requestId }: Asking) =>
    new Promise<Answer>((resolve) => {
      const body = json === undefined ? undefined : JSON.stringify(json)
      const fail = (error: string) => resolve({ status: 0, location: undefined, body: "", requestId, error })
      const sent = request({
        agent,
        host: "127.0.0.1",
        port,
        method,
        path,
        headers: {
          "x-request-id": requestId,
          ...(apiKey !== undefined && { "x-api-key": apiKey }),
          ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
          ...(body !== undefined && {
            "content-type": "application/json",
            "content-length": String(Buffer.byteLength(body))
          })
        }
      })
      const timer = setTimeout(() => {
        fail(`no answer within ${timeout_ms} ms`)
        sent.destroy()
      }, timeout_ms)
      sent.on("error", (error: NodeJS.ErrnoException) => {
        clearTimeout(timer)
        fail(error.code ?? error.message)
      })
      sent.on("response", (response) => {
        let text = ""
        response.setEncoding("utf8")
        response.on("data", (part: string) => {
          if (text.length < bodyMax) text += part
        })
        response.on("error", () => fail("the answer was cut off"))
        response.on("end", () => {
          clearTimeout(timer)
          const { location } = response.headers
          resolve({ status: response.statusCode ?? 0, location, body: text, requestId, error: null })
        })
      })
      sent.end(body)
    })

  return { ask, close: () => agent.destroy() }
}
