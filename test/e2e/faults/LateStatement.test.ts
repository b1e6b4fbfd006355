import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Schedule } from "effect"
import { agent, keyOf, send } from "../../support/http/HttpClient.ts"
import { freePort } from "../../support/FreePort.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { migratedDatabase, postgresAt } from "../../support/Stores.ts"
import { dataFolder, start } from "../Program.ts"

describePostgres("a process alone on PostgreSQL", () => {
  it.scopedLive(
    "redirects to the new target of a link that is changed by a statement which it gave up",
    () =>
      Effect.gen(function* () {
        const url = yield* migratedDatabase
        const port = yield* freePort
        const connections = yield* agent(1)
        yield* start({
          DATABASE_URL: url,
          DATA_DIR: yield* dataFolder,
          PORT: String(port),
          HOST: "127.0.0.1",
          ANONYMOUS_CREATES: "true"
        })
        const key = keyOf(
          yield* send(connections, port, {
            method: "POST",
            path: "/api/v1/links",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ url: "https://example.com/old" })
          })
        )
        const target = Effect.map(
          send(connections, port, { path: `/${key}` }),
          ({ headers }) => headers.location
        )
        expect(yield* target).toBe("https://example.com/old")
        // As such a statement ends on the server: what it does is committed, and nobody waits for its answer.
        const sql = Context.get(yield* Layer.build(postgresAt(url)), SqlClient.SqlClient)
        yield* sql`
          WITH updated AS (UPDATE links SET url = 'https://example.com/new' WHERE key = ${key} RETURNING key)
          SELECT pg_notify('linkmint_links', key) FROM updated`
        yield* Effect.repeat(target, {
          until: (location) => location === "https://example.com/new",
          schedule: Schedule.spaced("50 millis")
        }).pipe(Effect.timeout("20 seconds"))
      }),
    60_000
  )
})
