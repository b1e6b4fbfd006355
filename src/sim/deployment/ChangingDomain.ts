import { Effect } from "effect"
import { DomainProofs } from "../../http/domains/DomainProofs.ts"
import type { DomainStore } from "../../storage/domains/DomainStore.ts"
import type { StorageError } from "../../storage/StorageError.ts"
import type { Journal, JournalEntry } from "../Journal.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us, s_us } from "../world/Time.ts"
import type { World } from "../world/World.ts"
import * as FurtherDomains from "./FurtherDomains.ts"

/** How long the domain is served, and not served, on average. */
const lasts_us = 6 * s_us

/** How long before a change `ChangingDomain.whenChanged` is called. */
export const announced_us = 300 * ms_us

/** How long a node looks for a proof. */
const looksFor = "30 millis"

/** More domains than there ever are at a time. */
const domainsMax = 10

/** A change of whether the domain is served, which holds in the database from then on: microseconds since the world's beginning. */
export interface DomainChange {
  readonly at_us: number
  readonly isServed: boolean
}

/** A domain that is added, verified and removed, and added again under another number. It has no links: while it is not served, its host is one that nodes do not know. */
export class ChangingDomain {
  readonly changes: Array<DomainChange> = []
  /** Called {@link announced_us} before each change. */
  whenChanged: () => void = () => {}
  readonly #world: World
  readonly #store: typeof DomainStore.Service
  readonly #chance: Chance
  readonly #journal: Pick<Journal, "add">
  #shown: { readonly token: string; readonly as: "txt" | "file" } | undefined
  #number: number | undefined

  constructor(world: World, store: typeof DomainStore.Service, journal: Pick<Journal, "add">) {
    this.#journal = journal
    this.#world = world
    this.#store = store
    this.#chance = world.chance("changing domain")
  }

  /** Changes it until `until_us`. Only from within the world. */
  start(until_us: number) {
    const wait_us = announced_us + this.#chance.waiting(lasts_us)
    const isServed = this.changes.at(-1)?.isServed === true
    // For some time it is there, and not verified.
    if (!isServed) this.#world.after(this.#chance.below(wait_us), null, () => this.#add())
    if (this.#world.now_us + wait_us > until_us) return
    this.#world.after(wait_us - announced_us, null, () => this.whenChanged())
    this.#world.after(wait_us, null, () => {
      if (isServed) this.#done(this.#store.remove(this.#number!))
      else this.#done(this.#store.verify(this.#number!, "", this.#world.now_ms))
      this.changes.push({ at_us: this.#world.now_us, isServed: !isServed })
      this.#world.tell("domains", isServed ? "removed" : "verified", FurtherDomains.changingHost)
      this.start(until_us)
    })
  }

  /** The token that its host shows as a proof, if it does. */
  get shownToken(): string | undefined {
    return this.#shown?.token
  }

  /** Has its host show a token as a proof from now on. */
  show(token: string, as: "txt" | "file") {
    this.#shown = { token, as }
    this.#journal.add({ tag: "proof shown", by: "administrator", token })
  }

  /** What nodes see of that, after a while. */
  get proofs(): typeof DomainProofs.Service {
    const host = FurtherDomains.changingHost
    const shownAs = (as: "txt" | "file", isAsked: boolean) =>
      Effect.delay(
        Effect.sync(() => (isAsked && this.#shown?.as === as ? this.#shown.token : undefined)),
        looksFor
      )
    return DomainProofs.of({
      txt: (name) =>
        Effect.map(shownAs("txt", name === `_linkmint.${host}`), (token) =>
          token === undefined ? ["v=spf1 -all"] : ["v=spf1 -all", `linkmint-domain=${token}`]
        ),
      file: (asked, path) =>
        Effect.map(shownAs("file", asked === host && path === "/.well-known/linkmint-domain"), (token) =>
          token === undefined ? null : `${token}\n`
        )
    })
  }

  #add() {
    const added = this.#done(this.#store.add(FurtherDomains.newAt(FurtherDomains.changingHost), domainsMax))
    if (typeof added === "string") throw new Error(`The domain could not be added: ${added}`)
    this.#number = added.number
  }

  /** Has the database do something at once. */
  #done<A>(self: Effect.Effect<A, StorageError>): A {
    return Effect.runSync(Effect.orDie(self))
  }
}

/** When the domain was served, and no more, where an administrator changes it over HTTP. */
export const changesIn = (journal: ReadonlyArray<JournalEntry>): ReadonlyArray<DomainChange> => {
  const changes: Array<DomainChange> = []
  let served: number | undefined
  for (const entry of journal) {
    const { at_us } = entry
    if (entry.tag === "domain written" && entry.domain.host === FurtherDomains.changingHost) {
      const { number, verifiedAt } = entry.domain
      if (verifiedAt === null || served !== undefined) continue
      served = number
      changes.push({ at_us, isServed: true })
    }
    if (entry.tag === "domain removed" && entry.number === served) {
      served = undefined
      changes.push({ at_us, isServed: false })
    }
  }
  return changes
}
