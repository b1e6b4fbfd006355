import { Effect } from "effect"
import type { Link } from "../../model/Link.ts"
import { fromStrings } from "../../keys/PackedKeys.ts"
import type { KeyMinter } from "../../keys/KeyMinter.ts"
import type { StockKind } from "../../storage/keys/KeyStock.ts"
import type { LinkStore } from "../../storage/links/LinkStore.ts"
import { StorageError } from "../../storage/StorageError.ts"
import type { SimOptions } from "../cli/Options.ts"
import { fork } from "../world/ProcessServices.ts"
import { s_us } from "../world/Time.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import { nextOf } from "./minting.ts"
import { type Mutant, withFaults } from "./Mutant.ts"
import type { DatabaseTables, Mutation } from "./Mutation.ts"

/** Keys that `narrow` draws among: so few that a run comes to what a deployment of billions of links does. */
const narrowCount = 4_000

/** Draws of so few keys that many come twice, whoever has them by then. */
export const narrow = (
  minter: typeof KeyMinter.Service,
  { world }: VirtualProcess
): typeof KeyMinter.Service => {
  const chance = world.chance("narrow keys")
  const draw = () =>
    `narrow${chance.below(narrowCount).toString(36)}`.slice(-minter.space.length).padStart(7, "0")
  return {
    ...minter,
    mint: (_length, _range, _first, count) => fromStrings(Array.from({ length: count }, draw))
  }
}

/** Keys are stocked in one way, and pools are refilled all the time. */
const stocked = (keyStock: StockKind): Partial<SimOptions> => ({
  keyStock,
  keyStockTarget: 60,
  pools: 3,
  bufferCapacity: 4,
  poolLow: 5,
  poolHigh: 12
})

/** Clients who use many keys. */
const busy = { clients: 20, think_ms: 400, created: 0.8 }

/** No primary key arbitrates between minted keys: what is written last is what a key stands for. */
const overwriting =
  (links: typeof LinkStore.Service, rows: Map<string, Link>): (typeof LinkStore.Service)["insertMany"] =>
  (batch) =>
    Effect.forEach(batch, (link) =>
      link.custom
        ? Effect.map(links.insertMany([link]), ([isBound]) => isBound === true)
        : Effect.sync(() => {
            rows.set(link.key, link)
            return true
          })
    )

const withoutArbiter: Mutation = {
  database: ({ links }, { rows }) => ({ links: { ...links, insertMany: overwriting(links, rows) } })
}

/** How long a lock of `lock-without-fencing` is held at most, how long its holder works before it writes, and how often others try to get it. */
const lockTtl_us = 0.5 * s_us
const work_ms = 450
const lockTries = 40

/** How long after its keys are used the offset of `offset-after-use` is stored. */
const offsetAfter_us = 2 * s_us

/** How long a queue of `write-behind` gathers. */
const behind_ms = 1_000

/** Designs that are published and used, and go wrong: what is sound about Linkmint takes their place everywhere else. */
export const designs: ReadonlyArray<Mutant> = [
  {
    name: "select-then-update",
    text: "A refill selects unused keys, and marks them as used by its next statement.",
    promise: "C1",
    checker: "key ways",
    options: (options) => ({ ...withFaults({}, { bursts: 0.2 })(options), ...stocked("status"), nodes: 3 }),
    make: () => {
      let tables: DatabaseTables | undefined
      return {
        database: (_, all) => {
          tables = all
          return {}
        },
        ports: ({ stock }) => ({
          stock: {
            ...stock,
            take: (batch, wanted) =>
              Effect.gen(function* () {
                const { ahead, stock: free } = tables!.stocked
                const keys = [...free, ...ahead.status.unused].slice(0, wanted)
                const packed = fromStrings(keys)
                if (keys.length > 0) yield* stock.record(batch, packed)
                for (const key of keys) {
                  free.delete(key)
                  if (ahead.status.unused.delete(key)) ahead.status.used.add(key)
                }
                return packed
              })
          }
        })
      }
    }
  },
  {
    name: "lock-without-fencing",
    text: "A range reads its watermark and moves it under a lock that ends after 0.5 s, whatever its holder does.",
    promise: "C1",
    checker: "minted once",
    options: (options) => ({
      ...withFaults(
        {
          move: { perMinute: 120, least_ms: 500, most_ms: 3_000 },
          pause: { perMinute: 60, least_ms: 500, most_ms: 4_000 },
          cutDatabase: { perMinute: 30, least_ms: 500, most_ms: 2_000 }
        },
        { ...busy, bursts: 0.2 }
      )(options),
      nodes: 4,
      pools: 3,
      bufferCapacity: 4,
      poolLow: 5,
      poolHigh: 12
    }),
    make: () => {
      const locks = new Map<string, { readonly holder: string; readonly until_us: number }>()
      return {
        // One generator for all pool shards.
        minter: (minter) => ({ ...minter, ranges: 1 }),
        ports: (ports, { id, world }) => ({
          ranges: {
            ...ports.ranges,
            advance: (slot, options) =>
              Effect.gen(function* () {
                const name = `${slot.length}/${slot.range}`
                for (let tries = 0; (locks.get(name)?.until_us ?? 0) > world.now_us; tries++) {
                  if (tries === lockTries)
                    return yield* new StorageError({ operation: "lock", applied: "no", reason: "it is held" })
                  yield* Effect.sleep("50 millis")
                }
                locks.set(name, { holder: id, until_us: world.now_us + lockTtl_us })
                const first = yield* nextOf(ports, slot)
                yield* Effect.sleep(work_ms)
                const { count } = yield* ports.ranges.advance(slot, options)
                if (locks.get(name)?.holder === id) locks.delete(name)
                return { first, count }
              })
          }
        })
      }
    }
  },
  {
    name: "offset-after-use",
    text: "The offset of a key file is stored 2 s after its keys were taken.",
    promise: "C1",
    checker: "key ways",
    options: (options) => ({
      ...withFaults({ kill: { perMinute: 30, least_ms: 500, most_ms: 2_000 } })(options),
      ...stocked("file")
    }),
    make: () => ({
      file: (file, disk, process) => ({
        ...file,
        take: (wanted) =>
          Effect.tap(file.take(wanted), (keys) =>
            Effect.sync(() => {
              const stored_us = process.world.now_us + offsetAfter_us
              process.whenDead(() => {
                if (process.world.now_us < stored_us) disk.putBack(keys)
              })
            })
          )
      })
    })
  },
  {
    name: "random-without-arbiter",
    text: "Keys are drawn at random and deleted from their table when they are taken, so that they can be drawn again, and the last link wins.",
    promise: "C1",
    checker: "unique binding",
    options: (options) => ({ ...withFaults({}, busy)(options), ...stocked("table"), keyOrder: "random" }),
    make: () => ({
      ...withoutArbiter,
      minter: (minter, process) => ({ ...narrow(minter, process), repeats: false })
    })
  },
  {
    name: "failover-without-primary-key",
    text: "The last link wins that is bound to a key, and a pool's failover hands keys out again.",
    promise: "C1",
    checker: "unique binding",
    options: (options) => ({
      ...withFaults(
        { redisFailover: { perMinute: 30, least_ms: 100, most_ms: 1_000 }, replicaLag_ms: 2_000 },
        busy
      )(options),
      ...stocked("none"),
      keyStockTarget: 0
    }),
    make: () => withoutArbiter
  },
  {
    name: "write-behind",
    text: "A create is acknowledged when it stands in a durable queue, from which it is written up to a second later.",
    promise: "C3",
    checker: "read your writes",
    // An owner knows what it has created itself; the next one does not.
    options: withFaults({ move: { perMinute: 120, least_ms: 0, most_ms: 100 } }, { justCreated: 0.8 }),
    make: () => {
      const queue: Array<Link> = []
      return {
        ports: ({ links }, process) => {
          const writing = Effect.gen(function* () {
            yield* Effect.sleep(behind_ms)
            const batch = queue.slice()
            if (batch.length > 0) yield* links.insertMany(batch)
            for (const link of batch) if (queue.includes(link)) queue.splice(queue.indexOf(link), 1)
          })
          fork(process, Effect.forever(Effect.ignore(writing)))
          return {
            links: {
              ...links,
              insertMany: (batch) =>
                // A round trip, as to the queue.
                Effect.map(links.takenAmong([]), () => {
                  queue.push(...batch)
                  return batch.map(() => true)
                })
            }
          }
        }
      }
    }
  }
]
