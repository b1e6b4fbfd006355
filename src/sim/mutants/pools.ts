import { Effect } from "effect"
import type { KeyBuffer } from "../../actors/keys/KeyBuffer.ts"
import { concat, count, fromStrings, slice, toStrings } from "../../keys/PackedKeys.ts"
import type { Command } from "../redis/VirtualRedis.ts"
import { idOf, type Tables } from "../stores/KeyStockMemory.ts"
import type { BatchId, PoolClaim } from "../../storage/keys/KeyStock.ts"
import type { PackedKeys } from "../../keys/PackedKeys.ts"
import { happens, later, type Mutant, withFaults } from "./Mutant.ts"

/** Owners change all the time, and for a while both go on. */
const move = { perMinute: 120, least_ms: 500, most_ms: 3_000 }

/** Short cuts, which delay what goes over them. */
const shortly = { perMinute: 40, least_ms: 100, most_ms: 900 }

/** Pools that are refilled all the time. */
const small = { nodes: 4, bufferCapacity: 4, poolLow: 5, poolHigh: 12 }

/** Pushes fail, and their answers get lost. */
const redisCalls = { refused: 0.1, lost: 0.08, ignored: 0 }

const append = ({ batches }: Tables, batch: BatchId, keys: PackedKeys) => {
  const { epoch, sequence, shard } = batch
  const before = batches.get(idOf(batch))
  batches.set(idOf(batch), {
    shard,
    epoch,
    sequence,
    keys: before === undefined ? keys : concat(before.keys, keys)
  })
}

/** A buffer all of whose keys are taken by `takeMany`, which is what a mutant replaces. */
const takenByEffect = (buffer: typeof KeyBuffer.Service): typeof KeyBuffer.Service => ({
  ...buffer,
  takeNow: () => undefined
})

/** What can be broken between a batch's record, its pool shard and the nodes that lease from it. */
export const pools: ReadonlyArray<Mutant> = [
  {
    name: "pool-without-epochs",
    text: "A pool takes what an owner pushes that is not the newest.",
    promise: "C1",
    checker: "fencing",
    options: (options) => ({
      ...withFaults({ move: { ...move, perMinute: 200 }, cutRedis: { ...shortly, perMinute: 120 } })(options),
      ...small,
      pools: 1
    }),
    make: () => ({
      redis: (redis) => {
        redis.forgetful = ["epoch"]
      }
    })
  },
  {
    name: "record-without-epochs",
    text: "The database takes records of an owner that is not the newest.",
    promise: "C1",
    checker: "fencing",
    options: (options) => ({
      ...withFaults({ move, cutNodes: shortly, cutDatabase: shortly })(options),
      ...small
    }),
    make: () => ({
      database: ({ stock }, { stocked }) => ({
        stock: { ...stock, record: (batch, keys) => Effect.sync(() => append(stocked, batch, keys)) }
      })
    })
  },
  {
    name: "epoch-again",
    text: "A new owner may get the epoch of the one before it.",
    promise: "C1",
    checker: "fencing",
    make: () => {
      let claims = 0
      return {
        database: ({ stock }, { stocked }) => ({
          stock: {
            ...stock,
            claim: (shard) => {
              const epoch = stocked.epochs.get(shard)
              return epoch !== undefined && ++claims % 2 === 0
                ? Effect.succeed({ shard, epoch })
                : stock.claim(shard)
            }
          }
        })
      }
    }
  },
  {
    name: "half-of-the-level-told",
    text: "A pool shard's owner is told of half of the keys that it has.",
    promise: "C6",
    checker: "pool level",
    make: () => ({
      ports: ({ pool }) => ({
        pool: { ...pool, level: (shard) => Effect.map(pool.level(shard), (level) => Math.floor(level / 2)) }
      })
    })
  },
  {
    name: "push-before-record",
    text: "Keys are pushed before their record is durable.",
    promise: "C6",
    checker: "key ways",
    make: () => ({
      ports: ({ stock }, process) => ({
        stock: { ...stock, record: (batch, keys) => later(process, 300, stock.record(batch, keys)) }
      })
    })
  },
  {
    name: "record-cut-short",
    text: "The last key of a batch is missing from its record.",
    promise: "C6",
    checker: "key ways",
    make: () => ({
      ports: ({ stock }) => ({
        stock: {
          ...stock,
          record: (batch, keys) => stock.record(batch, slice(keys, 0, count(keys) - 1))
        }
      })
    })
  },
  {
    name: "record-closed-early",
    text: "A batch's record is closed before the batch is pushed.",
    promise: "C6",
    checker: "key ways",
    make: () => ({
      ports: ({ stock }) => ({
        stock: {
          ...stock,
          record: (batch, keys) => Effect.zipRight(stock.record(batch, keys), stock.close(batch, [batch]))
        }
      })
    })
  },
  {
    name: "batches-unknown",
    text: "A pool does not know which batches it has, and takes them again.",
    promise: "C1",
    checker: "key ways",
    options: withFaults({ redisCalls }),
    make: () => ({
      redis: (redis) => {
        redis.forgetful = ["batches"]
      }
    })
  },
  {
    name: "recovery-finds-nothing",
    text: "A new owner does not see the batches that are open.",
    promise: "C6",
    checker: "recovery",
    options: withFaults({ redisCalls }),
    make: () => ({
      ports: ({ stock }) => ({ stock: { ...stock, openBatches: () => Effect.succeed([]) } })
    })
  },
  {
    name: "recovery-discards",
    text: "A new owner closes the batches that are open instead of pushing them.",
    promise: "C6",
    checker: "key ways",
    options: withFaults({ redisCalls }),
    make: () => ({
      ports: ({ stock }) => {
        const claims = new Map<number, PoolClaim>()
        return {
          stock: {
            ...stock,
            claim: (shard) => Effect.tap(stock.claim(shard), (claim) => void claims.set(shard, claim)),
            openBatches: (shard) =>
              Effect.gen(function* () {
                const open = yield* stock.openBatches(shard)
                yield* Effect.ignore(stock.close(claims.get(shard)!, open))
                return []
              })
          }
        }
      }
    })
  },
  {
    name: "lease-with-a-double",
    text: "Now and then a lease brings a key twice.",
    promise: "C1",
    checker: "key ways",
    make: () => ({
      ports: ({ pool }, process) => ({
        pool: {
          ...pool,
          lease: (shard, wanted) =>
            Effect.map(pool.lease(shard, wanted), (keys) =>
              count(keys) > 1 && happens(process, 0.1)
                ? concat(slice(keys, 0, count(keys) - 1), slice(keys, 0, 1))
                : keys
            )
        }
      })
    })
  },
  {
    name: "pop-forgotten",
    text: "Now and then a pool keeps a key that it has handed out.",
    promise: "C1",
    checker: "key ways",
    make: () => ({
      redis: (redis) => {
        const run = redis.run.bind(redis)
        let pops = 0
        redis.run = (by, commands) => {
          const replies = run(by, commands)
          const [{ args, name }] = commands as readonly [Command]
          const [popped] = replies
          const key = /^[ls]pop$/.test(name) && typeof popped === "object" ? popped?.at(-1) : undefined
          if (key !== undefined && ++pops % 10 === 0)
            run(by, [{ name: redis.kind === "list" ? "lpush" : "sadd", args: [args[0]!, key] }])
          return replies
        }
      }
    })
  },
  {
    name: "give-back-twice",
    text: "Returned keys are put into their pool twice, under two ids.",
    promise: "C1",
    checker: "key ways",
    options: withFaults({ databaseCalls: { refused: 0.2, lost: 0, ignored: 0 } }, { bursts: 0.2 }),
    make: () => ({
      ports: ({ pool }) => ({
        pool: {
          ...pool,
          giveBack: (shard, id, keys) =>
            Effect.zipRight(pool.giveBack(shard, id, keys), pool.giveBack(shard, -id, keys))
        }
      })
    })
  },
  {
    name: "returns-unknown",
    text: "A pool does not know which returns it has, and takes them again.",
    promise: "C1",
    checker: "key ways",
    options: withFaults({
      messages: { dropped: 0, repeated: 0.1, delayed: 0, delay_ms: 0 },
      stop: { perMinute: 12, least_ms: 500, most_ms: 3_000 }
    }),
    make: () => ({
      redis: (redis) => {
        redis.forgetful = ["returns"]
      }
    })
  },
  {
    name: "give-back-nothing",
    text: "Returned keys are put nowhere.",
    promise: "C6",
    checker: "ledger",
    options: withFaults({ stop: { perMinute: 6, least_ms: 500, most_ms: 3_000 } }),
    make: () => ({
      ports: ({ pool }) => ({ pool: { ...pool, giveBack: () => Effect.void } })
    })
  },
  {
    name: "lease-never-again",
    text: "Once a lease has failed, a node's pool shards never answer one again.",
    promise: "C8",
    checker: "liveness",
    make: () => ({
      ports: ({ pool }) => {
        let hasFailed = false
        return {
          pool: {
            ...pool,
            lease: (shard, wanted) =>
              Effect.suspend(() => (hasFailed ? Effect.never : pool.lease(shard, wanted))).pipe(
                Effect.tapError(() =>
                  Effect.sync(() => {
                    hasFailed = true
                  })
                )
              )
          }
        }
      }
    })
  },
  {
    name: "buffer-restored",
    text: "A node that starts again begins with keys that it had taken before it was killed.",
    promise: "C1",
    checker: "key ways",
    make: () => {
      const files = new Map<string, Array<string>>()
      return {
        buffer: (buffer, process) => {
          const restored = files.get(process.name) ?? []
          const file: Array<string> = []
          files.set(process.name, file)
          return {
            ...takenByEffect(buffer),
            takeMany: (wanted) =>
              Effect.suspend(() => {
                const old = restored.splice(0, wanted)
                return old.length > 0
                  ? Effect.succeed(old)
                  : Effect.tap(buffer.takeMany(wanted), (keys) => {
                      file.push(...keys)
                      file.splice(0, file.length - 4)
                    })
              })
          }
        }
      }
    }
  },
  {
    name: "buffer-takes-twice",
    text: "Now and then two creates are given one key.",
    promise: "C1",
    checker: "key ways",
    make: () => ({
      buffer: (buffer, process) => {
        let last: string | undefined
        return {
          ...takenByEffect(buffer),
          takeMany: (wanted) =>
            Effect.suspend(() =>
              last !== undefined && happens(process, 0.02)
                ? Effect.succeed([last])
                : Effect.tap(buffer.takeMany(wanted), (keys) => {
                    last = keys.at(-1)
                  })
            )
        }
      }
    })
  },
  {
    name: "buffer-drops-what-is-put-back",
    text: "Keys that were not bound are not put back into the buffer, and are lost without a fault.",
    promise: "C6",
    checker: "ledger",
    preset: "calm",
    make: () => ({
      buffer: (buffer) => ({
        ...takenByEffect(buffer),
        putBack: () => Effect.void,
        takeMany: (count) => Effect.zipRight(buffer.takeMany(count), buffer.takeMany(count))
      })
    })
  },
  {
    name: "keys-mixed-up",
    text: "Two keys of a batch are one in the pool.",
    promise: "C1",
    checker: "key ways",
    make: () => ({
      ports: ({ pool }) => ({
        pool: {
          ...pool,
          push: (claim, batch) => {
            const keys = toStrings(batch.keys)
            return pool.push(claim, { ...batch, keys: fromStrings([...keys.slice(1), ...keys.slice(-1)]) })
          }
        }
      })
    })
  }
]
