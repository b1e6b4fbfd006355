import { expect, it } from "@effect/vitest"
import { Duration, Effect, Exit, TestClock } from "effect"
import { describe } from "vitest"
import * as Batcher from "../../src/fibers/Batcher.ts"
import { Direct } from "../../src/fibers/Direct.ts"
import * as SoftPermits from "../../src/fibers/SoftPermits.ts"

const patience = Duration.millis(20)

/** Lets all other fibers go on until they wait. */
const others = Effect.repeatN(Effect.yieldNow(), 20)

/** Calls that wait for one permit, by name: which have begun, and how each leaves. */
const calls = Effect.gen(function* () {
  const permits = yield* SoftPermits.make(1, patience)
  const begun: Array<string> = []
  const leaves = new Map<string, () => void>()
  const enter = (name: string) =>
    permits.enter((leave) => {
      begun.push(name)
      leaves.set(name, leave)
    })
  return { begun, enter, leave: (name: string) => leaves.get(name)!() }
})

describe("soft permits", () => {
  it.scoped("go to the longest waiter, one after the other", () =>
    Effect.gen(function* () {
      const { begun, enter, leave } = yield* calls
      for (const name of ["a", "b", "c"]) enter(name)
      expect(begun).toEqual(["a"])
      leave("a")
      expect(begun).toEqual(["a", "b"])
      leave("b")
      leave("c")
      enter("d")
      expect(begun).toEqual(["a", "b", "c", "d"])
    })
  )

  it.scoped("are not waited for any longer than twice the patience", () =>
    Effect.gen(function* () {
      const { begun, enter, leave } = yield* calls
      for (const name of ["hangs", "b"]) enter(name)
      yield* others
      yield* TestClock.adjust(Duration.millis(10))
      enter("c")
      yield* TestClock.adjust(Duration.millis(10))
      yield* others
      expect(begun).toEqual(["hangs", "b"])
      yield* TestClock.adjust(patience)
      yield* others
      expect(begun).toEqual(["hangs", "b", "c"])
      for (const name of ["b", "c", "hangs"]) leave(name)
      for (const name of ["d", "e"]) enter(name)
      expect(begun).toEqual(["hangs", "b", "c", "d"])
    })
  )

  it.scoped("are held no longer than that by a call that hangs, so that it holds up others once", () =>
    Effect.gen(function* () {
      const { begun, enter, leave } = yield* calls
      for (const name of ["hangs", "b"]) enter(name)
      yield* others
      yield* TestClock.adjust(patience)
      yield* others
      leave("b")
      for (const name of ["c", "d"]) enter(name)
      expect(begun).toEqual(["hangs", "b", "c"])
      // The permit that it had is not given back a second time.
      leave("hangs")
      expect(begun).toEqual(["hangs", "b", "c"])
      leave("c")
      expect(begun).toEqual(["hangs", "b", "c", "d"])
    })
  )

  it.scoped("let what waits for them gather", () =>
    Effect.gen(function* () {
      const permits = yield* SoftPermits.make(1, patience)
      const sent: Array<ReadonlyArray<number>> = []
      const answers: Array<() => void> = []
      const batcher = Batcher.make<number, number, never>({
        name: "test",
        kind: "test",
        run: (questions) => {
          sent.push(questions)
          return new Direct((done) => {
            void answers.push(() => done(Exit.succeed(questions)))
          })
        },
        batchMax: 100,
        queueMax: 100,
        inFlightMax: 2,
        permits
      })
      const [one, other] = [yield* batcher, yield* batcher]
      yield* Effect.fork(one.submit(1))
      yield* others
      for (const question of [2, 3]) {
        yield* Effect.fork(other.submit(question))
        yield* others
      }
      expect(sent).toEqual([[1]])
      answers[0]!()
      yield* others
      expect(sent).toEqual([[1], [2, 3]])
    }).pipe(Effect.withTracerEnabled(false))
  )
})
