import type { Checker, Violation } from "../../Evidence.ts"
import type { ShownLink } from "../../History.ts"
import { s_us } from "../../world/Time.ts"
import { answersOf } from "../facts/answers.ts"
import { domainsUnread } from "../facts/domainReads.ts"
import { type Life, usedElsewhere } from "../facts/lives.ts"
import { isShownAs, wrongTotalsOf } from "../facts/shown.ts"

/**
 * Who asks for a link is shown it as it is, or as it was within the last second; one that is not deleted is found, by its own user alone where a user asks. It has no more visits than there were, and no fewer than the store had taken;
 * and no more visits are left of its limit than were not used.
 */
export const Shown: Checker = {
  name: "shown links",
  check: (evidence) => {
    const { exchanges, lives, userKeys } = evidence
    const { isThere, livesFor, versionsOf } = answersOf(evidence)
    const isUnread = domainsUnread(evidence)
    const violations: Array<Violation> = []
    const userOf = new Map(userKeys.map(({ secret, user }) => [secret, user]))
    const wrongTotal = wrongTotalsOf(evidence)
    const redirected = exchanges.filter(
      ({ isHead, kind, status }) => kind === "redirect" && status === 302 && isHead !== true
    )

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
      if (
        status === 404 &&
        isThere(all.filter(isOwn), asked) &&
        !(key.includes("/") && isUnread(answeredBy, sent_us))
      )
        found("was created, and is shown to nobody")
      if (status !== 200 || body === undefined) continue
      const shown = JSON.parse(body) as ShownLink
      const may = versionsOf(all, asked)
      if (!may.some((version) => isShownAs(version, shown)))
        found(`is shown as it should not be any more: ${JSON.stringify(shown)}`)
      const wrong = wrongTotal(all, livesFor(all, asked), { ...asked, answered_us }, shown.visits)
      if (wrong !== undefined) found(wrong)
      if (all.length > 1) continue
      const [life] = all as readonly [Life]
      const { versions } = life
      const { maxVisits } = versions[0]!.link
      if (maxVisits === null || versions.some(({ link }) => link.maxVisits !== maxVisits)) continue
      const followed = redirected.filter((one) => one.key === key && one.answered_us! < sent_us - s_us).length
      const used = usedElsewhere(life) + followed
      const { visitsLeft } = shown
      if (visitsLeft === undefined || visitsLeft < 0 || visitsLeft > maxVisits - used)
        found(`is shown with ${visitsLeft} visits left of ${maxVisits}, of which ${used} were used`)
    }
    return violations
  }
}
