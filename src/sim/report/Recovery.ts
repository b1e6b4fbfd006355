import { Schema } from "effect"
import type { Evidence } from "../Evidence.ts"
import { ms_us } from "../world/Time.ts"

/** How long it took after a fault until a create and a redirect that were sent afterwards had been answered. */
export const Recovery = Schema.Struct({
  /** The kind of fault; `heal` is the end of all of them. */
  fault: Schema.String,
  /** When the fault ended, in microseconds since the world's beginning. */
  ended_us: Schema.Number,
  recovery_ms: Schema.Number
})
/** See {@link Recovery}. */
export type Recovery = typeof Recovery.Type

/** After these faults a deployment has something to recover from. */
const measured: ReadonlySet<string> = new Set([
  "kill",
  "crash point",
  "databaseRestart",
  "databaseFailover",
  "databaseFull",
  "databaseReadOnly",
  "redisRestart",
  "redisFailover",
  "redisLoss",
  "redisFull"
])

/** A kill is over at once where other nodes go on; what else fails is over when it is back. */
const endings = ({ healed_us, options, strikes }: Evidence) => {
  const isOver = (name: string) => options.nodes > 1 && (name === "kill" || name === "crash point")
  return [
    ...strikes
      .filter(({ name }) => measured.has(name))
      .map(({ at_us, for_us, name }) => ({
        fault: name,
        at_us,
        ended_us: Math.min(healed_us, isOver(name) ? at_us : at_us + for_us)
      })),
    { fault: "heal", at_us: healed_us, ended_us: healed_us }
  ]
}

/**
 * The recoveries of a run, after the faults whose aftermath no other one disturbed. Clients ask some times a second, so the figures are
 * that coarse.
 */
export const recoveriesOf = (evidence: Evidence): ReadonlyArray<Recovery> => {
  const { exchanges, healed_us, strikes } = evidence
  const answered = (kind: "create" | "redirect", from_us: number) => {
    let first_us = Number.POSITIVE_INFINITY
    for (const exchange of exchanges) {
      const { answered_us, sent_us, status } = exchange
      if (exchange.kind !== kind || sent_us < from_us || answered_us === undefined) continue
      if (status > 0 && status < 500) first_us = Math.min(first_us, answered_us)
    }
    return first_us
  }
  return endings(evidence).flatMap(({ at_us, ended_us, fault }) => {
    const recovered_us = Math.max(answered("create", ended_us), answered("redirect", ended_us))
    const isDisturbed = strikes.some(
      (other) =>
        !(other.name === fault && other.at_us === at_us) &&
        other.at_us < Math.min(recovered_us, healed_us) &&
        Math.min(healed_us, other.at_us + other.for_us) > ended_us
    )
    return isDisturbed || !Number.isFinite(recovered_us)
      ? []
      : [{ fault, ended_us, recovery_ms: (recovered_us - ended_us) / ms_us }]
  })
}

/** The longest recovery after each kind of fault. */
export const worstOf = (recoveries: Iterable<Recovery>): ReadonlyArray<Recovery> => {
  const worst = new Map<string, Recovery>()
  for (const recovery of recoveries) {
    if (recovery.recovery_ms > (worst.get(recovery.fault)?.recovery_ms ?? -1))
      worst.set(recovery.fault, recovery)
  }
  return Array.from(worst.values())
}
