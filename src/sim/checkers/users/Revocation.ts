import type { Checker } from "../../Evidence.ts"
import { ms_us, s_us } from "../../world/Time.ts"

/** One second after its revocation no node accepts an API key, the time of a request included. No caller with a valid key is refused as unknown. */
export const Revocation: Checker = {
  name: "revocation",
  check: ({ end_us, exchanges, userKeys }) => {
    const keys = new Map(userKeys.map((key) => [key.secret, key]))
    return exchanges.flatMap(({ answered_us = end_us, answeredBy, apiKey, number, sent_us, status }) => {
      const key = apiKey === undefined ? undefined : keys.get(apiKey)
      if (key === undefined || status === 0 || status >= 500) return []
      const violation = (text: string) => [
        {
          checker: Revocation.name,
          at_us: answered_us,
          text: `${text}, by ${answeredBy}`,
          keys: [`#${number}`]
        }
      ]
      const late_us = sent_us - key.revoked_us
      if (status !== 401 && late_us > s_us)
        return violation(`${key.id} was accepted ${Math.round(late_us / ms_us)} ms after it was revoked`)
      // What a node knows may be as old as a second: a key is known at once only where nobody asked for it before.
      return status === 401 && answered_us < key.revoked_us
        ? violation(`${key.id} was refused, and is valid`)
        : []
    })
  }
}
