import type { UserKey } from "../../deployment/Users.ts"
import type { Exchange } from "../../History.ts"
import type { Checker } from "../../Evidence.ts"
import { suspensionsOf } from "../facts/suspensions.ts"
import { ms_us, s_us } from "../../world/Time.ts"

/** Moments of an expiry are milliseconds. */
const expiryWithin_us = 2 * ms_us

/** What is wrong with a list of a user's keys, who had all of them until `removed_us`. */
const wronglyListed = (
  userKeys: ReadonlyArray<UserKey>,
  { answered_us, sent_us, user }: Exchange & { readonly answered_us: number },
  listed: ReadonlySet<string>,
  removed_us: number
): ReadonlyArray<string> =>
  userKeys.flatMap((key) => {
    const isListed = listed.has(key.id)
    if (key.user !== user) return isListed ? [`have ${key.id}, which is another user's`] : []
    if (isListed && key.revoked_us < sent_us) return [`have ${key.id}, which was revoked`]
    const isThere =
      key.added_us < sent_us && Math.min(key.revoking_us, key.expires_us, removed_us) > answered_us
    return isThere && !isListed ? [`are without ${key.id}`] : []
  })

/**
 * One second after its revocation, or after its user was disabled, no node accepts an API key, the time of a request included. No caller with a valid key is refused as unknown: one of a user who is
 * enabled again is valid a second later. One that ends by itself is accepted no longer, where no clock jumps. A list of a user's keys has
 * those that are valid.
 */
export const Revocation: Checker = {
  name: "revocation",
  check: ({ clock, end_us, exchanges, faults, journal, userKeys }) => {
    const keys = new Map(userKeys.map((key) => [key.secret, key]))
    const suspensions = suspensionsOf(journal)
    const removed_us = new Map(
      journal.flatMap((entry) => (entry.tag === "user removed" ? [[entry.user, entry.at_us] as const] : []))
    )
    // A node goes by its own clock, and by the database's.
    const areClocksRight = clock.jumps.length === 0 && clock.ahead_us(s_us) === 0 && !faults.has("clockJump")
    return exchanges.flatMap((exchange) => {
      const {
        answered_us = end_us,
        answeredBy,
        apiKey,
        kind,
        listed,
        number,
        sent_us,
        status,
        user
      } = exchange
      if (kind === "keys" && listed !== undefined)
        return wronglyListed(
          userKeys,
          { ...exchange, answered_us },
          new Set(listed),
          removed_us.get(user!) ?? Number.POSITIVE_INFINITY
        ).map((text) => ({
          checker: Revocation.name,
          at_us: answered_us,
          text: `the keys of ${user} ${text}, by ${answeredBy}`,
          keys: [`#${number}`]
        }))
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
      if (status !== 401 && areClocksRight && sent_us > key.expires_us + expiryWithin_us)
        return violation(`${key.id} was accepted, and had ended by itself`)
      const late_us = sent_us - key.revoked_us
      if (status !== 401 && late_us > s_us)
        return violation(`${key.id} was accepted ${Math.round(late_us / ms_us)} ms after it was revoked`)
      const suspended = suspensions.get(key.user) ?? []
      // When a node may have asked for what it knows.
      const known_us = sent_us - s_us
      if (status !== 401 && suspended.some((one) => one.from_us < known_us && one.until_us > answered_us))
        return violation(`${key.id} was accepted, whose user was disabled more than a second before`)
      const wasSuspended = suspended.some((one) => one.from_us <= answered_us && one.until_us >= known_us)
      // What a node knows may be as old as a second: a key is known at once only where nobody asked for it before.
      const mayHaveExpired = areClocksRight
        ? answered_us >= key.expires_us - expiryWithin_us
        : Number.isFinite(key.expires_us)
      return status === 401 && answered_us < key.revoking_us && !wasSuspended && !mayHaveExpired
        ? violation(`${key.id} was refused, and is valid`)
        : []
    })
  }
}
