import type { Checker } from "../../Evidence.ts"
import { s_us } from "../../world/Time.ts"

/** How long a step may be under way, at most, that began before its machine's clock jumped. */
const underWay_us = 10 * s_us

/**
 * A process that is told the time by its own machine goes by the true time, whether its clock is right or has jumped, before its start or afterwards; and ends no link and frees no key while that clock is wrong.
 */
export const MachineTime: Checker = {
  name: "machine time",
  check: ({ journal }) => {
    let wrongSince_us = Number.POSITIVE_INFINITY
    return journal.flatMap((entry) => {
      const { at_us, by, tag } = entry
      if (tag === "machine clock") {
        if (entry.ahead_us === 0) wrongSince_us = Number.POSITIVE_INFINITY
        else wrongSince_us = Math.min(wrongSince_us, at_us)
        return []
      }
      const violation = (text: string, keys: ReadonlyArray<string> = []) => [
        { checker: MachineTime.name, at_us, text: `${by} ${text}`, keys }
      ]
      if (tag === "kept wrong time") return violation(`went by a time that was ${entry.off_ms} ms ahead`)
      if ((tag === "expired" || tag === "freed") && at_us > wrongSince_us + underWay_us)
        return violation(`ended or freed ${entry.key} while its machine's clock was wrong`, [entry.key])
      return []
    })
  }
}
