import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { concat, count, empty, type PackedKeys, slice, toStrings } from "../../../src/keys/PackedKeys.ts"
import type { KeyFile } from "../../../src/storage/keys/KeyFile.ts"
import type { KeyStock } from "../../../src/storage/keys/KeyStock.ts"
import * as KeyStockFile from "../../../src/storage/keys/KeyStockFile.ts"
import { Fenced, StorageError } from "../../../src/storage/StorageError.ts"
import * as KeyStockMemory from "../../../src/sim/stores/KeyStockMemory.ts"
import { keys, numbered } from "../../support/samples/SomeKeys.ts"

const shard = 5

/** A file in memory. */
const makeFile = () => {
  let inFile: PackedKeys = empty
  const file: typeof KeyFile.Service = {
    width: 8,
    append: (more) => Effect.sync(() => void (inFile = concat(inFile, more))),
    take: (wanted) =>
      Effect.sync(() => {
        const taken = slice(inFile, 0, Math.min(wanted, count(inFile)))
        inFile = slice(inFile, count(taken), count(inFile))
        return taken
      }),
    size: Effect.sync(() => count(inFile))
  }
  return { file, left: () => toStrings(inFile) }
}

type Failure = StorageError | Fenced

/** Takes 6 of 20 keys of a file while records fail so; gives what the file has after a graceful shutdown, in its order. */
const leftAfter = (failure: Failure) =>
  Effect.gen(function* () {
    const { file, left } = makeFile()
    yield* file.append(keys("k", 20))
    const base = KeyStockMemory.makeOver(KeyStockMemory.emptyTables(), "none")
    const failing: typeof KeyStock.Service = { ...base, record: () => Effect.fail(failure) }
    const owner = yield* base.claim(shard)
    const taken = yield* Effect.scoped(
      Effect.gen(function* () {
        const stock = yield* KeyStockFile.make(failing, file, { low: 2, high: 8 })
        return yield* Effect.flip(stock.take({ ...owner, sequence: 0 }, 6))
      })
    )
    expect(taken._tag).toBe(failure._tag)
    return left().toSorted()
  })

const refused = (applied: "no" | "unknown") =>
  new StorageError({ operation: "KeyStock.record", applied, reason: "for the test" })

it.effect("puts keys back into the file at a graceful shutdown that were certainly not recorded", () =>
  Effect.gen(function* () {
    const all = numbered("k", 20).toSorted()
    expect(yield* leftAfter(refused("no"))).toEqual(all)
    expect(yield* leftAfter(new Fenced({ shard, epoch: 1, newest: 2 }))).toEqual(all)
  })
)

it.effect("never gives keys again that may have been recorded", () =>
  Effect.gen(function* () {
    expect(yield* leftAfter(refused("unknown"))).toEqual(numbered("k", 20).slice(6).toSorted())
  })
)

it.effect("gives the keys of a record that was refused to the next batch, before others and each once", () =>
  Effect.gen(function* () {
    const { file } = makeFile()
    yield* file.append(keys("k", 20))
    const base = KeyStockMemory.makeOver(KeyStockMemory.emptyTables(), "none")
    let records = 0
    const failingOnce: typeof KeyStock.Service = {
      ...base,
      record: (batch, keys) => (records++ === 0 ? refused("no") : base.record(batch, keys))
    }
    const owner = yield* base.claim(shard)
    yield* Effect.scoped(
      Effect.gen(function* () {
        const stock = yield* KeyStockFile.make(failingOnce, file, { low: 2, high: 8 })
        yield* Effect.exit(stock.take({ ...owner, sequence: 0 }, 6))
        const taken = yield* stock.take({ ...owner, sequence: 1 }, 9)
        expect(toStrings(taken)).toEqual(numbered("k", 9))
        expect(yield* stock.size).toBe(11)
      })
    )
  })
)

it.effect(
  "puts back at a graceful shutdown what a refill under way has read and does not record, and then gives none",
  () =>
    Effect.gen(function* () {
      const { file, left } = makeFile()
      yield* file.append(keys("k", 20))
      const base = KeyStockMemory.makeOver(KeyStockMemory.emptyTables(), "none")
      const isAsked = yield* Deferred.make<void>()
      const answer = yield* Deferred.make<void, StorageError>()
      const slow: typeof KeyStock.Service = {
        ...base,
        record: () => Effect.zipRight(Deferred.succeed(isAsked, undefined), Deferred.await(answer))
      }
      const owner = yield* base.claim(shard)
      const scope = yield* Scope.make()
      const stock = yield* Scope.extend(KeyStockFile.make(slow, file, { low: 2, high: 8 }), scope)
      const taking = yield* Effect.fork(stock.take({ ...owner, sequence: 0 }, 6))
      yield* Deferred.await(isAsked)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* Effect.repeatN(Effect.yieldNow(), 20)
      yield* Deferred.fail(answer, refused("no"))
      yield* Fiber.await(taking)
      yield* Fiber.join(closing)
      expect(left().toSorted()).toEqual(numbered("k", 20).toSorted())
      expect(count(yield* stock.take({ ...owner, sequence: 1 }, 6))).toBe(0)
      expect(left().length).toBe(20)
    })
)
