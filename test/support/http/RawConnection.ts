// A TCP connection on which tests write what no HTTP client would.

import { Deferred, Effect, FiberId, type Scope } from "effect"
import { connect } from "node:net"

/** A connection to a port of this machine. */
export interface RawConnection {
  readonly write: (text: string | Uint8Array) => Effect.Effect<void>
  /** Reads no more from now on, so that the other side's answers pile up. */
  readonly deafen: Effect.Effect<void>
  /** Reads on. */
  readonly listen: Effect.Effect<void>
  /** Waits until what has come so far, or since the last `heard`, matches; gives it. Dies when the connection ends before. */
  readonly heard: (pattern: RegExp) => Effect.Effect<string>
  /** Waits for the connection's end; gives all that was not given before. */
  readonly ended: Effect.Effect<string>
}

/** The text of a request with a body, in two pieces: its head with half of the body, and the rest. */
export const inHalves = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string
): readonly [string, string] => {
  const fields = { host: "localhost", ...headers, "content-length": String(body.length) }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  const half = body.length >> 1
  return [[`${method} ${path} HTTP/1.1`, ...lines, "", body.slice(0, half)].join("\r\n"), body.slice(half)]
}

/** Connects; the connection is cut when the scope closes. */
export const open = (port: number): Effect.Effect<RawConnection, never, Scope.Scope> =>
  Effect.gen(function* () {
    const ended = Deferred.unsafeMake<void>(FiberId.none)
    let received = ""
    let look = () => {}
    const socket = yield* Effect.acquireRelease(
      Effect.async<ReturnType<typeof connect>>((resume) => {
        const socket = connect(port, "127.0.0.1", () => resume(Effect.succeed(socket)))
        socket.setEncoding("latin1")
        socket.on("data", (text: string) => {
          received += text
          look()
        })
        socket.on("error", (error) => resume(Effect.die(error)))
        socket.on("close", () => {
          Deferred.unsafeDone(ended, Effect.void)
          look()
        })
      }),
      (socket) => Effect.sync(() => socket.destroy())
    )
    const take = () => {
      const taken = received
      received = ""
      return taken
    }
    return {
      write: (text) => Effect.sync(() => void socket.write(text)),
      deafen: Effect.sync(() => void socket.pause()),
      listen: Effect.sync(() => void socket.resume()),
      heard: (pattern) =>
        Effect.async((resume) => {
          look = () => {
            if (pattern.test(received)) resume(Effect.sync(take))
            else if (socket.destroyed) resume(Effect.dieMessage(`The connection ended after: ${received}`))
          }
          look()
        }),
      ended: Effect.map(Deferred.await(ended), take)
    }
  })

/** Connects, and tells whether a request is answered with 200 rather than the connection closed. It stays open until the scope closes. */
export const isLetIn = (port: number, path = "/"): Effect.Effect<boolean, never, Scope.Scope> =>
  Effect.gen(function* () {
    const connection = yield* open(port)
    yield* connection.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    return yield* Effect.raceFirst(
      Effect.as(connection.heard(/200 OK/), true).pipe(Effect.catchAllDefect(() => Effect.succeed(false))),
      Effect.as(connection.ended, false)
    )
  })
