import { Deferred, Effect, FiberId } from "effect"
import { mapOperations, type Operation } from "../../src/storage/MapOperations.ts"
import { StorageError } from "../../src/storage/StorageError.ts"

/**
 * What becomes of a call:
 * - `pass`: it is applied and answered.
 * - `refuse`: it fails without being applied, and says so.
 * - `lose`: it is applied, and its answer is lost.
 * - `hang`: it is not applied and never answered, or only when its node dies.
 * - `hang after`: it is applied, and never answered.
 * - `die`: it is applied and ends as a defect.
 * - `stop`: it is applied, and whoever made it is interrupted, as an actor is that must stop.
 * - an effect: it passes when the effect has ended.
 */
export type Verdict =
  "pass" | "refuse" | "lose" | "hang" | "hang after" | "die" | "stop" | Effect.Effect<unknown>

/** Tells each call what becomes of it. */
export type Rule = (call: Operation) => Verdict

const pass: Rule = () => "pass"

/** The faults of one node's ports. */
export interface Faults {
  /** The rule from now on; none lets every call pass. */
  readonly set: (rule?: Rule) => void
  /** Fails every call from now on, and those that hang: nothing of this node reaches a store any more. */
  readonly kill: Effect.Effect<void>
  /** The same port under these faults; its operations go by the name. */
  readonly over: <S extends object>(name: string, port: S) => S
  /** Operations so far, in their order. */
  readonly operations: () => ReadonlyArray<string>
  /** Waits until an operation has been called `times` times in all. */
  readonly called: (operation: string, times?: number) => Effect.Effect<void>
}

/** A rule for the next call of an operation alone; later ones pass. */
export const once = (operation: string, verdict: Verdict): Rule => {
  let armed = true
  return (call) => {
    if (!armed || call.operation !== operation) return "pass"
    armed = false
    return verdict
  }
}

/** A rule for every call of some operations. */
export const always =
  (verdict: Verdict, ...operations: ReadonlyArray<string>): Rule =>
  (call) =>
    operations.includes(call.operation) ? verdict : "pass"

/** A rule for every call. */
export const all =
  (verdict: Verdict): Rule =>
  () =>
    verdict

/** No faults to begin with. */
export const make: Effect.Effect<Faults> = Effect.sync(() => {
  let rule = pass
  let isDead = false
  const dead = Deferred.unsafeMake<never, StorageError>(FiberId.none)
  const operations: Array<string> = []

  const failure = (operation: string, applied: "no" | "unknown", reason: string) =>
    new StorageError({ operation, applied, reason })

  const judge = (call: Operation, apply: Effect.Effect<unknown, unknown>) =>
    Effect.suspend((): Effect.Effect<unknown, unknown> => {
      const { operation } = call
      if (isDead) return failure(operation, "unknown", "the node is dead")
      operations.push(operation)
      const verdict = rule(call)
      switch (verdict) {
        case "pass":
          return apply
        case "refuse":
          return failure(operation, "no", "refused")
        case "lose":
          return Effect.zipRight(apply, failure(operation, "unknown", "the answer was lost"))
        case "hang":
          return Deferred.await(dead)
        case "hang after":
          return Effect.zipRight(apply, Deferred.await(dead))
        case "die":
          return Effect.zipRight(apply, Effect.dieMessage(`${operation} is broken`))
        case "stop":
          return Effect.zipRight(apply, Effect.interrupt)
        default:
          return Effect.zipRight(verdict, apply)
      }
    })

  return {
    set: (next = pass) => {
      rule = next
    },
    kill: Effect.suspend(() => {
      isDead = true
      return Deferred.fail(dead, failure("any", "unknown", "the node is dead"))
    }),
    over: (name, port) => mapOperations(name, port, judge),
    operations: () => operations,
    called: (operation, times = 1) =>
      Effect.yieldNow().pipe(
        Effect.repeat({ until: () => operations.filter((name) => name === operation).length >= times }),
        Effect.asVoid
      )
  }
})
