// What an upgrade in place costs a PostgreSQL database with links: each migration since the last schema that had them in partitions.

import { Duration, Effect, Layer, Record, Redacted } from "effect"
import { inDatabase } from "../../chaos/Stores.ts"
import * as Migrations from "../../src/storage/sql/Migrations.ts"
import * as DatabaseServers from "../../src/storage/sql/postgres/DatabaseServers.ts"
import * as PostgresClient from "../../src/storage/sql/postgres/PostgresClient.ts"
import { Unavailable } from "../../test/support/services/Service.ts"
import type { Case } from "../Case.ts"
import { newDatabase } from "../Ground.ts"
import * as Links from "../Links.ts"
import * as Rounds from "../Rounds.ts"

/** The last migration of the schema that is upgraded. */
const oldest = "0017_link_removals"

const names = Record.keys(Migrations.migrations).toSorted()

/** Brings a database up to a migration, as a node does that knows no later one. Gives how long that took, in milliseconds. */
const migrateTo = (databaseUrl: string, last: string) =>
  Migrations.migrateTo(Number.parseInt(last)).pipe(
    Effect.timed,
    Effect.map(([lasted]) => Duration.toMillis(lasted)),
    Effect.provide(
      Layer.provide(PostgresClient.layerUnbounded, DatabaseServers.layer(Redacted.make(databaseUrl)))
    ),
    Effect.orDie
  )

/** The time of each migration that follows, and of all together. */
export const upgrade: Case = {
  name: "upgrade",
  title: "Upgrade in place of a PostgreSQL database with links in 16 partitions",
  run: Effect.fn("upgrade")(function* (ground) {
    const links = ground.quick ? Math.min(10_000, ground.upgradedLinks) : ground.upgradedLinks
    const url = yield* newDatabase(ground)
    yield* migrateTo(url, oldest)
    yield* ground.notify(`  ${links.toLocaleString("en")} links in the former schema …`)
    yield* Links.fillPostgres(url, links, "usr_bench")
    const before_us = yield* ground.postgresCpu_us
    const steps = yield* Effect.forEach(
      names.filter((name) => name > oldest),
      (name) => Effect.map(migrateTo(url, name), (ms) => ({ name, ms }))
    )
    const cpu_s = ((yield* ground.postgresCpu_us) - before_us) / 1e6
    const all_ms = steps.reduce((sum, { ms }) => sum + ms, 0)
    const [left] = yield* inDatabase(
      { databaseUrl: url },
      (sql) => sql<{ count: number }>`SELECT count(*)::int AS count FROM links`
    )
    if (left?.count !== links) {
      return yield* new Unavailable({
        reason: `${links} links were to be there after it, not ${left?.count}`
      })
    }
    const row = (subject: string, ms: number) => Rounds.plainRow({ subject, unit: "ms", rounds: [ms] })
    return {
      rows: [...steps.map(({ ms, name }) => row(name, ms)), row("all of them", all_ms)],
      goals: [],
      notes: [
        `${links.toLocaleString("en")} links of one owner, without visits; PostgreSQL took ${cpu_s.toFixed(1)} s of CPU time. 0018_one_links_table copies the links: they are read meanwhile, and what writes them is answered 503. The others hold nobody up for longer than they take.`
      ]
    }
  })
}
