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

/** The client that a request counts for; see `ClientAddress.clientOf`. */
export interface Client {
  /** An IPv4 address, or a network of IPv6 that one client has (/64). */
  readonly id: string
  /** The network (/48) around that network, all of which one client may have; `null` for IPv4. */
  readonly network: string | null
}

/** The limit of all clients of a network together, as a multiple of one client's. */
const networkShare = 4

/** Log-ins and sign-ups that a client may attempt in a minute, and its log-ins to one account. */
const attemptsPerMinute = { client: 30, clientAndAccount: 10 }

/**
 * Failed log-ins to one account in an hour: from one known device, and from all others together. No hour can have more than twice as many, which is the maximum of OWASP's ASVS
 * (4.0.3, 2.2.1).
 */
const failuresPerHour = { device: 50, strangers: 50 }

/** How often the password may be given again in a session: in a minute, and in an hour as often as to sign in. */
const confirmationsOf = { minute: 10, hour: failuresPerHour.strangers }

/**
 * Passwords of links that may be tried in a minute: by one client; for one link by all clients, high enough that a few clients cannot lock its visitors out; and for one link by clients that are
 * not counted individually.
 */
const unlocksPerMinute = { client: 30, link: 600, uncounted: 60 }

/** Challenges that may be sent in a minute: for one user's webhooks, and to one host. */
const challengesPerMinute = { owner: 10, host: 20 }

/** What decides whose quotas a link's redirects count against. */
export type CountedLink = Pick<Link, "owner" | "keyId" | "keyRedirectsPerDay">

/** A quota of a caller, and what is left of it for all nodes. */
export interface QuotaUse {
  readonly limit: number
  readonly remaining: number
  readonly resetIn_ms: number
}

/** The quotas of a caller. */
export interface CallerQuotas {
  readonly createsPerMinute: QuotaUse | null
  readonly redirectsPerDay: QuotaUse | null
}

/**
 * The quotas. They hold for all nodes together (see `RateLimiter`). A client is `null` where it is not counted. The administrator has no quotas. Limits on guessing are also enforced by
 * each node alone.
 */
export class Quotas extends Context.Tag("linkmint/Quotas")<
  Quotas,
  {
    /** Takes one create of the caller's API key and of the caller; of the client where the caller is anonymous. `null` where there is no quota. */
    readonly create: (
      caller: KnownCaller | "anonymous",
      client: Client | null
    ) => Effect.Effect<Standing | null>
    /** The same without an effect; `undefined` where `create` is needed, because this node has no lease. */
    readonly createNow: (
      caller: KnownCaller | "anonymous",
      client: Client | null
    ) => Standing | null | undefined
    /**
     * Takes one redirect of a link's owner, and of the API key by which it was made, without an effect: `null` where there is no quota, `undefined` where
     * `redirect` is needed, because this node has no lease.
     */
    readonly redirectNow: (link: CountedLink) => Standing | null | undefined
    /** Takes one redirect of a link. */
    readonly redirect: (link: CountedLink) => Effect.Effect<Standing | null>
    /** The state of a client's limit of failed look-ups where it is used up. */
    readonly lookupsUsedUp: (client: Client | null) => Standing | undefined
    /**
     * Reserves a look-up of a key that the node has not cached, without an effect: to be kept where there is no such link, else to be given back. The state of the limit where it is used up;
     * `undefined` where `lookUp` is needed.
     */
    readonly lookUpNow: (client: Client | null) => Reservation | Standing | undefined
    readonly lookUp: (client: Client | null) => Effect.Effect<Reservation | Standing>
    /** Takes one attempt of a client to log in or to sign up. */
    readonly attempt: (client: Client | null) => Effect.Effect<Standing | null>
    /**
     * Takes one log-in to the account of an e-mail address: from the limit of the device, where that is known to be its user's (see `Devices`); else from those of the client and of all strangers. So strangers
     * cannot lock the user out.
     */
    readonly logIn: (
      client: Client | null,
      email: string,
      device: string | null
    ) => Effect.Effect<Standing | null>
    /** Gives back what a successful log-in has taken. */
    readonly loggedIn: (email: string, device: string | null) => void
    /** Takes one attempt to give the password again in a session. Another session of the user has its own: who has one without the password gets no other. */
    readonly confirm: (sessionId: string) => Effect.Effect<Standing | null>
    /** Takes one attempt at a link's password, from the limits of the client and of the link. */
    readonly unlock: (client: Client | null, key: string) => Effect.Effect<Standing | null>
    /** Takes one challenge to a webhook's receiver, from the limits of its owner, also an administrator, and of its host. */
    readonly challenge: (owner: string, host: string) => Effect.Effect<Standing | null>
    /** A caller's quotas, and what is left of them. */
    readonly of: (caller: KnownCaller) => Effect.Effect<CallerQuotas, StorageError>
  }
>() {}

/** A quota, where there is a limit and somebody to count for. */
const quota = (
  what: string,
  who: string | null,
  limit: number | null,
  period: Quota["period"]
): ReadonlyArray<Quota> => (who === null || limit === null ? [] : [{ id: `${what}:${who}`, limit, period }])

/** The quotas of a client: first that of its network, so that a client that takes many addresses of one network is limited there. */
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

/** Limits that each node also enforces alone. */
const held = (quotas: ReadonlyArray<Quota>): ReadonlyArray<Limit> =>
  quotas.map((quota) => ({ isHeld: true, ...quota }))

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
      confirm: (sessionId) =>
        limiter.takeAll(
          held([
            ...quota("confirm:hour", sessionId, confirmationsOf.hour, "hour"),
            ...quota("confirm", sessionId, confirmationsOf.minute, "minute")
          ])
        ),
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
