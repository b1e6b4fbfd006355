import { expect, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Schedule } from "effect"
import * as LinkSweep from "../../../src/actors/links/LinkSweep.ts"
import { subjectOfLink } from "../../../src/model/Visit.ts"
import * as KeyStockMemory from "../../../src/sim/stores/KeyStockMemory.ts"
import * as LinkLifetimeMemory from "../../../src/sim/stores/LinkLifetimeMemory.ts"
import * as LinkStoreMemory from "../../../src/sim/stores/LinkStoreMemory.ts"
import * as VisitStoreMemory from "../../../src/sim/stores/VisitStoreMemory.ts"
import * as KeyStockSql from "../../../src/storage/keys/KeyStockSql.ts"
import { GuardedCreates } from "../../../src/storage/links/GuardedCreates.ts"
import { LinkLifetime } from "../../../src/storage/links/LinkLifetime.ts"
import * as LinkLifetimeSql from "../../../src/storage/links/LinkLifetimeSql.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import { StorageError } from "../../../src/storage/StorageError.ts"
import { VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import * as VisitStoreSql from "../../../src/storage/visits/VisitStoreSql.ts"
import { TrustedTime } from "../../../src/time/TrustedTime.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { onEveryBackend } from "../../support/Stores.ts"

it.effect("A sweep ends where the time comes into doubt, whatever is left", () =>
  Effect.gen(function* () {
    const done: Array<string> = []
    let isSettled = true
    const full = Array.from({ length: 1_000 }, (_, n) => `k${n}`)
    yield* LinkSweep.turn(Duration.days(30)).pipe(
      Effect.provideService(LinkLifetime, {
        expireSome: () =>
          Effect.sync(() => {
            isSettled = done.push("expire") < 2
            return full
          }),
        recycle: () => Effect.sync(() => (done.push("recycle"), [])),
        toForget: () => Effect.sync(() => (done.push("forget"), []))
      } as unknown as typeof LinkLifetime.Service),
      Effect.provideService(GuardedCreates, {
        drop: () => Effect.sync(() => (done.push("drop"), 0))
      } as unknown as typeof GuardedCreates.Service),
      Effect.provideService(VisitStore, {} as unknown as typeof VisitStore.Service),
      Effect.provideService(TrustedTime, {
        isSettled: () => isSettled,
        wallAhead_ms: () => 0,
        heard: () => Effect.void
      })
    )
    expect(done).toEqual(["expire", "expire"])
  })
)

interface SweptStores {
  readonly links: typeof LinkStore.Service
  readonly lifetime: typeof LinkLifetime.Service
  readonly visits: typeof VisitStore.Service
}

class Swept extends Context.Tag("test/Swept")<Swept, SweptStores>() {}

const gathered = Layer.effect(
  Swept,
  Effect.all({ links: LinkStore, lifetime: LinkLifetime, visits: VisitStore })
)

const memory = Layer.suspend(() => {
  const tables = { links: new Map(), ended: new Map(), ...KeyStockMemory.emptyTables() }
  return gathered.pipe(
    Layer.provide([
      VisitStoreMemory.layer,
      Layer.succeed(LinkStore, LinkStoreMemory.makeOver(tables.links, tables.ended)),
      Layer.succeed(LinkLifetime, LinkLifetimeMemory.makeOver(tables))
    ])
  )
})

const sql = gathered.pipe(
  Layer.provide(LinkLifetimeSql.layer),
  Layer.provide([LinkStoreSql.layer, VisitStoreSql.layer, KeyStockSql.layer()])
)

/** A turn of the sweep, without a quarantine; `visits`: what it has of the visits. */
const turn = ({ lifetime }: SweptStores, visits: typeof VisitStore.Service) =>
  LinkSweep.turn(Duration.zero).pipe(
    Effect.provideService(LinkLifetime, lifetime),
    Effect.provideService(VisitStore, visits),
    Effect.provideService(GuardedCreates, {
      drop: () => Effect.succeed(0)
    } as unknown as typeof GuardedCreates.Service)
  )

/** More links than have their visits forgotten at a time. */
const links = Array.from({ length: 450 }, (_, index) => linkOf(`k${index}`))
const subjects = links.map(subjectOfLink)

/** Links that are deleted, and were visited twice each. */
const deleted = ({ links: store, visits }: SweptStores) =>
  Effect.gen(function* () {
    yield* store.insertMany(links)
    const hours = subjects.map((subject) => ({ subject, hour: 500_000, nonBots: 2, bots: 0, values: [] }))
    yield* visits.write({ writer: "w", sequence: 1, at: 0, hours })
    yield* store.deleteMany(links.map(({ key }) => ({ key, at: 1 })))
    expect(yield* counted(visits)).toBe(900)
  })

const counted = (visits: typeof VisitStore.Service) =>
  Effect.map(visits.totals(subjects), (all) => all.reduce((sum, { nonBots }) => sum + nonBots, 0))

onEveryBackend(Swept, { memory, sql }, (open) => {
  const opened = Effect.flatten(open)

  /** Turns until no link is left: the database's clock may go on by less than a millisecond in one. */
  const untilFree = (stores: SweptStores) =>
    Effect.repeat(
      Effect.flatMap(Effect.ignore(turn(stores, stores.visits)), () =>
        stores.links.takenAmong(links.map(({ key }) => key))
      ),
      { until: ({ size }) => size === 0, schedule: Schedule.recurs(100) }
    )

  it.scopedLive("A sweep forgets the visits of the links that it frees", () =>
    Effect.gen(function* () {
      const stores = yield* opened
      yield* deleted(stores)
      yield* untilFree(stores)
      expect(yield* counted(stores.visits)).toBe(0)
    })
  )

  it.scopedLive("A sweep forgets visits of links that an earlier one has freed and did not get to", () =>
    Effect.gen(function* () {
      const stores = yield* opened
      yield* deleted(stores)
      const away = new StorageError({ operation: "VisitStore.forget", applied: "no", reason: "away" })
      let asked = 0
      const broken = { ...stores.visits, forget: () => (asked++, away) }
      const turns = Effect.ignore(turn(stores, broken))
      yield* Effect.repeat(turns, { until: () => asked > 0, schedule: Schedule.recurs(100) })
      expect(yield* counted(stores.visits)).toBe(900)
      yield* untilFree(stores)
      yield* turn(stores, stores.visits)
      expect(yield* counted(stores.visits)).toBe(0)
    })
  )

  it.scopedLive("A sweep forgets visits again whose forgetting it did not get to note", () =>
    Effect.gen(function* () {
      const stores = yield* opened
      yield* deleted(stores)
      yield* untilFree({
        ...stores,
        lifetime: {
          ...stores.lifetime,
          forgotten: () =>
            new StorageError({ operation: "LinkLifetime.forgotten", applied: "no", reason: "away" })
        }
      })
      expect((yield* stores.lifetime.toForget(1_000)).length).toBe(450)
      yield* turn(stores, stores.visits)
      expect(yield* stores.lifetime.toForget(1_000)).toEqual([])
      expect(yield* counted(stores.visits)).toBe(0)
    })
  )
})
