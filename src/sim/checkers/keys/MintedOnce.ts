import type { RangeSlot } from "../../../storage/keys/KeyRangeStore.ts"
import type { Checker, Violation } from "../../Evidence.ts"

const nameOf = ({ length, range }: RangeSlot) => `range ${range} of ${length}`

/**
 * C1: the numbers of a range are passed over once and in order, but for what the database has forgotten, a number is made into a key once and only when the durable watermark has
 * passed it, and the key is the one that the deployment's order has for it: two orders of one key space would collide. Of keys that are drawn at random only the numbers are judged.
 */
export const MintedOnce: Checker = {
  name: "minted once",
  seesForgotten: true,
  check: ({ journal, mint }) => {
    const violations: Array<Violation> = []
    const found = (at_us: number, text: string, keys: ReadonlyArray<string> = []) =>
      violations.push({ checker: MintedOnce.name, at_us, text, keys })
    /** As the database has them, and the greatest that it ever had: what it forgets may be on its way. */
    const watermarks = new Map<string, number>()
    const reached = new Map<string, number>()
    const minted = new Set<string>()
    for (const entry of journal) {
      if (entry.tag === "advanced") {
        const { at_us, count, first, slot } = entry
        reached.set(nameOf(slot), Math.max(reached.get(nameOf(slot)) ?? 0, first + count))
        if (entry.isInVain === true) continue
        const next = watermarks.get(nameOf(slot)) ?? 0
        if (first < next) found(at_us, `${nameOf(slot)} gave ${first} out again, from ${next} on it may`)
        watermarks.set(nameOf(slot), Math.max(next, first + count))
      }
      if (entry.tag === "database forgot" || entry.tag === "recovered") {
        watermarks.clear()
        entry.watermarks.forEach((mark) => watermarks.set(nameOf(mark), mark.next))
      }
      if (entry.tag !== "minted") continue
      const { at_us, first, keys, slot } = entry
      const next = reached.get(nameOf(slot)) ?? 0
      if (first + keys.length > next)
        found(
          at_us,
          `${nameOf(slot)} minted up to ${first + keys.length}, and its watermark is ${next}`,
          keys
        )
      if (mint === undefined) continue
      const right = mint(slot, first, keys.length)
      keys.forEach((key, index) => {
        if (key !== right[index]) found(at_us, `${key} is not the deployment's key for its number`, [key])
        if (minted.has(key)) found(at_us, `${key} was minted a second time, by ${entry.by}`, [key])
        minted.add(key)
      })
    }
    return violations
  }
}
