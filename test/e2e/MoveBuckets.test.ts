import { expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { describe } from "vitest"
import * as LinkDatabases from "../../src/storage/homes/LinkDatabases.ts"
import { hasPrograms } from "../support/services/postgres/PostgresPair.ts"
import { sharedLogicalServer } from "../support/services/postgres/PostgresLogical.ts"
import {
  contents,
  type Databases,
  databasesOn,
  fill,
  placementOf,
  someKeys,
  traces
} from "../storage/links/moves/MovingDatabases.ts"
import { adminHere } from "./AdminHere.ts"
import { run, type Variables } from "./Program.ts"

/** Runs `admin move-buckets` to its end: its exit code and what it printed. */
const moveBuckets = (settings: Variables, ...args: ReadonlyArray<string>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const program = yield* run(process.execPath, ["dist/admin.js", "move-buckets", ...args], settings)
      const { code } = yield* program.ended
      return { code, output: program.output() }
    })
  )

/** The same without a process. */
const moveBucketsHere: typeof moveBuckets = (settings, ...args) =>
  adminHere(settings, "move-buckets", ...args)

/** Has databases belong to a deployment, as its nodes do when they start. */
const asOfDeployment = (all: Databases) =>
  Effect.forEach(all, ([number, { sql }]) =>
    number === 0
      ? sql`INSERT INTO deployment (name, value) VALUES ('link-databases-of', 'ours')`
      : sql`INSERT INTO deployment (name, value) VALUES ('link-database', ${`ours ${number}`})`
  )

;(hasPrograms ? describe : describe.skip)("admin move-buckets", () => {
  const server = sharedLogicalServer()

  it.scopedLive(
    "spreads links evenly over databases, goes on after a kill, and moves them back",
    () =>
      Effect.gen(function* () {
        const all = yield* databasesOn(yield* server, 3)
        yield* asOfDeployment(all)
        yield* fill(all, someKeys(2_000))
        yield* all.get(0)!.sql`ANALYZE`
        const before = yield* contents(all)
        const urls = [...all.values()].map(({ url }) => Redacted.value(url))
        const settings = { DATABASE_URL: urls[0]!, LINK_DATABASE_URLS: urls.slice(1).join(",") }
        const sizes = Effect.map(placementOf(all), ({ places }) =>
          [0, 1, 2].map((number) => places.filter(({ home }) => home === number).length)
        )

        yield* Effect.scoped(
          Effect.gen(function* () {
            const killed = yield* run(process.execPath, ["dist/admin.js", "move-buckets", "--even"], settings)
            yield* killed.printed(/^Copying$/m)
            killed.signal("SIGKILL")
            expect((yield* killed.ended).signal).toBe("SIGKILL")
          })
        )
        const even = yield* moveBuckets(settings, "--even")
        expect(even.output).toMatch(
          /^Moved 85 buckets \(\d+ rows\) from database 0 to 1; they were not written for \d+ ms\.$/m
        )
        expect(even.output).toMatch(
          /^Moved 85 buckets \(\d+ rows\) from database 0 to 2; they were not written for \d+ ms\.$/m
        )
        expect(even.code).toBe(0)
        expect(yield* sizes).toEqual([86, 85, 85])
        expect(yield* contents(all)).toEqual(before)
        expect(yield* moveBuckets(settings, "--even")).toEqual({
          code: 0,
          output: "No bucket has to be moved.\n"
        })

        const back = yield* moveBuckets(settings, "--to", "0", "--count", "256", "--json")
        expect(back.code).toBe(0)
        const { moves } = JSON.parse(/^\{$[^]*^\}$/m.exec(back.output)![0]) as {
          moves: ReadonlyArray<{ from: number }>
        }
        expect(moves).toMatchObject([{ to: 0 }, { to: 0 }])
        expect(new Set(moves.map(({ from }) => from))).toEqual(new Set([1, 2]))
        expect(yield* sizes).toEqual([256, 0, 0])
        expect(yield* contents(all)).toEqual(before)
        expect(yield* traces(all)).toEqual([])
      }),
    180_000
  )

  it.scopedLive(
    "is refused with what is wrong",
    () =>
      Effect.gen(function* () {
        const all = yield* databasesOn(yield* server, 3)
        const [first, second, third] = [...all.values()].map(({ sql }) => sql)
        const [one, ...others] = [...all.values()].map(({ url }) => Redacted.value(url))
        const settings = { DATABASE_URL: one!, LINK_DATABASE_URLS: others.join(",") }
        const mistake = (control: typeof first, further: ReadonlyArray<typeof first>) =>
          Effect.map(
            Effect.flip(
              LinkDatabases.checkAll(
                control!,
                further.map((sql) => sql!)
              )
            ),
            ({ message }) => message
          )
        expect(yield* mistake(first, [second, third])).toContain("no node has been started with it yet")
        yield* asOfDeployment(all)
        expect(yield* mistake(second, [first, third])).toContain("DATABASE_URL names database 1 of links")
        expect(yield* mistake(first, [second, first])).toContain(
          "database 2 of LINK_DATABASE_URLS has nothing"
        )
        yield* first!`INSERT INTO bucket_placement (bucket, home) VALUES (7, 2)`
        expect(yield* mistake(first, [second])).toContain("database 2 has links of this deployment")
        yield* third!`UPDATE deployment SET value = 'theirs 2'`
        expect(yield* mistake(first, [second, third])).toContain("has links of another deployment")
        yield* third!`UPDATE deployment SET value = 'ours 2'`
        yield* first!`DELETE FROM bucket_placement`
        for (const [variables, args, message] of [
          [{ DATABASE_URL: one! }, ["--even"], "There is one database of links."],
          [settings, [], "Give one of --to, --even and --abort."],
          [settings, ["--even", "--count", "3"], "--count can be given with --to alone."],
          [settings, ["--to", "3"], "--to must be a database from 0 to 2"],
          [
            { ...settings, LINK_DATABASE_URLS: others.toReversed().join(",") },
            ["--to", "1"],
            "of this deployment: their order counts."
          ],
          [settings, ["--to", "1", "--buckets", "300"], "--buckets must be a list such as"]
        ] as const) {
          const { code, output } = yield* moveBucketsHere(variables, ...args)
          expect(output).toContain(message)
          expect(code).toBe(1)
        }
        const { output } = yield* moveBucketsHere(settings, "--abort")
        expect(output).toBe("There is no move that is not finished.\n")
        const told = yield* moveBucketsHere(settings, "--abort", "--json")
        expect(JSON.parse(told.output)).toEqual({ undone: null })
      }),
    120_000
  )
})
