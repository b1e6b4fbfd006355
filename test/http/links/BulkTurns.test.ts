import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as LoopTurns from "../../../src/fibers/LoopTurns.ts"
import * as TestService from "../../support/TestService.ts"

const items = 1_000

/** Looks at the time in one turn of the event loop: each takes a millisecond here. */
const looksInTurn = 4

/** Sends a bulk; gives its answer's status, and how often the event loop turned because a turn was over. */
const sent = (links: ReadonlyArray<unknown>) =>
  Effect.gen(function* () {
    let now_ms = 0
    let turned = 0
    const turns = LoopTurns.make(
      { now_ms: () => now_ms++, nextTurn: (run) => void setImmediate(run) },
      looksInTurn
    )
    const counted: LoopTurns.LoopTurnsService = {
      ...turns,
      defer: (run) => {
        turned++
        turns.defer(run)
      }
    }
    const service = Layer.provide(TestService.layer(), Layer.succeed(LoopTurns.LoopTurns, counted))
    return yield* Effect.gen(function* () {
      turned = 0
      const { status } = yield* TestService.asAdmin("POST", "/api/v1/links/bulk", { links })
      return { status, turned }
    }).pipe(Effect.provide(service))
  })

describe("a bulk leaves the event loop to others", () => {
  const atLeast = Math.floor(items / 16 / looksInTurn)

  it.scopedLive("where its links are accepted", () =>
    Effect.gen(function* () {
      const { status, turned } = yield* sent(
        Array.from({ length: items }, (_, n) => ({ url: `https://example.com/${n}` }))
      )
      expect(status).toBe(200)
      // Its links are looked at when they are checked, and when they are answered.
      expect(turned).toBeGreaterThanOrEqual(2 * atLeast)
    })
  )

  it.scopedLive("where they are refused", () =>
    Effect.gen(function* () {
      const { status, turned } = yield* sent(
        Array.from({ length: items }, () => ({ url: 0, tags: [0], alias: "-" }))
      )
      expect(status).toBe(200)
      expect(turned).toBeGreaterThanOrEqual(atLeast)
    })
  )
})
