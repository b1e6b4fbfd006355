import { Context, Data, Deferred, Effect, Exit, FiberId, Runtime, type Scope, type Tracer } from "effect"
import * as Metered from "../telemetry/Metered.ts"
import * as Traced from "../telemetry/Traced.ts"

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
   * Asks one question without an effect; `false`, and nothing is asked, when `queueMax` are waiting. `answer` is called once, by the fiber of the batch, and must
   * not throw. `span`: that of who asks, where requests are traced.
   */
  readonly submitThen: (
    question: A,
    answer: (exit: Exit.Exit<B, E>) => void,
    span?: Tracer.AnySpan
  ) => boolean
}

/**
 * What a batch waits for while it gathers: by default a turn of the scheduler, in which all fibers go on that can. A node waits for a turn of the event loop ({@link eventLoopTurn}).
 */
export class GatheringTurn extends Context.Reference<GatheringTurn>()("linkmint/GatheringTurn", {
  defaultValue: (): Effect.Effect<void> => Effect.yieldNow()
}) {}

/** Waits until the event loop has looked at all connections on which something has come: the requests that it finds go into one batch. */
export const eventLoopTurn: Effect.Effect<void> = Effect.async((resume) => {
  // eslint-disable-next-line eslint/no-restricted-globals
  setImmediate(() => resume(Effect.void))
})

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
}

const makeIn = <A, B, E>(
  scope: Scope.Scope,
  runtime: Runtime.Runtime<never>,
  turn: Effect.Effect<void>,
  options: BatcherOptions<A, B, E>
): Batcher<A, B, E> => {
  const { quietTurns = 0, sizeOf = () => 1 } = options
  const queued = Metered.gauge("linkmint_queue_waiting", "Questions that wait for the next batch", {
    queue: options.kind
  })
  let waiting: Array<Waiting<A, B, E>> = []
  let waitingSize = 0
  let inFlight = 0

  /** Suspended, so that a `run` that throws fails its batch like one that dies. */
  const runBatch = (batch: ReadonlyArray<Waiting<A, B, E>>) =>
    Effect.suspend(() => options.run(batch.map(({ question }) => question))).pipe(
      Traced.forAll(
        options.name,
        batch.map(({ span }) => span)
      ),
      Effect.interruptible,
      Effect.matchCause({
        onFailure: (cause) => batch.forEach(({ answer }) => answer(Exit.failCause(cause))),
        onSuccess: (answers) => batch.forEach(({ answer }, index) => answer(Exit.succeed(answers[index]!)))
      })
    )

  /** Lets those ask who are about to. */
  const gather = (quiet: number, known: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (waitingSize >= options.batchMax) return Effect.void
      const left = waiting.length > known ? quietTurns : quiet
      return left === 0 ? Effect.void : Effect.zipRight(turn, gather(left - 1, waiting.length))
    })

  /** Takes as many questions as fit into a batch, and one at least. */
  const takeBatch = (): ReadonlyArray<Waiting<A, B, E>> => {
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
    return batch
  }

  /**
   * Runs batches until none is left. Only `run` itself can be interrupted: every caller that waits gets an answer even when the scope
   * closes, since then each remaining `run` is interrupted before it begins.
   */
  const drainNow: Effect.Effect<void> = Effect.suspend(() => {
    if (waiting.length === 0) {
      inFlight--
      return Effect.void
    }
    const batch = takeBatch()
    Metered.add(queued, -batch.length)
    return Effect.zipRight(runBatch(batch), drain)
  })
  const drain =
    quietTurns === 0
      ? drainNow
      : Effect.zipRight(
          Effect.suspend(() => gather(0, 0)),
          drainNow
        )

  const hasRoom = (question: A) => waitingSize + sizeOf(question) <= options.queueMax

  /** Puts a question into the queue; gives whether a fiber has to be made for it. */
  const put = (asked: Waiting<A, B, E>): boolean => {
    waiting.push(asked)
    waitingSize += sizeOf(asked.question)
    Metered.add(queued)
    if (inFlight >= options.inFlightMax) return false
    inFlight++
    return true
  }

  const submitThen: Batcher<A, B, E>["submitThen"] = (question, answer, span) => {
    if (!hasRoom(question)) return false
    if (put({ question, answer, span })) {
      Runtime.runFork(runtime, Effect.uninterruptible(Effect.forkIn(drain, scope)))
    }
    return true
  }

  const ask = (question: A): Effect.Effect<Effect.Effect<B, E>, QueueFull> =>
    Effect.withFiberRuntime<Effect.Effect<B, E>, QueueFull>((fiber) => {
      const answered = Deferred.unsafeMake<B, E>(FiberId.none)
      const answer = (exit: Exit.Exit<B, E>) => Deferred.unsafeDone(answered, exit)
      if (!hasRoom(question)) return new QueueFull({ queue: options.name })
      const isFirst = put({ question, answer, span: fiber.currentSpan })
      return Effect.as(isFirst ? Effect.forkIn(drain, scope) : Effect.void, Deferred.await(answered))
    }).pipe(Effect.uninterruptible)

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
  const scope = yield* Effect.scope
  const runtime = yield* Effect.runtime()
  const turn = yield* GatheringTurn
  return (options) => makeIn(scope, runtime, turn, options)
})
