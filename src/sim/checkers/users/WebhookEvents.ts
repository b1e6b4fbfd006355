import type { Checker, Evidence, Violation } from "../../Evidence.ts"
import { adminId } from "../../../accounts/Access.ts"
import { isFirstWebhook, leaving, ownReceiver, suspended } from "../../deployment/Users.ts"
import { ms_us, s_us } from "../../world/Time.ts"

/** How long an event takes at most when nothing fails, and how long a failure holds up what comes later, beside the pause of its webhook. */
export const deliveredWithin_us = 6 * s_us
export const heldUpFor_us = 20 * s_us
export const takenOver_us = 2 * s_us

/** After its first attempt a message waits for so long, then for twice as long each time, up to a quarter less. */
const retryFirst_us = 5 * s_us
const shortenedBy = 0.25

/** So long a challenge waits after each of its attempts. */
const challengeRetries_us = [10 * s_us, 60 * s_us, 300 * s_us, 1_800 * s_us]

/** Within what time a process to which nothing happens ends what it was given: each attempt has an end. */
const endedWithin_us = 20 * s_us

/** Messages that a process was given, and of which it said neither that they were delivered nor that they were not, though nothing happened to it. */
const unended = ({ end_us, journal }: Pick<Evidence, "end_us" | "journal">): ReadonlyArray<Violation> => {
  const given = new Map<string, { readonly at_us: number; readonly by: string; readonly message: string }>()
  const upset = new Map<string, Array<number>>()
  for (const entry of journal) {
    const { at_us, by, tag } = entry
    if (tag === "leased messages")
      for (const { lease, message, webhook } of entry.messages)
        given.set(`${lease} ${webhook} ${message}`, { at_us, by, message })
    if (tag === "delivered" || tag === "put off" || tag === "untried")
      given.delete(`${entry.lease} ${entry.webhook} ${entry.message}`)
    if (tag === "webhook verified")
      for (const [name, { message }] of given) if (message === entry.message) given.delete(name)
    if (
      tag === "killed" ||
      tag === "ended" ||
      tag === "draining" ||
      tag === "paused" ||
      ((tag === "unanswered" || tag === "held up") && entry.operation.startsWith("WebhookStore."))
    )
      upset.set(by, [...(upset.get(by) ?? []), at_us])
  }
  return Array.from(given.values()).flatMap(({ at_us, by, message }) => {
    const due_us = at_us + endedWithin_us
    const wasUpset = upset.get(by)?.some((then_us) => then_us >= at_us - s_us && then_us <= due_us) === true
    return due_us > end_us || wasUpset
      ? []
      : [
          {
            checker: WebhookEvents.name,
            at_us: due_us,
            text: `message ${message} was given to ${by}, which has not said what became of it`,
            keys: []
          }
        ]
  })
}

/** How much sooner than it should be a message may be given: clocks count in milliseconds, and one that drifts is fast by a hundredth. */
const slackOf = (wait_us: number) => ms_us + wait_us / 50

/** Messages that wait for too short a time, or are given to a process sooner than that. Failures count by the last lease alone. */
const retriedTooSoon = ({
  clock,
  journal
}: Pick<Evidence, "clock" | "journal">): ReadonlyArray<Violation> => {
  const leases = new Map<string, string>()
  const waiting = new Map<string, { readonly at_us: number; readonly for_us: number }>()
  return journal.flatMap((entry): ReadonlyArray<Violation> => {
    const { at_us } = entry
    const found = (text: string) => [{ checker: WebhookEvents.name, at_us, text, keys: [] }]
    if (entry.tag === "put off") {
      const { attempt, for_ms, isChallenge, lease, message } = entry
      const name = `${entry.webhook} ${message}`
      if (for_ms === null || leases.get(name) !== lease) return []
      waiting.set(name, { at_us, for_us: for_ms * ms_us })
      const most_us = isChallenge ? challengeRetries_us[attempt - 1]! : retryFirst_us * 2 ** (attempt - 1)
      const least_us = isChallenge ? most_us : most_us * (1 - shortenedBy)
      return for_ms * ms_us > most_us + ms_us || for_ms * ms_us < least_us - ms_us
        ? found(`message ${message} is to wait for ${for_ms} ms after its attempt number ${attempt}`)
        : []
    }
    if (entry.tag !== "leased messages") return []
    return entry.messages.flatMap(({ lease, message, webhook }) => {
      const name = `${webhook} ${message}`
      leases.set(name, lease)
      const last = waiting.get(name)
      waiting.delete(name)
      if (last === undefined || clock.jumps.some((jump) => jump.at_us > last.at_us && jump.at_us < at_us))
        return []
      const waited_us = at_us - last.at_us
      return waited_us < last.for_us - slackOf(last.for_us)
        ? found(
            `message ${message} was given ${Math.round(waited_us / ms_us)} ms after a failure, and should have waited for ${Math.round(last.for_us / ms_us)} ms`
          )
        : []
    })
  })
}

/**
 * Events of links of users with webhooks are delivered at least once, to those that they have from the beginning on: each link that was bound has its event, which its receiver got or which waits; nothing is
 * told of what did not happen; when nothing has failed for a while an event arrives within seconds; what failed waits for twice as long each time; and of each message that a process was given it says what became of it.
 */
export const WebhookEvents: Checker = {
  name: "webhook events",
  seesForgotten: true,
  check: ({ clock, end_us, healed_us, journal, undelivered }) => {
    const violation = (at_us: number, text: string) => [
      { checker: WebhookEvents.name, at_us, text, keys: [] }
    ]
    const received = new Set<string>()
    const offered = new Map<string, number>()
    // What is due by the database's clock is later by as much as that jumps back.
    let heldUpUntil_us = clock.jumps.reduce(
      (most_us, { at_us, by_us }) => Math.max(most_us, at_us - Math.min(0, by_us) + heldUpFor_us),
      Number.NEGATIVE_INFINITY
    )
    const owned = new Set<string>()
    let changes = 0
    for (const entry of journal) {
      if (entry.tag === "received" && entry.url.startsWith(ownReceiver))
        entry.events.forEach((event) => received.add(event))
      if (entry.tag === "offered")
        entry.events.forEach((event, index) => {
          if (entry.owners[index] !== suspended) offered.set(event, entry.at_us)
        })
      if (entry.tag === "unanswered" && /^(LinkCarrier|Webhook|WebhookStore)\./.test(entry.operation))
        heldUpUntil_us = Math.max(heldUpUntil_us, entry.at_us + heldUpFor_us)
      if (entry.tag === "put off" && isFirstWebhook(entry.webhook))
        heldUpUntil_us = Math.max(heldUpUntil_us, entry.at_us + entry.pause_ms * ms_us + deliveredWithin_us)
      // It may have been another's, whose link has ended otherwise.
      if (entry.tag === "bound") owned.delete(entry.link.key)
      if (entry.tag === "bound" && ![null, adminId, suspended, ...leaving].includes(entry.link.owner)) {
        owned.add(entry.link.key)
        changes++
      }
      if (entry.tag === "deleted" && owned.delete(entry.key)) changes++
    }
    const lost = Array.from(offered).flatMap(([event, at_us]) =>
      received.has(event) || undelivered.has(event)
        ? []
        : violation(at_us, `event ${event} was queued, was never delivered, and does not wait`)
    )
    const late = Array.from(offered).flatMap(([event, at_us]) =>
      !received.has(event) &&
      at_us > Math.max(healed_us + takenOver_us, heldUpUntil_us) &&
      at_us < end_us - deliveredWithin_us
        ? violation(at_us, `event ${event} was not delivered within 6 s, though nothing failed`)
        : []
    )
    const invented = Array.from(received).flatMap((event) =>
      offered.has(event)
        ? []
        : violation(end_us, `event ${event} was delivered, and nothing of it was committed`)
    )
    return [
      ...lost,
      ...late,
      ...invented,
      ...retriedTooSoon({ clock, journal }),
      ...unended({ end_us, journal }),
      ...(changes === offered.size
        ? []
        : violation(
            end_us,
            `${changes} changes of users' links were committed, and ${offered.size} events queued`
          ))
    ]
  }
}
