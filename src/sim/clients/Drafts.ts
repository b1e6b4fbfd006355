import { formatMoment } from "../../model/Iso8601.ts"
import { defaultDomain, plainKeyOf, qualifiedKey } from "../../keys/QualifiedKey.ts"
import { domainNumbers, hostOf, mayCreateIn, namesOf } from "../deployment/FurtherDomains.ts"
import { adminKey } from "../deployment/StubServices.ts"
import type { Conditions } from "../../model/Rules.ts"
import { blockedFrom_us, blockedUrls, endedUrls } from "../deployment/Visitors.ts"
import { type Choices, clearedOf } from "./Choices.ts"
import { durationOf, endOf, type Lasting } from "./Lasting.ts"
import { type Refusal, refusals, refusalsOfDomains, refusedChanges } from "./Refusals.ts"
import { hour_ms } from "../../model/Visit.ts"
import { allVisitors, signsOf, visitors, whenOf } from "./Visitors.ts"
import type { ImportedWish, Wish } from "../History.ts"
import type { Users } from "../deployment/Users.ts"
import type { WorkloadOptions } from "../cli/Options.ts"
import type { VirtualRequest } from "../deployment/VirtualNode.ts"
import { someTraits } from "./Traits.ts"
import type { Chance } from "../world/Chance.ts"
import { s_us } from "../world/Time.ts"
import type { World } from "../world/World.ts"

/** Aliases that clients want: few, so that they want the same ones. */
export const aliases: ReadonlyArray<string> = Array.from({ length: 40 }, (_, index) => `alias-${index}`)

/** URLs of links that are to be reused: few, so that several want the same ones at once. */
const reusedUrls: ReadonlyArray<string> = Array.from(
  { length: 6 },
  (_, index) => `https://example.com/reused/${index}`
)

/** Whether several links have a target, each with a title of its own. */
export const isShared = (url: string): boolean => reusedUrls.includes(url)

/** How likely a link in a further domain has the target of such a one, in which it is not given to who reuses links, where some are. */
const sharedShare = 0.3

/** How likely a link that is to be reused is to have an alias if it is made, where links have aliases: mostly one that another link has. */
const reusedAliasShare = 0.4

/** How likely a create has the `Idempotency-Key` of somebody else's; and what follows a key where it is said whose it is, which nobody is sent. */
const anothersKeyShare = 0.5
const ownedBy = " of "

/** How often a redirect is asked for at a wrong domain, as a share of the creates in further ones. */
const elsewhereShare = 0.1

/** How likely a create that would be in a domain of others alone stays so, and is refused. */
const othersShare = 0.1

/** The passwords of links that have one; and one that none has. */
export const linkPasswords = ["open sesame", "open barley"] as const
export const noPassword = "no password"

/** A tag of all links that are given tags, beside one of their own. */
export const commonTag = "tag"

/** Visits that a link of few visits has at most. */
const visitsMax = 8

/** How likely a rule or a variant leads to where none may lead later. */
const blockedShare = 0.4

/** How likely a visitor is one of whom rules know something, and a path follows the key in a request; and the paths. */
const knownShare = 0.5
const pathShare = 0.1
const paths: ReadonlyArray<string> = ["more", "more/of-it"]

/** What follows keys as well where much is chosen of links, and what query strings have. */
const oddPaths: ReadonlyArray<string> = ["more//of-it/", "more/", "../more", "more/%2E%2e/of-it", "more/..."]
const queries: ReadonlyArray<string> = ["a=1", "b=visitor", "b=visitor&c", "from=elsewhere", "b=1&b=2&d=3"]
const oddPathShare = 0.3
const queryShare = 0.4

/** What targets end with there. */
const endings: ReadonlyArray<string> = ["", "", "?b=target", "?b=target&a", "#part", "?b=target#part"]

/** Statuses of redirects. */
const statuses = [301, 302, 307, 308] as const

/** How long before and after it is chosen a link is valid from at most, and a rule holds from or until. */
const validWithin_ms = { before: 2_000, after: 8_000 }
const ruleWithin_ms = { before: 5_000, after: 20_000 }

/** Of so many aliases there are longer ones, which are as if such a path followed them. */
const familiesMax = 4

/** In how many of the kinds of changes a limit of visits is changed, if all links have one, beside as many others. */
const limitKinds = 8

/** How likely a change of a choice clears it, and how likely it is of the target as well. */
const clearedShare = 0.3
const withTargetShare = 0.2

/** A multiple of how many kinds of choices there are of both sorts, so that each is as likely to be the one that clients prefer. */
const favouritesMax = 77

/** How likely a link that ends by itself has a target for that, where links choose anything. */
const endedShare = 0.4

/** After how long a link expires at most, but for some that nobody waits for. */
const expiryMax_s = 20
const lateShare = 0.25
const lateExpiry_s = 3_600

/** How long others of those last, by the calendar, and how likely that is. */
const byCalendarShare = 0.5
const byCalendar: ReadonlyArray<Lasting> = [
  { months: 1, days: 0, seconds: 0 },
  { months: 3, days: 0, seconds: 0 },
  { months: 12, days: 0, seconds: 0 },
  { months: 13, days: 2, seconds: 5 },
  { months: 0, days: 31, seconds: 0 }
]

/** How likely a link's statistics are for everybody, where any are asked for. */
const publicShare = 0.2

/** How long before the run links that existed elsewhere were made there: few moments, so that one of an alias is often imported again with the same. */
const importedBefore_ms = [hour_ms, 24 * hour_ms, 400 * 24 * hour_ms] as const

/** How likely one of those brings along when it was made, when it was changed, visits, and how many were left; and that it has ended. */
const importedShare = 0.7
const overShare = 0.1

/** Visits that one of those had at most. */
const importedVisitsMax = 1_000

/** How likely it is said at which moment a link is to end, rather than after how long; so much later that it lies in the future by clocks that are ahead; and how likely a change takes the end away. */
const atMomentShare = 0.3
const sureFuture_ms = 5_000
const endlessShare = 0.3

/** How likely such a change is of when the link begins, in its stead: so late that an end that somebody chooses would mostly come before; and when that is. */
const farShare = 0.3
const far_ms = { least: 40_000, soon: 25_000, most: 60_000 }

/** By how many minutes the time zones of rules are ahead of UTC, all year long. */
export const aheadBy_min = {
  UTC: 0,
  "Asia/Tokyo": 9 * 60,
  "Asia/Kolkata": 5.5 * 60,
  "America/Phoenix": -7 * 60
} as const
/** See {@link aheadBy_min}. */
export type TimeZone = keyof typeof aheadBy_min

/** Hours that come and go while runs go on, which begin shortly before midnight of UTC. */
const hours: ReadonlyArray<NonNullable<Conditions["hours"]> & { readonly timeZone: TimeZone }> = [
  { timeZone: "UTC", from: "22:00", until: "00:00" },
  { timeZone: "Asia/Tokyo", from: "09:00", until: "17:30" },
  { timeZone: "America/Phoenix", days: [1, 3, 5, 7], until: "17:00" },
  { timeZone: "UTC", days: [2, 4, 6] },
  { timeZone: "Asia/Kolkata", from: "05:29", until: "05:30" },
  // Nights that belong to the day on which they begin.
  ...[[1, 2, 3, 4] as const, [5, 6, 7] as const, [7] as const, [6] as const, [2, 3] as const].map((days) => ({
    timeZone: "UTC" as const,
    from: "23:59",
    until: "00:01",
    days
  }))
]

/** A create that a client is about to ask for, once or several times. */
export interface Draft extends Omit<Wish, "client" | "kind" | "key" | "direct"> {
  readonly password?: string | undefined
  /** The cookies of the browser that asks, if it is one. */
  readonly cookie?: string | undefined
}

/** What a browser sends along with what a page of the service asks for. */
export const ofBrowser = (cookie: string): Readonly<Record<string, string>> => ({
  cookie,
  "sec-fetch-site": "same-origin"
})

/** What clients think of to create. */
export class Drafts {
  readonly #workload: WorkloadOptions
  readonly #chance: Chance
  readonly #domains: Chance
  readonly #durations: Chance
  readonly #choices: Chance
  readonly #imports: Chance
  readonly #alikes: Chance
  readonly #ends: Chance
  readonly #longAliases: Chance
  readonly #publicStatistics: Chance
  readonly #reusedAliases: Chance
  readonly #passwords: Chance
  readonly #shared: Chance
  readonly #traits: Chance
  readonly #endings: Chance
  readonly #refusals: Chance
  readonly #refused: ReadonlyArray<Refusal>
  readonly #users: Users
  readonly #world: World
  /** Which of the kinds of choices clients of some runs mostly choose, and how likely that is: so that a choice is replaced by another one of its kind. */
  readonly #favourite: { readonly kind: number; readonly share: number }
  readonly #beginning_ms: number
  #drawn = 0
  /** The `Idempotency-Key` that was thought of last, and whose it is. */
  #lastKey: { readonly name: string; readonly owners: ReadonlyArray<string> } | undefined

  constructor(world: World, workload: WorkloadOptions, users: Users) {
    this.#workload = workload
    this.#users = users
    this.#world = world
    this.#chance = world.chance("drafts")
    this.#domains = world.chance("domains")
    this.#durations = world.chance("durations")
    this.#choices = world.chance("choices")
    this.#imports = world.chance("imports")
    this.#alikes = world.chance("alike items")
    this.#ends = world.chance("ends of links")
    this.#beginning_ms = world.now_ms
    this.#refusals = world.chance("refusals")
    this.#refused = workload.withDomain > 0 ? [...refusals, ...refusalsOfDomains] : refusals
    this.#endings = world.chance("endings of targets")
    this.#longAliases = world.chance("long aliases")
    this.#publicStatistics = world.chance("public statistics")
    this.#reusedAliases = world.chance("aliases of reused links")
    this.#passwords = world.chance("passwords of links")
    this.#shared = world.chance("shared targets")
    this.#traits = world.chance("traits of visitors")
    const favourites = world.chance("favourite choices")
    this.#favourite = { kind: favourites.below(favouritesMax), share: favourites.pick([0, 0, 0.8]) }
  }

  next(): Draft {
    const chance = this.#chance
    if (this.#refusals.happens(this.#workload.refused)) {
      const choices = { title: this.#newTitle() }
      return { url: this.newUrl(), choices, refusal: this.#refusals.pick(this.#refused) }
    }
    const { reused, withAccount, withAlias, withExpiry, withKey, withMaxVisits } = this.#workload
    const some = this.#domain()
    const apiKey = chance.happens(withAccount) ? this.#users.apiKey(chance) : undefined
    const domain = this.#perhapsOwn(some, apiKey)
    const isKeyed = chance.happens(withKey)
    const reuse = chance.happens(reused)
    const idempotencyKey = isKeyed ? this.#idempotencyKey(apiKey, reuse) : undefined
    if (reuse) {
      // Each user has links of their own of a URL.
      const url = chance.pick(reusedUrls)
      return { url, apiKey, reuse, idempotencyKey, alias: this.#reusedAlias() }
    }
    const expires = chance.happens(withExpiry)
    const maxVisits = chance.happens(withMaxVisits) ? chance.between(1, visitsMax) : undefined
    const drawn = this.#chosen(expires || maxVisits !== undefined)
    const mayShare = domain !== undefined && reused > 0 && !isKeyed
    const shared = mayShare && this.#shared.happens(sharedShare)
    const choices = shared ? { title: this.#newTitle(), ...drawn } : drawn
    const lasts_s = typeof choices?.validSince !== "string" ? 0 : Math.ceil(validWithin_ms.after / 1_000)
    const imported = apiKey === undefined ? undefined : this.#imported(maxVisits)
    const mayBeOver = imported !== undefined && !expires && typeof choices?.validSince !== "string"
    const isOver = mayBeOver && this.#imports.happens(overShare)
    const end = expires ? this.#end(lasts_s) : isOver ? { expiresAt: this.#before() } : undefined
    return {
      url: shared ? this.#shared.pick(reusedUrls) : this.newUrl(),
      apiKey,
      idempotencyKey,
      domain,
      imported,
      alias: chance.happens(withAlias) ? this.inDomain(this.#alias(chance.pick(aliases)), domain) : undefined,
      ...end,
      maxVisits,
      password: this.#passwords.happens(this.#workload.withPassword)
        ? this.#passwords.pick(linkPasswords)
        : undefined,
      choices
    }
  }

  /** Another create, which says what a first one said beside its URL, but for its tags perhaps. */
  alike(first: Draft, url: string): Draft {
    const chance = this.#alikes
    const { withChoices } = this.#workload
    const same = { ...first, alias: undefined, refusal: undefined, url }
    if (withChoices === 0 || chance.happens(0.3)) return same
    const tags = chance.pick<ReadonlyArray<string>>([[], ["one"], ["one", "two"], ["two"]])
    return { ...same, choices: { title: "one of many", ...first.choices, tags } }
  }

  /** An `Idempotency-Key`, with whose it is: perhaps that of somebody else before, whom it does not matter to. */
  #idempotencyKey(apiKey: string | undefined, isByAdmin: boolean): string {
    const owner =
      apiKey !== undefined ? this.#users.ownerOf(apiKey) : isByAdmin ? "the administrator" : "nobody"
    const last = this.#lastKey
    const isAnothers =
      last !== undefined && !last.owners.includes(owner) && this.#alikes.happens(anothersKeyShare)
    const name = isAnothers ? last.name : `try-${this.#drawn++}`
    this.#lastKey = { name, owners: isAnothers ? [...last.owners, owner] : [owner] }
    return `${name}${ownedBy}${owner}`
  }

  /** When a link is to end, so many seconds later than it would by itself: at a moment in some runs, or some time after now. */
  #end(more_s: number): Pick<Draft, "expiresAt" | "lasts"> {
    const lasts = this.#lasting(more_s)
    const { extended } = this.#workload
    if (extended === 0 || !this.#ends.happens(atMomentShare)) return { lasts }
    return { expiresAt: formatMoment(endOf(Math.floor(this.#world.now_ms) + sureFuture_ms, lasts)) }
  }

  /** How long a link is to last: so many seconds longer than it would by itself. */
  #lasting(more_s: number): Lasting {
    const isLate = this.#chance.happens(lateShare)
    const seconds = more_s + (isLate ? lateExpiry_s : this.#chance.between(2, expiryMax_s))
    if (isLate && this.#durations.happens(byCalendarShare)) return this.#durations.pick(byCalendar)
    return { months: 0, days: 0, seconds }
  }

  /** What a link brings along from elsewhere, if it existed there. */
  #imported(maxVisits: number | undefined): ImportedWish | undefined {
    const chance = this.#imports
    if (!chance.happens(this.#workload.imported)) return undefined
    const isMade = chance.happens(importedShare)
    const visits = chance.happens(importedShare) ? chance.below(importedVisitsMax) : undefined
    return {
      ...(isMade && { createdAt: this.#before() }),
      ...(isMade &&
        chance.happens(importedShare) && { updatedAt: formatMoment(this.#beginning_ms - hour_ms) }),
      ...(visits !== undefined && { visits }),
      ...(visits !== undefined && chance.happens(importedShare) && { bots: chance.between(0, visits) }),
      ...(maxVisits !== undefined &&
        chance.happens(importedShare) && { visitsLeft: chance.between(0, maxVisits) })
    }
  }

  /** A moment before the run. */
  #before(): string {
    return formatMoment(this.#beginning_ms - this.#imports.pick(importedBefore_ms))
  }

  /** The alias of a link that is to be reused, if it is to have one. */
  #reusedAlias(): string | undefined {
    const chance = this.#reusedAliases
    return this.#workload.withAlias > 0 && chance.happens(reusedAliasShare) ? chance.pick(aliases) : undefined
  }

  /** An alias, or a longer one in its stead; or one of those to which there are longer ones. */
  #alias(alias: string): string {
    const chance = this.#longAliases
    const { withLongAlias } = this.#workload
    if (!chance.happens(withLongAlias)) return alias
    const first = aliases[chance.below(familiesMax)]!
    return chance.happens(0.7) ? `${first}/${chance.pick(paths)}` : first
  }

  /** What else a create chooses, if anything. Where the link `ends` by itself, it may have a target for that. */
  #chosen(ends: boolean): Choices | undefined {
    const chance = this.#choices
    const { withChoices } = this.#workload
    const isSent = ends && withChoices > 0 && chance.happens(endedShare)
    const chosen = chance.happens(withChoices) ? this.#anything() : undefined
    // Where anybody asks for statistics, some links have public ones.
    const isPublic =
      withChoices > 0 && this.#workload.statistics > 0 && this.#publicStatistics.happens(publicShare)
    if (chosen === undefined && !isSent && !isPublic) return undefined
    return {
      title: this.#newTitle(),
      ...chosen,
      ...(isSent && this.#forTheEnded()),
      ...(isPublic && { publicStats: true })
    }
  }

  readonly #forTheEnded = (): Choices => ({ expiredUrl: `${endedUrls}${this.#drawn++}` })

  #anything(): Choices {
    const chance = this.#choices
    const { kind, share } = this.#favourite
    const kinds = chance.happens(this.#workload.varied) ? this.#variedKinds : this.#kinds
    return (chance.happens(share) ? kinds[kind % kinds.length]! : chance.pick(kinds))()
  }

  /** Each choice by itself, with something chosen. */
  readonly #kinds: ReadonlyArray<() => Choices> = [
    () => ({ forwardPath: true }),
    () => ({ archived: true }),
    () => ({ publicStats: true }),
    () => ({ note: `note ${this.#drawn++}`, tags: [`tag ${this.#drawn++}`, commonTag] }),
    () => ({ rules: this.#rules() }),
    () => ({ variants: this.#variants() }),
    () => ({ forwardPath: true, rules: this.#rules(), variants: this.#variants() })
  ]

  /** What else links can be chosen to answer, and how rules can tell visitors apart. */
  readonly #variedKinds: ReadonlyArray<() => Choices> = [
    () => ({ validSince: this.#momentWithin(validWithin_ms) }),
    this.#forTheEnded,
    () => ({ redirectStatus: this.#choices.pick(statuses), crawlable: this.#choices.happens(0.5) }),
    () => ({ forwardQuery: true }),
    () => ({
      forwardQuery: true,
      forwardPath: true,
      queryPrecedence: this.#choices.pick(["append", "request", "target"] as const)
    }),
    () => ({ card: this.#card() }),
    () => ({ publicStats: true as const }),
    () => ({ rules: this.#variedRules() }),
    () => ({ rules: this.#variedRules() }),
    () => ({ rules: this.#variedRules(), variants: this.#variants(), forwardPath: true, forwardQuery: true }),
    () => ({
      card: this.#card(),
      rules: this.#variedRules(),
      redirectStatus: this.#choices.pick(statuses),
      ...this.#forTheEnded()
    })
  ]

  #momentWithin({ after, before }: { readonly before: number; readonly after: number }): string {
    return formatMoment(Math.floor(this.#world.now_ms) + this.#choices.between(0, before + after) - before)
  }

  #card(): NonNullable<Choices["card"]> {
    const number = this.#drawn++
    return {
      title: `card ${number} <&>`,
      ...(number % 2 === 0 && { description: `description ${number}` }),
      ...(number % 3 === 0 && { image: `https://images.example.com/${number}` })
    }
  }

  #variedRules(): NonNullable<Choices["rules"]> {
    const chance = this.#choices
    return Array.from({ length: chance.between(1, 3) }, () => ({
      url: this.#routedUrl(),
      when: chance.happens(0.3) ? this.#conditions() : this.#condition()
    }))
  }

  /** Two of them; none that never holds is accepted. */
  #conditions(): Conditions {
    const { from, ...others } = { ...this.#condition(), ...this.#condition() }
    const isFirst = from !== undefined && (others.until === undefined || from < others.until)
    return isFirst ? { ...others, from } : others
  }

  #condition(): Conditions {
    const chance = this.#choices
    return chance.pick<() => Conditions>([
      () => ({ devices: chance.pick([["bot"], ["mobile", "tablet"], ["desktop"]] as const) }),
      () => ({ os: chance.pick([["iOS"], ["Windows", "Android"]] as const) }),
      () => ({ languages: chance.pick([["de"], ["de-AT"], ["en", "FR"]]) }),
      () => ({ countries: chance.pick([["AT", "CH"], ["DE"]]) }),
      () => ({
        query: chance.pick([
          [{ name: "from" }],
          [{ name: "from", value: "letter" }, { name: "b" }],
          [{ name: "b", value: "visitor" }]
        ])
      }),
      () => ({ from: this.#momentWithin(ruleWithin_ms) }),
      () => ({ until: this.#momentWithin(ruleWithin_ms) }),
      () => ({ hours: chance.pick(hours) }),
      () => ({ hours: chance.pick(hours) }),
      () => ({ networks: [chance.pick(["203.0.113.0/25", "203.0.113.130", "2001:db8::/32"])] })
    ])()
  }

  #rules(): NonNullable<Choices["rules"]> {
    const first = this.#choices.below(visitors.length)
    return Array.from({ length: this.#choices.between(1, 2) }, (_, index) => ({
      url: this.#routedUrl(),
      when: whenOf(visitors[(first + index) % visitors.length]!)
    }))
  }

  #variants(): NonNullable<Choices["variants"]> {
    return Array.from({ length: this.#choices.between(2, 3) }, () => ({
      url: this.#routedUrl(),
      weight: this.#choices.between(1, 3)
    }))
  }

  /** Perhaps what a change is refused for. */
  refusedChange(): Pick<Draft, "choices" | "refusal"> | undefined {
    const chance = this.#refusals
    if (!chance.happens(this.#workload.refused)) return undefined
    return { choices: { title: this.#newTitle() }, refusal: chance.pick(refusedChanges) }
  }

  /** What a change is of: of the target alone, or of some choice; and perhaps of the end as well. */
  change(): Pick<Draft, "choices" | "expiresAt" | "lasts" | "url"> {
    const chance = this.#choices
    const isOfEnd = this.#ends.happens(this.#workload.extended)
    if (isOfEnd && this.#ends.happens(farShare)) {
      const since_ms = this.#world.now_ms + this.#ends.between(far_ms.least, far_ms.most)
      return { choices: { title: this.#newTitle(), validSince: formatMoment(Math.floor(since_ms)) } }
    }
    const end = isOfEnd ? this.#newEnd() : undefined
    if (!chance.happens(this.#workload.edited)) return { url: this.newUrl(), ...end }
    const url = chance.happens(withTargetShare) ? this.newUrl() : undefined
    return { url, ...end, choices: { title: this.#newTitle(), ...this.#edit() } }
  }

  /** What is wrong of a link that begins so late: an end before that. */
  tooEarlyEnd({ validSince }: Choices): Pick<Draft, "choices" | "lasts"> | undefined {
    if (typeof validSince !== "string" || Date.parse(validSince) < this.#world.now_ms + far_ms.soon)
      return undefined
    const lasts = { months: 0, days: 0, seconds: this.#ends.between(2, expiryMax_s) }
    return { choices: { title: this.#newTitle() }, lasts }
  }

  #newEnd(): Pick<Draft, "expiresAt" | "lasts"> {
    return this.#ends.happens(endlessShare) ? { expiresAt: null } : this.#end(0)
  }

  /** Archives a link, or takes it out of the archive. */
  archiving(): Pick<Draft, "choices"> {
    const archived = this.#choices.happens(0.5)
    return { choices: { title: this.#newTitle(), archived: archived ? true : null } }
  }

  #edit(): Choices {
    const chance = this.#choices
    const limit = (): Choices => ({ maxVisits: chance.between(1, visitsMax) })
    const password = (): Choices => ({ password: this.#passwords.pick(linkPasswords) })
    const anything = () => this.#anything()
    const kinds = [
      ...this.#kinds.map(() => anything),
      () => ({}),
      ...Array.from({ length: Math.ceil(limitKinds * this.#workload.withMaxVisits) }, () => limit),
      ...(this.#workload.withPassword > 0 ? [password, password] : [])
    ]
    const chosen = chance.pick(kinds)()
    if (!chance.happens(clearedShare)) return chosen
    return Object.fromEntries(Object.keys(chosen).map((name) => [name, clearedOf(name)]))
  }

  /** Who follows a link, and what they ask for behind its key. */
  visit(): Pick<Wish, "from" | "path" | "query" | "traits" | "visitor"> {
    const { edited, statistics, varied, withAccount, withChoices, withLongAlias } = this.#workload
    // By the proxy look-ups are counted, where there are users.
    const traits = statistics > 0 && varied === 0 ? someTraits(this.#traits, withAccount === 0) : undefined
    if (edited + withChoices + withLongAlias === 0) return { traits }
    const chance = this.#choices
    if (varied > 0) {
      const visitor = chance.happens(knownShare) ? chance.pick(allVisitors) : undefined
      const path = chance.pick(chance.happens(oddPathShare) ? oddPaths : paths)
      return {
        visitor,
        from: signsOf(visitor).from,
        path: chance.happens(pathShare) ? path : undefined,
        query: chance.happens(queryShare) ? chance.pick(queries) : undefined
      }
    }
    return {
      traits,
      visitor: chance.happens(knownShare) ? chance.pick(visitors) : undefined,
      path: chance.happens(pathShare) ? chance.pick(paths) : undefined
    }
  }

  /** An alias somebody may want: in a further domain perhaps. */
  wished(alias: string): string {
    return this.inDomain(this.#alias(alias), this.#domain())
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

  /** A domain in which the sender may create links, mostly. */
  #perhapsOwn(domain: number | undefined, apiKey: string | undefined): number | undefined {
    if (domain === undefined) return undefined
    const user = apiKey === undefined ? undefined : this.#users.ownerOf(apiKey)
    return mayCreateIn(domain, user) || this.#domains.happens(othersShare) ? domain : defaultDomain + 1
  }

  /** A title that no other create or change gives. */
  #newTitle(): string {
    return `title ${this.#drawn++}`
  }

  /** A target of a rule or a variant: in some runs perhaps one that is blocked later, when nobody asks for such a one any more. */
  #routedUrl(): string {
    const url = this.newUrl()
    const isLate = this.#world.now_us > blockedFrom_us - 6 * s_us
    return this.#workload.refused === 0 || isLate || !this.#choices.happens(blockedShare)
      ? url
      : url.replace("https://example.com/", blockedUrls)
  }

  /** A target that nobody has asked for yet. */
  newUrl(): string {
    const ending = this.#workload.varied > 0 ? this.#endings.pick(endings) : ""
    return `https://example.com/${this.#drawn++}${ending}`
  }
}

const bodyOf = ({
  alias,
  choices,
  domain,
  expiresAt,
  imported,
  lasts,
  maxVisits,
  password,
  refusal,
  reuse,
  url
}: Draft) => ({
  url,
  ...choices,
  alias: alias === undefined ? undefined : namesOf(alias).key,
  domain: domain === undefined ? undefined : hostOf(domain),
  expiresIn: lasts === undefined ? undefined : durationOf(lasts),
  expiresAt,
  imported,
  ...(maxVisits !== undefined && { maxVisits }),
  password,
  reuse,
  ...refusal?.body
})

/** Whoever may reuse links has an account: the administrator's. */
const headersOf = (idempotencyKey: string | undefined, isKnown: boolean, apiKey?: string) => ({
  "content-type": "application/json",
  ...(isKnown && { "x-api-key": adminKey }),
  ...(apiKey !== undefined && { "x-api-key": apiKey }),
  ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey.split(ownedBy)[0]! })
})

/** The request for a create. */
export const requestOf = (draft: Draft): VirtualRequest => ({
  method: "POST",
  path: "/api/v1/links",
  headers: {
    ...headersOf(draft.idempotencyKey, draft.reuse === true, draft.apiKey),
    ...(draft.cookie !== undefined && ofBrowser(draft.cookie))
  },
  body: JSON.stringify(bodyOf(draft))
})

/** The request for several at once, with a key for all of them. */
export const bulkOf = (drafts: ReadonlyArray<Draft>, idempotencyKey: string | undefined): VirtualRequest => ({
  method: "POST",
  path: "/api/v1/links/bulk",
  headers: headersOf(
    idempotencyKey,
    drafts.some(({ reuse }) => reuse === true),
    drafts[0]!.apiKey
  ),
  body: JSON.stringify({ links: drafts.map(bodyOf) })
})
