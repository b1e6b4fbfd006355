import { Clock, Effect } from "effect"
import { ms_us } from "../../world/Time.ts"
import type { World } from "../../world/World.ts"

/** A step of a clock, in microseconds. */
export interface Jump {
  readonly at_us: number
  readonly by_us: number
}

/** How far a database's clock was ahead of true time. Times are microseconds since the world's beginning. */
export interface ClockRecord {
  readonly jumps: ReadonlyArray<Jump>
  /** How far it was ahead at a time; at the moment of a jump, after it. */
  readonly ahead_us: (at_us: number) => number
}

/** Microseconds that a clock gains in a second. */
export type Drift = number

/** The record of a clock that jumped, and gains or loses some microseconds in a second. */
export const recordOf = (jumps: ReadonlyArray<Jump>, drift: Drift): ClockRecord => ({
  jumps,
  ahead_us: (at_us) =>
    jumps.reduce((sum, jump) => (jump.at_us <= at_us ? sum + jump.by_us : sum), (at_us * drift) / 1_000_000)
})

/** The clock of the database's machine, which jumps and drifts. */
export class DatabaseClock {
  readonly #world: World
  readonly #jumps: Array<Jump> = []
  readonly record: ClockRecord
  /** The same as a service. */
  readonly service: Clock.Clock
  #ago_ms = 0

  constructor(world: World, drift: Drift) {
    this.#world = world
    this.record = recordOf(this.#jumps, drift)
    const now_ms = () => this.now_ms
    const now_ns = () => BigInt(this.now_ms) * 1_000_000n
    this.service = Object.assign(Clock.make(), {
      unsafeCurrentTimeMillis: now_ms,
      currentTimeMillis: Effect.sync(now_ms),
      unsafeCurrentTimeNanos: now_ns,
      currentTimeNanos: Effect.sync(now_ns)
    })
  }

  /** What it shows, in milliseconds since the Unix epoch. */
  get now_ms(): number {
    return this.#world.now_ms - this.#ago_ms + Math.floor(this.record.ahead_us(this.#world.now_us) / ms_us)
  }

  /** Has something happen at once that happened so long ago: before the beginning. */
  readonly ago =
    (ago_ms: number) =>
    <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.acquireUseRelease(
        Effect.sync(() => (this.#ago_ms = ago_ms)),
        () => self,
        () => Effect.sync(() => (this.#ago_ms = 0))
      )

  jump(by_us: number) {
    this.#jumps.push({ at_us: this.#world.now_us, by_us })
  }
}
