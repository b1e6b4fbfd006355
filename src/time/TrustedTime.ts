import { FileSystem } from "@effect/platform"
import { Clock, Context, Duration, Effect, Layer, Option, Schema, type Scope } from "effect"
import * as Metered from "../telemetry/Metered.ts"
import { monotonic_ms } from "./MonotonicTime.ts"
import { jumpMin_ms, type TimeEvent, TimeKeeper } from "./TimeKeeper.ts"

/** How often the wall clock is looked at. */
const lookEvery = Duration.seconds(1)

/** How often it is noted what time it is, for the next start. */
const noteEvery = Duration.minutes(1)

/** A reading of the time since the machine's start that took longer is none. */
const readingMax_ms = 100

/** Jumps of the clock that links are judged by: the database's, or on SQLite the machine's. */
export const clockJumps = Metered.counter(
  "linkmint_clock_jumps_total",
  "Times that the database's clock, or on SQLite the machine's, jumped by a second or more"
)

/** What was put off. */
export const heldSteps = Metered.counter(
  "linkmint_clock_held_steps_total",
  "Sweeps that were put off because the clock has jumped: links that ended are kept meanwhile, and keys in quarantine"
)

/** What is known of the time that this process goes by. It is the time of Effect's `Clock`, of which the layers here make another one. */
export interface TrustedTimeService {
  /** Whether nothing speaks against the time: only then may be done what cannot be undone. */
  readonly isSettled: () => boolean
  /** By how many milliseconds the machine's clock is ahead of the time. */
  readonly wallAhead_ms: () => number
  /** The database has told its time, in milliseconds since the Unix epoch; it was asked at `asked`, of `monotonic_ms`, and has just answered. */
  readonly heard: (database_ms: number, asked: number) => Effect.Effect<void>
}

/** See {@link TrustedTimeService}. By default that of the clock at hand, which is not looked at. */
export class TrustedTime extends Context.Reference<TrustedTime>()("linkmint/TrustedTime", {
  defaultValue: (): TrustedTimeService => ({
    isSettled: () => true,
    wallAhead_ms: () => 0,
    heard: () => Effect.void
  })
}) {}

/** Does what cannot be undone, unless something speaks against the time; then it is counted as held, and left for later. */
export const whenSettled = <A, E, R>(step: Effect.Effect<A, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(TrustedTime, ({ isSettled }) =>
    isSettled() ? Effect.asVoid(step) : Effect.sync(() => Metered.add(heldSteps))
  )

/** A clock whose time of day is another. */
const clockWith = (base: Clock.Clock, now_ms: () => number): Clock.Clock =>
  Object.assign(Object.create(base) as Clock.Clock, {
    unsafeCurrentTimeMillis: now_ms,
    currentTimeMillis: Effect.sync(now_ms)
  })

/** Has all that is built on this layer go by the keeper's time. */
const layerOf = <E, R>(
  make: Effect.Effect<{ readonly keeper: TimeKeeper; readonly time: TrustedTimeService }, E, R | Scope.Scope>
): Layer.Layer<never, E, Exclude<R, Scope.Scope>> =>
  Layer.unwrapScoped(
    Effect.zipWith(make, Effect.clock, ({ keeper, time }, clock) =>
      Layer.merge(
        Layer.succeed(TrustedTime, time),
        Layer.setClock(clockWith(clock, () => Math.floor(keeper.at(monotonic_ms(clock)))))
      )
    )
  )

const seconds = (by_ms: number) => `${Math.abs(by_ms / 1_000).toFixed(1)} s ${by_ms < 0 ? "back" : "ahead"}`

const held = "What has ended is kept until it has been right for 10 minutes"

/** The time of the database: of all who work on it. Until it is heard first it is the machine's. */
export const layerDatabase: Layer.Layer<never> = layerOf(
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    const wall_ms = () => clock.unsafeCurrentTimeMillis()
    const now = () => monotonic_ms(clock)
    const keeper = new TimeKeeper(wall_ms(), now())
    let hasHeard = false
    const time: TrustedTimeService = {
      isSettled: () => keeper.isSettled(now()),
      wallAhead_ms: () => wall_ms() - keeper.at(now()),
      heard: (database_ms, asked) =>
        Effect.suspend(() => {
          const event = keeper.heard({ database_ms, asked, answered: now() })
          if (event !== undefined) {
            Metered.add(clockJumps)
            return Effect.logWarning(`The database's clock jumped ${seconds(event.by_ms)}. ${held}.`)
          }
          if (hasHeard) return Effect.void
          hasHeard = true
          const ahead_ms = time.wallAhead_ms()
          return Math.abs(ahead_ms) < jumpMin_ms
            ? Effect.void
            : Effect.logWarning(
                `This machine's clock is not the database's, by which links are judged: it is ${seconds(ahead_ms)}.`
              )
        })
    }
    return { keeper, time }
  })
)

/** What is noted of the time: when it was `time` (milliseconds since the Unix epoch), the machine had run for `uptime_ms` since the start `boot`. */
const Note = Schema.parseJson(
  Schema.Struct({
    time: Schema.Number,
    uptime_ms: Schema.NullOr(Schema.Number),
    boot: Schema.NullOr(Schema.String)
  })
)

/** Where Linux tells which start of the machine this is, and for how long it has run, suspended or not. */
export interface MachineFiles {
  readonly boot: string
  readonly uptime: string
}

const linux: MachineFiles = { boot: "/proc/sys/kernel/random/boot_id", uptime: "/proc/uptime" }

/**
 * The time of the machine, for a process that has its links by itself: of the wall clock as long as that agrees with monotonic time. What time it was is noted in `noteFile` each minute, so that
 * a clock that jumps while the process does not run is noticed as well, as far as the machine has not been restarted meanwhile; if it was, its clock is believed unless it went back, and what
 * cannot be undone waits for ten minutes.
 */
export const layerWall = (
  noteFile: string,
  files: MachineFiles = linux
): Layer.Layer<never, never, FileSystem.FileSystem> =>
  layerOf(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const clock = yield* Effect.clock
      const wall_ms = () => clock.unsafeCurrentTimeMillis()
      const now = () => monotonic_ms(clock)
      const told = (file: string) => Effect.orElseSucceed(fs.readFileString(file), () => "")
      const boot = (yield* told(files.boot)).trim() || null

      /** By how much the machine's uptime is ahead of monotonic time: it goes on while the machine is suspended. */
      const uptimeAhead = Effect.gen(function* () {
        const asked = now()
        const uptime_ms = Number.parseFloat(yield* told(files.uptime)) * 1_000
        const took_ms = now() - asked
        return Number.isNaN(uptime_ms) || took_ms > readingMax_ms ? null : uptime_ms - asked
      })
      const uptimeNow = (ahead: number | null) => (ahead === null ? null : now() + ahead)

      let ahead = yield* uptimeAhead
      const noted = yield* Effect.option(Effect.flatMap(fs.readFileString(noteFile), Schema.decode(Note)))
      const [wall, start] = [wall_ms(), now()]
      const uptime_ms = uptimeNow(ahead)
      const ofThisBoot = Option.filter(noted, (note) => note.boot !== null && note.boot === boot)
      const expected = Option.match(noted, {
        onNone: () => wall,
        onSome: (note) =>
          Option.isSome(ofThisBoot) && note.uptime_ms !== null && uptime_ms !== null
            ? note.time + uptime_ms - note.uptime_ms
            : Math.max(note.time, wall)
      })
      const keeper = new TimeKeeper(Math.abs(expected - wall) < jumpMin_ms ? wall : expected, start)
      if (Option.isSome(noted) && Option.isNone(ofThisBoot)) keeper.hold(start)

      const tell = ({ by_ms, tag }: TimeEvent) => {
        const clock = `The machine's clock is ${seconds(by_ms)}`
        switch (tag) {
          case "jumped":
            Metered.add(clockJumps)
            return Effect.logWarning(
              `${clock}, which monotonic time does not bear out. It is not believed. ${held}.`
            )
          case "returned":
            return Effect.logInfo("The machine's clock is right again.")
          case "believed":
            return Effect.logWarning(
              `${clock}. It has gone on from there for 10 minutes, and is believed now.`
            )
          case "slept":
            return Effect.logInfo(`${clock}, since the machine was suspended.`)
        }
      }

      const slept = Effect.map(uptimeAhead, (read) => {
        const slept_ms = read === null || ahead === null ? 0 : read - ahead
        ahead = read ?? ahead
        return slept_ms
      })

      const look = Effect.gen(function* () {
        const slept_ms = keeper.isElsewhere(wall_ms(), now()) ? yield* slept : 0
        const event = keeper.saw(wall_ms(), now(), slept_ms)
        if (event !== undefined) yield* tell(event)
      })

      const note = Effect.gen(function* () {
        // A suspension is told by what the uptime was before.
        yield* look
        const read = yield* uptimeAhead
        if (read !== null) ahead = read
        const text = yield* Schema.encode(Note)({ time: keeper.at(now()), uptime_ms: uptimeNow(ahead), boot })
        yield* fs.writeFileString(`${noteFile}.new`, text, { mode: 0o600 })
        yield* fs.rename(`${noteFile}.new`, noteFile)
      }).pipe(
        Effect.catchAll((error) =>
          Effect.logWarning(`The time is not noted in ${noteFile}: ${error.message}`)
        )
      )

      yield* note
      yield* Effect.forkScoped(Effect.forever(Effect.delay(note, noteEvery)))
      yield* Effect.forkScoped(Effect.forever(Effect.delay(look, lookEvery)))
      const time: TrustedTimeService = {
        isSettled: () => keeper.isSettled(now()) && !keeper.isElsewhere(wall_ms(), now()),
        wallAhead_ms: () => wall_ms() - keeper.at(now()),
        heard: () => Effect.void
      }
      return { keeper, time }
    })
  )
