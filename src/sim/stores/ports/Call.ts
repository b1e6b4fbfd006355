import { Context, Effect } from "effect"
import type { Direct } from "../../../fibers/Direct.ts"
import { LinkTenure, refused, type Tenure, Tenured } from "../../../storage/links/buckets/LinkTenure.ts"
import type { StorageError } from "../../../storage/StorageError.ts"
import { type Plan, transaction } from "../database/Transactions.ts"
import type { DatabaseCopy } from "../DatabaseCopy.ts"
import { AskedEpoch } from "../homes/Statements.ts"

/** Has a process carry out an operation, by these statements. `apply`: what it does to the server's copy, at one moment. */
export type Call = <A, E>(
  operation: string,
  plan: Plan,
  apply: (copy: DatabaseCopy) => Effect.Effect<A, E>
) => Effect.Effect<A, E | StorageError>

/** How operations join a transaction of several, whose commit carries out all of them; `undefined` outside of one. */
class Transaction extends Context.Reference<Transaction>()("linkmint/simulation/Transaction", {
  defaultValue: (): Call | undefined => undefined
}) {}

/** The same, which within a transaction of several is part of it. */
export const joining =
  (call: Call): Call =>
  (operation, plan, apply) =>
    Effect.flatMap(Transaction, (join = call) => join(operation, plan, apply))

/** What an act asks first, if anything: it is stopped there. */
const firstOf = (act: Effect.Effect<unknown, unknown>) =>
  Effect.suspend(() => {
    let first: { readonly operation: string; readonly plan: Plan } | undefined
    const join: Call = (operation, plan) => {
      first = { operation, plan }
      return Effect.interrupt
    }
    return Effect.map(Effect.exit(Effect.provideService(act, Transaction, join)), () => first)
  })

/**
 * Has an act and what `also` does with its result happen in one transaction, by the name of the act's first operation, of which it has the locks. The act waits for nothing else,
 * and what it does before that operation is done twice.
 */
export const together =
  (call: Call, ownName: string) =>
  <A, E>(
    act: Effect.Effect<A, E>,
    also: (done: A) => Effect.Effect<void, StorageError>
  ): Effect.Effect<A, E | StorageError> =>
    Effect.flatMap(firstOf(act), (first) =>
      call<A, E | StorageError>(
        first?.operation ?? ownName,
        {
          isTransaction: true,
          steps: [...(first?.plan.steps ?? []), ...transaction(undefined, undefined).steps]
        },
        (copy) =>
          Effect.provideService(act, Transaction, (_operation, _plan, apply) => apply(copy)).pipe(
            Effect.tap(also)
          )
      )
    )

/** Operations whose statements ask by themselves whether the caller's epoch is in force. */
const asksEpoch: ReadonlySet<string> = new Set([
  "LinkStore.insertMany",
  "LinkStore.findMany",
  "LinkStore.takenAmong",
  "LinkStore.list",
  "VisitStore.totals"
])

/** What an operation does for a caller that knows an epoch of the database, which is refused when that is old, and a tenure. */
const fenced =
  <A, E>(
    operation: string,
    { epoch, tenure }: { readonly epoch: number | undefined; readonly tenure: Tenure | undefined },
    isUnfenced: boolean,
    apply: (copy: DatabaseCopy) => Effect.Effect<A, E>
  ) =>
  (copy: DatabaseCopy): Effect.Effect<A, E | StorageError> => {
    const { home } = copy.tables
    if (epoch !== undefined && home.epoch > epoch && !isUnfenced) return refused(operation)
    home.tenure = tenure
    return Effect.ensuring(
      apply(copy),
      Effect.sync(() => {
        home.tenure = undefined
      })
    )
  }

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
      return call<A, E | StorageError>(
        operation,
        whole,
        fenced(operation, { epoch, tenure }, isUnfenced, apply)
      )
    })

/** Has a process carry out a statement that asks by itself whether the caller's epoch is in force, as production does without a fiber. */
export type CallDirect = <A>(
  operation: string,
  plan: Plan,
  apply: (copy: DatabaseCopy) => Effect.Effect<A, StorageError>
) => Tenured<A>

/** The same: a fiber has it by `call`, as a part of the transaction that it is in, and others have it run `then`. */
export const direct =
  (
    call: Call,
    then: <A>(
      operation: string,
      plan: Plan,
      apply: (copy: DatabaseCopy) => Effect.Effect<A, StorageError>
    ) => Direct<A, StorageError>,
    isUnfenced: boolean
  ): CallDirect =>
  (operation, plan, apply) =>
    new Tenured(
      (tenure) =>
        then(operation, plan, fenced(operation, { epoch: tenure?.epoch, tenure }, isUnfenced, apply)),
      call(operation, plan, apply)
    )
