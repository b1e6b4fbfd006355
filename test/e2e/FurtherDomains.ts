// Further domains of a service whose database is PostgreSQL.

import { SqlClient } from "@effect/sql"
import { Effect, Schedule } from "effect"
import { postgresAt } from "../support/Stores.ts"
import type { ClusterNode } from "./ClusterNodes.ts"

/** Asks the database of a service. */
export const inDatabase = <A>(url: string, ask: Effect.Effect<A, unknown, SqlClient.SqlClient>) =>
  Effect.provide(ask, postgresAt(url))

/** Leaves in the database what a verification leaves, whose proof would have to be in the DNS. */
export const verified = (host: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE domains SET verified_at = created_at WHERE host = ${host}`
    yield* sql`UPDATE domain_version SET version = version + 1`
  })

/** Waits until a node knows that a domain is verified (200), or that there is none (404). */
export const knows = (node: ClusterNode, host: string, status: 200 | 404) =>
  node
    .send({ path: `/health/certificate?domain=${host}` })
    .pipe(
      Effect.repeat({ until: (answer) => answer.status === status, schedule: Schedule.spaced("20 millis") })
    )
