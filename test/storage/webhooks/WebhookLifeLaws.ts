import { expect, it } from "@effect/vitest"
import { Clock, Effect, Schedule } from "effect"
import { describe } from "vitest"
import { adminKeyIdOf, type WebhookMessage } from "../../../src/model/Webhook.ts"
import type { Open } from "../../support/Stores.ts"
import { addVerified, challengeOf, claimOf, keyOf, webhookOf } from "../../support/samples/SomeWebhooks.ts"
import { withUsers, type WebhookStores } from "./WebhookStores.ts"

const message = (id: string, owner = "usr_a"): WebhookMessage => ({
  id,
  owner,
  event: "link.created",
  body: `{"type":"link.created","data":{"id":"${id}"}}`
})

const idsOf = (found: ReadonlyArray<{ readonly id: string }>) => found.map(({ id }) => id).toSorted()

/** The laws of `WebhookStore` about the lives of webhooks: how they are verified, and how they end. */
export const webhookLifeLaws = (title: string, open: Open<WebhookStores["Type"]>): void => {
  const stores = Effect.flatten(withUsers(open))

  describe(`${title}: verification`, () => {
    it.scopedLive(
      "gives a new webhook its challenge, and keeps no event for it, before its receiver has answered",
      () =>
        Effect.gen(function* () {
          const { webhooks } = yield* stores
          const challenge = challengeOf("a")
          const { isWaiting, listeners: before } = yield* webhooks.look(null)
          expect(isWaiting).toBe(false)
          yield* webhooks.add(webhookOf("a"), challenge, 10)
          expect(yield* webhooks.look(before!.version)).toEqual({ listeners: null, isWaiting: true })
          expect(yield* webhooks.offer([message("early")])).toBe(0)
          const found = yield* webhooks.claim(claimOf())
          expect(found).toMatchObject([
            {
              ...challenge,
              webhookId: "a",
              event: "webhook.verification",
              attempt: 1,
              url: "https://a.example/hook"
            }
          ])
          expect(yield* webhooks.find("a")).toMatchObject({ status: "unverified", pending: 0, dropped: 0 })

          expect(yield* webhooks.verify("a", "msg_another")).toBe(false)
          expect(yield* webhooks.verify("b", challenge.id)).toBe(false)
          expect(yield* webhooks.find("a")).toMatchObject({ status: "unverified" })
          expect(yield* webhooks.verify("a", challenge.id)).toBe(true)
          expect(yield* webhooks.verify("a", challenge.id)).toBe(false)
          expect(yield* webhooks.find("a")).toMatchObject({ status: "active", pending: 0 })
          const after = yield* webhooks.look(before!.version)
          expect([...after.listeners!.byOwner.keys()]).toEqual(["usr_a"])
          expect(after.isWaiting).toBe(false)
          yield* webhooks.offer([message("late")])
          const [late] = yield* webhooks.claim(claimOf())
          expect(late).toMatchObject({ id: "late" })
          expect((yield* webhooks.look(null)).isWaiting).toBe(true)
          yield* webhooks.delivered(late!)
          expect((yield* webhooks.look(null)).isWaiting).toBe(false)
        })
    )

    it.scopedLive("tells why a challenge was not answered, and forgets it when it is given up", () =>
      Effect.gen(function* () {
        const { webhooks } = yield* stores
        yield* webhooks.add(webhookOf("a"), challengeOf("a"), 10)
        const [first] = yield* webhooks.claim(claimOf())
        yield* webhooks.failed(first!, { reason: "It answered 500.", retryIn_ms: 0, pause_ms: 0 })
        const [second] = yield* webhooks.claim(claimOf())
        expect(second).toMatchObject({ ...challengeOf("a"), attempt: 2, failures: 1 })
        expect(yield* webhooks.find("a")).toMatchObject({ failures: 1, lastFailure: "It answered 500." })
        yield* webhooks.failed(second!, { reason: "It did not answer.", retryIn_ms: null, pause_ms: 0 })
        expect(yield* webhooks.claim(claimOf())).toEqual([])
        expect(yield* webhooks.deadLetters("a", 10, null)).toEqual([])
        expect(yield* webhooks.find("a")).toMatchObject({
          status: "unverified",
          pending: 0,
          deadLetters: 0,
          failures: 2,
          lastFailure: "It did not answer."
        })
        expect(yield* webhooks.verify("a", first!.id)).toBe(false)
      })
    )

    it.scopedLive("puts a new challenge in place of the one before, where the webhook is not verified", () =>
      Effect.gen(function* () {
        const { webhooks } = yield* stores
        yield* webhooks.add(webhookOf("a"), challengeOf("a"), 10)
        const [first] = yield* webhooks.claim(claimOf())
        yield* webhooks.failed(first!, { reason: "It answered 500.", retryIn_ms: 60_000, pause_ms: 60_000 })
        const second = { ...challengeOf("a"), id: "msg_second" }
        expect(yield* webhooks.challenge("a", second)).toBe("unverified")
        expect(yield* webhooks.find("a")).toMatchObject({ failures: 0, lastFailure: null })
        expect(idsOf(yield* webhooks.claim(claimOf()))).toEqual(["msg_second"])
        expect(yield* webhooks.verify("a", first!.id)).toBe(false)
        expect(yield* webhooks.verify("a", second.id)).toBe(true)
        expect(yield* webhooks.challenge("a", challengeOf("a"))).toBe("active")
        expect(yield* webhooks.challenge("z", challengeOf("z"))).toBeNull()
        expect(yield* webhooks.claim(claimOf())).toEqual([])
      })
    )
  })

  describe(`${title}: the end of a webhook`, () => {
    it.scopedLive(
      "comes with all keys of its user, where a session made it, and not with the password alone",
      () =>
        Effect.gen(function* () {
          const { accounts, webhooks } = yield* stores
          yield* addVerified(webhooks, webhookOf("a"))
          yield* addVerified(webhooks, webhookOf("b", { owner: "usr_b" }))
          const change = { passwordHash: "a hash", passwordIsTemporary: false, revokesKeys: false, at: 2_000 }
          yield* accounts.setPassword("usr_a", change)
          expect(yield* webhooks.find("a")).toMatchObject({ status: "active" })
          yield* webhooks.offer([message("before")])
          yield* accounts.setPassword("usr_a", { ...change, revokesKeys: true })
          yield* webhooks.offer([message("after"), message("others", "usr_b")])
          expect(idsOf(yield* webhooks.claim(claimOf()))).toEqual(["others"])
          expect(yield* webhooks.find("a")).toMatchObject({ status: "ended" })
          yield* addVerified(webhooks, webhookOf("c", { createdAt: 2_001 }))
          expect(yield* webhooks.find("c")).toMatchObject({ status: "active" })
        })
    )

    /** A webhook of a key with a message that waits and one under way, and a webhook of a session. */
    const started = Effect.gen(function* () {
      const { accounts, webhooks } = yield* stores
      yield* accounts.addKey(keyOf("key_1", "usr_a"), 10)
      yield* addVerified(webhooks, webhookOf("bound", { keyId: "key_1" }))
      yield* addVerified(webhooks, webhookOf("free"))
      yield* webhooks.offer([message("m1"), message("m2")])
      return { accounts, webhooks }
    })

    it.scopedLive("is that of the API key that made it: nothing is queued or given for it any more", () =>
      Effect.gen(function* () {
        const { accounts, webhooks } = yield* started
        yield* accounts.removeKey("key_1", null)
        const found = yield* webhooks.claim(claimOf())
        expect(found.map(({ webhookId }) => webhookId)).toEqual(["free", "free"])
        yield* webhooks.offer([message("m3")])
        expect((yield* webhooks.claim(claimOf())).map(({ webhookId }) => webhookId)).toEqual(["free"])
        expect(yield* webhooks.find("bound")).toMatchObject({ status: "ended", pending: 0, dropped: 2 })
        expect(yield* webhooks.list("usr_a")).toMatchObject([{ status: "ended" }, { status: "active" }])
        expect(yield* webhooks.challenge("bound", challengeOf("bound"))).toBe("ended")
      })
    )

    for (const end of ["disabled", "removed"] as const) {
      it.scopedLive(`comes when its user is ${end}, who gets no other one`, () =>
        Effect.gen(function* () {
          const { accounts, webhooks } = yield* started
          yield* end === "disabled"
            ? accounts.changeUser("usr_a", { isDisabled: true }, 2_000)
            : accounts.removeUser("usr_a")
          expect(yield* webhooks.claim(claimOf())).toEqual([])
          yield* webhooks.offer([message("m3")])
          expect(yield* webhooks.claim(claimOf())).toEqual([])
          expect(yield* webhooks.list("usr_a")).toMatchObject([{ status: "ended" }, { status: "ended" }])
          expect(yield* webhooks.add(webhookOf("late"), challengeOf("late"), 10)).toBe(false)
          expect(yield* webhooks.lapse(null)).toBe(4)
          expect((yield* webhooks.look(null)).listeners!.byOwner.size).toBe(0)
        })
      )
    }

    it.scopedLive("comes when the API key expires", () =>
      Effect.gen(function* () {
        const { accounts, webhooks } = yield* stores
        const soon = (yield* Clock.currentTimeMillis) + 2_000
        yield* accounts.addKey(keyOf("key_1", "usr_a", soon), 10)
        yield* addVerified(webhooks, webhookOf("a", { keyId: "key_1" }))
        yield* webhooks.offer([message("m")])
        const [delivery] = yield* webhooks.claim(claimOf())
        expect(delivery).toMatchObject({ id: "m" })
        yield* webhooks.release(delivery!, 0)
        yield* webhooks.find("a").pipe(
          Effect.repeat({
            until: (found) => found?.status === "ended",
            schedule: Schedule.spaced("20 millis")
          }),
          Effect.timeout("10 seconds")
        )
        expect(yield* webhooks.claim(claimOf())).toEqual([])
      })
    )

    it.scopedLive("drops what waits for it, and counts it once", () =>
      Effect.gen(function* () {
        const { accounts, webhooks } = yield* started
        const before = (yield* webhooks.look(null)).listeners
        expect(yield* webhooks.lapse(null)).toBe(0)
        expect((yield* webhooks.look(before!.version)).listeners).toBeNull()
        const [dead] = yield* webhooks.claim(claimOf({ max: 1 }))
        yield* webhooks.failed(dead!, { reason: "It answered 500.", retryIn_ms: null, pause_ms: 0 })
        yield* accounts.removeKey("key_1", null)
        const waited = 2 - Number(dead!.webhookId === "bound")
        expect(yield* webhooks.lapse(null)).toBe(waited)
        expect(yield* webhooks.lapse(null)).toBe(0)
        expect(yield* webhooks.find("bound")).toMatchObject({
          status: "ended",
          pending: 0,
          deadLetters: 0,
          dropped: waited
        })
        expect(yield* webhooks.find("free")).toMatchObject({ status: "active", dropped: 0 })
        expect((yield* webhooks.look(before!.version)).listeners!.byOwner.size).toBe(1)
      })
    )

    it.scopedLive("leaves nothing to be queued again", () =>
      Effect.gen(function* () {
        const { accounts, webhooks } = yield* started
        const found = yield* webhooks.claim(claimOf())
        const failure = { reason: "It answered 500.", retryIn_ms: null, pause_ms: 0 }
        yield* Effect.forEach(found, (delivery) => webhooks.failed(delivery, failure))
        yield* accounts.removeKey("key_1", null)
        expect(yield* webhooks.revive("bound", "m1")).toBe("none")
        expect(yield* webhooks.revive("free", "m1")).toBe("queued")
        yield* webhooks.lapse(null)
        expect(yield* webhooks.revive("bound", "m1")).toBe("none")
      })
    )

    it.scopedLive("makes room for a new one, and only where there is none", () =>
      Effect.gen(function* () {
        const { accounts, webhooks } = yield* started
        yield* accounts.removeKey("key_1", null)
        expect(yield* addVerified(webhooks, webhookOf("new"), 3)).toBe(true)
        expect(idsOf(yield* webhooks.list("usr_a"))).toEqual(["bound", "free", "new"])
        expect(yield* addVerified(webhooks, webhookOf("newer"), 3)).toBe(true)
        expect(idsOf(yield* webhooks.list("usr_a"))).toEqual(["free", "new", "newer"])
        expect(yield* addVerified(webhooks, webhookOf("newest"), 3)).toBe(false)
      })
    )

    it.scopedLive(
      "is there from the start where the key has ended before it is added; and nobody has none",
      () =>
        Effect.gen(function* () {
          const { webhooks } = yield* stores
          yield* webhooks.add(webhookOf("a", { keyId: "key_none" }), challengeOf("a"), 10)
          expect(yield* webhooks.find("a")).toMatchObject({ status: "ended" })
          expect(yield* webhooks.claim(claimOf())).toEqual([])
          expect(yield* webhooks.add(webhookOf("b", { owner: "usr_none" }), challengeOf("b"), 10)).toBe(false)
          expect(yield* webhooks.find("b")).toBeNull()
        })
    )

    it.scopedLive("comes when the administrator's key is another one than the one that made it", () =>
      Effect.gen(function* () {
        const { webhooks } = yield* stores
        const [old, current] = [adminKeyIdOf("aaaa0"), adminKeyIdOf("bbbb0")]
        yield* addVerified(webhooks, webhookOf("old", { keyId: old }))
        yield* addVerified(webhooks, webhookOf("current", { keyId: current }))
        yield* addVerified(webhooks, webhookOf("session"))
        yield* webhooks.offer([message("m")])
        expect(yield* webhooks.lapse(null)).toBe(0)
        expect(yield* webhooks.lapse(current)).toBe(1)
        const found = yield* webhooks.claim(claimOf())
        expect(found.map(({ webhookId }) => webhookId).toSorted()).toEqual(["current", "session"])
        expect(yield* webhooks.find("old")).toMatchObject({ status: "ended", dropped: 1 })
      })
    )
  })
}
