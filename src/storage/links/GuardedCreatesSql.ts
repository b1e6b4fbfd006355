import { SqlClient, type Statement } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect, Layer } from "effect"
import {
  type Beginning,
  type Guard,
  GuardedCreates,
  type GuardedLink,
  type GuardedOutcome,
  type GuardState
} from "./GuardedCreates.ts"
import * as LinksByUrlSql from "./LinksByUrlSql.ts"
import { LinkStore } from "./LinkStore.ts"
import { bucketOfGuardRow } from "./buckets/LinkBucketsSql.ts"
import { andAtHome, LinkTenure } from "./buckets/LinkTenure.ts"
import { sqlPort } from "../sql/SqlPort.ts"
import { databaseMoment, databaseNow, forUpdate, isOneOf } from "../sql/SqlDialect.ts"
import { rowsOf } from "../sql/SqlRows.ts"
import { inTransaction } from "../sql/SqlTransaction.ts"
import { askInTurns } from "../sql/Turns.ts"

interface GuardRow {
  readonly name: string
  readonly token: number
  readonly fingerprint: string
  readonly key: string | null
  readonly answer: string | null
}

const stateOf = (row: GuardRow): GuardState =>
  row.answer === null
    ? { _tag: "Running", fingerprint: row.fingerprint }
    : { _tag: "Settled", fingerprint: row.fingerprint, key: row.key, answer: row.answer }

const namesOf = ({ name }: { readonly name: string }) => [name]
const namesOfLink = ({ guards }: GuardedLink) => guards.map(({ name }) => name)

/** Beginnings that one statement can make, of different guards, in the order of these so that nobody deadlocks. */
const alike = (beginnings: ReadonlyArray<Beginning>) => {
  const groups = new Map<string, Array<Beginning>>()
  for (const one of beginnings.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const kind = JSON.stringify([one.keep_ms, one.lease_ms, one.replaces])
    groups.set(kind, [...(groups.get(kind) ?? []), one])
  }
  return [...groups.values()]
}

/** `GuardedCreates` on SQLite and PostgreSQL, over the `LinkStore` of the same database. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { insertMany } = yield* LinkStore
  const now = databaseNow(sql)
  const findByUrl = yield* LinksByUrlSql.make

  const rowsByName = (names: ReadonlyArray<string>, lock: Statement.Fragment = sql``) =>
    Effect.map(
      sql<GuardRow>`SELECT * FROM create_guards WHERE ${isOneOf(sql, "name", names)} ORDER BY name ${lock}`,
      (rows) => new Map(rows.map((row) => [row.name, row]))
    )

  /** The rows of guards, locked until the transaction ends, in the order of their names so that nobody deadlocks. */
  const locked = (names: ReadonlyArray<string>) => rowsByName([...new Set(names)], forUpdate(sql))

  /** Asks about guards, turn after turn where several questions of a batch are about one. */
  const inTurns = <A, B, E>(
    questions: ReadonlyArray<A>,
    namesOf: (question: A) => ReadonlyArray<string>,
    ask: (questions: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E | SqlError>
  ) => askInTurns(sql, questions, namesOf, locked, ask)

  /**
   * Begins guards that are new, were left alone for longer than their lease, are too old, or were settled with the key to be replaced. One that was begun further ahead was so by a clock that was
   * wrong.
   */
  const take = (beginnings: ReadonlyArray<Beginning>) => {
    const { keep_ms, lease_ms, replaces } = beginnings[0]!
    const given = rowsOf(sql, {
      name: ["text", beginnings.map(({ name }) => name)],
      token: ["bigint", beginnings.map(({ token }) => token)],
      fingerprint: ["text", beginnings.map(({ fingerprint }) => fingerprint)]
    })
    return sql<{ name: string }>`
      INSERT INTO create_guards (name, token, begun_at, fingerprint)
      SELECT name, token, ${now}, fingerprint FROM ${given} AS given WHERE true
      ON CONFLICT (name) DO UPDATE SET
        token = excluded.token, begun_at = excluded.begun_at, fingerprint = excluded.fingerprint, key = NULL, answer = NULL
      WHERE create_guards.begun_at <= excluded.begun_at - ${keep_ms} OR create_guards.key = ${replaces ?? null}
        OR (create_guards.answer IS NULL AND create_guards.begun_at NOT BETWEEN excluded.begun_at - ${lease_ms} + 1 AND excluded.begun_at + ${lease_ms})
      RETURNING name`
  }

  const beginFirst = (beginnings: ReadonlyArray<Beginning>) =>
    Effect.gen(function* () {
      const groups = alike(beginnings)
      const takeAll = Effect.forEach(groups, take)
      const rows = yield* groups.length > 1
        ? inTransaction(sql, Effect.zipRight(locked(beginnings.flatMap(namesOf)), takeAll))
        : takeAll
      const taken = new Set(rows.flat().map(({ name }) => name))
      const others = beginnings.filter(({ name }) => !taken.has(name)).map(({ name }) => name)
      const present = others.length === 0 ? new Map<string, GuardRow>() : yield* rowsByName(others)
      return beginnings.map(({ fingerprint, name }): GuardState => {
        if (taken.has(name)) return { _tag: "Begun" }
        const row = present.get(name)
        // Dropped in between: the next one to ask finds it free.
        return row === undefined ? { _tag: "Running", fingerprint } : stateOf(row)
      })
    })

  const settleAll = (
    settled: ReadonlyArray<{ readonly name: string; readonly key: string | null; readonly answer: string }>
  ) => {
    const given = rowsOf(sql, {
      name: ["text", settled.map(({ name }) => name)],
      key: ["text", settled.map(({ key }) => key)],
      answer: ["text", settled.map(({ answer }) => answer)]
    })
    return sql`UPDATE create_guards SET key = given.key, answer = given.answer
               FROM ${given} AS given WHERE create_guards.name = given.name`
  }

  /** Does something with those of the guards that are held and not settled. */
  const whileHeld = <A extends Guard>(
    guards: ReadonlyArray<A>,
    run: (held: ReadonlyArray<A>) => Effect.Effect<unknown, SqlError>
  ) =>
    inTurns(guards, namesOf, (first) =>
      inTransaction(
        sql,
        Effect.gen(function* () {
          const rows = yield* locked(first.flatMap(namesOf))
          const isHeld = ({ name, token }: Guard) => {
            const row = rows.get(name)
            return row !== undefined && row.answer === null && row.token === token
          }
          const held = first.filter(isHeld)
          if (held.length > 0) yield* run(held)
          return first.map(isHeld)
        })
      )
    )

  const bindFirst = (links: ReadonlyArray<GuardedLink>) =>
    inTransaction(
      sql,
      Effect.gen(function* () {
        const rows = yield* locked(links.flatMap(namesOfLink))
        const holds = ({ answer, guards }: GuardedLink) =>
          guards.every(({ name, token }) => {
            const row = rows.get(name)
            return row !== undefined && row.token === token && (row.answer === null || row.answer === answer)
          })
        const isDone = ({ guards }: GuardedLink) =>
          guards.every(({ name }) => rows.get(name)!.answer !== null)
        const held = links.filter(holds)
        const open = held.filter((link) => !isDone(link))
        const inserted = yield* insertMany(open.map(({ link }) => link))
        const bound = open.filter((_, index) => inserted[index] === true)
        if (bound.length > 0) {
          yield* settleAll(
            bound.flatMap(({ answer, guards, link: { key } }) =>
              guards.map(({ name }) => ({ name, key, answer }))
            )
          )
        }
        const outcomes = new Map<GuardedLink, GuardedOutcome>(held.map((link) => [link, "bound"]))
        open.forEach((link, index) => outcomes.set(link, inserted[index] === true ? "bound" : "taken"))
        return links.map((link) => outcomes.get(link) ?? "superseded")
      })
    )

  return sqlPort(GuardedCreates, {
    beginMany: (beginnings) => inTurns(beginnings, namesOf, beginFirst),
    bindMany: (links) => inTurns(links, namesOfLink, bindFirst),
    settleMany: (settlements) =>
      whileHeld(settlements, (held) => settleAll(held.map((one) => ({ ...one, key: one.key ?? null })))),
    abandonMany: (guards) =>
      whileHeld(
        guards,
        (held) =>
          sql`DELETE FROM create_guards WHERE ${isOneOf(
            sql,
            "name",
            held.map(({ name }) => name)
          )}`
      ),
    findByUrl,
    drop: Effect.fnUntraced(function* (keep_ms, count) {
      const dropped = yield* sql`
        DELETE FROM create_guards WHERE name IN (
          SELECT name FROM create_guards WHERE begun_at <= ${databaseMoment(sql)} - ${keep_ms}
            ${andAtHome(sql, yield* LinkTenure, bucketOfGuardRow)}
          ORDER BY begun_at LIMIT ${count}
        ) RETURNING name`
      return dropped.length
    })
  })
})

/** `GuardedCreates` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<GuardedCreates, never, LinkStore | SqlClient.SqlClient> = Layer.scoped(
  GuardedCreates,
  make
)
