import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
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
