import { choiceNames, isSameChoice, saidOf, shownOf } from "../../clients/Choices.ts"
import { domainKeyOf } from "../../../keys/QualifiedKey.ts"
import type { Link } from "../../../model/Link.ts"
import { hostOf } from "../../deployment/FurtherDomains.ts"
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

/** What is given out for a link that is stored by a text. */
const shortUrlOf = (text: string): string => {
  const { domain, key } = domainKeyOf(text)
  return `http://${hostOf(domain)}/${key}`
}

/** Whether an answer shows a version of a link, but for its visits. */
export const isShownAs = ({ link }: Version, shown: ShownLink): boolean =>
  shown.url === link.url &&
  shown.shortUrl === shortUrlOf(link.key) &&
  shown.custom === link.custom &&
  Date.parse(shown.createdAt) === link.createdAt &&
  Date.parse(shown.updatedAt) === link.updatedAt &&
  (shown.expiresAt === null ? null : Date.parse(shown.expiresAt)) === link.expiresAt &&
  isImportedAs(link, shown) &&
  choiceNames.every((name) => isSameChoice(saidOf(shown, name), shownOf(link, name)))

/** The visits of a key: when they happened, and when the store has taken how many. */
interface KeyVisits {
  readonly happened_us: Array<number>
  /** Those of people among them. */
  readonly people_us: Array<number>
  readonly counted: Array<{ readonly at_us: number; readonly visits: number }>
}

/** The visits of a journal, by the texts of their keys. */
export const visitsOf = ({ journal }: Evidence) => {
  const all = new Map<string, KeyVisits>()
  const of = (key: string): KeyVisits => {
    const known = all.get(key) ?? { happened_us: [], people_us: [], counted: [] }
    all.set(key, known)
    return known
  }
  for (const entry of journal) {
    const { at_us } = entry
    if (entry.tag === "visited") {
      const { happened_us, people_us } = of(entry.key)
      happened_us.push(at_us)
      if (entry.counted?.isBot === false) people_us.push(at_us)
    }
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
  // Of other visitors it is not noted what they are counted as.
  const areToldApart = options.workload.varied === 0
  const areAllKnown = options.databases === 1 && !journal.some(({ tag }) => tag === "database forgot")
  return (
    all: ReadonlyArray<Life>,
    may: ReadonlyArray<Life>,
    { answered_us, sent_us }: { readonly answered_us: number; readonly sent_us: number },
    { bots, nonBots, total, unavailable }: ShownLink["visits"]
  ): string | undefined => {
    const [first] = may
    // What it is shown as is wrong then.
    if (first === undefined) return undefined
    const visited = visits(first.link.key)
    const from_us = all.length === 1 ? 0 : first.bound_us
    const isOf = (at_us: number) => at_us >= from_us && at_us <= answered_us
    const happened = visited.happened_us.filter(isOf).length
    const people = visited.people_us.filter(isOf).length
    const counted = visited.counted.reduce((sum, one) => (one.at_us < sent_us ? sum + one.visits : sum), 0)
    // An answer that was lost may have been one of them.
    if (total > happened) return `is shown with ${total} visits, and was visited ${happened} times`
    if (
      areToldApart &&
      nonBots !== undefined &&
      (nonBots + bots! !== total || nonBots > people || bots! > happened - people)
    )
      return `is shown with ${nonBots} visits of people and ${bots} of bots of ${total}, and was visited by ${people} people ${happened} times`
    return unavailable !== true && areAllKnown && all.length === 1 && total < counted
      ? `is shown with ${total} visits, of which the store had ${counted}`
      : undefined
  }
}
