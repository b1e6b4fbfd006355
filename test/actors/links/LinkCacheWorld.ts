import { Clock, Deferred, Effect, Exit, type Fiber, FiberId, Scope } from "effect"
import * as LinkCache from "../../../src/actors/links/LinkCache.ts"
import type { Link } from "../../../src/model/Link.ts"
import {
  freshFor_ms,
  LinkInvalidations,
  type LinkChangesSubscriber
} from "../../../src/storage/links/LinkInvalidations.ts"
import { StepScheduler } from "../../support/StepScheduler.ts"
import { plainRow } from "../../support/Plain.ts"

/** A read that the cache has sent to the store. */
export interface Read {
  readonly key: string
  /** The row as the store shows it to this read, once it has looked. */
  seen: Link | null | undefined
  readonly answer: (row: Exit.Exit<Link | null, string>) => void
}

/** A row that was replaced. */
interface Replaced {
  readonly row: Link
  readonly at_ms: number
}

/** A write that goes through the cache. */
export interface Write {
  readonly key: string
  /** Whether it has come to the store: a caller may be interrupted before. */
  isSent: boolean
  /** The version that it left in the store, once it has been applied. */
  applied: number | undefined
  readonly answer: Deferred.Deferred<void, string>
  readonly fiber: Fiber.RuntimeFiber<void, string>
}

/** A question to the cache. */
export interface Get {
  readonly key: string
  /** What had been acknowledged when it was asked; it must not get anything older. */
  atLeast: number
  readonly fiber: Fiber.RuntimeFiber<Link | null, string>
}

/** The version of a row: how often it was written; 0 where there is none. */
export const versionOf = (link: Link | null): number => link?.updatedAt ?? 0

export interface LinkCacheOptions {
  readonly max: number
  /** What it reads: the store, or another cache, which may hear of a change later. */
  readonly behind: "store" | "cache"
}

/**
 * A cache over a store whose every move is the test's: when a read looks at its row, when its answer arrives, when a write is applied,
 * when it is acknowledged, what time it is, and which fiber goes on.
 */
export class LinkCacheWorld {
  readonly scheduler = new StepScheduler()
  readonly reads: Array<Read> = []
  readonly writes: Array<Write> = []
  readonly gets: Array<Get> = []
  /** Reads and writes that were answered. */
  readonly done = { reads: new Set<Read>(), writes: new Set<Write>() }
  readonly cache: LinkCache.LinkCache<string>
  now_ms = 1_000
  /** Whether news of changes elsewhere comes. */
  isFresh = true
  awayFor: number | undefined = undefined
  /** Of which keys alone that is said, since they are in another database; of all where there is no such set. */
  silent: ReadonlySet<string> | undefined = undefined
  /** The cache's ear for the news. */
  news: LinkChangesSubscriber | undefined
  readonly #rows = new Map<string, Link>()
  readonly #replaced = new Map<string, ReadonlyArray<Replaced>>()
  readonly behind: LinkCacheOptions["behind"]
  readonly #acknowledged = new Map<
    string,
    ReadonlyArray<{ readonly version: number; readonly at_ms: number }>
  >()
  readonly #clock: Clock.Clock = {
    ...Clock.make(),
    unsafeCurrentTimeNanos: () => BigInt(this.now_ms) * 1_000_000n
  }
  readonly #scope = Effect.runSync(Scope.make())

  constructor({ behind, max }: LinkCacheOptions) {
    this.behind = behind
    this.cache = LinkCache.make<string>({
      level: "l1",
      max,
      maxBytes: 1_000_000,
      readAge_ms: behind === "cache" ? freshFor_ms : 0,
      staleMax_ms: 60_000,
      read: (key, answer) => void this.reads.push({ key, seen: undefined, answer })
    }).pipe(
      Scope.extend(this.#scope),
      Effect.provideService(LinkInvalidations, {
        isFresh: (_, key) => this.isFresh || !this.#isSilent(key),
        awayFor: (_, key) => (this.#isSilent(key) ? this.awayFor : undefined),
        subscribe: (subscriber) =>
          Effect.sync(() => {
            this.news = subscriber
          })
      }),
      Effect.withClock(this.#clock),
      Effect.runSync
    )
  }

  #isSilent(key: string | undefined): boolean {
    return this.silent === undefined || (key !== undefined && this.silent.has(key))
  }

  /** What the cache shows without an effect. */
  peek(key: string): Link | undefined {
    return this.cache.getNow(key)
  }

  /** The row in the store. */
  row(key: string): Link | null {
    return this.#rows.get(key) ?? null
  }

  /** Changes the row behind the cache's back. */
  change(key: string): number {
    const row = this.row(key)
    const version = versionOf(row) + 1
    if (row !== null) this.#replaced.set(key, [...this.#replacedLately(key), { row, at_ms: this.now_ms }])
    this.#rows.set(key, {
      ...plainRow,
      key,
      url: `https://example.com/${version}`,
      custom: false,
      createdAt: 1,
      updatedAt: version
    })
    return version
  }

  /** From now on no question may get anything older than the present row. */
  acknowledge(key: string, version: number = versionOf(this.row(key))): void {
    const before = this.#acknowledged.get(key) ?? []
    this.#acknowledged.set(key, [...before, { version, at_ms: this.now_ms }])
  }

  /** The version that is kept from now on, or a newer one; `of_ms`: what was acknowledged until then. */
  acknowledged(key: string, of_ms = this.now_ms): number {
    const heard = (this.#acknowledged.get(key) ?? []).filter(({ at_ms }) => at_ms <= of_ms)
    return Math.max(0, ...heard.map(({ version }) => version))
  }

  get(key: string): Get {
    const get: Get = {
      key,
      atLeast: 0,
      fiber: this.#fork(
        Effect.suspend(() => {
          get.atLeast = this.#leastNow(key)
          return LinkCache.get(this.cache, key)
        })
      )
    }
    this.gets.push(get)
    return get
  }

  /** Asks, and lets the question come as far as it can. */
  ask(key = "k"): Get {
    const get = this.get(key)
    this.settle()
    return get
  }

  /** Asks, and gives the read that this takes, or the version that the cache has. */
  readAgain(key = "k"): Read | number {
    const before = this.reads.length
    const get = this.ask(key)
    return this.reads[before] ?? this.version(get)
  }

  /** Fills the cache with the present row, by a read; gives its version. */
  warm(key = "k"): number {
    const get = this.ask(key)
    this.answer(this.reads.at(-1)!)
    this.settle()
    return this.version(get)
  }

  /** Starts a write; what it leaves is told to the cache to keep, as a create or an update would. */
  write(key: string): Write {
    const answer = Deferred.unsafeMake<void, string>(FiberId.none)
    let left: Link | null = null
    const sent = Effect.suspend(() => {
      write.isSent = true
      return Deferred.await(answer)
    })
    const applied = Effect.map(sent, () => {
      left = write.applied === undefined ? null : { ...this.row(key)!, updatedAt: write.applied }
    })
    const write: Write = {
      key,
      isSent: false,
      applied: undefined,
      answer,
      fiber: this.#fork(
        this.cache
          .write([key], applied, () => (left === null ? [] : [left]))
          .pipe(
            Effect.onExit((exit) =>
              // A caller who was interrupted has been told nothing.
              Exit.isInterrupted(exit)
                ? Effect.void
                : Effect.sync(() => this.acknowledge(key, write.applied ?? 0))
            )
          )
      )
    }
    this.writes.push(write)
    return write
  }

  /** The read looks at its row: at the oldest that it may still be shown, where it is shown it by a cache. */
  look(read: Read): void {
    if (read.seen !== undefined) return
    const [oldest] = this.behind === "cache" ? this.#replacedLately(read.key) : []
    read.seen = oldest?.row ?? this.row(read.key)
  }

  /** The read's answer arrives. */
  answer(read: Read): void {
    this.look(read)
    this.done.reads.add(read)
    read.answer(Exit.succeed(read.seen!))
  }

  failRead(read: Read): void {
    this.done.reads.add(read)
    read.answer(Exit.fail("the read failed"))
  }

  apply(write: Write): void {
    if (write.applied === undefined) write.applied = this.change(write.key)
  }

  /** The write's acknowledgement arrives. */
  end(write: Write): void {
    this.apply(write)
    this.done.writes.add(write)
    Deferred.unsafeDone(write.answer, Exit.void)
  }

  /** The write fails, whether or not it has been applied. */
  fail(write: Write): void {
    this.done.writes.add(write)
    Deferred.unsafeDone(write.answer, Exit.fail("the write failed"))
  }

  settle(choices: Iterable<number> = []): void {
    this.scheduler.settle(choices)
  }

  /** What a question got: `undefined` while it waits. */
  result(get: Get): Exit.Exit<Link | null, string> | undefined {
    return get.fiber.unsafePoll() ?? undefined
  }

  /** The version that a question got; a question that waits or failed is a failed test. */
  version(get: Get): number {
    const result = this.result(get)
    if (result === undefined) throw new Error(`the question for ${get.key} waits`)
    return versionOf(
      Exit.getOrElse(result, (cause) => {
        throw new Error(String(cause))
      })
    )
  }

  /** What a question may get at least. */
  #leastNow(key: string): number {
    if (this.behind === "cache") return this.acknowledged(key, this.now_ms - freshFor_ms)
    // Where changes may have been missed, the store itself is asked.
    return this.isFresh ? this.acknowledged(key) : versionOf(this.row(key))
  }

  #replacedLately(key: string): ReadonlyArray<Replaced> {
    return (this.#replaced.get(key) ?? []).filter(({ at_ms }) => this.now_ms - at_ms < freshFor_ms)
  }

  #fork<A, E>(effect: Effect.Effect<A, E>): Fiber.RuntimeFiber<A, E> {
    return this.scheduler.fork(Effect.withClock(effect, this.#clock))
  }
}
