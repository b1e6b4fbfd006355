import type { Checker, Evidence, Violation } from "../../Evidence.ts"
import { formerWebhook, owner } from "../../deployment/FormerWebhook.ts"
import { countedOf } from "../../clients/Traits.ts"
import { s_us } from "../../world/Time.ts"
import { Webhooks } from "../facts/webhooks.ts"

/** Within what time a node knows the webhooks after its start, and visits are told when nothing fails. */
const knownWithin_us = 3 * s_us
const toldWithin_us = 10 * s_us

/** Within what time a message is queued that was not when it was offered first. */
const madeUpWithin_us = 2 * toldWithin_us

/** By how much a node's time goes back at most where no clock jumps: as it hears of the database's. */
const steppedBack_ms = 1_000

/** A message as a receiver reads it: several events, or one of visits. */
interface Message {
  readonly type: string
  readonly data: ReadonlyArray<Message & { readonly id: string }> | VisitsTold
}

interface VisitsTold {
  /** The period of the visits, as its receiver reads it. */
  readonly from: string
  readonly to: string
  readonly links: ReadonlyArray<{
    readonly key: string
    readonly visits: { readonly total: number; readonly nonBots: number; readonly bots: number }
  }>
}

/** What events of visits tell, by their ids. */
const eventsOf = (id: string, body: string): ReadonlyArray<readonly [id: string, told: VisitsTold]> => {
  const { data, type } = JSON.parse(body) as Message
  if (type === "webhook.verification") return []
  return type === "events"
    ? (data as ReadonlyArray<Message & { readonly id: string }>).map((one) => [
        one.id,
        one.data as VisitsTold
      ])
    : [[id, data as VisitsTold]]
}

type Counts = Map<string, number>

/** How those are counted of whom nothing is known. */
const unknown = countedOf(undefined, undefined)

const countUp = (counts: Counts, key: string, by: number) => counts.set(key, (counts.get(key) ?? 0) + by)

/** What a process redirected and told. */
class Account {
  readonly visited: Counts = new Map()
  /** Of those, how many may have been bots, and how many people. */
  readonly bots: Counts = new Map()
  readonly nonBots: Counts = new Map()
  /** What it must have told by the end, if nothing happened to it. */
  readonly due: Counts = new Map()
  readonly told: Counts = new Map()
  readonly queued = new Set<string>()
  /** The periods that it told of, as `from` and `to`. */
  readonly periods = new Map<string, readonly [from_ms: number, to_ms: number]>()
  started_us = 0
  /** Whether it has begun to shut down. */
  drains = false
  /** Whether its last message was not queued when it shut down. */
  isLeftAtStop = false
  /** Something happened to it by which it may have lost visits, or told them later. */
  isExcused = false
}

/** What each process redirected and queued, and what may have kept it from telling. */
const accountsOf = ({ end_us, journal }: Pick<Evidence, "end_us" | "journal">) => {
  const accounts = new Map<string, Account>()
  for (const entry of journal) {
    const { at_us, by, tag } = entry
    const account = accounts.get(by) ?? new Account()
    accounts.set(by, account)
    if (tag === "started") account.started_us = at_us
    if (tag === "killed" || tag === "paused") account.isExcused = true
    if (tag === "draining") account.drains = true
    if ((tag === "unanswered" || tag === "held up") && entry.operation.startsWith("WebhookStore.")) {
      // A message that was not queued is offered again, until the process stops.
      if (entry.operation === "WebhookStore.offer" && at_us < end_us - madeUpWithin_us)
        account.isLeftAtStop = account.drains
      else account.isExcused = true
    }
    if (tag === "queued") account.isLeftAtStop = false
    if (tag === "queued")
      for (const { event, id } of entry.events) if (event === "link.visited") account.queued.add(id)
    if (tag !== "visited") continue
    countUp(account.visited, entry.key, 1)
    const { isBot } = entry.counted ?? unknown
    countUp(isBot ? account.bots : account.nonBots, entry.key, 1)
    if (entry.isSure && at_us > account.started_us + knownWithin_us && at_us < end_us - toldWithin_us)
      countUp(account.due, entry.key, 1)
  }
  return accounts
}

/**
 * A webhook for visits is told of each visit of its user's links, once, and of nothing else: by a process that was not killed, and whose database answered when it shut down and at last, of all that were ten seconds
 * before the end. An event is the same each time that it comes, and the periods of a
 * process follow each other.
 */
export const VisitMessages: Checker = {
  name: "visits for webhooks",
  seesForgotten: true,
  check: ({ end_us, faults, journal, lives, options }) => {
    const { databaseDrift } = options.faults
    const isJumping = databaseDrift !== 0 || ["clockJump", "databaseClock"].some((fault) => faults.has(fault))
    const violations: Array<Violation> = []
    const found = (at_us: number, text: string, ...keys: ReadonlyArray<string>) =>
      violations.push({ checker: VisitMessages.name, at_us, text, keys })
    const webhooks = new Webhooks()
    for (const entry of journal) webhooks.follow(entry)
    const former = webhooks.all.get(formerWebhook)
    if (former === undefined) return []
    const accounts = accountsOf({ end_us, journal })
    const queuedBy = new Map(
      [...accounts.values()].flatMap((account) => [...account.queued].map((id) => [id, account] as const))
    )
    const received = new Map<string, string>()
    for (const entry of journal) {
      if (entry.tag !== "received" || entry.url !== former.webhook.url) continue
      for (const [id, told] of eventsOf(entry.headers["webhook-id"] ?? "", entry.body)) {
        const text = JSON.stringify(told)
        const before = received.get(id)
        if (before !== undefined) {
          if (before !== text) found(entry.at_us, `event ${id} came twice, and was not the same`)
          continue
        }
        received.set(id, text)
        const account = queuedBy.get(id)
        account?.periods.set(`${told.from} ${told.to}`, [Date.parse(told.from), Date.parse(told.to)])
        for (const { key, visits } of told.links) {
          if (visits.total !== visits.nonBots + visits.bots || visits.total <= 0)
            found(entry.at_us, `event ${id} tells ${JSON.stringify(visits)} of ${key}`, key)
          if (!lives.get(key)?.some(({ link }) => link.owner === owner))
            found(entry.at_us, `event ${id} tells visits of ${key}, which is another user's`, key)
          if (account === undefined) continue
          countUp(account.told, key, visits.total)
          if (options.workload.varied > 0) continue
          for (const who of ["bots", "nonBots"] as const) {
            countUp(account[who], key, -visits[who])
            if (account[who].get(key)! < 0)
              found(
                entry.at_us,
                `event ${id} tells ${visits[who]} visits (${who}) of ${key}, and there were fewer`,
                key
              )
          }
        }
      }
    }
    const isActiveAlways = former.standings.every(({ is }) => is !== "ended" && is !== "absent")
    for (const [by, { due, isExcused, isLeftAtStop, periods, queued, told, visited }] of accounts) {
      const inOrder = isJumping ? [] : [...periods.values()].toSorted(([, one], [, other]) => one - other)
      for (const [index, [from_ms, to_ms]] of inOrder.entries()) {
        const before_ms = inOrder[index - 1]?.[1] ?? -Infinity
        if (from_ms < before_ms - steppedBack_ms || to_ms < from_ms)
          found(end_us, `${by} told of visits from ${from_ms} to ${to_ms}, and of others up to ${before_ms}`)
      }
      for (const [key, count] of told)
        if (count > (visited.get(key) ?? 0))
          found(
            end_us,
            `${by} told ${count} visits of ${key}, and redirected ${visited.get(key) ?? 0} times`,
            key
          )
      if (isExcused || isLeftAtStop || !isActiveAlways || [...queued].some((id) => !received.has(id)))
        continue
      for (const [key, count] of due) {
        const all = lives.get(key) ?? []
        if (all.length === 0 || all.some(({ link }) => link.owner !== owner)) continue
        if ((told.get(key) ?? 0) < count)
          found(
            end_us,
            `${by} told ${told.get(key) ?? 0} visits of ${key}, and redirected ${count} times`,
            key
          )
      }
    }
    return violations
  }
}
