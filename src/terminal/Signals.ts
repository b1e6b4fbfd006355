import { Console, Context, Deferred, Duration, Effect } from "effect"
import { monotonic_ms } from "../time/MonotonicTime.ts"

/**
 * A signal that follows another one sooner than this is a copy of it: Ctrl-C reaches every process of the terminal, and npm and systemd signal
 * the processes that they started once more.
 */
const copyWithin = Duration.seconds(1)

/** For how long signals cannot end a graceful shutdown. It takes some seconds, beside `DRAIN_DELAY`. */
const patience = Duration.seconds(5)

/** The exit status of a process that could not finish its graceful shutdown. */
const cutShort = 130

/**
 * Completes at the second request for a graceful shutdown. Then waits for further requests may end early, but the writing of what was
 * acknowledged or counted may not. Never completes in a program that does not handle signals.
 */
export class Hurry extends Context.Reference<Hurry>()("linkmint/Hurry", {
  defaultValue: (): Effect.Effect<void> => Effect.never
}) {}

/** The signals so far. */
export interface Heard {
  readonly first_ms: number
  readonly last_ms: number
  readonly isHurried: boolean
}

const isWithin = (duration: Duration.Duration, from_ms: number, to_ms: number) =>
  to_ms - from_ms < Duration.toMillis(duration)

/** The meaning of a signal that follows others. */
export const meaningOf = (
  { first_ms, isHurried, last_ms }: Heard,
  now_ms: number
): "copy" | "hurry" | "end" => {
  if (isWithin(copyWithin, last_ms, now_ms)) return "copy"
  return isHurried && !isWithin(patience, first_ms, now_ms) ? "end" : "hurry"
}

/** Completes with the next signal. Signals that arrive at once count as one. */
const signals = Effect.sync(() => {
  const latch = Effect.unsafeMakeLatch()
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => latch.unsafeOpen())
  return Effect.zipRight(latch.await, latch.close)
})

/** How a program shuts down. */
export interface ShutdownOptions {
  /** Whether a third signal ends the process. */
  readonly isImpatient: boolean
  /** How long a graceful shutdown may take before the process ends anyway. */
  readonly max: Duration.Duration
}

const listening = (
  signal: Effect.Effect<void>,
  hurry: Deferred.Deferred<void>,
  { isImpatient, max }: ShutdownOptions
) =>
  Effect.gen(function* () {
    yield* signal
    const overdue = Effect.zipRight(
      Console.error(`Linkmint ends, since its shutdown takes longer than ${Duration.format(max)}.`),
      Effect.sync(() => process.exit(cutShort))
    )
    yield* Effect.forkDaemon(Effect.delay(overdue, max))
    const first_ms = yield* monotonic_ms
    let heard: Heard = { first_ms, last_ms: first_ms, isHurried: false }
    while (true) {
      yield* signal
      const now_ms = yield* monotonic_ms
      const meaning = meaningOf(heard, now_ms)
      heard = { ...heard, last_ms: now_ms, isHurried: heard.isHurried || meaning !== "copy" }
      if (meaning === "copy") continue
      if (meaning === "end" && isImpatient) {
        yield* Console.error("Linkmint ends at once. Visits that were not written yet are lost.")
        process.exit(cutShort)
      }
      if (isImpatient) {
        yield* Console.error(
          `Linkmint is stopping, and writes what is left. Another signal after ${Duration.format(patience)} ends it at once, and loses visits that are not written yet.`
        )
      }
      yield* Deferred.succeed(hurry, undefined)
    }
  })

/**
 * Runs a program with handling of signals, beside `NodeRuntime.runMain`, which begins the graceful shutdown at the first signal and by itself would end the process at the next. Here a second
 * signal only hurries the shutdown, and a third one ends the process (if `isImpatient`) once the shutdown has had its time. So does the end of `max`.
 */
export const handling =
  (options: ShutdownOptions) =>
  <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.gen(function* () {
      const hurry = yield* Deferred.make<void>()
      // Before the program begins: a signal that nobody listens for ends the process.
      const signal = yield* signals
      yield* Effect.forkDaemon(listening(signal, hurry, options))
      return yield* Effect.provideService(program, Hurry, Deferred.await(hurry))
    })
