import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import type { Link } from "../Link.ts"
import {
  type Beginning,
  type Guard,
  GuardedCreates,
  type GuardedLink,
  type GuardedOutcome,
  type GuardState
} from "./GuardedCreates.ts"
import { linkColumns, linkOf, type LinkRow, urlHash } from "./LinkColumns.ts"
import { LinkStore } from "./LinkStore.ts"
import { databaseNow, forUpdate } from "./SqlDialect.ts"
import { rowsOf } from "./SqlRows.ts"
import { asStorageError, inTransaction } from "./SqlTransaction.ts"

interface GuardRow {
  readonly name: string
  readonly token: string | number
  readonly fingerprint: string
  readonly key: string | null
  readonly answer: string | null
}

const stateOf = (row: GuardRow): GuardState =>
  row.answer === null
    ? { _tag: "Running", fingerprint: row.fingerprint }
    : { _tag: "Settled", fingerprint: row.fingerprint, key: row.key, answer: row.answer }

/** Links of which no two have a guard in common, and those that must wait for them. */
const firstOfGuards = (indices: ReadonlyArray<number>, links: ReadonlyArray<GuardedLink>) => {
  const seen = new Set<string>()
  const first: Array<number> = []
  const later: Array<number> = []
  for (const index of indices) {
    const names = links[index]!.guards.map(({ name }) => name)
    if (names.some((name) => seen.has(name))) later.push(index)
    else first.push(index)
    names.forEach((name) => seen.add(name))
  }
  return { first, later }
}

/** `GuardedCreates` on SQLite and PostgreSQL, over the `LinkStore` of the same database. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { insertMany } = yield* LinkStore
  const now = databaseNow(sql)
  const columns = sql.literal(linkColumns.map(({ column }) => column).join(", "))

  const read = (name: string) =>
    Effect.map(sql<GuardRow>`SELECT * FROM create_guards WHERE name = ${name}`, ([row]) => row)

  /** Begins a guard that is new, was left alone for longer than its lease, is too old, or was settled with the key to be replaced. */
  const take = ({ fingerprint, keep_ms, lease_ms, name, replaces, token }: Beginning) =>
    sql<{ name: string }>`
      INSERT INTO create_guards (name, token, begun_at, fingerprint) VALUES (${name}, ${token}, ${now}, ${fingerprint})
      ON CONFLICT (name) DO UPDATE SET
        token = excluded.token, begun_at = excluded.begun_at, fingerprint = excluded.fingerprint, key = NULL, answer = NULL
      WHERE create_guards.begun_at <= excluded.begun_at - ${keep_ms} OR create_guards.key = ${replaces ?? null}
        OR (create_guards.answer IS NULL AND create_guards.begun_at <= excluded.begun_at - ${lease_ms})
      RETURNING name`

  const begin = (
    beginning: Beginning
  ): Effect.Effect<GuardState, Effect.Effect.Error<ReturnType<typeof read>>> =>
    Effect.gen(function* () {
      const taken = yield* take(beginning)
      if (taken.length > 0) return { _tag: "Begun" } as const
      const row = yield* read(beginning.name)
      // Dropped in between: whoever asks again finds it free.
      return row === undefined ? { _tag: "Running", fingerprint: beginning.fingerprint } : stateOf(row)
    })

  /** The guards of some links, locked until the transaction ends, in the order of their names so that nobody deadlocks. */
  const locked = (links: ReadonlyArray<GuardedLink>) => {
    const names = [...new Set(links.flatMap(({ guards }) => guards.map(({ name }) => name)))].toSorted()
    return Effect.map(
      sql<GuardRow>`SELECT * FROM create_guards WHERE ${sql.in("name", names)} ORDER BY name ${forUpdate(sql)}`,
      (rows) => new Map(rows.map((row) => [row.name, row]))
    )
  }

  const settleAll = (links: ReadonlyArray<GuardedLink>) => {
    const settled = links.flatMap(({ answer, guards, link }) =>
      guards.map(({ name }) => ({ name, key: link.key, answer }))
    )
    const given = rowsOf(sql, {
      name: ["text", settled.map(({ name }) => name)],
      key: ["text", settled.map(({ key }) => key)],
      answer: ["text", settled.map(({ answer }) => answer)]
    })
    return sql`UPDATE create_guards SET key = given.key, answer = given.answer
               FROM ${given} AS given WHERE create_guards.name = given.name`
  }

  const bindFirst = (links: ReadonlyArray<GuardedLink>) =>
    inTransaction(
      sql,
      Effect.gen(function* () {
        const rows = yield* locked(links)
        const holds = ({ guards, link }: GuardedLink) =>
          guards.every(({ name, token }) => {
            const row = rows.get(name)
            return (
              row !== undefined &&
              Number(row.token) === token &&
              (row.answer === null || row.key === link.key)
            )
          })
        const isDone = ({ guards }: GuardedLink) =>
          guards.every(({ name }) => rows.get(name)!.answer !== null)
        const held = links.filter(holds)
        const open = held.filter((link) => !isDone(link))
        const inserted = yield* insertMany(open.map(({ link }) => link))
        const bound = open.filter((_, index) => inserted[index] === true)
        if (bound.length > 0) yield* settleAll(bound)
        const outcomes = new Map<GuardedLink, GuardedOutcome>(held.map((link) => [link, "bound"]))
        open.forEach((link, index) => outcomes.set(link, inserted[index] === true ? "bound" : "taken"))
        return links.map((link) => outcomes.get(link) ?? "superseded")
      })
    )

  return GuardedCreates.of({
    begin: (beginning) => asStorageError("GuardedCreates.begin")(begin(beginning)),
    bindMany: Effect.fn("GuardedCreates.bindMany")(function* (links) {
      const outcomes: Array<GuardedOutcome> = []
      let open = links.map((_, index) => index)
      while (open.length > 0) {
        const { first, later } = firstOfGuards(open, links)
        const answers = yield* bindFirst(first.map((index) => links[index]!))
        first.forEach((index, place) => {
          outcomes[index] = answers[place]!
        })
        open = later
      }
      return outcomes
    }, asStorageError("GuardedCreates.bindMany")),
    settle: ({ name, token }: Guard, answer) =>
      sql<{ name: string }>`
        UPDATE create_guards SET answer = ${answer}
        WHERE name = ${name} AND token = ${token} AND answer IS NULL RETURNING name`.pipe(
        Effect.map((rows) => rows.length > 0),
        asStorageError("GuardedCreates.settle")
      ),
    abandon: ({ name, token }) =>
      sql`DELETE FROM create_guards WHERE name = ${name} AND token = ${token} AND answer IS NULL`.pipe(
        Effect.asVoid,
        asStorageError("GuardedCreates.abandon")
      ),
    findByUrl: (owner, url, at) =>
      sql<LinkRow>`
        SELECT ${columns} FROM links
        WHERE url_hash = ${urlHash(owner, url)} AND deleted_at IS NULL AND owner = ${owner} AND url = ${url}
          AND (expires_at IS NULL OR expires_at > ${at}) AND (visits_left IS NULL OR visits_left > 0)
        ORDER BY created_at DESC, key LIMIT 1`.pipe(
        Effect.map(([row]): Link | null => (row === undefined ? null : linkOf(row))),
        asStorageError("GuardedCreates.findByUrl")
      ),
    drop: (keep_ms, count) =>
      sql<{ name: string }>`
        DELETE FROM create_guards WHERE name IN (
          SELECT name FROM create_guards WHERE begun_at <= ${now} - ${keep_ms} ORDER BY begun_at LIMIT ${count}
        ) RETURNING name`.pipe(
        Effect.map((rows) => rows.length),
        asStorageError("GuardedCreates.drop")
      )
  })
})

/** `GuardedCreates` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<GuardedCreates, never, LinkStore | SqlClient.SqlClient> = Layer.effect(
  GuardedCreates,
  make
)
