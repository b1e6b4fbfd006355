import type { SimOptions } from "../../cli/Options.ts"
import type { Checker, Violation } from "../../Evidence.ts"
import { plainKeyOf } from "../../../keys/QualifiedKey.ts"
import type { JournalEntry } from "../../Journal.ts"
import { s_us } from "../../world/Time.ts"

/** Where a key is on its way. One that is gone was in a pool that forgot it: it comes again if its push or its return does. */
type Place = "minted" | "stocked" | "preloaded" | "recorded" | "pooled" | "leased" | "gone"

type Entry<Tag extends JournalEntry["tag"]> = Extract<JournalEntry, { readonly tag: Tag }>

/** An owner that finishes a record leaves out what is bound, as it read within this time before it pushes, unless it was paused in between. */
const readBefore_us = 6 * s_us

/** How long after it was taken from a buffer a key is bound at the latest, but for requests that are very slow. */
const takenFor_us = 10 * s_us

/** Follows every key from its minting to its binding. */
class Ways {
  readonly violations: Array<Violation> = []
  readonly #places = new Map<string, Place>()
  /** The shard that each key was pushed to, which may have a record of it. */
  readonly #shards = new Map<string, number>()
  /** The batch that each key was pushed with last. */
  readonly #batches = new Map<string, string>()
  /** Those that were put back, as those of refused creates: they come behind all others in the buffer. */
  readonly #putBack = new Set<string>()
  /** When its batch was settled. */
  readonly #settled = new Map<string, number>()
  /** The shard that each key was returned to since: a node returns its keys to the shard that it leased from last. */
  readonly #returnedTo = new Map<string, number>()
  readonly #bound = new Map<string, number>()
  /** Keys whose links were changed: a create that comes twice finds another row than its own. */
  readonly #changed = new Set<string>()
  /** Keys that their pool forgot to have handed out: two nodes may have them. */
  readonly #twice = new Set<string>()
  /** Keys of the last kind that have been freed since: one node may bind what it was handed out while the stock has it, too. */
  readonly #strays = new Set<string>()
  /**
   * Keys whose last move the database has forgotten: whoever did not hear of it may make it once more. Who made it may have gone on meanwhile: then the
   * key is in two places, until the recovery gives one of them up.
   */
  readonly #again = new Set<string>()
  /** Where keys are beside the stock: the database has forgotten that they were free, and they were freed once more. A recovery empties the stock. */
  readonly #beside = new Map<string, Place>()
  readonly #targets = new Map<string, string>()
  /** By which text each link is stored, so that its domain is known. */
  readonly #texts = new Map<string, string>()
  /** The keys of each batch that was pushed, by its shard and name. */
  readonly #pushed = new Map<string, ReadonlyArray<string>>()
  readonly #pausedUntil_us = new Map<string, number>()
  /** Processes that shut down. Where their pool ends with them, they stock what they have. */
  readonly #draining = new Set<string>()
  readonly #areAlone: boolean
  /** Whether nodes put keys aside that will not do for a while: those stay longer than in a buffer. */
  readonly #havePutAside: boolean

  constructor({ alone, databases }: Pick<SimOptions, "alone" | "databases">) {
    this.#areAlone = alone !== null
    this.#havePutAside = databases > 1
  }

  add(entry: JournalEntry) {
    switch (entry.tag) {
      case "minted":
        return entry.keys.forEach((key) => this.#places.set(key, "minted"))
      case "stocked":
        return this.#move(entry, "stocked", ["minted", "preloaded", ...this.#putAwayBy(entry.by)])
      case "preloaded":
        return this.#move(entry, "preloaded", ["stocked"])
      case "recorded":
        return this.#record(entry)
      case "pushed":
        return this.#push(entry)
      case "leased":
        return this.#move(entry, "leased", ["pooled"])
      case "returned":
        return this.#return(entry)
      case "forgot":
        return this.#forget(entry)
      case "closed":
        return this.#close(entry)
      case "settled":
        return this.#settle(entry)
      case "put back":
        return entry.keys.forEach((key) => this.#putBack.add(key))
      case "bound":
      case "conflicted":
        return entry.link.custom ? undefined : this.#use(entry)
      case "freed":
        return entry.custom ? undefined : this.#free(plainKeyOf(entry.key))
      case "reused":
        return this.#found(entry, `${entry.key} was used again, though it may have been bound`, entry.key)
      case "changed":
        return void this.#changed.add(plainKeyOf(entry.link.key))
      case "deleted":
      case "expired":
        return void this.#changed.add(plainKeyOf(entry.key))
      case "database forgot":
        entry.keys.forEach((key) => this.#again.add(key))
        // A tombstone may be there again whose key is on its way.
        return entry.links.forEach((key) => this.#changed.add(plainKeyOf(key)))
      case "recovered":
        return entry.keys.forEach((key) => {
          const place = this.#beside.get(key)
          if (place !== undefined) this.#places.set(key, place)
          this.#beside.delete(key)
        })
      case "draining":
        return void this.#draining.add(entry.by)
      case "paused":
        return void this.#pausedUntil_us.set(entry.by, entry.at_us + entry.for_us)
    }
  }

  #putAwayBy(process: string): ReadonlyArray<Place> {
    return this.#areAlone && this.#draining.has(process) ? ["leased"] : []
  }

  #found(entry: Pick<JournalEntry, "at_us" | "by">, text: string, key?: string) {
    const { at_us, by } = entry
    this.violations.push({
      checker: KeyLifecycle.name,
      at_us,
      text: `${text}, by ${by}`,
      keys: key === undefined ? [] : [key]
    })
  }

  /** A key may be `to` only when it is in one of the places `from`, but for those that are in two places. */
  #move(
    entry: Entry<"stocked" | "preloaded" | "recorded" | "pushed" | "leased" | "returned">,
    to: Place,
    from: ReadonlyArray<Place>
  ) {
    for (const key of entry.keys) {
      const beside = this.#beside.get(key)
      if (beside !== undefined && from.includes(beside)) {
        this.#beside.set(key, to)
        continue
      }
      const place = this.#places.get(key)
      const isForgotten = place !== undefined && entry.tag === "recorded" && this.#again.has(key)
      if (isForgotten && (place === "pooled" || place === "leased")) {
        this.#again.delete(key)
        this.#twice.add(key)
      }
      const isRight = place !== undefined && (from.includes(place) || (place === to && this.#again.has(key)))
      if (!isRight && !this.#twice.has(key))
        this.#found(entry, `${key} was ${entry.tag} when it was ${place ?? "unknown"}`, key)
      this.#places.set(key, to)
    }
  }

  /** A former primary may record what the newer one has recorded already: that is forgotten. */
  #record(entry: Entry<"recorded">) {
    const from = ["minted", "stocked", "preloaded"] as const
    const isFree = (key: string) => from.some((place) => place === this.#places.get(key))
    const keys = entry.isInVain === true ? entry.keys.filter(isFree) : entry.keys
    this.#move({ ...entry, keys }, "recorded", from)
  }

  #push(entry: Entry<"pushed">) {
    this.#move(entry, "pooled", ["recorded", "gone"])
    this.#pushed.set(`${entry.shard}/${entry.batch}`, entry.keys)
    for (const key of entry.keys) {
      this.#shards.set(key, entry.shard)
      this.#batches.set(key, entry.batch)
      this.#settled.delete(key)
      this.#putBack.delete(key)
      this.#returnedTo.delete(key)
      const bound_us = this.#bound.get(key)
      if (bound_us === undefined || entry.at_us - bound_us < readBefore_us || this.#strays.has(key)) continue
      if ((this.#pausedUntil_us.get(entry.by) ?? 0) < bound_us)
        this.#found(entry, `${key} was pushed though it was bound`, key)
    }
  }

  #close(entry: Entry<"closed">) {
    const { batch, shard } = entry
    if (!this.#pushed.has(`${shard}/${batch}`))
      this.#found(entry, `batch ${batch} of pool shard ${shard} was closed before it was pushed`)
  }

  /** From then on the record of its keys may be closed: a kill must not take any of them. */
  #settle(entry: Entry<"settled">) {
    const { at_us, batch, shard } = entry
    const isOfIt = (key: string) => this.#batches.get(key) === batch
    const keys = (this.#pushed.get(`${shard}/${batch}`) ?? []).filter(isOfIt)
    const left = keys.filter((key) => this.#places.get(key) === "pooled" && !this.#putBack.has(key))
    for (const key of keys) if (!this.#settled.has(key)) this.#settled.set(key, at_us)
    if (left.length > 0) {
      const text = `batch ${batch} of pool shard ${shard} was settled with ${left.length} of its keys in the pool, which a kill takes`
      this.#found(entry, text, left[0])
    }
  }

  /** Looks at a key that is in a buffer, or was just bound: it must have left the buffer of its process before its batch was settled. */
  #leaves(entry: Pick<JournalEntry, "at_us" | "by">, key: string) {
    const settled_us = this.#havePutAside ? undefined : this.#settled.get(key)
    if (settled_us === undefined || entry.at_us - settled_us < takenFor_us || this.#putBack.has(key)) return
    const ago_s = Math.round((entry.at_us - settled_us) / s_us)
    this.#found(
      entry,
      `${key} was in a buffer, which a kill takes, when its batch was settled ${ago_s} s ago`,
      key
    )
  }

  /** Looks at the keys that are in buffers at last. */
  end(end_us: number, buffered: ReadonlySet<string>) {
    for (const key of buffered) this.#leaves({ at_us: end_us, by: "a node" }, key)
  }

  #return(entry: Entry<"returned">) {
    this.#move(entry, "pooled", ["leased", "gone"])
    for (const key of entry.keys) {
      this.#returnedTo.set(key, entry.shard)
      if (this.#bound.has(key) && !this.#twice.has(key))
        this.#found(entry, `${key} was returned though it was bound`, key)
    }
  }

  /** Its next life begins in the stock. */
  #free(key: string) {
    const place = this.#places.get(key)
    // One that is bound is nowhere else.
    const isElsewhere = (place === "pooled" || place === "leased") && !this.#bound.has(key)
    if (this.#again.has(key) && isElsewhere) this.#beside.set(key, place)
    this.#places.set(key, "stocked")
    if (this.#twice.has(key)) this.#strays.add(key)
    this.#bound.delete(key)
    this.#targets.delete(key)
    this.#texts.delete(key)
    this.#changed.delete(key)
  }

  #forget({ again, gone, shard, unleased }: Entry<"forgot">) {
    /** Out of this shard, which pushes it again if its record is open. */
    const isAway = (key: string) => {
      const place = this.#places.get(key)
      return place === "leased" || (place === "pooled" && (this.#returnedTo.get(key) ?? shard) !== shard)
    }
    const forgotten =
      unleased === "all"
        ? Array.from(this.#shards.keys()).filter((key) => this.#shards.get(key) === shard && isAway(key))
        : unleased
    for (const key of forgotten) {
      this.#twice.add(key)
      this.#places.set(key, "recorded")
    }
    for (const key of gone) this.#places.set(key, "gone")
    for (const key of again) this.#places.set(key, "pooled")
  }

  #use(entry: Entry<"bound" | "conflicted">) {
    const key = plainKeyOf(entry.link.key)
    if (entry.tag === "conflicted") {
      const isItself = this.#targets.get(key) === entry.link.url
      if (!isItself && !this.#twice.has(key) && !this.#changed.has(key))
        this.#found(entry, `${key} was handed out a second time, and was bound`, key)
      return
    }
    const before = this.#texts.get(key) ?? entry.link.key
    // Also one that is handed out twice: the statement that binds it looks in all domains. Only what the database has forgotten it cannot see.
    if (before !== entry.link.key && !this.#again.has(key))
      this.#found(entry, `${entry.link.key} was bound while ${before} was`, key)
    if (entry.tag === "bound") this.#leaves(entry, key)
    this.#texts.set(key, entry.link.key)
    this.#bound.set(key, entry.at_us)
    this.#targets.set(key, entry.link.url)
    const place = this.#beside.get(key) ?? this.#places.get(key)
    if (place !== "leased" && !this.#twice.has(key))
      this.#found(entry, `${key} was bound when it was ${place ?? "unknown"}`, key)
  }
}

/**
 * C1, before the primary key has to hold it: a key is minted, recorded, pushed, leased and bound in this order and once each, or is returned and leased
 * again; and when it is free again, it is stocked rather than minted. A process alone has a record of each key that is in its pool or its buffer. Only a Redis that forgets hands one out twice; whatever else does would show in
 * `linkmint_key_conflicts_total` some day.
 */
export const KeyLifecycle: Checker = {
  name: "key ways",
  seesForgotten: true,
  check: ({ buffered, end_us, journal, options }) => {
    const ways = new Ways(options)
    for (const entry of journal) ways.add(entry)
    ways.end(end_us, buffered)
    return ways.violations
  }
}
