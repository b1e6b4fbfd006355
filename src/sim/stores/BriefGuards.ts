import { Context, Duration } from "effect"
import { GuardedCreates } from "../../storage/links/GuardedCreates.ts"

/** How long answers are kept in production, by the contract of the API. */
const kept = Duration.hours(24)

/** Has guards kept for `answersKept_s` where production keeps them for 24 hours, and for as much shorter where it keeps them for another time; `null` changes nothing. */
export const over =
  (answersKept_s: number | null) =>
  <Has>(ports: Context.Context<Has | GuardedCreates>): Context.Context<Has | GuardedCreates> => {
    if (answersKept_s === null) return ports
    const guarded = Context.get(ports as Context.Context<GuardedCreates>, GuardedCreates)
    const brief_ms = (keep_ms: number) => (keep_ms * answersKept_s) / Duration.toSeconds(kept)
    return Context.add(ports, GuardedCreates, {
      ...guarded,
      beginMany: (beginnings) =>
        guarded.beginMany(beginnings.map((one) => ({ ...one, keep_ms: brief_ms(one.keep_ms) }))),
      drop: (keep_ms, count) => guarded.drop(brief_ms(keep_ms), count)
    })
  }
