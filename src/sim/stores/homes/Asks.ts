import { Effect } from "effect"
import type { CarryingSteps, MessageSteps } from "../../../storage/homes/LinkOutbox.ts"
import type { BucketPlacement, Move } from "../../../storage/links/buckets/BucketPlacement.ts"
import type { Journal } from "../../Journal.ts"
import type { VirtualProcess } from "../../world/VirtualProcess.ts"
import { query, statement, transaction } from "../database/Transactions.ts"
import * as LinkLifetimeMemory from "../LinkLifetimeMemory.ts"
import type { VirtualDatabase } from "../VirtualDatabase.ts"
import * as BucketPlacementMemory from "./BucketPlacementMemory.ts"
import type * as Statements from "./Statements.ts"

/** See `Statements`. */
export const ofStatements = (database: VirtualDatabase, process: VirtualProcess): Statements.Asks => ({
  isInForce: (epoch) =>
    database.ask(process, "LinkEpoch.isInForce", query, ({ home }) => home.epoch <= epoch),
  hasWritten: (writer, sequence) =>
    database.ask(
      process,
      "VisitStore.isWritten",
      query,
      ({ visits }) => (visits.writers.get(writer)?.sequence ?? -1) >= sequence
    )
})

/** The placement, in the control database. */
export const placementOf = (
  control: VirtualDatabase,
  process: VirtualProcess
): typeof BucketPlacement.Service => {
  const ask = <A, E>(
    operation: string,
    plan: Parameters<VirtualDatabase["ask"]>[2],
    apply: (over: typeof BucketPlacement.Service) => Effect.Effect<A, E>
  ) =>
    Effect.flatten(
      control.ask(process, `BucketPlacement.${operation}`, plan, ({ placement }) =>
        Effect.runSyncExit(apply(BucketPlacementMemory.makeOver(placement)))
      )
    )
  const row = ({ from }: Move) => transaction(() => [`bucket_homes ${from}`], undefined)
  return {
    read: ask("read", query, ({ read }) => read),
    begin: (move) => ask("begin", row(move), ({ begin }) => begin(move)),
    end: (move) => ask("end", row(move), ({ end }) => end(move))
  }
}

/** How messages for webhooks leave a database; `queue`: how the control database takes them. */
export const messagesOf = (
  database: VirtualDatabase,
  process: VirtualProcess,
  queue: MessageSteps["queue"]
): MessageSteps => ({
  waiting: (count) =>
    database.ask(process, "LinkCarrier.waiting", query, ({ outbox }) =>
      Array.from(outbox.values()).slice(0, count)
    ),
  queue,
  remove: (messages) =>
    database.ask(process, "LinkCarrier.remove", statement(), ({ outbox }) =>
      messages.forEach(({ id }) => outbox.delete(id))
    )
})

/** How keys that are free again leave a database, and how they enter it. On their way they are in the carrier's memory. `isKept`: they do not leave it. */
export const carryingOf = (
  database: VirtualDatabase,
  process: VirtualProcess,
  journal: Journal,
  isKept = false
): Omit<CarryingSteps, "lost"> => {
  const { id: by } = process
  const enter = (operation: string) => (keys: ReadonlyArray<string>) =>
    database.ask(
      process,
      `LinkCarrier.${operation}`,
      transaction(undefined, undefined),
      ({ stocked: { batches, stock } }) => {
        LinkLifetimeMemory.strikeFrom(batches, new Set(keys))
        keys.forEach((key) => stock.add(key))
        journal.add({ tag: "stocked", by, keys })
      }
    )
  return {
    leave: (count) =>
      database.ask(process, "LinkCarrier.leave", statement(), ({ stocked: { stock } }) => {
        const keys = Array.from(stock).slice(0, count)
        if (!isKept) keys.forEach((key) => stock.delete(key))
        if (keys.length > 0) journal.add({ tag: "preloaded", by, keys })
        return keys
      }),
    comeBack: enter("comeBack"),
    arrive: enter("arrive")
  }
}
