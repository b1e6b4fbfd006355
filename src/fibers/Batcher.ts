import {
  Context,
  Data,
  Deferred,
  Effect,
  Exit,
  Fiber,
  FiberId,
  FiberRef,
  Runtime,
  type Scope,
  type Tracer
} from "effect"
import * as Metered from "../telemetry/Metered.ts"
import * as Traced from "../telemetry/Traced.ts"
import { Direct } from "./Direct.ts"
import type { SoftPermits } from "./SoftPermits.ts"

/** The queue in front of a batch is full: the caller should say so at once rather than wait. */
export class QueueFull extends Data.TaggedError("QueueFull")<{ readonly queue: string }> {}

/** Gathers single questions into batches. */
export interface Batcher<A, B, E> {
  /** Asks one question; fails with `QueueFull`, and asks nothing, when `queueMax` are waiting. */
  readonly submit: (question: A) => Effect.Effect<B, E | QueueFull>
  /**
   * The first half of `submit`: asks, and gives the effect that waits for the answer. For callers that must know, when they are
   * interrupted, whether they have asked.
   */
  readonly ask: (question: A) => Effect.Effect<Effect.Effect<B, E>, QueueFull>
  /**
   * Asks one question without an effect; `false`, and nothing is asked, when `queueMax` are waiting. `answer` is called once and must
   * not throw. `span`: that of who asks, where requests are traced.
   */
  readonly submitThen: (
    question: A,
    answer: (exit: Exit.Exit<B, E>) => void,
    span?: Tracer.AnySpan
  ) => boolean
}

/** Calls back once, later. */
type Turn = (next: () => void) => void

/**
 * What a batch waits for while it gathers: by default a turn of the scheduler, in which all fibers go on that can. A node waits for a turn of the event loop ({@link eventLoopTurn}).
 */
export class GatheringTurn extends Context.Reference<GatheringTurn>()("linkmint/GatheringTurn", {
  defaultValue: (): Turn | undefined => undefined
}) {}

/** Waits until the event loop has looked at all connections on which something has come: the requests that it finds go into one batch. */
// eslint-disable-next-line eslint/no-restricted-globals
export const eventLoopTurn: Turn = (next) => void setImmediate(next)

interface Waiting<A, B, E> {
  readonly question: A
  /** Of who asks, where requests are traced. */
  readonly span: Tracer.AnySpan | undefined
  readonly answer: (exit: Exit.Exit<B, E>) => void
}

/** How questions are gathered. */
export interface BatcherOptions<A, B, E> {
  readonly name: string
  /** What the batcher is for; those of all partitions have one. Its questions are counted by it. */
  readonly kind: string
  /** Answers a batch, in a fiber unless it is {@link Direct}. */
  readonly run: (batch: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E>
  /** How much of `batchMax` and `queueMax` a question is: 1 by default. */
  readonly sizeOf?: (question: A) => number
  readonly batchMax: number
  readonly queueMax: number
  readonly inFlightMax: number
  /**
   * Turns without a new question ({@link GatheringTurn}) after which a batch begins: none by default. With some, questions that are on their way at the same time
   * go together.
   */
  readonly quietTurns?: number
  /** For what batches wait, and go on gathering, where several batchers share something. Nothing by default. */
  readonly permits?: SoftPermits | undefined
}

/** What batchers of a scope have in common. */
interface Surroundings {
  readonly runFork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>
  readonly isTraced: boolean
  /** A turn of the scheduler. */
  readonly later: Turn
  readonly turn: Turn
  /** Has something done when the scope closes. */
  readonly whenClosed: (close: Effect.Effect<void>) => void
}

const makeIn = <A, B, E>(
  { isTraced, later, runFork, turn, whenClosed }: Surroundings,
  options: BatcherOptions<A, B, E>
): Batcher<A, B, E> => {
  type Batch = ReadonlyArray<Waiting<A, B, E>>
  const { permits, quietTurns = 0, sizeOf = () => 1 } = options
  const queued = Metered.gauge("linkmint_queue_waiting", "Questions that wait for the next batch", {
    queue: options.kind
  })
  let waiting: Array<Waiting<A, B, E>> = []
  let waitingSize = 0
  let inFlight = 0
  let isClosed = false
  /** Batches that are under way without a fiber, and fibers of the others. */
  const called = new Set<Batch>()
  const fibers = new Set<Fiber.RuntimeFiber<ReadonlyArray<B>, E>>()

  const answerAll = (batch: Batch, exit: Exit.Exit<ReadonlyArray<B>, E>) =>
    Exit.isSuccess(exit)
      ? batch.forEach(({ answer }, index) => answer(Exit.succeed(exit.value[index]!)))
      : batch.forEach(({ answer }) => answer(Exit.failCause(exit.cause)))

  /** Runs a batch; calls `next` once when it is answered, unless the scope has closed meanwhile. */
  const runBatch = (batch: Batch, next: () => void) => {
    const end = (exit: Exit.Exit<ReadonlyArray<B>, E>) => {
      answerAll(batch, exit)
      next()
    }
    try {
      const effect = options.run(batch.map(({ question }) => question))
      if (effect instanceof Direct && !isTraced) {
        called.add(batch)
        return effect.run((exit) => void (called.delete(batch) && end(exit)))
      }
      const traced = Traced.forAll(
        options.name,
        batch.map(({ span }) => span)
      )
      const fiber = runFork(Effect.interruptible(traced(effect)))
      fibers.add(fiber)
      fiber.addObserver((exit) => {
        fibers.delete(fiber)
        end(exit)
      })
    } catch (defect) {
      called.delete(batch)
      end(Exit.die(defect))
    }
  }

  /** Takes as many questions as fit into a batch, and one at least. */
  const takeBatch = (): Batch => {
    let count = 0
    let size = 0
    while (count < waiting.length) {
      const next = sizeOf(waiting[count]!.question)
      if (count > 0 && size + next > options.batchMax) break
      size += next
      count++
    }
    const batch = waiting.slice(0, count)
    waiting = waiting.slice(count)
    waitingSize -= size
    Metered.add(queued, -batch.length)
    return batch
  }

  /** Sends what waits, batch after batch, until nothing is left. */
  const drain = () => {
    if (waiting.length === 0) inFlight--
    else if (permits === undefined) runBatch(takeBatch(), begin)
    else {
      permits.enter((leave) => {
        const next = () => {
          leave()
          begin()
        }
        // Another batch of this batcher may have taken all of it meanwhile.
        if (waiting.length === 0) next()
        else runBatch(takeBatch(), next)
      })
    }
  }

  /** Lets those ask who are about to. */
  const gather = (quiet: number, known: number) => {
    const left = waiting.length > known ? quietTurns : quiet
    if (left === 0 || waitingSize >= options.batchMax) return drain()
    const { length } = waiting
    turn(() => gather(left - 1, length))
  }

  const begin = () => (quietTurns === 0 ? later(drain) : gather(0, 0))

  const interrupted = Exit.interrupt(FiberId.none)
  whenClosed(
    Effect.suspend(() => {
      isClosed = true
      const left = [...called].flat().concat(waiting)
      called.clear()
      Metered.add(queued, -waiting.length)
      waiting = []
      waitingSize = 0
      return Effect.ensuring(
        Fiber.interruptAll(fibers),
        Effect.sync(() => left.forEach(({ answer }) => answer(interrupted)))
      )
    })
  )

  const submitThen: Batcher<A, B, E>["submitThen"] = (question, answer, span) => {
    const size = sizeOf(question)
    if (waitingSize + size > options.queueMax) return false
    if (isClosed) {
      answer(interrupted)
      return true
    }
    waiting.push({ question, answer, span })
    waitingSize += size
    Metered.add(queued)
    if (inFlight < options.inFlightMax) {
      inFlight++
      begin()
    }
    return true
  }

  const ask = (question: A): Effect.Effect<Effect.Effect<B, E>, QueueFull> =>
    Effect.withFiberRuntime<Effect.Effect<B, E>, QueueFull>((fiber) => {
      const answered = Deferred.unsafeMake<B, E>(FiberId.none)
      const answer = (exit: Exit.Exit<B, E>) => Deferred.unsafeDone(answered, exit)
      return submitThen(question, answer, fiber.currentSpan)
        ? Effect.succeed(Deferred.await(answered))
        : new QueueFull({ queue: options.name })
    })

  return {
    ask,
    submitThen,
    submit: (question) => Effect.uninterruptibleMask((restore) => Effect.flatMap(ask(question), restore))
  }
}

/**
 * Natural batching: a question is sent at once when fewer than `inFlightMax` batches are on their way; else it waits
 * and goes with all others that wait, at most `batchMax` together. No timer, so an idle system adds no delay, and
 * the busier it is the larger the batches grow.
 *
 * `run` answers a batch in its order, one answer each, or fails it as a whole. A caller that is interrupted stops waiting; its
 * question is asked all the same. When the scope closes, callers that still wait are interrupted, and so is who asks later.
 */
export const make = <A, B, E>(
  options: BatcherOptions<A, B, E>
): Effect.Effect<Batcher<A, B, E>, never, Scope.Scope> => Effect.map(maker, (make) => make(options))

/** What makes batchers, all of one scope, without an effect each: a node has three for each partition. See {@link make}. */
export const maker: Effect.Effect<
  <A, B, E>(options: BatcherOptions<A, B, E>) => Batcher<A, B, E>,
  never,
  Scope.Scope
> = Effect.gen(function* () {
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  const isTraced = yield* FiberRef.get(FiberRef.currentTracerEnabled)
  const scheduler = yield* FiberRef.get(FiberRef.currentScheduler)
  const later: Turn = (next) => scheduler.scheduleTask(next, 0)
  const turn = (yield* GatheringTurn) ?? later
  const closes: Array<Effect.Effect<void>> = []
  yield* Effect.addFinalizer(() => Effect.all(closes, { discard: true, concurrency: "unbounded" }))
  return (options) =>
    makeIn({ isTraced, later, runFork, turn, whenClosed: (close) => void closes.push(close) }, options)
})
