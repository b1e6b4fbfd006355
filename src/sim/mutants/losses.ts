import { Effect } from "effect"
import { count, slice, toStrings } from "../../keys/PackedKeys.ts"
import { StorageError } from "../../storage/StorageError.ts"
import type { SimOptions } from "../cli/Options.ts"
import { aloneOver } from "../presets/Aims.ts"
import { nextOf } from "./minting.ts"
import { type Mutant, withFaults } from "./Mutant.ts"

/** Every second time. */
const alternating = () => {
  let times = 0
  return () => ++times % 2 === 0
}

/** Pools that are refilled all the time. */
const small = { bufferCapacity: 4, poolLow: 5, poolHigh: 12, keyStock: "none" } as const

/** Nodes with key files that shut down now and then, and nothing else goes wrong. */
const stopsAlone: Mutant["options"] = (options) => ({
  ...withFaults({ stop: { perMinute: 10, least_ms: 500, most_ms: 3_000 } }, { created: 0.8 })(options),
  keyStock: "file",
  keyStockTarget: 120,
  nodes: Math.max(2, options.nodes)
})

/** A process alone, which is killed, or shut down, again and again. */
const alone =
  (faults: Parameters<typeof withFaults>[0]): ((options: SimOptions) => SimOptions) =>
  (options) => ({
    ...aloneOver(withFaults(faults, { created: 0.8, bursts: 0.1 })(options), "postgres"),
    ...small,
    databases: 3
  })

/** What loses keys, numbers or visits without a cause that is counted. */
export const losses: ReadonlyArray<Mutant> = [
  {
    name: "leases-dropped",
    text: "The keys of every second lease come to nobody.",
    promise: "C6",
    checker: "ledger",
    make: () => ({
      ports: ({ pool }) => {
        const isDropped = alternating()
        return {
          pool: {
            ...pool,
            lease: (shard, wanted) =>
              Effect.suspend(() =>
                isDropped()
                  ? Effect.zipRight(pool.lease(shard, wanted), pool.lease(shard, wanted))
                  : pool.lease(shard, wanted)
              )
          }
        }
      }
    })
  },
  {
    name: "file-cut-short-at-a-stop",
    text: "A node that shuts down puts all keys but one back into its file.",
    promise: "C6",
    checker: "ledger",
    options: stopsAlone,
    make: () => ({
      file: (file) => {
        const ahead = new Set<string>()
        return {
          ...file,
          take: (wanted) =>
            Effect.tap(file.take(wanted), (keys) => toStrings(keys).forEach((key) => ahead.add(key))),
          append: (keys) =>
            file.append(toStrings(keys).every((key) => ahead.has(key)) ? slice(keys, 1, count(keys)) : keys)
        }
      }
    })
  },
  {
    name: "returns-at-a-stop-cut-short",
    text: "Of the keys that a node has left when it shuts down one is not returned.",
    promise: "C6",
    checker: "ledger",
    options: stopsAlone,
    make: () => ({
      ports: ({ pool }) => ({
        pool: {
          ...pool,
          giveBack: (shard, id, keys) => pool.giveBack(shard, id, slice(keys, 1, count(keys)))
        }
      })
    })
  },
  {
    name: "memory-settled-at-once",
    text: "The pool of a process alone needs no record of what it has in its memory.",
    promise: "C6",
    checker: "ledger",
    options: alone({ kill: { perMinute: 12, least_ms: 100, most_ms: 1_000 } }),
    make: () => ({
      ports: ({ pool }) => ({
        pool: {
          ...pool,
          push: (claim, batch) =>
            Effect.map(pool.push(claim, batch), (pushed) => ({
              ...pushed,
              settled: [...pushed.settled, { epoch: batch.epoch, sequence: batch.sequence }]
            }))
        }
      })
    })
  },
  {
    name: "memory-not-put-away",
    text: "What the pool of a process alone has, and no record, does not go to the stock when the process shuts down.",
    promise: "C6",
    checker: "ledger",
    // Keys of links that are on their way to another database are put aside, and come back late.
    options: alone({
      stop: { perMinute: 6, least_ms: 500, most_ms: 3_000 },
      bucketMove: { perMinute: 6, least_ms: 1_000, most_ms: 8_000 }
    }),
    make: () => ({ ports: ({ stock }) => ({ stock: { ...stock, add: () => Effect.void } }) })
  },
  {
    name: "buffer-gives-none",
    text: "The buffer gives creates no keys at all, and does not say that it has none.",
    promise: "C8",
    checker: "work",
    make: () => ({
      buffer: (buffer) => ({ ...buffer, takeNow: () => undefined, takeMany: () => Effect.succeed([]) })
    })
  },
  {
    name: "put-back-dropped",
    text: "Keys that a create passed over, or did not bind, are not put back into the buffer.",
    promise: "C6",
    checker: "ledger",
    make: () => ({ buffer: (buffer) => ({ ...buffer, putBack: () => Effect.void }) })
  },
  {
    name: "refills-dropped",
    text: "Every second refill is given up after its keys were minted.",
    promise: "C6",
    checker: "ledger",
    make: () => ({
      ports: ({ stock }) => {
        const isDropped = alternating()
        return {
          stock: {
            ...stock,
            record: (batch, keys) =>
              isDropped()
                ? new StorageError({ operation: "KeyStock.record", applied: "no", reason: "for no reason" })
                : stock.record(batch, keys)
          }
        }
      }
    })
  },
  {
    name: "numbers-skipped",
    text: "A range passes over as many numbers as it hands out.",
    promise: "C6",
    checker: "ledger",
    make: () => ({
      ports: ({ ranges }) => ({
        ranges: {
          ...ranges,
          advance: (slot, options) =>
            Effect.zipRight(ranges.advance(slot, options), ranges.advance(slot, options))
        }
      })
    })
  },
  {
    name: "range-begins-again",
    text: "A range whose numbers are used up begins again with the first.",
    promise: "C1",
    checker: "minted once",
    options: (options) => ({ ...options, keysPerRange: 4, keyOrder: "permuted" }),
    make: () => ({
      ports: (ports) => ({
        ranges: {
          ...ports.ranges,
          advance: (slot, options) =>
            Effect.flatMap(nextOf(ports, slot), (next) =>
              next < options.size || options.size > 1_000
                ? ports.ranges.advance(slot, options)
                : Effect.succeed({ first: 0, count: Math.min(options.count, options.size) })
            )
        }
      })
    })
  },
  {
    name: "push-failure-ignored",
    text: "A batch whose push failed is taken for pushed.",
    promise: "C6",
    checker: "recovery",
    options: (options) => ({
      ...withFaults({ redisCalls: { refused: 0.2, lost: 0, ignored: 0 } })(options),
      ...small
    }),
    make: () => ({
      ports: ({ pool }) => ({
        pool: {
          ...pool,
          push: (claim, batch) =>
            Effect.catchTag(pool.push(claim, batch), "StorageError", () =>
              Effect.succeed({ level: 0, settled: [] })
            )
        }
      })
    })
  },
  {
    name: "record-without-a-timeout",
    text: "An owner waits for ever for a record that was not answered.",
    promise: "C8",
    checker: "liveness",
    options: (options) => ({
      ...withFaults({ databaseCalls: { refused: 0, lost: 0, ignored: 0.1 } }, { created: 0.8 })(options),
      ...small,
      pools: 1,
      nodes: 2
    }),
    make: () => ({
      ports: ({ stock }) => ({
        stock: {
          ...stock,
          record: (batch, keys) =>
            Effect.catchTag(stock.record(batch, keys), "StorageError", (error) =>
              error.applied === "unknown" ? Effect.never : error
            )
        }
      })
    })
  }
]
