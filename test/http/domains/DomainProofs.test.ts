import { expect, it } from "@effect/vitest"
import { createSocket } from "node:dgram"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo, LookupFunction } from "node:net"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import * as DomainProofs from "../../../src/http/domains/DomainProofs.ts"

/** Leads every name to this machine. */
const here: LookupFunction = (_, options, done) =>
  options.all === true ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4)

/** A web server of this machine: gives its port. */
const serving = (answer: RequestListener) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer(answer).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    ),
    (server) => (server.address() as AddressInfo).port
  )

const path = "/.well-known/linkmint-domain"

/** Looks for the file of a host at a web server of this machine. */
const fileOf = (answer: RequestListener, host = "go.example.com") =>
  Effect.flatMap(serving(answer), (port) => DomainProofs.make({ lookup: here, port }).file(host, path))

/** The answer to a question for TXT records: see RFC 1035, section 4. */
const answerOf = (question: Buffer, records: ReadonlyArray<ReadonlyArray<string>>): Buffer => {
  let end = 12
  while (question[end] !== 0) end += question[end]! + 1
  const asked = question.subarray(12, end + 5)
  const head = Buffer.alloc(12)
  question.copy(head, 0, 0, 2)
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  const answers = records.map((parts) => {
    const data = Buffer.concat(parts.map((part) => Buffer.from(String.fromCharCode(part.length) + part)))
    const record = Buffer.alloc(12)
    record.writeUInt16BE(0xc00c, 0)
    record.writeUInt16BE(16, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt16BE(data.length, 10)
    return Buffer.concat([record, data])
  })
  return Buffer.concat([head, asked, ...answers])
}

/** A name server of this machine that gives all names these records, or no answer (`null`): gives its address, and when it was asked first. */
const naming = (records: ReadonlyArray<ReadonlyArray<string>> | null) =>
  Effect.gen(function* () {
    const asked = yield* Deferred.make<void>()
    const socket = createSocket("udp4")
    socket.on("message", (question, { address, port }) => {
      Deferred.unsafeDone(asked, Effect.void)
      if (records !== null) socket.send(answerOf(question, records), port, address)
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void socket.bind(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => socket.close())
    )
    return { asked, server: `127.0.0.1:${socket.address().port}` }
  })

const txtAt = (server: string) =>
  DomainProofs.make({ servers: [server], lookup: here, port: 80 }).txt("_linkmint.go.example.com")

it.scoped("gives the file that a host shows", () =>
  Effect.gen(function* () {
    const found = yield* fileOf(({ headers, url }, response) => response.end(`${headers.host} ${url}`))
    expect(found).toMatch(/^go\.example\.com:\d+ \/\.well-known\/linkmint-domain$/)
  })
)

it.scoped("takes no other answer than 200 for a file", () =>
  Effect.gen(function* () {
    for (const status of [204, 301, 302, 404, 500]) {
      const found = yield* fileOf((_, response) => response.writeHead(status, { location: "/" }).end())
      expect(found).toBeNull()
    }
  })
)

it.scoped("reads no more than the beginning of a file", () =>
  Effect.gen(function* () {
    const found = yield* fileOf((_, response) => response.end("x".repeat(1_000_000)))
    expect(found).toBe("x".repeat(1_024))
  })
)

it.scoped("waits 3 s for a file", () =>
  Effect.gen(function* () {
    const asked = yield* Deferred.make<void>()
    const looking = yield* Effect.fork(fileOf(() => Deferred.unsafeDone(asked, Effect.void)))
    yield* Deferred.await(asked)
    yield* TestClock.adjust(DomainProofs.lookMax)
    expect(yield* Fiber.join(looking)).toBeNull()
  })
)

it.scoped("connects to no private host", () =>
  Effect.gen(function* () {
    let connections = 0
    const port = yield* serving((_, response) => {
      connections++
      response.end()
    })
    const { file } = DomainProofs.make({ lookup: here, port })
    for (const host of ["localhost", "127.0.0.1", "go", "go.internal"])
      expect(yield* file(host, path)).toBeNull()
    expect(connections).toBe(0)
  })
)

it.scoped("gives the TXT records of a name, each in one piece", () =>
  Effect.gen(function* () {
    const { server } = yield* naming([["one"], ["two ", "parts"]])
    expect(yield* txtAt(server)).toEqual(["one", "two parts"])
  })
)

it.scoped("gives no records of a name that has none", () =>
  Effect.gen(function* () {
    const { server } = yield* naming([])
    expect(yield* txtAt(server)).toEqual([])
  })
)

it.scoped("waits 3 s for a name server", () =>
  Effect.gen(function* () {
    const { asked, server } = yield* naming(null)
    const looking = yield* Effect.fork(txtAt(server))
    yield* Deferred.await(asked)
    yield* TestClock.adjust(DomainProofs.lookMax)
    expect(yield* Fiber.join(looking)).toEqual([])
  })
)
