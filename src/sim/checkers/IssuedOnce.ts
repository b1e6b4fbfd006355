import type { Checker, Violation } from "../Evidence.ts"

/**
 * A key comes out of the pools once, unless Redis forgot that it had handed it out or lost its data: then the links' primary key
 * is what catches it.
 */
export const IssuedOnce: Checker = {
  name: "issued once",
  check: ({ faults, journal }) => {
    if ((faults.get("redisFailover") ?? 0) + (faults.get("redisLoss") ?? 0) > 0) return []
    const out = new Set<string>()
    const violations: Array<Violation> = []
    for (const entry of journal) {
      if (entry.tag === "returned") entry.keys.forEach((key) => out.delete(key))
      if (entry.tag !== "leased") continue
      for (const key of entry.keys) {
        if (out.has(key)) {
          const text = `${key} was leased a second time, by ${entry.by}`
          violations.push({ checker: IssuedOnce.name, at_us: entry.at_us, text, keys: [key] })
        }
        out.add(key)
      }
    }
    return violations
  }
}
