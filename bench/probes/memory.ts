// What keys and links take in memory: bytes each, by what the heap and the buffers grow. Prints one line of JSON.

import { Effect, Exit } from "effect"
import { KeyRing } from "../../src/actors/keys/KeyRing.ts"
import * as LinkCache from "../../src/actors/links/LinkCache.ts"
import * as KeyMinter from "../../src/keys/KeyMinter.ts"
import * as KeySpace from "../../src/keys/KeySpace.ts"
import { type Link, unlessChosen } from "../../src/model/Link.ts"
import * as KeyPoolMemory from "../../src/storage/keys/KeyPoolMemory.ts"
import * as LinkInvalidationsLocal from "../../src/storage/links/LinkInvalidationsLocal.ts"

const keys = Number(process.env["KEYS"])
const links = Number(process.env["LINKS"])
const batch = 10_000
const minter = KeyMinter.make(KeySpace.make("base62", 7), new Uint8Array(16))

/** Twice: what the first one frees may hold what the second one frees. */
const used = () => {
  globalThis.gc!()
  globalThis.gc!()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const growth = async <A>(make: () => Promise<A>) => {
  const before = used()
  const made = await make()
  return { bytes: used() - before, made }
}

const fillPool = async (wanted: number) => {
  const made = await Effect.runPromise(KeyPoolMemory.make({ shards: 1, settleAfter: 512 }))
  const claim = { shard: 0, epoch: 1 }
  await Effect.runPromise(made.claim(claim))
  for (let sequence = 0; sequence * batch < wanted; sequence++) {
    const minted = minter.mint(7, 0, sequence * batch, batch)
    await Effect.runPromise(made.push(claim, { ...claim, sequence, keys: minted }))
  }
  return made
}

const fillRing = (wanted: number) => {
  const made = new KeyRing(wanted)
  for (let first = 0; first < wanted; first += batch) made.add(minter.mint(7, 1, first, batch))
  return made
}

// Whatever is made at the first use only.
await fillPool(batch)
fillRing(batch)
const pool = await growth(() => fillPool(keys))
const ring = await growth(async () => fillRing(keys))

const linkOf = (key: string): Link => ({
  ...unlessChosen,
  key,
  // Each with text of its own, 100 characters: a part of a larger one would be shared.
  url: Buffer.from(`https://www.example.com/${key}/`.padEnd(100, "x")).toString("latin1"),
  owner: "user_0123456789abcdef",
  custom: false,
  createdAt: 1_767_225_600_000,
  updatedAt: 1_767_225_600_000,
  deletedAt: null,
  visitsLeft: null,
  tags: []
})

const cache = await growth(async () => {
  const program = Effect.gen(function* () {
    const made = yield* LinkCache.make<never>({
      max: links,
      maxBytes: 1_024 * links,
      level: "l1",
      readAge_ms: 0,
      staleMax_ms: 0,
      read: (key, answer) => answer(Exit.succeed(linkOf(key)))
    })
    for (let number = 0; number < links; number++)
      made.getThen(`k${String(number).padStart(6, "0")}`, () => {})
    return made
  })
  return Effect.runPromise(Effect.provide(Effect.scoped(program), LinkInvalidationsLocal.layer))
})

process.stdout.write(
  `${JSON.stringify({
    pooled: pool.bytes / keys,
    buffered: ring.bytes / keys,
    link: cache.bytes / cache.made.size(),
    held: [await Effect.runPromise(pool.made.level(0)), ring.made.size, cache.made.size()]
  })}\n`
)
