import type { Checker, Violation } from "../../Evidence.ts"
import { s_us } from "../../world/Time.ts"
import { Webhooks } from "../facts/webhooks.ts"

/** Messages that a process sends to one webhook, and to all of a user, at the same time. */
const atOnceMax = { webhook: 4, owner: 8 }

/** Messages that it sends to those of a user within any second: ten, and as many that it was about to send when it was held up. */
const perSecondMax = 20

/** A process sends so many messages at once to a webhook, and to all webhooks of a user, and so many in a second, as one user is not to take the places of all others. */
export const WebhookRates: Checker = {
  name: "webhook rates",
  seesForgotten: true,
  check: ({ journal }) => {
    const violations: Array<Violation> = []
    const webhooks = new Webhooks()
    const underWay = new Map<string, number>()
    const begun_us = new Map<string, Array<number>>()
    for (const entry of journal) {
      webhooks.follow(entry)
      if (entry.tag !== "sending" && entry.tag !== "sent") continue
      const { at_us, by, tag, url } = entry
      const known = webhooks.at(url)
      if (known === undefined) continue
      const { id, owner } = known.webhook
      const found = (text: string) =>
        violations.push({ checker: WebhookRates.name, at_us, text: `${by} ${text}`, keys: [] })
      for (const [name, most] of [
        [`webhook ${id}`, atOnceMax.webhook],
        [`webhooks of ${owner}`, atOnceMax.owner]
      ] as const) {
        const count = (underWay.get(`${by} ${name}`) ?? 0) + (tag === "sending" ? 1 : -1)
        underWay.set(`${by} ${name}`, count)
        if (count > most) found(`sends ${count} messages at once to ${name}`)
      }
      if (tag === "sent") continue
      const before = begun_us.get(`${by} ${owner}`) ?? []
      const recent = [...before.filter((one_us) => one_us > at_us - s_us), at_us]
      begun_us.set(`${by} ${owner}`, recent)
      if (recent.length > perSecondMax)
        found(`sent ${recent.length} messages to webhooks of ${owner} within a second`)
    }
    return violations
  }
}
