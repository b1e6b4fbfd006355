import type { Checker } from "../Evidence.ts"
import { s_us } from "../world/Time.ts"

/** How long after the end of all faults everything must work again. */
const healWithin_us = 5 * s_us

/** For so long after the faults a node may be short of connections: those that it had given up before, after 4 s, count for 15 s as ones that the database still has. */
const shortFor_us = 20 * s_us

/** C8: after faults have ended, every request is answered as it should be, without help. And no request ever ends as a fault of the service, nor as if there were no such operation. */
export const Liveness: Checker = {
  name: "liveness",
  check: ({ end_us, exchanges, healed_us, sessions, unready }) => [
    ...unready.map((node) => ({
      checker: Liveness.name,
      at_us: end_us,
      text: `${node} is not ready again`,
      keys: []
    })),
    ...exchanges.flatMap(({ answered_us, answeredBy, alias, key, kind, number, sent_us, status }) => {
      const violation = (text: string) => [
        { checker: Liveness.name, at_us: answered_us ?? end_us, text, keys: [key ?? alias ?? ""] }
      ]
      if (status === 500 || (kind === "create" && status === 404))
        return violation(`request ${number} (${kind}) was answered ${status}`)
      if (sent_us < healed_us + healWithin_us || [401, 404, 409, 410, 422, 429].includes(status)) return []
      if (answered_us === undefined && end_us - sent_us < healWithin_us) return []
      const isShort = sessions.refusals.some(
        ({ at_us, by }) => by === answeredBy && sent_us <= at_us && at_us <= (answered_us ?? end_us)
      )
      if (status === 503 && isShort && sent_us < healed_us + shortFor_us) return []
      return status >= 200 && status < 400
        ? []
        : violation(
            `request ${number} (${kind}), ${((sent_us - healed_us) / s_us).toFixed(1)} s after the last fault, was answered ${status === 0 ? "never" : status}`
          )
    })
  ]
}
