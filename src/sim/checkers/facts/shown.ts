import { choiceNames, choiceOf, isSameChoice, saidOf } from "../../clients/Choices.ts"
import type { Evidence } from "../../Evidence.ts"
import type { ShownLink } from "../../History.ts"
import type { Version } from "./lives.ts"

/** Whether an answer shows a version of a link, but for its visits. */
export const isShownAs = ({ link }: Version, shown: ShownLink): boolean =>
  shown.url === link.url &&
  (shown.expiresAt === null ? null : Date.parse(shown.expiresAt)) === link.expiresAt &&
  choiceNames.every((name) => isSameChoice(saidOf(shown, name), choiceOf(link, name)))

/** The visits of a key: when they happened, and when the store has taken how many. */
interface KeyVisits {
  readonly happened_us: Array<number>
  readonly counted: Array<{ readonly at_us: number; readonly visits: number }>
}

/** The visits of a journal, by the texts of their keys. */
export const visitsOf = ({ journal }: Evidence) => {
  const all = new Map<string, KeyVisits>()
  const of = (key: string): KeyVisits => {
    const known = all.get(key) ?? { happened_us: [], counted: [] }
    all.set(key, known)
    return known
  }
  for (const entry of journal) {
    const { at_us } = entry
    if (entry.tag === "visited") of(entry.key).happened_us.push(at_us)
    if (entry.tag === "counted")
      for (const [key, visits] of entry.visits) of(key).counted.push({ at_us, visits })
  }
  return of
}
