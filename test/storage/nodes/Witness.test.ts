import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe } from "vitest"
import { StorageError } from "../../../src/storage/StorageError.ts"
import { among, nothing, Witness } from "../../../src/storage/nodes/Witness.ts"
import * as WitnessFile from "../../../src/storage/nodes/WitnessFile.ts"
import * as WitnessMemory from "../../../src/sim/stores/WitnessMemory.ts"
import * as WitnessRedis from "../../../src/storage/nodes/WitnessRedis.ts"
import {
  administer,
  describeRedis,
  describeRedisProcess,
  freshRedis,
  ownRedis
} from "../../support/services/redis/Redis.ts"
import { temporaryFolder } from "../../support/Stores.ts"
import { witnessLaws } from "./WitnessLaws.ts"

const shared = Effect.map(WitnessMemory.make, (witness) => Effect.succeed(witness))

witnessLaws("Witness in memory", shared)

witnessLaws(
  "Witness in a file",
  Effect.map(temporaryFolder, (folder) => {
    // Two processes never share one.
    const one = Effect.runSync(WitnessFile.make(join(folder, "a folder", "data.witness"), "deployment"))
    return Effect.succeed(one)
  })
)

describeRedis("on Redis", () => {
  witnessLaws(
    "Witness in Redis",
    Effect.map(freshRedis(), ({ namespace, urls }) => WitnessRedis.make(urls[0]!, namespace))
  )
})

describeRedisProcess("A witness in a Redis whose memory is full", () => {
  it.scopedLive("takes nothing, also where it knows it already, and answers all the same", () =>
    Effect.gen(function* () {
      const { url } = yield* ownRedis()
      const witness = yield* WitnessRedis.make(url, "deployment")
      const seen = { ...nothing, timeline: 1, mark: 7 }
      yield* witness.raise(seen)
      yield* administer(url, (redis) => redis.config("SET", "maxmemory", "1"))
      for (const mark of [7, 8])
        expect(yield* Effect.flip(witness.raise({ ...seen, mark }))).toMatchObject({ applied: "no" })
      expect(yield* witness.read).toEqual(seen)
      yield* administer(url, (redis) => redis.config("SET", "maxmemory", "0"))
      yield* witness.raise({ ...seen, mark: 8 })
      expect((yield* witness.read).mark).toBe(8)
    })
  )
})

witnessLaws(
  "Witness among three",
  Effect.map(Effect.all([WitnessMemory.make, WitnessMemory.make, WitnessMemory.make]), (three) =>
    Effect.succeed(among(three))
  )
)

const away = new StorageError({ operation: "Witness", applied: "unknown", reason: "away" })

/** A witness that can be away. */
const absent = Effect.map(WitnessMemory.make, (witness) => {
  let isAway = false
  const unless = <A>(self: Effect.Effect<A, StorageError>) => Effect.suspend(() => (isAway ? away : self))
  return {
    witness: Witness.of({
      read: unless(witness.read),
      raise: (seen) => unless(witness.raise(seen)),
      adopt: (database) => unless(witness.adopt(database))
    }),
    set: (away: boolean) => {
      isAway = away
    }
  }
})

describe("several witnesses", () => {
  it.effect("answer as long as one does, and none of them alone has to know everything", () =>
    Effect.gen(function* () {
      const [one, other] = yield* Effect.all([absent, absent])
      const both = among([one.witness, other.witness])
      other.set(true)
      yield* both.raise({ ...nothing, mark: 7 })
      one.set(true)
      other.set(false)
      yield* both.raise({ ...nothing, timeline: 2 })
      one.set(false)
      expect(yield* both.read).toEqual({ ...nothing, mark: 7, timeline: 2 })
      one.set(true)
      expect(yield* both.read).toEqual({ ...nothing, timeline: 2 })
      other.set(true)
      expect(yield* Effect.flip(both.read)).toEqual(away)
      expect(yield* Effect.flip(both.raise(nothing))).toEqual(away)
    })
  )

  it.effect("adopt a database together, or not at all", () =>
    Effect.gen(function* () {
      const [one, other] = yield* Effect.all([absent, absent])
      other.set(true)
      const both = among([one.witness, other.witness])
      expect(yield* Effect.flip(both.adopt({ system: "2", timeline: 1 }))).toEqual(away)
    })
  )
})

describe("a witness in a file", () => {
  const seen = { ...nothing, mark: 12, watermarks: [{ length: 7, range: 0, next: 99 }] }

  it.scopedLive("is for its user alone, and whole at every moment", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const path = join(folder, "data.witness")
      const witness = yield* WitnessFile.make(path, "one")
      yield* witness.raise(seen)
      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect(readdirSync(folder)).toEqual(["data.witness"])
      // A crash in the middle leaves a draft that nobody reads.
      writeFileSync(`${path}.new`, readFileSync(path, "utf8").slice(0, 20))
      expect(yield* (yield* WitnessFile.make(path, "one")).read).toEqual(seen)
    })
  )

  it.scopedLive("remembers nothing of another deployment, which writes it over", () =>
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "data.witness")
      yield* (yield* WitnessFile.make(path, "one")).raise(seen)
      const other = yield* WitnessFile.make(path, "other")
      expect(yield* other.read).toEqual(nothing)
      yield* other.raise({ ...nothing, mark: 1 })
      expect(yield* other.read).toEqual({ ...nothing, mark: 1 })
    })
  )

  it.scopedLive("fails where it cannot be understood or written, and is not written over", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const path = join(folder, "data.witness")
      const witness = yield* WitnessFile.make(path, "one")
      writeFileSync(path, "{}")
      expect(yield* Effect.flip(witness.read)).toMatchObject({ _tag: "StorageError" })
      expect(yield* Effect.flip(witness.raise(seen))).toMatchObject({ _tag: "StorageError" })
      expect(readFileSync(path, "utf8")).toBe("{}")
      const inTheWay = join(folder, "in the way")
      mkdirSync(inTheWay)
      const broken = yield* WitnessFile.make(inTheWay, "one")
      expect(yield* Effect.flip(broken.raise(seen))).toMatchObject({ _tag: "StorageError" })
    })
  )
})
