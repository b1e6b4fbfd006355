/**
 * What the database and a pool shard do to keys, each step at one moment: the part of the key path's specification that the search and the traces of the simulation share.
 * Keys are the numbers of one range, 0, 1, …; all values are immutable, and a function that gives `undefined` refuses the step.
 */

/** A key, by its number in the range. */
export type Key = number

/** A record of keys that are on their way into the pool. `id` is epoch and sequence, joined by a slash. */
export interface Batch {
  readonly id: string
  readonly keys: ReadonlyArray<Key>
}

/**
 * A key's row in `links`: which create bound it, the first being 1, and whether it is a tombstone, and one whose quarantine is over. `isOld`: the database has forgotten commits
 * since, in which the key may have been free and bound again.
 */
export interface Row {
  readonly create: number
  readonly state: "live" | "ended" | "rested"
  readonly isOld: boolean
}

/** The tables that the key path uses. */
export interface Database {
  /** The watermark: keys below it have left the range. */
  readonly next: Key
  /** The newest epoch of the pool shard. */
  readonly epoch: number
  readonly stock: ReadonlyArray<Key>
  readonly records: ReadonlyArray<Batch>
  /** By key; `null` where there is none. */
  readonly rows: ReadonlyArray<Row | null>
  /** See `docs/key-pipeline.md`: each move of keys out of the database raises the mark; a recovery gives another lineage, a promotion another timeline. */
  readonly mark: number
  readonly lineage: number
  readonly timeline: number
}

/** A pool shard's Redis. */
export interface Pool {
  readonly epoch: number
  /** In no order; one that was handed out twice can be there twice. */
  readonly keys: ReadonlyArray<Key>
  /** The ids of batches and of returns that it has taken. */
  readonly known: ReadonlyArray<string>
}

/** The guards that the stores hold. The search breaks one at a time, to see what it is for. */
export const storeRules = {
  "a claim raises the epoch": true,
  "the database refuses older epochs": true,
  "the pool refuses older epochs": true,
  "the pool refuses a claim that it knows": true,
  "the pool takes each batch once": true,
  "the pool takes each return once": true,
  "a lease removes its keys": true,
  "the primary key refuses a second row": true,
  "the quarantine has to be over": true,
  "a freed key is struck from records": true
}

/** See {@link storeRules}. */
export type StoreRules = Readonly<Record<keyof typeof storeRules, boolean>>

/** Nothing has happened yet. */
export const emptyDatabase = (keys: number): Database => ({
  next: 0,
  epoch: 0,
  stock: [],
  records: [],
  rows: Array.from({ length: keys }, () => null),
  mark: 0,
  lineage: 0,
  timeline: 0
})

/** Nothing has happened yet. */
export const emptyPool: Pool = { epoch: 0, keys: [], known: [] }

/** The keys of some that are not among others. */
export const without = <A>(some: ReadonlyArray<A>, others: ReadonlyArray<A>): ReadonlyArray<A> =>
  some.filter((one) => !others.includes(one))

const joined = (some: ReadonlyArray<Key>, others: ReadonlyArray<Key>) =>
  [...some, ...others].toSorted((one, other) => one - other)

/** Takes one of each of the keys away, if it is there. */
export const minus = (some: ReadonlyArray<Key>, keys: ReadonlyArray<Key>): ReadonlyArray<Key> => {
  const left = [...some]
  for (const key of keys) {
    const at = left.indexOf(key)
    if (at >= 0) left.splice(at, 1)
  }
  return left
}

const withRow = (database: Database, key: Key, row: Row | null): Database => ({
  ...database,
  rows: database.rows.with(key, row)
})

const append = (database: Database, { id, keys }: Batch): Database => {
  const known = database.records.find((record) => record.id === id)
  const others = database.records.filter((record) => record !== known)
  return { ...database, records: [...others, { id, keys: joined(known?.keys ?? [], keys) }] }
}

/** The database's steps. */
export const database = (rules: StoreRules) => {
  /** Whether an owner of this epoch may change anything. */
  const isNewest = ({ epoch }: Database, own: number) =>
    own === epoch || !rules["the database refuses older epochs"]

  return {
    /** The watermark passes over a number: the keys' only way out of the range. */
    advance: (own: Database): Database | undefined =>
      own.next < own.rows.length ? { ...own, next: own.next + 1 } : undefined,

    /** `epoch`: the one that it gives; greater than all before, and than what the pool refused the claimer with. */
    claim: (own: Database, epoch: number): Database | undefined =>
      epoch > own.epoch || (epoch === own.epoch && !rules["a claim raises the epoch"])
        ? { ...own, epoch }
        : undefined,

    /** Stocked keys go into a record, in one transaction. */
    take: (own: Database, epoch: number, batch: Batch): Database | undefined =>
      isNewest(own, epoch) && batch.keys.every((key) => own.stock.includes(key))
        ? append({ ...own, stock: without(own.stock, batch.keys) }, batch)
        : undefined,

    record: (own: Database, epoch: number, batch: Batch): Database | undefined =>
      isNewest(own, epoch) ? append(own, batch) : undefined,

    close: (own: Database, epoch: number, ids: ReadonlyArray<string>): Database | undefined =>
      isNewest(own, epoch)
        ? { ...own, records: own.records.filter(({ id }) => !ids.includes(id)) }
        : undefined,

    /** Keys that were minted ahead. */
    fill: (own: Database, keys: ReadonlyArray<Key>): Database => ({
      ...own,
      stock: joined(without(own.stock, keys), keys)
    }),

    /** A link is bound. A key that has a row refuses it. */
    insert: (own: Database, key: Key, create: number): Database | undefined =>
      own.rows[key] === null || !rules["the primary key refuses a second row"]
        ? withRow(own, key, { create, state: "live", isOld: false })
        : undefined,

    /** A link is deleted, or expires. */
    end: (own: Database, key: Key): Database | undefined => {
      const row = own.rows[key]!
      return row?.state === "live" ? withRow(own, key, { ...row, state: "ended" }) : undefined
    },

    /** The quarantine is over. */
    rest: (own: Database, key: Key): Database | undefined => {
      const row = own.rows[key]!
      return row?.state === "ended" ? withRow(own, key, { ...row, state: "rested" }) : undefined
    },

    /** A tombstone goes, and its key is stocked: `isUsable` says whether nobody can have been given it in commits that were forgotten. */
    recycle: (own: Database, key: Key, isUsable: (row: Row) => boolean): Database | undefined => {
      const row = own.rows[key]!
      const isDue =
        row?.state === "rested" || (row?.state === "ended" && !rules["the quarantine has to be over"])
      if (!isDue) return undefined
      const struck = rules["a freed key is struck from records"]
        ? own.records.map(({ id, keys }) => ({ id, keys: without(keys, [key]) }))
        : own.records
      const freed = { ...withRow(own, key, null), records: struck }
      return isUsable(row) ? { ...freed, stock: joined(without(freed.stock, [key]), [key]) } : freed
    }
  }
}

/** The pool's steps. */
export const pool = (rules: StoreRules) => {
  const isOlder = ({ epoch }: Pool, own: number) => own < epoch && rules["the pool refuses older epochs"]

  return {
    /** `undefined` where it has seen this epoch, or a newer one. */
    claim: (own: Pool, epoch: number): Pool | undefined => {
      const isKnown = epoch === own.epoch && rules["the pool refuses a claim that it knows"]
      return isKnown || isOlder(own, epoch) ? undefined : { ...own, epoch: Math.max(epoch, own.epoch) }
    },

    /** A batch that it knows adds nothing. `undefined` where it has seen a newer epoch. */
    push: (own: Pool, epoch: number, { id, keys }: Batch): Pool | undefined => {
      if (isOlder(own, epoch)) return undefined
      const seen = { ...own, epoch: Math.max(epoch, own.epoch) }
      if (own.known.includes(id) && rules["the pool takes each batch once"]) return seen
      return { ...seen, keys: joined(own.keys, keys), known: [...without(own.known, [id]), id].toSorted() }
    },

    /** Keys go to one node. */
    lease: (own: Pool, keys: ReadonlyArray<Key>): Pool | undefined => {
      if (keys.some((key) => !own.keys.includes(key))) return undefined
      return rules["a lease removes its keys"] ? { ...own, keys: minus(own.keys, keys) } : own
    },

    /** Leased keys come back. A return that it knows adds nothing. */
    giveBack: (own: Pool, id: string, keys: ReadonlyArray<Key>): Pool =>
      own.known.includes(id) && rules["the pool takes each return once"]
        ? own
        : { ...own, keys: joined(own.keys, keys), known: [...without(own.known, [id]), id].toSorted() }
  }
}
