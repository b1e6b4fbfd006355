// A network between a client and PostgreSQL that can be cut at a chosen statement.

import { Effect, type Scope } from "effect"
import { connect, createServer, type Socket } from "node:net"

/**
 * Where a connection is cut: `before` the server gets the first message that contains `text`, or `after` the server has answered
 * it, without the answer.
 */
export interface Cut {
  readonly when: "before" | "after"
  readonly text: string
}

/** A way to the server. */
export interface CuttingProxy {
  /** The database's URL by this way. */
  readonly url: string
  /** Cuts every connection that sends such a message, from now on; `null` lets all through. */
  readonly cutAt: (cut: Cut | null) => void
  /** Holds the server's answers back from now on, until `release`; `held` is done when there is one. */
  readonly hold: () => { readonly held: Promise<void>; readonly release: () => void }
  /** From now on nothing gets through on the connections that there are, and neither side hears that the other one hangs up. */
  readonly silence: () => void
}

/** Opens a way to the database at `url` that ends with the scope. */
export const makeCuttingProxy = (url: string): Effect.Effect<CuttingProxy, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { hostname, port } = new URL(url)
    const sockets = new Set<Socket>()
    const silenced = new WeakSet<Socket>()
    let cut: Cut | null = null
    let held: Array<() => void> | undefined
    let tellHeld = () => {}

    const server = yield* Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const listener = createServer((client) => {
          const upstream = connect(Number(port), hostname)
          let cutAtAnswer = false
          const end = () => {
            if (silenced.has(client)) return
            client.destroy()
            upstream.destroy()
          }
          for (const socket of [client, upstream]) {
            sockets.add(socket)
            socket.on("error", end).on("close", end)
          }
          client.on("data", (data) => {
            if (silenced.has(client)) return
            const here = cut !== null && data.includes(cut.text)
            if (here && cut?.when === "before") return end()
            if (here) cutAtAnswer = true
            upstream.write(data)
          })
          upstream.on("data", (data) => {
            if (silenced.has(client)) return
            if (cutAtAnswer) end()
            else if (held === undefined) client.write(data)
            else {
              held.push(() => client.write(data))
              tellHeld()
            }
          })
        }).listen(0, "127.0.0.1", () => resume(Effect.succeed(listener)))
      }),
      (listener) =>
        Effect.sync(() => {
          sockets.forEach((socket) => socket.destroy())
          listener.close()
        })
    )

    const address = server.address()
    const way = new URL(url)
    way.port = String(typeof address === "object" ? address?.port : "")
    return {
      url: way.href,
      cutAt: (next) => {
        cut = next
      },
      hold: () => {
        held = []
        return {
          held: new Promise<void>((resolve) => {
            tellHeld = resolve
          }),
          release: () => {
            const answers = held ?? []
            held = undefined
            answers.forEach((answer) => answer())
          }
        }
      },
      silence: () => sockets.forEach((socket) => silenced.add(socket))
    }
  })
