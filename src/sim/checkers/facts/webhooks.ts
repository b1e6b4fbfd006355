import { type Webhook, type WebhookState, webhooksMax } from "../../../model/Webhook.ts"
import type { JournalEntry } from "../../Journal.ts"

/** What a webhook was at a time; `absent`: not there any more. */
export type Standing = WebhookState | "absent"

/** A webhook, and what it was from when on, in order: microseconds since the world's beginning. */
export interface Known {
  readonly webhook: Webhook
  readonly added_us: number
  readonly standings: ReadonlyArray<{ readonly is: Standing; readonly since_us: number }>
}

interface Followed extends Known {
  readonly standings: Array<{ readonly is: Standing; readonly since_us: number }>
  isVerified: boolean
  hasLapsed: boolean
  isRemoved: boolean
}

/** How many webhooks a user had that had not ended, from when on. */
export interface Fullness {
  readonly since_us: number
  readonly count: number
}

const byAge = ({ webhook: one }: Known, { webhook: other }: Known) =>
  one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1)

/** Whether a webhook was in one of some states in a time. */
export const wasIn = (
  { added_us, standings }: Known,
  from_us: number,
  until_us: number,
  ...wanted: ReadonlyArray<Standing>
): boolean =>
  (wanted.includes("absent") && from_us < added_us) ||
  standings.some(
    ({ is, since_us }, index) =>
      wanted.includes(is) &&
      since_us <= until_us &&
      (standings[index + 1]?.since_us ?? Number.POSITIVE_INFINITY) >= from_us
  )

/** What becomes of webhooks, as the journal has it, entry by entry. */
export class Webhooks {
  readonly #all = new Map<string, Followed>()
  readonly #byUrl = new Map<string, Followed>()
  readonly #revoked = new Set<string>()
  readonly #disabled = new Set<string>()
  readonly #fullness = new Map<string, Array<Fullness>>()

  /** Those that ever were. */
  get all(): ReadonlyMap<string, Known> {
    return this.#all
  }

  /** The one that a URL leads to: each has one of its own. */
  at(url: string): Known | undefined {
    return this.#byUrl.get(url)
  }

  /** What one is now; `undefined`: it never was. */
  isNow(id: string): Standing | undefined {
    return this.#all.get(id)?.standings.at(-1)?.is
  }

  /** How many a user had, from the first one on. */
  fullnessOf(user: string): ReadonlyArray<Fullness> {
    return this.#fullness.get(user) ?? []
  }

  /** A user's, that are there. */
  of(user: string): ReadonlyArray<Known> {
    return this.#of(user)
  }

  #of(user: string): ReadonlyArray<Followed> {
    return [...this.#all.values()].filter(({ isRemoved, webhook }) => webhook.owner === user && !isRemoved)
  }

  #stateOf({ hasLapsed, isRemoved, isVerified, webhook }: Followed): Standing {
    if (isRemoved) return "absent"
    const { keyId, owner } = webhook
    if (hasLapsed || this.#disabled.has(owner) || (keyId !== null && this.#revoked.has(keyId))) return "ended"
    return isVerified ? "active" : "unverified"
  }

  #update(followed: Followed, since_us: number) {
    const is = this.#stateOf(followed)
    if (followed.standings.at(-1)?.is !== is) followed.standings.push({ is, since_us })
  }

  /** Goes on with the next entry. */
  follow(entry: JournalEntry) {
    const { at_us, tag } = entry
    const followed =
      tag === "webhook removed" || tag === "webhook verified" ? this.#all.get(entry.webhook) : undefined
    if (tag === "webhook added") this.#add(entry.webhook, at_us)
    else if (tag === "webhook removed" && followed !== undefined) followed.isRemoved = true
    else if (tag === "webhook verified" && followed !== undefined) followed.isVerified ||= entry.isLatest
    else if (tag === "key revoked") this.#revoked.add(entry.apiKey)
    else if (tag === "password changed" && entry.revokesKeys) {
      for (const one of this.#of(entry.user)) one.hasLapsed = true
    } else if (tag === "user disabled") this.#disabled.add(entry.user)
    else if (tag === "user enabled") this.#disabled.delete(entry.user)
    else if (tag === "webhooks lapsed") {
      for (const one of this.#all.values()) one.hasLapsed ||= this.#stateOf(one) === "ended"
    } else return
    for (const one of this.#all.values()) this.#update(one, at_us)
    for (const owner of new Set([...this.#all.values()].map(({ webhook }) => webhook.owner))) {
      const known = this.#fullness.get(owner) ?? []
      const count = this.#of(owner).filter((one) => this.#stateOf(one) !== "ended").length
      if (known.at(-1)?.count !== count) this.#fullness.set(owner, [...known, { since_us: at_us, count }])
    }
  }

  /** Those that have ended make room for a new one, the oldest first. */
  #add(webhook: Webhook, added_us: number) {
    const own = this.#of(webhook.owner).toSorted(byAge)
    const ended = own.filter((one) => this.#stateOf(one) === "ended")
    for (const one of ended.slice(0, Math.max(0, own.length - webhooksMax + 1))) one.isRemoved = true
    const followed: Followed = {
      webhook,
      added_us,
      standings: [],
      isVerified: false,
      hasLapsed: false,
      isRemoved: false
    }
    this.#all.set(webhook.id, followed)
    this.#byUrl.set(webhook.url, followed)
  }
}
