import { NodeContext } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { Effect, Schedule, type Scope } from "effect"
import { join } from "node:path"
import { describe } from "vitest"
import { toStrings } from "../../../src/keys/PackedKeys.ts"
import type { StockKind } from "../../../src/storage/keys/KeyStock.ts"
import * as Migrations from "../../../src/storage/sql/Migrations.ts"
import * as SqliteClient from "../../../src/storage/sql/SqliteClient.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { type Child, spawnChild } from "../../support/Child.ts"
import { numbered } from "../../support/samples/SomeKeys.ts"
import { adopted, opened, type Place, preload, taken } from "../../support/StockPlaces.ts"
import { migratedDatabase, postgresAt, temporaryFolder } from "../../support/Stores.ts"

/** What the processes told of a place. */
const told = (children: ReadonlyArray<Child>, number: number) => {
  const [filled, batches] = [new Array<string>(), new Map<string, ReadonlyArray<string>>()]
  for (const line of children.flatMap(({ printed }) => printed)) {
    const [of, what, name, ...keys] = line.split(" ")
    if (of !== String(number)) continue
    if (what === "filled") filled.push(...numbered(`${name}-`, 25))
    if (what === "took")
      batches.set(
        name!,
        keys.filter((key) => key !== "")
      )
  }
  return { filled, batches }
}

/** Waits until PostgreSQL has noticed that a process is gone, and has committed or rolled back what it was doing. */
const noticed = (url: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`SELECT 1 FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`
  ).pipe(
    Effect.repeat({ until: (others) => others.length === 0, schedule: Schedule.spaced("20 millis") }),
    Effect.provide(postgresAt(url))
  )

/** What is left at a place: open batches, and keys that can be taken. */
const leftAt = (place: Omit<Place, "kind">) =>
  Effect.gen(function* () {
    if ("url" in place.database) yield* noticed(place.database.url)
    const stock = yield* opened({ ...place, kind: "none" })
    yield* Effect.repeat(stock.adopt(adopted), { while: (moved) => moved > 0 })
    const open = yield* stock.openBatches(1)
    const rest = yield* stock.take({ ...(yield* stock.claim(2)), sequence: 0 }, 1_000_000)
    return {
      open: open.map(({ epoch, keys, sequence }) => [`${epoch}/${sequence}`, toStrings(keys)] as const),
      rest: toStrings(rest)
    }
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

/**
 * Uses a place for each kind of stock in one process after the other, each time with the next kind, and kills every process in the middle of it.
 */
const killed = (
  kinds: ReadonlyArray<StockKind>,
  newPlace: Effect.Effect<Omit<Place, "kind">, never, Scope.Scope>,
  lostMax: number
) =>
  it.scopedLive(
    "loses and doubles no key beyond what a kill may lose, with another kind of stock after each kill",
    () =>
      Effect.gen(function* () {
        const places = yield* Effect.forEach(kinds, () => newPlace)
        const children: Array<Child> = []
        for (let round = 0; round < 2; round++) {
          const used = places.map((place, number) => ({
            ...place,
            kind: kinds[(number + round) % kinds.length]!
          }))
          const child = yield* spawnChild("UseStock", [JSON.stringify(used)])
          children.push(child)
          yield* Effect.forEach(used, ({ kind }, number) =>
            child.line(`${number} filled ${kind[0]}${round + 1}-${4 + round}`)
          )
          yield* child.kill
        }
        for (const [number, place] of places.entries()) {
          const { batches, filled } = told(children, number)
          const { open, rest } = yield* leftAt(place)
          for (const [name, keys] of open) {
            const before = batches.get(name)
            if (before !== undefined) expect(keys.toSorted()).toEqual(before.toSorted())
            batches.set(name, keys)
          }
          const all = [...Array.from(batches.values()).flat(), ...rest]
          const seen = new Set(all)
          expect(seen.size).toBe(all.length)
          expect(batches.size).toBeGreaterThan(10)
          expect(filled.filter((key) => !seen.has(key)).length).toBeLessThanOrEqual(lostMax)
        }
      }),
    120_000
  )

describe("a stock on SQLite that is killed", () => {
  const newPlace = Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const path = join(folder, "linkmint.db")
    yield* Effect.orDie(Effect.provide(Migrations.migrate, SqliteClient.layer(path)))
    return { database: { path }, file: join(folder, "stock.keys") }
  })
  // What was read ahead, and a take of it, at one kill; what was on its way out of the file at each.
  killed(["table", "status", "two-table", "file"], newPlace, preload.high + taken + 2 * adopted)
})

describePostgres("a stock on PostgreSQL that is killed", () => {
  const newPlace = Effect.gen(function* () {
    const url = yield* migratedDatabase
    return { database: { url }, file: join(yield* temporaryFolder, "stock.keys") }
  })
  killed(["table", "status", "two-table"], newPlace, 0)
})
