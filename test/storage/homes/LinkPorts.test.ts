import { expect, it } from "@effect/vitest"
import { Array as Arrays, Effect } from "effect"
import { bucketOf } from "../../../src/keys/Buckets.ts"
import * as LinkStoreMemory from "../../../src/sim/stores/LinkStoreMemory.ts"
import { carryKeys } from "../../../src/storage/homes/LinkOutbox.ts"
import * as VisitStoreSpread from "../../../src/storage/homes/VisitStoreSpread.ts"
import * as VisitStoreMemory from "../../../src/sim/stores/VisitStoreMemory.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { likeMemory } from "../../support/LikeMemory.ts"
import { linkCommand, playLinks } from "../../support/Players.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { portOf, type SeveralDatabases, severalDatabases } from "../../support/SeveralDatabases.ts"
import { guardedCreatesLaws } from "../links/GuardedCreatesLaws.ts"
import { linkLifetimeLaws } from "../links/LinkLifetimeLaws.ts"
import { linkRemovalsLaws } from "../links/LinkRemovalsLaws.ts"
import { linkStoreLaws } from "../links/LinkStoreLaws.ts"
import { inOrder, playVisits, visitCommand } from "../visits/VisitPlayer.ts"
import { visitRankLaws, visitStoreLaws, visitUpkeepLaws } from "../visits/VisitStoreLaws.ts"

/** The stock of the control database, to which what is free again in the others is carried before it is asked. */
const carrying = (
  [control, ...further]: SeveralDatabases["databases"],
  stock: SeveralDatabases["stock"]
): SeveralDatabases["stock"] => {
  const carry = Effect.forEach(further, ({ sql }) =>
    Effect.repeat(carryKeys({ sql, control: control!.sql, stock, lost: () => {} }, 1_000), {
      while: (more) => more
    })
  )
  return {
    ...stock,
    take: (batch, count) => Effect.zipRight(carry, stock.take(batch, count)),
    openBatches: (shard) => Effect.zipRight(carry, stock.openBatches(shard)),
    size: Effect.zipRight(carry, stock.size)
  }
}

describePostgres("a page of links of which one of two databases has nearly all", () => {
  const open = severalDatabases(2)

  it.scopedLive("has as many as were asked for, in their order", () =>
    Effect.gen(function* () {
      const { links } = yield* Effect.flatten(open)
      const keys = Array.from({ length: 300 }, (_, index) => `k${index}`)
      const [inFirst, inSecond] = Arrays.partition(keys, (key) => bucketOf(key) % 2 === 1)
      const rows = [...inFirst.slice(0, 70), ...inSecond.slice(0, 9)]
        .toSorted()
        .map((key, index) => ({ ...linkOf(key), createdAt: 1_000 + index }))
      yield* links.insertMany(rows)
      const query = { order: "createdAt-desc", limit: 50, lookedAtMax: 1_000 } as const
      const first = yield* links.list(query)
      expect(first.links).toEqual(rows.toReversed().slice(0, 50))
      const second = yield* links.list({ ...query, after: first.next! })
      expect(second).toEqual({ links: rows.toReversed().slice(50), next: null })
    })
  )
})

describePostgres("visits in two databases of their own", () => {
  const open = portOf(severalDatabases(2), ({ databases }) => VisitStoreSpread.make(databases))
  visitStoreLaws("VisitStore", open)
  visitRankLaws("VisitStore", open)
  visitUpkeepLaws("VisitStore", open)
  likeMemory({
    title: "VisitStore answers any sequence of commands like the one in memory",
    open,
    memory: VisitStoreMemory.make,
    command: visitCommand,
    player: playVisits,
    lawful: inOrder,
    numRuns: 5
  })
})

// The control database and more than one further: where there is one, nothing is routed, and the suites of each store have it.
const count = 3

describePostgres(`on ${count} databases of links`, () => {
  const open = severalDatabases(count)
  linkStoreLaws(
    "LinkStore",
    portOf(open, ({ links }) => links),
    count
  )
  likeMemory({
    title: "LinkStore answers any sequence of commands like the one in memory",
    open: portOf(open, ({ links }) => links),
    memory: LinkStoreMemory.make,
    // Several databases look at more links of a search together than one may: see `LinkListLaws`.
    command: linkCommand.map((command) =>
      command._tag === "list" ? { ...command, query: { ...command.query, lookedAtMax: 1_000 } } : command
    ),
    player: playLinks,
    numRuns: 20
  })
  linkLifetimeLaws(
    portOf(open, ({ databases, lifetime, links, stock }) => ({
      links,
      lifetime,
      pause: Effect.sleep,
      stock: carrying(databases, stock)
    })),
    count
  )
  linkRemovalsLaws(portOf(open, ({ links, removals }) => ({ links, removals })))
  visitStoreLaws(
    "VisitStore",
    portOf(open, ({ visits }) => visits)
  )
  visitRankLaws(
    "VisitStore",
    portOf(open, ({ visits }) => visits)
  )
  visitUpkeepLaws(
    "VisitStore",
    portOf(open, ({ visits }) => visits)
  )
  likeMemory({
    title: "VisitStore answers any sequence of commands like the one in memory",
    open: portOf(open, ({ visits }) => visits),
    memory: VisitStoreMemory.make,
    command: visitCommand,
    player: playVisits,
    // Each database knows the writers that wrote to it.
    lawful: inOrder,
    numRuns: 5
  })
})

describePostgres(`on the last of ${count} databases of links`, () => {
  // Where a key and the guards of its link are in one database, as creates choose keys.
  const open = severalDatabases(count, () => count - 1)
  guardedCreatesLaws(
    "GuardedCreates",
    portOf(open, ({ guarded, links }) => ({ guarded, links, pause: Effect.sleep }))
  )
})
