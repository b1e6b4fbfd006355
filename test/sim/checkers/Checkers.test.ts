import { idOf } from "../../../src/accounts/Sessions.ts"
import { describe, expect, it } from "vitest"
import { partitionOf } from "../../../src/actors/links/UrlMapping.ts"
import type { Checker, Evidence } from "../../../src/sim/Evidence.ts"
import { qualifiedKey } from "../../../src/keys/QualifiedKey.ts"
import type { Link } from "../../../src/model/Link.ts"
import type { Choices } from "../../../src/sim/clients/Choices.ts"
import { blockedUrls } from "../../../src/sim/deployment/Visitors.ts"
import { whenOf } from "../../../src/sim/clients/Visitors.ts"
import type { Edited, Exchange, ListPages, ListWish, ShownLink } from "../../../src/sim/History.ts"
import { checkers, judge } from "../../../src/sim/checkers/all.ts"
import { Chosen } from "../../../src/sim/checkers/links/Chosen.ts"
import { Domains } from "../../../src/sim/checkers/domains/Domains.ts"
import { Durability } from "../../../src/sim/checkers/links/Durability.ts"
import { ExactVisits } from "../../../src/sim/checkers/visits/ExactVisits.ts"
import { Forgotten } from "../../../src/sim/checkers/keys/Forgotten.ts"
import type { JournalEntry } from "../../../src/sim/Journal.ts"
import { attributed } from "../../../src/sim/checkers/facts/attributed.ts"
import { livesOf } from "../../../src/sim/checkers/facts/lives.ts"
import { remembered } from "../../../src/sim/checkers/facts/remembered.ts"
import { Freshness } from "../../../src/sim/checkers/redirects/Freshness.ts"
import { Fencing } from "../../../src/sim/checkers/keys/Fencing.ts"
import { Idempotency } from "../../../src/sim/checkers/links/Idempotency.ts"
import { KeyLifecycle } from "../../../src/sim/checkers/keys/KeyLifecycle.ts"
import { LateRequests } from "../../../src/sim/checkers/nodes/LateRequests.ts"
import { Leading } from "../../../src/sim/checkers/redirects/Leading.ts"
import { Ledger } from "../../../src/sim/checkers/keys/Ledger.ts"
import { BulkEdits } from "../../../src/sim/checkers/links/BulkEdits.ts"
import { Lists } from "../../../src/sim/checkers/links/Lists.ts"
import { Liveness } from "../../../src/sim/checkers/nodes/Liveness.ts"
import { MachineTime } from "../../../src/sim/checkers/nodes/MachineTime.ts"
import { MintedOnce } from "../../../src/sim/checkers/keys/MintedOnce.ts"
import { PoolLevel } from "../../../src/sim/checkers/keys/PoolLevel.ts"
import { Crawlers } from "../../../src/sim/checkers/links/Crawlers.ts"
import { Previews } from "../../../src/sim/checkers/links/Previews.ts"
import { Quarantine } from "../../../src/sim/checkers/keys/Quarantine.ts"
import { FailedLookUps } from "../../../src/sim/checkers/users/FailedLookUps.ts"
import { Quotas } from "../../../src/sim/checkers/users/Quotas.ts"
import { ReadYourWrites } from "../../../src/sim/checkers/redirects/ReadYourWrites.ts"
import { Recovery } from "../../../src/sim/checkers/keys/Recovery.ts"
import { RepeatedDeletes } from "../../../src/sim/checkers/links/RepeatedDeletes.ts"
import { ReusedLinks } from "../../../src/sim/checkers/links/ReusedLinks.ts"
import { Removals } from "../../../src/sim/checkers/users/Removals.ts"
import { Revocation } from "../../../src/sim/checkers/users/Revocation.ts"
import { Sessions } from "../../../src/sim/checkers/users/Sessions.ts"
import { StaleRedirects } from "../../../src/sim/checkers/redirects/StaleRedirects.ts"
import { Specification } from "../../../src/sim/checkers/Specification.ts"
import { recordOf } from "../../../src/sim/stores/database/DatabaseClock.ts"
import { SessionFigures } from "../../../src/sim/stores/database/SessionFigures.ts"
import { Passwords } from "../../../src/sim/checkers/redirects/Passwords.ts"
import { Readiness } from "../../../src/sim/checkers/nodes/Readiness.ts"
import { Shown } from "../../../src/sim/checkers/links/Shown.ts"
import { Shutdown } from "../../../src/sim/checkers/nodes/Shutdown.ts"
import { UniqueBinding } from "../../../src/sim/checkers/keys/UniqueBinding.ts"
import { Directory } from "../../../src/sim/checkers/users/Directory.ts"
import { LastAdministrator } from "../../../src/sim/checkers/users/LastAdministrator.ts"
import { UserSessions } from "../../../src/sim/checkers/users/UserSessions.ts"
import { Visits } from "../../../src/sim/checkers/visits/Visits.ts"
import { WebhookEvents } from "../../../src/sim/checkers/users/WebhookEvents.ts"
import { Work } from "../../../src/sim/checkers/nodes/Work.ts"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { firstWebhookOf, ownReceiver } from "../../../src/sim/deployment/Users.ts"
import { formatMoment } from "../../../src/model/Iso8601.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import type { PoolKind } from "../../../src/storage/keys/KeyPool.ts"
import { created, evidence, exchange, noVisitsShed, row, userKey as key } from "../actors/Evidence.ts"

const by = "node-0#1"
const leased = (at_us: number, keys: ReadonlyArray<string>) =>
  ({ tag: "leased", at_us, by, shard: 0, keys }) as const

const handed = { tag: "handed", at_us: 2, by, keys: ["k"], took_us: 1 } as const

const bound = { tag: "bound", at_us: s_us, by, link: row } as const
const endingAt = (expiresAt: number) => ({ ...bound, link: { ...row, expiresAt } })
const expiring = endingAt(9_000)
const aMonth = { months: 1, days: 0, seconds: 0 } as const
const day_ms = 86_400_000
const deleted = (at_us: number) => ({ tag: "deleted", at_us, by, key: "abc" }) as const
const freed = (at_us: number) => ({ tag: "freed", at_us, by, key: "abc", custom: false }) as const
const rebound = { ...bound, at_us: 30 * s_us, link: { ...row, url: "https://example.com/2" } }
const changedTo = (at_s: number, some: Partial<Link>) =>
  ({ tag: "changed", at_us: at_s * s_us, by, link: { ...row, ...some } }) as const
const changed = changedTo(2, { url: "https://example.com/2" })
const change = exchange(2, { kind: "change", status: 200, url: changed.link.url, location: undefined })
/** A link that allows so many visits. */
const limited = (maxVisits: number) =>
  ({ ...bound, link: { ...row, maxVisits, visitsLeft: maxVisits } }) as const
/** An acknowledged change of a choice, and how the link is then. */
const edited = (at_s: number, choices: Choices, some: Partial<Exchange> = {}) =>
  exchange(at_s, {
    kind: "change",
    status: 200,
    location: undefined,
    choices: { title: "t", ...choices },
    ...some
  })
const editedTo = (at_s: number, some: Partial<Link>) => changedTo(at_s, { title: "t", ...some })
const unready = (at_s: number) => ({ tag: "unready", at_us: at_s * s_us, by }) as const
const poolAway = (at_s: number, pool: number) => ({
  name: "redisRestart",
  whom: `pool shard ${pool}`,
  at_us: at_s * s_us,
  for_us: 5 * s_us
})
/** A link with a password. */
const locked = { ...bound, link: { ...row, passwordHash: "open sesame" } } as const
/** A link that leads Germans elsewhere, and one that has variants. */
const led = {
  ...bound,
  link: { ...row, extras: { rules: [{ url: "https://example.com/de", when: whenOf("German") }] } }
} as const
const variants = ["a", "b"].map((name) => ({ url: `https://example.com/${name}`, weight: 1 }))
const varied = { ...bound, link: { ...row, extras: { variants } } } as const
const editResult = { key: "abc", status: 200, isChanged: true }
const bulkEdit = (at_s: number, edited: ReadonlyArray<Edited>, more: Partial<Exchange> = {}) =>
  exchange(at_s, {
    kind: "edit",
    list: { archived: "false", orderBy: "createdAt-desc", limit: 20 },
    edit: { act: "change" },
    key: undefined,
    status: 200,
    location: undefined,
    choices: { title: "edit 1" },
    since_us: at_s * s_us,
    edited,
    ...more
  })
const deletedInBulk = (edited: ReadonlyArray<Edited>, list: Partial<ListWish> = {}) =>
  bulkEdit(2, edited, {
    list: { archived: "any", orderBy: "createdAt-desc", limit: 20, ...list },
    edit: { act: "delete" },
    choices: undefined,
    answered_us: 4 * s_us
  })
const countedInBulk = (count: number) =>
  bulkEdit(2, [], {
    edit: { act: "count" },
    choices: undefined,
    edited: undefined,
    pages: { pages: [], isWhole: false, total: { count, at_us: 2.1 * s_us } }
  })
/** A link that is shown, as it is stored but for some fields. */
const showing = (at_s: number, some: object = {}, status = 200) =>
  exchange(at_s, {
    kind: "show",
    status,
    location: undefined,
    body: JSON.stringify({
      ...row,
      shortUrl: "http://linkmint.test/abc",
      expiresAt: null,
      visits: { total: 0 },
      ...some
    })
  })
/** Somebody is shown where a link leads. */
const previewing = (at_s: number, some: object = {}, status = 200) =>
  exchange(at_s, {
    kind: "preview",
    status,
    location: undefined,
    body: JSON.stringify({ url: row.url, createdAt: formatMoment(row.createdAt), visits: 0, ...some })
  })
const crawlable = { ...bound, link: { ...row, crawlable: true } } as const
/** A process recovers a database that had forgotten commits, and gives up these keys. */
const recovering = (at_s: number, keys: ReadonlyArray<string>) =>
  ({ tag: "recovered", at_us: at_s * s_us, by, keys, watermarks: [], epochs: [] }) as const
/** Crawlers ask what they may read, and are told of these links. */
const crawling = (at_s: number, ...keys: ReadonlyArray<string>) =>
  exchange(at_s, {
    kind: "crawl",
    key: undefined,
    location: undefined,
    body: ["User-agent: *", ...keys.map((key) => `Allow: /${key}$`), "Disallow: /", ""].join("\n")
  })
/** A link of a list, as it is stored but for some fields. */
const ofList = (key = "abc", some: Partial<ShownLink> = {}) => {
  const shown: ShownLink = {
    ...(row as object),
    url: row.url,
    shortUrl: `http://linkmint.test/${key}`,
    custom: row.custom,
    createdAt: formatMoment(row.createdAt),
    updatedAt: formatMoment(row.updatedAt),
    expiresAt: null,
    visits: { total: 0 },
    ...some
  }
  return { key, shown }
}
const later = formatMoment(row.createdAt + 1_000)
const ranked = (at_s: number, key: string, visits: number) =>
  ({
    tag: "ranked",
    at_us: at_s * s_us,
    by,
    ranks: [{ key, createdAt: row.createdAt, visits, lastVisit: 1 }]
  }) as const
/** A run that begins half a minute before the end of an hour. */
const untilNextHour = {
  beginning_ms: 3_570_000,
  end_us: 62 * s_us,
  healed_us: 42 * s_us,
  options: { ...presets.calm(), visitsSettle_s: 2 }
}
/** A list of one page that was followed to its end. */
const listing = (
  at_s: number,
  page: ListPages["pages"][number],
  wish: Partial<ListWish> = {},
  { apiKey, sent_us, answered_us, ...answer }: Partial<Exchange & ListPages> = {}
) =>
  exchange(at_s, {
    kind: "list",
    key: undefined,
    status: 200,
    location: undefined,
    list: { archived: "false", orderBy: "createdAt-desc", limit: 15, ...wish },
    since_us: sent_us ?? at_s * s_us,
    apiKey,
    sent_us: sent_us ?? at_s * s_us,
    answered_us: answered_us ?? at_s * s_us + 1_000,
    pages: { pages: [page], isWhole: true, total: undefined, ...answer } as ListPages
  })
/** A domain that is served from the 10th second to the 20th, and what is asked at its host. */
const domainChanges = [
  { at_us: 10 * s_us, isServed: true },
  { at_us: 20 * s_us, isServed: false }
]
const probe = (at_s: number, status: number) =>
  exchange(at_s, { kind: "probe", status, location: status === 302 ? row.url : undefined })
const returned = (at_us: number, keys: ReadonlyArray<string>) =>
  ({ tag: "returned", at_us, by, shard: 0, keys }) as const
const slot = { length: 7, range: 0 }
const advanced = (at_us: number, first: number, count: number) =>
  ({ tag: "advanced", at_us, by, slot, first, count }) as const
const minted = (at_us: number, first: number, keys: ReadonlyArray<string>) =>
  ({ tag: "minted", at_us, by, slot, first, keys }) as const
const recorded = (at_us: number, epoch: number, keys: ReadonlyArray<string>) =>
  ({ tag: "recorded", at_us, by, shard: 0, epoch, batch: `${epoch}/0`, keys }) as const
const claimed = (at_us: number, epoch: number) => ({ tag: "claimed", at_us, by, shard: 0, epoch }) as const
const pushed = (at_us: number, epoch: number, keys: ReadonlyArray<string>) =>
  ({ tag: "pushed", at_us, by, shard: 0, epoch, batch: "1/0", keys }) as const
/** A pool that has forgotten whom it gave its keys. */
const forgot = (at_us: number, unleased: ReadonlyArray<string>) =>
  ({ tag: "forgot", at_us, by, shard: 0, unleased, gone: [], again: [] }) as const
/** A database that has forgotten the link `abc`, and all of its ranges. */
const databaseForgot = (at_s: number, epoch = 0) =>
  ({
    tag: "database forgot",
    at_us: at_s * s_us,
    by: "database",
    commits: 1,
    links: ["abc"],
    keys: [],
    visits: [["node-0#1", [["abc", 1]]]],
    watermarks: [],
    epochs: [[0, epoch]]
  }) as const
const closed = (at_us: number, batch: string) => ({ tag: "closed", at_us, by, shard: 0, batch }) as const
const conflicted = (at_us: number) => ({ tag: "conflicted", at_us, by, link: row }) as const
/** A create with an `Idempotency-Key`, and one that would reuse a link. */
const keyed = (at_s: number, some: Partial<Exchange> = {}) =>
  created(at_s, { idempotencyKey: "K", body: "one", ...some })
const problem = (type: string) => JSON.stringify({ type: `https://linkmint.test/problems/${type}` })
const aliasTaken = (at_s: number, some: Partial<Exchange> = {}) =>
  keyed(at_s, { status: 409, key: undefined, body: problem("alias-taken"), ...some })
const reusing = (at_s: number, some: Partial<Exchange> = {}) => created(at_s, { reuse: true, ...some })
const another = { ...bound, at_us: 2 * s_us, link: { ...row, key: "xyz" } }
const inDomain = qualifiedKey({ domain: 1, key: "xyz" })
const draining = (at_s: number) => ({ tag: "draining", at_us: at_s * s_us, by }) as const
const ended = (at_s: number, unanswered: number) =>
  ({ tag: "ended", at_us: at_s * s_us, by, unanswered }) as const
/** The way of a batch as it should be, up to its lease. */
const way = (keys: ReadonlyArray<string>) => [
  advanced(1, 0, keys.length),
  minted(1, 0, keys),
  claimed(1, 1),
  recorded(1, 1, keys),
  pushed(1, 1, keys),
  closed(1, "1/0"),
  leased(1, keys)
]

const keysOf = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)
const visited = (at_s: number) =>
  ({ tag: "visited", at_us: at_s * s_us, by, key: "abc", isSure: true }) as const
const counting = (at_s: number, sequence: number) =>
  ({ tag: "counting", at_us: at_s * s_us, by, sequence }) as const
const counted = (at_s: number, visits: number) =>
  ({ tag: "counted", at_us: at_s * s_us, by, visits: [["abc", visits]] }) as const
const deleting = (at_s: number, status = 204) =>
  exchange(at_s, { kind: "delete", status, location: undefined })
const granted = (at_s: number, count: number, demand = count, period: "minute" | "day" = "minute") =>
  ({
    tag: "granted",
    at_us: at_s * s_us,
    by,
    quota: "q",
    limit: 10,
    period,
    demand,
    granted: count,
    nextIn_ms: 0
  }) as const
const stoodStill = (at_s: number, for_s: number) =>
  ({ tag: "paused", at_us: at_s * s_us, by, for_us: for_s * s_us }) as const
const begunLate = (at_s: number, closed_s: number, method = "DELETE") =>
  ({ tag: "begun late", at_us: at_s * s_us, by, method, closed_us: closed_s * s_us }) as const
const settled = (at_us: number, batch: string) => ({ tag: "settled", at_us, by, shard: 0, batch }) as const
const machineClock = (at_s: number, ahead_s: number) =>
  ({ tag: "machine clock", at_us: at_s * s_us, by: "node-0", ahead_us: ahead_s * s_us }) as const
const wrongTime = (at_s: number) =>
  ({ tag: "kept wrong time", at_us: at_s * s_us, by, off_ms: 40_000 }) as const
const idling = { ...presets.calm(), sessionIdle_s: 8 }
const took = (at_s: number, isAllowed: boolean) =>
  ({ tag: "took", at_us: at_s * s_us, by, use: "create", quotas: ["q"], limits: [], isAllowed }) as const
const guess = { kind: "guess", key: "nobody", from: "192.0.2.7", status: 404, location: undefined } as const
const guessing = {
  ...presets.calm(),
  failedLookupsPerMinute: 10,
  workload: { ...presets.calm().workload, withAccount: 0.5 }
}
const reserved = (at_s: number, reservation = 0) =>
  ({ ...took(at_s, true), use: "lookup", reservation }) as const
const lookUpEnded = (at_s: number, tag: "kept" | "gave back", reservation = 0) =>
  ({ tag, at_us: at_s * s_us, by, quotas: ["q"], reservation }) as const
/** A message to the webhook that a user has from the beginning on. */
const toFirst = { webhook: firstWebhookOf("usr_0"), message: "msg", isChallenge: false } as const
const sentTo = (at_s: number, lease = "lease") =>
  ({
    tag: "leased messages",
    at_us: at_s * s_us,
    by,
    messages: [{ ...toFirst, lease }]
  }) as const
const gotThrough = (at_s: number, lease = "lease") =>
  ({ tag: "delivered", at_us: at_s * s_us, by, ...toFirst, lease }) as const
const putOff = (at_s: number, for_ms: number, lease = "lease") =>
  ({
    tag: "put off",
    at_us: at_s * s_us,
    by,
    ...toFirst,
    lease,
    attempt: 1,
    for_ms,
    pause_ms: 1_000
  }) as const
const keyList = (at_s: number, listed: ReadonlyArray<string>, user = "usr_0") =>
  exchange(at_s, { kind: "keys", key: undefined, status: 200, location: undefined, user, listed })
/** A process that starts, and a clock of the database that jumps. */
const startedAt = (at_s: number) => ({ tag: "started", at_us: at_s * s_us, by }) as const
const jumped = (at_s: number, by_s: number) => recordOf([{ at_us: at_s * s_us, by_us: by_s * s_us }], 0)
/** A disabled user, and one who is enabled again; another password; and a session with its end. */
const disabled = (at_s: number) =>
  ({ tag: "user disabled", at_us: at_s * s_us, by: "an administrator", user: "usr_0" }) as const
const enabled = (at_s: number) => ({ ...disabled(at_s), tag: "user enabled" }) as const
const passwordChanged = (at_s: number, isTemporary = false) =>
  ({ ...disabled(at_s), tag: "password changed", isTemporary, revokesKeys: false }) as const
const begun = (at_s: number, session = "ses") =>
  ({ tag: "session begun", at_us: at_s * s_us, by, session, user: "usr_0" }) as const
const sessionEnded = (at_s: number) =>
  ({ tag: "session ended", at_us: at_s * s_us, by, session: "ses" }) as const
const asked = (at_s: number, status: number, some: Partial<Exchange> = {}) =>
  exchange(at_s, { kind: "account", key: undefined, location: undefined, session: "ses", status, ...some })
/** A user who is added, and one who is removed; and what is asked for of the directory. */
const userAdded = (at_s: number, user = "usr_5", email = "ada@example.com") =>
  ({ tag: "user added", at_us: at_s * s_us, by, user, email }) as const
const userGone = (at_s: number) => ({ tag: "user removed", at_us: at_s * s_us, by, user: "usr_5" }) as const
const adding = (at_s: number, status: number, listed: ReadonlyArray<string> = ["usr_5"]) =>
  exchange(at_s, {
    kind: "add user",
    key: undefined,
    location: undefined,
    email: "Ada@example.com",
    status,
    listed
  })
const listingUsers = (at_s: number, listed: ReadonlyArray<string>, email?: string) =>
  exchange(at_s, { kind: "users", key: undefined, location: undefined, email, status: 200, listed })
/** The same by a user who asks for something about sessions or the password. */
const aboutSessions = (at_s: number, status: number, some: Partial<Exchange>) =>
  asked(at_s, status, { user: "usr_0", ...some })
const signingIn = (at_s: number, status: number, isRight: boolean) =>
  asked(at_s, status, { kind: "sign in", session: undefined, user: "usr_0", isRight })
/** A try at guessing, of which a node allows three in a minute by itself. */
const tried = (at_s: number, isAllowed: boolean) =>
  ({ ...took(at_s, isAllowed), held: [{ limit: 3, period: "minute" }] }) as const
const ownBound = { ...bound, link: { ...row, owner: "usr_0" } }
const offered = { tag: "offered", at_us: s_us, by, events: ["msg"], owners: ["usr_0"] } as const
const arrived = {
  tag: "received",
  at_us: s_us,
  by,
  url: `${ownReceiver}usr_0/text`,
  events: ["msg"],
  headers: {},
  body: ""
} as const
/** A user whom an administrator removes. */
const userRemoved = (at_s: number, links: "keep" | "delete") =>
  exchange(at_s, {
    kind: "remove user",
    key: undefined,
    location: undefined,
    user: "usr_0",
    links,
    status: 204
  })
/** A link that is deleted, and redirected at some time, by a node that may do so for 10 s. */
const stale = (at_s: number): Partial<Evidence> => ({
  options: { ...presets.calm(), staleRedirects_s: 10 },
  exchanges: [created(1), deleting(2), exchange(at_s, {})],
  journal: [bound, deleted(2 * s_us)]
})

/** A node takes the database for away, of which it heard at 3 s. */
const takenForAway = {
  by,
  from_us: 5 * s_us,
  until_us: 20 * s_us,
  heard_us: 3 * s_us,
  database: 0
} as const
/** A link that is redirected, and once more by a node that takes the database for away from 5 s on, and that may redirect by what it knows for 10 s. */
const waiting = (
  some: Partial<Exchange> = {},
  { before = [], ...others }: Partial<Evidence> & { readonly before?: ReadonlyArray<Exchange> } = {}
): Partial<Evidence> => ({
  options: { ...presets.calm(), staleRedirects_s: 10, databases: 1, level: "actors" },
  exchanges: [
    created(1),
    exchange(2.5, {}),
    ...before,
    exchange(4, { sent_us: 4 * s_us, answered_us: 8 * s_us, ...some })
  ],
  journal: [bound],
  silences: [{ by, database: 0, from_us: 3 * s_us, until_us: 20 * s_us }],
  aways: [takenForAway],
  ...others
})

/** Runs in which one promise was broken, and whose business it is. */
const aloneOptions = { ...presets.calm(), alone: "postgres", nodes: 1, pools: 1 } as const

const broken: ReadonlyArray<readonly [string, Checker, Partial<Evidence>]> = [
  ["a run that had too many tasks", Work, { unfinished_us: 5 * s_us }],
  [
    "a key of the pool of a process alone that was in no record when it shut down",
    Ledger,
    {
      options: aloneOptions,
      journal: [...way(["k"]), returned(3 * s_us, ["k"]), draining(4), leased(5 * s_us, ["k"]), ended(6, 0)]
    }
  ],
  [
    "a key bound twice",
    UniqueBinding,
    {
      journal: [
        { tag: "bound", at_us: 1, by, link: row },
        { tag: "bound", at_us: 2, by, link: { ...row, url: "https://example.com/2" } }
      ]
    }
  ],
  [
    "a key given to two clients",
    UniqueBinding,
    { exchanges: [created(1), created(2, { url: "https://example.com/2" })] }
  ],
  [
    "an alias that is refused to the one who has it",
    UniqueBinding,
    { exchanges: [created(1, { alias: "abc", key: undefined, status: 409 })] }
  ],
  [
    "an alias that is refused as taken, and free",
    UniqueBinding,
    { exchanges: [created(1, { alias: "xyz", key: undefined, status: 409 })] }
  ],
  [
    "an alias that is bound after it was refused to its only try",
    UniqueBinding,
    {
      exchanges: [created(2, { alias: "abc", key: undefined, status: 409, url: "https://example.com/2" })],
      journal: [bound, deleted(1.5 * s_us), freed(3 * s_us), rebound]
    }
  ],
  [
    "a redirect to another link's target",
    UniqueBinding,
    { exchanges: [created(1), exchange(2, { location: "https://example.com/2" })] }
  ],
  ["an acknowledged create that is not stored", Durability, { exchanges: [created(1)], row: () => null }],
  [
    "an unknown key whose 201 went before its row",
    ReadYourWrites,
    {
      journal: [{ tag: "bound", at_us: 3 * s_us, by: "node-0#1", link: row }],
      exchanges: [created(1), exchange(2, { status: 404 })]
    }
  ],
  ["an unknown key after its 201", ReadYourWrites, { exchanges: [created(1), exchange(2, { status: 404 })] }],
  ["an end that nobody wanted", ReadYourWrites, { exchanges: [created(1), exchange(2, { status: 410 })] }],
  [
    "an expiry that comes too early",
    ReadYourWrites,
    { exchanges: [created(1), exchange(2, { status: 410 })], journal: [expiring] }
  ],
  [
    "a redirect 1.1 s after a delete",
    Freshness,
    { exchanges: [created(1), exchange(2, { kind: "delete", status: 204 }), exchange(3.11, {})] }
  ],
  [
    "a redirect to the former target 1.1 s after a change",
    Freshness,
    { exchanges: [created(1), change, exchange(3.11, {})], journal: [bound, changed] }
  ],
  [
    "a redirect to the former target long after a change that nobody was told of",
    Freshness,
    { exchanges: [created(1), { ...change, status: 503 }, exchange(5.1, {})], journal: [bound, changed] }
  ],
  [
    "a redirect long after a delete that nobody was told of",
    Freshness,
    { exchanges: [created(1), deleting(2, 503), exchange(5.1, {})], journal: [bound, deleted(2 * s_us)] }
  ],
  [
    "a redirect to a target that the key does not have yet",
    UniqueBinding,
    {
      exchanges: [created(1), exchange(1.5, { location: "https://example.com/2" })],
      journal: [bound, changed]
    }
  ],
  [
    "an acknowledged change that is not stored",
    Durability,
    { exchanges: [created(1), change], journal: [bound] }
  ],
  ["a change that was undone", Durability, { exchanges: [created(1), change], journal: [bound, changed] }],
  [
    "a redirect 1.1 s after the expiry",
    Freshness,
    { exchanges: [created(1), exchange(10.1, {})], journal: [expiring] }
  ],
  [
    "a redirect more than a link has visits",
    ExactVisits,
    {
      exchanges: [created(1, { maxVisits: 2 }), exchange(2, {}), exchange(3, {}), exchange(4, {})],
      journal: [limited(2)]
    }
  ],
  [
    "a redirect more than a change allows",
    ExactVisits,
    {
      exchanges: [created(1), edited(2, { maxVisits: 1 }), exchange(4, {}), exchange(5, {})],
      journal: [bound, editedTo(2, { maxVisits: 1, visitsLeft: 1 })]
    }
  ],
  [
    "a redirect anew of a limit that was lowered and raised again",
    ExactVisits,
    {
      exchanges: [
        created(1, { maxVisits: 2 }),
        exchange(2, {}),
        exchange(3, {}),
        edited(4, { maxVisits: 1 }),
        edited(5, { maxVisits: 2 }),
        exchange(7, {})
      ],
      journal: [
        limited(2),
        editedTo(4, { maxVisits: 1, visitsLeft: -1 }),
        editedTo(5, { maxVisits: 2, visitsLeft: 0 })
      ]
    }
  ],
  [
    "a link that is used up though a change allows more",
    ExactVisits,
    {
      exchanges: [
        created(1, { maxVisits: 1 }),
        exchange(2, {}),
        edited(3, { maxVisits: 2 }),
        exchange(5, { status: 410 })
      ],
      journal: [limited(1), editedTo(3, { maxVisits: 2, visitsLeft: 1 })]
    }
  ],
  [
    "a redirect whose rule does not hold",
    Leading,
    { exchanges: [created(1), exchange(2, { location: "https://example.com/de" })], journal: [led] }
  ],
  [
    "a redirect whose rule is not followed",
    Leading,
    { exchanges: [created(1), exchange(2, { visitor: "German" })], journal: [led] }
  ],
  [
    "a path that is appended without its link's wish",
    Leading,
    { exchanges: [created(1), exchange(2, { path: "more", location: "https://example.com/1/more" })] }
  ],
  [
    "a path that its link forwards, and that leads nowhere",
    Leading,
    {
      exchanges: [created(1), exchange(2, { path: "more", status: 404, location: undefined })],
      journal: [{ ...bound, link: { ...row, extras: { forwardPath: true } } }]
    }
  ],
  [
    "a visitor who does not keep their variant",
    Leading,
    {
      exchanges: [
        created(1),
        exchange(2, { location: "https://example.com/a" }),
        exchange(3, { location: "https://example.com/b", answeredBy: "node-1#1" })
      ],
      journal: [varied]
    }
  ],
  [
    "a redirect by a rule that was taken away 1.1 s before",
    Freshness,
    {
      exchanges: [
        created(1),
        edited(2, { rules: null }),
        exchange(3.11, { visitor: "German", location: "https://example.com/de" })
      ],
      journal: [led, editedTo(2, {})]
    }
  ],
  [
    "a change that leaves out a choice",
    Chosen,
    { exchanges: [created(1), edited(2, { archived: true })], journal: [bound, editedTo(2, {})] }
  ],
  [
    "a create that leaves a title that it did not choose",
    Chosen,
    { exchanges: [created(1)], journal: [{ ...bound, link: { ...row, title: "another's" } }] }
  ],
  [
    "a link that ends a day before its create chose",
    Chosen,
    { exchanges: [created(1, { lasts: aMonth })], journal: [endingAt(1_000 + 30 * day_ms)] }
  ],
  [
    "a link that never ends, though its create chose that it does",
    Chosen,
    { exchanges: [created(1, { lasts: aMonth })] }
  ],
  [
    "a link that ends though its create did not choose that",
    Chosen,
    { exchanges: [created(1)], journal: [endingAt(1_000 + 31 * day_ms)] }
  ],
  [
    "a change of the target alone that clears a choice",
    Chosen,
    { exchanges: [created(1), change], journal: [led, changed] }
  ],
  [
    "a change that clears another choice",
    Chosen,
    {
      exchanges: [created(1), edited(2, { archived: true })],
      journal: [led, editedTo(2, { extras: { archived: true } })]
    }
  ],
  [
    "a change whose answer says something else",
    Chosen,
    {
      exchanges: [created(1), edited(2, { archived: true }, { body: `{"title":"t"}` })],
      journal: [bound, editedTo(2, { extras: { archived: true } })]
    }
  ],
  ["a list without a link that is there", Lists, { exchanges: [listing(2, [])] }],
  ["a list that has a link twice", Lists, { exchanges: [listing(2, [ofList(), ofList()])] }],
  [
    "a list that is not whole, and has a link twice",
    Lists,
    { exchanges: [listing(2, [ofList(), ofList()], {}, { isWhole: false })] }
  ],
  [
    "a list that has a deleted link",
    Lists,
    { exchanges: [listing(3, [ofList()])], journal: [bound, deleted(2 * s_us)] }
  ],
  [
    "a list that has an archived link unasked",
    Lists,
    {
      exchanges: [listing(3, [ofList("abc", { archived: true })])],
      journal: [bound, editedTo(2, { extras: { archived: true } })]
    }
  ],
  [
    "a list of a tag that has a link without it",
    Lists,
    { exchanges: [listing(3, [ofList()], { tag: "tag" })] }
  ],
  ["a list without a tag that lacks such a link", Lists, { exchanges: [listing(3, [], { notTag: "tag" })] }],
  ["a list of another domain that has a link", Lists, { exchanges: [listing(3, [ofList()], { domain: 1 })] }],
  [
    "a list of links with a text that has one without it",
    Lists,
    { exchanges: [listing(3, [ofList()], { q: "nothing" })] }
  ],
  [
    "a list of links with a text, in whatever case, that lacks one",
    Lists,
    { exchanges: [listing(3, [], { q: "EXAMPLE" })] }
  ],
  [
    "a user's list that has a link of another one",
    Lists,
    {
      exchanges: [listing(3, [ofList()], {}, { apiKey: key.secret })],
      userKeys: [key]
    }
  ],
  [
    "a list of archived links without one of them",
    Lists,
    {
      exchanges: [listing(3, [], { archived: "true" })],
      journal: [bound, editedTo(2, { extras: { archived: true } })]
    }
  ],
  [
    "a list by visits that begins with a link that was visited less",
    Lists,
    {
      exchanges: [listing(9, [ofList("xyz"), ofList("abc")], { orderBy: "visits-desc" })],
      journal: [bound, another, ranked(3, "abc", 2), ranked(3, "xyz", 1)]
    }
  ],
  [
    "a list by the last visit that has links of the same hour in another order than that of their keys' age",
    Lists,
    {
      exchanges: [
        listing(9, [ofList("abc"), ofList("xyz", { createdAt: later })], { orderBy: "lastVisit-desc" })
      ],
      journal: [bound, { ...another, link: { ...another.link, createdAt: Date.parse(later) } }]
    }
  ],
  [
    "a list by visits without a link that had its rank before",
    Lists,
    {
      exchanges: [listing(9, [], { orderBy: "visits-desc" })],
      journal: [bound, ranked(3, "abc", 2)]
    }
  ],
  ["a link that was visited, and gets no rank", Lists, { ...untilNextHour, journal: [bound, counted(5, 1)] }],
  [
    "a list that has a link as it was before a change",
    Lists,
    { exchanges: [listing(4, [ofList()])], journal: [bound, changed] }
  ],
  [
    "a list that has a link with more visits than there were",
    Lists,
    { exchanges: [listing(4, [ofList("abc", { visits: { total: 1 } })])] }
  ],
  [
    "a list that has an older link before a newer one",
    Lists,
    { exchanges: [listing(4, [ofList("old", { createdAt: "1969-01-01T00:00:00.000Z" }), ofList()])] }
  ],
  [
    "a page with more links than were asked for",
    Lists,
    { exchanges: [listing(4, [ofList(), ofList("other")], { limit: 1 })] }
  ],
  [
    "a list whose total is higher than the number of links",
    Lists,
    { exchanges: [listing(4, [ofList()], {}, { total: { count: 2, at_us: 4 * s_us } })] }
  ],
  [
    "a list whose total is lower than the number of links",
    Lists,
    { exchanges: [listing(4, [ofList()], {}, { total: { count: 0, at_us: 4 * s_us } })] }
  ],
  [
    "a link that is shown as it was before a change",
    Shown,
    { exchanges: [change, showing(4)], journal: [bound, changed] }
  ],
  [
    "a link that is shown though it was deleted",
    Shown,
    {
      exchanges: [
        exchange(1, { kind: "create", status: 201, url: row.url }),
        exchange(2, { kind: "delete", status: 204 }),
        showing(4)
      ],
      journal: [bound, deleted(2 * s_us)]
    }
  ],
  [
    "a link that is there and not shown",
    Shown,
    { exchanges: [exchange(1, { kind: "create", status: 201, url: row.url }), showing(4, {}, 404)] }
  ],
  ["visits that never happened", Shown, { exchanges: [showing(4, { visits: { total: 1 } })] }],
  [
    "visits that the store has and are not shown",
    Shown,
    { exchanges: [showing(4)], journal: [bound, visited(2), counted(3, 1)] }
  ],
  [
    "visits that are left of a link and were used",
    Shown,
    { exchanges: [exchange(2, {}), showing(4, { visitsLeft: 2, maxVisits: 2 })], journal: [limited(2)] }
  ],
  [
    "a link that crawlers are told of, and that is not for them",
    Crawlers,
    { exchanges: [crawling(4, "abc")], journal: [bound] }
  ],
  [
    "a link with a password that crawlers are told of",
    Crawlers,
    {
      exchanges: [crawling(4, "abc")],
      journal: [{ ...bound, link: { ...row, crawlable: true, passwordHash: "open sesame" } }]
    }
  ],
  [
    "a link that crawlers are told of, and that was gone when a node was asked first",
    Crawlers,
    { exchanges: [crawling(4, "abc")], journal: [crawlable, deleted(2 * s_us)] }
  ],
  ["a link that crawlers are not told of", Crawlers, { exchanges: [crawling(4)], journal: [crawlable] }],
  ["a preview of another target", Previews, { exchanges: [previewing(4, { url: "https://example.com/2" })] }],
  [
    "a preview of a link as it was before a change",
    Previews,
    { exchanges: [change, previewing(4)], journal: [bound, changed] }
  ],
  [
    "a preview of where a link with a password leads",
    Previews,
    { exchanges: [previewing(4)], journal: [locked] }
  ],
  [
    "a preview of a link that varies, and does not",
    Previews,
    { exchanges: [previewing(4, { varies: true })] }
  ],
  ["a preview of visits that never happened", Previews, { exchanges: [previewing(4, { visits: 1 })] }],
  [
    "a preview without visits that the store has",
    Previews,
    { exchanges: [previewing(4)], journal: [bound, visited(2), counted(3, 1)] }
  ],
  [
    "a preview of a link that was deleted",
    Previews,
    {
      exchanges: [created(1), exchange(2, { kind: "delete", status: 204 }), previewing(4)],
      journal: [bound, deleted(2 * s_us)]
    }
  ],
  ["a link that is there and has no preview", Previews, { exchanges: [created(1), previewing(4, {}, 404)] }],
  [
    "a node that is not ready while one of several pools is away",
    Readiness,
    { options: { ...presets.calm(), pools: 3 }, journal: [unready(30)], strikes: [poolAway(28, 1)] }
  ],
  [
    "a link that leads somebody without its password",
    Passwords,
    { exchanges: [exchange(2, {})], journal: [locked] }
  ],
  [
    "a link that leads somebody with a wrong password",
    Passwords,
    { exchanges: [exchange(2, { password: "no password" })], journal: [locked] }
  ],
  [
    "a password that a link has no more, and that leads somebody",
    Passwords,
    {
      exchanges: [
        exchange(4, {
          kind: "change",
          status: 200,
          location: undefined,
          choices: { title: "t", password: "open barley" }
        }),
        exchange(6, { password: "open sesame" })
      ],
      journal: [
        locked,
        {
          ...bound,
          tag: "changed",
          at_us: 4 * s_us,
          link: { ...row, title: "t", passwordHash: "open barley" }
        }
      ]
    }
  ],
  [
    "a create whose link has another password",
    Chosen,
    { exchanges: [created(1.1, { password: "open barley" })], journal: [locked] }
  ],
  [
    "a create whose link has a password that nobody chose",
    Chosen,
    { exchanges: [created(1.1)], journal: [locked] }
  ],
  [
    "a password that is refused",
    Passwords,
    { exchanges: [exchange(2, { password: "open sesame", status: 401 })], journal: [locked] }
  ],
  ["a password that a link without one asks for", Passwords, { exchanges: [exchange(2, { status: 401 })] }],
  ["a bulk edit without a result for a link", BulkEdits, { exchanges: [bulkEdit(2, [])] }],
  [
    "a bulk edit with two results for a link",
    BulkEdits,
    { exchanges: [bulkEdit(2, [editResult, editResult])], journal: [bound, editedTo(2, { title: "edit 1" })] }
  ],
  ["a bulk edit that changed nothing", BulkEdits, { exchanges: [bulkEdit(2, [editResult])] }],
  [
    "a bulk edit of a link that was archived",
    BulkEdits,
    {
      exchanges: [bulkEdit(2, [editResult])],
      journal: [
        bound,
        editedTo(2, { extras: { archived: true } }),
        editedTo(2, { title: "edit 1", extras: { archived: true } })
      ]
    }
  ],
  [
    "a bulk edit that has not added a tag",
    BulkEdits,
    {
      exchanges: [bulkEdit(2, [editResult], { edit: { act: "change", addTags: ["edited"] } })],
      journal: [bound, editedTo(2, { title: "edit 1" })]
    }
  ],
  [
    "a bulk edit that has not taken a tag away",
    BulkEdits,
    {
      exchanges: [bulkEdit(2, [editResult], { edit: { act: "change", removeTags: ["tag"] } })],
      journal: [bound, editedTo(2, { title: "edit 1", tags: ["tag"] })]
    }
  ],
  [
    "a bulk edit that has not changed all that it chose",
    BulkEdits,
    {
      exchanges: [bulkEdit(2, [editResult], { choices: { title: "edit 1", crawlable: true } })],
      journal: [bound, editedTo(2, { title: "edit 1" })]
    }
  ],
  [
    "a bulk edit that has changed what it did not choose",
    BulkEdits,
    {
      exchanges: [bulkEdit(2, [editResult])],
      journal: [bound, editedTo(2, { title: "edit 1", redirectStatus: 301 })]
    }
  ],
  [
    "a bulk edit of a link without its tag",
    BulkEdits,
    {
      exchanges: [
        bulkEdit(2, [editResult], {
          list: { archived: "any", tag: "tag", orderBy: "createdAt-desc", limit: 20 }
        })
      ],
      journal: [bound, editedTo(2, { title: "edit 1" })]
    }
  ],
  [
    "a link that a bulk edit says to have deleted, and lives on",
    BulkEdits,
    { exchanges: [deletedInBulk([{ key: "abc", status: 204, isChanged: true }])] }
  ],
  [
    "a link that a bulk edit has deleted, and did not belong to it",
    BulkEdits,
    {
      exchanges: [deletedInBulk([{ key: "abc", status: 204, isChanged: true }], { q: "99" })],
      journal: [bound, deleted(3 * s_us)]
    }
  ],
  ["a link that a bulk edit has left", BulkEdits, { exchanges: [deletedInBulk([])] }],
  ["a bulk edit that counts too few links", BulkEdits, { exchanges: [countedInBulk(0)] }],
  ["a bulk edit that counts too many links", BulkEdits, { exchanges: [countedInBulk(2)] }],
  [
    "a node that is ready though it is to shut down",
    Shutdown,
    {
      journal: [
        { tag: "draining", at_us: s_us, by },
        { tag: "ready", at_us: 1.3 * s_us, asked_us: 1.2 * s_us, by }
      ]
    }
  ],
  [
    "a command that was sent to Redis behind one that was not answered in time",
    Sessions,
    { journal: [{ tag: "sent behind", at_us: s_us, by, operation: "KeyPool.lease" }] }
  ],
  [
    "a connection to a primary that was left behind",
    Sessions,
    { sessions: Object.assign(new SessionFigures(), { leftBehind: [{ by, at_us: s_us }] }) }
  ],
  [
    "a link at the host of a domain that was verified 2.1 s before",
    Domains,
    { exchanges: [created(1), probe(12.1, 302)], domainChanges }
  ],
  [
    "a deleted link at the host of a domain that was verified",
    Domains,
    { exchanges: [created(1), probe(15, 410)], journal: [bound, deleted(2 * s_us)], domainChanges }
  ],
  [
    "a link that is not at the host of a domain that was removed 2.1 s before",
    Domains,
    { exchanges: [created(1), probe(22.1, 404)], domainChanges }
  ],
  [
    "a link that is not at the host of a domain that is not verified yet",
    Domains,
    { exchanges: [created(1), probe(5, 404)], domainChanges }
  ],
  [
    "a probe that redirects once more than its link allows",
    ExactVisits,
    { exchanges: [created(1, { maxVisits: 1 }), exchange(2, {}), probe(3, 302)], journal: [limited(1)] }
  ],
  [
    "a link that is used up before it was followed so often",
    ExactVisits,
    {
      exchanges: [
        created(1, { maxVisits: 3 }),
        exchange(2, {}),
        exchange(3, { status: 503 }),
        exchange(4, { status: 410 })
      ],
      journal: [limited(3)]
    }
  ],
  [
    "a key freed before its quarantine is over",
    Quarantine,
    { journal: [bound, deleted(2 * s_us), freed(20 * s_us)] }
  ],
  ["a key freed while it is in use", Quarantine, { journal: [bound, freed(30 * s_us)] }],
  ["a key that is never freed", Quarantine, { journal: [bound, deleted(2 * s_us)], end_us: 65 * s_us }],
  ["an expired link that nobody ends", Quarantine, { journal: [expiring], end_us: 65 * s_us }],
  [
    "a link that is ended too early",
    Quarantine,
    { journal: [expiring, { tag: "expired", at_us: 8 * s_us, by, key: "abc" }] }
  ],
  [
    "a redirect to what a recycled key stood for",
    Quarantine,
    { exchanges: [exchange(31, {})], journal: [bound, deleted(2 * s_us), freed(25 * s_us), rebound] }
  ],
  ["a key bound again that is not free", UniqueBinding, { journal: [bound, deleted(2 * s_us), rebound] }],
  [
    "an acknowledged create of a recycled key that is not stored",
    Durability,
    {
      exchanges: [created(30, { url: rebound.link.url })],
      journal: [bound, deleted(2 * s_us), freed(25 * s_us), rebound],
      row: () => null
    }
  ],
  [
    "a freed key that is leased without a record",
    KeyLifecycle,
    { journal: [...way(["abc"]), bound, deleted(2 * s_us), freed(25 * s_us), leased(26 * s_us, ["abc"])] }
  ],
  ["two links of one Idempotency-Key", Idempotency, { exchanges: [keyed(1)], journal: [bound, another] }],
  [
    "two creates of one Idempotency-Key",
    Idempotency,
    { exchanges: [keyed(1, { status: 504 }), keyed(2), keyed(3)] }
  ],
  [
    "a repeat that is answered otherwise",
    Idempotency,
    { exchanges: [keyed(1), keyed(2, { isReplay: true, body: "two" })] }
  ],
  [
    "a repeat that is refused after an answer",
    Idempotency,
    { exchanges: [keyed(1), keyed(2, { status: 409 })] }
  ],
  [
    "a repeat that is refused for a quota after an answer",
    Idempotency,
    { exchanges: [keyed(1, { apiKey: "lm_one" }), keyed(2, { apiKey: "lm_one", status: 429 })] }
  ],
  [
    "another body that is answered",
    Idempotency,
    { exchanges: [keyed(1), keyed(2, { url: "https://example.com/2", status: 409 })] }
  ],
  [
    "a repeat that is taken for another",
    Idempotency,
    { exchanges: [keyed(1, { status: 504 }), keyed(2, { status: 422 })] }
  ],
  [
    "a repeat that is told to wait though its alias was taken",
    Idempotency,
    { exchanges: [aliasTaken(1), aliasTaken(3, { body: problem("idempotency-in-progress") })] }
  ],
  ["a repeat that is given an alias that was taken", Idempotency, { exchanges: [aliasTaken(1), keyed(9)] }],
  ["two links of one URL", ReusedLinks, { exchanges: [reusing(1)], journal: [bound, another] }],
  [
    "a link in a further domain that is given to who reuses links",
    ReusedLinks,
    {
      exchanges: [reusing(4, { status: 200, key: inDomain })],
      journal: [{ ...bound, link: { ...row, key: inDomain } }]
    }
  ],
  [
    "a link that is given again after its end",
    ReusedLinks,
    {
      exchanges: [reusing(4, { status: 200 })],
      journal: [bound, deleted(3 * s_us)]
    }
  ],
  [
    "a key freed by a node that must know that the database's clock has jumped",
    Quarantine,
    {
      journal: [
        { tag: "started", at_us: 0, by },
        { ...bound, at_us: 21 * s_us },
        deleted(22 * s_us),
        freed(50 * s_us)
      ],
      clock: recordOf([{ at_us: 30 * s_us, by_us: 5 * s_us }], 0)
    }
  ],
  [
    "a redirect 1.1 s after the expiry by the database's clock, which is 5 s ahead",
    Freshness,
    {
      exchanges: [created(1), exchange(6.1, {})],
      journal: [expiring],
      clock: recordOf([{ at_us: 2 * s_us, by_us: 5 * s_us }], 0)
    }
  ],
  [
    "a statement that took longer than its bound",
    Sessions,
    { sessions: Object.assign(new SessionFigures(), { statementMost_us: 3.6 * s_us }) }
  ],
  [
    "a transaction that waited with its locks for longer than its bound",
    Sessions,
    { sessions: Object.assign(new SessionFigures(), { idleMost_us: 3.1 * s_us }) }
  ],
  [
    "a node with more sessions than its pool may have",
    Sessions,
    { sessions: Object.assign(new SessionFigures(), { sessionsMost: 41 }) }
  ],
  [
    "a lease that the specification does not have",
    Specification,
    { journal: [minted(1, 0, ["k"]), leased(2, ["k"])] }
  ],
  [
    "a push that the specification does not have",
    Specification,
    { journal: [minted(1, 0, ["k"]), pushed(2, 1, ["k"])] }
  ],
  [
    "an old owner's record",
    Specification,
    { journal: [minted(1, 0, ["k"]), claimed(1, 2), recorded(2, 1, ["k"])] }
  ],
  ["a second row of a key", Specification, { journal: [...way(["abc"]), bound, bound] }],
  [
    "a key that is not where the specification has it",
    Specification,
    { journal: [minted(1, 0, ["k"]), claimed(1, 1), recorded(1, 1, ["k"])] }
  ],
  ["a key leased twice", KeyLifecycle, { journal: [...way(["k"]), leased(2, ["k"])] }],
  ["a key pushed again", KeyLifecycle, { journal: [...way(["k"]), pushed(2, 2, ["k"])] }],
  [
    "a key of a batch that is finished long after it was bound",
    KeyLifecycle,
    {
      journal: [
        ...way(["abc"]),
        forgot(2, ["abc"]),
        bound,
        recorded(2, 2, ["abc"]),
        pushed(9 * s_us, 2, ["abc"])
      ]
    }
  ],
  [
    "a key returned twice",
    KeyLifecycle,
    { journal: [...way(["k"]), returned(2, ["k"]), returned(3, ["k"])] }
  ],
  ["a key pushed without a record", KeyLifecycle, { journal: [minted(1, 0, ["k"]), pushed(2, 1, ["k"])] }],
  [
    "a batch closed before it is pushed",
    KeyLifecycle,
    { journal: [recorded(1, 1, ["k"]), closed(2, "1/0")] }
  ],
  [
    "a record that may be closed while its keys are in a pool in memory",
    KeyLifecycle,
    {
      options: aloneOptions,
      journal: [...way(["k"]).filter(({ tag }) => tag !== "leased"), settled(2, "1/0")]
    }
  ],
  [
    "a record that may be closed while its keys are in a buffer",
    KeyLifecycle,
    { options: aloneOptions, journal: [...way(["abc"]), settled(2, "1/0"), { ...bound, at_us: 13 * s_us }] }
  ],
  [
    "a record that may be closed, and whose keys are in a buffer at last",
    KeyLifecycle,
    { options: aloneOptions, buffered: new Set(["k"]), journal: [...way(["k"]), settled(2, "1/0")] }
  ],
  ["a conflict that no pool is to blame for", KeyLifecycle, { journal: [...way(["abc"]), conflicted(2)] }],
  [
    "a key bound in two domains at once",
    KeyLifecycle,
    { journal: [...way(["abc"]), bound, { ...bound, at_us: 2 * s_us, link: { ...row, key: "abc~1" } }] }
  ],
  [
    "a key that its pool hands out twice, bound in two domains at once",
    KeyLifecycle,
    {
      journal: [
        ...way(["abc"]),
        bound,
        forgot(2 * s_us, ["abc"]),
        { ...bound, at_us: 3 * s_us, link: { ...row, key: "abc~1" } }
      ]
    }
  ],
  ["a key bound that nobody leased", KeyLifecycle, { journal: [{ tag: "bound", at_us: 1, by, link: row }] }],
  ["numbers that are given out again", MintedOnce, { journal: [advanced(1, 0, 2), advanced(2, 1, 2)] }],
  ["keys minted before the watermark", MintedOnce, { journal: [minted(1, 0, ["abc"]), advanced(2, 0, 1)] }],
  [
    "a key minted twice",
    MintedOnce,
    { journal: [advanced(1, 0, 1), minted(1, 0, ["abc"]), minted(2, 0, ["abc"])] }
  ],
  ["a key of another secret", MintedOnce, { journal: [advanced(1, 0, 1), minted(1, 0, ["xyz"])] }],
  ["an epoch claimed again", Fencing, { journal: [claimed(1, 1), claimed(2, 1)] }],
  ["a record of a former owner", Fencing, { journal: [claimed(1, 1), claimed(2, 2), recorded(3, 1, [])] }],
  ["a push of a former owner", Fencing, { journal: [pushed(1, 2, []), pushed(2, 1, [])] }],
  [
    "a batch left behind",
    Recovery,
    { journal: [pushed(1, 1, ["k"]), closed(2, "2/0")], open: [{ shard: 0, epoch: 1, sequence: 0 }] }
  ],
  [
    "a batch that is recorded, and never pushed",
    Recovery,
    {
      journal: [recorded(1, 1, ["k"]), recorded(60 * s_us, 2, ["l"])],
      open: [{ shard: 0, epoch: 1, sequence: 0 }]
    }
  ],
  [
    "more leases that nobody got than were not answered",
    Ledger,
    {
      journal: [
        { tag: "unanswered", at_us: 1, by, operation: "send Lease", interrupted_us: undefined },
        leased(1, keysOf("a", 16)),
        leased(2, keysOf("b", 16))
      ]
    }
  ],
  [
    "a lease that is lost with its actor",
    Ledger,
    {
      journal: [
        { tag: "unanswered", at_us: 1, by, operation: "send Lease", interrupted_us: 1_000 },
        leased(1, ["k"])
      ]
    }
  ],
  [
    "numbers that an advance which was certainly not sent has lost",
    Ledger,
    {
      journal: [
        {
          tag: "unanswered",
          at_us: 1,
          by,
          operation: "KeyRangeStore.advance",
          interrupted_us: undefined,
          isUnsent: true
        },
        advanced(2, 0, 1)
      ]
    }
  ],
  [
    "a visit that is not counted",
    Visits,
    { journal: [visited(1), visited(2), counting(3, 1), counted(3, 1)] }
  ],
  ["a visit that is counted twice", Visits, { journal: [visited(1), counting(2, 1), counted(2, 2)] }],
  [
    "a visit that waited for long when its node was killed",
    Visits,
    { journal: [visited(1), { tag: "killed", at_us: 4 * s_us, by }] }
  ],
  ["visits that are dropped though the store answers", Visits, { visitsShed: { ...noVisitsShed, full: 1 } }],
  [
    "two deletes that are both acknowledged",
    RepeatedDeletes,
    { exchanges: [created(1), deleting(2), deleting(3)], journal: [bound, deleted(2 * s_us)] }
  ],
  [
    "two deletes of which neither is acknowledged",
    RepeatedDeletes,
    { exchanges: [created(1), deleting(2, 404), deleting(3, 404)], journal: [bound, deleted(2 * s_us)] }
  ],
  [
    "a stale redirect of a node that reached the database meanwhile",
    Freshness,
    { ...stale(6), silences: [{ by, database: 0, from_us: 2 * s_us, until_us: 5 * s_us }] }
  ],
  [
    "a stale redirect of a node that reaches the link's database, and another one not",
    Freshness,
    { ...stale(11.9), silences: [{ by, database: 1, from_us: 2 * s_us, until_us: Infinity }] }
  ],
  [
    "a stale redirect after its time",
    Freshness,
    { ...stale(13), silences: [{ by, database: 0, from_us: 2 * s_us, until_us: Infinity }] }
  ],
  [
    "a stale redirect of what had ended long before the database was away",
    Freshness,
    { ...stale(13), silences: [{ by, database: 0, from_us: 9 * s_us, until_us: Infinity }] }
  ],
  [
    "a redirect that waits, though its node had heard of the database, and not of another one, when it had the row",
    StaleRedirects,
    waiting({}, { silences: [{ by, database: 1, from_us: 1.2 * s_us, until_us: 2.9 * s_us }] })
  ],
  [
    "a redirect that waits for a database that is known to be away, though its row is at hand",
    StaleRedirects,
    waiting()
  ],
  [
    "a redirect that fails while the database is known to be away, though its row is at hand",
    StaleRedirects,
    waiting({ sent_us: 6 * s_us, answered_us: 6.2 * s_us, status: 503 })
  ],
  [
    "a look-up that led nowhere and was not counted",
    FailedLookUps,
    { options: guessing, exchanges: [exchange(2, guess)], journal: [] }
  ],
  [
    "a look-up that found its link and was counted",
    FailedLookUps,
    {
      options: guessing,
      exchanges: [exchange(2, { from: guess.from })],
      journal: [reserved(2), lookUpEnded(2.1, "kept")]
    }
  ],
  [
    "a look-up that is not ended",
    FailedLookUps,
    { options: guessing, exchanges: [exchange(2, { from: guess.from })], journal: [reserved(2)] }
  ],
  [
    "a link that never was, and leads somewhere",
    FailedLookUps,
    { exchanges: [exchange(2, { ...guess, status: 302 })] }
  ],
  [
    "more look-ups than a node may allow alone",
    Quotas,
    {
      journal: [
        granted(1, 10),
        ...Array.from({ length: 6 }, (_, number) => ({
          ...reserved(2, number),
          held: [{ limit: 2, period: "day" }] as const
        }))
      ]
    }
  ],
  [
    "a redirect that takes nothing of its API key's quota",
    Quotas,
    {
      exchanges: [created(1), exchange(2, {})],
      journal: [{ ...bound, link: { ...row, owner: "usr_0", keyId: "key_0", keyRedirectsPerDay: 5 } }],
      options: { ...presets.calm(), keyRedirectsPerDay: 5 }
    }
  ],
  [
    "a quota of a user that allows more than it should",
    Quotas,
    {
      journal: [granted(1, 20, 20), { ...took(2, true), limits: [{ id: "create:owner:usr_0", limit: 20 }] }],
      options: { ...presets.calm(), createsPerMinute: 10 }
    }
  ],
  ["a quota that is granted too often", Quotas, { journal: [granted(1, 11, 11)] }],
  [
    "a quota of a day that is granted again before midnight",
    Quotas,
    { journal: [granted(1, 10, 10, "day"), granted(59, 1, 1, "day")] }
  ],
  [
    "a redirect that counts for no quota",
    Quotas,
    {
      options: { ...presets.calm(), redirectsPerDay: 10 },
      exchanges: [exchange(2, {})],
      journal: [ownBound]
    }
  ],
  [
    "a quota that grants less than is asked for, and left",
    Quotas,
    { journal: [granted(1, 1), granted(2, 4, 5)] }
  ],
  ["what was allowed and never granted", Quotas, { journal: [granted(1, 1), took(2, true), took(3, true)] }],
  ["what was granted and never used", Quotas, { journal: [granted(1, 2), granted(2, 2), granted(3, 2)] }],
  ["a refusal of what is left", Quotas, { journal: [granted(1, 1), took(2, false)] }],
  [
    "a create that counts for no quota",
    Quotas,
    { options: { ...presets.calm(), createsPerMinute: 10 }, exchanges: [created(1, { apiKey: "secret" })] }
  ],
  [
    "an API key that is accepted 1.1 s after its end",
    Revocation,
    {
      userKeys: [{ ...key, revoking_us: 2 * s_us, revoked_us: 2 * s_us }],
      exchanges: [created(3.1, { apiKey: key.secret })]
    }
  ],
  ["a list without a valid API key", Revocation, { userKeys: [key], exchanges: [keyList(3, [])] }],
  [
    "a list with an API key that was revoked",
    Revocation,
    {
      userKeys: [{ ...key, revoking_us: 2 * s_us, revoked_us: 2 * s_us }],
      exchanges: [keyList(3, ["key_0"])]
    }
  ],
  [
    "a list with another user's API key",
    Revocation,
    { userKeys: [key], exchanges: [keyList(3, ["key_0"], "usr_1")] }
  ],
  [
    "a valid API key that is refused",
    Revocation,
    { userKeys: [key], exchanges: [created(3, { apiKey: key.secret, status: 401 })] }
  ],
  [
    "an API key that is accepted 1.1 s after its user was disabled",
    Revocation,
    { userKeys: [key], journal: [disabled(2)], exchanges: [created(3.1, { apiKey: key.secret })] }
  ],
  [
    "an API key that is refused two seconds after its user was enabled again",
    Revocation,
    {
      userKeys: [key],
      journal: [disabled(2), enabled(4)],
      exchanges: [created(6, { apiKey: key.secret, status: 401 })]
    }
  ],
  [
    "a link that is deleted, and that nobody asked to delete",
    Removals,
    { journal: [bound, deleted(2 * s_us)] }
  ],
  [
    "a link of somebody else than the user whose links are deleted",
    Removals,
    { exchanges: [userRemoved(1, "delete")], journal: [bound, deleted(2 * s_us)] }
  ],
  [
    "a link that is deleted, and was to be kept",
    Removals,
    { exchanges: [userRemoved(1, "keep")], journal: [ownBound, deleted(2 * s_us)] }
  ],
  [
    "the end of all links of a user, which nobody asked for",
    Removals,
    {
      exchanges: [userRemoved(1, "keep")],
      journal: [{ tag: "owner gone", at_us: s_us, by, owner: "usr_0" }]
    }
  ],
  [
    "a link that is left of a user whose links are deleted",
    Removals,
    { exchanges: [userRemoved(2, "delete")], journal: [ownBound], row: () => ownBound.link }
  ],
  [
    "a link that is left of a user whose removal failed, and who is not known any more",
    Removals,
    {
      exchanges: [
        { ...userRemoved(2, "delete"), status: 503 },
        { ...userRemoved(3, "delete"), status: 404 }
      ],
      journal: [ownBound],
      row: () => ownBound.link
    }
  ],
  [
    "an API key that is accepted after it ended by itself",
    Revocation,
    { userKeys: [{ ...key, expires_us: 2 * s_us }], exchanges: [created(3, { apiKey: key.secret })] }
  ],
  ["a list of users without one", Directory, { journal: [userAdded(1)], exchanges: [listingUsers(2, [])] }],
  [
    "a list with a user who was removed",
    Directory,
    { journal: [userAdded(1), userGone(2)], exchanges: [listingUsers(3, ["usr_5"])] }
  ],
  [
    "a list that has a user twice",
    Directory,
    { journal: [userAdded(1)], exchanges: [listingUsers(2, ["usr_5", "usr_5"])] }
  ],
  [
    "a list of one address with another user",
    Directory,
    { journal: [userAdded(1)], exchanges: [listingUsers(2, ["usr_5"], "bob@example.com")] }
  ],
  [
    "two users with one address",
    Directory,
    { journal: [userAdded(1), userAdded(2, "usr_6", "ADA@example.com")], exchanges: [] }
  ],
  [
    "a user who was said to be added, and is not there",
    Directory,
    { journal: [], exchanges: [adding(2, 201)] }
  ],
  [
    "an address that is nobody's any more, and is refused",
    Directory,
    { journal: [userAdded(1), userGone(2)], exchanges: [adding(3, 409, [])] }
  ],
  [
    "a session that goes on after its user signed out",
    UserSessions,
    { journal: [begun(1)], exchanges: [asked(2, 204, { kind: "sign out" })] }
  ],
  [
    "a session that is accepted though nobody has used it for long",
    UserSessions,
    { options: idling, journal: [begun(1)], exchanges: [asked(12, 200)] }
  ],
  [
    "a session that is refused though it is used",
    UserSessions,
    { options: idling, journal: [begun(1)], exchanges: [asked(6, 200), asked(11, 401)] }
  ],
  ["the end of a session that nobody wanted", UserSessions, { journal: [begun(1), sessionEnded(2)] }],
  [
    "a session that goes on when all others are said to have ended",
    UserSessions,
    { journal: [begun(1), begun(1, "other")], exchanges: [aboutSessions(2, 204, { kind: "end others" })] }
  ],
  [
    "a session that goes on and is said to have ended",
    UserSessions,
    {
      journal: [begun(1), begun(1, "other")],
      exchanges: [aboutSessions(2, 204, { kind: "end session", ends: idOf("other") })]
    }
  ],
  [
    "a session that is there and is not found",
    UserSessions,
    {
      journal: [begun(1), begun(1, "other")],
      exchanges: [aboutSessions(2, 404, { kind: "end session", ends: idOf("other") })]
    }
  ],
  [
    "a list without a session",
    UserSessions,
    {
      journal: [begun(1), begun(1, "other")],
      exchanges: [aboutSessions(2, 200, { kind: "sessions", listed: [idOf("ses")] })]
    }
  ],
  [
    "a list with a session that nobody has",
    UserSessions,
    {
      journal: [begun(1)],
      exchanges: [aboutSessions(2, 200, { kind: "sessions", listed: [idOf("ses"), idOf("other")] })]
    }
  ],
  [
    "something that is done with a password that must be changed first",
    UserSessions,
    { journal: [passwordChanged(0.5, true), begun(1)], exchanges: [asked(2, 200, { kind: "keys" })] }
  ],
  [
    "somebody who must change a password of their own",
    UserSessions,
    {
      journal: [passwordChanged(0.5, true), passwordChanged(0.6), begun(1)],
      exchanges: [asked(2, 403, { kind: "keys" })]
    }
  ],
  [
    "a change of a password that is acknowledged and not made",
    UserSessions,
    { journal: [begun(1)], exchanges: [aboutSessions(2, 204, { kind: "password", isRight: true })] }
  ],
  [
    "a change of a password with a wrong one",
    UserSessions,
    {
      journal: [begun(1), { ...passwordChanged(2.0005), by }],
      exchanges: [aboutSessions(2, 204, { kind: "password", isRight: false })]
    }
  ],
  [
    "a change of a password with one that somebody has changed meanwhile",
    UserSessions,
    {
      journal: [begun(1), passwordChanged(2.0002), { ...passwordChanged(2.0005), by }],
      exchanges: [aboutSessions(2, 204, { kind: "password", isRight: true })]
    }
  ],
  [
    "two changes of a password with the same one before",
    UserSessions,
    {
      journal: [begun(1), { ...passwordChanged(2.0002), by }, { ...passwordChanged(2.0005), by }],
      exchanges: [1, 2].map((number) => aboutSessions(2, 204, { kind: "password", isRight: true, number }))
    }
  ],
  [
    "a right password with which another one cannot be chosen",
    UserSessions,
    { journal: [begun(1)], exchanges: [aboutSessions(2, 400, { kind: "password", isRight: true })] }
  ],
  [
    "a session that is accepted after its end",
    UserSessions,
    { journal: [begun(1), sessionEnded(2)], exchanges: [asked(2.1, 200)] }
  ],
  [
    "a session that is accepted after its user's password was changed",
    UserSessions,
    { journal: [begun(1), passwordChanged(2)], exchanges: [asked(2.1, 200)] }
  ],
  [
    "a session that is accepted when its user is enabled again",
    UserSessions,
    { journal: [begun(1), disabled(2), enabled(3)], exchanges: [asked(9, 200)] }
  ],
  [
    "a session that is refused before its end",
    UserSessions,
    { journal: [begun(1), sessionEnded(3)], exchanges: [asked(2, 401)] }
  ],
  ["a session of a disabled user that begins", UserSessions, { journal: [disabled(1), begun(2)] }],
  ["a right password that is refused", UserSessions, { exchanges: [signingIn(1, 401, true)] }],
  ["a wrong password that is accepted", UserSessions, { exchanges: [signingIn(1, 204, false)] }],
  [
    "a try at guessing that is refused though neither the store nor the node has used up the limit",
    Quotas,
    { journal: [granted(1, 1), tried(1, true), tried(2, false)] }
  ],
  ["an event that is lost", WebhookEvents, { journal: [ownBound, offered] }],
  [
    "an event that waits though nothing fails",
    WebhookEvents,
    { journal: [ownBound, { ...offered, at_us: 43 * s_us }], undelivered: new Set(["msg"]) }
  ],
  [
    "a failed message that is sent again too soon",
    WebhookEvents,
    { journal: [sentTo(1), putOff(2, 4_000), sentTo(5)] }
  ],
  [
    "a failed message that is to wait for too short a time",
    WebhookEvents,
    { journal: [sentTo(1), putOff(2, 3_000)] }
  ],
  [
    "a message of which nobody says what became of it",
    WebhookEvents,
    { journal: [sentTo(1)], end_us: 60 * s_us }
  ],
  ["a link without an event", WebhookEvents, { journal: [ownBound] }],
  ["an event of nothing", WebhookEvents, { journal: [arrived] }],
  ["a number that became no key", Ledger, { journal: [advanced(1, 0, 1)] }],
  ["a lease that nobody got", Ledger, { journal: [leased(1, ["k"])] }],
  ["a refill that was not recorded", Ledger, { journal: [minted(1, 0, ["k"])] }],
  [
    "a key that a node was handed and has no more, whatever befell others",
    Ledger,
    {
      journal: [...way(["k"]), handed, { tag: "killed", at_us: 2, by: "node-1#1" }]
    }
  ],
  [
    "a key that a node gave up though it knew that it was not bound",
    Ledger,
    {
      journal: [
        ...way(["k"]),
        handed,
        { ...handed, tag: "refused" },
        { tag: "killed", at_us: 2, by: "node-1#1" }
      ]
    }
  ],
  [
    "a key that is used again though it may be bound",
    KeyLifecycle,
    { journal: [...way(["k"]), { tag: "reused", at_us: 2, by, key: "k" }] }
  ],
  [
    "a key read ahead from a file by a node that shut down, whatever befell others",
    Ledger,
    {
      journal: [
        { tag: "preloaded", at_us: 1, by, keys: ["k"] },
        ended(1, 0),
        { tag: "killed", at_us: 1, by: "node-1#1" }
      ]
    }
  ],
  [
    "a repeat that makes another link while the answer is kept",
    Idempotency,
    { options: { ...presets.calm(), answersKept_s: 12 }, exchanges: [keyed(1), keyed(12, { key: "xyz" })] }
  ],
  [
    "a push on top of a pool that is nearly full",
    PoolLevel,
    { journal: [pushed(1, 1, keysOf("a", 40)), leased(2, ["a0"]), pushed(3, 1, keysOf("b", 22))] }
  ],
  ["a key that left its pool", Ledger, { journal: [pushed(1, 1, ["k"])] }],
  [
    "an acknowledged delete that was not made",
    Durability,
    { exchanges: [exchange(2, { kind: "delete", status: 204 })] }
  ],
  [
    "a delete that finds nothing",
    ReadYourWrites,
    { exchanges: [created(1), exchange(2, { kind: "delete", status: 404 })] }
  ],
  [
    "a key that is given to another link when the database has forgotten the first",
    Forgotten,
    { exchanges: [created(1)], journal: [bound, databaseForgot(2), { ...rebound, at_us: 3 * s_us }] }
  ],
  [
    "a key that is given to another link when the tombstone of one before is freed again",
    Forgotten,
    {
      exchanges: [created(1)],
      journal: [deleted(1), freed(1), bound, databaseForgot(2), freed(3), { ...rebound, at_us: 4 * s_us }]
    }
  ],
  [
    "a number that is minted again since the database has forgotten its range",
    MintedOnce,
    {
      journal: [
        advanced(1, 0, 1),
        minted(1, 0, ["abc"]),
        databaseForgot(2),
        advanced(3, 0, 1),
        minted(3, 0, ["abc"])
      ]
    }
  ],
  [
    "keys that are recorded under an epoch that a failover has left behind",
    Fencing,
    { journal: [claimed(1, 5), databaseForgot(2, 3), recorded(3, 5, ["k"])] }
  ],
  ["a node that is not ready again", Liveness, { unready: ["node-0"] }],
  ["a fault of the service", Liveness, { exchanges: [exchange(2, { status: 500 })] }],
  ["a create that nobody knows", Liveness, { exchanges: [exchange(2, { kind: "create", status: 404 })] }],
  ["a 503 when all is well again", Liveness, { exchanges: [exchange(46, { status: 503 })] }],
  [
    "no answer when all is well again",
    Liveness,
    { exchanges: [exchange(46, { status: 0, answered_us: undefined })] }
  ],
  [
    "a graceful shutdown that refuses connections at once",
    Shutdown,
    { journal: [draining(1), { tag: "refusing", at_us: 2 * s_us, by }] }
  ],
  [
    "a write that begins after a pause, whose client had gone",
    LateRequests,
    { journal: [stoodStill(1, 6), begunLate(7.01, 6)] }
  ],
  ["a process that goes by a wrong time", MachineTime, { journal: [wrongTime(1)] }],
  [
    "a link that is ended while the machine's clock is wrong",
    MachineTime,
    { journal: [machineClock(1, 30), machineClock(8, 60), freed(12 * s_us)] }
  ],
  [
    "a link that is ended after the database's clock has jumped",
    MachineTime,
    { clock: jumped(20, 30), journal: [startedAt(1), freed(31 * s_us)] }
  ],
  ["a graceful shutdown that leaves a request unanswered", Shutdown, { journal: [draining(1), ended(9, 1)] }]
]

describe("the checkers", () => {
  it("find nothing in a failed message that waits, nor in one that another claim has by then, nor after a jump of the database's clock", () => {
    const journals = [
      [sentTo(1), putOff(2, 4_000), sentTo(6), gotThrough(7)],
      [sentTo(1), sentTo(11, "another"), putOff(12, 4_000), putOff(13, 4_000, "another")]
    ]
    for (const journal of journals) expect(WebhookEvents.check(evidence({ journal }))).toEqual([])
    const jumped = {
      journal: [sentTo(1), putOff(2, 4_000), sentTo(3), gotThrough(4)],
      clock: recordOf([{ at_us: 2.5 * s_us, by_us: 10 * s_us }], 0)
    }
    expect(WebhookEvents.check(evidence(jumped))).toEqual([])
  })

  it("find nothing in a link that ends when its create chose", () => {
    const kept = { exchanges: [created(1, { lasts: aMonth })], journal: [endingAt(1_000 + 31 * day_ms)] }
    expect(Chosen.check(evidence(kept))).toEqual([])
  })

  it("find nothing in a quota of a day that is granted again after midnight", () => {
    const journal = [
      granted(1, 1, 1, "day"),
      took(1, true),
      granted(86_401, 10, 10, "day"),
      ...Array.from({ length: 10 }, () => took(86_402, true))
    ]
    expect(Quotas.check(evidence({ journal }))).toEqual([])
  })

  it("find nothing in a bulk edit that has changed a link, and in one without a link that was archived meanwhile", () => {
    const changed = {
      exchanges: [bulkEdit(2, [editResult])],
      journal: [bound, editedTo(2, { title: "edit 1" })]
    }
    expect(BulkEdits.check(evidence(changed))).toEqual([])
    const more = {
      exchanges: [bulkEdit(2, [editResult], { choices: { title: "edit 1", crawlable: true } })],
      journal: [bound, editedTo(2, { title: "edit 1", crawlable: true })]
    }
    expect(BulkEdits.check(evidence(more))).toEqual([])
    const archived = {
      exchanges: [bulkEdit(2, [])],
      journal: [bound, editedTo(2, { extras: { archived: true } })]
    }
    expect(BulkEdits.check(evidence(archived))).toEqual([])
    const removed = {
      exchanges: [deletedInBulk([{ key: "abc", status: 204, isChanged: true }], { q: "example" })],
      journal: [bound, deleted(3 * s_us)]
    }
    expect(BulkEdits.check(evidence(removed))).toEqual([])
    expect(Removals.check(evidence(removed))).toEqual([])
    expect(BulkEdits.check(evidence({ exchanges: [countedInBulk(1)] }))).toEqual([])
  })

  it("find nothing in a link that is left of a user whom somebody else removes without their links", () => {
    const exchanges = [userRemoved(2, "keep"), { ...userRemoved(3, "delete"), status: 404 }]
    expect(Removals.check(evidence({ exchanges, journal: [ownBound], row: () => ownBound.link }))).toEqual([])
  })

  it("find nothing in a node that was ready when it was told to shut down, or that is paused then", () => {
    const draining = { tag: "draining", at_us: s_us, by } as const
    const ready = (asked_us: number) => ({ tag: "ready", at_us: 3 * s_us, asked_us, by }) as const
    const before = [draining, ready(0.9 * s_us)]
    expect(Shutdown.check(evidence({ journal: before }))).toEqual([])
    const paused = [
      draining,
      { tag: "paused", at_us: 1.1 * s_us, for_us: s_us, by } as const,
      ready(2 * s_us)
    ]
    expect(Shutdown.check(evidence({ journal: paused }))).toEqual([])
  })

  it("find nothing in a redirect by the former link within 2 s of a change or a delete that nobody was told of, and over SQLite of its answer", () => {
    const alone = { ...presets.calm(), alone: "sqlite" as const, databases: 1 }
    for (const [operation, entry] of [
      ["LinkStore.updateMany", changed],
      ["LinkStore.deleteMany", deleted(2 * s_us)]
    ] as const) {
      const found = (at_s: number, late: ReadonlyArray<JournalEntry>, options = presets.calm()) =>
        Freshness.check(
          evidence({ exchanges: [created(1), exchange(at_s, {})], journal: [bound, entry, ...late], options })
        )
      const late: JournalEntry = { tag: "held up", by, operation, at_us: 6 * s_us, for_us: 5 * s_us }
      expect(found(3.9, [])).toEqual([])
      expect(found(4.2, [])).not.toEqual([])
      expect(found(4.2, [late])).not.toEqual([])
      expect(found(7.9, [late], alone)).toEqual([])
      expect(found(8.2, [late], alone)).not.toEqual([])
      expect(found(4.2, [{ ...late, operation: "LinkStore.findMany" }], alone)).not.toEqual([])
    }
  })

  it("find nothing in a link that is redirected while its node does not reach the database, and may be", () => {
    const away = { ...stale(11.9), silences: [{ by, database: 0, from_us: 2 * s_us, until_us: Infinity }] }
    expect(Freshness.check(evidence(away))).toEqual([])
    const silences = [{ by, database: 1, from_us: 2 * s_us, until_us: Infinity }]
    expect(Freshness.check(evidence({ ...away, silences, homes: () => new Set([0, 1]) }))).toEqual([])
  })

  it("find nothing in a redirect that waits where the node has no row at hand that it may go by, or does not know yet that the database is away", () => {
    const found = (some: Partial<Exchange>, others: Parameters<typeof waiting>[1] = {}) =>
      StaleRedirects.check(evidence(waiting(some, others)))
    const options = { ...presets.calm(), staleRedirects_s: 10, databases: 1, level: "actors" as const }
    const listening = { listenings: [{ by, at_us: 4.5 * s_us }] }
    const elsewhere = { homes: () => new Set([1]) }
    const moved = { faults: new Map([["bucketMove", 1]]) }
    const never = { options: { ...options, staleRedirects_s: 0 } }
    const small = { options: { ...options, redirectCacheMax: 1 } }
    const draining = { journal: [bound, { tag: "draining", at_us: 4 * s_us, by } as const] }
    const paused = { journal: [bound, { tag: "paused", at_us: 5 * s_us, by, for_us: 3 * s_us } as const] }
    const limited = {
      journal: [{ ...bound, link: { ...row, maxVisits: 100, visitsLeft: 100 } }]
    }
    const changing = { before: [exchange(3, { kind: "change" as const, status: 503 })] }
    const silent = {
      silences: [
        { by, database: 0, from_us: 1.2 * s_us, until_us: 2.9 * s_us },
        { by, database: 0, from_us: 3 * s_us, until_us: 20 * s_us }
      ]
    }
    for (const others of [
      listening,
      elsewhere,
      moved,
      never,
      small,
      draining,
      paused,
      limited,
      changing,
      silent
    ])
      expect(found({}, others)).toEqual([])
    expect(found({ answered_us: 5.9 * s_us })).toEqual([])
    expect(found({ answered_us: 5 * s_us, status: 503 })).toEqual([])
    expect(found({ answered_us: 5.9 * s_us, status: 503 })).toEqual([])
    expect(found({ sent_us: 12.8 * s_us, answered_us: 16 * s_us, status: 503 })).toEqual([])
    expect(found({ key: "other" })).toEqual([])
    expect(found({ tries: 2 })).toEqual([])
    expect(found({ from: "203.0.113.1" })).toEqual([])
    expect(found({ path: "more" })).toEqual([])
  })

  it("find a redirect that waits though a replica has its link, and nothing where it may not have it", () => {
    const found = (linkReplicaLag_ms: number | null, some: Parameters<typeof waiting>[1] = {}) => {
      const { exchanges, options, ...others } = waiting({}, some)
      const notAtHand = exchanges!.filter(({ kind, sent_us }) => kind === "create" || sent_us > 3 * s_us)
      return StaleRedirects.check(
        evidence({ ...others, exchanges: notAtHand, options: { ...options!, linkReplicaLag_ms } })
      ).length
    }
    expect([found(100), found(null)]).toEqual([1, 0])
    // It was bound a moment before, is written, or needs more than its row.
    expect(found(900, { journal: [{ ...bound, at_us: 1.2 * s_us }] })).toBe(0)
    expect(found(100, { before: [exchange(3.5, { kind: "change", status: 503 })] })).toBe(0)
    expect(found(100, { journal: [locked] })).toBe(0)
    expect(found(100, { journal: [bound, { tag: "draining", at_us: 4 * s_us, by }] })).toBe(0)
  })

  it("find nothing in a link of a URL that is reused in a further domain", () => {
    const elsewhere = { ...another, link: { ...another.link, key: inDomain } }
    const found = ReusedLinks.check(
      evidence({ exchanges: [reusing(1)], journal: [bound, elsewhere, editedTo(3, { title: "t" })] })
    )
    expect(found).toEqual([])
  })

  it("find nothing in a second link of a URL by a node that took one of several databases for away, and something in one by another node, or with one database", () => {
    const found = (databases: number, away: string) =>
      ReusedLinks.check(
        evidence({
          exchanges: [reusing(1)],
          journal: [bound, another],
          aways: [{ ...takenForAway, by: away, from_us: s_us, until_us: 1.5 * s_us }],
          options: { ...presets.calm(), databases }
        })
      ).length
    expect([found(2, by), found(2, "node-1#1"), found(1, by)]).toEqual([0, 1, 1])
  })

  it("find nothing in a second link of a URL whose first could be reused only since its create was sent, and something where it could before", () => {
    const archived = changedTo(1.2, { extras: { archived: true } })
    const found = (sent_s: number) =>
      ReusedLinks.check(
        evidence({
          exchanges: [reusing(1), { ...reusing(2, { key: "xyz" }), sent_us: sent_s * s_us }],
          journal: [bound, archived, changedTo(1.5, {}), another]
        })
      ).length
    expect([found(1.4), found(1.6)]).toEqual([0, 1])
  })

  it("find nothing in a password of a shorter alias's link that is asked for as the longer one is made, and something later", () => {
    const long = "abc/of-it"
    const found = (bound_s: number) =>
      Passwords.check(
        evidence({
          exchanges: [exchange(3, { key: long, status: 401, location: undefined })],
          journal: [locked, { ...bound, at_us: bound_s * s_us, link: { ...row, key: long } }]
        })
      ).length
    expect([found(3), found(2)]).toEqual([0, 1])
  })

  it("find nothing in a repeat that makes its link again when that was gone before anybody was told of it, where links are in several databases, and something with one database", () => {
    const several = (databases: number, some: Partial<Exchange> = {}) =>
      evidence({
        options: { ...presets.calm(), databases },
        exchanges: [keyed(1, { status: 503, ...some }), keyed(9)],
        journal: [
          bound,
          deleted(2 * s_us),
          { tag: "freed", at_us: 6 * s_us, by, key: "abc", custom: false },
          { ...bound, at_us: 9 * s_us }
        ]
      })
    expect(Idempotency.check(several(2))).toEqual([])
    expect(Idempotency.check(several(1))).not.toEqual([])
    expect(Idempotency.check(several(2, { status: 201 }))).not.toEqual([])
  })

  it("find nothing in a request that is refused for its body while another one with its key is refused to its user, and something where that had the same body", () => {
    const found = (url: string) =>
      Idempotency.check(
        evidence({
          exchanges: [
            keyed(1, { status: 422, key: undefined, body: "", apiKey: "u", answered_us: 3 * s_us }),
            keyed(2, { status: 429, key: undefined, body: "", apiKey: "u", url })
          ],
          journal: []
        })
      )
    expect(found("https://example.com/2")).toEqual([])
    expect(found(row.url)).not.toEqual([])
  })

  it("find nothing in a repeat that is refused for a host that is blocked meanwhile", () => {
    const exchanges = [
      keyed(1, { status: 503, key: undefined, body: "" }),
      keyed(3, { status: 422, key: undefined, body: problem("blocked-target") })
    ]
    expect(Idempotency.check(evidence({ exchanges, journal: [] }))).toEqual([])
    const [first, refused] = exchanges
    const mismatched = { ...refused!, body: problem("idempotency-mismatch") }
    expect(Idempotency.check(evidence({ exchanges: [first!, mismatched], journal: [] }))).not.toEqual([])
  })

  it("find nothing in a repeat that makes another link when the answer is not kept any more", () => {
    const options = { ...presets.calm(), answersKept_s: 10 }
    const exchanges = [keyed(1), keyed(12, { key: "xyz" })]
    expect(
      Idempotency.check(evidence({ options, exchanges, journal: [bound, { ...another, at_us: 12 * s_us }] }))
    ).toEqual([])
  })

  it("find nothing in a pool that is filled to its mark, nor in one that got keys back when its owner knew its level", () => {
    const full = [pushed(1, 1, keysOf("a", 40)), leased(2, ["a0"]), pushed(3, 1, keysOf("b", 21))]
    expect(PoolLevel.check(evidence({ journal: full }))).toEqual([])
    const back = [...full.slice(0, 2), returned(3, ["c"]), pushed(4, 1, keysOf("b", 21))]
    expect(PoolLevel.check(evidence({ journal: back }))).toEqual([])
    const empty = [pushed(1, 1, keysOf("a", 90))]
    expect(PoolLevel.check(evidence({ journal: empty }))).toEqual([])
    const late = [pushed(1, 2, keysOf("a", 60)), pushed(2, 1, keysOf("b", 30))]
    expect(PoolLevel.check(evidence({ journal: late }))).toEqual([])
  })

  it("find nothing in a repeat of a create whose alias was taken where that may not have been kept", () => {
    const exchanges = [aliasTaken(1), keyed(9)]
    const unsettled = {
      tag: "unanswered",
      at_us: s_us,
      by,
      operation: "GuardedCreates.settleMany",
      interrupted_us: undefined
    } as const
    expect(Idempotency.check(evidence({ exchanges, journal: [unsettled] }))).toEqual([])
    const slow = [aliasTaken(4, { sent_us: s_us }), keyed(9)]
    expect(Idempotency.check(evidence({ exchanges: slow }))).toEqual([])
    const clock = { ...evidence({}).clock, jumps: [{ at_us: s_us, by_us: 8 * s_us }] }
    expect(Idempotency.check(evidence({ exchanges, clock }))).toEqual([])
    const options = { ...presets.calm(), databases: 2 }
    expect(Idempotency.check(evidence({ exchanges, options }))).toEqual([])
  })

  it("find nothing in a finished batch of a former owner that a failover has opened again, and something in one that was not finished", () => {
    const left = (...journal: Evidence["journal"]) =>
      Recovery.check(
        evidence({
          journal: [...journal, databaseForgot(2), closed(3 * s_us, "2/1")],
          open: [{ shard: 0, epoch: 1, sequence: 0 }]
        })
      ).length
    const before = [recorded(1, 1, ["k"]), pushed(2, 1, ["k"])]
    expect([left(...before, closed(3, "1/0")), left(...before, closed(3, "2/0"))]).toEqual([0, 1])
  })

  it("find nothing in the end of a session while a primary that had been left behind answered", () => {
    const leftBehind = { tag: "left behind", at_us: 1.9 * s_us, by } as const
    const journal = [begun(1), leftBehind, sessionEnded(2)]
    expect(UserSessions.check(evidence({ journal }))).toEqual([])
  })

  it("find nothing in a batch that is left behind and that the pool has forgotten, and something in one that was pushed again", () => {
    const left = (...again: Evidence["journal"]) =>
      Recovery.check(
        evidence({
          journal: [pushed(1, 1, ["k"]), forgot(2, []), ...again, closed(4, "2/0")],
          open: [{ shard: 0, epoch: 1, sequence: 0 }]
        })
      ).length
    expect([left(), left(pushed(3, 1, ["k"]))]).toEqual([0, 1])
  })

  it("find nothing in keys read ahead by a node that was killed, nor in those that a living one has", () => {
    const read = { tag: "preloaded", at_us: 1, by, keys: ["k"] } as const
    const killed = { tag: "killed", at_us: 2, by } as const
    expect(Ledger.check(evidence({ journal: [read] }))).toEqual([])
    expect(Ledger.check(evidence({ journal: [read, killed] }))).toEqual([])
  })

  it("find nothing in a key that is recorded once more because a failover forgot its record, and something where none did", () => {
    const journal = [
      ...way(["k"]).slice(0, 5),
      { ...databaseForgot(2), keys: ["k"] },
      recorded(3 * s_us, 2, ["k"])
    ]
    expect(KeyLifecycle.check(evidence({ journal }))).toEqual([])
    const unforgotten = [...way(["k"]).slice(0, 5), databaseForgot(2), recorded(3 * s_us, 2, ["k"])]
    expect(KeyLifecycle.check(evidence({ journal: unforgotten }))).toHaveLength(1)
  })

  it("find nothing in a key of an open batch that is free again in a further database, or on its way from there", () => {
    const open = way(["abc"]).filter(({ tag }) => tag !== "closed")
    const journal = [...open, bound, deleted(2 * s_us), freed(3 * s_us)]
    const abc = new Set(["abc"])
    const there = { journal, recorded: abc, stocked: abc }
    expect(Specification.check(evidence({ ...there, leaving: abc }))).toEqual([])
    expect(Specification.check(evidence(there))).toHaveLength(1)
    const left = { tag: "preloaded", at_us: 4 * s_us, by, keys: ["abc"] } as const
    expect(Specification.check(evidence({ journal: [...journal, left], recorded: abc }))).toEqual([])
  })

  it("find nothing in keys of creates whose outcome nobody learned, as many as they were", () => {
    const lost = (tag: "unsure" | "unreceived") => {
      const left = { tag, at_us: s_us, by, keys: ["k"] } as const
      return Ledger.check(evidence({ journal: [...way(["k"]), handed, left], end_us: 60 * s_us })).length
    }
    expect([lost("unsure"), lost("unreceived")]).toEqual([0, 1])
  })

  it("find nothing in keys that a node was about to return when it was killed, and something in those that it had time to return", () => {
    const { bufferCapacity } = presets.calm()
    const many = keysOf("k", bufferCapacity + 40)
    const lost = (tag: "refused" | "unreceived", killed_s: number, ...before: Evidence["journal"]) => {
      const left = { tag, at_us: s_us, by, keys: many.slice(bufferCapacity) } as const
      const killed = { tag: "killed", at_us: killed_s * s_us, by } as const
      const journal = [...way(many), { ...handed, keys: many }, ...before, left, killed]
      const pooled = new Set(["other"])
      return Ledger.check(evidence({ journal, end_us: 60 * s_us, pooled })).map(({ text }) => text)
    }
    expect([lost("refused", 3), lost("unreceived", 3)]).toEqual([[], []])
    const tooMany = [`${many.length} keys were lost by nodes, and ${bufferCapacity} may be`]
    expect([lost("refused", 4), lost("unreceived", 4)]).toEqual([tooMany, tooMany])
    // Nothing is returned while the process is paused.
    const paused = { tag: "paused", at_us: s_us, by, for_us: 10 * s_us } as const
    expect(lost("refused", 13, paused)).toEqual([])
    expect(lost("refused", 14, paused)).toEqual(tooMany)
  })

  it("find something in the key of a refused create that a node has lost though it lives, or has shut down", () => {
    const refused = { tag: "refused", at_us: s_us, by, keys: ["k"] } as const
    const lost = (...after: Evidence["journal"]) => {
      const journal = [...way(["k"]), handed, refused, ...after]
      return Ledger.check(evidence({ journal, end_us: 60 * s_us })).map(({ text }) => text)
    }
    const byNode = `1 keys were lost by ${by}, which was not killed, and 0 may be`
    expect(lost()).toContain(byNode)
    expect(lost(ended(2, 0))).toContain(byNode)
    // A node keeps keys whose database does not say whether they are bound.
    const unasked = { tag: "unanswered", at_us: s_us, by, operation: "LinkStore.takenAmong" } as const
    expect(lost({ ...unasked, interrupted_us: undefined })).toContain(byNode)
  })

  it("find nothing in keys that a node could not return, as many as it had, and something in those that it was handed again since", () => {
    const many = keysOf("k", 40)
    const had = [...way(many), { ...handed, keys: many }]
    const unreturned = { tag: "unreturned", at_us: 2, by, keys: many, interrupted_us: undefined } as const
    const { keys, ...failed } = { ...unreturned, tag: "unanswered", operation: "KeyPool.giveBack" } as const
    const returned = { tag: "returned", at_us: 3, by, shard: 0, keys } as const
    const again = [returned, leased(4, many), { ...handed, at_us: 4, keys: many }]
    const others = keysOf("other", 40)
    const lost = (...after: Evidence["journal"]) =>
      Ledger.check(evidence({ journal: [...had, ...after], pooled: new Set(others) })).map(({ text }) => text)
    expect(lost(failed, unreturned)).toEqual([])
    const tooMany = "40 keys were lost by nodes, and 0 may be"
    expect(lost(failed, unreturned, ...again)).toContain(tooMany)
    // What is given up at once has not failed, and another return is no excuse.
    expect(lost({ ...unreturned, interrupted_us: 1_000 })).toContain(tooMany)
    expect(lost(failed, { ...unreturned, keys: others })).toContain(tooMany)
  })

  it("find nothing in keys that a pool shard lost with its data, though returns had filled it above its mark, and something in more than that", () => {
    const { poolHigh } = presets.calm()
    const pool = keysOf("k", 2 * poolHigh)
    const back = keysOf("back", 40)
    const more = keysOf("more", 40)
    const gone = (...all: ReadonlyArray<ReadonlyArray<string>>) => ({ ...forgot(4, []), gone: all.flat() })
    const lost = (...journal: Evidence["journal"]) =>
      Ledger.check(evidence({ journal, faults: new Map([["redisLoss", 1]]) })).map(({ text }) => text)
    expect(lost(pushed(1, 1, pool), returned(2, back), gone(pool, back))).toEqual([])
    const tooMany = [`${2 * poolHigh + 40} keys were lost by pool shards, and ${2 * poolHigh} may be`]
    expect(lost(pushed(1, 1, [...pool, ...more]), gone(pool, more))).toEqual(tooMany)
    // What was leased since, and pushed again, is in the pool by a refill.
    const again = [returned(2, more), leased(2, more), pushed(3, 2, more)]
    expect(lost(pushed(1, 1, pool), ...again, gone(pool, more))).toEqual(tooMany)
    // What a shard lost otherwise is excused by nothing, be it little.
    expect(lost(pushed(1, 1, pool), gone(pool), returned(5, more))).toEqual(tooMany)
    expect(lost(pushed(1, 1, ["k"]), gone())).toEqual(["1 keys were lost by pool shards, and 0 may be"])
  })

  it("find nothing in numbers that were not marked yet when a standby was promoted, and something in others, and in those that were asked for before or afterwards", () => {
    const lost = (at_s: number, ...journal: Evidence["journal"]) => {
      const promoted = { tag: "promoted", at_us: 20 * s_us, by: "database" } as const
      return Ledger.check(evidence({ journal: [promoted, advanced(at_s * s_us, 0, 3), ...journal] })).map(
        ({ text }) => text
      )
    }
    const tooMany = ["3 keys were lost between the watermark and the keys, and 0 may be"]
    expect([lost(19), lost(21), lost(13)]).toEqual([[], tooMany, tooMany])
    // A pause lasts longer, of whoever asked.
    const paused = { tag: "paused", at_us: 14 * s_us, by, for_us: 5 * s_us } as const
    expect([lost(13, paused), lost(13, { ...paused, by: "node-1#1" })]).toEqual([[], tooMany])
    // So many, and no more.
    expect(lost(19, advanced(21 * s_us, 3, 1))).toEqual([
      "4 keys were lost between the watermark and the keys, and 3 may be"
    ])
  })

  it("find something in keys that their range made and did not give, whatever else went wrong, and nothing in those that were given", () => {
    const left = "1 keys were lost that were minted, and whose owner gave none, and 0 may be"
    const unrecorded = {
      tag: "unanswered",
      at_us: 3 * s_us,
      by,
      operation: "KeyStock.record",
      interrupted_us: undefined
    } as const
    const answered = (begun_s: number, isRefused: boolean, range = slot.range) =>
      ({ tag: "mint answered", at_us: 2 * s_us, by, range, begun_us: begun_s * s_us, isRefused }) as const
    const found = (...answers: ReadonlyArray<ReturnType<typeof answered>>) =>
      Ledger.check(evidence({ journal: [minted(s_us, 0, ["k"]), ...answers, unrecorded] })).map(
        ({ text }) => text
      )
    expect(found(answered(0, true))).toContain(left)
    expect(found(answered(0, false), answered(0, true))).not.toContain(left)
    expect(found(answered(0, true, slot.range + 1))).not.toContain(left)
    // It came afterwards.
    expect(found(answered(1.5, true))).not.toContain(left)
  })

  it("find something in numbers of a range though a look at the mark was not answered", () => {
    const unlooked = {
      tag: "unanswered",
      at_us: 2,
      by,
      operation: "DatabaseMark.look",
      interrupted_us: undefined
    } as const
    expect(Ledger.check(evidence({ journal: [advanced(1, 0, 1), unlooked] }))).toHaveLength(1)
  })

  it("find nothing in numbers that a node asked for in its last moment", () => {
    expect(Ledger.check(evidence({ journal: [advanced(s_us, 0, 1), ended(1, 0)] }))).toEqual([])
  })

  it("find nothing in a 503 of nobody while the only node finishes what it had under way when the faults ended, and something later or by a node", () => {
    const found = (sent_s: number, some: Partial<Exchange> = {}, nodes = 1) =>
      Liveness.check(
        evidence({
          options: { ...presets.calm(), nodes },
          journal: [draining(41), ended(46, 0)],
          healed_us: 42 * s_us,
          end_us: 62 * s_us,
          exchanges: [exchange(sent_s, { status: 503, answeredBy: undefined, ...some })]
        })
      ).length
    expect(found(47.1)).toBe(0)
    expect([found(47.6), found(47.1, { answeredBy: by }), found(47.1, {}, 2)]).toEqual([1, 1, 1])
  })

  it("find something in a redirect to a target that has been blocked, and nothing in its 410, nor in a redirect before", () => {
    const variants = [{ url: `${blockedUrls}1`, weight: 1 }]
    const { workload } = presets.calm()
    const asked = (at_s: number, some: Partial<Exchange>) =>
      [Leading, ReadYourWrites].flatMap(({ check }) =>
        check(
          evidence({
            options: { ...presets.calm(), workload: { ...workload, refused: 0.1 } },
            journal: [{ ...bound, link: { ...row, extras: { variants } } }],
            exchanges: [created(1), exchange(at_s, { location: undefined, ...some })],
            end_us: 60 * s_us
          })
        ).map(({ text }) => text)
      )
    const location = `${blockedUrls}1`
    expect(asked(21, { location })).toEqual([`abc led somebody to ${location}, which is blocked, by ${by}`])
    expect(asked(19, { location })).toEqual([])
    expect(asked(21, { status: 410 })).toEqual([])
    expect(asked(19, { status: 410 })).toHaveLength(1)
  })

  it("find nothing in what a shorter alias answers at a node that does not know yet that aliases can have several segments", () => {
    const key = "abc/more"
    const long = { ...bound, link: { ...row, key, custom: true } }
    const found = (checker: Checker, some: Partial<Exchange>, from_s: number) =>
      checker.check(
        evidence({
          journal: [long],
          exchanges: [created(1, { key, alias: key }), exchange(3, { key, location: undefined, ...some })],
          silences: [{ by, database: 0, from_us: from_s * s_us, until_us: 5 * s_us }]
        })
      ).length
    for (const [checker, some] of [
      [ReadYourWrites, { status: 410 }],
      [ReadYourWrites, { status: 404 }]
    ] as const)
      expect([found(checker, some, 2), found(checker, some, 4)]).toEqual([0, 1])
  })

  it("find nothing in quotas that are used, given out, or not asked for while the store is away", () => {
    const away = {
      tag: "unanswered",
      at_us: 5 * s_us,
      by,
      operation: "QuotaStore.leaseMany",
      interrupted_us: 250_000
    } as const
    const journal = [
      granted(1, 2),
      took(1, true),
      { ...granted(1, 8), by: "another" },
      took(2, true),
      granted(3, 0, 1),
      took(3, false),
      away,
      took(5.5, true)
    ]
    expect(Quotas.check(evidence({ journal }))).toEqual([])
    // Whoever waits for the call before and for its own gives up before the latter has taken long.
    const heldUp = (at_s: number) =>
      ({
        tag: "held up",
        at_us: at_s * s_us,
        by,
        operation: "QuotaStore.leaseMany",
        for_us: 0.2 * s_us
      }) as const
    const late = [granted(1, 1), took(1.1, true), took(3, true), heldUp(3.1)]
    expect(Quotas.check(evidence({ journal: late }))).toEqual([])
    const unheard = (at_s: number) => [...late.slice(0, -1), { ...away, at_us: at_s * s_us }]
    expect(Quotas.check(evidence({ journal: unheard(3.2) }))).toEqual([])
    expect(Quotas.check(evidence({ journal: unheard(3.4) }))).not.toEqual([])
    for (const end of [heldUp(3.5), { tag: "killed", at_us: 3.1 * s_us, by } as const])
      expect(Quotas.check(evidence({ journal: [...late.slice(0, -1), end] }))).not.toEqual([])
  })

  it("find nothing in a key that is pushed again by a pool shard that lost its data when another one has it by a return, and something where that lost nothing", () => {
    const lost = (shard: number) => ({ ...forgot(3, []), shard, unleased: "all" }) as const
    const ways = (backTo: number, ...after: Evidence["journal"]) => {
      const back = { ...returned(2, ["k"]), shard: backTo }
      return KeyLifecycle.check(
        evidence({ journal: [...way(["k"]), back, ...after, pushed(4, 2, ["k"])] })
      ).map(({ text }) => text)
    }
    expect(ways(1, lost(0))).toEqual([])
    const twice = ["k was pushed when it was pooled, by node-0#1"]
    expect(ways(1)).toEqual(twice)
    expect(ways(1, lost(2))).toEqual(twice)
    expect(ways(0, lost(0))).toEqual(twice)
  })

  it("find nothing in a key that a set has once, though it was handed out twice and came back twice", () => {
    const again = { ...forgot(2, ["k"]), again: ["k"] }
    const leasedAgain = leased(4, ["k"])
    for (const back of [
      [returned(3, ["k"]), leasedAgain],
      [leasedAgain, returned(5, ["k", "k"]), leased(6, ["k"])]
    ]) {
      const journal = [...way(["k"]), again, ...back]
      const found = (keyPool: PoolKind) =>
        Specification.check(evidence({ journal, options: { ...presets.calm(), keyPool } }))
      expect(found("set")).toEqual([])
      expect(found("list")).not.toEqual([])
    }
  })

  it("find nothing in an API key that is accepted within a second of its end, or refused after it", () => {
    const exchanges = [
      created(2.9, { apiKey: key.secret }),
      created(2.1, { apiKey: key.secret, status: 401 }),
      created(9, { apiKey: key.secret, status: 503 })
    ]
    const userKeys = [{ ...key, revoking_us: 2 * s_us, revoked_us: 2 * s_us }]
    expect(Revocation.check(evidence({ userKeys, exchanges }))).toEqual([])
  })

  it("find nothing in an API key that is accepted within a second after its user was disabled, or refused within one after they were enabled again", () => {
    const exchanges = [
      created(2.9, { apiKey: key.secret }),
      created(3.5, { apiKey: key.secret, status: 401 }),
      created(4.9, { apiKey: key.secret, status: 401 }),
      created(4.1, { apiKey: key.secret })
    ]
    const journal = [disabled(2), enabled(4)]
    expect(Revocation.check(evidence({ userKeys: [key], exchanges, journal }))).toEqual([])
  })

  it("find nothing in a node that is not ready while all pools are away, or shortly after a start, a failed call or another fault", () => {
    const options = { ...presets.calm(), pools: 2 }
    const journal = [unready(30)]
    const unanswered = {
      tag: "unanswered",
      at_us: 25 * s_us,
      by,
      operation: "KeyRangeStore.state",
      interrupted_us: undefined
    } as const
    const started = { tag: "started", at_us: 20 * s_us, by } as const
    const all: ReadonlyArray<Partial<Evidence>> = [
      { journal, strikes: [poolAway(20, 0), poolAway(26, 1)] },
      { journal: [started, ...journal], strikes: [poolAway(28, 1)] },
      { journal: [unanswered, ...journal] },
      { journal, strikes: [poolAway(28, 1), { ...poolAway(15, 0), name: "databaseSlow" }] },
      { journal, options: { ...options, witnessed: true } },
      { journal, options: { ...options, pools: 1 } }
    ]
    for (const some of all) expect(Readiness.check(evidence({ options, ...some }))).toEqual([])
  })

  it("find nothing in a link that leads those who give its password, and asks the others for it", () => {
    const exchanges = [
      exchange(2, { status: 401, location: undefined }),
      exchange(3, { password: "no password", status: 401, location: undefined }),
      exchange(4, { password: "open sesame" })
    ]
    expect(Passwords.check(evidence({ exchanges, journal: [locked] }))).toEqual([])
  })

  it("find nothing in a link whose password comes or goes, within a second of that or by a node that may not know, and something later", () => {
    const open = { link: row }
    const found = (from: { readonly link: Link }, at_s: number, status: number, isSilent = false) => {
      const to = from === open ? locked : open
      const link = { ...to.link, title: "t" }
      return Passwords.check(
        evidence({
          options: { ...presets.calm(), staleRedirects_s: 10 },
          exchanges: [
            exchange(2, { kind: "change", status: 200, choices: { title: "t" }, location: undefined }),
            exchange(at_s, status === 401 ? { status, location: undefined } : { status })
          ],
          journal: [
            { ...bound, link: from.link },
            { ...bound, tag: "changed", at_us: 2 * s_us, link }
          ],
          silences: isSilent ? [{ by, database: 0, from_us: s_us, until_us: 20 * s_us }] : []
        })
      ).length
    }
    expect([found(open, 2.5, 302), found(open, 8, 302), found(open, 8, 302, true)]).toEqual([0, 1, 0])
    expect([found(open, 2.5, 401), found(open, 8, 401), found(open, 1, 401)]).toEqual([0, 0, 1])
    expect([found(locked, 2.5, 401), found(locked, 8, 401), found(locked, 8, 401, true)]).toEqual([0, 1, 0])
    expect([found(locked, 2.5, 302), found(locked, 8, 302), found(locked, 1, 302)]).toEqual([0, 0, 1])
  })

  it("find nothing in look-ups that led nowhere and were counted, that led somewhere and were given back, or of which nobody knows", () => {
    const { from } = guess
    const exchanges = [
      exchange(2, guess),
      exchange(2, { from }),
      exchange(3, { ...guess, status: 429 }),
      exchange(4, { ...guess, status: 0, answered_us: undefined }),
      // Answered late, or sent twice.
      exchange(5, { ...guess, status: 503, answered_us: 9.2 * s_us }),
      exchange(10, { ...guess, tries: 2 })
    ]
    const kept = (count: number) =>
      Array.from({ length: count }, (_, index) => [
        reserved(10, index + 1),
        lookUpEnded(10.1, "kept", index + 1)
      ]).flat()
    const of = (count: number) =>
      FailedLookUps.check(
        evidence({
          options: guessing,
          exchanges,
          journal: [reserved(2), lookUpEnded(2.1, "gave back"), ...kept(count)]
        })
      )
    expect(of(2)).toEqual([])
    expect(of(4)).toEqual([])
    expect(of(1)).toHaveLength(1)
    expect(of(60)).toHaveLength(1)
  })

  it("find nothing in an API key that somebody has asked to revoke, however it is answered and listed", () => {
    const exchanges = [
      created(4, { apiKey: key.secret }),
      created(4, { apiKey: key.secret, status: 401 }),
      keyList(4, []),
      keyList(5, ["key_0", "key_1"])
    ]
    const userKeys = [{ ...key, revoking_us: 2 * s_us }]
    expect(Revocation.check(evidence({ userKeys, exchanges }))).toEqual([])
  })

  it("find nothing in a list without a key whose user is removed before it is answered, and something in one that was answered before", () => {
    const removed = (at_us: number) => ({ tag: "user removed", at_us, by, user: "usr_0" }) as const
    const found = (at_us: number) =>
      Revocation.check(evidence({ userKeys: [key], exchanges: [keyList(4, [])], journal: [removed(at_us)] }))
    expect(found(4 * s_us + 500)).toEqual([])
    expect(found(4 * s_us + 1_500)).toHaveLength(1)
  })

  it("find nothing in a session that is accepted until its end and refused afterwards, and in sign-ins of who may", () => {
    const journal = [
      begun(1),
      sessionEnded(3),
      disabled(10),
      enabled(12),
      passwordChanged(20.0005),
      begun(21, "other")
    ]
    const exchanges = [
      asked(2, 200),
      // Under way when it ended.
      asked(2.9995, 200),
      asked(2.9995, 401),
      asked(4, 401),
      asked(4, 503),
      asked(2.9998, 204, { kind: "sign out" }),
      asked(4, 204, { kind: "sign out" }),
      signingIn(5, 401, false),
      signingIn(11, 401, true),
      signingIn(13, 204, true),
      signingIn(20, 401, true)
    ]
    expect(UserSessions.check(evidence({ journal, exchanges }))).toEqual([])
  })

  it("find nothing in a session that is used again and again, and in one that may have ended unused", () => {
    const exchanges = [asked(6, 200), asked(12, 200), asked(19, 401), asked(25, 401)]
    expect(UserSessions.check(evidence({ options: idling, journal: [begun(1)], exchanges }))).toEqual([])
  })

  it("find nothing in a session that is used by a body that comes slowly, nor in what is asked meanwhile", () => {
    const slow = asked(11, 200, { begun_us: 8 * s_us, answered_us: 12 * s_us })
    const exchanges = [slow, asked(10.9, 200, { answered_us: 10.95 * s_us })]
    expect(UserSessions.check(evidence({ options: idling, journal: [begun(1)], exchanges }))).toEqual([])
  })

  it("find nothing in reads that begin after a pause, nor in writes after a short one, long after one, and of clients who go afterwards", () => {
    const journals = [
      [stoodStill(1, 6), begunLate(7.01, 6, "GET")],
      [stoodStill(1, 0.5), begunLate(1.51, 1.2)],
      [stoodStill(1, 6), begunLate(8, 6)],
      [stoodStill(1, 6), begunLate(7.2, 7.1)]
    ]
    expect(journals.flatMap((journal) => LateRequests.check(evidence({ journal })))).toEqual([])
  })

  it("find nothing in a create that was to end at a moment that was over, and something in one that was not", () => {
    const refused = (expiresAt: string) =>
      Liveness.check(evidence({ exchanges: [exchange(47, { kind: "create", status: 400, expiresAt })] }))
    expect(refused("1970-01-01T00:00:46Z")).toEqual([])
    expect(refused("1970-01-01T00:00:49Z")).toHaveLength(1)
  })

  it("find nothing in what is ended just after the database's clock has jumped or was corrected, by a node that has not heard of it, or began afterwards", () => {
    const journal = [startedAt(1), freed(31 * s_us)]
    const silence = { by, database: 0, from_us: 19 * s_us, until_us: 22 * s_us }
    const all: ReadonlyArray<Partial<Evidence>> = [
      { clock: jumped(22, 30), journal },
      { clock: jumped(20, 1), journal },
      { clock: jumped(20, 30), journal, silences: [silence] },
      { clock: jumped(20, 30), journal: [startedAt(18), ...journal.slice(1)] },
      { clock: jumped(20, 30), journal, options: { ...presets.calm(), alone: "sqlite" } }
    ]
    expect(all.flatMap((some) => MachineTime.check(evidence(some)))).toEqual([])
  })

  it("find nothing in what is ended just after a machine's clock has jumped, and when it is right again", () => {
    const journals = [
      [machineClock(1, 30), freed(9 * s_us)],
      [machineClock(1, 30), machineClock(8, 0), freed(12 * s_us), machineClock(13, 2), freed(22 * s_us)]
    ]
    expect(journals.flatMap((journal) => MachineTime.check(evidence({ journal })))).toEqual([])
  })

  it("find nothing in a record whose keys were used, put back or pushed anew before it may be closed", () => {
    const leasedAt = (at_s: number) => [...way(["abc"]), settled(at_s * s_us, "1/0")]
    const putBack = { tag: "put back", at_us: 3, by, keys: ["abc"] } as const
    const again = [freed(3), { ...recorded(4, 2, ["abc"]), batch: "2/0" }]
    const journals = [
      [...leasedAt(2), { ...bound, at_us: 5 * s_us }],
      [...way(["abc"]), putBack, settled(4, "1/0"), { ...bound, at_us: 30 * s_us }],
      [...way(["abc"]), putBack, returned(4, ["abc"]), settled(5, "1/0")],
      [...way(["abc"]), bound, ...again, { ...pushed(5, 2, ["abc"]), batch: "2/0" }, settled(6, "1/0")]
    ]
    expect(
      journals.map((journal) => KeyLifecycle.check(evidence({ options: aloneOptions, journal })))
    ).toEqual([[], [], [], []])
  })

  it("find nothing in a quota that grants what is left, and something in one that does not refill after the database's clock went back", () => {
    const journal = [granted(1, 8), took(1, true), granted(2, 2, 5), granted(20, 1, 1)]
    const used = Array.from({ length: 10 }, () => took(21, true))
    expect(Quotas.check(evidence({ journal: [...journal, ...used] }))).toEqual([])
    const clock = recordOf([{ at_us: 10 * s_us, by_us: -30 * s_us }], 0)
    const short = Quotas.check(
      evidence({ clock, journal: [granted(1, 8), granted(25, 1), granted(55, 1, 4)] })
    )
    expect(short.map(({ text }) => text)).toContainEqual(expect.stringContaining("granted 1 of 4 times"))
  })

  it("find the end of the last administrator, and nothing where that is refused", () => {
    const ending = (status: number, some: Partial<Exchange> = {}) =>
      LastAdministrator.check(
        evidence({ exchanges: [asked(2, status, { kind: "change user", user: "usr_0", ...some })] })
      ).length
    expect([ending(409), ending(503), ending(0), ending(200, { user: "usr_1" })]).toEqual([0, 0, 0, 0])
    expect([ending(200), ending(204, { kind: "remove user" })]).toEqual([1, 1])
  })

  it("find a session that ended where older ones have not, and nothing in the oldest of too many", () => {
    const oldest = [begun(1), ...Array.from({ length: 20 }, (_, index) => begun(2 + index, `other ${index}`))]
    const newest = [
      ...Array.from({ length: 20 }, (_, index) => begun(1 + index, `other ${index}`)),
      begun(22),
      begun(23, "last")
    ]
    const signIn = { ...signingIn(22, 204, true), sent_us: 21.9 * s_us }
    const refused = (journal: Evidence["journal"], some: Partial<Evidence> = {}) =>
      UserSessions.check(evidence({ journal, exchanges: [signIn, asked(24, 401)], ...some }))
    expect(refused(oldest)).toEqual([])
    expect(refused(newest)).toHaveLength(1)
    // By clocks that are not right it may be the oldest.
    expect(refused(newest, { faults: new Map([["clockJump", 1]]) })).toEqual([])
  })

  it("find nothing in links that somebody deletes, or that go or stay with their user", () => {
    const gone = { ...ownBound.link, deletedAt: 1 }
    const all: ReadonlyArray<Partial<Evidence>> = [
      { exchanges: [created(1), deleting(2)], journal: [bound, deleted(2.0005 * s_us)] },
      {
        exchanges: [userRemoved(2, "delete")],
        journal: [
          ownBound,
          { tag: "owner gone", at_us: 2.0005 * s_us, by, owner: "usr_0" },
          deleted(3 * s_us)
        ],
        row: () => gone
      },
      { exchanges: [userRemoved(2, "keep")], journal: [ownBound], row: () => ownBound.link },
      // Who asked is not known to the checkers.
      {
        journal: [
          bound,
          { tag: "left behind", at_us: 2 * s_us, by },
          { tag: "owner gone", at_us: 3 * s_us, by, owner: "usr_0" }
        ]
      },
      {
        exchanges: [{ ...userRemoved(2, "delete"), status: 0 }],
        journal: [ownBound],
        row: () => ownBound.link
      }
    ]
    for (const some of all) expect(Removals.check(evidence(some))).toEqual([])
  })

  it("find nothing in sessions that users end and are told of, and in passwords that they choose", () => {
    const journal = [
      passwordChanged(0.5, true),
      begun(1, "first"),
      { ...passwordChanged(2.0005), by },
      begun(3),
      begun(3, "other"),
      begun(3, "third"),
      { ...sessionEnded(5.0005), session: "other" },
      { ...sessionEnded(6.0005), session: "third" }
    ]
    const exchanges = [
      asked(1.5, 403, { kind: "keys", session: "first" }),
      asked(1.5, 200, { session: "first" }),
      aboutSessions(1.8, 400, { kind: "password", isRight: false, session: "first" }),
      aboutSessions(2, 204, { kind: "password", isRight: true, session: "first" }),
      aboutSessions(4, 200, { kind: "sessions", listed: ["ses", "other", "third"].map(idOf) }),
      aboutSessions(5, 204, { kind: "end session", ends: idOf("other") }),
      aboutSessions(5.5, 404, { kind: "end session", ends: idOf("other") }),
      aboutSessions(5.5, 404, { kind: "end session", ends: idOf("nobody's") }),
      aboutSessions(6, 204, { kind: "end others" }),
      aboutSessions(7, 200, { kind: "sessions", listed: [idOf("ses")] })
    ]
    expect(UserSessions.check(evidence({ journal, exchanges }))).toEqual([])
  })

  it("find nothing in an API key that ends by itself", () => {
    const exchanges = [created(3, { apiKey: key.secret, status: 401 }), keyList(3, [])]
    const userKeys = [{ ...key, expires_us: 2 * s_us }]
    expect(Revocation.check(evidence({ userKeys, exchanges }))).toEqual([])
  })

  it("find nothing in the oldest of more sessions than a user may have, which is refused", () => {
    const exchanges = [asked(9, 401)]
    const ofUser = (count: number) => [
      begun(1),
      ...Array.from({ length: count }, (_, index) => begun(2, `session ${index}`))
    ]
    expect(UserSessions.check(evidence({ journal: ofUser(20), exchanges }))).toEqual([])
    expect(UserSessions.check(evidence({ journal: ofUser(19), exchanges }))).not.toEqual([])
  })

  it("find nothing in tries at guessing that are given back, or refused by a node that has used up the limit alone", () => {
    const back = (at_s: number) => ({ tag: "gave back", at_us: at_s * s_us, by, quotas: ["q"] }) as const
    const journal = [
      granted(1, 1),
      tried(1, true),
      back(2),
      tried(3, true),
      granted(4, 2),
      tried(4, true),
      tried(4, true)
    ]
    const exchanges = [signingIn(2, 204, true)]
    expect(Quotas.check(evidence({ exchanges, journal: [...journal, tried(5, false)] }))).toEqual([])
    expect(Quotas.check(evidence({ exchanges, journal: [...journal, tried(70, false)] }))).not.toEqual([])
    expect(Quotas.check(evidence({ exchanges: [signingIn(2, 401, false)], journal }))).not.toEqual([])
    expect(Quotas.check(evidence({ exchanges: [...exchanges, ...exchanges], journal }))).not.toEqual([])
    // What came back waits for the next ones.
    const times = [1, 2, 3, 4]
    const atOnce = [
      ...times.flatMap((at_s) => [granted(at_s, 1), took(at_s, true)]),
      ...times.map(() => back(5))
    ]
    const all = times.map(() => signingIn(5, 204, true))
    expect(Quotas.check(evidence({ exchanges: all, journal: atOnce }))).toEqual([])
    const more = times.map(() => granted(6, 1))
    expect(Quotas.check(evidence({ exchanges: all, journal: [...atOnce, ...more] }))).not.toEqual([])
  })

  it("find nothing in events that were delivered more than once, or wait since something failed", () => {
    const failed = {
      tag: "unanswered",
      at_us: 43 * s_us,
      by,
      operation: "Webhook.send",
      interrupted_us: undefined
    } as const
    expect(WebhookEvents.check(evidence({ journal: [ownBound, offered, arrived, arrived] }))).toEqual([])
    // The administrator had the deleted link, and has no webhook.
    const others = [{ ...bound, at_us: 30 * s_us }, deleted(40 * s_us)]
    expect(WebhookEvents.check(evidence({ journal: [ownBound, offered, arrived, ...others] }))).toEqual([])
    expect(
      WebhookEvents.check(
        evidence({
          journal: [ownBound, { ...offered, at_us: 43 * s_us }, failed],
          undelivered: new Set(["msg"])
        })
      )
    ).toEqual([])
  })

  it("find nothing in events that wait for a webhook that pauses for long, and something where the pause is over", () => {
    const failed = (at_s: number, pause_ms: number) => ({ ...putOff(at_s, 4_000), pause_ms })
    const other = { ...offered, at_us: 2 * s_us, events: ["other"] } as const
    const done = { ...arrived, at_us: 30 * s_us, events: ["other"] } as const
    const found = (...journal: Evidence["journal"]) =>
      WebhookEvents.check(
        evidence({
          journal: [ownBound, other, ...journal, { ...offered, at_us: 55 * s_us }],
          healed_us: 42 * s_us,
          end_us: 62 * s_us,
          undelivered: new Set(["msg"])
        })
      ).filter(({ text }) => text.includes("msg")).length
    expect(found(failed(34, 16_000), done)).toBe(0)
    expect(found(failed(34, 8_000), done)).toBe(1)
  })

  it("find nothing in visits that a kill may lose, or that were reported as dropped while the store was away", () => {
    const killed = { tag: "killed", at_us: 4 * s_us, by } as const
    const away = {
      tag: "unanswered",
      at_us: 1,
      by,
      operation: "VisitStore.write",
      interrupted_us: undefined
    } as const
    expect(Visits.check(evidence({ journal: [visited(3.1), killed] }))).toEqual([])
    expect(
      Visits.check(evidence({ journal: [visited(1.5), counting(1.6, 1), visited(1.7), killed] }))
    ).toEqual([])
    expect(
      Visits.check(evidence({ journal: [visited(1), away], visitsShed: { ...noVisitsShed, full: 1 } }))
    ).toEqual([])
    // One of them was counted, which the database has forgotten.
    const forgotten = { ...databaseForgot(1.5), visits: [[by, [["abc", 1]]]] } as const
    const both = [visited(0.1), visited(1), counting(1.1, 1), counted(1.2, 1), forgotten, away]
    expect(Visits.check(evidence({ journal: both, visitsShed: { ...noVisitsShed, full: 1 } }))).toEqual([])
    const stopped = { ...noVisitsShed, stopped: 1 }
    const stopping = (took_s: number) => [visited(1), away, draining(2), ended(2 + took_s, 0)]
    expect(Visits.check(evidence({ journal: stopping(7.5), visitsShed: stopped }))).toEqual([])
    // It did not try for as long as it should.
    expect(Visits.check(evidence({ journal: stopping(7), visitsShed: stopped }))).toHaveLength(1)
  })

  it("find nothing in previews of links as they are, nor in none of a link that is not there or may be used up", () => {
    const shown = (journal: ReadonlyArray<JournalEntry>, ...exchanges: ReadonlyArray<Exchange>) =>
      Previews.check(evidence({ exchanges: [created(1), ...exchanges], journal }))
    expect(shown([bound], previewing(4))).toEqual([])
    expect(shown([locked], previewing(4, { url: null }))).toEqual([])
    expect(shown([bound, visited(2), counted(3, 1)], previewing(4, { visits: 1 }))).toEqual([])
    expect(shown([limited(2)], previewing(4, {}, 410))).toEqual([])
    expect(shown([bound, deleted(2 * s_us)], previewing(4, {}, 410))).toEqual([])
  })

  it("find nothing in links that crawlers are told of within a minute, nor in one that may not be there", () => {
    const crawled = (journal: ReadonlyArray<JournalEntry>, ...exchanges: ReadonlyArray<Exchange>) =>
      Crawlers.check(evidence({ exchanges, journal }))
    expect(crawled([crawlable], crawling(4, "abc"))).toEqual([])
    expect(crawled([bound], crawling(4))).toEqual([])
    // A node goes on with what it has read.
    expect(crawled([crawlable, deleted(5 * s_us)], crawling(4, "abc"), crawling(60, "abc"))).toEqual([])
    expect(crawled([crawlable, deleted(5 * s_us)], crawling(4, "abc"), crawling(66, "abc"))).toHaveLength(1)
    const second = { ...crawlable, at_us: 5 * s_us, link: { ...crawlable.link, key: "xyz" } }
    expect(crawled([crawlable, second], crawling(4, "abc"), crawling(30, "abc"))).toEqual([])
    expect(crawled([crawlable, second], crawling(4, "abc"), crawling(66, "abc"))).toHaveLength(1)
    // It may have read that when it gave no answer.
    const unanswered = exchange(2, { kind: "crawl", key: undefined, status: 504, answeredBy: undefined })
    expect(crawled([{ ...crawlable, at_us: 3 * s_us }], unanswered, crawling(4))).toEqual([])
    expect(crawled([{ ...crawlable, link: { ...crawlable.link, expiresAt: 9_000 } }], crawling(4))).toEqual(
      []
    )
    const strikes = [{ name: "cutDatabase", whom: "node 0", at_us: 3 * s_us, for_us: s_us }]
    expect(Crawlers.check(evidence({ exchanges: [crawling(4)], journal: [crawlable], strikes }))).toEqual([])
    // Crawlers may have asked it while it worked on a primary that had been left behind, which checkers are not shown.
    const leftBehind = { tag: "left behind", at_us: 2 * s_us, by } as const
    const later = { ...crawlable, at_us: 30 * s_us }
    expect(crawled([leftBehind, later], crawling(31))).toEqual([])
    expect(crawled([leftBehind, { ...later, at_us: 80 * s_us }], crawling(90))).toHaveLength(1)
  })

  it("find nothing in what a former primary records that the newer one has recorded already, and something where it is none", () => {
    const again = { ...recorded(3, 1, ["k"]), batch: "2/0" }
    const found = (entry: JournalEntry) =>
      KeyLifecycle.check(evidence({ journal: [...way(["k"]), entry], pooled: new Set() })).length
    expect(found({ ...again, isInVain: true })).toBe(0)
    expect(found(again)).toBe(1)
  })

  it("find nothing in the keys of a lease that was about to be given up, and something where it was given up long before", () => {
    const lost = (took_us: number) =>
      Ledger.check(
        evidence({ journal: [...way(["k"]), { ...handed, took_us }, ended(20, 0)], end_us: 60 * s_us })
      ).length
    expect(lost(s_us)).toBe(0)
    expect(lost(2 * s_us)).toBeGreaterThan(0)
  })

  it("find nothing in users who are added, refused and listed as they should be", () => {
    const asked = (journal: ReadonlyArray<JournalEntry>, one: Exchange) =>
      Directory.check(evidence({ exchanges: [one], journal }))
    expect(asked([userAdded(2.0005)], adding(2, 201))).toEqual([])
    expect(asked([userAdded(1)], adding(2, 409, []))).toEqual([])
    expect(asked([userAdded(1)], listingUsers(2, ["usr_5"], "ADA@example.com"))).toEqual([])
    // Who came or went meanwhile may be there.
    for (const listed of [[], ["usr_5"]]) {
      expect(asked([userAdded(2.0005)], listingUsers(2, listed))).toEqual([])
      expect(asked([userAdded(1), userGone(2.0005)], listingUsers(2, listed))).toEqual([])
    }
    expect(asked([userAdded(1), userGone(2), userAdded(3, "usr_6")], adding(3, 201, ["usr_6"]))).toEqual([])
  })

  it("find nothing in a run in which every promise was kept", () => {
    const fine = evidence({
      exchanges: [
        created(1),
        exchange(2, {}),
        exchange(41, { status: 503 }),
        exchange(3, { kind: "delete", status: 204 }),
        exchange(3.5, {}),
        exchange(47, { status: 410 })
      ],
      journal: [...way(["abc", "k"]), bound, returned(5, ["k"]), deleted(3 * s_us), freed(24 * s_us)],
      pooled: new Set(["k"]),
      stocked: new Set(["abc"]),
      row: () => null
    })
    expect(checkers.flatMap(({ check }) => check(fine))).toEqual([])
  })

  it("find nothing in an alias that is refused to the one whose link of it somebody has deleted meanwhile", () => {
    const fine = evidence({
      exchanges: [
        created(1, { alias: "abc", key: undefined, status: 409, answered_us: 3.1 * s_us }),
        exchange(2, { kind: "delete", status: 204 })
      ],
      journal: [...way(["abc"]), bound, deleted(3 * s_us), freed(24 * s_us)],
      stocked: new Set(["abc"]),
      row: () => null
    })
    expect(checkers.flatMap(({ check }) => check(fine))).toEqual([])
  })

  it("find nothing in a change that holds at once or within a second, and that another one follows", () => {
    const fine = evidence({
      exchanges: [
        created(1),
        change,
        exchange(2.9, {}),
        exchange(3.1, { location: changed.link.url }),
        exchange(4, { kind: "change", status: 503, url: "https://example.com/3", location: undefined }),
        exchange(5, { location: "https://example.com/3" })
      ],
      journal: [...way(["abc"]), bound, changed, changedTo(4, { url: "https://example.com/3" })],
      row: () => ({ ...row, url: "https://example.com/3" })
    })
    expect(checkers.flatMap(({ check }) => check(fine))).toEqual([])
  })

  it("find nothing in a key that is recycled, and stands for another link then", () => {
    const stocked = [
      deleted(2 * s_us),
      freed(25 * s_us),
      claimed(26 * s_us, 2),
      recorded(26 * s_us, 2, ["abc"]),
      { ...pushed(26 * s_us, 2, ["abc"]), batch: "2/0" },
      closed(26 * s_us, "2/0"),
      leased(27 * s_us, ["abc"])
    ]
    const { url } = rebound.link
    const fine = evidence({
      exchanges: [
        created(1),
        exchange(2, { kind: "delete", status: 204 }),
        exchange(3.5, { status: 410 }),
        exchange(26, { status: 404 }),
        exchange(29.9995, { kind: "delete", status: 404 }),
        created(30, { url }),
        exchange(31, { location: url })
      ],
      journal: [...way(["abc"]), bound, ...stocked, rebound],
      row: () => rebound.link
    })
    expect(checkers.flatMap(({ check }) => check(fine))).toEqual([])
  })

  it("find nothing in a repeat that is given its former link again, whose key has another link of the same target by then", () => {
    const again = { ...bound, at_us: 30 * s_us }
    const repeat = (body: string) =>
      UniqueBinding.check(
        evidence({
          exchanges: [
            keyed(1, { reuse: true }),
            created(30, { reuse: true }),
            keyed(31, { reuse: true, isReplay: true, body })
          ],
          journal: [bound, deleted(2 * s_us), freed(25 * s_us), again]
        })
      )
    expect(repeat("one")).toEqual([])
    expect(repeat("two")).toHaveLength(1)
  })

  it("find nothing in a delete of what expired before the database's clock jumped back", () => {
    const some = {
      exchanges: [created(1), exchange(15, { kind: "delete", status: 404 })],
      journal: [expiring, { tag: "expired", at_us: 9.5 * s_us, by, key: "abc" } as const],
      clock: recordOf([{ at_us: 11 * s_us, by_us: -8 * s_us }], 0)
    }
    expect(ReadYourWrites.check(evidence(some))).toEqual([])
  })

  it("find nothing in a delete of what ends meanwhile with its owner", () => {
    const found = (links: "keep" | "delete") =>
      ReadYourWrites.check(
        evidence({
          exchanges: [
            created(1),
            { ...exchange(2, { kind: "delete", status: 404 }), answered_us: 5 * s_us },
            userRemoved(3, links)
          ],
          journal: [ownBound, deleted(4 * s_us)]
        })
      ).length
    expect([found("delete"), found("keep")]).toEqual([0, 1])
  })

  it("find nothing in a delete that is answered when its key has been freed and bound again", () => {
    const again = { ...row, url: rebound.link.url }
    const late = { ...deleting(2), answered_us: 31 * s_us }
    const some = {
      exchanges: [created(1), late, created(30.5, { url: again.url }), exchange(33, { location: again.url })],
      journal: [bound, deleted(2.1 * s_us), freed(25 * s_us), rebound],
      row: () => again
    }
    expect(Durability.check(evidence(some))).toEqual([])
    expect(ReadYourWrites.check(evidence(some))).toEqual([])
    expect(Freshness.check(evidence(some))).toEqual([])
    // One that was sent later is of the link that lives.
    const violations = Durability.check(evidence({ ...some, exchanges: [...some.exchanges, deleting(40)] }))
    expect(violations.map(({ text }) => text)).toEqual(["abc was deleted, and lives"])
  })

  it("find nothing in a key that was handed out twice, freed, and bound by who still had it before the stock gave it away", () => {
    const kept = evidence({
      journal: [
        ...way(["abc"]),
        forgot(2, ["abc"]),
        bound,
        deleted(2 * s_us),
        freed(25 * s_us),
        { ...rebound, at_us: 26 * s_us },
        recorded(40 * s_us, 2, ["abc"]),
        pushed(41 * s_us, 2, ["abc"])
      ]
    })
    expect(KeyLifecycle.check(kept)).toEqual([])
  })

  it("find nothing in a key that is freed once more after a failover, and that a recovery takes out of the stock again", () => {
    const again = { ...databaseForgot(26), keys: ["abc"] }
    const leasedAgain = leased(32 * s_us, ["abc"])
    const journal = [
      ...way(["abc"]),
      bound,
      deleted(2 * s_us),
      freed(25 * s_us),
      recorded(25 * s_us, 2, ["abc"]),
      { ...pushed(25 * s_us, 2, ["abc"]), batch: "2/0" },
      again,
      freed(30 * s_us)
    ]
    const recovered = recovering(31, ["abc"])
    const rest = [leasedAgain, { ...rebound, at_us: 33 * s_us }]
    expect(KeyLifecycle.check(evidence({ journal: [...journal, recovered, ...rest] }))).toEqual([])
    const twice = [...journal, recorded(30.5 * s_us, 3, ["abc"]), ...rest, leasedAgain]
    expect(KeyLifecycle.check(evidence({ journal: twice }))).not.toEqual([])
  })

  it("find nothing in a key whose push was forgotten before it was bound and freed, and which a recovery gives up while its owner pushes it", () => {
    const recovered = recovering(31, ["abc"])
    const journal = [
      ...way(["abc"]),
      { ...databaseForgot(0.9), keys: ["abc"], links: [] },
      bound,
      deleted(2 * s_us),
      freed(25 * s_us),
      recorded(26 * s_us, 2, ["abc"]),
      recovered,
      { ...pushed(32 * s_us, 2, ["abc"]), batch: "2/0" },
      leased(33 * s_us, ["abc"]),
      { ...rebound, at_us: 34 * s_us }
    ]
    expect(KeyLifecycle.check(evidence({ journal }))).toEqual([])
  })

  it("find nothing in a link that ends by the database's clock, as nodes hear of it", () => {
    const fine = evidence({
      exchanges: [created(1), exchange(4, { status: 410 }), exchange(2.9, {})],
      journal: [
        ...way(["abc"]),
        expiring,
        { tag: "expired", at_us: 4.5 * s_us, by, key: "abc" },
        freed(30 * s_us)
      ],
      clock: recordOf([{ at_us: 2 * s_us, by_us: 7 * s_us }], 0),
      stocked: new Set(["abc"]),
      row: () => null
    })
    expect(Freshness.check(fine)).toEqual([])
    expect(ReadYourWrites.check(fine)).toEqual([])
  })

  it("find nothing in repeats that are answered alike, refused with another body, or one of them under way", () => {
    const again = { isReplay: true } as const
    const exchanges = [
      keyed(1, { status: 504 }),
      keyed(1.5, { status: 409 }),
      keyed(2, again),
      keyed(3, again),
      keyed(4, { status: 422, url: "https://example.com/2" }),
      reusing(5, { status: 200 })
    ]
    expect(
      checkers.flatMap(({ check }) => check(evidence({ exchanges, journal: [...way(["abc"]), bound] })))
    ).toEqual([])
  })

  it("find nothing in what a failover has made the database forget, whose keys are given to nobody else", () => {
    const away = exchange(5, { status: 404 })
    const again = [
      ...way(["abc"]),
      bound,
      visited(1.5),
      counted(1.6, 1),
      databaseForgot(3),
      claimed(4 * s_us, 1),
      // By the same create, which had no answer.
      { ...bound, at_us: 4 * s_us }
    ]
    const run = evidence({ exchanges: [created(1), away], journal: again, row: () => null })
    expect(judge(run)).toEqual([])
    expect(remembered(run).exchanges).toEqual([])
    expect(judge(evidence({ exchanges: [created(1), away], row: () => null }))).not.toEqual([])
    // An alias is free for others when its link is forgotten, and a key when its link has ended.
    const alias = { ...bound, link: { ...row, custom: true } }
    const other = { ...rebound, at_us: 9 * s_us }
    const fine = [
      evidence({ exchanges: [created(1, { alias: "abc" })], journal: [alias, databaseForgot(3), other] }),
      evidence({
        exchanges: [created(1)],
        journal: [bound, deleted(2 * s_us), freed(6 * s_us), databaseForgot(7), other]
      })
    ]
    for (const one of fine) expect(Forgotten.check(one)).toEqual([])
  })

  it("find nothing in a path whose longer alias the database has forgotten, and another link has now, and something if it has none", () => {
    const longer = (at_s: number, url: string) =>
      ({ ...bound, at_us: at_s * s_us, link: { ...row, key: "abc/more", custom: true, url } }) as const
    const [first, second] = ["https://example.com/2", "https://example.com/3"]
    const forgotten = { ...databaseForgot(3), links: ["abc/more"], visits: [] }
    const counting = { tag: "counted", at_us: 6 * s_us, by, visits: [["abc/more", 1]] } as const
    const led = exchange(5, { path: "more", location: second })
    const seen = { ...visited(5), path: "more", location: second }
    const judged = (journal: ReadonlyArray<JournalEntry>) => {
      return judge(evidence(attributed([created(1), led], journal, livesOf(journal))))
    }
    const before = [...way(["abc"]), bound, longer(2, first)]
    expect(judged([...before, forgotten, longer(4, second), seen, counting])).toEqual([])
    expect(judged([...before, seen]).map(({ checker }) => checker)).toContain("unique binding")
  })

  it("find nothing in a 503 of a node that has given up as many connections as it may, and something later", () => {
    const answered = (at_s: number) => {
      const late = exchange(at_s, { status: 503 })
      const refusals = [{ by: late.answeredBy!, at_us: late.answered_us! }]
      const sessions = Object.assign(new SessionFigures(), { refusals })
      return Liveness.check(evidence({ exchanges: [late], sessions, end_us: 70 * s_us }))
    }
    expect(answered(46)).toEqual([])
    expect(answered(61)).toHaveLength(1)
  })

  it("find nothing in a request to one node that was told to stop before the faults ended, and not started again, and something in others that get no answer", () => {
    const found = (some: Partial<Exchange>, ended_s = 50) => {
      const asked = exchange(48, { status: 0, answeredBy: undefined, direct: true, ...some })
      const journal = [draining(39), { tag: "ended", at_us: ended_s * s_us, by, unanswered: 0 } as const]
      return Liveness.check(evidence({ exchanges: [asked], journal, end_us: 70 * s_us })).length
    }
    expect(found({})).toBe(0)
    expect(found({ direct: false })).toBe(1)
    expect(found({ answeredBy: by, status: 503 })).toBe(1)
    expect(found({}, 45)).toBe(1)
  })

  it("find nothing in a 503 while every owner that the request needs has given up as many connections as it may, and something otherwise", () => {
    const at = (by: string, actor: string) => ({ tag: "activated", at_us: 1, by, actor }) as const
    const [here, away] = ["node-0#1", "node-1#1"]
    const owners = [
      at(here, "PoolShard/0"),
      at(away, "PoolShard/1"),
      at(away, `UrlMapping/${partitionOf("abc")}`)
    ]
    const found = (
      short: ReadonlyArray<string>,
      asked: Partial<Exchange>,
      journal: Evidence["journal"] = owners
    ) => {
      const late = exchange(46, { status: 503, answeredBy: "node-2#1", ...asked })
      const refusals = short.map((by) => ({ by, at_us: late.answered_us! }))
      const sessions = Object.assign(new SessionFigures(), { refusals })
      return Liveness.check(evidence({ exchanges: [late], sessions, journal, end_us: 70 * s_us })).length
    }
    const create = { kind: "create", key: undefined } as const
    expect(found([here, away], create)).toBe(0)
    expect(found([here], create)).toBe(1)
    expect(found([away], create)).toBe(1)
    expect(found([], create, [])).toBe(1)
    const moved = { tag: "deactivated", at_us: 2, by: here, actor: "PoolShard/0" } as const
    expect(found([away], create, [...owners, moved])).toBe(0)
    expect(found([away], create, [...owners, { tag: "killed", at_us: 2, by: here }])).toBe(0)
    expect(found([away], { kind: "delete", key: "abc" })).toBe(0)
    expect(found([here], { kind: "delete", key: "abc" })).toBe(1)
    const another = at(here, `UrlMapping/${partitionOf("abc")}0`)
    expect(found([away], { kind: "delete", key: "abc" }, [...owners, another])).toBe(0)
  })

  it("find nothing in an API key that ends too soon for a node whose database's clock has jumped ahead by its time", () => {
    const found = (by_s: number, kind: Exchange["kind"] = "key") =>
      Liveness.check(
        evidence({
          exchanges: [exchange(46, { kind, key: undefined, status: 400 })],
          clock: recordOf([{ at_us: 10 * s_us, by_us: by_s * s_us }], 0)
        })
      ).length
    expect([found(0), found(1.5), found(3), found(3, "create")]).toEqual([1, 1, 0, 1])
  })

  it("find nothing in a node that goes on after jumps of the database's clock that it cannot have heard of", () => {
    const ended = { tag: "expired", at_us: 40 * s_us, by, key: "abc" } as const
    const journal = [{ tag: "started", at_us: 0, by } as const, expiring, ended]
    const jumped = (...jumps: ReadonlyArray<readonly [at_s: number, by_s: number]>) =>
      Quarantine.check(
        evidence({
          journal,
          end_us: 41 * s_us,
          clock: recordOf(
            jumps.map(([at_s, by_s]) => ({ at_us: at_s * s_us, by_us: by_s * s_us })),
            0
          )
        })
      )
    expect(jumped([25, 3.2], [25.1, -3])).toEqual([])
    expect(jumped([25, 3.2], [27, -3])).toHaveLength(1)
  })

  it("find nothing in a delete of a link that an earlier one has ended, which was under way when the key was bound", () => {
    const early = { ...exchange(0.9, { kind: "delete", status: 204 }), answered_us: 3 * s_us }
    const late = exchange(5, { kind: "delete", status: 404 })
    const journal = [bound, deleted(2 * s_us)]
    expect(RepeatedDeletes.check(evidence({ exchanges: [early, created(1), late], journal }))).toEqual([])
    expect(RepeatedDeletes.check(evidence({ exchanges: [created(1), late], journal: [bound] }))).toHaveLength(
      1
    )
  })

  it("find nothing in a delete of a link that a bulk edit has deleted, and something where both say that they have", () => {
    const edit = (q: string) =>
      deletedInBulk(q === "ab" ? [{ key: "abc", status: 204, isChanged: true }] : [], { q })
    const found = (q: string, status: number) =>
      RepeatedDeletes.check(
        evidence({
          exchanges: [created(1), edit(q), deleting(2, status)],
          journal: [bound, deleted(2 * s_us)]
        })
      ).length
    expect(found("ab", 404)).toBe(0)
    expect(found("ab", 204)).toBe(1)
    expect(found("none", 404)).toBe(1)
  })

  it("count a visit whose answer may have been lost as used, whatever came of it", () => {
    const lost = [
      exchange(3, { status: 503 }),
      exchange(3, { status: 0, tries: 0 }),
      exchange(3, { tries: 2 })
    ]
    for (const one of lost) {
      const exchanges = [created(1, { maxVisits: 2 }), exchange(2, {}), one, exchange(4, { status: 410 })]
      expect(ExactVisits.check(evidence({ exchanges, journal: [limited(2)] }))).toEqual([])
    }
    // It took one and did not hear so; when it asked again, the link was deleted.
    const used = { ...exchange(3, { status: 410 }), answered_us: 4 * s_us }
    const overtaken = { ...exchange(3.5, { status: 410 }), answered_us: 6 * s_us }
    const exchanges = [created(1, { maxVisits: 1 }), used, overtaken]
    const journal = [limited(1), deleted(5 * s_us)]
    expect(ExactVisits.check(evidence({ exchanges, journal }))).toEqual([])
    expect(ExactVisits.check(evidence({ exchanges, journal: [limited(1)] }))).not.toEqual([])
  })

  it("find nothing in a link that is taken for the one that had its key before, by a node that has not reached the database since and may redirect so long, and something by any other", () => {
    const found = (at_s: number, maxVisits: number | null, silences: Evidence["silences"]) => {
      const again = { ...rebound, link: { ...rebound.link, maxVisits, visitsLeft: maxVisits } }
      const some = evidence({
        options: { ...presets.calm(), staleRedirects_s: 10 },
        exchanges: [
          created(1),
          deleting(2),
          created(30, { url: again.link.url, ...(maxVisits !== null && { maxVisits }) }),
          exchange(at_s, { status: 410, location: undefined })
        ],
        journal: [bound, deleted(2 * s_us), freed(25 * s_us), again],
        silences
      })
      return [...ReadYourWrites.check(some), ...ExactVisits.check(some)].length
    }
    const silent = [{ by, database: 0, from_us: 24 * s_us, until_us: 40 * s_us }]
    for (const maxVisits of [null, 5]) {
      expect(found(33, maxVisits, silent)).toBe(0)
      expect(found(33, maxVisits, [])).toBe(1)
      expect(found(35, maxVisits, silent)).toBe(1)
    }
  })

  it("find nothing in a right password with which another one cannot be chosen as its user is removed meanwhile", () => {
    const removed = { ...disabled(2.0005), tag: "user removed" } as const
    const exchanges = [aboutSessions(2, 400, { kind: "password", isRight: true })]
    expect(UserSessions.check(evidence({ journal: [begun(1), removed], exchanges }))).toEqual([])
  })

  it("find nothing in visits that a change allows, in the second after it was acknowledged and from then on", () => {
    const exchanges = [
      created(1),
      exchange(2, {}),
      edited(3, { maxVisits: 1 }),
      exchange(3.9, {}),
      exchange(4.1, {}),
      exchange(5, { status: 410 }),
      edited(6, { title: "u", maxVisits: 2 }),
      exchange(6.5, { status: 410 }),
      exchange(8, {}),
      edited(9, { title: "v", maxVisits: null }),
      exchange(10, {}),
      exchange(10, {})
    ]
    const journal = [
      bound,
      editedTo(3, { maxVisits: 1 }),
      editedTo(6, { title: "u", maxVisits: 2 }),
      editedTo(9, { title: "v" })
    ]
    expect(ExactVisits.check(evidence({ exchanges, journal }))).toEqual([])
  })

  it("find nothing in redirects by rules, variants and paths as they are, or were within a second", () => {
    const german = { visitor: "German", location: "https://example.com/de" } as const
    const exchanges = [
      created(1, { choices: { rules: led.link.extras.rules } }),
      exchange(2, german),
      exchange(2, { visitor: "telephone" }),
      exchange(2, { path: "more", status: 404, location: undefined }),
      edited(3, { forwardPath: true, variants }),
      exchange(3.9, {}),
      exchange(5, { ...german, path: "more", location: "https://example.com/de/more" }),
      exchange(5, { location: "https://example.com/b" }),
      exchange(6, { path: "more", location: "https://example.com/b/more", answeredBy: "node-1#1" })
    ]
    const extras = { ...led.link.extras, forwardPath: true, variants } as const
    const journal = [led, editedTo(3, { extras })]
    const all = evidence({ exchanges, journal, row: () => editedTo(3, { extras }).link })
    for (const { check } of [Leading, Freshness, Chosen, Durability, UniqueBinding, ReadYourWrites])
      expect(check(all)).toEqual([])
  })

  it("find nothing at the host of a domain by what was so within two seconds", () => {
    const exchanges = [
      created(1),
      probe(2, 302),
      probe(10.5, 302),
      probe(11.9, 404),
      probe(13, 404),
      probe(20.1, 404),
      probe(21.9, 302),
      probe(23, 302),
      probe(24, 503),
      exchange(30, { kind: "delete", status: 204 }),
      probe(32, 410)
    ]
    const journal = [...way(["abc"]), bound, deleted(30 * s_us), freed(50 * s_us)]
    const all = evidence({ exchanges, journal, domainChanges, row: () => null, stocked: new Set(["abc"]) })
    expect(checkers.flatMap(({ check }) => check(all))).toEqual([])
    // It may have been answered before the change, or after it.
    const amid = { ...probe(19.5, 302), answered_us: 20.5 * s_us }
    expect(Domains.check(evidence({ exchanges: [created(1), amid], domainChanges }))).toEqual([])
    // Nobody was told of the link.
    expect(Domains.check(evidence({ exchanges: [probe(25, 404)], domainChanges }))).toEqual([])
  })

  it("find nothing in a domain that its node could not read, and something when it could again", () => {
    const operation = "DomainStore.read"
    const paused = { tag: "paused", at_us: 9 * s_us, by, for_us: 4 * s_us } as const
    const heldUp = { tag: "held up", at_us: 13 * s_us, by, operation, for_us: 4 * s_us } as const
    const unanswered = {
      tag: "unanswered",
      at_us: 13 * s_us,
      by,
      operation,
      interrupted_us: undefined
    } as const
    const found = (entry: JournalEntry, at_s: number) =>
      Domains.check(
        evidence({ exchanges: [created(1), probe(at_s, 302)], journal: [bound, entry], domainChanges })
      ).length
    for (const entry of [paused, heldUp, unanswered]) {
      expect(found(entry, 14.9)).toBe(0)
      expect(found(entry, 15.1)).toBe(1)
      expect(found({ ...entry, by: "node-1#1" }, 14.9)).toBe(1)
    }
    expect(found({ ...heldUp, for_us: 0.3 * s_us }, 14.9)).toBe(1)
    expect(found({ ...heldUp, operation: "LinkStore.findMany" }, 14.9)).toBe(1)
  })

  it("count no visit of a probe that was answered as a further domain's", () => {
    const ended = exchange(5, { status: 410 })
    const asked = (some: Exchange) => [created(1, { maxVisits: 2 }), exchange(2, {}), some, ended]
    const judged = (some: Exchange) =>
      ExactVisits.check(evidence({ exchanges: asked(some), journal: [limited(2)], domainChanges }))
    expect(judged(probe(3, 302))).toEqual([])
    expect(judged(probe(3, 404))).toHaveLength(1)
  })

  it("find nothing in lists that have what was there, or may have been while they were made", () => {
    const archived = editedTo(3, { extras: { archived: true } })
    const amid = { sent_us: 2.5 * s_us, answered_us: 3.5 * s_us }
    const shown = ofList("abc", { archived: true, title: "t" })
    const exchanges = [
      listing(2, [ofList()], { q: "EXAMPLE", domain: 0 }, { total: { count: 1, at_us: 2 * s_us } }),
      listing(2, [], { archived: "true" }),
      listing(3, [], {}, amid),
      listing(3, [ofList()], {}, amid),
      listing(4, []),
      listing(2, [], {}, { isWhole: false }),
      listing(4, [shown], { archived: "true" }),
      listing(4, [shown], { archived: "any" }),
      listing(6, [], { archived: "any" }, { total: { count: 0, at_us: 6 * s_us } })
    ]
    expect(Lists.check(evidence({ exchanges, journal: [bound, archived, deleted(5 * s_us)] }))).toEqual([])
  })

  it("find nothing in a list with two links of one key, of which the first ended before the second was bound", () => {
    const next = { ...row, createdAt: row.createdAt + 1_000 }
    const journal = [bound, deleted(2 * s_us), freed(2.1), { ...bound, at_us: 2.5 * s_us, link: next }]
    const list = listing(
      3,
      [ofList(), ofList("abc", { createdAt: later })],
      { orderBy: "createdAt-asc" },
      { sent_us: s_us }
    )
    expect(Lists.check(evidence({ exchanges: [list], journal }))).toEqual([])
  })

  it("find nothing in lists by visits in the order of their ranks, or of what these may have been meanwhile", () => {
    const byVisits = { orderBy: "visits-desc" } as const
    const journal = [bound, another, ranked(3, "abc", 2), ranked(6, "xyz", 3)]
    const [abc, xyz] = [ofList("abc"), ofList("xyz")]
    const followed = { sent_us: 5 * s_us, answered_us: 7 * s_us }
    const exchanges = [
      listing(4, [abc, xyz], byVisits),
      listing(8, [xyz, abc], byVisits),
      ...[
        [abc, xyz],
        [xyz, abc]
      ].map((page) => listing(5, page, byVisits, followed)),
      // It has got its rank when the first page had been read.
      {
        ...listing(5, [], byVisits, followed),
        pages: { pages: [[abc], []], isWhole: true, total: undefined }
      }
    ]
    expect(Lists.check(evidence({ exchanges, journal }))).toEqual([])
  })

  it("find nothing in links that get their ranks, that are visited after the hour or deleted, or whose database forgets", () => {
    const journals = [
      [bound, counted(5, 1), ranked(35, "abc", 1)],
      [bound, counted(35, 1)],
      [bound, counted(5, 1), deleted(40 * s_us)],
      [bound, counted(5, 1), databaseForgot(40)]
    ]
    for (const journal of journals) expect(Lists.check(evidence({ ...untilNextHour, journal }))).toEqual([])
  })

  it("find nothing in a shutdown that answers all, in one that a pause cut short, and in a start that failed", () => {
    const paused = { tag: "paused", at_us: 2 * s_us, by, for_us: s_us } as const
    const shutdowns = [
      [draining(1), ended(9, 0)],
      [draining(1), paused, ended(9, 1)],
      [paused, draining(2.5), ended(9, 1)],
      [ended(9, 1)]
    ]
    for (const journal of shutdowns) expect(Shutdown.check(evidence({ journal }))).toEqual([])
  })

  it("find nothing in a key that a process alone could not stock when it shut down, since the database did not answer", () => {
    const unanswered = {
      tag: "unanswered",
      at_us: 5 * s_us,
      by,
      operation: "KeyStock.openBatches",
      interrupted_us: undefined
    } as const
    const found = (...then: ReadonlyArray<typeof unanswered>) =>
      Ledger.check(
        evidence({
          options: aloneOptions,
          journal: [
            ...way(["k"]),
            returned(3 * s_us, ["k"]),
            draining(4),
            leased(5 * s_us, ["k"]),
            ...then,
            ended(6, 0)
          ]
        })
      )
    expect(found(unanswered)).toEqual([])
    expect(found()).not.toEqual([])
  })

  it.each(broken)("find %s", (_, checker, some) => {
    const found = checkers.flatMap(({ check }) => check(evidence(some)))
    expect(found.map((violation) => violation.checker)).toContain(checker.name)
  })
})
