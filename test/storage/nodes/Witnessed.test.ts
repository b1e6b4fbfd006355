import { expect, it } from "@effect/vitest"
import { Effect, Either, Logger, TestClock } from "effect"
import { describe } from "vitest"
import * as Metered from "../../../src/telemetry/Metered.ts"
import { toStrings } from "../../../src/keys/PackedKeys.ts"
import * as DatabaseMarkMemory from "../../../src/sim/stores/DatabaseMarkMemory.ts"
import * as KeyPoolMemory from "../../../src/storage/keys/KeyPoolMemory.ts"
import * as KeyRangeStoreMemory from "../../../src/sim/stores/KeyRangeStoreMemory.ts"
import * as KeyStockMemory from "../../../src/sim/stores/KeyStockMemory.ts"
import { StorageError } from "../../../src/storage/StorageError.ts"
import { nothing, Witness } from "../../../src/storage/nodes/Witness.ts"
import * as Witnessed from "../../../src/storage/nodes/Witnessed.ts"
import * as WitnessMemory from "../../../src/sim/stores/WitnessMemory.ts"
import { ForgetfulDatabase } from "../../support/ForgetfulDatabase.ts"
import { keys } from "../../support/samples/SomeKeys.ts"

const slot = { length: 7, range: 3 }
const advance = (process: typeof Witnessed.Witnessed.Service, count = 10) =>
  process.ranges.advance(slot, { count, size: 1_000 })

/** A database, its witness, and two processes that work on it. */
const deployment = Effect.gen(function* () {
  const database = new ForgetfulDatabase()
  const witness = yield* WitnessMemory.make
  const start = database.witnessed(witness)
  return { database, witness, start, one: yield* start, other: yield* start }
})

/** Another process: meanwhile something else happens when it asks for 7 numbers. */
const hearing = (
  { database, witness }: Pick<Effect.Effect.Success<typeof deployment>, "database" | "witness">,
  meanwhile: () => (typeof Witnessed.Witnessed.Service)["look"]
) => {
  const ranges = KeyRangeStoreMemory.makeOver(database.tables.slots)
  return Witnessed.make({
    witness,
    mark: database.mark,
    ranges: {
      ...ranges,
      advance: (slot, options) =>
        Effect.tap(ranges.advance(slot, options), () =>
          options.count === 7 ? Effect.orDie(meanwhile()) : Effect.void
        )
    },
    stock: KeyStockMemory.makeOver(database.tables)
  })
}

const said: Array<string> = []
const listening = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ message }) => void said.push(String(message)))
)

describe("a database with a witness", () => {
  it.effect("hands out no number of a range again that it has forgotten, no matter who asks", () =>
    Effect.gen(function* () {
      const { database, one, other } = yield* deployment
      expect(yield* advance(one)).toEqual({ first: 0, count: 10 })
      const restore = database.snapshot()
      expect(yield* advance(one)).toEqual({ first: 10, count: 10 })
      expect(yield* advance(other)).toEqual({ first: 20, count: 10 })
      restore()
      const next = yield* advance(one)
      expect(next.first).toBeGreaterThanOrEqual(30)
      expect((yield* advance(other)).first).toBeGreaterThanOrEqual(next.first + 10)
      expect(yield* database.mark.regressions).toMatchObject([{ mark: 2, skipped: 10 }])
    }).pipe(Effect.provide(listening))
  )

  it.effect("hands out no number twice that a promoted standby has forgotten before its mark moved", () =>
    Effect.gen(function* () {
      const { database, other, witness } = yield* deployment
      const ranges = KeyRangeStoreMemory.makeOver(database.tables.slots)
      let failOver = () => {}
      const one = yield* Witnessed.make({
        witness,
        mark: database.mark,
        ranges: {
          ...ranges,
          advance: (slot, options) => Effect.tap(ranges.advance(slot, options), () => Effect.sync(failOver))
        },
        stock: KeyStockMemory.makeOver(database.tables)
      })
      yield* advance(one)
      const restore = database.snapshot()
      failOver = () => {
        restore()
        database.promote()
        failOver = () => {}
      }
      const { first } = yield* advance(one)
      expect((yield* advance(other)).first).toBeGreaterThanOrEqual(first + 10)
      expect((yield* witness.read).timeline).toBe(1)
      expect(yield* database.mark.regressions).toEqual([])
    })
  )

  it.effect(
    "passes over no number when a standby that has every commit was promoted before it is asked",
    () =>
      Effect.gen(function* () {
        const { database, one, other } = yield* deployment
        expect(yield* advance(one)).toEqual({ first: 0, count: 10 })
        database.promote()
        expect(yield* advance(one)).toEqual({ first: 10, count: 10 })
        expect(yield* advance(other)).toEqual({ first: 20, count: 10 })
      })
  )

  it.effect("hands out nothing of a primary in whose place a standby has been promoted", () =>
    Effect.gen(function* () {
      const { database, one, other } = yield* deployment
      yield* advance(one)
      const before = database.snapshot()
      database.promote()
      yield* advance(other)
      before()
      database.tables.own.mark = 1_000
      expect(yield* Effect.flip(advance(one))).toMatchObject({
        _tag: "StorageError",
        applied: "unknown",
        reason: expect.stringContaining("on timeline 0")
      })
    })
  )

  describe("while a former primary lives on beside a promoted standby, which lags", () => {
    /** A process over whatever server it gets; `use` is done once, at a moment of its way. */
    const over = (
      witness: typeof Witness.Service,
      server: () => ForgetfulDatabase,
      moment: "read" | "move" | "raise" | "raised",
      use: Effect.Effect<void>
    ) => {
      const at = (place: typeof moment) => (place === moment ? use : Effect.void)
      const first = server()
      return Witnessed.make({
        witness: {
          ...witness,
          read: Effect.zipRight(at("read"), witness.read),
          raise: (seen) => Effect.zipRight(at("raise"), Effect.zipLeft(witness.raise(seen), at("raised")))
        },
        mark: {
          ...first.mark,
          look: Effect.suspend(() => server().mark.look),
          move: (least) =>
            Effect.zipRight(
              at("move"),
              Effect.suspend(() => server().mark.move(least))
            ),
          recover: (witnessed) => Effect.suspend(() => server().mark.recover(witnessed))
        },
        ranges: {
          ...KeyRangeStoreMemory.makeOver(first.tables.slots),
          advance: (slot, options) =>
            Effect.suspend(() => KeyRangeStoreMemory.makeOver(server().tables.slots).advance(slot, options))
        },
        stock: KeyStockMemory.makeOver(first.tables)
      })
    }

    for (const outer of ["the former one's", "the promoted one's"]) {
      it.effect.each(["read", "move", "raise", "raised"] as const)(
        `hands out no number twice, whoever comes in between (${outer} %s)`,
        (moment) =>
          Effect.gen(function* () {
            const { database, witness } = yield* deployment
            let server = database
            let meanwhile: Effect.Effect<void> = Effect.void
            const use = Effect.suspend(() => meanwhile)
            const isFormer = outer === "the former one's"
            const late = yield* over(witness, () => database, moment, isFormer ? use : Effect.void)
            const other = yield* over(witness, () => server, moment, isFormer ? Effect.void : use)
            const given: Array<number> = []
            const give = (process: typeof late) =>
              Effect.map(Effect.either(advance(process)), (answer) => {
                if (Either.isRight(answer)) given.push(answer.right.first)
              })
            yield* Effect.all([give(late), give(other)])
            expect(given).toEqual([0, 10])
            const standby = database.standby()
            let uses = 0
            meanwhile = Effect.suspend(() => {
              uses++
              meanwhile = Effect.void
              server = standby
              return give(isFormer ? other : late)
            })
            if (!isFormer) server = standby
            yield* give(isFormer ? late : other)
            expect(uses).toBe(1)
            expect(given.length).toBeGreaterThanOrEqual(3)
            yield* give(other)
            expect(new Set(given).size).toBe(given.length)
          }).pipe(Effect.provide(listening))
      )
    }
  })

  it.effect("does not recover a primary in whose place a standby has been promoted", () =>
    Effect.gen(function* () {
      const { database, one, witness } = yield* deployment
      yield* advance(one)
      const other = yield* database.standby().witnessed(witness)
      yield* advance(other)
      yield* advance(other)
      for (const ask of [one.look, one.compare, Effect.asVoid(advance(one))]) {
        expect(yield* Effect.flip(ask)).toMatchObject({ reason: expect.stringContaining("on timeline 0") })
      }
      expect(yield* database.mark.regressions).toEqual([])
    })
  )

  it.effect("hands out nothing that was asked of the state that it has been recovered from", () =>
    Effect.gen(function* () {
      const { database, one, other, witness } = yield* deployment
      yield* advance(one)
      const restore = database.snapshot()
      yield* advance(one, 50)
      restore()
      // Its numbers are of the state before, and its comparison comes after the other process has recovered that.
      const slow = yield* hearing({ database, witness }, () => other.look)
      const behind = { ...database.tables.own }
      database.tables.own.mark = 1_000
      yield* Effect.orDie(slow.compare)
      Object.assign(database.tables.own, behind)
      const { first } = yield* advance(slow, 7)
      expect(first).toBeGreaterThanOrEqual(60)
    }).pipe(Effect.provide(listening))
  )

  it.effect("hands out nothing that was asked of a state whose recovery it hears of meanwhile", () =>
    Effect.gen(function* () {
      const { database, one, other, witness } = yield* deployment
      yield* advance(one)
      const restore = database.snapshot()
      yield* advance(one, 50)
      const slow: typeof Witnessed.Witnessed.Service = yield* hearing({ database, witness }, () =>
        Effect.zipRight(other.look, slow.look)
      )
      yield* Effect.orDie(slow.compare)
      restore()
      const { first } = yield* advance(slow, 7)
      expect(first).toBeGreaterThanOrEqual(60)
    }).pipe(Effect.provide(listening))
  )

  it.effect(
    "gives up stocked and recorded keys that may have been used, and voids the claim that took them",
    () =>
      Effect.gen(function* () {
        const { database, one } = yield* deployment
        const claim = yield* one.stock.claim(0)
        yield* one.stock.add(keys("s", 10))
        yield* one.stock.record({ ...claim, sequence: 1 }, keys("r", 5))
        const restore = database.snapshot()
        const taken = toStrings(yield* one.stock.take({ ...claim, sequence: 2 }, 4))
        expect(taken).toHaveLength(4)
        restore()
        expect(yield* Effect.flip(one.stock.take({ ...claim, sequence: 2 }, 3))).toMatchObject({
          _tag: "Fenced"
        })
        const again = yield* one.stock.claim(0)
        expect(again.epoch).toBeGreaterThan(claim.epoch)
        expect(yield* one.stock.openBatches(0)).toEqual([])
        expect(toStrings(yield* one.stock.take({ ...again, sequence: 1 }, 10))).toEqual([])
      }).pipe(Effect.provide(listening))
  )

  it.effect("finishes no records of a state that was forgotten, whichever process asks first", () =>
    Effect.gen(function* () {
      const { database, one, start } = yield* deployment
      const claim = yield* one.stock.claim(0)
      yield* one.stock.record({ ...claim, sequence: 1 }, keys("r", 5))
      const restore = database.snapshot()
      // The keys are bound, and nothing else happens than that a second passes.
      yield* one.compare
      restore()
      const next = yield* start
      yield* next.stock.claim(0)
      expect(yield* next.stock.openBatches(0)).toEqual([])
    }).pipe(Effect.provide(listening))
  )

  it.effect("finishes the records of a crash, in which nothing was forgotten", () =>
    Effect.gen(function* () {
      const { database, one, start } = yield* deployment
      const claim = yield* one.stock.claim(0)
      yield* one.stock.record({ ...claim, sequence: 1 }, keys("r", 5))
      yield* one.compare
      const next = yield* start
      yield* next.stock.claim(0)
      expect(yield* next.stock.openBatches(0)).toHaveLength(1)
      expect(yield* database.mark.regressions).toEqual([])
    })
  )

  it.effect("is not taken for forgetful when an answer of the database, or of the witness, is lost", () =>
    Effect.gen(function* () {
      const { database, witness } = yield* deployment
      let isToBeLost = false
      let isLost = false
      const lost = new StorageError({ operation: "a", applied: "unknown", reason: "lost" })
      const losing = <A, E>(self: Effect.Effect<A, E>) =>
        Effect.flatMap(self, (answer) => (isLost ? lost : Effect.succeed(answer)))
      const { mark } = database
      const ranges = KeyRangeStoreMemory.makeOver(database.tables.slots)
      const process = yield* Witnessed.make({
        witness: Witness.of({ ...witness, raise: (seen) => losing(witness.raise(seen)) }),
        mark: { ...mark, move: (least) => losing(mark.move(least)) },
        ranges: {
          ...ranges,
          // From when on the numbers have left.
          advance: (asked, options) =>
            Effect.tap(ranges.advance(asked, options), () => Effect.sync(() => (isLost = isToBeLost)))
        },
        stock: KeyStockMemory.makeOver(database.tables)
      })
      yield* advance(process)
      isToBeLost = true
      expect(yield* Effect.flip(advance(process))).toEqual(lost)
      isToBeLost = false
      isLost = false
      expect(yield* advance(process)).toEqual({ first: 20, count: 10 })
      expect(yield* mark.regressions).toEqual([])
    })
  )

  it.effect("lets nothing go while no witness answers, however long that takes", () =>
    Effect.gen(function* () {
      const { database, witness } = yield* deployment
      let isAway = false
      const process = yield* database.witnessed(
        Witness.of({ ...witness, raise: (seen) => (isAway ? Effect.never : witness.raise(seen)) })
      )
      yield* advance(process)
      isAway = true
      const asked = yield* Effect.fork(Effect.flip(advance(process)))
      yield* TestClock.adjust("2 seconds")
      expect(yield* asked).toMatchObject({ _tag: "StorageError", reason: "the witness does not answer" })
      isAway = false
      expect((yield* advance(process)).first).toBe(10)
    })
  )

  it.effect("loses no numbers of a range while the witness takes nothing, as one that is full", () =>
    Effect.gen(function* () {
      const { database, witness } = yield* deployment
      let isFull = false
      const full = new StorageError({ operation: "Witness.raise", applied: "no", reason: "it is full" })
      const process = yield* database.witnessed(
        Witness.of({ ...witness, raise: (seen) => (isFull ? full : witness.raise(seen)) })
      )
      yield* advance(process)
      isFull = true
      for (let times = 0; times < 5; times++)
        expect(yield* Effect.flip(advance(process))).toMatchObject({ reason: "it is full" })
      isFull = false
      expect((yield* advance(process)).first).toBe(10)
    })
  )

  it.effect(
    "is compared with what the process itself has seen, where its witness has forgotten as well",
    () =>
      Effect.gen(function* () {
        const database = new ForgetfulDatabase()
        const process = yield* database.witnessed(
          Witness.of({ read: Effect.succeed(nothing), raise: () => Effect.void, adopt: () => Effect.void })
        )
        yield* advance(process)
        const restore = database.snapshot()
        yield* advance(process)
        restore()
        expect((yield* advance(process)).first).toBeGreaterThanOrEqual(20)
      }).pipe(Effect.provide(listening))
  )

  it.effect("tells what it has forgotten, once, and the other processes that it had", () =>
    Effect.gen(function* () {
      said.length = 0
      const { database, one, other } = yield* deployment
      const before = Metered.read(Witnessed.regressions).count
      yield* Effect.all([one.compare, other.compare])
      const restore = database.snapshot()
      yield* advance(one, 100)
      yield* other.compare
      restore()
      yield* one.look
      yield* other.look
      yield* one.look
      expect(Metered.read(Witnessed.regressions).count - before).toBe(1)
      expect(said).toHaveLength(2)
      expect(said[0]).toMatch(/^The database has forgotten .*: 100 keys are skipped, and 0 that stood ready/)
      expect(said[1]).toMatch(/^The database had forgotten/)
    }).pipe(Effect.provide(listening))
  )

  it.effect("is refused where it is another one, or an old primary, until it is adopted", () =>
    Effect.gen(function* () {
      const { database, start, witness } = yield* deployment
      database.tables.own.identity = { system: "1", timeline: 3 }
      yield* (yield* start).compare
      database.tables.own.identity = { system: "2", timeline: 3 }
      const foreign = yield* Effect.flip((yield* start).compare)
      expect(foreign.message).toMatch(/system 2\) is another one .*system 1\).*skip-keys$/)
      // Nor does anything leave it.
      expect(yield* Effect.flip(advance(yield* start))).toMatchObject({ _tag: "StorageError", applied: "no" })
      database.tables.own.identity = { system: "1", timeline: 2 }
      expect((yield* Effect.flip((yield* start).compare)).message).toMatch(/on timeline 2, .* timeline 3/)
      yield* witness.adopt(database.tables.own.identity)
      yield* (yield* start).compare
      database.tables.own.identity = { system: "1", timeline: 9 }
      yield* (yield* start).compare
      // A server that does not say who it is.
      database.tables.own.identity = { system: undefined, timeline: 9 }
      yield* (yield* start).compare
    })
  )
})

describe("a pool that knows of epochs that the database has forgotten", () => {
  it.effect("names them, and the next claim goes beyond", () =>
    Effect.gen(function* () {
      const stock = KeyStockMemory.makeOver(DatabaseMarkMemory.emptyTables())
      const pool = yield* KeyPoolMemory.make({ shards: 1, settleAfter: 0 })
      yield* pool.claim({ shard: 0, epoch: 40 })
      const refused = yield* Effect.flip(pool.claim(yield* stock.claim(0)))
      expect(refused).toMatchObject({ _tag: "Fenced", newest: 40 })
      yield* pool.claim(yield* stock.claim(0, 40))
    })
  )
})
