import {
  Cause,
  Clock,
  Duration,
  Effect,
  type Fiber,
  FiberRef,
  HashSet,
  Logger,
  LogLevel,
  Random,
  Runtime
} from "effect"
import { ms_us } from "./Time.ts"
import type { VirtualProcess } from "./VirtualProcess.ts"

/** Longer waits mean for ever, as with the real clock. */
const forever_ms = 2 ** 31 - 1

/** The clock of a process: its wall clock for the time of day, true time for how long something takes. */
const clockOf = (process: VirtualProcess): Clock.Clock => {
  const { world } = process
  const lateness = world.chance("timers")
  const wallClock_ms = () => process.wallClock_ms()
  const monotonic_ns = () => BigInt(world.now_ms) * 1_000_000n + BigInt(world.now_us % ms_us) * 1_000n
  /** Like a real timer: a millisecond at least, and up to one late. */
  const schedule = (task: () => void, duration: Duration.Duration): (() => boolean) => {
    const delay_ms = Duration.toMillis(duration)
    if (delay_ms > forever_ms) return () => false
    let isDone = false
    const event = world.after(Math.max(1, delay_ms) * ms_us + lateness.below(ms_us), process, () =>
      process.post(() => {
        isDone = true
        task()
      })
    )
    return () => {
      event.isCancelled = true
      return !isDone
    }
  }
  const clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: wallClock_ms,
    unsafeCurrentTimeNanos: monotonic_ns,
    currentTimeMillis: Effect.sync(wallClock_ms),
    currentTimeNanos: Effect.sync(monotonic_ns),
    sleep: (duration) =>
      Effect.async<void>((resume) => {
        const cancel = schedule(() => resume(Effect.void), duration)
        return Effect.sync(() => void cancel())
      })
  }
  // Not in the interface, but Effect's own schedules ask for it.
  return Object.assign(clock, { scheduler: () => Effect.succeed({ unsafeSchedule: schedule }) })
}

const textOf = (message: unknown): string =>
  (Array.isArray(message) ? message : [message])
    .map((part) => (typeof part === "string" ? part : (JSON.stringify(part) ?? String(part))))
    .join(" ")

/** What a process logs goes into the trace. */
const loggerOf = (process: VirtualProcess) =>
  Logger.make<unknown, void>(({ cause, logLevel, message }) => {
    const why = Cause.isEmpty(cause) ? "" : ` | ${Cause.pretty(cause).split("\n")[0]}`
    process.world.tell(process.id, "log", `${logLevel.label} ${textOf(message)}${why}`.slice(0, 300))
  })

/** What each process has of its own, made once. */
const servicesOf = new WeakMap<
  VirtualProcess,
  <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
>()

const makeServices = (process: VirtualProcess) => {
  const clock = clockOf(process)
  const random = Random.make(`${process.world.seed}/${process.id}`)
  const loggers = HashSet.make(loggerOf(process))
  return <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    self.pipe(
      Effect.withClock(clock),
      Effect.withRandom(random),
      Effect.locally(FiberRef.currentLoggers, loggers),
      Effect.locally(FiberRef.currentMinimumLogLevel, LogLevel.Warning),
      Effect.withTracerEnabled(false),
      Effect.withScheduler(process)
    )
}

/** Starts a fiber in a process, with the process's clock, chance, log and scheduler. Only from within the world. */
export const fork = <A, E>(
  process: VirtualProcess,
  effect: Effect.Effect<A, E>
): Fiber.RuntimeFiber<A, E> => {
  const provide = servicesOf.get(process) ?? makeServices(process)
  servicesOf.set(process, provide)
  return Runtime.runFork(Runtime.defaultRuntime)(provide(effect), { scheduler: process, immediate: false })
}
