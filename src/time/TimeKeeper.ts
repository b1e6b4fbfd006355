/** By how much a clock has jumped, rather than been corrected, in milliseconds: also how far time may be from the truth because of one. */
export const jumpMin_ms = 1_000

/** How long a clock must agree with monotonic time after a jump before it is believed again, in milliseconds. */
export const believedAfter_ms = 600_000

/** What part of the time that has passed the wall clock may correct: more than NTP ever slews a clock by. */
const correctionMax = 0.01

/** What a reading of a clock has shown, and by how many milliseconds the clock was ahead of the time that was kept. */
export interface TimeEvent {
  /**
   * `jumped`: the clock has left the time that was kept. `returned`: it agrees with that again. `believed`: it has agreed with monotonic time for long enough, so that its time is
   * kept from now on. `slept`: it was right, since the machine was suspended meanwhile.
   */
  readonly tag: "jumped" | "returned" | "believed" | "slept"
  readonly by_ms: number
}

/** When the database's clock showed `database_ms` (since the Unix epoch): between two moments of `monotonic_ms`. */
export interface DatabaseReading {
  readonly database_ms: number
  readonly asked: number
  readonly answered: number
}

/**
 * Keeps the time of day by monotonic time, which nobody sets, and corrects it by a clock that others set: the database's, or the machine's own. All moments that
 * it is given are of `monotonic_ms`, all times milliseconds since the Unix epoch.
 *
 * The database's clock is followed at once, since all nodes have the same: within the round trip of a reading. The wall clock is followed by 1 % of the time that passes. When it
 * has jumped, the time goes on without it, until it has agreed with monotonic time for {@link believedAfter_ms}.
 */
export class TimeKeeper {
  /** Time less monotonic time. */
  #offset: number
  #hasHeard = false
  #heldUntil = Number.NEGATIVE_INFINITY
  /** Where the wall clock has jumped to, and since when. */
  #elsewhere: { readonly offset: number; readonly since: number } | undefined
  #sawAt: number

  /** Begins at `time` where monotonic time is `now`. */
  constructor(time: number, now: number) {
    this.#offset = time - now
    this.#sawAt = now
  }

  /** The time at `now`. */
  at(now: number): number {
    return now + this.#offset
  }

  /** Whether nothing speaks against the time: only then may be done what cannot be undone. */
  isSettled(now: number): boolean {
    return this.#elsewhere === undefined && now >= this.#heldUntil
  }

  /** Does not count as settled for {@link believedAfter_ms}. */
  hold(now: number) {
    this.#heldUntil = now + believedAfter_ms
  }

  /** Whether a wall clock that shows `wall` has left the time that is kept. */
  isElsewhere(wall: number, now: number): boolean {
    return Math.abs(wall - this.at(now)) >= jumpMin_ms
  }

  /** The database's clock was read. The time moves only as far as the reading proves it wrong. */
  heard({ answered, asked, database_ms }: DatabaseReading): TimeEvent | undefined {
    const [least, most] = [database_ms - answered, database_ms - asked]
    if (!this.#hasHeard) {
      this.#hasHeard = true
      this.#offset = (least + most) / 2
      return undefined
    }
    const offset = Math.min(Math.max(this.#offset, least), most)
    const by_ms = offset - this.#offset
    this.#offset = offset
    if (Math.abs(by_ms) < jumpMin_ms) return undefined
    this.hold(answered)
    return { tag: "jumped", by_ms }
  }

  /** The wall clock shows `wall`; `slept_ms` of them the machine was suspended since the last reading, in which monotonic time stands still. */
  saw(wall: number, now: number, slept_ms = 0): TimeEvent | undefined {
    const by_ms = wall - this.at(now)
    const correction = (now - this.#sawAt) * correctionMax
    this.#sawAt = now
    if (!this.isElsewhere(wall, now)) {
      const wasElsewhere = this.#elsewhere !== undefined
      this.#elsewhere = undefined
      this.#offset += Math.min(Math.max(by_ms, -correction), correction)
      return wasElsewhere ? { tag: "returned", by_ms } : undefined
    }
    if (slept_ms >= jumpMin_ms && Math.abs(by_ms - slept_ms) < jumpMin_ms) return this.#follow("slept", by_ms)
    const offset = wall - now
    if (this.#elsewhere === undefined || Math.abs(offset - this.#elsewhere.offset) >= jumpMin_ms) {
      this.#elsewhere = { offset, since: now }
      return { tag: "jumped", by_ms }
    }
    return now - this.#elsewhere.since >= believedAfter_ms ? this.#follow("believed", by_ms) : undefined
  }

  #follow(tag: "believed" | "slept", by_ms: number): TimeEvent {
    this.#offset += by_ms
    this.#elsewhere = undefined
    return { tag, by_ms }
  }
}
