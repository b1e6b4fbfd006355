import { choiceNames, choiceOf, isSameChoice, saidOf } from "../../clients/Choices.ts"
import type { Link } from "../../../model/Link.ts"
import type { Evidence } from "../../Evidence.ts"
import type { ShownLink } from "../../History.ts"
import type { Life, Version } from "./lives.ts"

/** Whether an answer says what visits a link brought along from elsewhere. */
export const isImportedAs = (
  { importedVisits }: Link,
  shown: { readonly importedVisits?: ShownLink["importedVisits"] }
): boolean =>
  isSameChoice(
    shown.importedVisits,
    importedVisits && { ...importedVisits, total: importedVisits.nonBots + importedVisits.bots }
  )

/** Whether an answer shows a version of a link, but for its visits. */
export const isShownAs = ({ link }: Version, shown: ShownLink): boolean =>
  shown.url === link.url &&
  Date.parse(shown.createdAt) === link.createdAt &&
  Date.parse(shown.updatedAt) === link.updatedAt &&
  (shown.expiresAt === null ? null : Date.parse(shown.expiresAt)) === link.expiresAt &&
  isImportedAs(link, shown) &&
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

/**
 * What is wrong with the total of a link's visits in an answer, of which it may be any of `may`: there were no more, and no fewer than the store had taken when that was asked for, unless another link has had the
 * key.
 */
export const wrongTotalsOf = (evidence: Evidence) => {
  const { journal, options } = evidence
  const visits = visitsOf(evidence)
  const areAllKnown = options.databases === 1 && !journal.some(({ tag }) => tag === "database forgot")
  return (
    all: ReadonlyArray<Life>,
    may: ReadonlyArray<Life>,
    { answered_us, sent_us }: { readonly answered_us: number; readonly sent_us: number },
    { total, unavailable }: ShownLink["visits"]
  ): string | undefined => {
    const [first] = may
    // What it is shown as is wrong then.
    if (first === undefined) return undefined
    const visited = visits(first.link.key)
    const from_us = all.length === 1 ? 0 : first.bound_us
    const happened = visited.happened_us.filter((at_us) => at_us >= from_us && at_us <= answered_us).length
    const counted = visited.counted.reduce((sum, one) => (one.at_us < sent_us ? sum + one.visits : sum), 0)
    // An answer that was lost may have been one of them.
    if (total > happened) return `is shown with ${total} visits, and was visited ${happened} times`
    return unavailable !== true && areAllKnown && all.length === 1 && total < counted
      ? `is shown with ${total} visits, of which the store had ${counted}`
      : undefined
  }
}
