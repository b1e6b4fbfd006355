import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Layer, Option, Redacted } from "effect"
import { AdminKey } from "../../src/accounts/AdminKey.ts"
import { layerAdminKey, layerHash, layerMinter } from "../../src/node/Deployment.ts"
import { KeyedHash } from "../../src/secrets/KeyedHash.ts"
import { KeyMinter } from "../../src/keys/KeyMinter.ts"
import { toStrings } from "../../src/keys/PackedKeys.ts"
import * as Secret from "../../src/secrets/Secret.ts"
import { settings } from "../../src/node/Settings.ts"
import { DeploymentStore } from "../../src/storage/nodes/DeploymentStore.ts"
import * as DeploymentStoreMemory from "../../src/sim/stores/DeploymentStoreMemory.ts"

const KEY_SECRET = "00112233445566778899aabbccddeeff"
const otherSecret = "ffeeddccbbaa99887766554433221100"

type Variables = Readonly<Record<string, string>>

/** A database, and what was decided in it by name. */
const database = Effect.map(DeploymentStoreMemory.make, (store) => {
  const decided = new Map<string, string>()
  const watched = DeploymentStore.of({
    decide: (name, value) =>
      Effect.tap(store.decide(name, value), (winner) => Effect.sync(() => decided.set(name, winner)))
  })
  return { store: Layer.succeed(DeploymentStore, watched), decided }
})
type Database = Effect.Effect.Success<typeof database>

const settingsOf = (variables: Variables) =>
  Effect.orDie(
    Effect.withConfigProvider(settings, ConfigProvider.fromMap(new Map(Object.entries(variables))))
  )

/** Starts on a database: the first keys that the start would mint. */
const start = ({ store }: Database, variables: Variables) =>
  Effect.gen(function* () {
    const layer = layerMinter(yield* settingsOf(variables)).pipe(Layer.provide(store))
    const minter = Context.get(yield* Layer.build(layer), KeyMinter)
    return toStrings(minter.mint(minter.space.length, 3, 0, 5))
  })

/** Starts on a database that should refuse: why it did. */
const refusal = (database: Database, variables: Variables) =>
  Effect.map(Effect.flip(start(database, variables)), (error) => error.message)

describe("the identity of a deployment", () => {
  it.scoped("is the same at every start with the same settings", () =>
    Effect.gen(function* () {
      const here = yield* database
      const keys = yield* start(here, { KEY_SECRET })
      expect(yield* start(here, { KEY_SECRET })).toEqual(keys)
      expect(yield* start(here, { KEY_SECRET: KEY_SECRET.toUpperCase() })).toEqual(keys)
    })
  )

  it.scoped("is another one on another database only when the secret is", () =>
    Effect.gen(function* () {
      const keys = yield* start(yield* database, { KEY_SECRET })
      expect(yield* start(yield* database, { KEY_SECRET })).toEqual(keys)
      expect(yield* start(yield* database, { KEY_SECRET: otherSecret })).not.toEqual(keys)
    })
  )

  const changes: ReadonlyArray<readonly [what: string, first: Variables, then: Variables, why: string]> = [
    [
      "another KEY_SECRET",
      { KEY_SECRET },
      { KEY_SECRET: otherSecret },
      "KEY_SECRET has another value there."
    ],
    ["no KEY_SECRET any more", { KEY_SECRET }, {}, "KEY_SECRET was set there, and is not set now."],
    ["a KEY_SECRET where one was drawn", {}, { KEY_SECRET }, "KEY_SECRET has another value there."],
    ["another KEY_LENGTH", { KEY_SECRET }, { KEY_SECRET, KEY_LENGTH: "8" }, "KEY_LENGTH is 7 there."],
    ["a shorter KEY_LENGTH", { KEY_LENGTH: "8" }, { KEY_LENGTH: "7" }, "KEY_LENGTH is 8 there."],
    ["another KEY_ALPHABET", {}, { KEY_ALPHABET: "base36" }, "KEY_ALPHABET is base62 there."],
    ["another KEY_ORDER", {}, { KEY_ORDER: "sequential" }, "KEY_ORDER is permuted there."],
    [
      "no KEY_ORDER any more",
      { KEY_SECRET, KEY_ORDER: "sequential" },
      { KEY_SECRET },
      "KEY_ORDER is sequential there."
    ]
  ]
  for (const [what, first, then, why] of changes) {
    it.scoped(`makes a start with ${what} refuse, and say what it is there`, () =>
      Effect.gen(function* () {
        const here = yield* database
        const keys = yield* start(here, first)
        const before = new Map(here.decided)
        const message = yield* refusal(here, then)
        expect(message).toContain(why)
        expect(message).not.toContain(KEY_SECRET)
        expect(here.decided).toEqual(before)
        expect(yield* start(here, first)).toEqual(keys)
      })
    )
  }

  it.scoped("with random keys is no other one's, whose next keys would be among them", () =>
    Effect.gen(function* () {
      const here = yield* database
      yield* start(here, { KEY_ORDER: "random" })
      for (const KEY_ORDER of ["permuted", "sequential"])
        expect(yield* refusal(here, { KEY_ORDER })).toContain("KEY_ORDER is random there.")
      expect(new Set(yield* start(here, { KEY_ORDER: "random" })).size).toBe(5)
    })
  )

  it.scoped("that was decided before there were other orders is permuted", () =>
    Effect.gen(function* () {
      const here = yield* database
      const keys = yield* start(here, {})
      const { order, ...before } = JSON.parse(here.decided.get("identity")!) as Record<string, unknown>
      expect(order).toBe("permuted")
      const there = yield* database
      yield* Effect.provide(
        Effect.flatMap(DeploymentStore, ({ decide }) => decide("identity", JSON.stringify(before))),
        there.store
      )
      expect(yield* start(there, {})).toEqual(keys)
      expect(yield* refusal(there, { KEY_ORDER: "random" })).toContain("KEY_ORDER is permuted there.")
    })
  )

  it.scoped("refuses a database that was cut into another number of ranges", () =>
    Effect.gen(function* () {
      const here = yield* database
      yield* start(here, {})
      const identity = JSON.parse(here.decided.get("identity")!) as object
      const there = yield* database
      yield* Effect.provide(
        Effect.flatMap(DeploymentStore, ({ decide }) =>
          decide("identity", JSON.stringify({ ...identity, ranges: 32 }))
        ),
        there.store
      )
      expect(yield* refusal(there, {})).toContain("it has 32 key ranges, this program 16.")
    })
  )
})

describe("the keyed hashes of a deployment", () => {
  const hashAt = ({ store }: Database, variables: Variables) =>
    Effect.gen(function* () {
      const layer = layerHash(yield* settingsOf(variables)).pipe(Layer.provide(store))
      return Context.get(yield* Layer.build(layer), KeyedHash)
    })
  const address = "192.0.2.7"

  it.scoped("are the same at every start, by a secret that is drawn at the first, and others elsewhere", () =>
    Effect.gen(function* () {
      const here = yield* database
      const first = (yield* hashAt(here, {})).of("quota", address)
      expect(first).toMatch(/^[A-Za-z0-9_-]{43}$/)
      expect((yield* hashAt(here, {})).of("quota", address)).toBe(first)
      expect((yield* hashAt(yield* database, {})).of("quota", address)).not.toBe(first)
    })
  )

  it.scoped("follow from HASH_SECRET where there is one, which the database does not get", () =>
    Effect.gen(function* () {
      const here = yield* database
      const HASH_SECRET = "a-secret-of-the-operator"
      const first = (yield* hashAt(here, { HASH_SECRET })).of("quota", address)
      expect((yield* hashAt(yield* database, { HASH_SECRET })).of("quota", address)).toBe(first)
      expect((yield* hashAt(here, {})).of("quota", address)).not.toBe(first)
      expect(JSON.stringify([...here.decided])).not.toContain(HASH_SECRET)
    })
  )

  it.scoped("of one purpose are not those of another, and none is a hash without the secret", () =>
    Effect.gen(function* () {
      const hash = yield* hashAt(yield* database, {})
      const purposes = ["quota", "create-body", "audit-client", "device"] as const
      const hashes = purposes.map((purpose) => hash.of(purpose, address))
      expect(
        new Set([...hashes, Buffer.from(Secret.digest(address), "hex").toString("base64url")]).size
      ).toBe(5)
    })
  )
})

describe("the secret of a deployment", () => {
  it.scoped("that was drawn at the first start is kept, and used at the next", () =>
    Effect.gen(function* () {
      const here = yield* database
      const keys = yield* start(here, {})
      expect(yield* start(here, {})).toEqual(keys)
      expect(yield* start(yield* database, {})).not.toEqual(keys)
    })
  )

  it.scoped("that was drawn may be set from then on", () =>
    Effect.gen(function* () {
      const here = yield* database
      const keys = yield* start(here, {})
      const { secret } = JSON.parse(here.decided.get("identity")!) as { secret: string }
      expect(secret).toMatch(/^[0-9a-f]{32}$/)
      expect(yield* start(here, { KEY_SECRET: secret })).toEqual(keys)
    })
  )

  it.scoped("that the operator keeps is not written down", () =>
    Effect.gen(function* () {
      const here = yield* database
      yield* start(here, { KEY_SECRET })
      expect(here.decided.get("identity")).toContain(Secret.digest(KEY_SECRET))
      expect(here.decided.get("identity")).not.toContain(KEY_SECRET)
    })
  )

  it.scoped("is the same for all nodes that decide it at once", () =>
    Effect.gen(function* () {
      const here = yield* database
      const nodes = Array.from({ length: 8 }, () => start(here, {}))
      const keys = yield* Effect.all(nodes, { concurrency: "unbounded" })
      expect(new Set(keys.map(String)).size).toBe(1)
    })
  )

  it.scoped("is one of two that nodes bring at once: the other node refuses", () =>
    Effect.gen(function* () {
      const here = yield* database
      const exits = yield* Effect.forEach(
        [KEY_SECRET, otherSecret],
        (secret) => Effect.either(start(here, { KEY_SECRET: secret })),
        { concurrency: "unbounded" }
      )
      expect(exits.map(({ _tag }) => _tag).toSorted()).toEqual(["Left", "Right"])
    })
  )
})

describe("the administrator's key", () => {
  const adminKey = ({ store }: Database, variables: Variables) =>
    Effect.gen(function* () {
      const layer = layerAdminKey(yield* settingsOf(variables)).pipe(Layer.provide(store))
      return Context.get(yield* Layer.build(layer), AdminKey)
    })

  it.scoped("is drawn and given at the first start alone; only its digest is kept", () =>
    Effect.gen(function* () {
      const here = yield* database
      const first = yield* adminKey(here, {})
      const key = Redacted.value(Option.getOrThrow(first.drawn))
      expect(key).toMatch(/^lm_[A-Za-z0-9_-]{32}$/)
      expect(first.digest).toBe(Secret.digest(key))
      expect([...here.decided.values()]).toEqual([Secret.digest(key)])
      expect(yield* adminKey(here, {})).toEqual({ digest: first.digest, drawn: Option.none() })
    })
  )

  it.scoped("is drawn by one of the nodes that start at once", () =>
    Effect.gen(function* () {
      const here = yield* database
      const nodes = yield* Effect.all(
        Array.from({ length: 8 }, () => adminKey(here, {})),
        { concurrency: "unbounded" }
      )
      expect(new Set(nodes.map(({ digest }) => digest)).size).toBe(1)
      expect(nodes.filter(({ drawn }) => Option.isSome(drawn))).toHaveLength(1)
    })
  )

  it.scoped("is that of ADMIN_API_KEY where it is set, and nothing is written down", () =>
    Effect.gen(function* () {
      const here = yield* database
      const ADMIN_API_KEY = "lm_my-own-administrator-key"
      const own = { digest: Secret.digest(ADMIN_API_KEY), drawn: Option.none() }
      expect(yield* adminKey(here, { ADMIN_API_KEY })).toEqual(own)
      expect(here.decided.size).toBe(0)
      yield* adminKey(here, {})
      expect(yield* adminKey(here, { ADMIN_API_KEY })).toEqual(own)
    })
  )
})

describe("Secret.matches", () => {
  it("tells the secret from any other text", () => {
    const digest = Secret.digest("lm_key")
    expect(Secret.matches(Redacted.make("lm_key"), digest)).toBe(true)
    for (const other of ["", "lm_ke", "lm_key ", "LM_KEY", "x".repeat(10_000), digest]) {
      expect(Secret.matches(Redacted.make(other), digest)).toBe(false)
    }
  })
})
