import type { IncomingMessage } from "node:http"
import { Option } from "effect"
import * as Body from "./Body.ts"

/** A request, whichever server received it. */
export interface Request extends Body.Readable {
  /** In capital letters. */
  readonly method: string
  /** The request target as it came: path and query. */
  readonly url: string
  /** By names in lower case; those that came several times in one, as RFC 9110 joins them. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The connection's other end. */
  readonly remoteAddress: Option.Option<string>
}

/** A request of `node:http`. */
export class NodeRequest implements Request {
  readonly #message: IncomingMessage

  constructor(message: IncomingMessage) {
    this.#message = message
  }

  get method(): string {
    return this.#message.method!
  }

  get url(): string {
    return this.#message.url!
  }

  /** Only `set-cookie`, which no request has, can be a list. */
  get headers() {
    return this.#message.headers as Request["headers"]
  }

  get remoteAddress() {
    return Option.fromNullable(this.#message.socket.remoteAddress)
  }

  readBytes(bytesMax: number, done: Body.WhenRead): void {
    Body.readBytes(this.#message, bytesMax, done)
  }
}
