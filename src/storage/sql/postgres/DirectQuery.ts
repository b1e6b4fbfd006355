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

/** An array of PostgreSQL in its text form. */
const arrayOf = (values: ReadonlyArray<unknown>): string =>
  `{${values
    .map((value) => {
      const text = textOf(value)
      return text === null ? "NULL" : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
    })
    .join(",")}}`

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
    const { name = "", text } = this
    wire.stream.cork()
    try {
      if (name === "" || (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]) === undefined) {
        wire.parse({ name, text })
        if (name !== "") wire.submittedNamedStatements[name] = text
      }
      wire.bind({ portal: "", statement: name, binary: false, values: this.#values })
      wire.execute({ portal: "" })
      wire.sync()
    } finally {
      wire.stream.uncork()
    }
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

/** What `query` is for a {@link DirectQuery}. */
interface Queries {
  readonly query: (query: DirectQuery, answer: Answer) => void
}

const failed = (cause: unknown, message: string) => Exit.fail(new SqlError({ cause, message }))

/** Sends statements on the free connections of a pool. */
export const asking =
  (pool: Pool): Ask =>
  (statement) =>
  (done) => {
    const query = new DirectQuery(statement)
    pool.connect((refused, client, release) => {
      if (client === undefined) return done(failed(refused, "Failed to acquire connection"))
      let isOver = false
      const end = (answer: Parameters<typeof done>[0], broken?: Error) => {
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
