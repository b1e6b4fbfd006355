import { SqlError } from "@effect/sql/SqlError"
import { Effect, Exit } from "effect"
import { connections } from "../../../storage/sql/postgres/PostgresClient.ts"
import type { Run } from "../../../fibers/Direct.ts"
import { asStorageError, storageErrorOf } from "../../../storage/sql/SqlTransaction.ts"
import type { StorageError } from "../../../storage/StorageError.ts"
import { ms_us } from "../../world/Time.ts"
import type { VirtualProcess } from "../../world/VirtualProcess.ts"
import type { StoreOptions } from "../StoreCalls.ts"
import type { Command, Problem } from "./Backend.ts"
import { type Connection, ConnectionPool, type Fate, type Passage, type PoolOptions } from "./Connections.ts"
import { type CallFaults, faultsOf, type VirtualServer } from "../../world/VirtualServer.ts"
import type { DatabaseServer } from "./DatabaseServer.ts"

/** A statement of an operation. */
export interface Step {
  /** The rows that it locks until the transaction ends, by names such as `links k`. */
  readonly locks?: () => ReadonlyArray<string>
  readonly writes: boolean
}

/** The statements of an operation of a store: one that commits by itself, or those of a transaction before its `COMMIT`. */
export interface Plan {
  readonly steps: ReadonlyArray<Step>
  readonly isTransaction: boolean
}

const step: Step = { writes: true }

/** A query. */
export const query: Plan = { steps: [{ writes: false }], isTransaction: false }

/** A statement that writes, and locks rows. */
export const statement = (locks?: () => ReadonlyArray<string>): Plan => ({
  steps: [locks === undefined ? step : { locks, writes: true }],
  isTransaction: false
})

/** A transaction: of each statement the rows that it locks, or `undefined`. */
export const transaction = (...locks: ReadonlyArray<(() => ReadonlyArray<string>) | undefined>): Plan => ({
  steps: locks.map((locks) => (locks === undefined ? step : { locks, writes: true })),
  isTransaction: true
})

const commandsOf = (
  { isTransaction, steps }: Plan,
  apply: (server: DatabaseServer) => unknown
): ReadonlyArray<Command> =>
  isTransaction
    ? [
        ...steps.map(({ locks, writes }): Command => ({ locks, writes, ends: "no", apply: undefined })),
        { locks: undefined, writes: true, ends: "commit", apply }
      ]
    : steps.map(({ locks, writes }) => ({ locks, writes, ends: "commit", apply }))

const rollback: Command = { locks: undefined, writes: false, ends: "rollback", apply: undefined }

const nothing = () => {}

/** What `@effect/sql-pg` makes of a failure. */
const sqlError = (message: string, { code, reason }: Problem) =>
  new SqlError({ message, cause: Object.assign(new Error(reason), code === undefined ? {} : { code }) })

/** From which time on a call counts as held up: two of them may be all that somebody waits for who comes between. */
const heldUpFrom_us = 100 * ms_us

/**
 * The operations of stores, as their processes have PostgreSQL carry them out: over a connection of the process's pool, statement by statement. What an operation does
 * happens at the moment of its commit, at once.
 */
export class Transactions {
  readonly #route: (client: string) => DatabaseServer
  readonly #server: VirtualServer
  readonly #options: StoreOptions
  readonly #pools = new Map<VirtualProcess, ConnectionPool>()
  readonly #connections: PoolOptions

  /** `route`: where new connections of a client lead. */
  constructor(
    route: (client: string) => DatabaseServer,
    options: StoreOptions,
    own: Partial<PoolOptions> = {}
  ) {
    this.#route = route
    this.#server = route("").server
    this.#options = options
    this.#connections = { most: connections.maxConnections, ...own }
  }

  /** Has a process carry out an operation. Its expected errors are answers too, after a rollback. */
  run<A, E>(
    process: VirtualProcess,
    operation: string,
    plan: Plan,
    apply: (server: DatabaseServer) => Exit.Exit<A, E>
  ): Effect.Effect<A, E | StorageError> {
    return Effect.async<Exit.Exit<A, E>, SqlError>((resume) =>
      this.#begin(process, operation, plan, apply, resume)
    ).pipe(asStorageError(operation), Effect.flatten)
  }

  /** The same without a fiber, as production sends some statements. A call that was begun goes on when nobody waits for its answer any more. */
  runThen<A, E>(
    process: VirtualProcess,
    operation: string,
    plan: Plan,
    apply: (server: DatabaseServer) => Exit.Exit<A, E>
  ): Run<A, E | StorageError> {
    return (done) => {
      const forget = process.whenDead(() => this.#options.journal.unanswered(process, operation))
      this.#begin(process, operation, plan, apply, (exit) => {
        forget()
        done(Exit.flatten(Exit.mapError(exit, (error) => storageErrorOf(operation, error))))
      })
    }
  }

  #begin<A, E>(
    process: VirtualProcess,
    operation: string,
    plan: Plan,
    apply: (server: DatabaseServer) => Exit.Exit<A, E>,
    resume: (result: Exit.Exit<Exit.Exit<A, E>, SqlError>) => void
  ) {
    const { begins, crashPoint, faults, journal } = this.#options
    const { calls, world } = this.#server
    calls.set(operation, (calls.get(operation) ?? 0) + 1)
    crashPoint(process, operation)
    if (!process.isAlive) return
    const chance = world.chance("calls of database")
    const pool = this.#poolOf(process)
    const called_us = world.now_us
    const end = begins?.(process.id, operation)
    let isWanted = true
    let isOver = false
    let whenOver = nothing
    const tellIfHeldUp = () => {
      const took_us = world.now_us - called_us
      if (took_us >= heldUpFrom_us) journal.heldUp(process, operation, took_us)
    }
    // The caller may have stopped waiting already, where what gives the call up was about to.
    const forget = process.whenDead(tellIfHeldUp)
    const over = (result?: Exit.Exit<Exit.Exit<A, E>, SqlError>) => {
      isOver = true
      forget()
      end?.()
      if (isWanted && result !== undefined) resume(result)
      whenOver()
    }
    const fail = (message: string, problem: Problem) => {
      if (isWanted) journal.unanswered(process, operation)
      over(Exit.fail(sqlError(message, problem)))
    }
    const commands = commandsOf(plan, (server) => {
      const value = apply(server)
      world.tell(process.id, operation, isWanted ? "" : "(nobody waits)")
      return value
    })
    const all = faults()
    const { ignored, lost, refused } = this.#faultsOf(operation, all)
    const isBroken = () => world.chance("broken connections of database").happens(all.broken ?? 0)
    const fateOf = (): Fate => {
      if (chance.happens(ignored)) return isBroken() ? "broken before" : "ignored"
      if (!chance.happens(lost)) return "arrives"
      return isBroken() ? "broken after" : "lost"
    }
    const fate = fateOf()
    const fatal = fate === "arrives" ? -1 : chance.below(commands.length)
    const arriving = () => this.#options.crashPoint(process, operation)
    // The first statement may be late, and the last answer.
    const late_us = (isLate: boolean) => (isLate ? this.#server.late_us(operation) : 0)
    const next = (connection: Connection, index: number) => {
      const isGone = !isWanted && index > 0
      const isLast = isGone || index + 1 === commands.length
      const command = isGone ? rollback : commands[index]!
      const passage: Passage = {
        fate: index === fatal ? fate : "arrives",
        late_us: late_us(index === 0),
        answerLate_us: late_us(isLast)
      }
      connection.ask(command, passage, arriving, (reply) => {
        if ("value" in reply && !isLast) return next(connection, index + 1)
        pool.release(connection)
        tellIfHeldUp()
        if ("problem" in reply) fail("Failed to execute statement", reply.problem)
        else over(Exit.succeed(reply.value as Exit.Exit<A, E>))
      })
    }
    const refuse = chance.happens(refused)
    const leave = pool.lease((connection) => {
      if ("code" in connection) {
        tellIfHeldUp()
        return fail("Failed to acquire connection", connection)
      }
      if (isWanted && !refuse) return next(connection, 0)
      if (refuse) connection.close(false)
      pool.release(connection)
      if (refuse) fail("Failed to acquire connection", { code: undefined, reason: "the connection failed" })
      else over()
    })
    // A transaction is not interrupted before it is rolled back; see `SqlTransaction`.
    return Effect.suspend(() => {
      if (isWanted && !isOver) journal.unanswered(process, operation, world.now_us - called_us)
      isWanted = false
      forget()
      end?.()
      if (!plan.isTransaction) leave()
      if (!plan.isTransaction || isOver) return Effect.void
      return Effect.async<void>((resume) => {
        whenOver = () => resume(Effect.void)
      })
    })
  }

  /** How calls of an operation fare now: one of those that are asked seldom may be sure to fail. */
  #faultsOf(operation: string, faults: CallFaults): CallFaults {
    const { first = 0 } = faults
    const { calls, world } = this.#server
    const chance = world.chance("first calls of database")
    if (first === 0 || !chance.happens(first / calls.get(operation)!)) return faultsOf(operation, faults)
    return { refused: 0, lost: 0, ignored: 0, [chance.pick(["refused", "lost", "ignored"])]: 1 }
  }

  /** The names of the processes that have connections. */
  get clients(): ReadonlyArray<string> {
    return Array.from(this.#pools.keys(), ({ name }) => name)
  }

  /** The server has proved to a process to be the primary, on a connection beside its pool. */
  proved(process: VirtualProcess, server: DatabaseServer) {
    this.#poolOf(process).proved(server)
  }

  #poolOf(process: VirtualProcess): ConnectionPool {
    const known = this.#pools.get(process)
    if (known !== undefined) return known
    const pool = new ConnectionPool(process, this.#route, this.#connections)
    this.#pools.set(process, pool)
    process.whenDead(() => this.#pools.delete(process))
    return pool
  }
}
