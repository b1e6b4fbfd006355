/** Keys that are remembered one by one; beyond that, all keys count as changed. */
const max = 10_000

/** Keys that changed less than `for_ms` ago, by a monotonic clock. Its size is bounded. */
export class RecentlyChangedKeys {
  readonly #for_ms: number
  /** Until when each key counts, the earliest first. */
  readonly #until = new Map<string, number>()
  #allUntil = Number.NEGATIVE_INFINITY

  constructor(for_ms: number) {
    this.#for_ms = for_ms
  }

  add(key: string, now_ms: number): void {
    if (this.#for_ms === 0) return
    for (const [settled, until] of this.#until) {
      if (until > now_ms) break
      this.#until.delete(settled)
    }
    this.#until.delete(key)
    if (this.#until.size >= max) return this.addAll(now_ms)
    this.#until.set(key, now_ms + this.#for_ms)
  }

  addAll(now_ms: number): void {
    this.#until.clear()
    this.#allUntil = now_ms + this.#for_ms
  }

  has(key: string, now_ms: number): boolean {
    return now_ms < this.#allUntil || now_ms < (this.#until.get(key) ?? now_ms)
  }
}
