import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { describe } from "vitest"
import { Superseded } from "../../../src/actors/links/LinkDraft.ts"
import { Unavailable } from "../../../src/actors/Unavailable.ts"
import * as Idempotency from "../../../src/http/links/Idempotency.ts"
import { KeyedHash } from "../../../src/secrets/KeyedHash.ts"
import * as Secret from "../../../src/secrets/Secret.ts"
import { type Beginning, GuardedCreates, type GuardState } from "../../../src/storage/links/GuardedCreates.ts"
import { testHash } from "../../support/TestHash.ts"

const kept = { status: 201, contentType: "application/json", location: null, body: `{"key":"abc"}` }
const body = { url: "https://example.com", password: "geheim" }

type Once = Effect.Effect.Success<typeof Idempotency.make>
type Guarded = Partial<typeof GuardedCreates.Service>

/** A create with a key, over such guards. */
const creating = (guarded: Guarded, create: Parameters<Once>[0]["create"]) =>
  Effect.flatMap(
    Idempotency.make.pipe(
      Effect.provideService(GuardedCreates, guarded as typeof GuardedCreates.Service),
      Effect.provideService(KeyedHash, testHash)
    ),
    (once) =>
      once({
        repeats: { key: "a", owner: null, body: JSON.stringify(body) },
        answerOf: () => kept,
        create
      })
  )

/** Creates over guards that answer with `state`: what was begun, and the answer. */
const over = (state: GuardState) =>
  Effect.gen(function* () {
    const begun: Array<Beginning> = []
    const guarded: Guarded = {
      beginMany: (asked: ReadonlyArray<Beginning>) =>
        Effect.sync(() => {
          begun.push(...asked)
          return asked.map(() => state)
        }),
      settleMany: () => Effect.succeed([true])
    }
    const answered = yield* Effect.either(
      creating(guarded, () => Effect.succeed({ answer: kept, isSettled: true }))
    )
    return { begun, answered }
  })

const settled = (fingerprint: string): GuardState => ({
  _tag: "Settled",
  key: "abc",
  fingerprint,
  answer: JSON.stringify(kept)
})

/** How often the guard is given up when its create fails so. */
const abandonedAfter = (applied: "no" | "unknown") =>
  Effect.gen(function* () {
    let abandoned = 0
    const guarded: Guarded = {
      beginMany: () => Effect.succeed([{ _tag: "Begun" }]),
      abandonMany: () => Effect.sync(() => [++abandoned > 0])
    }
    const failed = yield* Effect.flip(
      creating(guarded, () => new Unavailable({ reason: "for the test", applied }))
    )
    expect(failed.kind).toBe("unavailable")
    return abandoned
  })

/** A create that is superseded, and whose guard is found in a state then: the answer, and how often the guard is given up. */
const afterSuperseded = (state: GuardState) =>
  Effect.gen(function* () {
    let begun = 0
    let abandoned = 0
    const guarded: Guarded = {
      beginMany: () => Effect.sync(() => [begun++ === 0 ? { _tag: "Begun" } : state]),
      abandonMany: () => Effect.sync(() => [++abandoned > 0])
    }
    const answered = yield* Effect.either(creating(guarded, () => new Superseded()))
    return { abandoned, answered }
  })

/** What happens to the guard, in order, when its create is interrupted: while the guard is begun, or under it. */
const afterInterrupt = (during: "begin" | "create") =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    const waiting = yield* Deferred.make<void>()
    const mayBegin = yield* Deferred.make<void>()
    const guarded: Guarded = {
      beginMany: () =>
        Effect.gen(function* () {
          if (during === "begin") yield* Deferred.succeed(waiting, undefined)
          yield* Deferred.await(mayBegin)
          seen.push("begun")
          return [{ _tag: "Begun" }]
        }),
      abandonMany: () => Effect.sync(() => [seen.push("given up") > 0])
    }
    const fiber = yield* Effect.fork(
      creating(guarded, () => Effect.zipRight(Deferred.succeed(waiting, undefined), Effect.never))
    )
    if (during === "create") yield* Deferred.succeed(mayBegin, undefined)
    yield* Deferred.await(waiting)
    const interrupted = yield* Effect.fork(Fiber.interrupt(fiber))
    yield* Effect.yieldNow()
    yield* Deferred.succeed(mayBegin, undefined)
    yield* Fiber.join(interrupted)
    return seen
  })

describe("the guard of a create with an Idempotency-Key", () => {
  it.effect("is given up when the create certainly failed, and held while it may still be applied", () =>
    Effect.gen(function* () {
      expect(yield* abandonedAfter("no")).toBe(1)
      expect(yield* abandonedAfter("unknown")).toBe(0)
    })
  )

  it.effect("is given up when another try is binding the link, so that the next repeat meets that", () =>
    Effect.gen(function* () {
      const fingerprint = testHash.of("create-body", JSON.stringify(body))
      const open: ReadonlyArray<GuardState> = [{ _tag: "Running", fingerprint }, { _tag: "Begun" }]
      for (const state of open) {
        expect(yield* afterSuperseded(state)).toMatchObject({
          abandoned: 1,
          answered: { left: { kind: "idempotency-in-progress" } }
        })
      }
      expect(yield* afterSuperseded(settled(fingerprint))).toMatchObject({
        abandoned: 0,
        answered: { right: { answer: kept, isReplay: true } }
      })
    })
  )

  it.effect("is given up when the create is interrupted, so that a repeat need not wait for its lease", () =>
    Effect.gen(function* () {
      expect(yield* afterInterrupt("create")).toEqual(["begun", "given up"])
    })
  )

  it.effect("is given up after it was begun when that is interrupted", () =>
    Effect.gen(function* () {
      expect(yield* afterInterrupt("begin")).toEqual(["begun", "given up"])
    })
  )

  it.effect("has a keyed hash of the body: passwords cannot be found from it by trying", () =>
    Effect.gen(function* () {
      const { begun } = yield* over({ _tag: "Begun" })
      const [{ fingerprint }] = begun as [Beginning]
      expect(fingerprint).not.toBe(Secret.digest(JSON.stringify(body)))
      expect(fingerprint).toBe(testHash.of("create-body", JSON.stringify(body)))
    })
  )

  it.effect("of a version without keyed hashes matches any body, so that no second link is made", () =>
    Effect.gen(function* () {
      const { answered } = yield* over(settled(""))
      expect(answered).toMatchObject({ right: { answer: kept, isReplay: true } })
    })
  )

  it.effect("with another hash refuses the body", () =>
    Effect.gen(function* () {
      const { answered } = yield* over(settled("another"))
      expect(answered).toMatchObject({ left: { kind: "idempotency-mismatch" } })
    })
  )
})
