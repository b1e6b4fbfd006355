import { SqlClient } from "@effect/sql"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { jsonOf } from "../support/http/HttpClient.ts"
import { asAdmin, type ClusterNode, freshStores, startNode } from "./ClusterNodes.ts"
import { inDatabase, knows, verified } from "./FurtherDomains.ts"

const host = "go.example"

const at = (node: ClusterNode, name: string, path: string) =>
  node.send({ path, headers: { host: name, accept: "application/json" } })

const create = (node: ClusterNode, json: object) =>
  node.send({ path: "/api/v1/links", headers: asAdmin, json })

/** Takes a database back to what the version before further domains left: without what later versions added as well. */
const withoutDomains = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE domains`
  yield* sql`DROP TABLE domain_version`
  yield* sql`DROP TABLE link_ranks, visit_ranked, visit_removals, visits_leaving`
  yield* sql`ALTER TABLE links DROP COLUMN imported_visits, DROP COLUMN extras`
  yield* sql`ALTER TABLE visit_periods DROP COLUMN visitors`
  yield* sql`DELETE FROM linkmint_migrations
             WHERE migration_id >= (SELECT migration_id FROM linkmint_migrations WHERE name = 'domains')`
})

describe("a deployment that is older than further domains", () => {
  it.scopedLive(
    "keeps its links, and gets domains whose links all nodes redirect",
    () =>
      Effect.gen(function* () {
        const stores = yield* freshStores
        const variables = { ...stores, BASE_URL: "http://short.example" }

        const one = yield* startNode(variables)
        const minted = jsonOf(yield* create(one, { url: "https://old.example/minted" })) as { key: string }
        yield* create(one, { url: "https://old.example/alias", alias: "guide" })
        yield* one.end("SIGTERM")
        yield* inDatabase(stores.DATABASE_URL, withoutDomains)

        yield* one.restart()
        const two = yield* startNode(variables)
        for (const name of ["short.example", host]) {
          expect((yield* at(two, name, `/${minted.key}`)).headers.location).toBe("https://old.example/minted")
        }

        const added = yield* one.send({ path: "/api/v1/domains", headers: asAdmin, json: { host } })
        expect(added.status).toBe(201)
        expect((yield* at(one, host, "/guide")).headers.location).toBe("https://old.example/alias")
        yield* inDatabase(stores.DATABASE_URL, verified(host))
        yield* knows(one, host, 200)
        yield* knows(two, host, 200)
        expect((yield* at(two, host, "/guide")).status).toBe(404)
        const guide = { url: "https://new.example/alias", alias: "guide", domain: host }
        const created = yield* create(one, guide)
        expect(jsonOf(created)).toMatchObject({ domain: host, shortUrl: `http://${host}/guide` })
        for (const node of [one, two]) {
          expect((yield* at(node, host, "/guide")).headers.location).toBe(guide.url)
          expect((yield* at(node, "short.example", "/guide")).headers.location).toBe(
            "https://old.example/alias"
          )
        }

        yield* two.end("SIGTERM")
        yield* two.restart()
        expect((yield* at(two, host, "/guide")).headers.location).toBe(guide.url)

        const path = `/api/v1/domains/${host}`
        const removed = yield* one.send({ method: "DELETE", path, headers: asAdmin })
        expect(removed.status).toBe(204)
        yield* knows(two, host, 404)
        expect((yield* at(two, host, "/guide")).headers.location).toBe("https://old.example/alias")
      }),
    120_000
  )
})
