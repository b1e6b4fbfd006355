/** A difference from which a clock has jumped, rather than been corrected, in milliseconds: also how far a clock can take the kept time from the truth. */
export const jumpMin_ms = 1_000

/** How long a clock must agree with monotonic time after a jump before it is believed again, in milliseconds. */
export const believedAfter_ms = 600_000

/** The share of the time passed by which the wall clock may correct the kept time: more than NTP ever slews a clock by. */
const correctionMax = 0.01

/** The result of a reading of a clock, and by how many milliseconds the clock was ahead of the kept time. */
export interface TimeEvent {
  /**
   * `jumped`: the clock has left the kept time. `returned`: it agrees with the kept time again. `believed`: it has agreed with monotonic time for long enough, so the kept time
   * follows it from now on. `slept`: the clock was right, because the machine was suspended meanwhile.
   */
  readonly tag: "jumped" | "returned" | "believed" | "slept"
  readonly by_ms: number
}

/** A reading of the database's clock (`database_ms`, since the Unix epoch), which was taken between two moments of `monotonicNow_ms`. */
export interface DatabaseReading {
  readonly database_ms: number
  readonly asked: number
  readonly answered: number
}

/**
 * Keeps the time of day by monotonic time, which nobody can set, and corrects it by a clock that can be set: the database's, or the machine's own. Moments are
 * of `monotonicNow_ms`, times are milliseconds since the Unix epoch.
 *
 * The kept time follows the database's clock at once, within the round trip of a reading, because all nodes use the same one. It follows the wall clock by 1 % of the time that passes.
 * When the wall clock has jumped, the kept time advances without it until it has agreed with monotonic time for {@link believedAfter_ms}.
 */
export class TimeKeeper {
  /** Time minus monotonic time. */
  #offset: number
  #hasHeard = false
  #heldUntil = Number.NEGATIVE_INFINITY
  /** The offset that the wall clock has jumped to, and since when. */
  #elsewhere: { readonly offset: number; readonly since: number } | undefined
  #sawAt: number

  /** Starts with `time` at the moment `now`. */
  constructor(time: number, now: number) {
    this.#offset = time - now
    this.#sawAt = now
  }

  /** The time at `now`. */
  at(now: number): number {
    return now + this.#offset
  }

  /** Whether the time is not in doubt. Only then steps that cannot be undone may be taken. */
  isSettled(now: number): boolean {
    return this.#elsewhere === undefined && now >= this.#heldUntil
  }

  /** Marks the time as in doubt for {@link believedAfter_ms}. */
  hold(now: number) {
    this.#heldUntil = now + believedAfter_ms
  }

  /** Whether a wall clock that shows `wall` has left the kept time. */
  isElsewhere(wall: number, now: number): boolean {
    return Math.abs(wall - this.at(now)) >= jumpMin_ms
  }

  /** Takes a reading of the database's clock. The kept time moves only as far as the reading proves it wrong. */
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

  /** Takes a reading `wall` of the wall clock. The machine was suspended for `slept_ms` since the last reading, in which monotonic time stood still. */
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
