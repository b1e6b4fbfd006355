import { Effect } from "effect"
import { LinkTenure, refused } from "../../../storage/links/buckets/LinkTenure.ts"
import type { StorageError } from "../../../storage/StorageError.ts"
import type { Plan } from "../database/Transactions.ts"
import type { DatabaseCopy } from "../DatabaseCopy.ts"
import { AskedEpoch } from "../homes/Statements.ts"

/** Has a process carry out an operation, by these statements. `apply`: what it does to the server's copy, at one moment. */
export type Call = <A, E>(
  operation: string,
  plan: Plan,
  apply: (copy: DatabaseCopy) => Effect.Effect<A, E>
) => Effect.Effect<A, E | StorageError>

/** Operations whose statements ask by themselves whether the caller's epoch is in force. */
const asksEpoch: ReadonlySet<string> = new Set([
  "LinkStore.insertMany",
  "LinkStore.findMany",
  "LinkStore.takenAmong",
  "LinkStore.list"
])

/**
 * The same for a caller that knows an epoch of the database: an operation by an old one is refused when it comes to its end, unless it `isUnfenced`. PostgreSQL has those
 * end that had begun before the epoch was raised, and who raises it waits for them.
 */
export const onTenure =
  (call: Call, isUnfenced: boolean): Call =>
  <A, E>(operation: string, plan: Plan, apply: (copy: DatabaseCopy) => Effect.Effect<A, E>) =>
    Effect.flatMap(Effect.zip(LinkTenure, AskedEpoch), ([tenure, asked]) => {
      const epoch = asked?.epoch ?? (asksEpoch.has(operation) ? tenure?.epoch : undefined)
      const { isTransaction, steps } = plan
      const whole =
        asked?.epoch === undefined || isTransaction
          ? plan
          : { isTransaction: true, steps: [{ writes: false }, ...steps] }
      return call<A, E | StorageError>(operation, whole, (copy) => {
        const { home } = copy.tables
        if (epoch !== undefined && home.epoch > epoch && !isUnfenced) return refused(operation)
        home.tenure = tenure
        return Effect.ensuring(
          apply(copy),
          Effect.sync(() => {
            home.tenure = undefined
          })
        )
      })
    })
