import type { Exchange } from "../History.ts"
import type { JournalEntry } from "../Journal.ts"
import type { RunResult } from "../Run.ts"
import { ms_us, s_us } from "../world/Time.ts"

/** Something of a run, told for people. */
export interface ToldEvent {
  readonly at_us: number
  readonly who: string
  readonly text: string
  /** Keys, aliases and request numbers (as `#12`) that it is about. */
  readonly about: ReadonlyArray<string>
  /** `fate`: of processes, actors and faults; `store`: what a store did; `client`: a request or its answer; `call`: what was merely asked. */
  readonly kind: "fate" | "store" | "client" | "call"
  /** A request that was not answered as it should be. */
  readonly isFailure: boolean
}

/** Keys that are named in a line at most. */
const namedMax = 3

const named = (keys: ReadonlyArray<string>) =>
  keys.length <= namedMax
    ? keys.join(", ")
    : `${keys.slice(0, namedMax).join(", ")} and ${keys.length - namedMax} more`

const count = (keys: ReadonlyArray<string>) => `${keys.length} ${keys.length === 1 ? "key" : "keys"}`

/** What a journal entry says, in words. */
export const sentenceOf = (entry: JournalEntry): string => {
  switch (entry.tag) {
    case "minted":
    case "stocked":
      return `${entry.tag} ${count(entry.keys)}: ${named(entry.keys)}`
    case "advanced":
      return `advanced range ${entry.slot.range} by ${entry.count} from ${entry.first}`
    case "bound":
      return `bound ${entry.link.key} to ${entry.link.url}`
    case "conflicted":
      return `conflict: ${entry.link.key} is bound already, not to ${entry.link.url}`
    case "changed":
      return `changed ${entry.link.key}, which leads to ${entry.link.url}`
    case "deleted":
    case "expired":
    case "freed":
      return `${entry.tag} ${entry.key}`
    case "claimed":
      return `claimed pool shard ${entry.shard} with epoch ${entry.epoch}`
    case "fenced":
      return `refused at pool shard ${entry.shard}: epoch ${entry.epoch} is stale`
    case "recorded":
      return `recorded ${count(entry.keys)} for pool shard ${entry.shard}, batch ${entry.batch}`
    case "closed":
      return `closed batch ${entry.batch} of pool shard ${entry.shard}`
    case "handed":
      return `was handed ${count(entry.keys)}: ${named(entry.keys)}`
    case "refused":
      return `knows that ${count(entry.keys)} were not bound: ${named(entry.keys)}`
    case "reused":
      return `used ${entry.key} again, of which it does not know whether it was bound`
    case "unreturned":
      return `could not return ${count(entry.keys)}: ${named(entry.keys)}`
    case "unreceived":
      return `does not know whether ${count(entry.keys)} came back: ${named(entry.keys)}`
    case "unsure":
      return `does not know what became of ${count(entry.keys)}: ${named(entry.keys)}`
    case "pushed":
    case "leased":
    case "returned":
      return `${entry.tag} ${count(entry.keys)}, pool shard ${entry.shard}: ${named(entry.keys)}`
    case "mint answered":
      return `${entry.isRefused ? "refused" : "gave"} keys of range ${entry.range}`
    case "forgot":
      return `pool shard ${entry.shard} forgot: ${count(entry.gone)} gone, ${count(entry.again)} there again`
    case "database forgot":
      return `forgot ${entry.commits} commits, about ${named(entry.links)}`
    case "promoted":
      return "has a standby as its primary"
    case "left behind":
      return "was answered by a primary that had been left behind"
    case "recovered":
      return `recovered the database, which had forgotten commits: ${count(entry.keys)} given up`
    case "started":
    case "killed":
    case "draining":
      return entry.tag
    case "ready":
      return "is ready"
    case "unready":
      return "is not ready"
    case "refusing":
      return "refuses connections"
    case "ended":
      return entry.unanswered === 0 ? entry.tag : `ended, and left ${entry.unanswered} requests unanswered`
    case "paused":
      return `paused for ${Math.round(entry.for_us / ms_us)} ms`
    case "begun late":
      return `began a ${entry.method} whose client had gone`
    case "visited":
      return `${entry.isSure ? "redirected" : "may have redirected"} ${entry.key}`
    case "not led":
      return `${entry.isSure ? "led" : "may have led"} a visitor by no link`
    case "counting":
      return "writes the visits that it has counted"
    case "counted":
      return `counted ${entry.visits.map(([key, visits]) => `${visits} of ${key}`).join(", ") || "nothing new"}`
    case "granted":
      return `was granted ${entry.granted} of a quota of ${entry.limit} a ${entry.period}`
    case "took":
      return `${entry.isAllowed ? "took" : "refused"} one of ${entry.quotas.length} quotas of ${entry.use}`
    case "gave back":
      return `gave one of ${entry.quotas.length} quotas back`
    case "kept":
      return `kept what it had reserved of ${entry.quotas.length} quotas`
    case "domain written":
      return `wrote domain ${entry.domain.host}, ${entry.domain.verifiedAt === null ? "not verified" : "verified"}`
    case "domain removed":
      return `removed domain ${entry.number}`
    case "proof shown":
      return "shows another proof"
    case "session begun":
      return `began session ${entry.session.slice(0, 8)} of ${entry.user}`
    case "session ended":
      return `ended session ${entry.session.slice(0, 8)}`
    case "owner gone":
      return `asked for the end of all links of ${entry.owner}`
    case "user disabled":
    case "user enabled":
    case "user removed":
    case "password changed":
      return `${entry.tag}: ${entry.user}`
    case "user added":
      return `added ${entry.user}, whose address is ${entry.email}`
    case "audited":
      return `recorded ${entry.events.map(({ action }) => action).join(", ")}`
    case "audit swept":
      return "looked for old entries of the audit log"
    case "key added":
      return `added ${entry.apiKey} of ${entry.user}`
    case "key revoked":
      return `revoked ${entry.apiKey}`
    case "webhook added":
      return `added webhook ${entry.webhook.id} of ${entry.webhook.owner}`
    case "webhook removed":
      return `removed webhook ${entry.webhook}`
    case "webhook verified":
      return `has the answer to ${entry.isLatest ? "the" : "an earlier"} challenge of webhook ${entry.webhook}`
    case "webhooks lapsed":
      return "looked for webhooks that have ended"
    case "offered":
    case "queued":
    case "received":
      return `${entry.tag} ${entry.events.length} events for webhooks`
    case "sending":
      return `sends a message to ${entry.url}`
    case "sent":
      return `has sent a message to ${entry.url}`
    case "leased messages":
      return `took ${entry.messages.length} messages for webhooks`
    case "untried":
      return `gave message ${entry.message} back`
    case "delivered":
      return `hears that message ${entry.message} was delivered`
    case "put off":
      return `attempt ${entry.attempt} of message ${entry.message} failed`
    case "heard counted":
      return "hears that they were counted"
    case "unanswered":
      return `${entry.interrupted_us === undefined ? "has no answer to" : "gave up"} ${entry.operation}`
    case "activated":
    case "deactivated":
      return `${entry.tag} ${entry.actor}`
    default:
      return (entry as JournalEntry).tag
  }
}

const aboutEntry = (entry: JournalEntry): ReadonlyArray<string> => {
  if (entry.tag === "database forgot") return entry.links
  if ("keys" in entry) return entry.keys
  if ("link" in entry) return [entry.link.key]
  if ("key" in entry) return [entry.key]
  return entry.tag === "forgot" ? [...entry.gone, ...entry.again] : []
}

const fates: ReadonlySet<string> = new Set([
  "started",
  "killed",
  "ended",
  "draining",
  "paused",
  "activated",
  "deactivated",
  "claimed",
  "fenced",
  "forgot",
  "database forgot",
  "recovered"
])

/** What a client asked for, in words. */
const asked = ({ alias, email, idempotencyKey, key, kind, number, path, reuse, url, webhook }: Exchange) => {
  if (kind === "edit") return `edit all links (#${number})`
  if (kind === "list") return `list the links (#${number})`
  if (kind === "sign in" || kind === "sign out") return `${kind} (#${number})`
  if (kind === "webhook") return `${webhook?.act} webhooks (#${number})`
  if (kind === "statistics") return `ask for the statistics of ${key ?? "all own links"} (#${number})`
  if (kind === "audit") return `read the audit log (#${number})`
  if (kind === "users") return `list the users (#${number})`
  if (kind === "add user") return `add ${email} as a user (#${number})`
  if (kind === "account") return `show the account (#${number})`
  if (kind !== "create") return `${kind} ${key}${path === undefined ? "" : `/${path}`} (#${number})`
  const as = alias === undefined ? "" : ` as ${alias}`
  const keyed = idempotencyKey === undefined ? "" : `, with the Idempotency-Key ${idempotencyKey}`
  return `create ${url}${as}${reuse === true ? ", or reuse it" : ""}${keyed} (#${number})`
}

/** What came of it. */
const got = (exchange: Exchange) => {
  const { answered_us, answeredBy, isReplay, key, kind, location, number, sent_us, status, tries } = exchange
  const what = status === 0 ? "no answer" : `${status}${isReplay ? " again" : ""}`
  const result = kind === "create" ? (key ?? "") : (location ?? "")
  const from = answeredBy === undefined ? "" : ` from ${answeredBy}`
  const took_ms = Math.round((answered_us! - sent_us) / ms_us)
  return `${what}${result === "" ? "" : ` ${result}`}${from} after ${took_ms} ms${tries > 1 ? `, ${tries} tries` : ""} (#${number}, ${kind})`
}

const toldExchange = (exchange: Exchange): ReadonlyArray<ToldEvent> => {
  const { alias, answered_us, client, key, number, sent_us, status } = exchange
  const about = [`#${number}`, ...[key, alias].filter((name) => name !== undefined)]
  const base = { who: client, about, kind: "client", isFailure: false } as const
  const sent = { ...base, at_us: sent_us, text: asked(exchange) }
  if (answered_us === undefined) return [{ ...sent, text: `${sent.text}, never answered`, isFailure: true }]
  const isFailure = status === 0 || status >= 500
  return [sent, { ...base, at_us: answered_us, text: got(exchange), isFailure }]
}

/** The faults and the world's own part of the trace. */
const told = ({ events }: RunResult): ReadonlyArray<ToldEvent> =>
  events.flatMap(({ at_us, detail, kind, who }) => {
    // The history tells it better.
    if (kind.startsWith("asks ") || kind.startsWith("got ")) return []
    // The journal tells it too.
    if (kind === "starts" || kind === "ended") return []
    const isCall = /^[A-Z]\w+\.\w+$/.test(kind)
    const about = isCall ? [] : Array.from(detail.matchAll(/[\w-]{3,}/g), ([word]) => word)
    return [
      {
        at_us,
        who,
        text: `${kind} ${detail}`.trim(),
        about,
        kind: isCall ? "call" : "fate",
        isFailure: false
      } as const
    ]
  })

/** Everything that is known of a run, in its order; with what the trace has, if it was kept. */
export const eventsOf = (result: RunResult): ReadonlyArray<ToldEvent> => {
  const { exchanges, journal } = result.evidence
  return [
    ...told(result),
    ...exchanges.flatMap(toldExchange),
    ...journal.map((entry): ToldEvent => ({
      at_us: entry.at_us,
      who: entry.by,
      text: sentenceOf(entry),
      about: aboutEntry(entry),
      kind: fates.has(entry.tag) ? "fate" : "store",
      isFailure: false
    }))
  ].toSorted((a, b) => a.at_us - b.at_us)
}

/** A moment, for people. */
export const momentOf = (at_us: number): string => `${(at_us / s_us).toFixed(6)} s`
