import type { OrphanReason } from "../model/Visit.ts"
import type { LinkOrder } from "../storage/links/LinkStore.ts"
import type { LinkFate } from "../accounts/Users.ts"
import type { Choices } from "./clients/Choices.ts"
import type { Lasting } from "./clients/Lasting.ts"
import type { Refusal } from "./clients/Refusals.ts"
import type { Traits } from "./clients/Traits.ts"
import type { Visitor } from "./clients/Visitors.ts"
import type { Told } from "./deployment/VirtualNode.ts"
import type { World } from "./world/World.ts"

/** What a user asks for of webhooks: of one, by its id, or to have one with such events, which ends with the API key, if it was made with one. */
export interface WebhookWish {
  readonly act: "add" | "list" | "remove" | "verify" | "dead letters" | "retry"
  readonly id?: string
  readonly events?: ReadonlyArray<string>
  readonly keyId?: string | null
  /** Which message to queue again. */
  readonly message?: string
}

/** How statistics are asked for, and by whom: always of both days in which a run may be. */
export interface StatisticsWish {
  readonly as: "administrator" | "user" | "anybody"
  readonly interval: "hour" | "day"
  readonly bots: "include" | "exclude"
  readonly format: "json" | "csv"
  /** RFC 3339: those from the beginning of the hour or day of the first until the end of that before the second. */
  readonly from: string
  readonly to: string
  /** Of visitors whom no link of a domain has led, rather than of links: for one reason, or for all. */
  readonly orphans?: { readonly domain: number; readonly reason?: OrphanReason }
}

/** What somebody asks for at a host that is no link, or about a host, by a path with its query. */
export interface StrayWish {
  readonly host: string
  readonly url: string
  readonly isBrowser: boolean
}

/** What an administrator asks for about a domain. */
export interface DomainAct {
  readonly act: "add" | "verify" | "change" | "refused" | "remove" | "list"
  /** Of a change: where visitors are to be sent who ask for a link that is not there. */
  readonly target?: string | null
}

/** What a bulk edit does with the links of its filter: it gives them a title, and what else its choices say, adds a tag and takes one away, deletes them; or counts them alone. */
export interface EditWish {
  readonly act: "change" | "delete" | "count"
  readonly addTags?: ReadonlyArray<string>
  readonly removeTags?: ReadonlyArray<string>
}

/** What a create says of a link that existed elsewhere, by the fields of its body. Moments are RFC 3339. */
export interface ImportedWish {
  readonly createdAt?: string
  readonly updatedAt?: string
  readonly visits?: number
  readonly bots?: number
  readonly visitsLeft?: number
}

/** What a client asks for. */
export interface Wish {
  readonly client: string
  /** A `probe` asks for a link of the default domain at the host of the domain that comes and goes, a `guess` for one that never exists, a `stray` for what can be none, a `crawl` for what crawlers may read, a `trespass` for what its sender may not. */
  readonly kind:
    | "create"
    | "redirect"
    | "probe"
    | "guess"
    | "stray"
    | "show"
    | "preview"
    | "statistics"
    | "crawl"
    | "change"
    | "delete"
    | "list"
    | "edit"
    | "sign in"
    | "sign out"
    | "account"
    | "keys"
    | "key"
    | "sessions"
    | "end session"
    | "end others"
    | "password"
    | "change user"
    | "remove user"
    | "add user"
    | "users"
    | "webhook"
    | "audit"
    | "domain"
    | "domains"
    | "trespass"
  /** The text by which the link is stored: its key, in further domains with their number; for a create as soon as it is known. `alias` likewise. */
  readonly key?: string | undefined
  /** The target of a create or a change. */
  readonly url?: string | undefined
  readonly alias?: string | undefined
  /** The number of the further domain of a create. */
  readonly domain?: number | undefined
  /** Whether a create is sent with the key of the administrator, who is no user. */
  readonly isByAdmin?: boolean | undefined
  /** How long the link of a create or a change is to last; or when it is to end, in RFC 3339, and `null`: never. */
  readonly lasts?: Lasting | undefined
  readonly expiresAt?: string | null | undefined
  readonly maxVisits?: number | undefined
  /** For a create of a link that existed elsewhere: what it brings along. */
  readonly imported?: ImportedWish | undefined
  /** What else a create or a change chooses of its link. */
  readonly choices?: Choices | undefined
  /** For what can be no link: what is asked for. */
  readonly stray?: StrayWish | undefined
  /** For a request about a domain: what it asks for. */
  readonly about?: DomainAct | undefined
  /** Of a create or a change that is to be refused: for what. It has a title that no other one has. */
  readonly refusal?: Refusal | undefined
  /** For a redirect: who asks, where rules know something of them; what follows the key and a slash; and what the query string has beside that by which they are known. */
  readonly visitor?: Visitor | undefined
  readonly path?: string | undefined
  /** For a redirect: whether its headers alone are asked for, which is no visit. */
  readonly isHead?: boolean | undefined
  /** For a redirect: what is counted of who asks, where that differs. */
  readonly traits?: Traits | undefined
  readonly query?: string | undefined
  /** The address of the client, where its look-ups that lead nowhere are counted. */
  readonly from?: string | undefined
  /** For a list: which links it is asked for, in which order. For a bulk edit: of which links. */
  readonly list?: ListWish | undefined
  /** For a bulk edit: what it does. */
  readonly edit?: EditWish | undefined
  /** For statistics, of all links of a user where they are of no key. */
  readonly statistics?: StatisticsWish | undefined
  /** For a page of a list, of links or of users, or of a bulk edit: when the first one was asked for, in microseconds since the world's beginning. */
  readonly since_us?: number | undefined
  /** For a create: whether it accepts a live link of the same URL; and its `Idempotency-Key`, which its repeats share. */
  readonly reuse?: boolean | undefined
  readonly idempotencyKey?: string | undefined
  /** The API key that it is sent with, for a create by a user. */
  readonly apiKey?: string | undefined
  /** For a create: the password of its link; for a redirect: the one that is given. */
  readonly password?: string | undefined
  /** The session that it is sent with, by the digest of its token; for a sign-in, who signs in; and for that and a change of the password, whether that was right when it was sent. */
  readonly session?: string | undefined
  /** For a user who is added, and for a list of users: the address, of all users where there is none. */
  readonly email?: string | undefined
  /** For the removal of a user: what becomes of the links. */
  readonly links?: LinkFate | undefined
  /** For the end of one session: which one, by its id. */
  readonly ends?: string | undefined
  /** For a change or the end of a link by an API key: whose that is. */
  readonly user?: string | undefined
  readonly isRight?: boolean | undefined
  /** What is asked for of webhooks. */
  readonly webhook?: WebhookWish | undefined
  /** Which entries of the audit log are asked for. */
  readonly audit?: { readonly user?: string; readonly action?: string } | undefined
  /** For what its sender may not ask for: what that is, and with which status it is refused. */
  readonly asked?: string | undefined
  readonly refusedWith?: 401 | 403 | undefined
  /** Whether it is sent to one node rather than to the load balancer. */
  readonly direct?: boolean | undefined
}

/** How a redirect is answered. */
export interface Manner {
  /** As the node said it. */
  readonly status: number
  readonly vary: string | undefined
  /** Whether search engines may list it. */
  readonly isIndexed: boolean
  /** What caches may do with it. */
  readonly cacheControl: string | undefined
  /** Whether there is a page, or JSON; `undefined`: nothing. */
  readonly form: "page" | "json" | undefined
}

/** What is read of a link that is shown. */
export interface ShownLink extends Partial<Record<string, unknown>> {
  readonly url: string
  readonly shortUrl: string
  readonly custom: boolean
  readonly createdAt: string
  readonly updatedAt: string
  readonly expiresAt: string | null
  readonly visitsLeft?: number
  readonly importedVisits?: { readonly nonBots: number; readonly bots: number }
  /** A preview has the total alone. */
  readonly visits: {
    readonly total: number
    readonly nonBots?: number
    readonly bots?: number
    readonly unavailable?: true
  }
}

/** Which links a list is to have, as the parameters of the service say it; `domain` is a number. */
export interface ListWish {
  readonly archived: "false" | "true" | "any"
  readonly orderBy: LinkOrder
  readonly limit: number
  readonly tag?: string | undefined
  readonly notTag?: string | undefined
  readonly q?: string | undefined
  readonly domain?: number | undefined
  /** Whose links, for administrators. */
  readonly owner?: string | undefined
}

/** The pages of a list, in their order: the links by the texts by which they are stored, and as they are shown. */
export interface ListPages {
  readonly pages: ReadonlyArray<ReadonlyArray<{ readonly key: string; readonly shown: ShownLink }>>
  /** Whether the last page was one, and all databases answered. */
  readonly isWhole: boolean
  /** How many links the first page said that there are, if that was exact; and when it was answered, in microseconds since the world's beginning. */
  readonly total: { readonly count: number; readonly at_us: number } | undefined
}

/** What a bulk edit says of a link: by the text by which that is stored. */
export interface Edited {
  readonly key: string
  readonly status: number
  readonly isChanged: boolean
}

/** A request and its answer. Times are microseconds since the world's beginning. */
export interface Exchange extends Wish {
  readonly number: number
  key?: string | undefined
  /** Of a body that comes slowly: when all of it was there, if it was not answered before. */
  sent_us: number
  /** When it began to be sent: its node asks who sends it before it reads its body, and again afterwards. */
  begun_us: number
  answered_us: number | undefined
  /** 0 when no answer came. A redirect that led to its link's target is 302, whatever its status, and 410 one that was sent to where visitors are told that the link has ended, 404 where they are told that there is none. */
  status: number
  /** The target of a redirect. */
  location: string | undefined
  /** What the answer says of quotas, and of when to ask again. */
  told: Told | undefined
  /** For a redirect that was answered: how. */
  manner: Manner | undefined
  /** For a create, and what is asked of webhooks: the answer's body; for the last page of the audit log the entries of all pages; and whether it repeats the answer to an earlier request. */
  body: string | undefined
  isReplay: boolean
  /** For a list of API keys, sessions or users: their ids, of domains: their hosts, of the last page those of all pages; and for a user who was added theirs. */
  listed: ReadonlyArray<string> | undefined
  /** For the last page of a list that was followed, and a bulk edit that counts: what all pages had. */
  pages: ListPages | undefined
  /** For the last page of a bulk edit that was followed to its end: the results of all pages. */
  edited: ReadonlyArray<Edited> | undefined
  /** The process that answered; and the one that was asked, if it was asked itself. */
  answeredBy: string | undefined
  sentTo: string | undefined
  /** How often it was sent to a node. */
  tries: number
}

/** What the clients saw, in the order of their requests. */
export class History {
  readonly exchanges: Array<Exchange> = []
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  /** Notes a request that is sent now. */
  begin(asked: Wish): Exchange {
    // Each field by name: a spread of wishes gives objects of many shapes, and V8 is slow to write those.
    const exchange: Exchange = {
      client: asked.client,
      kind: asked.kind,
      key: asked.key,
      url: asked.url,
      alias: asked.alias,
      domain: asked.domain,
      isByAdmin: asked.isByAdmin,
      lasts: asked.lasts,
      expiresAt: asked.expiresAt,
      maxVisits: asked.maxVisits,
      imported: asked.imported,
      choices: asked.choices,
      stray: asked.stray,
      about: asked.about,
      refusal: asked.refusal,
      visitor: asked.visitor,
      path: asked.path,
      isHead: asked.isHead,
      traits: asked.traits,
      query: asked.query,
      from: asked.from,
      list: asked.list,
      edit: asked.edit,
      statistics: asked.statistics,
      since_us: asked.since_us,
      reuse: asked.reuse,
      idempotencyKey: asked.idempotencyKey,
      apiKey: asked.apiKey,
      password: asked.password,
      session: asked.session,
      email: asked.email,
      links: asked.links,
      ends: asked.ends,
      user: asked.user,
      isRight: asked.isRight,
      webhook: asked.webhook,
      audit: asked.audit,
      asked: asked.asked,
      refusedWith: asked.refusedWith,
      direct: asked.direct,
      number: this.exchanges.length,
      sent_us: this.#world.now_us,
      begun_us: this.#world.now_us,
      answered_us: undefined,
      status: 0,
      location: undefined,
      told: undefined,
      manner: undefined,
      body: undefined,
      isReplay: false,
      listed: undefined,
      pages: undefined,
      edited: undefined,
      answeredBy: undefined,
      sentTo: undefined,
      tries: 0
    }
    this.exchanges.push(exchange)
    this.#world.tell(asked.client, `asks ${asked.kind}`, asked.key ?? asked.alias ?? asked.url ?? "")
    return exchange
  }
}
