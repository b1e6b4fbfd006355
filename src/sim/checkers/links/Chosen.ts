import { adminId } from "../../../accounts/Access.ts"
import { defaultDomain, domainKeyOf } from "../../../keys/QualifiedKey.ts"
import type { Checker, Evidence } from "../../Evidence.ts"
import {
  type Choices,
  choiceNames,
  choiceOf,
  chosenAs,
  clearedOf,
  isSameChoice,
  saidOf,
  shownOf
} from "../../clients/Choices.ts"
import { endOf } from "../../clients/Lasting.ts"
import type { Link } from "../../../model/Link.ts"
import type { Exchange, ImportedWish, ShownLink } from "../../History.ts"
import { databaseTime } from "../facts/databaseTime.ts"
import { lifeLeftBy, versionLeftBy } from "../facts/lives.ts"
import { sendersOf } from "../facts/senders.ts"
import { isImportedAs } from "../facts/shown.ts"

const textOf = (value: unknown) => JSON.stringify(value ?? null)

/** What a create leaves that does not choose it. */
const unchosenAs = (name: keyof Choices, { maxVisits, password }: Exchange): unknown => {
  if (name === "maxVisits") return maxVisits ?? null
  return name === "password" ? (password ?? null) : chosenAs(name, clearedOf(name))
}

const none: ImportedWish = {}

/** Whose a new link is: the user's of the API key or the session, the administrator's, or nobody's. */
const ownersOf = (evidence: Evidence) => {
  const senderOf = sendersOf(evidence)
  return (exchange: Exchange) => {
    const { key, user } = senderOf(exchange)
    // Of a key that has no quota of its own nothing is kept.
    const { id = null, redirectsPerDay = null } = key ?? {}
    return {
      owner: user ?? (exchange.isByAdmin === true ? adminId : null),
      keyId: redirectsPerDay === null ? null : id,
      keyRedirectsPerDay: redirectsPerDay
    }
  }
}

/** What is wrong with where a new link is, if anything. */
const misplaced = (
  { alias, domain = defaultDomain, key }: Exchange,
  { custom }: Link
): string | undefined => {
  if (custom !== (alias !== undefined)) return custom ? "has an alias that nobody chose" : "has no alias"
  if (alias !== undefined && key !== alias) return `was to be at ${alias}`
  return domainKeyOf(key!).domain === domain ? undefined : `was to be in domain ${domain}`
}

/** What is wrong with what a link has brought along from elsewhere, as it was bound, and as the answer says. */
const elsewhereOf = ({ body, imported = none, maxVisits }: Exchange, link: Link): string | undefined => {
  const { bots = 0, visits = 0, visitsLeft = maxVisits } = imported
  const createdAt = imported.createdAt === undefined ? link.createdAt : Date.parse(imported.createdAt)
  const right = {
    createdAt,
    updatedAt: imported.updatedAt === undefined ? createdAt : Date.parse(imported.updatedAt),
    visitsLeft: visitsLeft ?? null,
    importedVisits: visits > 0 ? { nonBots: visits - bots, bots } : null
  }
  const { updatedAt, visitsLeft: left, importedVisits = null } = link
  const stored = { createdAt: link.createdAt, updatedAt, visitsLeft: left, importedVisits }
  if (!isSameChoice(stored, right))
    return `should have ${textOf(right)} after a create, and has ${textOf(stored)}`
  if (imported === none || body === undefined) return undefined
  const said = JSON.parse(body) as ShownLink
  return Date.parse(said.createdAt) === createdAt &&
    Date.parse(said.updatedAt) === updatedAt &&
    (said.visitsLeft ?? null) === left &&
    isImportedAs(link, said)
    ? undefined
    : `has ${textOf(stored)}, and the answer to a create says ${body}`
}

/**
 * C2 for what else is chosen of a link: it is the user's who made it, with the quota of the API key, at the alias and in the domain that were chosen, it is as an acknowledged create or change chose it, a create leaves nothing else, a change leaves as it was what it does not name, and its answer says so. That it stays so
 * until the next change follows from the store's own record, and that redirects go by it is told by `Leading` and `Freshness`.
 */
export const Chosen: Checker = {
  name: "choices",
  check: (evidence) => {
    const { exchanges, lives } = evidence
    const time = databaseTime(evidence)
    const ownerOf = ownersOf(evidence)
    /** Whether a link ends when a create or a change chose, by what the node may have taken for now; `before`: when it did before a change. */
    const endsAsChosen = (
      { answered_us, answeredBy, expiresAt: chosen, lasts, sent_us, tries }: Exchange,
      { expiresAt }: Link,
      before: number | null
    ) => {
      if (chosen !== undefined) return expiresAt === (chosen === null ? null : Date.parse(chosen))
      if (lasts === undefined || expiresAt === null) return lasts === undefined && expiresAt === before
      const { least_ms, most_ms } = time.moments(tries > 1 ? undefined : answeredBy, sent_us, answered_us!)
      return endOf(Math.floor(least_ms), lasts) <= expiresAt && expiresAt <= endOf(Math.ceil(most_ms), lasts)
    }
    return exchanges.flatMap((exchange) => {
      const { answered_us, body, choices = {}, key, kind, status } = exchange
      const isMade = (kind === "create" && status === 201) || (kind === "change" && status === 200)
      if (key === undefined || answered_us === undefined || !isMade) return []
      const life = lifeLeftBy(lives, key, exchange)
      if (life === undefined) return []
      const index = versionLeftBy(life, exchange)
      const { link } = life.versions[index]!
      const before = life.versions[index - 1]?.link
      const answer =
        body === undefined || exchange.choices === undefined
          ? undefined
          : (JSON.parse(body) as Partial<Record<string, unknown>>)
      const isNew = kind === "create" && !exchange.isReplay && exchange.reuse !== true
      const isKnown = kind === "change" ? before !== undefined : isNew
      if (isKnown && !endsAsChosen(exchange, link, before?.expiresAt ?? null))
        return [
          {
            checker: Chosen.name,
            at_us: answered_us,
            text: `${key} was to last ${textOf(exchange.lasts ?? exchange.expiresAt)} after a ${kind}, and ends at ${textOf(link.expiresAt)}`,
            keys: [key]
          }
        ]
      if (isNew && status === 201) {
        const { keyId = null, keyRedirectsPerDay = null, owner } = link
        const [stored, right] = [{ owner, keyId, keyRedirectsPerDay }, ownerOf(exchange)]
        const wrong = isSameChoice(stored, right)
          ? misplaced(exchange, link)
          : `should have been made by ${textOf(right)}, and was by ${textOf(stored)}`
        if (wrong !== undefined)
          return [{ checker: Chosen.name, at_us: answered_us, text: `${key} ${wrong}`, keys: [key] }]
      }
      const elsewhere = isNew ? elsewhereOf(exchange, link) : undefined
      if (elsewhere !== undefined)
        return [{ checker: Chosen.name, at_us: answered_us, text: `${key} ${elsewhere}`, keys: [key] }]
      return choiceNames.flatMap((name: keyof Choices) => {
        const unchosen = kind === "create" ? unchosenAs(name, exchange) : before && choiceOf(before, name)
        const wanted = name in choices ? chosenAs(name, choices[name]) : unchosen
        const stored = choiceOf(link, name)
        const said = answer && saidOf(answer, name)
        const violation = (text: string) => [
          { checker: Chosen.name, at_us: answered_us, text: `${key} ${text}`, keys: [key] }
        ]
        if (wanted !== undefined && !isSameChoice(stored, wanted))
          return violation(
            `should have ${textOf(wanted)} as ${name} after a ${kind}, and has ${textOf(stored)}`
          )
        // Another change may have come between, of which the answer may tell.
        const isLast = life.versions.length === index + 1
        return isLast && answer !== undefined && !isSameChoice(said, shownOf(link, name))
          ? violation(`has ${textOf(stored)} as ${name}, and the answer to a ${kind} says ${textOf(said)}`)
          : []
      })
    })
  }
}
