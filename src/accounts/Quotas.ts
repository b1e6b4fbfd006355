import { Context, Effect, Layer } from "effect"
import type { Link } from "../Link.ts"
import type { Quota } from "../storage/QuotaStore.ts"
import type { StorageError } from "../storage/StorageError.ts"
import { adminId, type KnownCaller } from "./Access.ts"
import { RateLimiter, type Standing } from "./RateLimiter.ts"
import * as Secret from "../Secret.ts"

/** How often something may be done; `null`: as often as one likes. */
export interface QuotaPolicy {
  /** Links that an owner creates in a minute. */
  readonly createsPerMinute: number | null
  /** Redirects that lead through an owner's links in a day of UTC. */
  readonly redirectsPerDay: number | null
  /** Links that a client creates in a minute without saying who he is. */
  readonly anonymousCreatesPerMinute: number | null
  /** Keys that lead nowhere which a client asks for in a minute. */
  readonly failedLookupsPerMinute: number | null
}

/** No quotas at all. */
export const unlimited: QuotaPolicy = {
  createsPerMinute: null,
  redirectsPerDay: null,
  anonymousCreatesPerMinute: null,
  failedLookupsPerMinute: null
}

/** Log-ins and sign-ups that a client tries in a minute, and log-ins that are tried for one account. */
const attemptsPerMinute = { client: 30, account: 10 }

/** Passwords of links that a client tries in a minute, and those that are tried of one link. */
const unlocksPerMinute = { client: 30, link: 60 }

/** For whom a link's redirects are counted. */
export type CountedLink = Pick<Link, "owner" | "keyId" | "keyRedirectsPerDay">

/** A quota of a caller, and what is left of it for all nodes. */
export interface QuotaUse {
  readonly limit: number
  readonly remaining: number
  readonly resetIn_ms: number
}

/** What a caller has. */
export interface CallerQuotas {
  readonly createsPerMinute: QuotaUse | null
  readonly redirectsPerDay: QuotaUse | null
}

/**
 * Which quotas there are for what. They hold for all nodes together (see `RateLimiter`). Clients are addresses or networks as `ClientAddress.clientOf`
 * gives them, `null` for one that is not counted. The administrator has no quotas.
 */
export class Quotas extends Context.Tag("linkmint/Quotas")<
  Quotas,
  {
    /** Takes one create of the caller's, of his API key and of his own; of a client's where he is anonymous. `null` where there is no quota. */
    readonly create: (
      caller: KnownCaller | "anonymous",
      client: string | null
    ) => Effect.Effect<Standing | null>
    /** The same without an effect; `undefined` where `create` must be asked, because this node has not leased any yet. */
    readonly createNow: (
      caller: KnownCaller | "anonymous",
      client: string | null
    ) => Standing | null | undefined
    /**
     * Takes one redirect of a link's owner, and of the API key by which it was made, without an effect: `null` where there is no quota, `undefined` where
     * `redirectLater` must be asked, because this node has not leased any yet.
     */
    readonly redirect: (link: CountedLink) => Standing | null | undefined
    /** Takes one redirect of a link's. */
    readonly redirectLater: (link: CountedLink) => Effect.Effect<Standing | null>
    /** How it stands where a client has asked for too many keys that lead nowhere. */
    readonly lookupsUsedUp: (client: string | null) => Standing | undefined
    /** Counts a key that leads nowhere. */
    readonly lookupFailed: (client: string | null) => void
    /** Takes one try to log in, of the client's and of the account's; without an e-mail address one to sign up. */
    readonly attempt: (client: string | null, email: string | null) => Effect.Effect<Standing | null>
    /** Takes one try of a link's password, of the client's and of the link's. */
    readonly unlock: (client: string | null, key: string) => Effect.Effect<Standing | null>
    /** What a caller has, and what is left of it. */
    readonly of: (caller: KnownCaller) => Effect.Effect<CallerQuotas, StorageError>
  }
>() {}

/** A quota, where there is a limit and somebody to count. */
const quota = (
  what: string,
  who: string | null,
  limit: number | null,
  period: Quota["period"]
): ReadonlyArray<Quota> => (who === null || limit === null ? [] : [{ id: `${what}:${who}`, limit, period }])

const ownerOf = (owner: string | null) => (owner === adminId ? null : owner)

/** See {@link Quotas}. */
export const make = (policy: QuotaPolicy) =>
  Effect.map(RateLimiter, (limiter) => {
    const createsOf = ({ keyId, limits, userId }: KnownCaller) => [
      ...quota("create:key", keyId, limits.createsPerMinute, "minute"),
      ...quota("create:owner", ownerOf(userId), policy.createsPerMinute, "minute")
    ]
    const createsBy = (caller: KnownCaller | "anonymous", client: string | null) =>
      caller === "anonymous"
        ? quota("create:client", client, policy.anonymousCreatesPerMinute, "minute")
        : createsOf(caller)
    const redirectsOf = ({ keyId, keyRedirectsPerDay, owner }: CountedLink) => [
      ...quota("redirect:key", keyId ?? null, keyRedirectsPerDay ?? null, "day"),
      ...quota("redirect:owner", ownerOf(owner), policy.redirectsPerDay, "day")
    ]
    const lookupsOf = (client: string | null) =>
      quota("lookup:client", client, policy.failedLookupsPerMinute, "minute")

    const useOf = (quotas: ReadonlyArray<Quota>) =>
      Effect.map(limiter.peek(quotas), (leases) => {
        const uses = leases.map(({ remaining, resetIn_ms }, index) => ({
          limit: quotas[index]!.limit,
          remaining,
          resetIn_ms
        }))
        return uses.toSorted((one, other) => one.remaining - other.remaining)[0] ?? null
      })

    return Quotas.of({
      create: (caller, client) => limiter.takeAll(createsBy(caller, client)),
      createNow: (caller, client) => limiter.tryTakeAll(createsBy(caller, client)),
      redirect: (link) =>
        // Asked by every redirect, and mostly there is none.
        policy.redirectsPerDay === null && link.keyRedirectsPerDay === undefined
          ? null
          : limiter.tryTakeAll(redirectsOf(link)),
      redirectLater: (link) => limiter.takeAll(redirectsOf(link)),
      lookupsUsedUp: (client) => {
        const [only] = lookupsOf(client)
        return only && limiter.usedUp(only)
      },
      lookupFailed: (client) => lookupsOf(client).forEach(limiter.spend),
      attempt: (client, email) =>
        limiter.takeAll([
          ...quota("attempt:client", client, attemptsPerMinute.client, "minute"),
          // Only its digest, since nothing else keeps what was typed there.
          ...quota("attempt:account", email && Secret.digest(email), attemptsPerMinute.account, "minute")
        ]),
      unlock: (client, key) =>
        limiter.takeAll([
          ...quota("unlock:client", client, unlocksPerMinute.client, "minute"),
          ...quota("unlock:link", key, unlocksPerMinute.link, "minute")
        ]),
      of: (caller) =>
        Effect.all({
          createsPerMinute: useOf(createsOf(caller)),
          redirectsPerDay: useOf(
            redirectsOf({
              owner: caller.userId,
              ...(caller.keyId !== null && { keyId: caller.keyId }),
              ...(caller.limits.redirectsPerDay !== null && {
                keyRedirectsPerDay: caller.limits.redirectsPerDay
              })
            })
          )
        })
    })
  })

/** See {@link make}. */
export const layer = (policy: QuotaPolicy): Layer.Layer<Quotas, never, RateLimiter> =>
  Layer.effect(Quotas, make(policy))
