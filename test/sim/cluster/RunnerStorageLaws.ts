import { Runner, RunnerAddress, type RunnerStorage, ShardId } from "@effect/cluster"
import { Clock, Effect, Exit, Schedule, Scope } from "effect"
import { expect } from "vitest"

/** A process with runner storage. */
export interface Member {
  readonly storage: RunnerStorage.RunnerStorage["Type"]
  readonly address: RunnerAddress.RunnerAddress
  /** Ends its sessions in the database. */
  readonly disconnect: Effect.Effect<void>
  /** Has the network swallow what goes over the connections that it has now. */
  readonly silence: Effect.Effect<void>
}

/** Makes a member that has this port; it stops in order when the scope closes. */
export type MakeMember = (port: number) => Effect.Effect<Member, unknown, Scope.Scope>

/** Whether time is the world's, in which nothing is held up, or a machine's. */
export type Time = "virtual" | "real"

const shards = (...numbers: ReadonlyArray<number>) => numbers.map((number) => ShardId.make("default", number))

const numbersOf = (ids: ReadonlyArray<ShardId.ShardId>) => ids.map(({ id }) => id).toSorted((a, b) => a - b)

const acquire = ({ address, storage }: Member, ...numbers: ReadonlyArray<number>) =>
  Effect.map(storage.acquire(address, shards(...numbers)), numbersOf)

const refresh = ({ address, storage }: Member, ...numbers: ReadonlyArray<number>) =>
  Effect.map(storage.refresh(address, shards(...numbers)), numbersOf)

const register = ({ address, storage }: Member) =>
  storage.register(new Runner.Runner({ address, groups: ["default"], weight: 1 }), true)

const ports = ({ storage }: Member) =>
  Effect.map(storage.getRunners, (runners) =>
    runners.map(([{ address }, healthy]) => `${address.port} ${healthy}`).toSorted()
  )

/** Asks until it is so, every 50 ms. */
const until = <A, E, R>(ask: Effect.Effect<A, E, R>, holds: (answer: A) => boolean) =>
  ask.pipe(
    Effect.filterOrFail(holds, () => "not yet" as const),
    Effect.retry(Schedule.spaced(50)),
    Effect.timeout(15_000)
  )

const pair = (make: MakeMember) => Effect.all([make(1), make(2)])

type Law = (make: MakeMember, time: Time) => Effect.Effect<void, unknown, Scope.Scope>

/** What runners rely on, whatever holds their locks; each law has a database of its own. */
export const laws: Readonly<Record<string, Law>> = {
  "lists those that registered, with their health, once each": Effect.fn(function* (make) {
    const [a, b] = yield* pair(make)
    const first = yield* register(a)
    expect(yield* register(b)).not.toEqual(first)
    expect(yield* register(a)).toEqual(first)
    yield* a.storage.setRunnerHealth(b.address, false)
    expect(yield* ports(a)).toEqual(["1 true", "2 false"])
    yield* register(b)
    expect(yield* ports(b)).toEqual(["1 true", "2 true"])
    yield* a.storage.unregister(b.address)
    expect(yield* ports(b)).toEqual(["1 true"])
  }),

  "grants a shard to one alone": Effect.fn(function* (make) {
    const [a, b] = yield* pair(make)
    expect(yield* acquire(a, 1, 2)).toEqual([1, 2])
    expect(yield* acquire(b, 2, 3)).toEqual([3])
    expect(yield* acquire(a, 3)).toEqual([1, 2])
  }),

  "keeps what is refreshed, and takes what became free": Effect.fn(function* (make) {
    const [a, b] = yield* pair(make)
    expect(yield* acquire(a, 1, 2)).toEqual([1, 2])
    expect(yield* refresh(a, 1, 2)).toEqual([1, 2])
    expect(yield* refresh(b, 1, 3)).toEqual([3])
    expect(yield* refresh(b)).toEqual([])
    expect(yield* acquire(b, 1, 2)).toEqual([3])
  }),

  "frees what is released, however often it was acquired": Effect.fn(function* (make) {
    const [a, b] = yield* pair(make)
    yield* acquire(a, 1, 2)
    yield* acquire(a, 1, 2)
    yield* a.storage.release(a.address, shards(1)[0]!)
    expect(yield* acquire(b, 1, 2)).toEqual([1])
    yield* b.storage.release(b.address, shards(2)[0]!)
    expect(yield* refresh(a, 2)).toEqual([2])
  }),

  "frees everything that is released at once": Effect.fn(function* (make) {
    const [a, b] = yield* pair(make)
    yield* acquire(a, 1, 2, 3)
    yield* a.storage.releaseAll(a.address)
    expect(yield* acquire(b, 1, 2, 3)).toEqual([1, 2, 3])
    yield* a.storage.releaseAll(a.address)
    expect(yield* acquire(a, 1, 2, 3)).toEqual([])
  }),

  "frees everything of one that stops": Effect.fn(function* (make) {
    const scope = yield* Scope.make()
    const a = yield* Scope.extend(make(1), scope)
    const b = yield* make(2)
    yield* acquire(a, 1, 2)
    yield* Scope.close(scope, Exit.void)
    expect(yield* until(acquire(b, 1, 2), ({ length }) => length === 2)).toEqual([1, 2])
  }),

  "frees everything of one whose connection breaks, and lets it go on with another one": Effect.fn(
    function* (make) {
      const [a, b] = yield* pair(make)
      yield* acquire(a, 1, 2)
      yield* a.disconnect
      expect(yield* until(acquire(b, 1), ({ length }) => length === 1)).toEqual([1])
      expect(yield* Effect.isFailure(refresh(a, 1, 2))).toBe(true)
      expect(yield* until(refresh(a, 1, 2), ({ length }) => length === 1)).toEqual([2])
      expect(yield* acquire(b, 1, 2)).toEqual([1])
    }
  ),

  "lets one go on with other connections when its own do not answer any more": Effect.fn(function* (make) {
    const a = yield* make(1)
    yield* acquire(a, 1, 2)
    yield* a.silence
    expect(yield* Effect.isFailure(refresh(a, 1, 2))).toBe(true)
    expect(yield* until(refresh(a, 1, 2), ({ length }) => length === 2)).toEqual([1, 2])
    expect(yield* acquire(yield* make(2), 1, 2)).toEqual([])
  }),

  "frees everything of one that says nothing for 6 s, and of nobody else": Effect.fn(function* (make, time) {
    const [a, b] = yield* pair(make)
    const c = yield* make(3)
    // Before its last word, not behind it: a test that is held up in between would see less than the 6 s.
    const silent_ms = yield* Clock.currentTimeMillis
    yield* acquire(a, 1, 2)
    yield* acquire(b, 3, 4)
    const refreshing = Effect.retry(refresh(b, 3, 4), Schedule.spaced(50))
    yield* Effect.fork(Effect.repeat(refreshing, Schedule.spaced(1_000)))
    yield* until(acquire(c, 1, 2, 3, 4), ({ length }) => length === 2)
    const freed_ms = yield* Clock.currentTimeMillis
    expect(freed_ms - silent_ms).toBeGreaterThan(5_500)
    if (time === "virtual") expect(freed_ms - silent_ms).toBeLessThan(9_000)
    expect(yield* refresh(b, 3, 4)).toEqual([3, 4])
  })
}
