// A database in memory that can be set back to what it was, and a node over it as the program has it: with a witness.

import { Effect, type Scope } from "effect"
import type { Link } from "../../src/model/Link.ts"
import type { DatabaseMark } from "../../src/storage/nodes/DatabaseMark.ts"
import * as DatabaseMarkMemory from "../../src/sim/stores/DatabaseMarkMemory.ts"
import type { KeyPool } from "../../src/storage/keys/KeyPool.ts"
import * as KeyRangeStoreMemory from "../../src/sim/stores/KeyRangeStoreMemory.ts"
import * as KeyStockMemory from "../../src/sim/stores/KeyStockMemory.ts"
import * as LinkStoreMemory from "../../src/sim/stores/LinkStoreMemory.ts"
import type { Witness } from "../../src/storage/nodes/Witness.ts"
import * as Witnessed from "../../src/storage/nodes/Witnessed.ts"
import { realMinter, startNode, type Stores, type TestNode } from "./TestNode.ts"

/** The tables, and their states at earlier times. */
export class ForgetfulDatabase {
  readonly tables: DatabaseMarkMemory.Tables & { readonly links: Map<string, Link> }

  constructor(
    tables: ForgetfulDatabase["tables"] = { ...DatabaseMarkMemory.emptyTables(), links: new Map() }
  ) {
    this.tables = tables
  }

  /** A standby that has what it has now, and is promoted beside it. */
  standby(): ForgetfulDatabase {
    const standby = new ForgetfulDatabase(structuredClone(this.tables))
    standby.promote()
    return standby
  }

  /** What stands in it now: a function that sets it back to that. */
  snapshot(): () => void {
    const copy = structuredClone(this.tables)
    return () => {
      const then = structuredClone(copy)
      const { ahead, batches, epochs, links, own, regressions, slots, stock } = this.tables
      const refill = <K, V>(map: Map<K, V>, from: Map<K, V>) => {
        map.clear()
        from.forEach((value, key) => map.set(key, value))
      }
      const reset = <A>(set: Set<A>, from: Set<A>) => {
        set.clear()
        from.forEach((value) => set.add(value))
      }
      refill(slots, then.slots)
      refill(epochs, then.epochs)
      refill(batches, then.batches)
      refill(links, then.links)
      reset(stock, then.stock)
      for (const kind of ["status", "two-table"] as const) {
        reset(ahead[kind].unused, then.ahead[kind].unused)
        reset(ahead[kind].used, then.ahead[kind].used)
      }
      regressions.splice(0, Infinity, ...then.regressions)
      Object.assign(own, then.own)
    }
  }

  /** A standby takes its place, which has what it has now. */
  promote(): void {
    const { own } = this.tables
    own.identity = { ...own.identity, timeline: own.identity.timeline + 1 }
  }

  /** Its mark as it is, without a witness. */
  get mark(): typeof DatabaseMark.Service {
    return DatabaseMarkMemory.makeOver(this.tables)
  }

  /** What a process that was just started makes of it. */
  witnessed(witness: typeof Witness.Service): Effect.Effect<typeof Witnessed.Witnessed.Service> {
    return Witnessed.make({
      witness,
      mark: this.mark,
      ranges: KeyRangeStoreMemory.makeOver(this.tables.slots),
      stock: KeyStockMemory.makeOver(this.tables)
    })
  }
}

/** A process over the database, its witness and its pool. */
export const startProcess = (
  database: ForgetfulDatabase,
  witness: typeof Witness.Service,
  pool: typeof KeyPool.Service
): Effect.Effect<
  {
    readonly node: TestNode
    readonly stores: Stores
    readonly witnessed: typeof Witnessed.Witnessed.Service
  },
  never,
  Scope.Scope
> =>
  Effect.gen(function* () {
    const witnessed = yield* database.witnessed(witness)
    yield* Effect.orDie(witnessed.compare)
    const stores: Stores = {
      ranges: witnessed.ranges,
      stock: witnessed.stock,
      links: LinkStoreMemory.makeOver(database.tables.links),
      pool,
      minter: realMinter
    }
    return { node: yield* startNode(stores), stores, witnessed }
  })
