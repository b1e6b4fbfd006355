import {
  Cause,
  Context,
  DefaultServices,
  Effect,
  Exit,
  FiberId,
  FiberRef,
  FiberRefs,
  FiberStatus,
  Inspectable,
  Predicate,
  RuntimeFlags,
  Tracer
} from "effect"
import * as GlobalValue from "effect/GlobalValue"
import { type YieldWrap, yieldWrapGet } from "effect/Utils"

/**
 * A loop that runs fibers as that of Effect 3.22 does, instruction by instruction, at a lower cost. Effect's makes three closures for an instruction, and looks its method
 * up by name; fibers are most of what a simulation does. What it does not know it leaves to Effect's. A run has the same digest with either.
 */

/** An instruction of a fiber, or a frame of its stack, as Effect's interpreter has them. */
interface Op {
  readonly _op: string
  readonly effect_instruction_i0?: unknown
  readonly effect_instruction_i1?: unknown
  readonly effect_instruction_i2?: unknown
  readonly commit?: () => Op
  /** Of a frame that gives back runtime flags. */
  readonly patch?: number
}

/** A fiber reference's values, the newest first, and who set them. */
type Values = readonly [readonly [by: unknown, value: unknown], ...ReadonlyArray<unknown>]

/** What this needs of Effect's `FiberRuntime`. */
interface Fiber {
  currentOpCount: number
  currentRuntimeFlags: number
  readonly currentTracer: unknown
  readonly currentSupervisor: { readonly onEffect: (fiber: Fiber, effect: Op) => void }
  readonly currentScheduler: { readonly shouldYield: (fiber: Fiber) => number | false }
  readonly _fiberId: FiberId.Single
  _fiberRefs: { readonly locals: ReadonlyMap<unknown, Values> }
  _isYielding: boolean
  readonly _queue: ReadonlyArray<unknown>
  readonly _stack: Array<Op>
  readonly drainQueueWhileRunning: (flags: number, effect: Op) => Op
}

type Step = (this: Fiber, op: Op) => Op | symbol

/** The methods of `FiberRuntime` that are replaced. */
interface Methods {
  runLoop: (this: Fiber, effect: Op) => Op | symbol
  getFiberRef: (this: Fiber, ref: { readonly initial: unknown }) => unknown
  getFiberRefs: (this: Fiber) => Fiber["_fiberRefs"]
}

const prototype = Object.getPrototypeOf(Effect.runFork(Effect.void)) as Methods

/** What Effect does with each kind of instruction. */
const steps = prototype as unknown as Readonly<Record<string, Step>>

/** What Effect's interpreter gives where a fiber's effect ends or waits; the channel has which. */
const yielded = Symbol.for("effect/internal/fiberRuntime/YieldedOp")
const channel = GlobalValue.globalValue("effect/internal/fiberRuntime/yieldedOpChannel", () => ({
  currentOp: null as Op | null
}))

const nativeTracer = Context.get(DefaultServices.liveServices, Tracer.Tracer)

const interruption: number = RuntimeFlags.Interruption
const windDown: number = RuntimeFlags.WindDown
const supervision: number = RuntimeFlags.OpSupervision

const success = (value: unknown) => Exit.succeed(value) as unknown as Op
const failure = (cause: Cause.Cause<unknown>) => Exit.failCause(cause) as unknown as Op

/** As `RuntimeFlagsPatch` has it: which flags are changed in the lower byte, and to what in the upper one. */
const patched = (flags: number, patch: number): number => {
  const active = patch & 0xff
  const enabled = (patch >> 8) & 0xff
  return (flags & ((~active & 0xff) | enabled)) | (active & enabled)
}
const difference = (from: number, to: number): number => {
  const active = (from ^ to) & 0xff
  return active + ((to & active) << 8)
}

/** The cause of a fiber's interruption, if it has been interrupted and can be. */
const interruptedCause = (fiber: Fiber): Cause.Cause<never> | undefined => {
  if ((fiber.currentRuntimeFlags & (interruption | windDown)) !== interruption) return undefined
  const values = fiber._fiberRefs.locals.get(FiberRef.interruptedCause)
  if (values === undefined) return undefined
  const cause = values[0][1] as Cause.Cause<never>
  return Cause.isEmpty(cause) ? undefined : cause
}

const running: Array<FiberStatus.FiberStatus> = []

/** What a fiber is told to be in: made once for all flags, of which there are few. */
const statusOf = (flags: number) =>
  (running[flags] ??= FiberStatus.running(flags as RuntimeFlags.RuntimeFlags))

type Callback = (value: unknown) => Op

/** Goes on with a generator, until it gives an effect that is not done. */
const iterated = (fiber: Fiber, cont: Op, first: unknown): Op => {
  const iterator = cont.effect_instruction_i0 as Iterator<YieldWrap<unknown>, unknown, unknown>
  let value = first
  while (true) {
    const state = iterator.next(value)
    if (state.done === true) return success(state.value)
    const effect = yieldWrapGet(state.value) as Op
    if (effect._op === "Failure") return effect
    if (effect._op !== "Success") {
      fiber._stack.push(cont)
      return effect
    }
    value = effect.effect_instruction_i0
  }
}

/** Goes on with the next frame that takes a value. `ended` makes the exit, if there is none. */
const resumed = (fiber: Fiber, value: unknown, done: Op | undefined): Op | symbol => {
  const stack = fiber._stack
  let cont = stack.pop()
  while (cont !== undefined && cont._op === "OnFailure") cont = stack.pop()
  if (cont === undefined) {
    channel.currentOp = done ?? success(value)
    return yielded
  }
  switch (cont._op) {
    case "OnSuccess":
      return (cont as { effect_instruction_i1: Callback }).effect_instruction_i1(value)
    case "OnSuccessAndFailure":
      return (cont as { effect_instruction_i2: Callback }).effect_instruction_i2(value)
    case "RevertFlags": {
      fiber.currentRuntimeFlags = patched(fiber.currentRuntimeFlags, cont.patch!)
      const cause = interruptedCause(fiber)
      return cause === undefined ? (done ?? success(value)) : failure(cause)
    }
    case "Iterator":
      return iterated(fiber, cont, value)
    default:
      // A loop, or a step of a query: back onto the stack, for Effect's own way.
      stack.push(cont)
      return sound.succeed.call(fiber, done ?? success(value))
  }
}

class RevertFlags {
  readonly _op = "RevertFlags"
  readonly patch: number
  readonly op: Op

  constructor(patch: number, op: Op) {
    this.patch = patch
    this.op = op
  }
}

/** Carries out one instruction. */
const step = (fiber: Fiber, op: Op): Op | symbol => {
  switch (op._op) {
    case "Success":
      return resumed(fiber, op.effect_instruction_i0, op)
    case "OnSuccess":
    case "OnSuccessAndFailure":
    case "OnFailure":
      fiber._stack.push(op)
      return op.effect_instruction_i0 as Op
    case "Commit":
      return op.commit!()
    case "Sync":
      return resumed(
        fiber,
        (op as { effect_instruction_i0: () => unknown }).effect_instruction_i0(),
        undefined
      )
    case "UpdateRuntimeFlags": {
      const before = fiber.currentRuntimeFlags
      const flags = patched(before, op.effect_instruction_i0 as number)
      fiber.currentRuntimeFlags = flags
      const cause = interruptedCause(fiber)
      if (cause !== undefined) {
        fiber.currentRuntimeFlags = before
        return failure(cause)
      }
      if (op.effect_instruction_i1 === undefined) return Exit.void as unknown as Op
      fiber._stack.push(new RevertFlags(difference(flags, before), op))
      return (op as unknown as { effect_instruction_i1: (flags: number) => Op }).effect_instruction_i1(before)
    }
    case "WithRuntime":
      return (
        op as unknown as { effect_instruction_i0: (fiber: Fiber, status: FiberStatus.FiberStatus) => Op }
      ).effect_instruction_i0(fiber, statusOf(fiber.currentRuntimeFlags))
    case "Iterator":
      return iterated(fiber, op, undefined)
    default:
      return steps[op._op]!.call(fiber, op)
  }
}

/** What an instruction that throws has become of. */
const thrown = (op: unknown, error: unknown) => {
  if (!Predicate.hasProperty(op, "_op") || !((op._op as string) in prototype))
    return Effect.dieMessage(`Not a valid effect: ${Inspectable.toStringUnknown(op)}`)
  return Cause.isInterruptedException(error)
    ? Effect.failCause(Cause.sequential(Cause.die(error), Cause.interrupt(FiberId.none)))
    : Effect.die(error)
}

const runLoop: Methods["runLoop"] = function (effect) {
  if (this.currentTracer !== nativeTracer) return sound.runLoop.call(this, effect)
  let cur: Op | symbol = effect
  this.currentOpCount = 0
  while (true) {
    if ((this.currentRuntimeFlags & supervision) !== 0) this.currentSupervisor.onEffect(this, cur)
    if (this._queue.length > 0) cur = this.drainQueueWhileRunning(this.currentRuntimeFlags, cur)
    if (!this._isYielding) {
      this.currentOpCount++
      const priority = this.currentScheduler.shouldYield(this)
      if (priority !== false) {
        this._isYielding = true
        this.currentOpCount = 0
        const later: Op = cur
        cur = Effect.flatMap(Effect.yieldNow({ priority }), () => later as never) as unknown as Op
      }
    }
    try {
      const next = step(this, cur)
      if (typeof next === "symbol") {
        const op = channel.currentOp!
        if (op._op === "Yield" || op._op === "Async") return yielded
        channel.currentOp = null
        return op._op === "Success" || op._op === "Failure" ? op : failure(Cause.die(op))
      }
      cur = next
    } catch (error) {
      cur = thrown(cur, error) as unknown as Op
    }
  }
}

const getFiberRef: Methods["getFiberRef"] = function (ref) {
  const values = this._fiberRefs.locals.get(ref)
  return values === undefined ? ref.initial : values[0][1]
}

/** The fiber's references, among them its runtime flags as they are now: its caches of others stay as they are. */
const getFiberRefs: Methods["getFiberRefs"] = function () {
  const value = this.currentRuntimeFlags as RuntimeFlags.RuntimeFlags
  const fiberId = this._fiberId
  const fiberRef = FiberRef.currentRuntimeFlags
  const newest = this._fiberRefs.locals.get(fiberRef)?.[0]
  if (newest === undefined || newest[0] !== fiberId || newest[1] !== value)
    this._fiberRefs = FiberRefs.updateAs(this._fiberRefs as FiberRefs.FiberRefs, { fiberId, fiberRef, value })
  return this._fiberRefs
}

/** Effect's own methods. */
const sound: Methods & { readonly succeed: Step } = {
  runLoop: prototype.runLoop,
  getFiberRef: prototype.getFiberRef,
  getFiberRefs: prototype.getFiberRefs,
  succeed: steps["Success"]!
}

const own: Methods = { runLoop, getFiberRef, getFiberRefs }

/** Has all fibers of the program run by this loop, or by Effect's own. V8 throws optimised code away when this changes. */
export const useOwnLoop = (isOwn: boolean) => {
  const { getFiberRef: ref, getFiberRefs: refs, runLoop: loop } = isOwn ? own : sound
  Object.assign(prototype, { getFiberRef: ref, getFiberRefs: refs, runLoop: loop })
}
