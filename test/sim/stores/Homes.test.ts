import { describe, expect, it } from "vitest"
import { Context, type Duration, Effect, Exit, Fiber, Layer, type Scope } from "effect"
import { LinkReader } from "../../../src/actors/links/LinkReader.ts"
import * as LocalOwners from "../../../src/actors/links/LocalOwners.ts"
import { bucketCount, bucketOf, bucketOfName, bucketOfSubject } from "../../../src/keys/Buckets.ts"
import { BucketMoves, movePlaces } from "../../../src/sim/stores/homes/BucketMoves.ts"
import { movedOf } from "../../../src/sim/stores/homes/Replication.ts"
import * as Asks from "../../../src/sim/stores/homes/Asks.ts"
import type { VirtualProcess } from "../../../src/sim/world/VirtualProcess.ts"
import { LinkCarrier } from "../../../src/storage/homes/LinkDatabaseList.ts"
import { KeyStock } from "../../../src/storage/keys/KeyStock.ts"
import { BucketPlacement } from "../../../src/storage/links/buckets/BucketPlacement.ts"
import {
  begin,
  GuardedCreates,
  type GuardedLink,
  guardTimes
} from "../../../src/storage/links/GuardedCreates.ts"
import * as LinkGroupCommit from "../../../src/storage/links/LinkGroupCommit.ts"
import { LinkLifetime } from "../../../src/storage/links/LinkLifetime.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import { bucketPlacementLaws } from "../../storage/links/BucketPlacementLaws.ts"
import { guardedCreatesLaws } from "../../storage/links/GuardedCreatesLaws.ts"
import { linkLifetimeLaws } from "../../storage/links/LinkLifetimeLaws.ts"
import { linkStoreLaws } from "../../storage/links/LinkStoreLaws.ts"
import { visitStoreLaws } from "../../storage/visits/VisitStoreLaws.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import type { Open } from "../../support/Stores.ts"
import { LittleWorld } from "./LittleWorld.ts"
import { built, littleWorld, openVirtual } from "./VirtualStores.ts"

/** A service of a node over several databases. */
const on = <I, S extends object>(little: LittleWorld, process: VirtualProcess, tag: Context.Tag<I, S>) =>
  built(
    little,
    process,
    tag,
    Layer.scopedContext(
      Effect.map(little.homes!.ports(process), ({ stores }) => stores)
    ) as unknown as Layer.Layer<I>
  )

/** Several ports of one node, and its time. */
const nodesOf = (count: number, homeOf: (bucket: number) => number = (bucket) => bucket % count) =>
  Effect.map(littleWorld({ homes: { count, homeOf } }), (little) => {
    let clients = 0
    return Effect.suspend(() => {
      const process = little.world.spawn(`node-${++clients}`, 1)
      return Effect.all({
        links: on(little, process, LinkStore),
        guarded: on(little, process, GuardedCreates),
        lifetime: on(little, process, LinkLifetime),
        visits: on(little, process, VisitStore),
        stock: on(little, process, KeyStock),
        carrier: on(little, process, LinkCarrier as unknown as Context.Tag<LinkCarrier, LinkCarrier["Type"]>),
        pause: Effect.succeed((duration: Duration.DurationInput) =>
          little.inside(process, Effect.sleep(duration))
        )
      })
    })
  })

type Nodes = ReturnType<typeof nodesOf>
type Node = Effect.Effect.Success<Effect.Effect.Success<Nodes>>

const portOf = <S>(nodes: Nodes, port: (node: Node) => S): Open<S> =>
  Effect.map(nodes, (node) => Effect.map(node, port))

/** The stock of the control database, to which what is free again in the others is carried before it is asked. */
const carrying = ({ carrier: { carry }, stock }: Node): typeof KeyStock.Service => ({
  ...stock,
  take: (batch, count) => Effect.zipRight(carry, stock.take(batch, count)),
  openBatches: (shard) => Effect.zipRight(carry, stock.openBatches(shard)),
  size: Effect.zipRight(carry, stock.size)
})

for (const count of [2, 4]) {
  describe(`in the simulation, on ${count} databases`, () => {
    const nodes = nodesOf(count)
    linkStoreLaws(
      "LinkStore",
      portOf(nodes, ({ links }) => links),
      count
    )
    linkLifetimeLaws(
      portOf(nodes, (node) => ({
        links: node.links,
        lifetime: node.lifetime,
        pause: node.pause,
        stock: carrying(node)
      })),
      count
    )
    visitStoreLaws(
      "VisitStore",
      portOf(nodes, ({ visits }) => visits)
    )
    // Where a key and the guards of its link are in one database, as creates choose keys.
    guardedCreatesLaws(
      "GuardedCreates",
      portOf(
        nodesOf(count, () => count - 1),
        ({ guarded, links, pause }) => ({ guarded, links, pause })
      )
    )
  })
}

describe("in the simulation", () => {
  bucketPlacementLaws(
    "BucketPlacement",
    openVirtual(BucketPlacement, (little, process) =>
      Layer.succeed(BucketPlacement, Asks.placementOf(little.database, process))
    )
  )
})

describe("a node, while some buckets are being moved by a mover that has died", () => {
  const isMoving = (bucket: number) => bucket % 2 === 1
  const names = Array.from({ length: 30 }, (_, n) => `k${n.toString(36)}Q`)
  const staying = names.filter((name) => !isMoving(bucketOf(name))).slice(0, 5)
  const moving = names.filter((name) => isMoving(bucketOf(name))).slice(0, 2)
  const guardOf = (isIn: (bucket: number) => boolean) => {
    const all = Array.from({ length: 30 }, (_, n) => `idempotency:${n}`)
    return { name: all.find((name) => isIn(bucketOfName(name)))!, token: 1 }
  }
  const [stays, moves] = [guardOf((bucket) => !isMoving(bucket)), guardOf(isMoving)]
  const guardedBy = (key: string, guard: typeof stays): GuardedLink => ({
    link: linkOf(key),
    guards: [guard],
    answer: "the answer"
  })

  /** A node with the first of two databases, which has all links at first, and what has half of its buckets wait for a move for good. The node hears of that by a refusal, or when it next reads the placement. */
  const nodeOf = <A, E>(
    run: (
      node: Context.Context<LinkStore | GuardedCreates>,
      interruptMove: Effect.Effect<void>
    ) => Effect.Effect<A, E, Scope.Scope>
  ) =>
    Effect.gen(function* () {
      const little = yield* littleWorld({ homes: { count: 2, homeOf: () => 0 } })
      const { control, databases } = little.homes!
      const process = little.world.spawn("node", 1)
      const interruptMove = Effect.sync(() => {
        const { epochs, places } = control.tables.placement
        for (const [bucket, { home }] of places.entries())
          if (isMoving(bucket)) places[bucket] = { home, movingTo: 1 }
        epochs.set(0, 1)
        databases[0]!.tables.home.epoch = 1
      })
      return yield* little.inside(
        process,
        Effect.scoped(
          Effect.flatMap(little.homes!.ports(process), ({ stores }) =>
            Effect.provide(run(stores, interruptMove), stores)
          )
        )
      )
    }).pipe(Effect.scoped)

  const grouped = <I, S>(
    tag: Context.Tag<I, S>,
    layer: Layer.Layer<I, never, I>,
    stores: Context.Context<LinkStore | GuardedCreates>
  ) =>
    Effect.map(Layer.build(layer), (built) => Context.get(built, tag)).pipe(
      Effect.provide(stores as unknown as Context.Context<I>)
    )

  /** What became of a call that answers with one thing, or fails. */
  const became = <A>(call: Effect.Effect<ReadonlyArray<A>, { readonly applied: string }>) =>
    Effect.match(call, { onSuccess: ([answer]) => answer, onFailure: ({ applied }) => ({ applied }) })

  it("binds the links of a batch whose buckets stay, and says that those of the others are not bound", () =>
    Effect.gen(function* () {
      const [outcomes, rows] = yield* nodeOf((stores, interruptMove) =>
        Effect.gen(function* () {
          const { bindThen } = yield* LocalOwners.make(1).pipe(
            Effect.provide(stores),
            Effect.provideService(LinkReader, { readThen: () => expect.unreachable() })
          )
          yield* interruptMove
          const calls = [[staying[0]!, moving[0]!, staying[1]!], [moving[1]!], [staying[2]!]]
          const outcomes = yield* Effect.forEach(
            calls,
            (keys) =>
              LocalOwners.bind(
                bindThen,
                keys.map((key) => linkOf(key))
              ),
            { concurrency: "unbounded" }
          )
          return [outcomes, yield* Context.get(stores, LinkStore).findMany(calls.flat())] as const
        })
      )
      const told = outcomes.map((all) => all.map(Exit.mapError(({ applied, away }) => ({ applied, away }))))
      const [bound, unbound] = [Exit.succeed("bound"), Exit.fail({ applied: "no", away: true })]
      expect(told).toEqual([[bound, unbound, bound], [unbound], [bound]])
      expect(rows.map((row) => row !== null)).toEqual([true, false, true, false, true])
    }).pipe(Effect.runPromise))

  it("deletes links whose buckets stay, though those of others were to be deleted with them", () =>
    Effect.gen(function* () {
      const deleted = yield* nodeOf((stores, interruptMove) =>
        Effect.gen(function* () {
          const { insertMany } = Context.get(stores, LinkStore)
          yield* insertMany([...staying, ...moving].map((key) => linkOf(key)))
          const { deleteMany } = yield* grouped(LinkStore, LinkGroupCommit.links({ inFlightMax: 1 }), stores)
          yield* interruptMove
          return yield* Effect.forEach(
            [staying[0]!, moving[0]!, staying[1]!],
            (key) => became(deleteMany([{ key, at: 1 }])),
            { concurrency: "unbounded" }
          )
        })
      )
      expect(deleted).toEqual([true, { applied: "no" }, true])
    }).pipe(Effect.runPromise))

  /** Has a node whose guards have begun. */
  const guarding = <A, E>(
    run: (
      bindMany: (typeof GuardedCreates.Service)["bindMany"],
      interruptMove: Effect.Effect<void>
    ) => Effect.Effect<A, E>
  ) =>
    nodeOf((stores, interruptMove) =>
      Effect.gen(function* () {
        const guarded = yield* grouped(
          GuardedCreates,
          LinkGroupCommit.guardedCreates({ inFlightMax: 1 }),
          stores
        )
        for (const guard of [stays, moves])
          yield* begin(guarded, { ...guard, ...guardTimes, fingerprint: "" })
        return yield* run(guarded.bindMany, interruptMove)
      })
    )

  it("binds a guarded link whose buckets stay, and says that one whose guard is being moved is not bound", () =>
    Effect.gen(function* () {
      const bound = yield* guarding((bindMany, interruptMove) =>
        Effect.zipRight(
          interruptMove,
          Effect.forEach(
            [guardedBy(staying[0]!, moves), guardedBy(staying[1]!, stays)],
            (link) => became(bindMany([link])),
            { concurrency: "unbounded" }
          )
        )
      )
      expect(bound).toEqual([{ applied: "no" }, "bound"])
    }).pipe(Effect.runPromise))

  it("has no guarded link wait for one whose guard is known to be in a bucket that is being moved", () =>
    Effect.gen(function* () {
      const ended = yield* guarding((bindMany, interruptMove) =>
        Effect.gen(function* () {
          yield* interruptMove
          // By then the placement was read again.
          yield* Effect.sleep("1200 millis")
          const ended: Array<string> = []
          const binding = (key: string, guard: typeof stays) =>
            Effect.map(became(bindMany([guardedBy(key, guard)])), () => void ended.push(key))
          const waiting = yield* Effect.fork(binding(staying[0]!, moves))
          yield* Effect.sleep("100 millis")
          yield* binding(staying[1]!, stays)
          yield* Fiber.join(waiting)
          return ended
        })
      )
      expect(ended).toEqual([staying[1], staying[0]])
    }).pipe(Effect.runPromise))
})

describe("a simulated mover", () => {
  const half = Array.from({ length: bucketCount / 2 }, (_, n) => 2 * n)
  const keys = Array.from({ length: 60 }, (_, n) => `k${n.toString(36)}Q`)

  /** Two databases with links, guards and visits in the first, and a mover that is killed at the first time that it is at a place. */
  const moved = (place: string | undefined) => {
    const little = new LittleWorld(7, { homes: { count: 2, homeOf: () => 0 } })
    const { control, databases } = little.homes!
    for (const key of keys) {
      const { guards, ranks, rows, visits } = control.tables
      const name = `idempotency:${key}`
      rows.set(key, linkOf(key))
      guards.set(name, { name, token: 1, begunAt: 1, fingerprint: "", key, answer: "{}" })
      ranks.set(key, { key, createdAt: 1, visits: 1, lastVisit: 1 })
      visits.totals.set(`${key}@1`, { nonBots: 1, bots: 0 })
      visits.hours.set(`${key}@1`, new Map())
    }
    const places: Array<string> = []
    let kills = 0
    const moves = new BucketMoves({
      world: little.world,
      databases,
      defects: {},
      isKilled: (at) => {
        places.push(at)
        const isKilled = at === place && kills === 0
        if (isKilled) kills++
        return isKilled
      }
    })
    const rows = () =>
      databases.map(({ tables }) => movedOf(tables).map(({ rows }) => Array.from(rows.keys()).toSorted()))
    little.world.after(0, null, () => moves.begin({ buckets: half, from: 0, to: 1 }, () => 0))
    little.pass(10_000)
    little.world.end()
    return { control, databases, kills, moves, places, rows: rows() }
  }

  it("comes to the places of the product's in their order", () => {
    expect([...new Set(moved(undefined).places)]).toEqual(movePlaces)
  })

  it.each(movePlaces)("goes on where it was killed: %s", (place) => {
    const { control, databases, kills, moves, rows } = moved(place)
    expect([kills, moves.isUnderWay]).toEqual([1, false])
    const { epochs, places } = control.tables.placement
    expect(places).toEqual(
      Array.from({ length: bucketCount }, (_, bucket) => ({ home: bucket % 2 === 0 ? 1 : 0, movingTo: null }))
    )
    expect(databases.map(({ tables }) => tables.home)).toEqual([
      {
        epoch: epochs.get(0),
        barriers: new Map(),
        leftovers: new Set(),
        freed: new Map(),
        tenure: undefined
      },
      { epoch: 0, barriers: new Map(), leftovers: new Set(), freed: new Map(), tenure: undefined }
    ])
    for (const [number, tables] of rows.entries()) {
      const own = (bucketOf: (name: string) => number, names: ReadonlyArray<string>) =>
        names.filter((name) => (bucketOf(name) % 2 === 0 ? 1 : 0) === number).toSorted()
      const [guards, links, , , , ranks, totals, hours] = tables
      for (const rows of [links, ranks]) expect(rows).toEqual(own(bucketOf, keys))
      expect(guards).toEqual(
        own(
          bucketOfName,
          keys.map((key) => `idempotency:${key}`)
        )
      )
      for (const visits of [totals, hours])
        expect(visits).toEqual(
          own(
            bucketOfSubject,
            keys.map((key) => `${key}@1`)
          )
        )
    }
  })

  it("goes on where the target has freed links since", () =>
    Effect.gen(function* () {
      const little = yield* littleWorld({ homes: { count: 2, homeOf: () => 0 } })
      const { control, databases } = little.homes!
      for (const key of keys) control.tables.rows.set(key, { ...linkOf(key), expiresAt: 10_000 })
      const moves = new BucketMoves({
        world: little.world,
        databases,
        defects: {},
        isKilled: (place) => place === "the next step is verify" && little.world.now_us < 10_000_000
      })
      const node = little.world.spawn("node", 1)
      const lifetime = yield* on(little, node, LinkLifetime)
      little.world.after(0, null, () => moves.begin({ buckets: half, from: 0, to: 1 }, () => 20_000_000))
      little.pass(15_000)
      const ended = yield* lifetime.expireSome(100)
      little.pass(1_000)
      const freed = yield* lifetime.recycle({ quarantine_ms: 1, count: 100 })
      expect([ended.length, freed.length]).toEqual([keys.length, keys.length])
      expect(moves.isUnderWay).toBe(true)
      little.pass(10_000)
      expect(moves.isUnderWay).toBe(false)
    }).pipe(Effect.scoped, Effect.runPromise))
})
