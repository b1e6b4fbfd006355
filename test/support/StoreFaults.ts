import { Effect } from "effect"
import { mapOperations } from "../../src/storage/MapOperations.ts"
import { StorageError } from "../../src/storage/StorageError.ts"

/**
 * What a store does instead of its work: fail, fail the first time alone, or never answer, either so that waiting for it can be given up, or not even that
 * (as a driver that cannot be interrupted).
 */
export type Fault = "none" | "fails" | "fails once" | "silent" | "stuck"

/** The fault of each store; `leases` is what the pool hands out, `removing` the deletion of links of users who are gone. */
export type Faults = Record<
  | "links"
  | "removing"
  | "ranges"
  | "stock"
  | "leases"
  | "visits"
  | "accounts"
  | "audit"
  | "webhooks"
  | "domains",
  Fault
>

/** Gives the fault of a store each time; one that comes once is over then. */
export const faultOf = (faults: Faults, store: keyof Faults) => (): Fault => {
  const fault = faults[store]
  if (fault === "fails once") faults[store] = "none"
  return fault
}

/** A stuck call looks this often whether it may go on. */
const step = "20 millis"

/** The same store, whose every operation first asks for the fault of the moment. */
export const faulty = <S extends object>(store: S, current: () => Fault): S => {
  const away = new StorageError({ operation: "test", applied: "no", reason: "the test has broken it" })
  const healed = Effect.suspend(() => Effect.delay(Effect.void, step)).pipe(
    Effect.repeat({ until: () => current() === "none" })
  )
  const guard = (work: Effect.Effect<unknown, unknown>): Effect.Effect<unknown, unknown> =>
    Effect.suspend(() => {
      switch (current()) {
        case "none":
          return work
        case "fails":
        case "fails once":
          return away
        case "silent":
          return Effect.zipRight(healed, away)
        case "stuck":
          return Effect.uninterruptible(Effect.zipRight(healed, away))
      }
    })
  return mapOperations("test", store, (_, work) => guard(work))
}
