import { Context, Effect, Layer } from "effect"
import type { Link } from "../model/Link.ts"
import type { Quota } from "../storage/accounts/QuotaStore.ts"
import type { StorageError } from "../storage/StorageError.ts"
import { adminId, type KnownCaller } from "./Access.ts"
import type { Limit, Standing } from "./Meter.ts"
import { RateLimiter } from "./RateLimiter.ts"
import { type Reservation, uncounted } from "./Reservations.ts"

/** How often something may be done; `null`: as often as one likes. */
export interface QuotaPolicy {
  /** Links that an owner creates in a minute. */
  readonly createsPerMinute: number | null
  /** Redirects that lead through an owner's links in a day of UTC. */
  readonly redirectsPerDay: number | null
  /** Links that a client creates in a minute without saying who it is. */
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

/** Whom to count a request for: `ClientAddress.clientOf` says who that is. */
export interface Client {
  /** An IPv4 address, or a network of IPv6 that one client has (/64). */
  readonly id: string
  /** The network that such a network is in (/48), of which one client may have all; `null` for IPv4. */
  readonly network: string | null
}

/** What all clients of a network have together, as a multiple of what one has. */
const networkShare = 4

/** Log-ins and sign-ups that a client tries in a minute, and log-ins that it tries for one account. */
const attemptsPerMinute = { client: 30, clientAndAccount: 10 }

/**
 * Log-ins that fail in an hour, for one account: at one device that is known, and at all that are not. In no hour can there be more than twice as many, which is the most of OWASP's ASVS
 * (4.0.3, 2.2.1).
 */
const failuresPerHour = { device: 50, strangers: 50 }

/** Passwords that a user who has signed in is asked for again, and gives, in a minute. */
const confirmationsPerMinute = 10

/**
 * Passwords of links that a client tries in a minute, and those that are tried of one link: by all clients, so many that no few of them keep its visitors out, and by those that are not counted for
 * themselves.
 */
const unlocksPerMinute = { client: 30, link: 600, uncounted: 60 }

/** Challenges that are sent in a minute for one user's webhooks, and to one host. */
const challengesPerMinute = { owner: 10, host: 20 }

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
 * Which quotas there are for what. They hold for all nodes together (see `RateLimiter`). A client is `null` where it is not counted. The administrator has no quotas. Where somebody may be
 * guessing, each node holds the limit also by itself.
 */
export class Quotas extends Context.Tag("linkmint/Quotas")<
  Quotas,
  {
    /** Takes one create of the caller's API key and of the caller; of the client where the caller is anonymous. `null` where there is no quota. */
    readonly create: (
      caller: KnownCaller | "anonymous",
      client: Client | null
    ) => Effect.Effect<Standing | null>
    /** The same without an effect; `undefined` where `create` must be asked, because this node has not leased any yet. */
    readonly createNow: (
      caller: KnownCaller | "anonymous",
      client: Client | null
    ) => Standing | null | undefined
    /**
     * Takes one redirect of a link's owner, and of the API key by which it was made, without an effect: `null` where there is no quota, `undefined` where
     * `redirect` must be asked, because this node has not leased any yet.
     */
    readonly redirectNow: (link: CountedLink) => Standing | null | undefined
    /** Takes one redirect of a link's. */
    readonly redirect: (link: CountedLink) => Effect.Effect<Standing | null>
    /** How it stands where a client has asked for too many keys that lead nowhere. */
    readonly lookupsUsedUp: (client: Client | null) => Standing | undefined
    /**
     * Lets a client look for a key that the node does not have at hand, without an effect: to be kept where it leads nowhere, else to be given back. How it stands where that is too much, and
     * `undefined` where `lookUp` must be asked.
     */
    readonly lookUpNow: (client: Client | null) => Reservation | Standing | undefined
    readonly lookUp: (client: Client | null) => Effect.Effect<Reservation | Standing>
    /** Takes one try of a client to log in or to sign up. */
    readonly attempt: (client: Client | null) => Effect.Effect<Standing | null>
    /**
     * Takes one log-in to the account of an e-mail address: at a device that is known to be its user's (see `Devices`), of that device's; else of the client's, and of all strangers'. So strangers can
     * use up what strangers have, and not keep its user out.
     */
    readonly logIn: (
      client: Client | null,
      email: string,
      device: string | null
    ) => Effect.Effect<Standing | null>
    /** Gives back what a log-in has taken that did not fail. */
    readonly loggedIn: (email: string, device: string | null) => void
    /** Takes one try of a user who has signed in to give the password again. */
    readonly confirm: (userId: string) => Effect.Effect<Standing | null>
    /** Takes one try of a link's password, of the client's and of the link's, which no few clients can use up. */
    readonly unlock: (client: Client | null, key: string) => Effect.Effect<Standing | null>
    /** Takes one challenge to a webhook's receiver, of its owner's, the administrator's too, and of its host's. */
    readonly challenge: (owner: string, host: string) => Effect.Effect<Standing | null>
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

/** The quotas of a client: those of the network that it is in first, so that what one client makes up in a network comes to an end there. */
const quotasOf = (
  what: string,
  client: Client | null,
  limit: number | null,
  period: Quota["period"]
): ReadonlyArray<Quota> =>
  client === null || limit === null
    ? []
    : [
        ...quota(`${what}:network`, client.network, networkShare * limit, period),
        ...quota(`${what}:client`, client.id, limit, period)
      ]

/** Limits that the node holds by itself. */
const held = (quotas: ReadonlyArray<Quota>): ReadonlyArray<Limit> =>
  quotas.map((quota) => ({ ...quota, isHeld: true }))

const none: ReadonlyArray<Limit> = []

const ownerOf = (owner: string | null) => (owner === adminId ? null : owner)

/** See {@link Quotas}. */
export const make = (policy: QuotaPolicy) =>
  Effect.map(RateLimiter, (limiter) => {
    const createsOf = ({ keyId, limits, userId }: KnownCaller) => [
      ...quota("create:key", keyId, limits.createsPerMinute, "minute"),
      ...quota("create:owner", ownerOf(userId), policy.createsPerMinute, "minute")
    ]
    const createsBy = (caller: KnownCaller | "anonymous", client: Client | null) =>
      caller === "anonymous"
        ? quotasOf("create", client, policy.anonymousCreatesPerMinute, "minute")
        : createsOf(caller)
    const redirectsOf = ({ keyId, keyRedirectsPerDay, owner }: CountedLink) => [
      ...quota("redirect:key", keyId ?? null, keyRedirectsPerDay ?? null, "day"),
      ...quota("redirect:owner", ownerOf(owner), policy.redirectsPerDay, "day")
    ]
    // Asked by every redirect.
    const lookups = new WeakMap<Client, ReadonlyArray<Limit>>()
    const lookupsOf = (client: Client | null): ReadonlyArray<Limit> => {
      if (client === null || policy.failedLookupsPerMinute === null) return none
      const known = lookups.get(client)
      if (known !== undefined) return known
      const limits = held(quotasOf("lookup", client, policy.failedLookupsPerMinute, "minute"))
      lookups.set(client, limits)
      return limits
    }

    const failuresOf = (email: string, device: string | null) =>
      held(
        device === null
          ? quota("login:strangers", email, failuresPerHour.strangers, "hour")
          : quota("login:device", device, failuresPerHour.device, "hour")
      )

    const useOf = (quotas: ReadonlyArray<Quota>) =>
      Effect.map(limiter.read(quotas), (leases) => {
        const uses = leases.map(({ remaining, resetIn_ms }, index) => ({
          limit: quotas[index]!.limit,
          remaining,
          resetIn_ms
        }))
        return uses.toSorted((one, other) => one.remaining - other.remaining)[0] ?? null
      })

    return Quotas.of({
      create: (caller, client) => limiter.takeAll(createsBy(caller, client)),
      createNow: (caller, client) => limiter.takeAllNow(createsBy(caller, client)),
      redirectNow: (link) =>
        // Asked by every redirect, and mostly there is none.
        policy.redirectsPerDay === null && link.keyRedirectsPerDay === undefined
          ? null
          : limiter.takeAllNow(redirectsOf(link)),
      redirect: (link) => limiter.takeAll(redirectsOf(link)),
      lookupsUsedUp: (client) => {
        const limits = lookupsOf(client)
        return limits === none ? undefined : limiter.usedUp(limits)
      },
      lookUpNow: (client) => {
        const limits = lookupsOf(client)
        return limits === none ? uncounted : limiter.reserveNow(limits)
      },
      lookUp: (client) => limiter.reserve(lookupsOf(client)),
      attempt: (client) =>
        limiter.takeAll(held(quotasOf("attempt", client, attemptsPerMinute.client, "minute"))),
      logIn: (client, email, device) => {
        const at = `${client?.id ?? "here"} ${email}`
        const ofClient = quota("login:client", at, attemptsPerMinute.clientAndAccount, "minute")
        const ofAccount = failuresOf(email, device)
        return limiter.takeAll(device === null ? [...held(ofClient), ...ofAccount] : ofAccount)
      },
      loggedIn: (email, device) => limiter.giveBack(failuresOf(email, device)),
      confirm: (userId) => limiter.takeAll(held(quota("confirm", userId, confirmationsPerMinute, "minute"))),
      unlock: (client, key) =>
        limiter.takeAll(
          held([
            ...(client === null
              ? quota("unlock:uncounted", key, unlocksPerMinute.uncounted, "minute")
              : quotasOf("unlock", client, unlocksPerMinute.client, "minute")),
            ...quota("unlock:link", key, unlocksPerMinute.link, "minute")
          ])
        ),
      challenge: (owner, host) =>
        limiter.takeAll(
          held([
            ...quota("challenge:owner", owner, challengesPerMinute.owner, "minute"),
            ...quota("challenge:host", host, challengesPerMinute.host, "minute")
          ])
        ),
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
