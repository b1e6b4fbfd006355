import { describe, expect, it } from "vitest"
import * as Iso8601 from "../../../src/model/Iso8601.ts"
import type { Webhook } from "../../../src/model/Webhook.ts"
import type { Evidence } from "../../../src/sim/Evidence.ts"
import type { Exchange, WebhookWish } from "../../../src/sim/History.ts"
import type { JournalEntry } from "../../../src/sim/Journal.ts"
import { OwnWebhooks } from "../../../src/sim/checkers/users/OwnWebhooks.ts"
import { VisitMessages } from "../../../src/sim/checkers/users/VisitMessages.ts"
import { WebhookDeliveries } from "../../../src/sim/checkers/users/WebhookDeliveries.ts"
import { WebhookRates } from "../../../src/sim/checkers/users/WebhookRates.ts"
import {
  formerDead,
  formerGivenUpAt,
  formerLate,
  formerTried,
  owner,
  webhookOf
} from "../../../src/sim/deployment/FormerWebhook.ts"
import { recordOf } from "../../../src/sim/stores/database/DatabaseClock.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { headersOf } from "../../../src/webhooks/WebhookSignature.ts"
import { evidence, exchange, row } from "../actors/Evidence.ts"

const by = "node-0#1"
const webhook: Webhook = {
  id: "whk_1",
  owner: "usr_1",
  keyId: null,
  url: "https://hook-0.example.com/text",
  events: ["link.created"],
  secret: "whsec_c2VjcmV0",
  createdAt: 1_000
}
const made = (at_s: number, some: Partial<Webhook> = {}) =>
  ({ tag: "webhook added", at_us: at_s * s_us, by, webhook: { ...webhook, ...some } }) as const
const removed = (at_s: number) =>
  ({ tag: "webhook removed", at_us: at_s * s_us, by, webhook: webhook.id }) as const
const verified = (at_s: number) =>
  ({
    tag: "webhook verified",
    at_us: at_s * s_us,
    by,
    webhook: webhook.id,
    message: "challenge",
    isLatest: true
  }) as const
const revoked = (at_s: number) => ({ tag: "key revoked", at_us: at_s * s_us, by, apiKey: "key_1" }) as const
const lapsed = (at_s: number) => ({ tag: "webhooks lapsed", at_us: at_s * s_us, by }) as const
const given = (at_s: number, message: string, isChallenge = false) =>
  ({
    tag: "leased messages",
    at_us: at_s * s_us,
    by,
    messages: [{ webhook: webhook.id, message, lease: "lease", isChallenge }]
  }) as const
/** A message that arrives as the product signs it, unless said otherwise. */
const received = (at_s: number, message: string, body: string, some: Record<string, string> = {}) =>
  ({
    tag: "received",
    at_us: at_s * s_us,
    by,
    url: webhook.url,
    events: message === "challenge" ? [] : [message],
    headers: { ...headersOf({ id: message, timestamp: at_s, body }, webhook.secret), ...some },
    body
  }) as const
const queued = (at_s: number, id = "msg", event: "link.created" | "link.deleted" = "link.created") =>
  ({ tag: "queued", at_us: at_s * s_us, by, events: [{ id, owner: "usr_1", event }] }) as const
const challenge = '{"type":"webhook.verification","data":{"challenge":"x"}}'
const told = '{"type":"link.created","data":{}}'

/** A webhook that is made and proven in the first seconds. */
const proven: ReadonlyArray<JournalEntry> = [
  made(1),
  given(2, "challenge", true),
  received(3, "challenge", challenge),
  verified(4)
]
const delivered = [given(11, "msg"), received(12, "msg", told)]

const deliveries = (journal: ReadonlyArray<JournalEntry>, some: Partial<Omit<Evidence, "lives">> = {}) =>
  WebhookDeliveries.check(evidence({ journal, ...some })).length

describe("the checker of webhooks of users", () => {
  it("finds nothing in events that are delivered, that wait after a failure, or whose webhook is gone", () => {
    expect(deliveries([...proven, queued(10), ...delivered])).toBe(0)
    expect(deliveries([...proven, queued(10)], { waitingFor: new Set(["whk_1 msg"]) })).toBe(0)
    expect(deliveries([...proven, queued(10), removed(11)])).toBe(0)
    expect(
      deliveries([made(1, { keyId: "key_1" }), ...proven.slice(1), queued(10), revoked(11), lapsed(12)])
    ).toBe(0)
    expect(deliveries([made(1), queued(10), removed(40)])).toBe(0)
  })

  it.each<readonly [string, ReadonlyArray<JournalEntry>]>([
    ["an event that is lost", [...proven, queued(10)]],
    ["an event before the webhook is proven", [...proven.slice(0, 3), given(3, "msg"), verified(4)]],
    ["a message for a webhook that was removed", [...proven, removed(5), given(6, "msg")]],
    [
      "a message for a webhook whose key was revoked",
      [made(1, { keyId: "key_1" }), ...proven.slice(1), revoked(5), given(6, "msg")]
    ],
    ["a message of which the process was not given", [...proven, queued(10), received(12, "msg", told)]],
    ["an event that nobody queued for it", [...proven, ...delivered]],
    ["an event of another kind", [...proven, queued(10, "msg", "link.deleted"), ...delivered]],
    [
      "a wrong signature",
      [...proven, queued(10), given(11, "msg"), received(12, "msg", told, { "webhook-signature": "v1,x" })]
    ],
    [
      "a time that is far off",
      [
        ...proven,
        queued(10),
        given(11, "msg"),
        received(12, "msg", told, headersOf({ id: "msg", timestamp: 30, body: told }, webhook.secret))
      ]
    ],
    ["a message to an address of nobody", [received(3, "msg", told)]],
    ["a webhook that is active without a proof", [made(1), given(2, "challenge", true), verified(4)]],
    ["a receiver that is not challenged", [made(1)]]
  ])("finds %s", (_, journal) => {
    expect(deliveries(journal)).toBeGreaterThan(0)
  })

  it("finds an event that waits though nothing fails, and nothing in one that waits when its webhook is paused, or when the clock jumped", () => {
    const late = [...proven, queued(45)]
    const some = { waitingFor: new Set(["whk_1 msg"]) }
    const failed = {
      tag: "put off",
      at_us: 44 * s_us,
      by,
      webhook: webhook.id,
      message: "other",
      lease: "lease",
      isChallenge: false,
      attempt: 1,
      for_ms: 5_000,
      pause_ms: 1_000
    } as const
    expect(deliveries(late, some)).toBe(1)
    expect(deliveries([...proven, failed, queued(45)], some)).toBe(0)
    expect(deliveries(late, { ...some, clock: recordOf([{ at_us: 44 * s_us, by_us: 10 * s_us }], 0) })).toBe(
      0
    )
  })
})

const asked = (
  at_s: number,
  status: number,
  wish: WebhookWish,
  body: unknown,
  some: Partial<Exchange> = {}
) =>
  exchange(at_s, {
    kind: "webhook",
    key: undefined,
    location: undefined,
    user: "usr_1",
    session: "ses",
    status,
    webhook: wish,
    body: body === undefined ? "" : JSON.stringify(body),
    ...some
  })
const shown = {
  id: webhook.id,
  url: webhook.url,
  events: webhook.events,
  status: "unverified",
  pending: 0,
  deadLetters: 0,
  failures: 0,
  lastFailure: null
}
const add = (at_s: number, status = 201, some: object = {}) =>
  asked(
    at_s,
    status,
    { act: "add", events: ["link.created"], keyId: null },
    status === 201 ? { ...shown, secret: webhook.secret, ...some } : { type: "too-many-webhooks" },
    { url: webhook.url }
  )
const list = (at_s: number, data: ReadonlyArray<unknown>, user = "usr_1") =>
  asked(at_s, 200, { act: "list" }, { data }, { user })
const remove = (at_s: number, status: number, user = "usr_1") =>
  asked(at_s, status, { act: "remove", id: webhook.id }, undefined, { user })
const verify = (at_s: number, status: number) => asked(at_s, status, { act: "verify", id: webhook.id }, shown)

const own = (exchanges: ReadonlyArray<Exchange>, journal: ReadonlyArray<JournalEntry>) =>
  OwnWebhooks.check(evidence({ exchanges, journal })).length

describe("the checker of webhooks' rates", () => {
  const urlOf = (number: number) => `https://hook-${number}.example.com/text`
  const three = [0, 1, 2].map((number) => made(1, { id: `whk_${number}`, url: urlOf(number) }))
  const does = (tag: "sending" | "sent", at_s: number, number: number, process = by) =>
    ({ tag, at_us: at_s * s_us, by: process, url: urlOf(number) }) as const
  const many = (count: number, one: (index: number) => ReadonlyArray<JournalEntry>) =>
    Array.from({ length: count }, (_, index) => one(index)).flat()
  const found = (...sent: ReadonlyArray<JournalEntry>) =>
    WebhookRates.check(evidence({ journal: [...three, ...sent] }))

  it("finds nothing in four messages at once to a webhook, eight to a user's, and twenty in a second", () => {
    expect(found(...many(8, (index) => [does("sending", 2, index % 2)]))).toEqual([])
    expect(
      found(...many(12, (index) => [does("sending", 2, index % 3, index < 6 ? by : "node-1#1")]))
    ).toEqual([])
    expect(found(...many(20, () => [does("sending", 2, 0), does("sent", 2, 0)]))).toEqual([])
    expect(
      found(...many(40, (index) => [does("sending", 2 + index / 19, 0), does("sent", 2 + index / 19, 0)]))
    ).toEqual([])
  })

  it.each([
    ["five at once to a webhook", many(5, () => [does("sending", 2, 0)])],
    ["nine at once to a user's", many(9, (index) => [does("sending", 2, index % 3)])],
    ["21 in a second", many(21, () => [does("sending", 2, 0), does("sent", 2, 0)])]
  ])("finds %s", (_, sent) => {
    expect(found(...sent)).toHaveLength(1)
  })
})

describe("the checker of own webhooks", () => {
  it("finds nothing in answers that are so", () => {
    const all = [made(1), verified(4), removed(8)]
    expect(
      own(
        [
          add(1),
          list(2, [shown]),
          verify(3, 202),
          verify(5, 200),
          list(5, [{ ...shown, status: "active" }]),
          remove(6, 404, "usr_2"),
          list(6, [], "usr_2"),
          remove(8, 204),
          remove(9, 404),
          list(9, [])
        ],
        all
      )
    ).toBe(0)
    expect(own([verify(5, 409)], [made(1, { keyId: "key_1" }), revoked(4)])).toBe(0)
    expect(own([remove(5, 204, "usr_0")], [made(1), removed(5)])).toBe(0)
  })

  it.each<readonly [string, ReadonlyArray<Exchange>, ReadonlyArray<JournalEntry>]>([
    ["a webhook that was not made", [add(1)], []],
    ["one with other events", [add(1, 201, { events: ["link.deleted"] })], [made(1)]],
    ["one that is shown with another secret", [add(1, 201, { secret: "whsec_" })], [made(1)]],
    ["a refusal to a user with few", [add(1, 409)], []],
    ["a list without one", [list(2, [])], [made(1)]],
    ["a list with one that was removed", [list(3, [shown])], [made(1), removed(2)]],
    ["a list with another user's", [list(3, [shown], "usr_2")], [made(1)]],
    ["a list that shows a secret", [list(3, [{ ...shown, secret: webhook.secret }])], [made(1)]],
    ["one that is shown in a wrong state", [list(3, [{ ...shown, status: "active" }])], [made(1)]],
    [
      "one that is shown with failures and without the last",
      [list(3, [{ ...shown, failures: 1 }])],
      [made(1)]
    ],
    ["a removal that did not happen", [remove(3, 204)], [made(1)]],
    ["a webhook that is not found", [remove(3, 404)], [made(1)]],
    ["a webhook that another user removes", [remove(3, 204, "usr_2")], [made(1), removed(3)]],
    ["a challenge of one that is active", [verify(5, 202)], [made(1), verified(4)]],
    [
      "dead letters of nothing",
      [asked(3, 200, { act: "dead letters", id: webhook.id }, { data: [{}] })],
      [made(1)]
    ],
    ["a dead letter that never was", [asked(3, 202, { act: "retry", id: webhook.id }, undefined)], [made(1)]],
    [
      "a webhook to a private network",
      [asked(1, 201, { act: "add", events: ["link.created"] }, shown, { isRight: false })],
      [made(1)]
    ],
    [
      "more webhooks than there may be",
      [],
      Array.from({ length: 11 }, (_, number) =>
        made(1, { id: `whk_${number}`, url: `https://hook-${number}.example.com/text` })
      )
    ]
  ])("finds %s", (_, exchanges, journal) => {
    expect(own(exchanges, journal)).toBeGreaterThan(0)
  })
})

/** The webhook from before, which is there from the beginning on. */
const former = webhookOf(0)
const formerMade = [
  { tag: "webhook added", at_us: 0, by: "the beginning", webhook: former },
  {
    tag: "webhook verified",
    at_us: 0,
    by: "the beginning",
    webhook: former.id,
    message: "challenge",
    isLatest: true
  }
] as const
const revived = (at_s: number, message: string) =>
  ({ tag: "revived", at_us: at_s * s_us, by, webhook: former.id, message }) as const
const lastFailed = (at_s: number, message: string) =>
  ({
    tag: "put off",
    at_us: at_s * s_us,
    by,
    webhook: former.id,
    message,
    lease: "lease",
    isChallenge: false,
    attempt: 15,
    for_ms: null,
    pause_ms: 1_000
  }) as const
const letter = (id: string, some: object = {}) => ({
  id,
  attempts: 1,
  failedAt: Iso8601.formatMoment(formerGivenUpAt(id, 0) ?? 0),
  ...some
})
const letters = (at_s: number, data: ReadonlyArray<unknown>) =>
  asked(at_s, 200, { act: "dead letters", id: former.id }, { data })
const retry = (at_s: number, status: number, message: string) =>
  asked(at_s, status, { act: "retry", id: former.id, message }, undefined)
const kept = formerDead.slice(1).map((id) => letter(id))

describe("the checker of own webhooks, of messages from before", () => {
  it("finds nothing in dead letters that are so, and in such that are queued again", () => {
    const [first, second] = formerDead.slice(1) as [string, string]
    expect(
      own(
        [
          letters(1, [...kept, letter(formerDead[0]!)]),
          letters(2, [...kept, letter(formerLate, { attempts: 3 })]),
          retry(3, 202, first),
          retry(4, 404, first),
          letters(5, kept.slice(1)),
          retry(6, 404, formerTried),
          letters(8, [...kept.slice(1), letter(formerTried, { attempts: 15 })]),
          retry(9, 202, second),
          list(10, [{ ...shown, ...former, secret: undefined, status: "active", deadLetters: 2 }])
        ],
        [...formerMade, revived(3, first), lastFailed(7, formerTried), revived(9, second)]
      )
    ).toBe(0)
  })

  it.each<readonly [string, Exchange, ReadonlyArray<JournalEntry>]>([
    ["a list without one", letters(1, kept.slice(1)), []],
    ["one that waits again", letters(5, kept), [revived(2, formerDead[1]!)]],
    ["one that has an attempt left", letters(1, [...kept, letter(formerTried)]), []],
    ["one of nobody", letters(1, [...kept, letter("msg_other")]), []],
    ["one with other attempts", letters(1, [...kept.slice(1), letter(formerDead[1]!, { attempts: 2 })]), []],
    [
      "one that was given up at another time",
      letters(1, [{ ...kept[0]!, failedAt: "" }, ...kept.slice(1)]),
      []
    ],
    ["one that is not found", retry(1, 404, formerDead[1]!), []],
    ["one that is not queued again", retry(1, 202, formerDead[1]!), []],
    [
      "too few in a list of webhooks",
      list(1, [{ ...shown, ...former, secret: undefined, status: "active", deadLetters: 2 }]),
      []
    ]
  ])("finds %s", (_, exchange, journal) => {
    expect(own([exchange], [...formerMade, ...journal])).toBe(1)
  })
})

describe("the checker of webhooks of users, of messages from before", () => {
  const mine = (journal: ReadonlyArray<JournalEntry>) => deliveries([...formerMade, ...journal])
  const [, dead] = formerDead as [string, string]

  it("finds one that is queued again and neither comes nor waits, and nothing in one that comes, or is given up", () => {
    const comes = { ...given(6, dead), messages: [{ ...given(6, dead).messages[0]!, webhook: former.id }] }
    const body = '{"type":"link.visited","data":{"links":[]}}'
    const headers = headersOf({ id: dead, timestamp: 7, body }, former.secret)
    const came = { ...received(7, dead, body), url: former.url, headers }
    expect(mine([revived(5, dead), comes, came])).toBe(0)
    expect(mine([comes, came])).toBe(1)
    expect(mine([revived(5, dead)])).toBe(1)
    const tries = Array.from({ length: 15 }, () => comes)
    expect(mine([revived(5, dead), ...tries, lastFailed(7, dead)])).toBe(0)
    expect(mine([revived(5, dead), ...tries.slice(1), lastFailed(7, dead)])).toBe(1)
    expect(mine([...tries, revived(5, dead), comes, lastFailed(7, dead)])).toBe(1)
  })
})

describe("the checker of visits for webhooks", () => {
  const link = { ...row, key: "abc", owner: owner }
  const bound = { tag: "bound", at_us: s_us, by, link } as const
  const started = { tag: "started", at_us: 0, by } as const
  const visited = (at_s: number, some: { readonly by?: string; readonly isSure?: boolean } = {}) =>
    ({ tag: "visited", at_us: at_s * s_us, by, key: "abc", isSure: true, ...some }) as const
  const queuedVisits = (at_s: number, id = "msg") =>
    ({ tag: "queued", at_us: at_s * s_us, by, events: [{ id, owner, event: "link.visited" }] }) as const
  const told = (
    at_s: number,
    total: number,
    some: {
      readonly id?: string
      readonly key?: string
      readonly nonBots?: number
      readonly period_s?: readonly [from: number, to: number]
    } = {}
  ) => {
    const { id = "msg", key = "abc", nonBots, period_s = id === "msg" ? [4, 6] : [7, at_s] } = some
    const [from, to] = period_s.map((second) => Iso8601.formatMoment(second * 1_000))
    const split = nonBots !== undefined && { nonBots, bots: total - nonBots }
    const data = { from, to, links: [{ key, visits: { total, nonBots: 0, bots: total, ...split } }] }
    const body = JSON.stringify({ type: "link.visited", data })
    return {
      tag: "received",
      at_us: at_s * s_us,
      by,
      url: former.url,
      events: [id],
      headers: { "webhook-id": id },
      body
    } as const
  }
  const found = (journal: ReadonlyArray<JournalEntry>) =>
    VisitMessages.check(evidence({ journal: [started, bound, ...formerMade, ...journal] })).length
  const unanswered = (at_s: number, operation = "WebhookStore.offer") =>
    ({ tag: "unanswered", at_us: at_s * s_us, by, operation, interrupted_us: undefined }) as const
  const draining = (at_s: number) => ({ tag: "draining", at_us: at_s * s_us, by }) as const

  it("finds nothing where each visit is told once, in one message or several, though a message comes twice", () => {
    expect(found([visited(5), visited(5), queuedVisits(6), told(7, 2), told(9, 2)])).toBe(0)
    expect(
      found([
        visited(5),
        queuedVisits(6),
        told(7, 1),
        visited(8),
        queuedVisits(9, "b"),
        told(9, 1, { id: "b" })
      ])
    ).toBe(0)
  })

  it.each<readonly [string, ReadonlyArray<JournalEntry>]>([
    ["a visit that is not told", [visited(5), visited(6), queuedVisits(7), told(8, 1)]],
    ["a visit that is not told, though the database answered again", [visited(5), unanswered(6)]],
    [
      "a visit that is not told, though the last message was queued when the process shut down",
      [visited(5), visited(6), draining(7), unanswered(8), queuedVisits(9), told(10, 1)]
    ],
    ["visits of which none is told", [visited(5)]],
    ["a visit that was none", [visited(5), queuedVisits(6), told(7, 2)]],
    ["another node's", [visited(5, { by: "node-1#1" }), queuedVisits(6), told(7, 1)]],
    ["a bot that is told as a person", [visited(5), queuedVisits(6), told(7, 1, { nonBots: 1 })]],
    [
      "a period that begins before the end of the one before",
      [
        visited(5),
        queuedVisits(6),
        told(7, 1),
        visited(10),
        queuedVisits(11, "b"),
        told(12, 1, { id: "b", period_s: [4, 11] })
      ]
    ],
    ["an event that changes", [visited(5), visited(5), queuedVisits(6), told(7, 2), told(8, 1)]],
    [
      "another user's",
      [visited(5), queuedVisits(6), told(7, 1), queuedVisits(7, "b"), told(8, 1, { id: "b", key: "xyz" })]
    ]
  ])("finds %s", (_, journal) => {
    expect(found(journal)).toBeGreaterThan(0)
  })

  it("says nothing of what a process could not tell, and of the last seconds", () => {
    expect(found([visited(5), draining(6), unanswered(7)])).toBe(0)
    expect(found([visited(5), unanswered(55)])).toBe(0)
    expect(found([visited(5), unanswered(6, "WebhookStore.look")])).toBe(0)
    expect(found([visited(5), { tag: "killed", at_us: 6 * s_us, by }])).toBe(0)
    expect(found([visited(5), queuedVisits(6)])).toBe(0)
    expect(found([visited(55)])).toBe(0)
    expect(found([visited(5, { isSure: false })])).toBe(0)
    expect(found([visited(5), { tag: "webhook removed", at_us: 5 * s_us, by, webhook: former.id }])).toBe(0)
  })
})
