import { Context, Duration, Effect, Layer, type Scope } from "effect"
import { monotonic_ms } from "../../time/MonotonicTime.ts"
import * as Pulse from "../../time/Pulse.ts"
import { defaultDomain, domainKeyOf, foldedKey, qualifiedKey } from "../../keys/QualifiedKey.ts"
import { type Domain, type DomainTargets, hostNamed } from "../../model/Domain.ts"
import { type DomainList, DomainStore } from "../../storage/domains/DomainStore.ts"
import type { StorageError } from "../../storage/StorageError.ts"
import { ClientAddress, type ClientAddressService } from "../exchange/ClientAddress.ts"
import type { Request } from "../exchange/Request.ts"
import type { TargetPolicyService } from "../links/TargetPolicy.ts"

/** How often a node asks whether domains have changed: after one more second at most every node goes by a change. */
export const readEvery = Duration.seconds(1)

/** What is looked at of a request. */
type Source = Pick<Request, "headers" | "remoteAddress">

/** How hosts are treated. */
export interface HostPolicy {
  /** The host name of the default domain. */
  readonly ownHost: string
  /** Whether a host that is nobody's is answered as the default domain, or by 404. */
  readonly unknownHosts: "default" | "not-found"
}

/** A host name as `Host` has it, without its port and the dot at its end, in lower case. */
const nameOf = (host: string): string => {
  const end = host.lastIndexOf(":")
  const name = end === -1 || host.endsWith("]") ? host : host.slice(0, end)
  return (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase()
}

/** What a domain is called that was removed: a name that no host has (RFC 2606). */
const removedHost = (number: number): string => `removed-${number}.invalid`

const removedOf = (host: string): number | undefined => {
  const number = /^removed-([1-9]\d{0,8})\.invalid$/.exec(host)?.[1]
  return number === undefined ? undefined : Number(number)
}

/** Whether a user (`null`: somebody anonymous) may create links in a domain, once it is verified. */
export const mayUse = ({ owners }: Pick<Domain, "owners">, userId: string | null): boolean =>
  owners === null || (userId !== null && owners.includes(userId))

/** The further domains as a node knows them. Everything is looked up in memory. */
export class KnownDomains {
  readonly #policy: HostPolicy
  #version: number | null = null
  #readAt_ms = Number.NEGATIVE_INFINITY
  #byNumber: ReadonlyMap<number, Domain> = new Map()
  #byHost: ReadonlyMap<string, Domain> = new Map()
  /** Whether every host is the default domain's. */
  #isOnlyOne: boolean
  #lastNumber = 0
  #longAliasesIn: ReadonlySet<number> = new Set()
  #ignoringCase: ReadonlySet<number> | undefined
  #latest = { host: "", number: undefined as number | undefined }

  constructor(policy: HostPolicy = { ownHost: "", unknownHosts: "default" }) {
    this.#policy = policy
    this.#isOnlyOne = policy.unknownHosts === "default"
  }

  /** The version of what is known; `null`: nothing has been read. */
  get version(): number | null {
    return this.#version
  }

  /** When the newest read that was answered began, on `monotonicNow_ms`: what is known is at least as new as that. */
  get readAt_ms(): number {
    return this.#readAt_ms
  }

  /** Reads what has changed. */
  refresh({ read }: Pick<typeof DomainStore.Service, "read">): Effect.Effect<void, StorageError> {
    return Effect.flatMap(monotonic_ms, (begun_ms) =>
      Effect.map(read(this.#version), (list) => {
        if (list !== null) this.set(list)
        this.#readAt_ms = Math.max(this.#readAt_ms, begun_ms)
      })
    )
  }

  /** Replaces what is known, unless that is newer: answers can come out of order. */
  set({ domains, lastNumber, longAliasesIn, version }: DomainList): void {
    if (this.#version !== null && version < this.#version) return
    this.#version = version
    this.#byNumber = new Map(domains.map((domain) => [domain.number, domain]))
    this.#byHost = new Map(domains.map((domain) => [domain.host, domain]))
    const ignoring = domains.filter(({ ignoresCase }) => ignoresCase).map(({ number }) => number)
    this.#ignoringCase = ignoring.length === 0 ? undefined : new Set(ignoring)
    this.#lastNumber = lastNumber
    this.#longAliasesIn = new Set(longAliasesIn)
    const isServed = domains.some(({ verifiedAt }) => verifiedAt !== null)
    this.#isOnlyOne = this.#policy.unknownHosts === "default" && !isServed
    this.#latest = { host: "", number: undefined }
  }

  /**
   * The number of the domain that a request is for; `undefined`: its host is nobody's. Behind a trusted proxy the last host of `X-Forwarded-Host` counts, where there is one.
   */
  numberOf(request: Source, { isByProxy }: Pick<ClientAddressService, "isByProxy">): number | undefined {
    if (this.#isOnlyOne) return defaultDomain
    const { headers } = request
    const forwarded = headers["x-forwarded-host"]
    const host =
      forwarded !== undefined && isByProxy(request)
        ? forwarded.slice(forwarded.lastIndexOf(",") + 1).trim()
        : (headers["host"] ?? "")
    // Mostly all clients name the same.
    if (this.#latest.host !== host || host === "")
      this.#latest = { host, number: this.#servedAt(nameOf(host)) }
    return this.#latest.number
  }

  #servedAt(name: string): number | undefined {
    const domain = this.#byHost.get(name)
    if (domain !== undefined && domain.verifiedAt !== null) return domain.number
    return name === this.#policy.ownHost || this.#policy.unknownHosts === "default"
      ? defaultDomain
      : undefined
  }

  /** Whether there has ever been a further domain, as far as this node has read. */
  get areInUse(): boolean {
    return this.#version === null || this.#lastNumber > 0
  }

  /** The numbers of the domains that may have aliases of several segments, as far as this node has read. */
  get longAliasesIn(): ReadonlySet<number> {
    return this.#longAliasesIn
  }

  /** Whether aliases of a domain are the same where they differ in case alone. */
  ignoresCase(number: number): boolean {
    return this.#ignoringCase?.has(number) === true
  }

  /**
   * The text by which a link is stored that a text may mean as well, for its domain ignores case; `undefined`: there is none. Aliases of such a domain are stored in lower case, minted keys as
   * they are. So a text is looked for as it is first, and by this then.
   */
  foldedOf(text: string): string | undefined {
    if (this.#ignoringCase === undefined) return undefined
    const { domain, key } = domainKeyOf(text)
    const folded = foldedKey(key)
    return folded === key || !this.#ignoringCase.has(domain)
      ? undefined
      : qualifiedKey({ domain, key: folded })
  }

  /** The text by which the link of a key is stored; `undefined` where `domain` is given, and is no host name of a domain. */
  textOf(key: string, domain: string | ReadonlyArray<string> | undefined): string | undefined {
    if (domain === undefined) return key
    const number = typeof domain === "string" ? this.numberAt(domain) : undefined
    return number === undefined ? undefined : qualifiedKey({ domain: number, key })
  }

  /** The number of the domain with a host name; `undefined` where there is none. */
  numberAt(text: string): number | undefined {
    const host = hostNamed(text)
    return this.isDefault(host) ? defaultDomain : (this.#byHost.get(host)?.number ?? removedOf(host))
  }

  /** Where visitors of a domain are sent whom no link redirects, as long as links may lead there; `null`: nowhere, as in the default one. */
  targetOf(
    number: number,
    reason: keyof DomainTargets,
    { faultOf }: Pick<TargetPolicyService, "faultOf">
  ): string | null {
    const target = this.#byNumber.get(number)?.targets[reason] ?? null
    return target === null || faultOf(target) !== undefined ? null : target
  }

  /** The domain with this host name in lower case, verified or not. */
  at(host: string): Domain | undefined {
    return this.#byHost.get(host)
  }

  /** The host name of the verified domain that a URL leads to, at whatever port; `undefined` where it leads elsewhere. */
  leadsTo(url: string): string | undefined {
    if (this.#byHost.size === 0) return undefined
    const domain = this.#byHost.get(nameOf(new URL(url).hostname))
    return domain === undefined || domain.verifiedAt === null ? undefined : domain.host
  }

  /** Whether a host name in lower case is the default domain's. */
  isDefault(host: string): boolean {
    return host === this.#policy.ownHost
  }

  /** The host name of a domain; see {@link removedHost}. */
  hostOf(number: number): string {
    return this.#byNumber.get(number)?.host ?? removedHost(number)
  }
}

/** The further domains of the deployment. By default there are none. */
export class Domains extends Context.Reference<Domains>()("linkmint/Domains", {
  defaultValue: (): KnownDomains => new KnownDomains()
}) {}

/** Reads the domains into `known`, and again and again until its scope closes. While the database does not answer, what was read last holds. */
export const make = (known: KnownDomains): Effect.Effect<void, StorageError, DomainStore | Scope.Scope> =>
  Effect.gen(function* () {
    const refresh = known.refresh(yield* DomainStore)
    yield* refresh
    yield* Effect.forkScoped(Pulse.forever(Effect.ignore(refresh), readEvery))
  })

/** See {@link make}. */
export const layer = (known: KnownDomains): Layer.Layer<Domains, StorageError, DomainStore> =>
  Layer.scoped(Domains, Effect.as(make(known), known))

/** Gives the number of the domain that a request is for, as {@link KnownDomains.numberOf}. */
export const numberOf: Effect.Effect<(request: Source) => number | undefined> = Effect.gen(function* () {
  const known = yield* Domains
  const addresses = yield* ClientAddress
  return (request: Source) => known.numberOf(request, addresses)
})
