import { describe, expect, it } from "vitest"
import type { Webhook } from "../../../src/model/Webhook.ts"
import type { Evidence } from "../../../src/sim/Evidence.ts"
import type { Exchange, WebhookWish } from "../../../src/sim/History.ts"
import type { JournalEntry } from "../../../src/sim/Journal.ts"
import { OwnWebhooks } from "../../../src/sim/checkers/users/OwnWebhooks.ts"
import { WebhookDeliveries } from "../../../src/sim/checkers/users/WebhookDeliveries.ts"
import { recordOf } from "../../../src/sim/stores/database/DatabaseClock.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { headersOf } from "../../../src/webhooks/WebhookSignature.ts"
import { evidence, exchange } from "../actors/Evidence.ts"

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
