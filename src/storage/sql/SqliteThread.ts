import { Effect, Exit, type Scope } from "effect"
import { Worker } from "node:worker_threads"

/** A connection that is to be opened. */
export interface Opening {
  readonly path: string
  /** Done when it is open: `name = value`. */
  readonly pragmas: ReadonlyArray<string>
}

/** A statement, with an argument for each `?` in it: a text, a finite number, an integer, a boolean or null. */
export interface Statement {
  readonly sql: string
  readonly args: ReadonlyArray<unknown>
  /** Whether nobody wants the columns' names, which then are not given. */
  readonly isUnnamed?: boolean
}

/**
 * What a connection is to do. `outside`: a statement that writes nothing (or none, to open the file), which needs no transaction. `alone`: one that is a
 * transaction by itself. `first` and `next`: the statements of a transaction, which ends with `commit` or `rollBack`; these have none.
 */
export interface Order {
  readonly id: number
  readonly kind: "outside" | "alone" | "first" | "next" | "commit" | "rollBack"
  readonly statement?: Statement
}

/** What a statement gave, without the columns' names in each row. Integers are numbers. */
export interface Rows {
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<unknown>>
}

/** What became of an order. Rows without names can be a JSON text. */
export type Answer =
  | { readonly id: number; readonly rows: Rows | string }
  | {
      readonly id: number
      readonly failure: {
        readonly code: string | undefined
        readonly message: string
        readonly isLocked: boolean
      }
    }

/** An order was not carried out. */
export class SqliteFailure extends Error {
  /** SQLite's name of the error; without one it is not known what was written. */
  readonly code: string | undefined
  /** Another program had the database locked, and nothing was done: worth another try. */
  readonly isLocked: boolean

  constructor(message: string, code?: string, isLocked = false) {
    super(code === undefined ? message : `${code}: ${message}`)
    this.code = code
    this.isLocked = isLocked
  }
}

/** A connection to an SQLite file in a thread of its own. */
export interface SqliteThread {
  /** Has an order carried out, after those that came before, and calls back once with what became of it. */
  readonly askThen: (order: Omit<Order, "id">, done: (exit: Exit.Exit<Rows, SqliteFailure>) => void) => void
  /** The same as an effect. Where nobody waits any more it is carried out all the same. */
  readonly ask: (order: Omit<Order, "id">) => Effect.Effect<Rows, SqliteFailure>
  /** Starts the thread, so that the first order need not wait for that. The file is opened with the first order all the same. */
  readonly begin: Effect.Effect<void>
}

/** How a thread behaves. */
export interface Options {
  /** The thread's own memory, in MiB, in which rows are on their way; 256 by default. SQLite's cache of pages comes on top. */
  readonly heapMax_MiB?: number | undefined
}

type Done = Parameters<SqliteThread["askThen"]>[1]

const failed = (reason: string) =>
  Exit.fail(new SqliteFailure(`the thread of the database has ended: ${reason}`))

const rowsOf = (rows: Rows | string): Rows =>
  typeof rows === "string" ? { columns: [], rows: JSON.parse(rows) as Rows["rows"] } : rows

/** What an answer says. */
export const exitOf = (answer: Answer): Exit.Exit<Rows, SqliteFailure> => {
  if ("rows" in answer) return Exit.succeed(rowsOf(answer.rows))
  const { code, isLocked, message } = answer.failure
  return Exit.fail(new SqliteFailure(message, code, isLocked))
}

/** A running thread. `onEnd` is called when it has ended and given up the file, before those who still wait hear of it. */
const start = (opening: Opening, heapMax_MiB: number, onEnd: () => void) => {
  const worker = new Worker(new URL("./SqliteConnection.cjs", import.meta.url), {
    workerData: opening,
    resourceLimits: { maxOldGenerationSizeMb: heapMax_MiB, maxYoungGenerationSizeMb: 16 }
  })
  // `null` has it close the file and end. A thread's port has no origin to name.
  // eslint-disable-next-line unicorn/require-post-message-target-origin
  const send = (order: Order | null) => worker.postMessage(order)
  const waiting = new Map<number, Done>()
  let asked = 0
  let reason = "it was closed"
  worker.on("message", (answer: Answer) => {
    const done = waiting.get(answer.id)
    waiting.delete(answer.id)
    done?.(exitOf(answer))
  })
  worker.on("error", (error: Error) => {
    reason = error.message
  })
  worker.on("exit", () => {
    onEnd()
    const left = [...waiting.values()]
    waiting.clear()
    for (const done of left) done(failed(reason))
  })
  return {
    askThen: ({ kind, statement }: Omit<Order, "id">, done: Done) => {
      const id = asked++
      waiting.set(id, done)
      send(statement === undefined ? { id, kind } : { id, kind, statement })
    },
    close: Effect.async<void>((resume) => {
      worker.once("exit", () => resume(Effect.void))
      send(null)
    })
  }
}

/**
 * A thread that opens the file with the first order, and gives it up when the scope closes, after what it is doing; a transaction that is open then is rolled
 * back. If it ends before, as when its memory is full, those who wait fail, and the next order starts another one.
 */
export const make = (
  opening: Opening,
  { heapMax_MiB = 256 }: Options = {}
): Effect.Effect<SqliteThread, never, Scope.Scope> =>
  Effect.gen(function* () {
    let thread: ReturnType<typeof start> | undefined
    let isClosed = false
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isClosed = true
        return thread?.close ?? Effect.void
      })
    )
    const running = () =>
      (thread ??= start(opening, heapMax_MiB, () => {
        thread = undefined
      }))
    const askThen: SqliteThread["askThen"] = (order, done) =>
      isClosed
        ? done(Exit.fail(new SqliteFailure("the database is closed", "SQLITE_MISUSE")))
        : running().askThen(order, done)
    return {
      askThen,
      ask: (order) => Effect.async((resume) => askThen(order, resume)),
      begin: Effect.sync(() => void running())
    }
  })
