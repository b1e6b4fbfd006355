import type { Checker, Violation } from "../../Evidence.ts"
import { length_ms } from "../../../storage/accounts/QuotaStore.ts"
import { blockedFrom_us, blockedUrls } from "../../deployment/Visitors.ts"
import { ms_us, s_us } from "../../world/Time.ts"
import { databaseTime } from "../facts/databaseTime.ts"
import { domainsUnread } from "../facts/domainReads.ts"
import { knownOf } from "../facts/known.ts"
import { meantBy } from "../facts/attributed.ts"
import { forwards, leads, variantOf } from "../facts/targets.ts"
import { createdLinks, type Life, lifeAt, lifeLedBy } from "../facts/lives.ts"

/** How long before and after midnight a node may go by either day: microseconds. */
const nearMidnight_us = s_us

/**
 * A redirect leads where the rules, the variants and the forwarded path of its link say that lead this visitor, by some state that the link has had; a path that follows a key leads nowhere only where its link does not forward it; and
 * a visitor keeps their variant for a day of UTC, whichever node answers. Of several aliases with which a path begins, the longest that has a row decides. None leads to a target that is blocked. That the state is new enough is told by `Freshness`.
 */
export const Leading: Checker = {
  name: "leading",
  check: (evidence) => {
    const { beginning_ms, clock, exchanges, faults, lives, options } = evidence
    const created = createdLinks(exchanges, lives)
    const time = databaseTime(evidence)
    const { versionsFor } = knownOf(evidence)
    const violations: Array<Violation> = []
    // By a clock that is not right it may be another day, in which visitors may have other variants.
    const isRight = clock.jumps.length === 0 && clock.ahead_us(s_us) === 0 && !faults.has("clockJump")
    const dayOf = (at_us: number) => Math.floor((beginning_ms + at_us / ms_us) / length_ms.day)
    const isUnread = domainsUnread(evidence)
    const variants = new Map<Life, Map<string, number>>()
    for (const exchange of exchanges) {
      const { answered_us, answeredBy, from, key, kind, location, path, sent_us, status, traits, visitor } =
        exchange
      if (kind !== "redirect" || key === undefined || answered_us === undefined) continue
      const found = (text: string) =>
        violations.push({
          checker: Leading.name,
          at_us: answered_us,
          text: `${text}, by ${answeredBy}`,
          keys: [key]
        })
      const as = visitor === undefined ? "somebody" : `a ${visitor}`
      if (status === 404 && path !== undefined) {
        const life = lifeAt(lives, key, sent_us)
        const link = life && created.get(life)
        if (life === undefined || link === undefined || sent_us <= link.create.answered_us!) continue
        if (key.includes("/") && isUnread(answeredBy, sent_us)) continue
        if (
          life.ended_us > answered_us &&
          versionsFor(life, exchange).every(
            ({ link }) => forwards(link, path) && !time.mayBePending(link, answeredBy, sent_us, answered_us)
          )
        )
          found(`${key} forwards paths, and led nowhere with ${path}`)
      }
      if (status !== 302) continue
      if (options.workload.refused > 0 && location?.startsWith(blockedUrls) && sent_us >= blockedFrom_us)
        found(`${key} led ${as} to ${location}, which is blocked`)
      const life = lifeLedBy(lives, key, location, answered_us)
      if (life === undefined) continue
      const longer = meantBy({ key, path }).find((meant) => {
        if (meant.key.length <= key.length) return false
        const other = lifeAt(lives, meant.key, sent_us)
        const made = other && created.get(other)
        return made !== undefined && made.create.answered_us! < sent_us && other!.freed_us > answered_us
      })
      if (longer !== undefined && !isUnread(answeredBy, sent_us)) {
        found(`${key} led to ${location} with ${path}, though there is ${longer.key}`)
        continue
      }
      const led = life.versions.findLast(
        ({ link, since_us }) => since_us <= answered_us && leads(link, exchange)
      )
      if (led === undefined) {
        found(`${key} led ${as}${path === undefined ? "" : `, with ${path},`} to ${location}`)
        continue
      }
      const variant = variantOf(led.link, location)
      if (variant === undefined || !isRight) continue
      const day = dayOf(sent_us - nearMidnight_us)
      if (day !== dayOf(answered_us + nearMidnight_us)) continue
      const kept = variants.get(life) ?? new Map<string, number>()
      variants.set(life, kept)
      const all = JSON.stringify([day, from ?? traits?.address, led.link.extras?.variants])
      const before = kept.get(all) ?? variant
      if (before !== variant)
        found(
          `${key} led the same visitor to variant ${before + 1}, and ${Math.round(answered_us / ms_us)} ms after the beginning to variant ${variant + 1}`
        )
      kept.set(all, before)
    }
    return violations
  }
}
