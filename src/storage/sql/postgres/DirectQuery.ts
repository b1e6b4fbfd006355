import { SqlError } from "@effect/sql/SqlError"
import { Exit } from "effect"
import type { Connection, Pool, Submittable } from "pg"
import type { Ask, Cells, DirectStatement } from "../DirectSql.ts"
import { preparedName } from "./PrimaryClient.ts"

/** What `pg` 8 keeps of a connection, and sends on it. */
interface Wire {
  readonly stream: { readonly cork: () => void; readonly uncork: () => void }
  /** The texts of statements that are prepared, by their names; and of those that are being prepared. */
  readonly parsedStatements: Readonly<Record<string, string>>
  readonly submittedNamedStatements: Record<string, string>
  readonly parse: (statement: { readonly name: string; readonly text: string }) => void
  readonly bind: (values: {
    readonly portal: string
    readonly statement: string
    readonly binary: boolean
    readonly values: ReadonlyArray<string | null>
  }) => void
  readonly execute: (portal: { readonly portal: string }) => void
  readonly sync: () => void
}

/** A parameter as it is sent: a text, or none. */
const textOf = (value: unknown): string | null => {
  if (value === null || value === undefined) return null
  if (typeof value === "string") return value
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  if (Array.isArray(value)) return arrayOf(value)
  throw new TypeError(`a parameter of a statement is ${typeof value}`)
}

/** What is escaped in an array. Hardly any text has it, and to replace nothing takes ten times as long as to look for it. */
const special = /["\\]/

const elementOf = (value: unknown): string => {
  const text = textOf(value)
  if (text === null) return "NULL"
  return special.test(text) ? `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"` : `"${text}"`
}

/** An array of PostgreSQL in its text form. */
const arrayOf = (values: ReadonlyArray<unknown>): string => `{${values.map(elementOf).join(",")}}`

type Answer = (error: Error | null | undefined, rows: ReadonlyArray<Cells>) => void

/**
 * A statement, and the texts of its rows' values. `pg`'s own `Query` asks what the columns are each time, and makes an object of each row by parsers of their types: for a link that
 * takes longer than all else here.
 */
class DirectQuery implements Submittable {
  /** Set by `pg`, which bounds the time to the answer. */
  callback: Answer | undefined
  /** Without one it is parsed each time. */
  readonly name: string | undefined
  readonly text: string
  readonly #values: ReadonlyArray<string | null>
  readonly #rows: Array<Cells> = []

  constructor([text, values]: DirectStatement) {
    this.name = preparedName(text)
    this.text = text
    this.#values = values.map(textOf)
  }

  submit(connection: Connection): void {
    const wire = connection as unknown as Wire
    wire.stream.cork()
    try {
      this.begin(wire)
      wire.sync()
    } finally {
      wire.stream.uncork()
    }
  }

  /** Sends all but the end of its transaction. */
  begin(wire: Wire): void {
    const { name = "", text } = this
    if (name === "" || (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]) === undefined) {
      wire.parse({ name, text })
      if (name !== "") wire.submittedNamedStatements[name] = text
    }
    wire.bind({ portal: "", statement: name, binary: false, values: this.#values })
    wire.execute({ portal: "" })
  }

  get rows(): ReadonlyArray<Cells> {
    return this.#rows
  }

  handleDataRow({ fields }: { readonly fields: Cells }) {
    this.#rows.push(fields)
  }

  handleError(error: Error) {
    this.callback?.(error, [])
  }

  handleReadyForQuery() {
    this.callback?.(undefined, this.#rows)
  }

  handleRowDescription() {}
  handleCommandComplete() {}
  handleEmptyQuery() {}
  handlePortalSuspended() {}
  handleCopyData() {}
  handleCopyInResponse() {}
}

/** Several statements that go there and back together, as one transaction. Each is answered for itself. */
class DirectQueries implements Submittable {
  /** Set by `pg`, which bounds the time to the last answer. */
  callback: ((error: Error | null | undefined) => void) | undefined
  readonly #queries: ReadonlyArray<DirectQuery>
  #answered = 0

  constructor(queries: ReadonlyArray<DirectQuery>) {
    this.#queries = queries
  }

  get #current(): DirectQuery | undefined {
    return this.#queries[this.#answered]
  }

  /** `pg` notes the statement that is being answered as prepared. */
  get name(): string | undefined {
    return this.#current?.name
  }

  get text(): string | undefined {
    return this.#current?.text
  }

  submit(connection: Connection): void {
    const wire = connection as unknown as Wire
    wire.stream.cork()
    try {
      for (const query of this.#queries) query.begin(wire)
      wire.sync()
    } finally {
      wire.stream.uncork()
    }
  }

  handleDataRow(row: { readonly fields: Cells }) {
    this.#current!.handleDataRow(row)
  }

  handleCommandComplete() {
    this.#answered++
  }

  handleError(error: Error, connection: Connection) {
    // The server has skipped those behind it: they are not prepared.
    const { submittedNamedStatements } = connection as unknown as Wire
    for (const { name } of this.#queries) if (name !== undefined) delete submittedNamedStatements[name]
    this.callback?.(error)
  }

  handleReadyForQuery() {
    this.callback?.(undefined)
  }

  handleRowDescription() {}
  handleEmptyQuery() {}
  handlePortalSuspended() {}
  handleCopyData() {}
  handleCopyInResponse() {}
}

/** What `query` is for a {@link DirectQuery}, and for several. */
interface Queries {
  readonly query: (query: Submittable, answer: Answer) => void
}

const failed = (cause: unknown, message: string) => Exit.fail(new SqlError({ cause, message }))

type Done = Parameters<ReturnType<Ask>>[0]

/** Sends a query on a free connection of a pool. Calls back once. */
const send = (pool: Pool, query: Submittable, done: Done): void => {
  pool.connect((refused, client, release) => {
    if (client === undefined) return done(failed(refused, "Failed to acquire connection"))
    let isOver = false
    const end = (answer: Parameters<Done>[0], broken?: Error) => {
      if (isOver) return
      isOver = true
      client.off("error", onBroken)
      release(broken)
      done(answer)
    }
    const onBroken = (error: Error) => end(failed(error, "Connection error"), error)
    client.on("error", onBroken)
    ;(client as unknown as Queries).query(query, (error, rows) =>
      end(error ? failed(error, "Failed to execute statement") : Exit.succeed(rows))
    )
  })
}

/** Sends statements on the free connections of a pool. */
export const asking =
  (pool: Pool): Ask =>
  (statement) =>
  (done) =>
    send(pool, new DirectQuery(statement), done)

/** Statements that go together at most. */
const togetherMax = 16

/** Sends the statements of a turn together, on a free connection of a pool. */
export const askingTogether = (pool: Pool, turn: (next: () => void) => void): Ask => {
  let waiting: Array<{ readonly query: DirectQuery; readonly done: Done }> = []
  const flush = () => {
    const asked = waiting
    waiting = []
    if (asked.length === 0) return
    const [first, ...others] = asked
    if (others.length === 0) return send(pool, first!.query, first!.done)
    send(pool, new DirectQueries(asked.map(({ query }) => query)), (exit) => {
      for (const { done, query } of asked) done(Exit.as(exit, query.rows))
    })
  }
  return (statement) => (done) => {
    waiting.push({ query: new DirectQuery(statement), done })
    if (waiting.length === 1) turn(flush)
    else if (waiting.length === togetherMax) flush()
  }
}
