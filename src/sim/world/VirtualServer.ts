import { Data, Effect, Either } from "effect"
import type { Chance } from "./Chance.ts"
import type { Network } from "./Network.ts"
import { ms_us } from "./Time.ts"
import type { VirtualProcess } from "./VirtualProcess.ts"
import type { World } from "./World.ts"

/** A call that was not answered; `applied` as with `StorageError`. */
export class CallFailed extends Data.TaggedError("CallFailed")<{
  readonly operation: string
  readonly applied: "no" | "unknown"
  readonly reason: string
}> {}

/** How calls of a server fare. Probabilities are of each call. */
export interface CallFaults {
  /** It fails before it is sent. */
  readonly refused: number
  /** It is applied, and its answer is lost: the caller waits until its time is over, or until it hears that its connection broke. */
  readonly lost: number
  /** It is not applied, and not answered either. */
  readonly ignored: number
  /** How likely one that is lost or ignored has broken its connection, which the caller hears at once. */
  readonly broken?: number | undefined
  /** Of stores: see `FaultOptions`. */
  readonly single?: (CallFaults & { readonly at: ReadonlyArray<string> }) | undefined
  /** Of operations of the database alone: see `FaultOptions`. */
  readonly first?: number | undefined
}

/** What holds for calls of an operation: what is said of single ones, where it is one of them. */
const ofOperation = <A>(
  operation: string,
  all: A & { readonly single?: (A & { readonly at: ReadonlyArray<string> }) | undefined }
): A => (all.single?.at.includes(operation) === true ? all.single : all)

/** How calls of an operation fare. */
export const faultsOf = (operation: string, faults: CallFaults): CallFaults =>
  ofOperation<CallFaults>(operation, faults)

/** How likely a call arrives late, and how likely its answer does; each by up to `most_ms`. */
export interface SlowCalls {
  readonly probability: number
  readonly most_ms: number
  /** See `FaultOptions`. */
  readonly single?: { readonly probability: number; readonly at: ReadonlyArray<string> } | undefined
}

/** What becomes of a process that makes a call: it may be killed right then. Told before the call is sent, and when its answer has come. */
export type CrashPoint = (process: VirtualProcess, operation: string) => void

/** Is told of each call whose caller does not learn what came of it: it failed, or its caller was interrupted after `interrupted_us`; or that failed, and certainly did nothing (`isUnsent`). */
export type Unanswered = (
  process: VirtualProcess,
  operation: string,
  interrupted_us?: number,
  isUnsent?: true
) => void

/** See `Meetings.begin`. */
export type Begins = (process: string, operation: string) => () => void

/** What a server is. */
export interface ServerOptions {
  readonly name: string
  readonly faults: () => CallFaults
  readonly slow?: (() => SlowCalls) | undefined
  /** How long a caller waits for an answer. */
  readonly answerMax_ms: number
  /** Whether calls of one process arrive in their order, as on one connection. */
  readonly inOrder: boolean
  readonly crashPoint: CrashPoint
  readonly unanswered?: Unanswered
  /** Is told when a process begins a call; what it returns is called at the end. */
  readonly begins?: Begins
}

/** Why a call failed that was not answered in time. */
export const unansweredInTime = "it was not answered in time"

interface Pending {
  readonly fail: (applied: "no" | "unknown", reason: string) => void
}

/** A server on a machine of its own: what is called at it happens at one moment, there, or not at all. */
export class VirtualServer {
  readonly world: World
  readonly network: Network
  readonly name: string
  isUp = true
  /** How often each operation was called. */
  readonly calls = new Map<string, number>()
  readonly #options: ServerOptions
  readonly #chance: Chance
  readonly #slowness: Chance
  readonly #breaks: Chance
  readonly #pending = new Set<Pending>()
  readonly #lastArrival_us = new Map<string, number>()
  readonly #onStop: Array<() => void> = []
  #runs = 1

  constructor(world: World, network: Network, options: ServerOptions) {
    this.world = world
    this.network = network
    this.name = options.name
    this.#options = options
    this.#chance = world.chance(`calls of ${options.name}`)
    this.#slowness = world.chance(`slow calls of ${options.name}`)
    this.#breaks = world.chance(`broken calls of ${options.name}`)
  }

  /** Is told each time that it stops: what lives on the same machine stops with it. */
  whenStopped(then: () => void) {
    this.#onStop.push(then)
  }

  /** Stops for a time. What is under way is not answered: it happened or not. */
  stop(for_us: number) {
    this.isUp = false
    const run = ++this.#runs
    for (const pending of Array.from(this.#pending)) pending.fail("unknown", "the connection was reset")
    this.#onStop.forEach((then) => then())
    this.world.after(for_us, null, () => {
      if (run === this.#runs) this.isUp = true
    })
  }

  /** Is back at once. */
  start() {
    this.#runs++
    this.isUp = true
  }

  /** Calls the server, as `send` does. A caller that is interrupted or killed does not call the call back. */
  call<A>(process: VirtualProcess, operation: string, apply: () => A): Effect.Effect<A, CallFailed> {
    return Effect.async<A, CallFailed>((resume) => {
      const called_us = this.world.now_us
      const leave = this.send(process, operation, apply, this.#options.answerMax_ms, resume)
      return Effect.sync(() => leave(this.world.now_us - called_us))
    })
  }

  /**
   * Sends a call from a process: `apply` is what happens at the server, at one moment. Calls `then` with its answer, which is waited for so long at most. Gives what has the caller wait no longer; `interrupted_us`: how long it
   * did, where that is its own wish.
   */
  send<A>(
    process: VirtualProcess,
    operation: string,
    apply: () => A,
    answerMax_ms: number,
    then: (answer: Either.Either<A, CallFailed>) => void
  ): (interrupted_us?: number) => void {
    this.calls.set(operation, (this.calls.get(operation) ?? 0) + 1)
    this.#options.crashPoint(process, operation)
    if (!process.isAlive) return () => {}
    let isSettled = false
    const end = this.#options.begins?.(process.id, operation)
    const leave = () => {
      isSettled = true
      end?.()
      if (timer !== undefined) timer.isCancelled = true
      this.#pending.delete(pending)
    }
    const settle = (answer: Either.Either<A, CallFailed>) => {
      if (isSettled) return
      leave()
      then(answer)
    }
    const fail = (applied: "no" | "unknown", reason: string) => {
      if (!isSettled)
        this.#options.unanswered?.(process, operation, undefined, applied === "no" ? true : undefined)
      settle(Either.left(new CallFailed({ operation, applied, reason })))
    }
    const pending: Pending = {
      fail: (applied, reason) => this.world.after(0, process, () => process.post(() => fail(applied, reason)))
    }
    const timer = Number.isFinite(answerMax_ms)
      ? this.world.after(answerMax_ms * ms_us, process, () =>
          process.post(() => fail("unknown", unansweredInTime))
        )
      : undefined
    const all = this.#options.faults()
    const faults = faultsOf(operation, all)
    if (this.#chance.happens(faults.refused)) pending.fail("no", "the connection failed")
    else {
      this.#pending.add(pending)
      const answer = (then: () => void) =>
        this.after(this.late_us(operation), () =>
          this.network.deliver(this.name, process.name, () => {
            if (!process.isAlive) return
            this.#options.crashPoint(process, operation)
            process.post(then)
          })
        )
      this.#arriveFrom(
        process,
        this.late_us(operation),
        () => {
          const gone = !process.isAlive && this.#chance.happens(0.5)
          const unanswered = () => {
            if (this.#breaks.happens(all.broken ?? 0)) answer(() => fail("unknown", "the connection broke"))
          }
          if (gone) return
          if (this.#chance.happens(faults.ignored)) return unanswered()
          if (!this.isUp) return answer(() => fail("no", "connection refused"))
          const result = apply()
          this.world.tell(process.id, operation, isSettled ? "(nobody waits)" : "")
          if (this.#chance.happens(faults.lost)) return unanswered()
          answer(() => settle(Either.right(result)))
        },
        () => !isSettled && process.isAlive
      )
    }
    return (interrupted_us) => {
      if (!isSettled) this.#options.unanswered?.(process, operation, interrupted_us)
      leave()
    }
  }

  /** How late a call of an operation is, or its answer: mostly not at all. */
  late_us(operation: string): number {
    const slow = this.#options.slow?.()
    if (slow === undefined) return 0
    const { probability } = ofOperation<Pick<SlowCalls, "probability">>(operation, slow)
    if (probability === 0 || !this.#slowness.happens(probability)) return 0
    return this.#slowness.below(slow.most_ms * ms_us + 1)
  }

  /** Has something happen so much later: at once where it is not late. */
  after(late_us: number, then: () => void) {
    if (late_us === 0) then()
    else this.world.after(late_us, null, then)
  }

  #arriveFrom(process: VirtualProcess, late_us: number, arrive: () => void, isWanted: () => boolean) {
    if (!this.#options.inOrder)
      return this.after(late_us, () => this.network.deliver(process.name, this.name, arrive, isWanted))
    const last_us = this.#lastArrival_us.get(process.id) ?? 0
    const at_us = Math.max(last_us + 1, this.world.now_us + late_us + this.network.latency_us())
    this.#lastArrival_us.set(process.id, at_us)
    const attempt = () => {
      if (!this.network.isCut(process.name, this.name)) return arrive()
      if (isWanted()) this.world.after(200 * ms_us, null, attempt)
    }
    this.world.after(at_us - this.world.now_us, null, attempt)
  }
}
