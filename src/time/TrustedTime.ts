import { FileSystem } from "@effect/platform"
import { Clock, Context, Duration, Effect, Layer, Option, Schema, type Scope } from "effect"
import * as Metered from "../telemetry/Metered.ts"
import { monotonicNow_ms } from "./MonotonicTime.ts"
import * as Pulse from "./Pulse.ts"
import { jumpMin_ms, type TimeEvent, TimeKeeper } from "./TimeKeeper.ts"

/** How often the wall clock is read. */
const lookEvery = Duration.seconds(1)

/** How often the time is stored for the next start. */
const noteEvery = Duration.minutes(1)

/** A reading of the machine's uptime that takes longer is discarded. */
const readingMax_ms = 100

/** Jumps of the clock that links are judged by: the database's, or on SQLite the machine's. */
export const clockJumps = Metered.counter(
  "linkmint_clock_jumps_total",
  "Times that the database's clock, or on SQLite the machine's, jumped by a second or more"
)

/** Steps that were postponed. */
export const heldSteps = Metered.counter(
  "linkmint_clock_held_steps_total",
  "Sweeps that were put off because the clock has jumped: links that ended are kept meanwhile, and keys in quarantine"
)

/** What is known about the time that this process uses. The layers here replace Effect's `Clock` by it. */
export interface TrustedTimeService {
  /** Whether the time is not in doubt. Only then steps that cannot be undone may be taken. */
  readonly isSettled: () => boolean
  /** By how many milliseconds the machine's clock is ahead of the time. */
  readonly wallAhead_ms: () => number
  /** Takes the database's time, in milliseconds since the Unix epoch, from an answer that has just arrived to a query sent at `asked`, of `monotonicNow_ms`. */
  readonly heard: (database_ms: number, asked: number) => Effect.Effect<void>
}

/** See {@link TrustedTimeService}. By default the current clock is trusted as it is. */
export class TrustedTime extends Context.Reference<TrustedTime>()("linkmint/TrustedTime", {
  defaultValue: (): TrustedTimeService => ({
    isSettled: () => true,
    wallAhead_ms: () => 0,
    heard: () => Effect.void
  })
}) {}

/** Takes a step that cannot be undone, unless the time is in doubt; then the step is counted as postponed, and left for later. */
export const whenSettled = <A, E, R>(step: Effect.Effect<A, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(TrustedTime, ({ isSettled }) =>
    isSettled() ? Effect.asVoid(step) : Effect.sync(() => Metered.add(heldSteps))
  )

/** A clock with another time of day, in milliseconds since the Unix epoch. */
export const clockWith = (base: Clock.Clock, now_ms: () => number): Clock.Clock =>
  Object.assign(Object.create(base) as Clock.Clock, {
    unsafeCurrentTimeMillis: now_ms,
    currentTimeMillis: Effect.sync(now_ms)
  })

/** Everything built on this layer uses the keeper's time. */
const layerOf = <E, R>(
  make: Effect.Effect<{ readonly keeper: TimeKeeper; readonly time: TrustedTimeService }, E, R | Scope.Scope>
): Layer.Layer<never, E, Exclude<R, Scope.Scope>> =>
  Layer.unwrapScoped(
    Effect.zipWith(make, Effect.clock, ({ keeper, time }, clock) =>
      Layer.merge(
        Layer.succeed(TrustedTime, time),
        Layer.setClock(clockWith(clock, () => Math.floor(keeper.at(monotonicNow_ms(clock)))))
      )
    )
  )

const seconds = (by_ms: number) => `${Math.abs(by_ms / 1_000).toFixed(1)} s ${by_ms < 0 ? "back" : "ahead"}`

const held = "What has ended is kept until it has been right for 10 minutes"

/** The database's time, which all nodes share. Until the first reading it is the machine's. */
export const layerDatabase: Layer.Layer<never> = layerOf(
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    const wall_ms = () => clock.unsafeCurrentTimeMillis()
    const now = () => monotonicNow_ms(clock)
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

/** A note of the time: at `time` (milliseconds since the Unix epoch) the machine had run for `uptime_ms` since the boot with the id `boot`. */
const Note = Schema.parseJson(
  Schema.Struct({
    time: Schema.Number,
    uptime_ms: Schema.NullOr(Schema.Number),
    boot: Schema.NullOr(Schema.String)
  })
)

/** The files of Linux with the id of the machine's boot, and the time since it, including suspensions. */
export interface MachineFiles {
  readonly boot: string
  readonly uptime: string
}

const linux: MachineFiles = { boot: "/proc/sys/kernel/random/boot_id", uptime: "/proc/uptime" }

/**
 * The machine's time, for a process alone: the wall clock, as long as it agrees with monotonic time. The time is stored in `noteFile` each minute, so that the next start
 * notices when the clock has jumped meanwhile, unless the machine was restarted. If it was, its clock is believed unless it went back, and steps that
 * cannot be undone wait for ten minutes.
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
      const now = () => monotonicNow_ms(clock)
      const told = (file: string) => Effect.orElseSucceed(fs.readFileString(file), () => "")
      const boot = (yield* told(files.boot)).trim() || null

      /** By how much the machine's uptime is ahead of monotonic time: uptime includes suspensions. */
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
      // A container that was started again can have an uptime of its own, and the boot of the machine around it.
      const ofThisBoot = Option.filter(
        noted,
        (note) =>
          note.boot !== null &&
          note.boot === boot &&
          (note.uptime_ms === null || uptime_ms === null || uptime_ms >= note.uptime_ms)
      )
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
        // A suspension shows in the difference to the last reading of the uptime.
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
      yield* Effect.forkScoped(Pulse.forever(look, lookEvery))
      const time: TrustedTimeService = {
        isSettled: () => keeper.isSettled(now()) && !keeper.isElsewhere(wall_ms(), now()),
        wallAhead_ms: () => wall_ms() - keeper.at(now()),
        heard: () => Effect.void
      }
      return { keeper, time }
    })
  )
