import { adminId } from "../../../accounts/Access.ts"
import type { AuditAction, Doer } from "../../../model/Audit.ts"
import * as Iso8601 from "../../../model/Iso8601.ts"
import { hour_ms } from "../../../model/Visit.ts"
import { type AuditEntry, entriesPerHour, placesOf } from "../../../storage/accounts/AuditLog.ts"
import { administrator, oldEntries } from "../../deployment/Users.ts"
import type { Checker, Evidence, Violation } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { triesMax } from "../visits/ExactVisits.ts"
import { keptFor_ms } from "../../deployment/UserParts.ts"

/** An entry as an answer shows it. */
interface Shown {
  readonly id: string
  readonly at: string
  readonly count: number
  readonly action: string
  readonly by: string
  readonly userId: string | null
  readonly keyId: string | null
  readonly target: string | null
  readonly ownerId: string | null
}

/** Something that was done once for sure: what, to what, and whose that is; and who may have done it. */
interface Act {
  readonly action: AuditAction
  readonly target: string | null
  readonly owner: string
  readonly mayBe: (doer: Doer) => boolean
}

const inSession =
  (...users: ReadonlyArray<string>) =>
  ({ by, keyId, userId }: Doer) =>
    by === "session" && keyId === null && users.includes(userId!)

const isDeployments = ({ by, userId }: Doer) => by === "admin-key" && userId === adminId

const actionOf = {
  "user disabled": "user.disabled",
  "user enabled": "user.enabled",
  "user removed": "user.deleted"
} as const

/** Who may have removed a user: those who asked for it, the deployment's administrators or the user in a session. */
const removersOf = (exchanges: Evidence["exchanges"]) => {
  const asked = exchanges.filter(({ kind }) => kind === "remove user")
  return (user: string): Act["mayBe"] => {
    const own = asked.filter((exchange) => exchange.user === user)
    return (doer) =>
      own.some(({ session }) => (session === undefined ? isDeployments(doer) : inSession(user)(doer)))
  }
}

/** What nodes did for users, as the database has it. */
const actsOf = ({ exchanges, journal }: Pick<Evidence, "exchanges" | "journal">): ReadonlyArray<Act> => {
  const mayRemove = removersOf(exchanges)
  const ownerOf = new Map<string, string>()
  return journal.flatMap((entry): ReadonlyArray<Act> => {
    const isOfNode = entry.by.includes("#")
    if (entry.tag === "webhook added") ownerOf.set(entry.webhook.id, entry.webhook.owner)
    if (entry.tag === "key added") ownerOf.set(entry.apiKey, entry.user)
    if (!isOfNode) return []
    switch (entry.tag) {
      case "session begun": {
        const { user } = entry
        return [{ action: "session.begun", target: user, owner: user, mayBe: inSession(user) }]
      }
      case "password changed": {
        const { revokesKeys, user } = entry
        const whose = { owner: user, mayBe: inSession(user) }
        return [
          { action: "password.changed", target: user, ...whose },
          ...(revokesKeys ? [{ action: "key.revoked", target: null, ...whose } as const] : [])
        ]
      }
      case "user added": {
        const { user } = entry
        return [{ action: "user.added", target: user, owner: user, mayBe: isDeployments }]
      }
      case "user disabled":
      case "user enabled": {
        const { user } = entry
        return [{ action: actionOf[entry.tag], target: user, owner: user, mayBe: isDeployments }]
      }
      case "user removed": {
        const { user } = entry
        return [{ action: actionOf[entry.tag], target: user, owner: user, mayBe: mayRemove(user) }]
      }
      case "key added":
      case "key revoked": {
        const { apiKey } = entry
        const owner = ownerOf.get(apiKey)!
        const action = entry.tag === "key added" ? "key.added" : "key.revoked"
        return [{ action, target: apiKey, owner, mayBe: inSession(owner) }]
      }
      case "webhook added": {
        const { id, keyId, owner } = entry.webhook
        const mayBe =
          keyId === null
            ? inSession(owner)
            : (doer: Doer) => doer.by === "api-key" && doer.userId === owner && doer.keyId === keyId
        return [{ action: "webhook.added", target: id, owner, mayBe }]
      }
      case "webhook removed": {
        const owner = ownerOf.get(entry.webhook)!
        return [
          { action: "webhook.removed", target: entry.webhook, owner, mayBe: inSession(owner, administrator) }
        ]
      }
      default:
        return []
    }
  })
}

const nameOf = ({ action, target }: { readonly action: string; readonly target: string | null }) =>
  `${action} ${target}`

const groupedBy = <A>(all: ReadonlyArray<A>, nameOf: (one: A) => string) => {
  const groups = new Map<string, Array<A>>()
  for (const one of all) {
    const group = groups.get(nameOf(one))
    if (group === undefined) groups.set(nameOf(one), [one])
    else group.push(one)
  }
  return groups
}

const hourOf = ({ at, doer }: AuditEntry) => `${doer.userId} ${Math.floor(at / hour_ms)}`

/** How often acts of each kind were recorded without their target, since who did them had all the entries of an hour by then. */
const crowdedOf = (audit: ReadonlyArray<AuditEntry>): ReadonlyMap<string, number> => {
  const hours = groupedBy(audit, hourOf)
  const crowded = audit.filter(
    (entry) =>
      entry.doer.userId !== null &&
      entry.target === null &&
      entry.owner === null &&
      hours.get(hourOf(entry))!.length > entriesPerHour.user
  )
  const counts = new Map<string, number>()
  for (const { action, count } of crowded) counts.set(action, (counts.get(action) ?? 0) + count)
  return counts
}

const triesOf = ({ status, tries }: Exchange) => (status === 0 ? triesMax : Math.max(1, tries))

/**
 * The audit log has what users did, each act as often as it was done (without its target where who did it had too many entries of the hour), with who did it and to whose things: sessions that began, API keys and webhooks that came and went, sign-ins that were refused, and what
 * an administrator changed of links of others. Administrators alone read it, and a list that is read page by page has each entry once, the newest first, as it is. Old entries go, and no others.
 */
export const AuditLog: Checker = {
  name: "audit log",
  seesForgotten: true,
  check: ({ audit, beginning_ms, end_us, exchanges, journal, lives }) => {
    if (audit === undefined) return []
    const violations: Array<Violation> = []
    const found = (at_us: number, text: string, keys: ReadonlyArray<string> = []) =>
      violations.push({ checker: AuditLog.name, at_us, text, keys })
    const byName = groupedBy(audit, nameOf)
    const countOf = (name: string) => (byName.get(name) ?? []).reduce((sum, { count }) => sum + count, 0)

    const crowded = crowdedOf(audit)
    const acts = groupedBy(actsOf({ exchanges, journal }), nameOf)
    const unnamed = new Map<string, number>()
    for (const [name, same] of acts) {
      const [{ action, mayBe, owner }] = same as unknown as readonly [Act]
      const count = countOf(name)
      const missing = same.length - count
      if (missing < 0 || (missing > 0 && !crowded.has(action)))
        found(end_us, `${name} is recorded ${count} times, and was done ${same.length} times`)
      else unnamed.set(action, (unnamed.get(action) ?? 0) + missing)
      for (const entry of byName.get(name) ?? [])
        if (entry.owner !== owner || !mayBe(entry.doer))
          found(end_us, `${name} is recorded as of ${entry.owner}, and as done by ${entry.doer.userId}`)
    }
    const exact: ReadonlySet<string> = new Set([
      "session.begun",
      "password.changed",
      "user.added",
      "user.disabled",
      "user.enabled",
      "user.deleted",
      "key.added",
      "key.revoked",
      "webhook.added",
      "webhook.removed"
    ] satisfies ReadonlyArray<AuditAction>)
    for (const [name, entries] of byName) {
      const { action, target } = entries[0]!
      if (!exact.has(action) || acts.has(name) || (target === null && crowded.has(action))) continue
      found(end_us, `${name} is recorded, and was not done`)
    }
    for (const [action, count] of crowded) {
      const missing = unnamed.get(action) ?? 0
      if (exact.has(action) && count !== missing)
        found(end_us, `${action} is recorded ${count} times without a target, and ${missing} are missing`)
    }

    const signIns = exchanges.filter(({ kind }) => kind === "sign in")
    const refused = audit
      .filter(({ action }) => action === "session.refused")
      .reduce((sum, { count }) => sum + count, 0)
    const least = signIns.filter(({ status }) => status === 401).length
    const most = signIns.reduce((sum, one) => sum + triesOf(one), 0)
    if (refused < least || refused > most)
      found(end_us, `${refused} refused sign-ins are recorded, of ${least} to ${most}`)
    const ended = audit
      .filter(({ action }) => action === "session.ended")
      .reduce((sum, { count }) => sum + count, 0)
    const endings = journal.filter(({ tag }) => tag === "session ended").length
    if (ended > endings)
      found(end_us, `${ended} ends of sessions are recorded, of ${endings} that there were`)

    const bulkDeletes = exchanges.filter(({ edit }) => edit?.act === "delete").length
    const isAdmin = ({ by, userId }: AuditEntry["doer"]) => by === "admin-key" && userId === adminId
    for (const [kind, action, done] of [
      ["change", "link.changed", 200],
      ["delete", "link.deleted", 204]
    ] as const) {
      for (const [key, asked] of groupedBy(
        exchanges.filter((one) => one.kind === kind && one.key !== undefined),
        (one) => one.key!
      )) {
        const owners = new Set(lives.get(key)?.map(({ link }) => link.owner))
        const entries = byName.get(`${action} ${key}`) ?? []
        const count = countOf(`${action} ${key}`)
        // What users do with their own links is not recorded.
        const byAdmin = asked.filter(({ apiKey }) => apiKey === undefined)
        const acknowledged = byAdmin.filter(({ status }) => status === done).length
        const asks = byAdmin.reduce((sum, one) => sum + triesOf(one), 0)
        // Bulk edits change and delete links as well, and nobody knows how often they change one.
        const isTooMany = kind === "delete" && count > asks + bulkDeletes
        const most = count + (crowded.get(action) ?? 0)
        if ((!owners.has(adminId) && most < acknowledged) || isTooMany)
          found(end_us, `${action} is recorded ${count} times, and ${acknowledged} were acknowledged`, [key])
        for (const { doer, owner } of entries)
          if (!owners.has(owner) || !isAdmin(doer))
            found(end_us, `${action} is recorded as of ${owner}, and as done by ${doer.userId}`, [key])
      }
    }

    const byId = new Map(audit.map((entry) => [entry.id, entry]))
    /** When entries were there first, as long as nobody has too many. */
    const first_us = new Map<string, number>()
    for (const entry of journal) {
      if (entry.tag !== "audited") continue
      for (const event of entry.events) {
        const { id } = placesOf(event).first
        first_us.set(id, first_us.get(id) ?? entry.at_us)
      }
    }
    const wronglyRead = ({ body, since_us, sent_us, ...exchange }: Exchange): ReadonlyArray<string> => {
      const { action, user } = exchange.audit!
      const shown = JSON.parse(body!) as ReadonlyArray<Shown>
      const listed = new Set(shown.map(({ id }) => id))
      const isWanted = (entry: AuditEntry) =>
        (action === undefined || entry.action === action) &&
        (user === undefined || entry.doer.userId === user || entry.owner === user)
      const missing = audit.filter(
        (entry) =>
          isWanted(entry) &&
          (first_us.get(entry.id) ?? Number.POSITIVE_INFINITY) < (since_us ?? sent_us) &&
          !listed.has(entry.id)
      )
      const wrong = shown.filter(({ at, by, count, id, keyId, ownerId, target, userId, ...one }) => {
        const entry = byId.get(id)
        // An old one may be gone by the end.
        if (entry === undefined)
          return !oldEntries(beginning_ms).some((old) => Iso8601.formatMoment(old.at) === at)
        const { doer } = entry
        const isSame =
          one.action === entry.action &&
          at === Iso8601.formatMoment(entry.at) &&
          count <= entry.count &&
          by === doer.by &&
          userId === doer.userId &&
          keyId === doer.keyId &&
          target === entry.target &&
          ownerId === entry.owner
        return !isSame || !isWanted(entry)
      })
      const isOrdered = shown.every((one, index) => {
        const next = shown[index + 1]
        return next === undefined || one.at > next.at || (one.at === next.at && one.id > next.id)
      })
      return [
        ...missing.map((entry) => `is without ${nameOf(entry)}, which was there`),
        ...wrong.map((entry) => `shows ${nameOf(entry)} as it was not`),
        ...(isOrdered ? [] : ["is not in order, or has an entry twice"])
      ]
    }
    const temporary_us = journal.flatMap((entry) =>
      entry.tag === "password changed" && entry.user === administrator && entry.isTemporary
        ? [entry.at_us]
        : []
    )
    for (const exchange of exchanges) {
      const { answered_us = end_us, answeredBy, body, kind, number, status, user } = exchange
      if (kind !== "audit" || status === 0 || status >= 500 || status === 401) continue
      const say = (text: string) => found(answered_us, `${text}, by ${answeredBy}`, [`#${number}`])
      if (user !== administrator && status !== 403) say(`${user} was answered ${status} of the audit log`)
      // In which of their sessions they must choose another password before, `UserSessions` tells.
      const mustChange = status === 403 && temporary_us.some((at_us) => at_us <= answered_us)
      if (user === administrator && status !== 200 && !mustChange)
        say(`an administrator was answered ${status} of the audit log`)
      if (user === administrator && status === 200 && body !== undefined)
        for (const text of wronglyRead(exchange)) say(`the audit log ${text}`)
    }

    const swept = journal.some(({ tag }) => tag === "audit swept")
    for (const event of oldEntries(beginning_ms)) {
      const isOld = event.at < beginning_ms - keptFor_ms
      const isThere = byId.has(placesOf(event).first.id)
      if (isOld && isThere && swept)
        found(end_us, "an old entry of the audit log is there, which should be gone")
      if (!isOld && !isThere) found(end_us, "an entry of the audit log is gone, which is not old")
    }
    return violations
  }
}
