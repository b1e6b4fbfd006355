import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { describe } from "vitest"
import type { NodeReport } from "../../../src/model/NodeReport.ts"
import { layerMemory, layerSql, NodeReports } from "../../../src/storage/nodes/NodeReports.ts"
import { reportOf } from "../../support/Reports.ts"
import { onEveryBackend, onEveryDatabase } from "../../support/Stores.ts"

const minutes_ms = 60_000

onEveryBackend(NodeReports, { memory: layerMemory, sql: layerSql }, (open) => {
  describe("NodeReports", () => {
    const heardBy = (store: NodeReports["Type"]) =>
      Effect.map(store.all, (heard) => heard.map(({ report }) => report))

    it.scoped("give each node's last report to every node", () =>
      Effect.gen(function* () {
        const client = yield* open
        const [one, other] = [yield* client, yield* client]
        // The other one is of a program that is too old to say its version.
        const a: NodeReport = reportOf("a", { version: "1.2.3", isStopping: true, linksCreated: 3 })
        yield* other.tell(reportOf("b"))
        yield* one.tell(reportOf("a"))
        yield* one.tell(a)
        expect(yield* heardBy(one)).toEqual([a, reportOf("b")])
        expect(yield* heardBy(other)).toEqual([a, reportOf("b")])
        for (const { age_ms } of yield* one.all) expect(age_ms).toBeLessThan(minutes_ms)
      })
    )

    it.scoped("forget a node that leaves, until it tells again", () =>
      Effect.gen(function* () {
        const store = yield* yield* open
        yield* store.tell(reportOf("a"))
        yield* store.tell(reportOf("b"))
        yield* store.leave("a")
        yield* store.leave("nobody")
        expect(yield* heardBy(store)).toEqual([reportOf("b")])
        yield* store.tell(reportOf("a"))
        expect(yield* heardBy(store)).toHaveLength(2)
      })
    )
  })
})

describe("NodeReports in memory", () => {
  it.effect("forget who was silent for ten minutes", () =>
    Effect.gen(function* () {
      const store = yield* NodeReports
      yield* store.tell(reportOf("a"))
      yield* TestClock.adjust("10 minutes")
      expect(yield* store.all).toEqual([{ report: reportOf("a"), age_ms: 10 * minutes_ms }])
      yield* TestClock.adjust("1 millis")
      expect(yield* store.all).toEqual([])
    }).pipe(Effect.provide(layerMemory))
  )
})

onEveryDatabase((client) => {
  describe("NodeReports in a database", () => {
    it.live("pass over who was silent for ten minutes, or tells what nobody knows, and clear it away", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const store = yield* NodeReports
        yield* store.tell(reportOf("a"))
        yield* store.tell(reportOf("silent"))
        yield* sql`UPDATE nodes SET told_at = told_at - ${10 * minutes_ms + 1} WHERE id = 'silent'`
        yield* sql`INSERT INTO nodes (id, report, told_at) SELECT 'newer', '{"id":"newer"}', told_at FROM nodes WHERE id = 'a'`
        expect((yield* store.all).map(({ report }) => report)).toEqual([reportOf("a")])
        const nextStart = yield* Layer.build(Layer.fresh(layerSql)).pipe(
          Effect.provideService(SqlClient.SqlClient, sql)
        )
        yield* Effect.flatMap(NodeReports, ({ tell }) => tell(reportOf("b"))).pipe(Effect.provide(nextStart))
        expect(yield* sql`SELECT id FROM nodes ORDER BY id`).toEqual([
          { id: "a" },
          { id: "b" },
          { id: "newer" }
        ])
      }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(layerSql, client)))
    )
  })
})
