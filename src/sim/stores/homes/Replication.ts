import { bucketOf, bucketOfName, bucketOfSubject } from "../../../keys/Buckets.ts"
import type { Chance } from "../../world/Chance.ts"
import { ms_us } from "../../world/Time.ts"
import type { Tables } from "../DatabaseCopy.ts"
import type { VirtualDatabase } from "../VirtualDatabase.ts"

/** How long after one transfer the next one begins, on average, and how long it takes to find the other server again. */
const pauseMean_us = 30 * ms_us
const again_us = 100 * ms_us

/** A table whose rows move with their bucket, or a part of one: rows by their keys. */
export interface Moved {
  /** Its name in PostgreSQL; see `movedTables`. */
  readonly name: string
  readonly rows: Map<string, unknown>
  readonly bucketOf: (key: string) => number
  /** What tells whether a row has changed: by default that it is another one. */
  readonly version?: (key: string) => unknown
}

/** As `movedTables` has them: guards; links with all that is known of each; visits, by subject. */
export const movedOf = ({
  ended,
  guards,
  ranks,
  rows,
  takes,
  updateIds,
  visits
}: Tables): ReadonlyArray<Moved> => {
  const ofKeys = (name: string, table: object): Moved => ({
    name,
    rows: table as Map<string, unknown>,
    bucketOf
  })
  // Their rows change in place.
  const ofVisits = (table: object): Moved => ({
    name: "visit_periods",
    rows: table as Map<string, unknown>,
    bucketOf: bucketOfSubject,
    version: (key) => {
      const { bots, nonBots } = visits.totals.get(key)!
      return bots + nonBots
    }
  })
  return [
    { name: "create_guards", rows: guards, bucketOf: bucketOfName },
    ...[rows, ended, updateIds, takes].map((table) => ofKeys("links", table)),
    ofKeys("link_ranks", ranks),
    ...[visits.totals, visits.hours].map(ofVisits)
  ]
}

/** A row that was written, or that is gone. */
interface Change {
  readonly key: string
  readonly row: unknown
  readonly isGone: boolean
}

/**
 * PostgreSQL's logical replication of some buckets between two servers, by its outcome: again and again the target gets what has changed in the source up to one moment, all of it, and
 * what has been committed since comes with the next transfer. It goes on whatever becomes of the mover, and waits for servers that are away.
 */
export class Replication {
  readonly #from: VirtualDatabase
  readonly #to: VirtualDatabase
  readonly #buckets: ReadonlySet<number>
  readonly #chance: Chance
  /** The versions of the rows that were read, by table and key. */
  readonly #known: Array<Map<string, unknown>> = []
  #begun = 0
  #done = 0
  #isOver = false

  constructor(from: VirtualDatabase, to: VirtualDatabase, buckets: ReadonlyArray<number>) {
    this.#from = from
    this.#to = to
    this.#buckets = new Set(buckets)
    this.#chance = from.server.world.chance("replication")
    this.#later(0)
  }

  /** A mark that is {@link isPassed} when the target has all that is committed by now. */
  get mark(): number {
    return this.#begun + 1
  }

  isPassed(mark: number): boolean {
    return this.#done >= mark
  }

  end() {
    this.#isOver = true
  }

  #later(in_us: number) {
    this.#from.server.world.after(in_us, null, () => this.#transfer())
  }

  #transfer() {
    if (this.#isOver) return
    const { name, network } = this.#from.server
    if (!this.#from.server.isUp) return this.#later(again_us)
    const number = ++this.#begun
    const changes = this.#read()
    network.deliver(name, this.#to.server.name, () => this.#arrive(number, changes))
  }

  /** What has changed since this was called last, by the table. */
  #read(): ReadonlyArray<ReadonlyArray<Change>> {
    return movedOf(this.#from.tables).map(({ bucketOf, rows, version }, index) => {
      const known = this.#known[index] ?? new Map<string, unknown>()
      this.#known[index] = known
      const changes: Array<Change> = []
      for (const [key, row] of rows) {
        const now = version === undefined ? row : version(key)
        if (known.get(key) === now || !this.#buckets.has(bucketOf(key))) continue
        known.set(key, now)
        changes.push({ key, row: version === undefined ? row : structuredClone(row), isGone: false })
      }
      for (const key of Array.from(known.keys()))
        if (!rows.has(key)) {
          known.delete(key)
          changes.push({ key, row: undefined, isGone: true })
        }
      return changes
    })
  }

  #arrive(number: number, all: ReadonlyArray<ReadonlyArray<Change>>) {
    if (this.#isOver) return
    const { world } = this.#to.server
    if (!this.#to.server.isUp) return void world.after(again_us, null, () => this.#arrive(number, all))
    movedOf(this.#to.tables).forEach(({ rows }, index) => {
      for (const { isGone, key, row } of all[index]!)
        if (isGone) rows.delete(key)
        else rows.set(key, row)
    })
    this.#done = number
    this.#later(this.#chance.waiting(pauseMean_us))
  }
}
