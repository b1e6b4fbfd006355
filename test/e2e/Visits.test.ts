import { SqlClient } from "@effect/sql"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Layer, type Scope } from "effect"
import type { Agent } from "node:http"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as SqliteClient from "../../src/storage/sql/SqliteClient.ts"
import { agent, jsonOf, keyOf, send } from "../support/http/HttpClient.ts"
import { freePort } from "../support/FreePort.ts"
import { describePostgres } from "../support/services/postgres/Postgres.ts"
import { migratedDatabase, postgresAt } from "../support/Stores.ts"
import { lateness } from "../support/Lateness.ts"
import { mmdb } from "../support/Mmdb.ts"
import { firefox } from "../support/samples/SomeVisits.ts"
import { visitsWritten } from "./Database.ts"
import { dataFolder, migratedFolder, start, type Variables } from "./Program.ts"

/** The visitor's address, which is to be nowhere afterwards. */
const address = "198.51.100.77"
const countries = mmdb("Test-Country", { "198.51.100.0/24": { country: { iso_code: "SE" } } })

/** A database for the program, and a client of it for afterwards. */
interface Database {
  readonly variables: Variables
  readonly client: Layer.Layer<SqlClient.SqlClient>
}

/** All rows of all tables, as text. */
const dumped = (client: Layer.Layer<SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tables = yield* sql.onDialectOrElse({
      orElse: () => sql<{ name: string }>`SELECT name FROM sqlite_master WHERE type = 'table'`,
      pg: () => sql<{ name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`
    })
    const rows = yield* Effect.forEach(tables, ({ name }) => sql`SELECT * FROM ${sql(name)}`)
    expect(tables.length).toBeGreaterThan(10)
    return JSON.stringify(rows)
  }).pipe(Effect.provide(client), Effect.orDie)

const place = (database: Database) =>
  Effect.gen(function* () {
    const port = yield* freePort
    const geoIpFile = join(yield* dataFolder, "..", "countries.mmdb")
    writeFileSync(geoIpFile, countries)
    const settings = {
      ...database.variables,
      PORT: String(port),
      HOST: "127.0.0.1",
      ADMIN_API_KEY: "lm_the-key-of-this-test",
      ANONYMOUS_CREATES: "true",
      TRUSTED_PROXIES: "127.0.0.1",
      GEOIP_FILE: geoIpFile,
      LOG_LEVEL: "trace"
    }
    return { port, settings, connections: yield* agent(8) }
  })

const create = (connections: Agent, port: number) =>
  Effect.map(
    send(connections, port, {
      method: "POST",
      path: "/api/v1/links",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ url: "https://example.com/" })
    }),
    keyOf
  )

/** Follows the link so often, eight at a time. */
const follow = (connections: Agent, port: number, key: string, times: number) =>
  Effect.forEach(
    Array.from({ length: times }),
    () =>
      send(connections, port, {
        path: `/${key}`,
        headers: {
          "user-agent": firefox,
          referer: "https://news.example/item?secret=1",
          "x-forwarded-for": address
        }
      }),
    { concurrency: 8, discard: true }
  )

const visits = (title: string, database: Effect.Effect<Database, never, Scope.Scope>) => {
  it.scopedLive(
    `${title}: are all written by SIGTERM, told with their country, and nobody's address is kept; those of more than a second ago survive kill -9, and none is counted twice`,
    () =>
      Effect.gen(function* () {
        const given = yield* database
        const { connections, port, settings } = yield* place(given)
        const program = yield* start(settings)
        const key = yield* create(connections, port)
        yield* follow(connections, port, key, 300)
        program.signal("SIGTERM")
        expect(yield* program.ended).toEqual({ code: 0, signal: null })
        expect(yield* Effect.provide(visitsWritten, given.client)).toBe(300)
        const dump = yield* dumped(given.client)
        expect(dump).toContain("news.example")
        for (const secret of [address, "secret=1", "Gecko"]) {
          expect(dump).not.toContain(secret)
          expect(program.output()).not.toContain(secret)
        }
        const { DATA_DIR } = given.variables
        for (const file of DATA_DIR === undefined ? [] : readdirSync(DATA_DIR)) {
          expect(readFileSync(join(DATA_DIR!, file)).includes(address), file).toBe(false)
        }

        const again = yield* start(settings)
        const stats = yield* send(connections, port, {
          path: `/api/v1/links/${key}/stats`,
          headers: { "x-api-key": settings.ADMIN_API_KEY }
        })
        expect(jsonOf(stats)).toMatchObject({
          total: 300,
          nonBots: 300,
          bots: 0,
          referrers: [{ value: "news.example", visits: 300 }],
          countries: [{ value: "SE", visits: 300 }],
          browsers: [{ value: "Firefox", visits: 300 }],
          os: [{ value: "Linux", visits: 300 }],
          devices: [{ value: "desktop", visits: 300 }]
        })

        const lateSince = yield* lateness
        let [before, all] = [300, 300]
        yield* Effect.gen(function* () {
          const since = performance.now()
          yield* follow(connections, port, key, 200)
          before = all + 200
          // Twice the time, for a machine that does other things as well.
          yield* Effect.sleep(Duration.seconds(2))
          yield* follow(connections, port, key, 20)
          all = before + 20
          return lateSince(since)
          // In a time in which the machine stood still the program may not have written them.
        }).pipe(Effect.repeat({ while: (late_ms) => late_ms > 500, times: 4 }))
        again.signal("SIGKILL")
        yield* again.ended
        const survived = yield* Effect.provide(visitsWritten, given.client)
        expect(survived).toBeGreaterThanOrEqual(before)
        expect(survived).toBeLessThanOrEqual(all)
      }),
    120_000
  )
}

describe.concurrent("visits", () => {
  visits(
    "SQLite",
    Effect.map(migratedFolder, (DATA_DIR) => ({
      variables: { DATA_DIR },
      client: Layer.orDie(SqliteClient.layer(join(DATA_DIR, "linkmint.db")))
    }))
  )
  describePostgres("of a cluster's database", () => {
    visits(
      "PostgreSQL",
      Effect.map(migratedDatabase, (DATABASE_URL) => ({
        variables: { DATABASE_URL },
        client: postgresAt(DATABASE_URL)
      }))
    )
  })
})
