import cluster, { type Worker } from "node:cluster"
import { Data, Deferred, Duration, Effect, Exit, FiberId, Option, type Scope } from "effect"
import * as Signals from "../terminal/Signals.ts"

/** A process that ends sooner than this has failed. One that lived longer resets the count of failures, and with it the delays below. */
const settledAfter = Duration.seconds(30)

/** After so many failures of one process in a row it is not restarted. */
const failuresMax = 8

/** How often a process has failed in a row, when it has ended once more. `lasted`: how long it lived this time. */
export const failuresAfter = (failures: number, lasted: Duration.Duration): number =>
  Duration.lessThan(lasted, settledAfter) ? failures + 1 : 1

/** The delay before a restart, by the number of failures in a row: 1 s, then twice as long each time, 30 s at most. None: it is not restarted. */
export const restartIn = (failures: number): Option.Option<Duration.Duration> =>
  failures > failuresMax ? Option.none() : Option.some(Duration.seconds(Math.min(30, 2 ** (failures - 1))))

/**
 * How long after a graceful shutdown of a process a signal may be heard that all of them received. The event loop can tell of the end of a process first, above
 * all when this process was held up.
 */
const signalWithin = Duration.seconds(1)

/** The longest graceful shutdown of a process, beside the drain delay, after which it ends itself. Mostly it takes some seconds. */
export const shutdownMax = Duration.minutes(1)

/** How long after that a process is killed that has not ended. */
const killAfter = Duration.seconds(5)

const stopMax = (drainDelay: Duration.Duration) =>
  Duration.sum(Duration.sum(shutdownMax, killAfter), drainDelay)

/** The longest shutdown of all processes: the first one stops when the others have. */
export const allStopMax = (drainDelay: Duration.Duration): Duration.Duration =>
  Duration.times(stopMax(drainDelay), 2)

/** A process keeps failing. Its own output says why. */
export class ProcessFailed extends Data.TaggedError("ProcessFailed")<{
  readonly number: number
  readonly how: string
}> {
  override get message() {
    return `Process ${this.number} ${this.how}.`
  }
}

/** What to run. */
export interface ProcessesOptions {
  readonly count: number
  /** The HTTP port, which all processes share. */
  readonly port: number
  /** The runner port of the first process; each other process has the next higher one. */
  readonly runnerPort: number
  /** The metrics port of the first process, counted up in the same way. */
  readonly metricsPort: Option.Option<number>
  readonly drainDelay: Duration.Duration
}

/** How a process ended. */
interface Ending {
  readonly how: string
  readonly isGraceful: boolean
}

/** A process that was started, and its end. */
interface Started {
  readonly worker: Worker
  readonly ended: Effect.Effect<Ending>
  /** Whether it has come to listen at the HTTP port. */
  readonly hasListened: () => boolean
}

const fork = (number: number, { metricsPort, port, runnerPort }: ProcessesOptions): Started => {
  const ended = Deferred.unsafeMake<Ending>(FiberId.none)
  let listened = false
  const worker = cluster.fork({
    RUNNER_PORT: String(runnerPort + number - 1),
    ...(Option.isSome(metricsPort) && { METRICS_PORT: String(metricsPort.value + number - 1) })
  })
  worker.on("listening", (address) => {
    if (address.port === port) listened = true
  })
  worker.on("error", () => {})
  worker.once("exit", (code, signal) => {
    const how = signal ? `was killed by ${signal}` : `ended with status ${code}`
    Deferred.unsafeDone(ended, Exit.succeed({ how, isGraceful: code === 0 }))
  })
  return { worker, ended: Deferred.await(ended), hasListened: () => listened }
}

/** Shuts a process down gracefully, within a bound; hurries it when this process is hurried. */
const stop = ({ ended, worker }: Started, drainDelay: Duration.Duration) => {
  const tell = Effect.sync(() => void worker.process.kill("SIGTERM"))
  const hurry = Effect.flatten(Signals.Hurry).pipe(Effect.zipRight(tell), Effect.zipRight(Effect.never))
  return tell.pipe(
    Effect.zipRight(Effect.interruptible(Effect.raceFirst(ended, hurry))),
    Effect.timeoutOption(stopMax(drainDelay)),
    Effect.tap((ending) =>
      ending._tag === "None" ? Effect.sync(() => worker.process.kill("SIGKILL")) : Effect.void
    )
  )
}

/**
 * Keeps one process running: when it dies it is restarted, after a delay if it died soon. Fails when it dies soon again and again, and at once
 * when the very first process never came to listen, because another try would fail for the same reason.
 */
const keepRunning = Effect.fnUntraced(function* (
  number: number,
  options: ProcessesOptions,
  isStopping: () => boolean
) {
  const life = Effect.acquireRelease(
    Effect.sync(() => fork(number, options)),
    (started) => stop(started, options.drainDelay)
  ).pipe(
    Effect.tap(({ worker }) =>
      Effect.logInfo(`Process ${number} of ${options.count} is ${worker.process.pid}`)
    ),
    Effect.flatMap(({ ended, hasListened }) => Effect.map(ended, (ending) => ({ ...ending, hasListened }))),
    Effect.scoped,
    Effect.timed
  )
  let hasListened = false
  for (let failures = 0; ;) {
    const [lasted, end] = yield* life
    if (end.isGraceful) yield* Effect.sleep(signalWithin)
    // All processes received the signal, and end when they are done.
    if (isStopping()) return yield* Effect.never
    hasListened ||= end.hasListened()
    if (!hasListened) return yield* new ProcessFailed({ number, how: end.how })
    failures = failuresAfter(failures, lasted)
    const wait = restartIn(failures)
    if (Option.isNone(wait)) {
      return yield* new ProcessFailed({ number, how: `${end.how}, ${failures} times in a row` })
    }
    yield* Effect.logWarning(
      `Process ${number} ${end.how}; it is started again in ${Duration.format(wait.value)}`
    )
    yield* Effect.sleep(wait.value)
  }
})

/**
 * Runs this program in `count` processes that share its HTTP port by `node:cluster`, each a whole node of a cluster, until one of them keeps failing (see
 * {@link ProcessFailed}) or this effect is interrupted. Then it shuts them down gracefully, the first one last, so that the others can hand their
 * keys and actors to it. They end with this process, however that ends.
 */
export const run = (options: ProcessesOptions): Effect.Effect<never, ProcessFailed> =>
  Effect.gen(function* () {
    const failed = yield* Deferred.make<never, ProcessFailed>()
    let isStopping = false
    const keep = (number: number): Effect.Effect<void, never, Scope.Scope> =>
      keepRunning(number, options, () => isStopping).pipe(
        Effect.catchAll((error) => Deferred.fail(failed, error)),
        Effect.forkScoped,
        Effect.asVoid
      )
    yield* keep(1)
    const others = Array.from({ length: options.count - 1 }, (_, index) => index + 2)
    yield* Effect.parallelFinalizers(Effect.forEach(others, keep, { discard: true }))
    // This runs before everything acquired above is released.
    yield* Effect.addFinalizer(() => Effect.sync(() => (isStopping = true)))
    return yield* Deferred.await(failed)
  }).pipe(Effect.scoped)

/** Whether this is one of the processes that {@link run} started. */
export const isOneOfMany = cluster.isWorker
