import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { describePostgres } from "../support/services/postgres/Postgres.ts"
import { migratedDatabase, postgresAt } from "../support/Stores.ts"
import { adminHere } from "./AdminHere.ts"
import { dataFolder } from "./Program.ts"

const database = Effect.gen(function* () {
  const url = yield* migratedDatabase
  return { url, sql: Context.get(yield* Layer.build(postgresAt(url)), SqlClient.SqlClient) }
})

describePostgres("admin skip-keys over several databases of links", () => {
  it.scopedLive(
    "works on all of them, or on none where one is missing or another",
    () =>
      Effect.gen(function* () {
        const [control, further, other] = [yield* database, yield* database, yield* database]
        yield* control.sql`INSERT INTO deployment (name, value) VALUES ('link-databases-of', 'ours')`
        yield* control.sql`INSERT INTO bucket_placement (bucket, home) VALUES (7, 1)`
        yield* further.sql`INSERT INTO deployment (name, value) VALUES ('link-database', 'ours 1')`
        yield* further.sql`INSERT INTO keys (key) VALUES ('carried')`

        const DATA_DIR = yield* dataFolder
        const skipKeys = (LINK_DATABASE_URLS?: string) =>
          adminHere(
            { DATABASE_URL: control.url, DATA_DIR, LINK_DATABASE_URLS },
            "skip-keys",
            "--keys",
            "1000"
          )
        const found = Effect.forEach([control, further], ({ sql }) =>
          Effect.map(sql<{ lineage: number }>`SELECT lineage FROM database_regressions`, (rows) =>
            rows.map(({ lineage }) => Number(lineage))
          )
        )
        for (const [urls, message] of [
          [undefined, "database 1 has links of this deployment, and LINK_DATABASE_URLS names 0."],
          [other.url, "database 1 of LINK_DATABASE_URLS has nothing of this deployment"],
          ["postgres://127.0.0.1:1/away", "database 1 does not answer"]
        ] as const) {
          const { code, output } = yield* skipKeys(urls)
          expect(output).toContain(message)
          expect(code).toBe(1)
        }
        expect(yield* found).toEqual([[], []])
        expect(yield* control.sql`SELECT next FROM key_ranges`).toEqual([])

        const { code, output } = yield* skipKeys(further.url)
        expect(output).toMatch(
          /^Each of 16 ranges has skipped 1000 keys\. 1 keys that stood ready in 2 databases of links are given up/m
        )
        expect(code).toBe(0)
        const [own, its] = yield* found
        expect(own).toHaveLength(1)
        expect(its).toEqual(own)
        expect(yield* further.sql`SELECT key FROM keys`).toEqual([])
      }),
    120_000
  )
})
