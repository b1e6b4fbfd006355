/** A row that was changed, by its table and key, and how it is as it was before. */
interface Change {
  readonly table: string
  readonly key: string
  readonly undo: () => void
}

interface Commit {
  readonly at_us: number
  readonly changes: ReadonlyArray<Change>
}

/** The keys of rows that commits changed, by their tables. */
export type Changed = ReadonlyMap<string, ReadonlySet<string>>

/**
 * What a primary has committed lately, which a standby may not have been given yet: so that its tables can be as they were after any of these commits. Tables
 * that it makes tell it of their changes; while it keeps none they are plain ones.
 */
export class CommitLog {
  readonly #keeps_us: number
  #commits: Array<Commit> = []
  #open: Array<Change> | undefined

  /** `keeps_us`: how long a commit can be taken back; 0 is never. */
  constructor(keeps_us: number) {
    this.#keeps_us = keeps_us
  }

  /** Whether commits can be taken back. */
  get isKept(): boolean {
    return this.#keeps_us > 0
  }

  /** A table whose rows are replaced, and never changed in place. */
  map<K extends string | number, V>(table: string): Map<K, V> {
    return this.isKept ? new LoggedMap<K, V>(this, table) : new Map<K, V>()
  }

  /** A table of keys. */
  set(table: string): Set<string> {
    return this.isKept ? new LoggedSet(this, table) : new Set()
  }

  /** Notes a change of the commit at hand. */
  changed(table: string, key: string, undo: () => void) {
    this.#open?.push({ table, key, undo })
  }

  /** Runs what a commit does, at a time in microseconds. */
  commit<A>(at_us: number, apply: () => A): A {
    if (!this.isKept) return apply()
    this.#open = []
    const value = apply()
    const commits = this.#commits
    if (this.#open.length > 0) commits.push({ at_us, changes: this.#open })
    this.#open = undefined
    while (commits.length > 0 && commits[0]!.at_us < at_us - this.#keeps_us) commits.shift()
    return value
  }

  /** Forgets all commits, which stand: gives what they had changed. */
  settle(): Changed {
    const changed = new Map<string, Set<string>>()
    for (const { changes } of this.#commits)
      for (const { key, table } of changes) changed.set(table, (changed.get(table) ?? new Set()).add(key))
    this.#commits = []
    return changed
  }

  /** Takes back all commits after a time, in microseconds, and forgets the others: what it gives is how many, and what they had changed. */
  rewind(to_us: number): { readonly commits: number; readonly changed: Changed } {
    const changed = new Map<string, Set<string>>()
    const gone = this.#commits.filter(({ at_us }) => at_us > to_us)
    for (const { changes } of gone.toReversed())
      for (const { key, table, undo } of changes.toReversed()) {
        undo()
        changed.set(table, (changed.get(table) ?? new Set()).add(key))
      }
    this.#commits = []
    return { commits: gone.length, changed }
  }
}

class LoggedMap<K extends string | number, V> extends Map<K, V> {
  readonly #log: CommitLog
  readonly #table: string

  constructor(log: CommitLog, table: string) {
    super()
    this.#log = log
    this.#table = table
  }

  override set(key: K, value: V): this {
    this.#note(key)
    return super.set(key, value)
  }

  override delete(key: K): boolean {
    if (this.has(key)) this.#note(key)
    return super.delete(key)
  }

  override clear() {
    for (const key of Array.from(this.keys())) this.delete(key)
  }

  #note(key: K) {
    const was = this.has(key)
    const before = this.get(key)
    this.#log.changed(this.#table, String(key), () => {
      if (was) super.set(key, before!)
      else super.delete(key)
    })
  }
}

class LoggedSet extends Set<string> {
  readonly #log: CommitLog
  readonly #table: string

  constructor(log: CommitLog, table: string) {
    super()
    this.#log = log
    this.#table = table
  }

  override add(key: string): this {
    if (!this.has(key)) this.#log.changed(this.#table, key, () => super.delete(key))
    return super.add(key)
  }

  override delete(key: string): boolean {
    if (this.has(key)) this.#log.changed(this.#table, key, () => super.add(key))
    return super.delete(key)
  }

  override clear() {
    for (const key of Array.from(this)) this.delete(key)
  }
}
