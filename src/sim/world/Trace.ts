import { createHash } from "node:crypto"

/** Something that happened in a world. `at_us`: microseconds since the world's beginning. */
export interface TraceEvent {
  readonly at_us: number
  /** The process, the server or the part of the world that it happened to. */
  readonly who: string
  /** What happened, in a word; those of one kind are told alike. */
  readonly kind: string
  readonly detail: string
}

/**
 * What happened in a world, in its order. Two runs are the same when their digests are: it covers every event, and every choice of
 * the scheduler.
 */
export class Trace {
  readonly #hash = createHash("sha256")
  readonly #kept: Array<TraceEvent> | undefined
  readonly #counts = new Map<string, number>()
  #choices = 0x811c9dc5
  #pending = ""

  /** `keep`: whether the events themselves are kept, and not only their digest. */
  constructor(keep: boolean) {
    this.#kept = keep ? [] : undefined
  }

  add(at_us: number, who: string, kind: string, detail: string) {
    this.#pending += `${at_us} ${who} ${kind} ${detail}\n`
    if (this.#pending.length > 65_536) this.#flush()
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
    this.#kept?.push({ at_us, who, kind, detail })
  }

  /** A choice of the scheduler, or a time at which it was made. */
  choose(number: number) {
    this.#choices = Math.imul(this.#choices ^ number, 0x01000193) >>> 0
  }

  /** The events, when they are kept. */
  get events(): ReadonlyArray<TraceEvent> {
    return this.#kept ?? []
  }

  /** How many events of a kind there were. */
  count(kind: string): number {
    return this.#counts.get(kind) ?? 0
  }

  /** 24 hexadecimal digits. */
  digest(): string {
    this.#flush()
    const events = this.#hash.copy().digest("hex")
    return createHash("sha256").update(`${events}/${this.#choices}`).digest("hex").slice(0, 24)
  }

  #flush() {
    this.#hash.update(this.#pending)
    this.#pending = ""
  }
}
