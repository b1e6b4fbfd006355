import { expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import * as WebhookRates from "../../src/webhooks/WebhookRates.ts"

const of = (owner: string, host: string) => ({ id: `${owner} at ${host}`, owner, host, failures: 0 })

it.effect("what one claim gives a user's webhooks, at whatever hosts, is 8 messages in all", () =>
  Effect.gen(function* () {
    const { rooms } = yield* WebhookRates.make
    const roomFor = rooms()
    expect(["a", "b", "c", "d"].map((host) => roomFor(of("usr_1", host)))).toEqual([4, 4, 0, 0])
    expect(roomFor(of("usr_2", "a"))).toBe(4)
  })
)

it.effect(
  "a user's webhooks get 10 messages within any second, however many there are and however soon they end",
  () =>
    Effect.gen(function* () {
      const rates = yield* WebhookRates.make
      const hosts = ["a", "b", "c"]
      const send = (host: string, times: number) => {
        const sent = { ...of("usr_1", host), webhookId: host }
        for (let time = 0; time < times; time++) rates.begin(sent)
        for (let time = 0; time < times; time++) rates.end(sent)
      }
      hosts.slice(0, 2).forEach((host) => send(host, 3))
      const roomFor = rates.rooms()
      expect(hosts.map((host) => roomFor(of("usr_1", host)))).toEqual([4, 0, 0])
      send("a", 4)
      expect(rates.busy().owners).toEqual(["usr_1"])
      yield* TestClock.adjust("1 second")
      expect(rates.busy().owners).toEqual([])
      expect(rates.rooms()(of("usr_1", "a"))).toBe(4)
    })
)
