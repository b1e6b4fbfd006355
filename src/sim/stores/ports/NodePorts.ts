import { Context, Effect } from "effect"
import { toStrings } from "../../../keys/PackedKeys.ts"
import { DatabaseMark } from "../../../storage/nodes/DatabaseMark.ts"
import { DeploymentStore } from "../../../storage/nodes/DeploymentStore.ts"
import { batchRow, rangeRow, shardRow } from "../database/RowNames.ts"
import { query, statement, transaction } from "../database/Transactions.ts"
import type { DatabaseCopy, Tables } from "../DatabaseCopy.ts"
import type { Call } from "./Call.ts"

/** What the ports of what nodes share ask the database. */
export interface Surroundings {
  /** Where a recovery looks for the rows that it locks. */
  readonly tables: Pick<Tables, "stocked">
  readonly deployment: typeof DeploymentStore.Service
}

const recover = (
  copy: DatabaseCopy,
  by: string,
  witnessed: Parameters<(typeof DatabaseMark.Service)["recover"]>[0]
) => {
  const { journal, mark, ranges, tables } = copy
  const { ahead, batches, stock } = tables.stocked
  const keys = [
    ...Array.from(batches.values()).flatMap((batch) => toStrings(batch.keys)),
    ...[stock, ahead.status.unused, ahead["two-table"].unused].flatMap((keys) => [...keys])
  ]
  return copy.noteMark.pipe(
    Effect.zipRight(mark.recover(witnessed)),
    Effect.tap((regression) => {
      if (regression !== undefined) copy.comparison?.part()
      return Effect.map(ranges.watermarks, (watermarks) => {
        if (regression === undefined) return
        journal.add({
          tag: "recovered",
          by,
          keys,
          watermarks,
          epochs: Array.from(tables.stocked.epochs)
        })
      })
    })
  )
}

const databaseMark = (
  call: Call,
  by: string,
  { tables: { stocked } }: Surroundings
): typeof DatabaseMark.Service => {
  const row = () => ["database_mark"]
  return {
    move: (least) =>
      call("DatabaseMark.move", statement(row), (copy) =>
        Effect.zipRight(copy.noteMark, copy.mark.move(least))
      ),
    look: call("DatabaseMark.look", query, ({ mark }) => mark.look),
    recover: (witnessed) =>
      call(
        "DatabaseMark.recover",
        transaction(
          row,
          () => Array.from(stocked.epochs.keys(), shardRow),
          () => witnessed.watermarks.map(rangeRow),
          () => Array.from(stocked.batches.values(), batchRow),
          undefined
        ),
        (copy) => recover(copy, by, witnessed)
      ),
    regressions: call("DatabaseMark.regressions", query, ({ mark }) => mark.regressions),
    identity: call("DatabaseMark.identity", query, ({ mark }) => mark.identity)
  }
}

const deploymentStore = (call: Call, { deployment }: Surroundings): typeof DeploymentStore.Service => ({
  decide: (name, value) =>
    call(
      "DeploymentStore.decide",
      statement(() => [`deployment ${name}`]),
      () => deployment.decide(name, value)
    )
})

/** The database's mark, and what its nodes have decided for all, as a process reaches them. */
export const make = (
  call: Call,
  by: string,
  surroundings: Surroundings
): Context.Context<DatabaseMark | DeploymentStore> =>
  Context.make(DatabaseMark, databaseMark(call, by, surroundings)).pipe(
    Context.add(DeploymentStore, deploymentStore(call, surroundings))
  )
