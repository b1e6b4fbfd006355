import { describe, expect, it } from "@effect/vitest"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Deferred, Effect, Exit, Scope, Stream } from "effect"
import type { Content } from "../../../src/http/exchange/Answer.ts"
import * as Routes from "../../../src/http/contract/Routes.ts"
import * as DoorListener from "../../../src/http/server/DoorListener.ts"
import * as RawConnection from "../../support/http/RawConnection.ts"

/** A server that answers everything with this body; gives its port. */
const serve = (body: Content) =>
  Effect.gen(function* () {
    const answering: Parameters<typeof DoorListener.make>[0] = {
      serve: (_, answer) => {
        answer({ status: 200, headers: ["content-type", "text/plain"], body }, Routes.other)
        return () => {}
      }
    }
    const listener = DoorListener.make(answering, yield* DoorListener.pouring)
    const server = yield* Effect.acquireRelease(
      Effect.sync(() => createServer(listener)),
      (server) => Effect.sync(() => void server.close().closeAllConnections())
    )
    yield* Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
    return (server.address() as AddressInfo).port
  })

const ask = (port: number, method = "GET") =>
  Effect.tap(RawConnection.open(port), ({ write }) =>
    write(`${method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  )

const bytes = (text: string) => new TextEncoder().encode(text)

describe("an answer that is a stream", () => {
  it.scopedLive("is sent as it is made, to its end", () =>
    Effect.gen(function* () {
      const more = yield* Deferred.make<void>()
      const port = yield* serve(
        Stream.concat(
          Stream.make(bytes("one,")),
          Stream.fromEffect(Effect.as(Deferred.await(more), bytes("two")))
        )
      )
      const { ended, heard } = yield* ask(port)
      yield* heard(/one,/)
      yield* Deferred.succeed(more, undefined)
      expect(yield* ended).toMatch(/two\r\n0\r\n\r\n$/)
    })
  )

  it.scopedLive("is not made for who asks for its head alone", () =>
    Effect.gen(function* () {
      let made = 0
      const port = yield* serve(Stream.fromEffect(Effect.sync(() => bytes(String(made++)))))
      const { ended } = yield* ask(port, "HEAD")
      expect(yield* ended).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*\r\n\r\n$/)
      expect(made).toBe(0)
    })
  )

  it.scopedLive("is made only as fast as its client takes it", () =>
    Effect.gen(function* () {
      const piece = Buffer.alloc(64 * 1024)
      let made = 0
      const port = yield* serve(
        Stream.repeatEffect(
          Effect.sync(() => {
            made++
            return piece
          })
        )
      )
      const { deafen, heard } = yield* ask(port)
      yield* heard(/200 OK/)
      yield* deafen
      let [before, quiet] = [-1, 0]
      while (quiet < 1_000) {
        quiet = made === before ? quiet + 1 : 0
        before = made
        yield* Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))
      }
      expect(made).toBeLessThan(1_000)
    })
  )

  it.scopedLive("ends when its client goes", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const port = yield* serve(
        Stream.concat(Stream.make(bytes("one")), Stream.never).pipe(
          Stream.ensuring(Deferred.succeed(ended, undefined))
        )
      )
      const client = yield* Scope.make()
      const { heard } = yield* Scope.extend(ask(port), client)
      yield* heard(/one/)
      yield* Scope.close(client, Exit.void)
      yield* Deferred.await(ended)
    })
  )

  it.scopedLive("is cut off where it breaks, so that nobody takes it for whole", () =>
    Effect.gen(function* () {
      const breaks = yield* Deferred.make<never>()
      const port = yield* serve(
        Stream.concat(Stream.make(bytes("one")), Stream.fromEffect(Deferred.await(breaks)))
      )
      const { ended, heard } = yield* ask(port)
      yield* heard(/one/)
      yield* Deferred.die(breaks, "broken")
      expect(yield* ended).not.toMatch(/0\r\n\r\n$/)
    })
  )
})
