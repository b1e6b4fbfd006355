import {
  Cause,
  Clock,
  Context,
  DefaultServices,
  Duration,
  Effect,
  type Fiber,
  FiberRef,
  HashSet,
  Logger,
  LogLevel,
  Random,
  Runtime,
  RuntimeFlags
} from "effect"
import { ms_us } from "./Time.ts"
import type { VirtualProcess } from "./VirtualProcess.ts"

/** Longer waits mean for ever, as with the real clock. */
const forever_ms = 2 ** 31 - 1

/** The clock of a process: the time that it keeps for the time of day, true time for how long something takes. */
const clockOf = (process: VirtualProcess): Clock.Clock => {
  const { world } = process
  const lateness = world.chance("timers")
  const clock_ms = () => process.clock_ms()
  const monotonic_ns = () => BigInt(Math.floor(world.now_us)) * 1_000n
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
    unsafeCurrentTimeMillis: clock_ms,
    unsafeCurrentTimeNanos: monotonic_ns,
    currentTimeMillis: Effect.sync(clock_ms),
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

/**
 * The runtime of a process: its clock, chance, log and scheduler. They are the fiber's own from its first step, which costs much less than
 * effects around each program that set them; nor are fibers counted in metrics.
 */
const makeRuntime = (process: VirtualProcess): Runtime.Runtime<never> => {
  const services = Context.mergeAll(
    DefaultServices.liveServices,
    Context.make(Clock.Clock, clockOf(process)),
    Context.make(Random.Random, Random.make(`${process.world.seed}/${process.id}`))
  )
  return Runtime.defaultRuntime.pipe(
    Runtime.setFiberRef(DefaultServices.currentServices, services),
    Runtime.setFiberRef(FiberRef.currentLoggers, HashSet.make(loggerOf(process))),
    Runtime.setFiberRef(FiberRef.currentMinimumLogLevel, LogLevel.Warning),
    Runtime.setFiberRef(FiberRef.currentTracerEnabled, false),
    Runtime.setFiberRef(FiberRef.currentScheduler, process),
    Runtime.disableRuntimeFlag(RuntimeFlags.RuntimeMetrics)
  )
}

const runtimeOf = (process: VirtualProcess): Runtime.Runtime<never> =>
  (process.runtime ??= makeRuntime(process))

/** Starts a fiber in a process, with the process's clock, chance, log and scheduler. Only from within the world. */
export const fork = <A, E>(process: VirtualProcess, effect: Effect.Effect<A, E>): Fiber.RuntimeFiber<A, E> =>
  Runtime.runFork(runtimeOf(process), effect, { immediate: false })

/** The same, with all services that the effect needs. */
export const forkWith = <A, E, R>(
  process: VirtualProcess,
  context: Context.Context<R>,
  effect: Effect.Effect<A, E, R>
): Fiber.RuntimeFiber<A, E> => {
  const { fiberRefs, runtimeFlags } = runtimeOf(process)
  return Runtime.runFork(Runtime.make({ context, fiberRefs, runtimeFlags }), effect, { immediate: false })
}
