import * as Iso8601 from "../../../model/Iso8601.ts"
import { type WebhookState, webhooksMax } from "../../../model/Webhook.ts"
import {
  formerDead,
  formerGivenUpAt,
  formerLate,
  formerTried,
  formerWebhook
} from "../../deployment/FormerWebhook.ts"
import { administrator } from "../../deployment/Users.ts"
import type { Checker, Violation } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { type Known, wasIn, Webhooks } from "../facts/webhooks.ts"
import { suspensionsOf } from "../facts/suspensions.ts"

/** A webhook as an answer shows it. */
interface Shown {
  readonly id: string
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly status: WebhookState
  readonly pending: number
  readonly deadLetters: number
  readonly failures: number
  readonly lastFailure: string | null
  readonly secret?: string
}

/** A dead letter as a list shows it. */
interface Letter {
  readonly id: string
  readonly attempts: number
  readonly failedAt: string
}

/** An answer's problem, if it is one. */
interface Problem {
  readonly type?: string
}

/** What is wrong with how a webhook is shown, which was in one of some states in the time of the request; how many dead letters it has. */
const wronglyShown = (
  shown: Shown,
  { webhook }: Known,
  dead: { readonly least: number; readonly most: number }
): string | undefined => {
  const { deadLetters, events, failures, lastFailure, pending, url } = shown
  if (url !== webhook.url || JSON.stringify(events) !== JSON.stringify(webhook.events))
    return "is shown with another URL or other events"
  if ((failures === 0) !== (lastFailure === null)) return "is shown with failures and without the last one"
  const hasSo = deadLetters >= dead.least && deadLetters <= dead.most
  return hasSo && pending >= 0 ? undefined : "is shown with other messages than it has"
}

/**
 * What users are told of their webhooks is so: one that was made is there, as it was asked for, and no other user is shown it or may change it; lists have all that a user has, in the states that they have; one
 * that was removed is gone; and a user has ten at most.
 */
export const OwnWebhooks: Checker = {
  name: "own webhooks",
  seesForgotten: true,
  check: ({ beginning_ms, end_us, exchanges, journal }) => {
    const violations: Array<Violation> = []
    const webhooks = new Webhooks()
    /** When messages from before were queued again, and when the last attempt of one failed. */
    const revived = new Map<string, number>()
    const failed = new Map<string, number>()
    for (const entry of journal) {
      webhooks.follow(entry)
      if (entry.tag === "revived") revived.set(entry.message, entry.at_us)
      if (entry.tag === "put off" && entry.for_ms === null) failed.set(entry.message, entry.at_us)
      if (entry.tag !== "webhook added") continue
      const { owner } = entry.webhook
      const count = webhooks.of(owner).filter(({ webhook }) => webhooks.isNow(webhook.id) !== "ended").length
      if (count > webhooksMax)
        violations.push({
          checker: OwnWebhooks.name,
          at_us: entry.at_us,
          text: `${owner} has ${count} webhooks`,
          keys: []
        })
    }
    const suspensions = suspensionsOf(journal)

    const wrong = (exchange: Exchange): ReadonlyArray<string> => {
      const { answered_us = end_us, apiKey, body = "", sent_us, status, user } = exchange
      const { act, events, id, keyId = null } = exchange.webhook!
      const problem = status >= 400 && body !== "" ? ((JSON.parse(body) as Problem).type ?? "") : ""
      const was = (known: Known, ...states: Parameters<typeof wasIn>[3][]) =>
        wasIn(known, sent_us, answered_us, ...states)
      const isBefore = (at_us: number | undefined, other_us: number) =>
        at_us !== undefined && at_us <= other_us
      /** Messages from before that were given up, unless their webhook has ended, and such that may have been. */
      const givenUp = formerDead.slice(1).filter((message) => !isBefore(revived.get(message), answered_us))
      const mayBeGivenUp = [...formerDead, formerTried, formerLate].filter(
        (message) =>
          !isBefore(revived.get(message), sent_us) &&
          (message !== formerTried || isBefore(failed.get(message), answered_us))
      )
      /** No other message is given up as soon as that. */
      const deadOf = (known: Known) => {
        if (known.webhook.id !== formerWebhook) return { least: 0, most: 0 }
        return { least: was(known, "ended", "absent") ? 0 : givenUp.length, most: mayBeGivenUp.length }
      }
      const isTheirs = ({ webhook: { owner } }: Known) =>
        owner === user || (user === administrator && apiKey === undefined)

      if (act === "add") {
        if (exchange.isRight === false)
          return status < 400
            ? ["a webhook was made that leads to a private network, or tells more than its API key may read"]
            : []
        if (status === 201) {
          const shown = JSON.parse(body) as Shown
          const known = webhooks.all.get(shown.id)
          if (known === undefined || known.added_us < sent_us || known.added_us > answered_us)
            return [`webhook ${shown.id} was not made`]
          const { webhook } = known
          const isAsAsked =
            webhook.owner === user &&
            webhook.keyId === keyId &&
            webhook.url === exchange.url &&
            JSON.stringify(webhook.events) === JSON.stringify(events)
          if (!isAsAsked) return [`webhook ${shown.id} was not made as it was asked for`]
          if (shown.secret !== webhook.secret) return [`webhook ${shown.id} was shown with another secret`]
          const text = wronglyShown(shown, known, deadOf(known))
          return text === undefined ? [] : [`webhook ${shown.id} ${text}`]
        }
        if (status !== 409) return [`making a webhook was answered ${status}`]
        const fullness = webhooks.fullnessOf(user!)
        const wasFull = fullness.some(
          ({ count, since_us }, index) =>
            count >= webhooksMax &&
            since_us <= answered_us &&
            (fullness[index + 1]?.since_us ?? end_us) >= sent_us
        )
        const wasDisabled = suspensions
          .get(user!)
          ?.some(({ from_us, until_us }) => from_us <= answered_us && until_us >= sent_us)
        return wasFull || wasDisabled === true ? [] : [`${user} could not make a webhook, and had few`]
      }

      if (act === "list") {
        if (status !== 200) return [`the list of webhooks was answered ${status}`]
        const { data } = JSON.parse(body) as { readonly data: ReadonlyArray<Shown> }
        const listed = new Map(data.map((shown) => [shown.id, shown]))
        const missing = [...webhooks.all.values()]
          .filter((known) => known.webhook.owner === user && !was(known, "absent"))
          .flatMap(({ webhook }) => (listed.has(webhook.id) ? [] : [`the list is without ${webhook.id}`]))
        const twice = listed.size < data.length ? ["the list has a webhook twice"] : []
        const shownWrongly = data.flatMap((shown) => {
          const known = webhooks.all.get(shown.id)
          if (known === undefined || known.webhook.owner !== user)
            return [`the list has ${shown.id}, which is none of theirs`]
          if (!was(known, shown.status)) return [`the list has ${shown.id}, which was not ${shown.status}`]
          if (shown.secret !== undefined) return [`the list shows the secret of ${shown.id}`]
          const text = wronglyShown(shown, known, deadOf(known))
          return text === undefined ? [] : [`${shown.id} ${text}`]
        })
        return [...missing, ...twice, ...shownWrongly]
      }

      const known = webhooks.all.get(id!)
      if (known === undefined) return [`webhook ${id} never was`]
      const { message } = exchange.webhook!
      if (status === 404 && act === "retry")
        return isTheirs(known) && deadOf(known).least > 0 && givenUp.includes(message!)
          ? [`message ${message} was not found, and had been given up`]
          : []
      if (status === 404)
        return isTheirs(known) && !was(known, "absent") ? [`${id} was not found, and was there`] : []
      if (!isTheirs(known))
        return [`${user} was answered ${status} of webhook ${id}, which is another user's`]
      if (act === "remove") {
        const wasRemoved = known.standings.some(
          ({ is, since_us }) => is === "absent" && since_us >= sent_us && since_us <= answered_us
        )
        return status === 204 && wasRemoved ? [] : [`${id} was answered ${status} when it was to be removed`]
      }
      if (act === "verify") {
        const states = { 200: "active", 202: "unverified", 409: "ended" } as const
        const state = status === 200 || status === 202 || status === 409 ? states[status] : undefined
        return state !== undefined && was(known, state) ? [] : [`${id} was answered ${status} ${problem}`]
      }
      if (act === "retry") {
        const at_us = revived.get(message!)
        const isQueued = at_us !== undefined && at_us >= sent_us && at_us <= answered_us
        return status === 202 && isQueued
          ? []
          : [`message ${message} was answered ${status}, and is not queued again`]
      }
      const { data } = JSON.parse(body) as { readonly data: ReadonlyArray<Letter> }
      const { least, most } = deadOf(known)
      const missing =
        least === 0 ? [] : givenUp.filter((message) => data.every((letter) => letter.id !== message))
      const isRight = ({ attempts, failedAt, id: message }: Letter) => {
        const at_ms = formerGivenUpAt(message, beginning_ms)
        return (
          mayBeGivenUp.includes(message) &&
          (at_ms === undefined || (attempts === 1 && failedAt === Iso8601.formatMoment(at_ms)))
        )
      }
      return status === 200 && data.length <= most && missing.length === 0 && data.every(isRight)
        ? []
        : [`${id} is shown with other dead letters than it has`]
    }

    for (const exchange of exchanges) {
      const { answered_us = end_us, answeredBy, kind, number, status } = exchange
      if (kind !== "webhook" || status === 0 || status >= 500 || status === 401 || status === 403) continue
      for (const text of wrong(exchange))
        violations.push({
          checker: OwnWebhooks.name,
          at_us: answered_us,
          text: `${text}, by ${answeredBy}`,
          keys: [`#${number}`]
        })
    }
    return violations
  }
}
