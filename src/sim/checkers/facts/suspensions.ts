import type { JournalEntry } from "../../Journal.ts"

/** When a user was disabled: infinite if they never were enabled again. */
export interface Suspension {
  readonly from_us: number
  until_us: number
}

/** When users were disabled, by their ids. */
export const suspensionsOf = (
  journal: ReadonlyArray<JournalEntry>
): ReadonlyMap<string, ReadonlyArray<Suspension>> => {
  const suspensions = new Map<string, Array<Suspension>>()
  for (const entry of journal) {
    const { at_us, tag } = entry
    if (tag === "user disabled" || tag === "user removed") {
      const own = suspensions.get(entry.user) ?? []
      suspensions.set(entry.user, [...own, { from_us: at_us, until_us: Number.POSITIVE_INFINITY }])
    }
    if (tag === "user enabled") suspensions.get(entry.user)!.at(-1)!.until_us = at_us
  }
  return suspensions
}
