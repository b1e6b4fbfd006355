// Commands that tests give to stores at random, and how each store plays them.

import { Effect, FastCheck as fc } from "effect"
import { conditionOf, type Link, type LinkCondition } from "../../src/model/Link.ts"
import { concat, count, empty, fromStrings, toStrings } from "../../src/keys/PackedKeys.ts"
import type { KeyPool } from "../../src/storage/keys/KeyPool.ts"
import type { KeyRangeStore } from "../../src/storage/keys/KeyRangeStore.ts"
import type { KeyStock, PoolClaim } from "../../src/storage/keys/KeyStock.ts"
import type { LinkStore } from "../../src/storage/links/LinkStore.ts"
import { keys, numbered } from "./samples/SomeKeys.ts"
import type { Player } from "./LikeMemory.ts"
import { plainRow } from "./Plain.ts"

const key = fc.constantFrom("a", "A", "b", "B", "aa", "0", "_", "-")
const time = fc.oneof(fc.nat(9), fc.nat(), fc.maxSafeNat())
const text = fc.string({ unit: "grapheme", maxLength: 40 })
const redirectStatus = fc.constantFrom(301 as const, 302 as const, 307 as const, 308 as const)
const anyLink: fc.Arbitrary<Link> = fc
  .record({
    key,
    owner: fc.option(fc.constantFrom("one", "other")),
    url: fc.webUrl(),
    title: fc.option(text),
    tags: fc.array(text, { maxLength: 3 }),
    custom: fc.boolean(),
    createdAt: time,
    updatedAt: time,
    validSince: fc.option(time),
    expiresAt: fc.option(time),
    deletedAt: fc.option(time, { freq: 6 }),
    maxVisits: fc.option(time),
    passwordHash: fc.option(text),
    redirectStatus,
    forwardQuery: fc.boolean(),
    crawlable: fc.boolean()
  })
  .map((link) => ({ ...link, visitsLeft: link.maxVisits }))

/** One of four creates, whose messages can come again and again; two of them want the same key. */
const repeatable: fc.Arbitrary<Link> = fc.integer({ min: 1, max: 4 }).map((createId) => ({
  ...plainRow,
  key: ["a", "b", "B"][createId % 3]!,
  url: `https://example.com/${createId}`,
  custom: false,
  createdAt: createId,
  updatedAt: createId % 2,
  createId
}))
const link = fc.oneof(anyLink, repeatable)

/** What is asked of a link that is written: mostly nothing, and often what few links are. */
const onlyIf: fc.Arbitrary<{ readonly onlyIf?: LinkCondition }> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.record({ onlyIf: anyLink.map(conditionOf) }) },
  { weight: 1, arbitrary: fc.record({ onlyIf: repeatable.map(conditionOf) }) }
)

/** Any deletion, or one of four, whose messages can come again and again. */
const deletion = fc
  .tuple(
    fc.oneof(
      fc.record({ key, at: time }),
      fc
        .integer({ min: 1, max: 4 })
        .map((deleteId) => ({ key: ["a", "b", "B"][deleteId % 3]!, at: deleteId, deleteId }))
    ),
    onlyIf
  )
  .map(([deletion, onlyIf]) => ({ ...deletion, ...onlyIf }))

const change = fc.record(
  {
    url: fc.webUrl(),
    title: fc.option(text),
    tags: fc.array(fc.oneof(text, fc.constantFrom("a", "b")), { maxLength: 3 }),
    validSince: fc.option(time),
    expiresAt: fc.option(time),
    maxVisits: fc.option(time),
    passwordHash: fc.option(text),
    redirectStatus,
    forwardQuery: fc.boolean(),
    crawlable: fc.boolean()
  },
  { requiredKeys: [] }
)

/** Updates, some of which come again and again, also after others. */
const update = fc
  .tuple(
    fc.record({
      key,
      owner: fc.option(fc.constantFrom("one", "other")),
      at: time,
      change,
      updateId: fc.nat(20)
    }),
    onlyIf
  )
  .map(([update, onlyIf]) => ({
    ...update,
    ...onlyIf,
    updateId: update.updateId * 1_000 + update.key.charCodeAt(0)
  }))

/** Takes of visits, some of which come again, also late. */
const visitTake = fc.record({
  key,
  count: fc.integer({ min: 1, max: 9 }),
  taker: fc.constantFrom("node-1", "node-2"),
  number: fc.nat(9)
})

const query = fc.record(
  {
    owner: fc.constantFrom("one", "other"),
    text: fc.oneof(fc.constantFrom("A", "ö", "Ö", "%", "_", "\\", "example", "HTTP"), text),
    tag: fc.oneof(text, fc.constantFrom("a", "b")),
    order: fc.constantFrom("createdAt-asc" as const, "createdAt-desc" as const),
    after: fc.record({ createdAt: time, key }),
    limit: fc.integer({ min: 1, max: 4 }),
    lookedAtMax: fc.integer({ min: 1, max: 4 }),
    countedMax: fc.integer({ min: 1, max: 4 })
  },
  { requiredKeys: ["order", "limit", "lookedAtMax"] }
)

/** A command of each kind, with the arguments of its method. */
export const linkCommand = fc.oneof(
  fc.record({ _tag: fc.constant("insertMany" as const), links: fc.array(link, { maxLength: 6 }) }),
  fc.record({ _tag: fc.constant("findMany" as const), keys: fc.array(key) }),
  fc.record({ _tag: fc.constant("deleteMany" as const), deletions: fc.array(deletion) }),
  fc.record({ _tag: fc.constant("updateMany" as const), updates: fc.array(update) }),
  fc.record({
    _tag: fc.constant("crawlable" as const),
    query: fc.record({ at: time, limit: fc.integer({ min: 1, max: 4 }) })
  }),
  fc.record({ _tag: fc.constant("takeVisits" as const), takes: fc.array(visitTake) }),
  fc.record({ _tag: fc.constant("list" as const), query }),
  fc.record({ _tag: fc.constant("takenAmong" as const), keys: fc.array(key) })
)
type CommandOf<A> = A extends fc.Arbitrary<infer C> ? C : never

export const playLinks: Player<LinkStore["Type"], CommandOf<typeof linkCommand>> = (store) => (command) => {
  switch (command._tag) {
    case "insertMany":
      return store.insertMany(command.links)
    case "findMany":
      return store.findMany(command.keys)
    case "deleteMany":
      return store.deleteMany(command.deletions)
    case "updateMany":
      return store.updateMany(command.updates)
    case "crawlable":
      return store.crawlable(command.query)
    case "takeVisits":
      return store.takeVisits(command.takes)
    case "list":
      return store.list(command.query)
    case "takenAmong":
      return store.takenAmong(command.keys)
  }
}

/** Sizes at which blocks end early, and near the largest exact number. */
const size = fc.oneof(
  fc.nat(30),
  fc.integer({ min: Number.MAX_SAFE_INTEGER - 3, max: Number.MAX_SAFE_INTEGER })
)

/** A command of each kind; a block's first number means nothing where the block is empty. */
export const rangeCommand = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      _tag: fc.constant("advance" as const),
      slot: fc.record({ length: fc.constantFrom(6, 7), range: fc.nat(1) }),
      count: fc.oneof(fc.nat(9), fc.maxSafeNat()),
      size
    })
  },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("watermarks" as const) }) }
)

export const playRanges: Player<KeyRangeStore["Type"], CommandOf<typeof rangeCommand>> =
  (store) => (command) =>
    command._tag === "watermarks"
      ? Effect.map(store.watermarks, (all) =>
          all.toSorted((a, b) => a.length - b.length || a.range - b.range)
        )
      : Effect.map(store.advance(command.slot, command), (block) => (block.count === 0 ? "empty" : block))

const shard = fc.nat(1)
const sequence = fc.nat(2)
/** Which claim: 0 is the newest of its shard, 1 the one before. */
const age = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) })

/** A command of each kind. Keys are drawn by the player, so that no key comes twice by chance. */
export const stockCommand = fc.oneof(
  fc.record({ _tag: fc.constant("claim" as const), shard }),
  fc.record({ _tag: fc.constant("add" as const), keys: fc.nat(6), again: fc.boolean() }),
  fc.record({ _tag: fc.constant("fill" as const), keys: fc.nat(6), again: fc.boolean() }),
  fc.record({ _tag: fc.constant("adopt" as const), count: fc.nat(8) }),
  fc.record({ _tag: fc.constant("take" as const), shard, age, sequence, count: fc.nat(8) }),
  fc.record({ _tag: fc.constant("record" as const), shard, age, sequence, keys: fc.nat(3) }),
  fc.record({
    _tag: fc.constant("close" as const),
    shard,
    age,
    batches: fc.array(fc.record({ age: fc.nat(2), sequence }), { minLength: 1, maxLength: 3 })
  }),
  fc.record({ _tag: fc.constant("openBatches" as const), shard }),
  fc.record({ _tag: fc.constant("size" as const) })
)

/** Answers how many keys there are rather than which: a store may take any of those it has. */
export const playStock: Player<KeyStock["Type"], CommandOf<typeof stockCommand>> = (stock) => {
  let drawn = 0
  const draw = (keys: number) => numbered(`${drawn++}-`, keys)
  const claims = new Map<number, Array<PoolClaim>>()
  const claimOf = (of: number, age: number): PoolClaim =>
    claims.get(of)?.at(-1 - age) ?? { shard: of, epoch: 1_000 + age }

  return (command) => {
    switch (command._tag) {
      case "claim":
        return Effect.tap(stock.claim(command.shard), (claim) =>
          claims.set(command.shard, [...(claims.get(command.shard) ?? []), claim])
        )
      case "add": {
        const keys = draw(command.keys)
        return stock.add(fromStrings(command.again ? [...keys, ...keys.toReversed()] : keys))
      }
      case "fill": {
        const keys = draw(command.keys)
        return stock.fill(fromStrings(command.again ? [...keys, ...keys.toReversed()] : keys))
      }
      case "adopt":
        return stock.adopt(command.count)
      case "take":
        return stock
          .take({ ...claimOf(command.shard, command.age), sequence: command.sequence }, command.count)
          .pipe(
            Effect.map((taken) => new Set(toStrings(taken)).size),
            Effect.either
          )
      case "record":
        return stock
          .record(
            { ...claimOf(command.shard, command.age), sequence: command.sequence },
            fromStrings(draw(command.keys))
          )
          .pipe(Effect.either)
      case "close": {
        const batches = command.batches.map(({ age, sequence }) => ({
          epoch: claimOf(command.shard, age).epoch,
          sequence
        }))
        return Effect.either(stock.close(claimOf(command.shard, command.age), batches))
      }
      case "openBatches":
        return Effect.map(stock.openBatches(command.shard), (batches) =>
          batches.map(({ keys, ...id }) => ({
            ...id,
            keys: count(keys),
            distinct: new Set(toStrings(keys)).size
          }))
        )
      case "size":
        return stock.size
    }
  }
}

const epoch = fc.integer({ min: 1, max: 4 })

/** A command of each kind to the first shard of a pool. */
export const poolCommand = fc.oneof(
  fc.record({ _tag: fc.constant("claim" as const), epoch }),
  fc.record({
    _tag: fc.constant("push" as const),
    epoch,
    of: epoch,
    sequence: fc.nat(3),
    size: fc.nat(12)
  }),
  fc.record({ _tag: fc.constant("lease" as const), size: fc.nat(15) }),
  fc.record({ _tag: fc.constant("giveBack" as const), id: fc.nat(9), size: fc.nat(5) }),
  fc.record({ _tag: fc.constant("level" as const) })
)

/** Gives back what it has leased longest; where the id was used before, those keys are lost. Pools differ in what they call settled. */
export const playPool: Player<KeyPool["Type"], CommandOf<typeof poolCommand>> = (pool) => {
  let held = empty
  return (command) => {
    switch (command._tag) {
      case "claim":
        return Effect.either(pool.claim({ shard: 0, epoch: command.epoch }))
      case "push": {
        const packed = keys(`${command.of}-${command.sequence}-`, command.size)
        const pushed = pool.push(
          { shard: 0, epoch: command.epoch },
          { epoch: command.of, sequence: command.sequence, keys: packed }
        )
        return Effect.either(Effect.map(pushed, ({ level }) => level))
      }
      case "lease":
        return Effect.map(pool.lease(0, command.size), (leased) => {
          held = concat(held, leased)
          return toStrings(leased)
        })
      case "giveBack": {
        const all = toStrings(held)
        held = fromStrings(all.slice(command.size))
        return pool.giveBack(0, command.id, fromStrings(all.slice(0, command.size)))
      }
      case "level":
        return pool.level(0)
    }
  }
}

/** The same of pools that give their keys in any order: answers how many rather than which, and fails where a key comes twice. */
export const playUnorderedPool: Player<KeyPool["Type"], CommandOf<typeof poolCommand>> = (pool) => {
  const play = playPool(pool)
  return (command) =>
    command._tag !== "lease"
      ? play(command)
      : Effect.map(play(command), (leased) => new Set(leased as ReadonlyArray<string>).size)
}
