import type { Checker, Evidence, Violation } from "../Evidence.ts"
import { choiceNames, choiceOf, isSameChoice } from "../clients/Choices.ts"
import type { Exchange } from "../History.ts"
import { s_us } from "../world/Time.ts"
import { domainsUnread } from "./facts/domainReads.ts"
import { knownOf } from "./facts/known.ts"
import { createdLinks, type Life, type Version } from "./facts/lives.ts"

/** What is read of a link that is shown. */
interface ShownLink extends Partial<Record<(typeof choiceNames)[number], unknown>> {
  readonly url: string
  readonly expiresAt: string | null
  readonly hasPassword: boolean
  readonly visitsLeft?: number
  readonly visits: { readonly total: number; readonly unavailable?: true }
}

const isAs = ({ link }: Version, shown: ShownLink): boolean =>
  shown.url === link.url &&
  shown.hasPassword === (link.passwordHash !== null) &&
  (shown.expiresAt === null ? null : Date.parse(shown.expiresAt)) === link.expiresAt &&
  choiceNames.every((name) => isSameChoice(shown[name] ?? null, choiceOf(link, name)))

/** How many visits of a key the store had by a time, and how many there had been by another one. */
const visitsOf = (
  { journal }: Evidence,
  key: string,
  { answered_us, sent_us }: { readonly sent_us: number; readonly answered_us: number }
) => {
  let counted = 0
  let happened = 0
  for (const entry of journal) {
    if (entry.at_us > answered_us) break
    if (entry.tag === "visited" && entry.key === key) happened++
    if (entry.tag === "counted" && entry.at_us < sent_us)
      for (const [of, visits] of entry.visits) if (of === key) counted += visits
  }
  return { counted, happened }
}

/**
 * Who asks for a link is shown it as it is, or as it was within the last second; one that is not deleted is found, by its own user alone where a user asks. It has no more visits than there were, and no fewer than the store had taken;
 * and no more visits are left of its limit than were not used.
 */
export const Shown: Checker = {
  name: "shown links",
  check: (evidence) => {
    const { exchanges, journal, lives, options, userKeys } = evidence
    const created = createdLinks(exchanges, lives)
    const { isExcused, versionsFor } = knownOf(evidence)
    const isUnread = domainsUnread(evidence)
    const hasForgotten = journal.some(({ tag }) => tag === "database forgot")
    const violations: Array<Violation> = []
    const userOf = new Map(userKeys.map(({ secret, user }) => [secret, user]))
    const redirected = exchanges.filter(({ kind, status }) => kind === "redirect" && status === 302)

    /** What it may be shown as. */
    const versionsOf = (all: ReadonlyArray<Life>, asked: Exchange): ReadonlyArray<Version> =>
      all.flatMap((life) => {
        const deleted_us = created.get(life)?.deleted_us ?? Number.POSITIVE_INFINITY
        const isGone =
          life.freed_us < asked.sent_us ||
          (deleted_us + s_us < asked.sent_us && !isExcused(asked.answeredBy, asked.sent_us, deleted_us))
        return life.bound_us > asked.answered_us! || isGone ? [] : versionsFor(life, asked)
      })

    for (const asked of exchanges) {
      const { answered_us, answeredBy, body, key, kind, number, sent_us, status } = asked
      if (kind !== "show" || key === undefined || answered_us === undefined) continue
      const found = (text: string) =>
        violations.push({
          checker: Shown.name,
          at_us: answered_us,
          text: `${key} ${text} (request ${number}), by ${answeredBy}`,
          keys: [key, `#${number}`]
        })
      const all = lives.get(key)
      if (all === undefined) continue
      const user = asked.apiKey === undefined ? undefined : userOf.get(asked.apiKey)
      const isOwn = ({ link }: Life) => user === undefined || link.owner === user
      if (status === 200 && !all.some(isOwn)) found(`is shown to ${user}, whose it is not`)
      if (status === 404) {
        const isThere = all.some(
          (life) =>
            isOwn(life) &&
            life.ended_us > answered_us &&
            sent_us > (created.get(life)?.create.answered_us ?? Number.POSITIVE_INFINITY)
        )
        if (isThere && !(key.includes("/") && isUnread(answeredBy, sent_us)))
          found("was created, and is shown to nobody")
      }
      if (status !== 200 || body === undefined) continue
      const shown = JSON.parse(body) as ShownLink
      const may = versionsOf(all, asked)
      if (!may.some((version) => isAs(version, shown)))
        found(`is shown as it should not be any more: ${JSON.stringify(shown)}`)
      if (all.length > 1) continue
      const { counted, happened } = visitsOf(evidence, key, { sent_us, answered_us })
      const { total, unavailable } = shown.visits
      // An answer that was lost may have been one of them.
      if (total > happened) found(`is shown with ${total} visits, and was visited ${happened} times`)
      if (unavailable !== true && !hasForgotten && options.databases === 1 && total < counted)
        found(`is shown with ${total} visits, of which the store had ${counted}`)
      const [{ versions }] = all as readonly [Life]
      const { maxVisits } = versions[0]!.link
      if (maxVisits === null || versions.some(({ link }) => link.maxVisits !== maxVisits)) continue
      const used = redirected.filter((one) => one.key === key && one.answered_us! < sent_us - s_us).length
      const { visitsLeft } = shown
      if (visitsLeft === undefined || visitsLeft < 0 || visitsLeft > maxVisits - used)
        found(`is shown with ${visitsLeft} visits left of ${maxVisits}, of which ${used} were used`)
    }
    return violations
  }
}
