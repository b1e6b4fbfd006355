// A plain HTTP client over real sockets. It sends what it is told, also what `fetch` would refuse or repair.

import { Data, Effect, type Scope } from "effect"
import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request as httpRequest } from "node:http"

/** No whole response came: the connection was refused, reset, or ended too early. `code` is Node's error code. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly code: string }> {
  override get message() {
    return `no answer: ${this.code}`
  }
}

/** A request; GET unless told otherwise. A list of chunks is sent with `Transfer-Encoding: chunked`. */
export interface Request {
  readonly method?: string
  readonly path: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Uint8Array | ReadonlyArray<Uint8Array>
}

/** A response as it came. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Names and values by turns, as they were sent. */
  readonly rawHeaders: ReadonlyArray<string>
  readonly text: string
}

/** A response's body as JSON. */
export const jsonOf = (answer: Answer): unknown => JSON.parse(answer.text)

/** The key of the link in an answer. */
export const keyOf = (answer: Answer): string => (jsonOf(answer) as { readonly key: string }).key

/** Connections that are kept open between requests, at most `max` at a time, until the scope closes. */
export const agent = (max = 16): Effect.Effect<Agent, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true, maxSockets: max })),
    (agent) => Effect.sync(() => agent.destroy())
  )

const framingOf = (body: Request["body"]): OutgoingHttpHeaders => {
  if (body === undefined) return {}
  if (typeof body === "string") return { "content-length": Buffer.byteLength(body) }
  return body instanceof Uint8Array ? { "content-length": body.length } : { "transfer-encoding": "chunked" }
}

/** Of an answer that has no end, what is read of it: up to its first event. */
const firstEvent = /^data: .*\n\n/m

/** Sends a request to `port` of this machine and reads the whole response; of a stream of events, up to the first, and then hangs up. */
export const send = (agent: Agent, port: number, request: Request): Effect.Effect<Answer, NoAnswer> =>
  Effect.async((resume) => {
    const { body, headers, method = "GET", path } = request
    const fail = (error: NodeJS.ErrnoException) => resume(new NoAnswer({ code: error.code ?? error.message }))
    const outgoing = httpRequest({
      agent,
      host: "127.0.0.1",
      port,
      method,
      path,
      headers: { ...framingOf(body), ...headers }
    })
    outgoing.on("error", fail)
    outgoing.on("response", (response) => {
      let text = ""
      response.setEncoding("utf8")
      const { headers, rawHeaders, statusCode } = response
      const finish = () => resume(Effect.succeed({ status: statusCode!, headers, rawHeaders, text }))
      const isEndless = headers["content-type"]?.startsWith("text/event-stream") === true
      response.on("data", (chunk: string) => {
        text += chunk
        if (!isEndless || !firstEvent.test(text)) return
        finish()
        outgoing.destroy()
      })
      response.on("error", fail)
      response.on("end", finish)
    })
    if (Array.isArray(body)) for (const chunk of body) outgoing.write(chunk)
    else if (body !== undefined) outgoing.write(body)
    outgoing.end()
    return Effect.sync(() => outgoing.destroy())
  })
