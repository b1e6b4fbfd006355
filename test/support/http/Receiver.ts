// A receiver of webhooks on this machine, which tells what came and answers as the test likes.

import { Effect, type Scope } from "effect"
import { createHmac } from "node:crypto"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A request that came whole. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** How a receiver answers: with a status, or by itself. */
export type Reply = number | ((response: ServerResponse, received: Received) => void)

/** A running receiver. */
export interface Receiver {
  readonly port: number
  readonly url: string
  /** All that came but challenges that were answered. */
  readonly received: ReadonlyArray<Received>
  readonly answer: (reply: Reply) => void
}

/** An event that a receiver was told of, alone or among others. */
export interface Told {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly data: unknown
}

/** The events that a message tells. */
export const toldBy = ({ body, headers }: Received): ReadonlyArray<Told> => {
  const message = JSON.parse(body) as Told
  return message.type === "events"
    ? (message.data as ReadonlyArray<Told>)
    : [{ ...message, id: String(headers["webhook-id"]) }]
}

/** The challenge of a message that is one. */
export const challengeIn = ({ body }: Received): string | undefined =>
  /^\{"type":"webhook\.verification",.*"challenge":"([0-9a-f]+)"/.exec(body)?.[1]

const start = (provesItself: boolean): Effect.Effect<Receiver, never, Scope.Scope> =>
  Effect.gen(function* () {
    const received: Array<Received> = []
    let reply: Reply = 204
    const server = createServer((request, response) => {
      let body = ""
      request.setEncoding("utf8")
      request.on("data", (chunk: string) => (body += chunk))
      request.on("end", () => {
        const one = { method: request.method!, path: request.url!, headers: request.headers, body }
        const challenge = provesItself ? challengeIn(one) : undefined
        if (challenge !== undefined) return void response.writeHead(200).end(challenge)
        received.push(one)
        if (typeof reply === "number") response.writeHead(reply).end()
        else reply(response, one)
      })
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    const { port } = server.address() as AddressInfo
    return {
      port,
      url: `http://127.0.0.1:${port}/hook`,
      received,
      answer: (next) => {
        reply = next
      }
    }
  })

/** Starts a receiver that proves itself, and answers 204 to all else, until the scope closes. */
export const receiver = start(true)

/** Starts one that knows nothing of webhooks, and answers 204 to whatever comes. */
export const stranger = start(false)

/** The signature that a message must have, worked out from the specification alone. */
export const signatureOf = ({ body, headers }: Received, secret: string): string => {
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`
  const key = Buffer.from(secret.replace("whsec_", ""), "base64")
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`
}
