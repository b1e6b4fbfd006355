import { Clock, Effect, type FastCheck as fc, Runtime, Scope, TestClock } from "effect"
import { expect } from "vitest"
import { partitionOf } from "../../../src/actors/links/UrlMapping.ts"
import { type Link, type LinkState, stateAt } from "../../../src/model/Link.ts"
import { startNode, type Stores, type TestNode } from "../../support/TestNode.ts"
import { plainRow } from "../../support/Plain.ts"

/** Keys of one partition, shaped like minted ones and like aliases. */
export const keys: ReadonlyArray<string> = Array.from({ length: 10_000 }, (_, index) =>
  index % 2 === 0 ? String(index).padStart(7, "K") : `alias-${index}`
)
  .filter((key) => partitionOf(key) === 5)
  .slice(0, 5)

/** What should be in the store: a row a key, as it was written. */
export interface Model {
  readonly rows: Map<string, Link>
}

/** The node under test, which some commands replace by a new one over the same stores. */
export interface Real {
  readonly stores: Stores
  node: TestNode
  /** Starts a node that stops with the property's run. */
  readonly start: Effect.Effect<TestNode>
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  /** Whether everything is looked at after each command. It fills the caches, which hides what happens while they are empty. */
  readonly isWatched: boolean
}

type Command = fc.AsyncCommand<Model, Real>

const expectedState = (row: Link, now: number): LinkState => {
  if (row.deletedAt !== null) return "deleted"
  return row.expiresAt === null || now < row.expiresAt ? "live" : "expired"
}

/** Compares what the owner and the node show of some keys with the model. */
export const checkKeys = (model: Model, real: Real, checked: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const expected = checked.map((key) => model.rows.get(key) ?? null)
    const resolved = yield* real.node.partitionOf(keys[0]!).ResolveMany({ keys: checked })
    expect(resolved).toEqual(expected)
    const found = yield* Effect.forEach(checked, real.node.links.find)
    expect(found).toEqual(expected)
    found.forEach((link) => {
      if (link !== null) expect(stateAt(link, now)).toBe(expectedState(link, now))
    })
  })

/** Runs a command's effect, then looks at everything where that is wanted. */
const command = (
  name: string,
  body: (model: Model, real: Real) => Effect.Effect<void, unknown>
): Command => ({
  check: () => true,
  toString: () => name,
  run: (model, real) =>
    real.run(Effect.zipRight(body(model, real), real.isWatched ? checkKeys(model, real, keys) : Effect.void))
})

/** A link to be created: `which` key, as an alias or as a minted key, with or without an end. */
export interface Draft {
  readonly which: number
  readonly custom: boolean
  readonly expiresIn_ms: number | null
}

/** Creates links in one message; a key may stand in it twice. */
export const createMany = (drafts: ReadonlyArray<Draft>): Command =>
  command(`create ${drafts.map(({ which }) => keys[which]).join(" ")}`, (model, real) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const links = drafts.map(({ custom, expiresIn_ms, which }, index) => ({
        ...plainRow,
        key: keys[which]!,
        url: `https://example.com/${now}/${index}`,
        custom,
        createdAt: now,
        updatedAt: now,
        expiresAt: expiresIn_ms === null ? null : now + expiresIn_ms
      }))
      const expected = links.map((link) => {
        const holder = model.rows.get(link.key)
        if (holder === undefined) model.rows.set(link.key, link)
        if (holder === undefined) return "bound"
        return holder.custom ? "taken-by-alias" : "taken-by-key"
      })
      expect(yield* real.node.partitionOf(keys[0]!).CreateMany({ links })).toEqual(expected)
    })
  )

/** Reads some keys. */
export const resolve = (which: ReadonlyArray<number>): Command =>
  command(`resolve ${which.map((one) => keys[one]).join(" ")}`, (model, real) =>
    checkKeys(
      model,
      real,
      which.map((one) => keys[one]!)
    )
  )

/** Deletes a key by the node. */
export const remove = (which: number): Command =>
  command(`delete ${keys[which]}`, (model, real) =>
    Effect.gen(function* () {
      const key = keys[which]!
      const now = yield* Clock.currentTimeMillis
      const row = model.rows.get(key)
      const isLive = row !== undefined && row.deletedAt === null
      if (isLive) model.rows.set(key, { ...row, deletedAt: now, updatedAt: now })
      expect(yield* real.node.links.remove(key)).toBe(isLive)
    })
  )

/** Changes a key's link by the node; `null` clears the end. */
export const update = (which: number, url: string | undefined, expiresIn_ms: number | null): Command =>
  command(`change ${keys[which]}`, (model, real) =>
    Effect.gen(function* () {
      const key = keys[which]!
      const now = yield* Clock.currentTimeMillis
      const row = model.rows.get(key)
      const change = {
        ...(url !== undefined && { url }),
        expiresAt: expiresIn_ms === null ? null : now + expiresIn_ms
      }
      const changed =
        row === undefined || row.deletedAt !== null ? null : { ...row, ...change, updatedAt: now }
      if (changed !== null) model.rows.set(key, changed)
      expect(yield* real.node.links.update(key, null, change)).toEqual(changed)
    })
  )

/** Lets time pass: absences are forgotten, links end. */
export const passTime = (ms: number): Command =>
  command(`${ms} ms pass`, () => TestClock.adjust(`${ms} millis`))

/** Stops the node, in order or not, and starts another one over the same stores. */
export const restart = (how: "kill" | "stop"): Command =>
  command(how, (_, real) =>
    Effect.gen(function* () {
      yield* real.node[how]
      real.node = yield* real.start
    })
  )

/** A node to begin with. */
export const startReal = (stores: Stores, isWatched: boolean) =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const runtime = yield* Effect.runtime<never>()
    const start = Effect.provideService(startNode(stores), Scope.Scope, scope)
    const real: Real = {
      stores,
      node: yield* start,
      start,
      run: Runtime.runPromise(runtime),
      isWatched
    }
    return real
  })
