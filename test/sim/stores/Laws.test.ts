// What the backends of the ports promise, held against the simulated ones: through the network, into the server and back.

import { type Context, type Duration, Effect, Layer, type Scope } from "effect"
import { describe } from "vitest"
import * as RedisPorts from "../../../src/sim/redis/Ports.ts"
import { DeploymentStore } from "../../../src/storage/nodes/DeploymentStore.ts"
import { GuardedCreates } from "../../../src/storage/links/GuardedCreates.ts"
import { KeyPool, type PoolKind } from "../../../src/storage/keys/KeyPool.ts"
import * as KeyPoolMemory from "../../../src/storage/keys/KeyPoolMemory.ts"
import { KeyRangeStore } from "../../../src/storage/keys/KeyRangeStore.ts"
import * as KeyRangeStoreMemory from "../../../src/sim/stores/KeyRangeStoreMemory.ts"
import { KeyStock } from "../../../src/storage/keys/KeyStock.ts"
import * as KeyStockMemory from "../../../src/sim/stores/KeyStockMemory.ts"
import { LinkLifetime } from "../../../src/storage/links/LinkLifetime.ts"
import { Witness } from "../../../src/storage/nodes/Witness.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkGroupCommit from "../../../src/storage/links/LinkGroupCommit.ts"
import * as LinkStoreMemory from "../../../src/sim/stores/LinkStoreMemory.ts"
import { VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import { deploymentStoreLaws } from "../../storage/nodes/DeploymentStoreLaws.ts"
import { guardedCreatesLaws } from "../../storage/links/GuardedCreatesLaws.ts"
import { keyPoolLaws } from "../../storage/keys/KeyPoolLaws.ts"
import { keyRangeStoreLaws } from "../../storage/keys/KeyRangeStoreLaws.ts"
import { keyStockConcurrencyLaws } from "../../storage/keys/KeyStockConcurrencyLaws.ts"
import { keyStockLaws } from "../../storage/keys/KeyStockLaws.ts"
import { likeMemory } from "../../support/LikeMemory.ts"
import { linkLifetimeLaws } from "../../storage/links/LinkLifetimeLaws.ts"
import { linkStoreLaws } from "../../storage/links/LinkStoreLaws.ts"
import {
  linkCommand,
  playLinks,
  playPool,
  playRanges,
  playStock,
  poolCommand,
  rangeCommand,
  stockCommand
} from "../../support/Players.ts"
import type { Open } from "../../support/Stores.ts"
import { witnessLaws } from "../../storage/nodes/WitnessLaws.ts"
import { visitStoreLaws } from "../../storage/visits/VisitStoreLaws.ts"
import type { LittleWorld } from "./LittleWorld.ts"
import type { VirtualProcess } from "../../../src/sim/world/VirtualProcess.ts"
import { built, littleWorld, openVirtual } from "./VirtualStores.ts"

const onDatabase = (little: LittleWorld, process: VirtualProcess) =>
  Layer.succeedContext(little.database.stores(process))

const grouped = (little: LittleWorld, process: VirtualProcess) =>
  Layer.provide(
    LinkGroupCommit.links({ inFlightMax: 2 }),
    Layer.succeedContext(little.database.stores(process))
  )

const onRedis = (little: LittleWorld, process: VirtualProcess) =>
  Layer.scoped(KeyPool, RedisPorts.pool(little.redis, process, little.journal))

const pool = (shards: number, kind?: PoolKind) =>
  Layer.scoped(
    KeyPool,
    Effect.flatMap(littleWorld({ shards, ...(kind && { kind }) }), (little) => {
      const process = little.world.spawn("node-1", 1)
      return built(little, process, KeyPool, onRedis(little, process))
    })
  )

/** Several ports of one process, and its time. */
const portsOf = <A>(
  ports: (little: LittleWorld, process: VirtualProcess) => Effect.Effect<A, never, Scope.Scope>
): Open<A & { readonly pause: (duration: Duration.DurationInput) => Effect.Effect<void> }> =>
  Effect.map(littleWorld(), (little) => {
    let clients = 0
    return Effect.suspend(() => {
      const process = little.world.spawn(`node-${++clients}`, 1)
      return Effect.map(ports(little, process), (services) => ({
        ...services,
        pause: (duration: Duration.DurationInput) => little.inside(process, Effect.sleep(duration))
      }))
    })
  })

const on = <I, S extends object>(little: LittleWorld, process: VirtualProcess, tag: Context.Tag<I, S>) =>
  built(little, process, tag, onDatabase(little, process) as unknown as Layer.Layer<I>)

describe("in the simulation", () => {
  guardedCreatesLaws(
    "GuardedCreates",
    portsOf((little, process) =>
      Effect.all({ links: on(little, process, LinkStore), guarded: on(little, process, GuardedCreates) })
    )
  )
  linkLifetimeLaws(
    portsOf((little, process) =>
      Effect.all({
        links: on(little, process, LinkStore),
        stock: on(little, process, KeyStock),
        lifetime: on(little, process, LinkLifetime)
      })
    )
  )
  linkStoreLaws("LinkStore", openVirtual(LinkStore, onDatabase))
  linkStoreLaws("LinkStore with group commit", openVirtual(LinkStore, grouped))
  keyRangeStoreLaws("KeyRangeStore", openVirtual(KeyRangeStore, onDatabase))
  keyStockLaws("KeyStock", openVirtual(KeyStock, onDatabase))
  keyStockConcurrencyLaws("KeyStock", openVirtual(KeyStock, onDatabase))
  visitStoreLaws("VisitStore", openVirtual(VisitStore, onDatabase))
  deploymentStoreLaws("DeploymentStore", openVirtual(DeploymentStore, onDatabase))
  keyPoolLaws("KeyPool", pool(1), 0)
  witnessLaws(
    "Witness",
    openVirtual(Witness, (little, process) =>
      Layer.scoped(Witness, RedisPorts.witnesses(little.redis, process, little.journal))
    )
  )
  keyPoolLaws("KeyPool, one of three shards", pool(3), 1, 2 ** 53 - 100)
  keyPoolLaws("KeyPool of sets", pool(1, "set"), 0, 1, "set")

  likeMemory({
    title: "LinkStore answers any sequence of commands like the one in memory",
    open: openVirtual(LinkStore, onDatabase),
    memory: LinkStoreMemory.make,
    command: linkCommand,
    player: playLinks,
    numRuns: 40
  })
  likeMemory({
    title: "KeyRangeStore answers any sequence of commands like the one in memory",
    open: openVirtual(KeyRangeStore, onDatabase),
    memory: KeyRangeStoreMemory.make,
    command: rangeCommand,
    player: playRanges,
    numRuns: 40
  })
  likeMemory({
    title: "KeyStock answers any sequence of commands like the one in memory",
    open: openVirtual(KeyStock, onDatabase),
    memory: KeyStockMemory.make(),
    command: stockCommand,
    player: playStock,
    numRuns: 40
  })
  likeMemory({
    title: "KeyPool answers any sequence of commands like the one in memory",
    open: openVirtual(KeyPool, onRedis),
    memory: KeyPoolMemory.make({ shards: 1, settleAfter: 0 }),
    command: poolCommand,
    player: playPool,
    numRuns: 60
  })
})
