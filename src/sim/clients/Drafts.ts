import { plainKeyOf, qualifiedKey } from "../../keys/QualifiedKey.ts"
import { domainNumbers, hostOf, namesOf } from "../deployment/FurtherDomains.ts"
import { adminKey } from "../deployment/StubServices.ts"
import type { Wish } from "../History.ts"
import type { Users } from "../deployment/Users.ts"
import type { WorkloadOptions } from "../cli/Options.ts"
import type { VirtualRequest } from "../deployment/VirtualNode.ts"
import type { Chance } from "../world/Chance.ts"
import type { World } from "../world/World.ts"

/** Aliases that clients want: few, so that they want the same ones. */
export const aliases: ReadonlyArray<string> = Array.from({ length: 40 }, (_, index) => `alias-${index}`)

/** URLs of links that are to be reused: few, so that several want the same ones at once. */
const reusedUrls = Array.from({ length: 6 }, (_, index) => `https://example.com/reused/${index}`)

/** How often a redirect is asked for at a wrong domain, as a share of the creates in further ones. */
const elsewhereShare = 0.1

/** Visits that a link of few visits has at most. */
const visitsMax = 8

/** After how long a link expires at most. */
const expiryMax_s = 20

/** A create that a client is about to ask for, once or several times. */
export interface Draft extends Omit<Wish, "client" | "kind" | "key" | "direct"> {
  /** The number of a further domain. */
  readonly domain?: number | undefined
}

/** What clients think of to create. */
export class Drafts {
  readonly #workload: WorkloadOptions
  readonly #chance: Chance
  readonly #domains: Chance
  readonly #users: Users
  #drawn = 0

  constructor(world: World, workload: WorkloadOptions, users: Users) {
    this.#workload = workload
    this.#users = users
    this.#chance = world.chance("drafts")
    this.#domains = world.chance("domains")
  }

  next(): Draft {
    const chance = this.#chance
    const { reused, withAccount, withAlias, withExpiry, withKey, withMaxVisits } = this.#workload
    const domain = this.#domain()
    if (chance.happens(withAccount)) return { url: this.newUrl(), apiKey: this.#users.apiKey(chance), domain }
    const idempotencyKey = chance.happens(withKey) ? `try-${this.#drawn++}` : undefined
    if (chance.happens(reused)) return { url: chance.pick(reusedUrls), reuse: true, idempotencyKey }
    return {
      url: this.newUrl(),
      idempotencyKey,
      domain,
      alias: chance.happens(withAlias) ? this.inDomain(chance.pick(aliases), domain) : undefined,
      expiresIn_s: chance.happens(withExpiry) ? chance.between(2, expiryMax_s) : undefined,
      maxVisits: chance.happens(withMaxVisits) ? chance.between(1, visitsMax) : undefined
    }
  }

  /** An alias somebody may want: in a further domain perhaps. */
  wished(alias: string): string {
    return this.inDomain(alias, this.#domain())
  }

  /** Now and then the text of a link with the same key in another domain, where it has no link if it was minted. */
  perhapsElsewhere(text: string): string {
    if (!this.#domains.happens(this.#workload.withDomain * elsewhereShare)) return text
    return this.inDomain(plainKeyOf(text), this.#domains.pick(domainNumbers))
  }

  inDomain(key: string, domain: number | undefined): string {
    return domain === undefined ? key : qualifiedKey({ domain, key })
  }

  #domain(): number | undefined {
    return this.#domains.happens(this.#workload.withDomain)
      ? this.#domains.pick(domainNumbers.slice(1))
      : undefined
  }

  /** A target that nobody has asked for yet. */
  newUrl(): string {
    return `https://example.com/${this.#drawn++}`
  }
}

const bodyOf = ({ alias, domain, expiresIn_s, maxVisits, reuse, url }: Draft) => ({
  url,
  alias: alias === undefined ? undefined : namesOf(alias).key,
  domain: domain === undefined ? undefined : hostOf(domain),
  expiresIn: expiresIn_s === undefined ? undefined : `PT${expiresIn_s}S`,
  maxVisits,
  reuse
})

/** Whoever may reuse links has an account: the administrator's. */
const headersOf = (idempotencyKey: string | undefined, isKnown: boolean, apiKey?: string) => ({
  "content-type": "application/json",
  ...(isKnown && { "x-api-key": adminKey }),
  ...(apiKey !== undefined && { "x-api-key": apiKey }),
  ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey })
})

/** The request for a create. */
export const requestOf = (draft: Draft): VirtualRequest => ({
  method: "POST",
  path: "/api/v1/links",
  headers: headersOf(draft.idempotencyKey, draft.reuse === true, draft.apiKey),
  body: JSON.stringify(bodyOf(draft))
})

/** The request for several at once, with a key for all of them. */
export const bulkOf = (drafts: ReadonlyArray<Draft>, idempotencyKey: string | undefined): VirtualRequest => ({
  method: "POST",
  path: "/api/v1/links/bulk",
  headers: headersOf(
    idempotencyKey,
    drafts.some(({ reuse }) => reuse === true)
  ),
  body: JSON.stringify({ links: drafts.map(bodyOf) })
})
