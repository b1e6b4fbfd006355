import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Layer } from "effect"
import { changedDomain, type Domain } from "../../model/Domain.ts"
import { forUpdate, prepared } from "../sql/SqlDialect.ts"
import { together } from "../sql/DirectSql.ts"
import { camelRows, sqlPort } from "../sql/SqlPort.ts"
import { transactional } from "../sql/SqlTransaction.ts"
import { addedAs, DomainStore } from "./DomainStore.ts"

/** SQLite has 0 and 1 for booleans. */
type DomainRow = Omit<Domain, "ignoresCase" | "owners" | "targets"> & {
  readonly ignoresCase: boolean | number
  readonly owners: string | null
  readonly targets: string
}

const domainOf = (row: DomainRow): Domain => ({
  ...row,
  owners: row.owners === null ? null : JSON.parse(row.owners),
  targets: JSON.parse(row.targets),
  ignoresCase: Boolean(row.ignoresCase)
})

const ownersText = (owners: Domain["owners"]) => (owners === null ? null : JSON.stringify(owners))

/** `DomainStore` on SQLite and PostgreSQL. Whoever changes domains has locked the row with their version. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const inOneTransaction = transactional(sql)

  const boolean = (value: boolean) => sql.literal(String(value))

  const domains = (which: Statement.Fragment) =>
    Effect.map(camelRows(sql<DomainRow>`SELECT * FROM domains ${which}`), (rows) => rows.map(domainOf))
  const domain = (number: number) =>
    Effect.map(domains(sql`WHERE number = ${number}`), ([found = null]) => found)

  /** Asked again and again. */
  const versionNow =
    sql`${prepared(sql)}SELECT version, last_number, long_aliases_in FROM domain_version`.compile()
  const longAliasesOf = (text: string) => JSON.parse(text) as ReadonlyArray<number>
  const locked = Effect.map(
    sql<{ last_number: number; long_aliases_in: string }>`
      SELECT last_number, long_aliases_in FROM domain_version ${forUpdate(sql)}`,
    ([row]) => row!
  )
  const raise = (by: Statement.Fragment) =>
    sql`UPDATE domain_version SET version = version + 1 ${by} WHERE id = 0`
  const raised = raise(sql``)

  return sqlPort(DomainStore, {
    // What is read after a version is at least as new, so that a change that is under way is seen by the next call at the latest.
    read: Effect.fnUntraced(function* (known) {
      const [row] = yield* together(sql, "DomainStore.read", versionNow)
      const [version, lastNumber] = [Number(row![0]), Number(row![1])]
      if (version === known) return null
      const longAliasesIn = longAliasesOf(String(row![2]))
      return { version, lastNumber, longAliasesIn, domains: yield* domains(sql`ORDER BY number`) }
    }),

    add: Effect.fnUntraced(function* (given, domainsMax) {
      const { last_number } = yield* locked
      const [row] = yield* sql<{ count: number; taken: number | null }>`
        SELECT CAST(count(*) AS INTEGER) AS count,
          max(CASE WHEN host = ${given.host} THEN 1 ELSE 0 END) AS taken FROM domains`
      if (row!.taken === 1) return "taken"
      if (row!.count >= domainsMax) return "full"
      const added = addedAs(given, last_number + 1)
      yield* sql`
        INSERT INTO domains (number, host, token, verified_at, owners, targets, ignores_case, created_at, updated_at)
        VALUES (${added.number}, ${added.host}, ${added.token}, ${added.verifiedAt}, ${ownersText(added.owners)},
                ${JSON.stringify(added.targets)}, ${boolean(added.ignoresCase)}, ${added.createdAt},
                ${added.updatedAt})`
      yield* raise(sql`, last_number = ${added.number}`)
      return added
    }, inOneTransaction),

    change: Effect.fnUntraced(function* (number, change, at) {
      yield* locked
      const before = yield* domain(number)
      if (before === null) return null
      const after = changedDomain(before, change, at)
      yield* sql`
        UPDATE domains SET owners = ${ownersText(after.owners)}, targets = ${JSON.stringify(after.targets)},
          ignores_case = ${boolean(after.ignoresCase)}, updated_at = ${at}
        WHERE number = ${number}`
      yield* raised
      return after
    }, inOneTransaction),

    verify: Effect.fnUntraced(function* (number, token, at) {
      yield* locked
      const before = yield* domain(number)
      if (before?.token !== token) return null
      if (before.verifiedAt !== null) return before
      yield* sql`UPDATE domains SET verified_at = ${at}, updated_at = ${at} WHERE number = ${number}`
      yield* raised
      return { ...before, verifiedAt: at, updatedAt: at }
    }, inOneTransaction),

    remove: Effect.fnUntraced(function* (number) {
      yield* locked
      const rows = yield* sql`DELETE FROM domains WHERE number = ${number} RETURNING number`
      if (rows.length === 0) return false
      yield* raised
      return true
    }, inOneTransaction),

    addLongAliases: Effect.fnUntraced(function* (number) {
      const longAliasesIn = longAliasesOf((yield* locked).long_aliases_in)
      if (longAliasesIn.includes(number)) return
      yield* raise(sql`, long_aliases_in = ${JSON.stringify([...longAliasesIn, number])}`)
    }, inOneTransaction)
  })
})

/** `DomainStore` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<DomainStore, never, SqlClient.SqlClient> = Layer.effect(DomainStore, make)
