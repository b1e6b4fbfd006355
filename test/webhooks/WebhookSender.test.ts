import { expect, it } from "@effect/vitest"
import { Clock, Effect, Fiber, TestClock } from "effect"
import { describe } from "vitest"
import type { Delivery } from "../../src/storage/webhooks/WebhookStore.ts"
import { drawSecret, headersOf } from "../../src/webhooks/WebhookSignature.ts"
import * as Sender from "../../src/webhooks/WebhookSender.ts"
import { WebhookSender } from "../../src/webhooks/WebhookSender.ts"
import { receiver, signatureOf } from "../support/http/Receiver.ts"

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

const delivery = (url: string): Delivery => ({
  id: "msg_1",
  webhookId: "whk_1",
  owner: "usr_1",
  host: "127.0.0.1",
  event: "link.created",
  body: `{"text":"ü"}`,
  url,
  secret,
  attempt: 1,
  failures: 0,
  lease: ""
})

const send = (url: string, allowPrivate = true) =>
  Effect.flatMap(WebhookSender, (sender) => sender.send(delivery(url))).pipe(
    Effect.provide(Sender.layer({ allowPrivate }))
  )

const refusal = (url: string, allowPrivate = true) =>
  Effect.map(Effect.flip(send(url, allowPrivate)), ({ reason }) => reason)

describe("WebhookSignature", () => {
  it("signs as the example of the Standard Webhooks specification", () => {
    const body = `{"test": 2432232314}`
    expect(headersOf({ id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body }, secret)).toEqual(
      {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
      }
    )
  })

  it.effect("draws secrets of 32 bytes, each another one", () =>
    Effect.gen(function* () {
      const one = yield* drawSecret
      expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
      expect(yield* drawSecret).not.toBe(one)
    })
  )
})

describe("WebhookSender", () => {
  it.scopedLive("posts the body as it is, with its signature", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver
      yield* send(url)
      const [one, ...others] = received
      expect(others).toEqual([])
      expect(one).toMatchObject({
        method: "POST",
        path: "/hook",
        body: `{"text":"ü"}`,
        headers: { "content-type": "application/json", "webhook-id": "msg_1", "user-agent": "Linkmint" }
      })
      expect(one!.headers["webhook-signature"]).toBe(signatureOf(one!, secret))
      const age_s = (yield* Clock.currentTimeMillis) / 1_000 - Number(one!.headers["webhook-timestamp"])
      expect(age_s).toBeGreaterThanOrEqual(0)
      expect(age_s).toBeLessThan(30)
    })
  )

  it.scopedLive("takes every status from 200 to 299, and no other one", () =>
    Effect.gen(function* () {
      const { answer, url } = yield* receiver
      for (const status of [200, 202, 204, 299]) {
        answer(status)
        yield* send(url)
      }
      for (const status of [300, 304, 400, 410, 429, 500, 503]) {
        answer(status)
        expect(yield* refusal(url)).toBe(`It answered ${status}.`)
      }
    })
  )

  it.scopedLive("follows no redirect", () =>
    Effect.gen(function* () {
      const { answer, received, url } = yield* receiver
      answer((response) => response.writeHead(307, { location: url }).end())
      expect(yield* refusal(url)).toBe("It answered 307.")
      expect(received).toHaveLength(1)
    })
  )

  it.scopedLive("reads no more of an answer than it needs, and goes on when that never ends", () =>
    Effect.gen(function* () {
      const { answer, url } = yield* receiver
      let written = 0
      const chunk = Buffer.alloc(65_536)
      answer((response) => {
        const more = () => {
          while (!response.destroyed && response.write(chunk)) written += chunk.length
        }
        response.on("drain", more).on("error", () => {})
        more()
      })
      expect((yield* send(url)).body).toHaveLength(4_096)
      // What fits into the buffers on the way.
      expect(written).toBeLessThan(50_000_000)
      answer((response) => void response.writeHead(200).flushHeaders())
      expect(yield* send(url)).toEqual({ status: 200, body: "" })
      answer((response) => void response.writeHead(200).write("begun"))
      expect(yield* send(url)).toEqual({ status: 200, body: "begun" })
      answer((response) => void response.writeHead(201).end("whole"))
      expect(yield* send(url)).toEqual({ status: 201, body: "whole" })
    })
  )

  it.scopedLive("tells when nobody listens, and when the answer is none", () =>
    Effect.gen(function* () {
      const { answer, url } = yield* receiver
      answer((response) => response.destroy())
      expect(yield* refusal(url)).toMatch(/^The request could not be sent: \w+\.$/)
      expect(yield* refusal("http://127.0.0.1:1/")).toBe("The request could not be sent: ECONNREFUSED.")
    })
  )

  it.scoped("gives up a receiver that does not answer within 10 seconds", () =>
    Effect.gen(function* () {
      const { answer, received, url } = yield* Effect.withClock(receiver, Clock.make())
      answer(() => {})
      const failing = yield* Effect.fork(refusal(url))
      const live = Effect.withClock(Effect.sleep("10 millis"), Clock.make())
      while (received.length === 0) yield* live
      yield* TestClock.adjust("9 seconds")
      expect(failing.unsafePoll()).toBeNull()
      yield* TestClock.adjust("1 seconds")
      expect(yield* Fiber.join(failing)).toBe("It did not answer within 10 seconds.")
    })
  )

  it.scopedLive("connects to no private address, by number or by name, unless that is allowed", () =>
    Effect.gen(function* () {
      const { port, received } = yield* receiver
      const hosts = [
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "10.0.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "localhost"
      ]
      for (const host of [...hosts, "x.localhost", "[64:ff9b::7f00:1]", "2130706433", "0x7f.1"]) {
        expect(yield* refusal(`http://${host}:${port}/`, false), host).toBe("It leads to a private network.")
      }
      expect(received).toEqual([])
      yield* send(`http://127.0.0.1:${port}/`)
      expect(received).toHaveLength(1)
    })
  )
})
