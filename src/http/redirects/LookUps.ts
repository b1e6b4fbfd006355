import { Effect, Exit } from "effect"
import type { Standing } from "../../accounts/Meter.ts"
import { Quotas } from "../../accounts/Quotas.ts"
import { isReserved, type Reservation, uncounted } from "../../accounts/Reservations.ts"
import { Links } from "../../actors/links/Links.ts"
import type { Link } from "../../model/Link.ts"
import { ClientAddress } from "../exchange/ClientAddress.ts"
import type { Problem } from "../exchange/Problem.ts"
import * as RateLimit from "../exchange/RateLimit.ts"
import type { Request } from "../exchange/Request.ts"

/** Counts a look-up that led nowhere. */
export const endLookUp = (reserved: Reservation, found: Exit.Exit<Link | null, unknown>): void =>
  Exit.isSuccess(found) && found.value === null ? reserved.keep() : reserved.giveBack()

/** Look-ups of links by anybody, of which a client may make so many that lead nowhere. */
export interface LookUps {
  /**
   * Takes the look-up of a key in advance from its client's quota, and nothing of it where the link is at hand. Returns the state of the quota where it is used up; `undefined`
   * where the client has to wait to know.
   */
  readonly reserveNow: (request: Request, key: string) => Reservation | Standing | undefined
  /**
   * Finds the link of a key. What is not at hand is looked for only as long as its client has not asked for too many that lead nowhere (`find` gives `null`): those that it is
   * just asking for included. `key`: of a link that leads somewhere where it is at hand; `undefined` where only `find` can tell.
   */
  readonly lookUp: (
    request: Request,
    key: string | undefined,
    find: Effect.Effect<Link | null, Problem>
  ) => Effect.Effect<Link | null, Problem>
}

/** See {@link LookUps}. */
export const make: Effect.Effect<LookUps, never, Links | Quotas> = Effect.gen(function* () {
  const links = yield* Links
  const quotas = yield* Quotas
  const { clientOf } = yield* ClientAddress

  const reserveNow: LookUps["reserveNow"] = (request, key) => {
    const client = clientOf(request)
    const isAtHand = (links.findNow(key) ?? links.staleNow(key)) !== undefined
    return isAtHand ? (quotas.lookupsUsedUp(client) ?? uncounted) : quotas.lookUpNow(client)
  }

  return {
    reserveNow,
    lookUp: (request, key, find) =>
      Effect.acquireUseRelease(
        Effect.suspend(() => {
          const reserved = key === undefined ? undefined : reserveNow(request, key)
          return reserved === undefined ? quotas.lookUp(clientOf(request)) : Effect.succeed(reserved)
        }),
        (reserved) => (isReserved(reserved) ? find : Effect.fail(RateLimit.problemOf(reserved))),
        (reserved, found) => Effect.sync(() => isReserved(reserved) && endLookUp(reserved, found))
      )
  }
})
