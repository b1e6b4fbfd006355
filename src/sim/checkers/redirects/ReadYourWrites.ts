import type { Checker } from "../../Evidence.ts"
import { databaseTime } from "../facts/databaseTime.ts"
import { domainsUnread } from "../facts/domainReads.ts"
import { knownOf } from "../facts/known.ts"
import { createdLinks, isOfStranger, lifeAt } from "../facts/lives.ts"
import { removalsOf } from "../facts/removals.ts"
import { mayBeBlocked } from "../facts/targets.ts"

/** C3: after a 201, every node redirects the key until it is free again: it is unknown only before it is valid, and it has ended only if it was deleted or has expired. A node that has not reached the database since may take it for the link that had the key before (C4). */
export const ReadYourWrites: Checker = {
  name: "read your writes",
  check: (evidence) => {
    const { end_us, exchanges, lives } = evidence
    const time = databaseTime(evidence)
    const isUnread = domainsUnread(evidence)
    const { mayBeFormer, versionsFor } = knownOf(evidence)
    const created = createdLinks(exchanges, lives)
    const removals = removalsOf(exchanges)
    const acknowledged_us = new Map<string, number>()
    for (const { answered_us, key, kind, status } of exchanges)
      if (kind === "create" && status === 201 && key !== undefined && !acknowledged_us.has(key))
        acknowledged_us.set(key, answered_us!)
    return exchanges.flatMap((exchange) => {
      const { answered_us, answeredBy, key, kind, path, sent_us, status, tries } = exchange
      if (key === undefined || answered_us === undefined) return []
      const violation = (text: string) => [
        { checker: ReadYourWrites.name, at_us: answered_us, text: `${text}, said ${answeredBy}`, keys: [key] }
      ]
      // Of the link that the key stood for when it was asked for.
      const life = lifeAt(lives, key, sent_us)
      const link = life && created.get(life)
      if (life === undefined && kind === "redirect" && status === 404)
        return sent_us > (acknowledged_us.get(key) ?? end_us)
          ? violation(`${key} was created, and is not there yet`)
          : []
      if (life === undefined || link === undefined || sent_us <= link.create.answered_us!) return []
      if (life.freed_us <= answered_us) return []
      const may = versionsFor(life, exchange)
      const hadExpired = may.some(({ link }) => time.mayHaveExpired(link, answeredBy, sent_us, answered_us))
      // It may end while it is being deleted where that of many links was asked for.
      const endedBy_us = removals.mayEnd(life, answered_us) ? answered_us : sent_us
      // It may have expired before the database's clock jumped back.
      const hadEnded = hadExpired || life.ended_us <= endedBy_us
      const isLostDelete = kind === "delete" && status === 404 && tries === 1 && !isOfStranger(exchange, life)
      if (isLostDelete && link.deletes === 1 && !hadEnded)
        return violation(`${key} was created, and its only delete found nothing`)
      if (kind !== "redirect") return []
      // A shorter alias may have answered in its place.
      if (key.includes("/") && isUnread(answeredBy, sent_us)) return []
      // Whether the path that follows it leads on is told by `Leading`.
      const mayBePending = may.some((version) =>
        time.mayBePending(version.link, answeredBy, sent_us, answered_us)
      )
      if (status === 404)
        return path === undefined && !mayBePending ? violation(`${key} was created, and is unknown`) : []
      // Whether it may be used up is told by `ExactVisits`.
      const isLimited = life.versions.some(
        ({ link: { maxVisits }, since_us }) => maxVisits !== null && since_us <= answered_us
      )
      if (status !== 410 || life.ended_us <= answered_us || isLimited) return []
      if (mayBeFormer(life, exchange)) return []
      // `Leading` tells whether a blocked one is led to.
      if (mayBeBlocked(may, answered_us)) return []
      if (may.every(({ link }) => link.expiresAt === null))
        return violation(`${key} is said to have ended, and nobody deleted it`)
      return hadExpired ? [] : violation(`${key} is said to have expired too early`)
    })
  }
}
