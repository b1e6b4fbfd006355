interface Waiter<Owner> {
  readonly owner: Owner
  readonly granted: () => void
}

interface Row<Owner> {
  owner: Owner
  readonly waiting: Array<Waiter<Owner>>
}

/** Locks of rows, by their names: one transaction has each, and others wait in the order in which they came. */
export class RowLocks<Owner extends object> {
  readonly #rows = new Map<string, Row<Owner>>()
  readonly #held = new Map<Owner, Array<string>>()
  readonly #waits = new Map<Owner, string>()

  /** Takes a lock. False: others have it, the owner waits, and `granted` is called once when it has it. An owner waits for one at a time. */
  take(owner: Owner, name: string, granted: () => void): boolean {
    const row = this.#rows.get(name)
    if (row === undefined) {
      this.#rows.set(name, { owner, waiting: [] })
      this.#own(owner, name)
      return true
    }
    if (row.owner === owner) return true
    row.waiting.push({ owner, granted })
    this.#waits.set(owner, name)
    return false
  }

  /** Whether somebody else has it. */
  isTaken(name: string, owner: Owner | undefined): boolean {
    const row = this.#rows.get(name)
    return row !== undefined && row.owner !== owner
  }

  /** Waits no more. */
  leave(owner: Owner) {
    const name = this.#waits.get(owner)
    if (name === undefined) return
    this.#waits.delete(owner)
    const { waiting } = this.#rows.get(name)!
    waiting.splice(
      waiting.findIndex((waiter) => waiter.owner === owner),
      1
    )
  }

  /** Gives back all that an owner has. */
  release(owner: Owner) {
    this.leave(owner)
    const names = this.#held.get(owner) ?? []
    this.#held.delete(owner)
    for (const name of names) {
      const row = this.#rows.get(name)!
      const next = row.waiting.shift()
      if (next === undefined) {
        this.#rows.delete(name)
        continue
      }
      row.owner = next.owner
      this.#waits.delete(next.owner)
      this.#own(next.owner, name)
      next.granted()
    }
  }

  /** Whether an owner waits, by way of others, for itself. */
  isDeadlocked(owner: Owner): boolean {
    const seen = new Set<Owner>()
    for (let at = owner; !seen.has(at);) {
      seen.add(at)
      const name = this.#waits.get(at)
      if (name === undefined) return false
      at = this.#rows.get(name)!.owner
      if (at === owner) return true
    }
    return false
  }

  /** How many rows are locked. */
  get size(): number {
    return this.#rows.size
  }

  #own(owner: Owner, name: string) {
    const names = this.#held.get(owner)
    if (names === undefined) this.#held.set(owner, [name])
    else names.push(name)
  }
}
