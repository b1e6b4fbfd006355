import { FileSystem } from "@effect/platform"
import { SystemError } from "@effect/platform/Error"
import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect, Layer, Logger, LogLevel, Option } from "effect"
import * as Metered from "../../src/telemetry/Metered.ts"
import { believedAfter_ms } from "../../src/time/TimeKeeper.ts"
import * as TrustedTime from "../../src/time/TrustedTime.ts"

const day_ms = 86_400_000
const files = { boot: "/boot", uptime: "/uptime" }
const noteFile = "/data/clock.json"

/** A machine whose wall clock is set by others, and what a process on it takes the time to be. */
const machine = () => {
  const state = { boot: "one", uptime_ms: 50_000, monotonicNow_ms: 7_000, wall_ms: 20_000 * day_ms }
  const written = new Map<string, string>()
  const missing = (path: string) =>
    new SystemError({
      reason: "NotFound",
      module: "FileSystem",
      method: "readFileString",
      pathOrDescriptor: path
    })
  const read = (path: string): string | undefined => {
    if (path === files.boot) return `${state.boot}\n`
    if (path === files.uptime) return `${(state.uptime_ms / 1_000).toFixed(2)} 1.00\n`
    return written.get(path)
  }
  const fs = FileSystem.layerNoop({
    readFileString: (path) =>
      Effect.mapError(
        Effect.suspend(() => Option.fromNullable(read(path))),
        () => missing(path)
      ),
    writeFileString: (path, text) => Effect.sync(() => void written.set(path, text)),
    rename: (from, to) =>
      Effect.sync(() => {
        written.set(to, written.get(from)!)
        written.delete(from)
      })
  })
  const wall = () => state.wall_ms
  const nanos = () => BigInt(state.monotonicNow_ms) * 1_000_000n
  const clock: Clock.Clock = {
    ...Clock.make(),
    unsafeCurrentTimeMillis: wall,
    unsafeCurrentTimeNanos: nanos,
    currentTimeMillis: Effect.sync(wall),
    currentTimeNanos: Effect.sync(nanos),
    sleep: () => Effect.never
  }
  const pass = (by_ms: number) => {
    state.uptime_ms += by_ms
    state.monotonicNow_ms += by_ms
    state.wall_ms += by_ms
  }
  const see = Effect.gen(function* () {
    const { isSettled } = yield* TrustedTime.TrustedTime
    return { now: yield* Clock.currentTimeMillis, isSettled: isSettled() }
  })
  const by = <A, E>(run: Effect.Effect<A, E>, layer: Layer.Layer<never>) =>
    run.pipe(Effect.provide(layer), Effect.withClock(clock), Logger.withMinimumLogLevel(LogLevel.None))
  const wallTime = Layer.provide(TrustedTime.layerWall(noteFile, files), fs)
  return {
    state,
    written,
    pass,
    see,
    /** Runs a process of its own. */
    run: <A, E>(run: Effect.Effect<A, E>) => by(run, wallTime),
    runOnDatabase: <A, E>(run: Effect.Effect<A, E>) => by(run, TrustedTime.layerDatabase)
  }
}

const jumps = () => Metered.read(TrustedTime.clockJumps).count

describe("trusted time beside SQLite", () => {
  it.effect("is the wall clock's, and goes on without it from the moment at which that jumps", () =>
    Effect.gen(function* () {
      const { pass, run, see, state } = machine()
      const right = state.wall_ms
      yield* run(
        Effect.gen(function* () {
          expect(yield* see).toEqual({ now: right, isSettled: true })
          pass(5_000)
          state.wall_ms += 40 * day_ms
          expect(yield* see).toEqual({ now: right + 5_000, isSettled: false })
        })
      )
    })
  )

  it.effect(
    "goes by what time it was, and by how long the machine has run since, where the clock has jumped between two processes",
    () =>
      Effect.gen(function* () {
        const { pass, run, see, state } = machine()
        const right = state.wall_ms
        yield* run(see)
        for (const ahead_ms of [40 * day_ms, -40 * day_ms]) {
          const before = jumps()
          state.wall_ms += ahead_ms
          pass(90_000)
          // Another process has another monotonic clock.
          state.monotonicNow_ms = 11_000
          expect(yield* run(see)).toEqual({ now: right + 90_000, isSettled: false })
          expect(jumps()).toBe(before + 1)
          state.wall_ms -= ahead_ms
          expect(yield* run(see)).toEqual({ now: right + 90_000, isSettled: true })
          pass(-90_000)
        }
      })
  )

  it.effect(
    "believes the clock of a machine that was started anew, unless it went back, and is settled ten minutes later",
    () =>
      Effect.gen(function* () {
        const { pass, run, see, state } = machine()
        const before = state.wall_ms
        yield* run(see)
        Object.assign(state, {
          boot: "two",
          uptime_ms: 20_000,
          monotonicNow_ms: 3_000,
          wall_ms: before + day_ms
        })
        yield* run(
          Effect.gen(function* () {
            expect(yield* see).toEqual({ now: before + day_ms, isSettled: false })
            pass(believedAfter_ms)
            expect(yield* see).toEqual({ now: before + day_ms + believedAfter_ms, isSettled: true })
          })
        )
        Object.assign(state, { boot: "three", wall_ms: 0 })
        expect(yield* run(see)).toEqual({ now: before + day_ms, isSettled: false })
      })
  )

  it.effect(
    "takes an uptime that went back for another start, such as that of a container on a machine that runs on",
    () =>
      Effect.gen(function* () {
        const { run, see, state } = machine()
        const before = state.wall_ms
        state.uptime_ms = 3 * day_ms
        yield* run(see)
        Object.assign(state, { uptime_ms: 2_000, monotonicNow_ms: 3_000, wall_ms: before + 30_000 })
        expect(yield* run(see)).toEqual({ now: before + 30_000, isSettled: false })
      })
  )

  it.effect("begins with the wall clock where what was noted cannot be read", () =>
    Effect.gen(function* () {
      const { run, see, state, written } = machine()
      written.set(noteFile, "{")
      expect(yield* run(see)).toEqual({ now: state.wall_ms, isSettled: true })
      expect(written.get(noteFile)).toContain('"boot":"one"')
    })
  )
})

describe("trusted time beside PostgreSQL", () => {
  it.effect("is the database's from its first answer on, and is told when that jumps", () =>
    Effect.gen(function* () {
      const { pass, runOnDatabase, see, state } = machine()
      const right = state.wall_ms - 45_000
      yield* runOnDatabase(
        Effect.gen(function* () {
          const { heard, wallAhead_ms } = yield* TrustedTime.TrustedTime
          yield* heard(right, state.monotonicNow_ms)
          expect([yield* see, wallAhead_ms()]).toEqual([{ now: right, isSettled: true }, 45_000])
          pass(200)
          state.wall_ms += day_ms
          yield* heard(right + 200, state.monotonicNow_ms)
          expect(yield* see).toEqual({ now: right + 200, isSettled: true })
          const before = jumps()
          yield* heard(right + 60_200, state.monotonicNow_ms)
          expect(yield* see).toEqual({ now: right + 60_200, isSettled: false })
          expect(jumps()).toBe(before + 1)
        })
      )
    })
  )
})

describe("what cannot be undone", () => {
  it.effect("is put off, and counted, while something speaks against the time", () =>
    Effect.gen(function* () {
      let done = 0
      const step = TrustedTime.whenSettled(Effect.sync(() => done++))
      const before = Metered.read(TrustedTime.heldSteps).count
      yield* step
      yield* Effect.provideService(step, TrustedTime.TrustedTime, {
        isSettled: () => false,
        wallAhead_ms: () => 0,
        heard: () => Effect.void
      })
      expect([done, Metered.read(TrustedTime.heldSteps).count - before]).toEqual([1, 1])
    })
  )
})
