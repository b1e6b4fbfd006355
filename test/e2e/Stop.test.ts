import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Schedule } from "effect"
import { agent, keyOf, send } from "../support/http/HttpClient.ts"
import { lateness } from "../support/Lateness.ts"
import * as RawConnection from "../support/http/RawConnection.ts"
import { accountOfFolder, visitsOfFolder } from "./Database.ts"
import { nothingTold, run, summaryOf } from "./Load.ts"
import { type Program, startAlone } from "./Program.ts"

/** Time for an orderly stop, whoever holds it up. */
const stopMax = Duration.seconds(8)

const stopped = Effect.fn("stopped")(function* (program: Program) {
  const lateSince = yield* lateness
  const since = performance.now()
  const [duration, ending] = yield* Effect.timed(program.ended)
  expect(ending).toEqual({ code: 0, signal: null })
  expect(program.output()).toMatch(/^Linkmint has stopped\.$/m)
  // A machine that stands still holds up all of them.
  expect(Duration.toMillis(duration)).toBeLessThan(Duration.toMillis(stopMax) + lateSince(since))
}, Effect.scoped)

/** Waits until nobody listens at a port any more. */
const refused = (port: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const connections = yield* agent(1)
      yield* Effect.flip(
        send(connections, port, { path: "/health/live", headers: { connection: "close" } })
      ).pipe(
        Effect.repeat({ until: ({ code }) => code === "ECONNREFUSED" }),
        Effect.retry(Schedule.spaced("5 millis"))
      )
    })
  )

/** A body that is too large is refused with 413 that every client receives, though it is still sending. */
const refusesLargeBodies = (port: number) =>
  Effect.gen(function* () {
    const connections = yield* agent(4)
    const body = Buffer.alloc(20_000_000, " ")
    const headers = { "content-type": "application/json" }
    const request = { method: "POST", path: "/api/v1/links", headers }
    const answers = yield* Effect.forEach(
      [body, [body], body, [body]],
      (body) => send(connections, port, { ...request, body }),
      { concurrency: 4 }
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(4).fill(413))
    // And by fetch, which gives up at a reset.
    const fetched = yield* Effect.forEach(
      [body, body],
      (body) =>
        Effect.promise(() =>
          fetch(`http://127.0.0.1:${port}/api/v1/links`, { method: "POST", headers, body })
        ),
      { concurrency: 2 }
    )
    expect(fetched.map(({ status }) => status)).toEqual(Array(2).fill(413))
  }).pipe(Effect.scoped)

// Both signals have one handler, so each case has one of them.
describe("a graceful shutdown", () => {
  it.scopedLive(
    "under load resets no request that was sent, and what was acknowledged is stored",
    () =>
      Effect.gen(function* () {
        const { folder, port, program } = yield* startAlone()
        const connections = yield* agent(64)
        const told = nothingTold()
        const load = { agent: connections, port, clients: 64, told }
        // Every client has a connection now that the program has accepted.
        yield* run({ ...load, creates: 640, name: "before" })
        const signalAt = told.acknowledged.size + 300
        const loaded = yield* Effect.fork(
          run({
            ...load,
            creates: Number.POSITIVE_INFINITY,
            name: "meanwhile",
            afterEach: () => {
              if (told.acknowledged.size === signalAt) program.signal("SIGTERM")
            }
          })
        )
        yield* program.printed(/Linkmint has stopped/)
        yield* stopped(program)
        yield* Fiber.join(loaded)

        const summary = summaryOf(told)
        // Each client stopped because nobody listened any more, and for no other reason.
        const cutOff = told.unanswered.filter(({ code }) => code !== "ECONNREFUSED")
        expect(cutOff, summary).toEqual([])
        expect(told.unanswered.length, summary).toBe(64)
        expect(told.refused, summary).toEqual([])
        const { bound, lost } = yield* accountOfFolder(folder)
        const missing = [...told.acknowledged].filter(([key, url]) => bound.get(key) !== url)
        expect(missing, summary).toEqual([])
        expect(bound.size, summary).toBeLessThanOrEqual(told.acknowledged.size + told.unavailable.length)
        expect(lost, summary).toBeLessThanOrEqual(told.unavailable.length)
      }),
    60_000
  )

  it.scopedLive("lets a request that was begun be sent to its end, and answers it", () =>
    Effect.gen(function* () {
      const { port, program } = yield* startAlone()
      const connection = yield* RawConnection.open(port)
      const body = JSON.stringify({ url: "https://example.com/begun" })
      yield* connection.write(
        `POST /api/v1/links HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
      )
      yield* connection.heard(/^HTTP\/1.1 100 Continue\r\n\r\n$/)
      program.signal("SIGTERM")
      yield* refused(port)
      yield* connection.write(body)
      const answer = yield* connection.ended
      expect(answer).toMatch(/^HTTP\/1.1 201 /)
      expect(answer).toMatch(/^connection: close\r$/im)
      yield* stopped(program)
    })
  )

  it.scopedLive(
    "is not held up by connections that are open and do nothing, or whose bodies were too large",
    () =>
      Effect.gen(function* () {
        const { port, program } = yield* startAlone()
        yield* refusesLargeBodies(port)
        const idle = yield* RawConnection.open(port)
        yield* idle.write("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n")
        yield* idle.heard(/\{"status":"live"\}$/)
        const silent = yield* RawConnection.open(port)
        program.signal("SIGINT")
        yield* stopped(program)
        expect(yield* idle.ended).toBe("")
        expect(yield* silent.ended).toBe("")
      }),
    120_000
  )
})

// These wait for the ends of times.
describe.concurrent("a graceful shutdown", () => {
  it.scopedLive("does not wait for ever for a client that does not read its answer", () =>
    Effect.gen(function* () {
      const { port, program } = yield* startAlone()
      const connection = yield* RawConnection.open(port)
      yield* connection.deafen
      // More than the buffers on the way hold.
      yield* connection.write("GET /docs HTTP/1.1\r\nHost: a\r\n\r\n".repeat(10))
      const other = yield* RawConnection.open(port)
      yield* other.write("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n")
      yield* other.heard(/live/)
      program.signal("SIGTERM")
      yield* stopped(program)
    })
  )

  it.scopedLive("does not wait for ever for a request that does not end", () =>
    Effect.gen(function* () {
      const { port, program } = yield* startAlone()
      const connection = yield* RawConnection.open(port)
      yield* connection.write(
        "POST /api/v1/links HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
      )
      yield* connection.heard(/100 Continue/)
      program.signal("SIGINT")
      expect(yield* connection.ended).toMatch(/^HTTP\/1.1 503 /)
      yield* stopped(program)
    })
  )
})

describe.concurrent("another signal", () => {
  it.scopedLive(
    "is nothing new right behind the first, later ends the wait for requests, and skips no visit",
    () =>
      Effect.gen(function* () {
        const { folder, port, program } = yield* startAlone({ DRAIN_DELAY: "PT1M" })
        const connections = yield* agent(8)
        const headers = { "content-type": "application/json" }
        const body = JSON.stringify({ url: "https://example.com/" })
        const create = send(connections, port, { method: "POST", path: "/api/v1/links", headers, body })
        const key = keyOf(yield* create)
        const follow = Effect.replicateEffect(send(connections, port, { path: `/${key}` }), 40, {
          concurrency: 8,
          discard: true
        })
        yield* follow
        // Both at once, whatever holds this process up.
        program.signal("SIGTERM")
        program.signal("SIGINT")
        // It still serves, for a minute.
        yield* follow
        yield* Effect.sync(() => program.signal("SIGINT")).pipe(
          Effect.delay("1200 millis"),
          Effect.repeat({ until: () => /^Linkmint is stopping/m.test(program.output()) })
        )
        yield* stopped(program)
        expect(yield* visitsOfFolder(folder)).toBe(80)
      }),
    120_000
  )
})
