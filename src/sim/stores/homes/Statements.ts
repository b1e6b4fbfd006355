import type { SqlClient } from "@effect/sql"
import { Context, Effect } from "effect"
import type { StorageError } from "../../../storage/StorageError.ts"

/** An epoch that a transaction's first statement asked for. */
interface Asked {
  epoch: number | undefined
}

/** The epoch that the transaction at hand has asked for: what it does is refused where that is old. `undefined` outside of one. */
export class AskedEpoch extends Context.Reference<AskedEpoch>()("linkmint/simulation/AskedEpoch", {
  defaultValue: (): Asked | undefined => undefined
}) {}

/** What the statements that are known here ask a database. */
export interface Asks {
  readonly isInForce: (epoch: number) => Effect.Effect<boolean, StorageError>
  readonly hasWritten: (writer: string, sequence: number) => Effect.Effect<boolean, StorageError>
}

/** A part of a statement: whether an epoch is in force. */
interface InForce {
  readonly epoch: number
}

const isInForce = (value: unknown): value is InForce =>
  typeof value === "object" && value !== null && "epoch" in value

/**
 * The few SQL statements that the product's routing over several databases puts by itself, as a database of the simulation answers them: whether an epoch is in force (`LinkTenure`), and whether a
 * batch of visits was written (`VisitStoreRouted`). In a transaction the first has no answer of its own: what follows is refused where the epoch is old, as one transaction is in PostgreSQL. Any other
 * statement is a defect.
 */
export const make = (database: Asks): SqlClient.SqlClient => {
  const inForce = (epoch: number) =>
    Effect.flatMap(AskedEpoch, (asked) => {
      if (asked === undefined)
        return Effect.map(database.isInForce(epoch), (in_force) => [{ in_force }] as const)
      asked.epoch = epoch
      return Effect.succeed([{ in_force: true }] as const)
    })
  const statement = (strings: ReadonlyArray<string>, ...values: ReadonlyArray<unknown>) => {
    const text = strings.join("?")
    const [first, second] = values
    if (text === "(SELECT epoch FROM link_epoch WHERE id = 1) <= ?") return { epoch: first } as InForce
    if (text.includes("AS in_force") && isInForce(first)) return inForce(first.epoch)
    if (text.includes("FROM visit_writers"))
      return Effect.map(database.hasWritten(String(first), Number(second)), (isThere) =>
        isThere ? [{}] : []
      )
    throw new Error(`This statement is not simulated: ${text}`)
  }
  const client = {
    onDialectOrElse: ({ orElse }: { readonly orElse: () => unknown }) => orElse(),
    withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.suspend(() => Effect.provideService(effect, AskedEpoch, { epoch: undefined }))
  }
  return Object.assign(statement, client) as unknown as SqlClient.SqlClient
}
