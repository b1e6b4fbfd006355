import type { Checker, Violation } from "../../Evidence.ts"

/**
 * C9: when the database forgets commits, no minted key that was acknowledged is given to another link: it is lost with its link, or free again when that has ended and its quarantine is
 * over.
 */
export const Forgotten: Checker = {
  name: "forgotten keys",
  seesForgotten: true,
  check: ({ exchanges, journal }) => {
    if (!journal.some(({ tag }) => tag === "database forgot")) return []
    const violations: Array<Violation> = []
    const given = exchanges
      .filter(
        ({ alias, isReplay, kind, status }) =>
          kind === "create" && status === 201 && alias === undefined && !isReplay
      )
      .toSorted((one, other) => one.answered_us! - other.answered_us!)
    /** What keys were acknowledged for, until they are free again; and which have ended since they were bound. */
    const holders = new Map<string, string>()
    const ended = new Set<string>()
    let next = 0
    for (const entry of journal) {
      for (; next < given.length && given[next]!.answered_us! <= entry.at_us; next++) {
        const { key, url } = given[next]!
        if (key !== undefined && !holders.has(key)) holders.set(key, url!)
      }
      const key = "link" in entry ? entry.link.key : "key" in entry ? entry.key : undefined
      if (key === undefined) continue
      if (entry.tag === "deleted" || entry.tag === "expired") ended.add(key)
      if (entry.tag === "freed" && ended.has(key)) holders.delete(key)
      if (entry.tag !== "bound") continue
      ended.delete(key)
      const holder = holders.get(key)
      if (holder === undefined || entry.link.url === holder) continue
      violations.push({
        checker: Forgotten.name,
        at_us: entry.at_us,
        text: `${key} was acknowledged for ${holder}, and bound to ${entry.link.url}, by ${entry.by}`,
        keys: [key]
      })
    }
    return violations
  }
}
