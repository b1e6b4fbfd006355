import { createHmac } from "node:crypto"
import { formerLate, formerTried, formerWebhook } from "../../deployment/FormerWebhook.ts"
import { isOfBeginning } from "../../deployment/Users.ts"
import { proves } from "../../deployment/Receivers.ts"
import { attemptsMax } from "../../../webhooks/WebhookDelivery.ts"
import type { Checker, Violation } from "../../Evidence.ts"
import type { JournalEntry } from "../../Journal.ts"
import { ms_us, s_us } from "../../world/Time.ts"
import { type Known, Webhooks } from "../facts/webhooks.ts"
import { deliveredWithin_us, heldUpFor_us, takenOver_us } from "./WebhookEvents.ts"

/** How long a challenge waits at most that was not sent since there had been too many: they are counted by the minute. */
const challengedAgain_us = 60 * s_us

/** How far from true time a signature's may be where no clock jumps: a message is signed when it is sent, in whole seconds. */
const signedWithin_us = 3 * s_us

/** What is wrong with the headers of a message, as a receiver checks them by the Standard Webhooks specification. */
const wrongHeaders = (
  { webhook }: Known,
  { body, headers }: Extract<JournalEntry, { readonly tag: "received" }>
): string | undefined => {
  const [id, timestamp] = [headers["webhook-id"], headers["webhook-timestamp"]]
  if (id === undefined || !/^\d+$/.test(timestamp ?? "")) return "without an id or a time"
  const secret = Buffer.from(webhook.secret.replace(/^whsec_/, ""), "base64")
  const signature = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64")
  return headers["webhook-signature"] === `v1,${signature}` ? undefined : "with a wrong signature"
}

/**
 * Webhooks that users make get what they should: messages go to those alone that are there and have been proven by their receivers, and challenges to others; a process sends
 * what the store has given it for that webhook, signed with its secret; each event of its user that it wants, and that was queued while it was active, is delivered to it or waits, no
 * other one is, when nothing has failed for a while it arrives within seconds, and none is given up before its last attempt. A receiver that proves itself is challenged, and no other one makes its webhook active.
 */
export const WebhookDeliveries: Checker = {
  name: "webhooks of users",
  seesForgotten: true,
  check: ({ beginning_ms, clock, end_us, faults, healed_us, journal, waitingFor }) => {
    const violations: Array<Violation> = []
    const found = (at_us: number, text: string) =>
      violations.push({ checker: WebhookDeliveries.name, at_us, text, keys: [] })
    const webhooks = new Webhooks()
    /** Events that were queued for a webhook, and arrived there, by both ids; and messages that a process was given for one. */
    const queued = new Map<string, number>()
    const received = new Set<string>()
    const given = new Set<string>()
    /** Attempts of messages, since they were queued. */
    const tried = new Map([[`${formerWebhook} ${formerTried}`, attemptsMax - 1]])
    /** Challenges whose answers were proofs. */
    const proven = new Set<string>()
    let heldUpUntil_us = clock.jumps.reduce(
      (most_us, { at_us, by_us }) => Math.max(most_us, at_us - Math.min(0, by_us) + heldUpFor_us),
      Number.NEGATIVE_INFINITY
    )
    /** Of single webhooks: until when failures hold them up, and their challenges. */
    const pausedUntil_us = new Map<string, number>()
    const challengedUntil_us = new Map<string, number>()
    const later = (of: Map<string, number>, webhook: string, until_us: number) =>
      of.set(webhook, Math.max(of.get(webhook) ?? 0, until_us))

    for (const entry of journal) {
      const { at_us, by } = entry
      webhooks.follow(entry)
      if (entry.tag === "queued")
        for (const { event, id, owner } of entry.events)
          for (const { webhook } of webhooks.of(owner))
            if (webhooks.isNow(webhook.id) === "active" && webhook.events.includes(event))
              queued.set(`${webhook.id} ${id}`, queued.get(`${webhook.id} ${id}`) ?? at_us)
      if (entry.tag === "revived") {
        queued.set(`${entry.webhook} ${entry.message}`, at_us)
        tried.delete(`${entry.webhook} ${entry.message}`)
      }
      // What is given up after its last attempt waits no longer.
      if (entry.tag === "put off" && entry.for_ms === null && !entry.isChallenge) {
        const name = `${entry.webhook} ${entry.message}`
        queued.delete(name)
        const times = tried.get(name) ?? 0
        if (times < attemptsMax) found(at_us, `message ${entry.message} was given up after ${times} attempts`)
      }
      if (entry.tag === "leased messages")
        for (const { isChallenge, message, webhook } of entry.messages) {
          given.add(`${by} ${webhook} ${message}`)
          tried.set(`${webhook} ${message}`, (tried.get(`${webhook} ${message}`) ?? 0) + 1)
          const is = webhooks.isNow(webhook)
          if (is !== "active" && !(is === "unverified" && isChallenge))
            found(at_us, `${by} was given a message for webhook ${webhook}, which is ${is}`)
        }
      if (entry.tag === "received") {
        const { body, events, headers, url } = entry
        const known = webhooks.at(url)
        if (known === undefined) {
          found(at_us, `${by} sent a message to ${url}, where no webhook leads`)
          continue
        }
        const { id } = known.webhook
        const message = headers["webhook-id"]
        const wrong = wrongHeaders(known, entry)
        if (wrong !== undefined) found(at_us, `${by} sent a message to webhook ${id} ${wrong}`)
        const off_us = Number(headers["webhook-timestamp"]) * s_us - (beginning_ms * ms_us + at_us)
        if (!faults.has("clockJump") && clock.jumps.length === 0 && Math.abs(off_us) > signedWithin_us)
          found(
            at_us,
            `${by} signed a message to webhook ${id} for a time ${Math.round(off_us / ms_us)} ms off`
          )
        if (!given.has(`${by} ${id} ${message}`))
          found(at_us, `${by} sent webhook ${id} message ${message}, which it was not given`)
        for (const event of events) {
          received.add(`${id} ${event}`)
          if (!queued.has(`${id} ${event}`) && event !== formerLate)
            found(at_us, `webhook ${id} was sent event ${event}, which is none for it`)
        }
        if (proves(url) && body.includes("webhook.verification")) proven.add(`${id} ${message}`)
      }
      if (entry.tag === "webhook verified" && !isOfBeginning(entry.webhook)) {
        if (!proven.has(`${entry.webhook} ${entry.message}`))
          found(at_us, `webhook ${entry.webhook} became active, and its receiver has proven nothing`)
      }
      if (
        entry.tag === "unanswered" &&
        /^(LinkCarrier|Webhook|WebhookStore|QuotaStore)\./.test(entry.operation)
      )
        heldUpUntil_us = Math.max(heldUpUntil_us, at_us + heldUpFor_us)
      if (entry.tag === "put off") {
        later(pausedUntil_us, entry.webhook, at_us + entry.pause_ms * ms_us + deliveredWithin_us)
        if (entry.isChallenge)
          later(
            challengedUntil_us,
            entry.webhook,
            entry.for_ms === null ? end_us : at_us + entry.for_ms * ms_us
          )
      }
      if (entry.tag === "untried" && entry.isChallenge)
        later(challengedUntil_us, entry.webhook, at_us + challengedAgain_us)
    }

    const settled_us = Math.max(healed_us + takenOver_us, heldUpUntil_us)
    for (const [name, at_us] of queued) {
      const [id, event] = name.split(" ")
      const { standings } = webhooks.all.get(id!)!
      if (received.has(name) || standings.at(-1)!.is !== "active") continue
      // What waits is gone when a webhook is taken for ended.
      if (standings.some(({ is, since_us }) => is === "ended" && since_us >= at_us)) continue
      if (!waitingFor.has(name))
        found(at_us, `event ${event} was queued for webhook ${id}, was never delivered, and does not wait`)
      if (at_us > Math.max(settled_us, pausedUntil_us.get(id!) ?? 0) && at_us < end_us - deliveredWithin_us)
        found(at_us, `event ${event} was not delivered to webhook ${id} within 6 s, though nothing failed`)
    }
    for (const { standings, webhook } of webhooks.all.values()) {
      const { is, since_us } = standings.at(-1)!
      const due_us =
        Math.max(settled_us, since_us, challengedUntil_us.get(webhook.id) ?? 0) + deliveredWithin_us
      if (is === "unverified" && proves(webhook.url) && due_us < end_us)
        found(due_us, `webhook ${webhook.id} is not active yet, whose receiver proves itself`)
    }
    return violations
  }
}
