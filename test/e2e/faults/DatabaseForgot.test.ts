import { expect, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { hasPrograms, postgresPair } from "../../support/services/postgres/PostgresPair.ts"
import { serverUrl } from "../../support/services/redis/Redis.ts"
import { asAdmin, startNode } from "../ClusterNodes.ts"

interface Made {
  readonly results: ReadonlyArray<{ readonly link?: { readonly key: string } }>
}

if (hasPrograms) {
  describePostgres("a standby that is promoted without the last commits", () => {
    it.scopedLive(
      "has no key given to another that was acknowledged: 300 creates are lost, and told, and 5,000 follow",
      () =>
        Effect.gen(function* () {
          const { primary, promote, standby } = yield* postgresPair
          const { password, username } = new URL(primary.url)
          const node = yield* startNode({
            DATABASE_URL: `postgresql://${username}:${password}@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`,
            REDIS_URLS: yield* serverUrl,
            // Pool and buffer have fewer keys than are lost, so that some are minted in that time, and again after it.
            POOL_LOW: "100",
            POOL_HIGH: "150",
            BUFFER_CAPACITY: "64"
          })
          const create = (count: number) =>
            Effect.map(
              node.send({
                path: "/api/v1/links/bulk",
                headers: asAdmin,
                json: { links: Array.from({ length: count }, () => ({ url: "https://example.com/" })) }
              }),
              (answer) =>
                answer.status === 200 || answer.status === 201
                  ? (jsonOf(answer) as Made).results.flatMap(({ link }) => (link ? [link.key] : []))
                  : []
            )
          const createAll = Effect.fn(function* (wanted: number) {
            const keys: Array<string> = []
            while (keys.length < wanted) {
              const made = yield* Effect.orElseSucceed(
                create(Math.min(500, wanted - keys.length)),
                (): Array<string> => []
              )
              keys.push(...made)
              if (made.length === 0) yield* Effect.sleep("100 millis")
            }
            return keys
          })

          const kept = yield* createAll(100)
          yield* Effect.repeat(standby.run("SELECT 1 FROM links"), {
            until: (rows) => rows.length >= kept.length,
            schedule: Schedule.spaced("50 millis")
          })
          yield* standby.run("ALTER SYSTEM SET primary_conninfo = ''")
          yield* standby.run("SELECT pg_reload_conf()")
          yield* Effect.repeat(primary.run("SELECT 1 FROM pg_stat_replication"), {
            until: (rows) => rows.length === 0,
            schedule: Schedule.spaced("50 millis")
          })
          const lost = new Set(yield* createAll(300))
          expect(lost.size).toBe(300)
          yield* primary.kill
          yield* promote

          const after = yield* createAll(5_000)
          expect(new Set(after).size).toBe(5_000)
          expect(after.filter((key) => lost.has(key) || kept.includes(key))).toEqual([])

          const there = yield* standby.run(
            `SELECT count(*)::int AS count FROM links WHERE key = ANY('{${[...lost].join(",")}}')`
          )
          expect(there).toEqual([{ count: 0 }])
          expect(node.output()).toMatch(/The database has forgotten what it had committed since/)
          const metrics = yield* node.send({ path: "/metrics", headers: asAdmin })
          expect(metrics.text).toMatch(/^linkmint_database_regressions_total 1$/m)
          const picture = yield* node.send({ path: "/api/v1/cluster", headers: asAdmin })
          expect(jsonOf(picture)).toMatchObject({ regressions: [{ skipped: expect.any(Number) }] })
        }),
      120_000
    )
  })
}
