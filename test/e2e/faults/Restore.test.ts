// What docs/operations.md says to do after a restore, and with another `KEY_SECRET`, done by its own words.

import { SqlClient } from "@effect/sql"
import { describe, expect, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer } from "effect"
import Database from "libsql"
import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { agent, jsonOf, send } from "../../support/http/HttpClient.ts"
import { freePort } from "../../support/FreePort.ts"
import { describePostgres, freshDatabase } from "../../support/services/postgres/Postgres.ts"
import { migratedDatabase, postgresAt } from "../../support/Stores.ts"
import { dataFolder, run, start, type Variables } from "../Program.ts"

const adminKey = "lm_the-administrator-of-restores"

const document = readFileSync(new URL("../../../docs/operations.md", import.meta.url), "utf8")

/** The SQL below a heading. */
const sqlUnder = (heading: string): string => {
  const [, section = ""] = document.split(new RegExp(`^#+ ${heading}$`, "m"))
  return /^```sql\n(.*?)^```$/ms.exec(section)![1]!
}

const database = (folder: string) => new Database(join(folder, "linkmint.db"))

const execute = (folder: string, sql: string) => {
  const opened = database(folder)
  opened.exec(sql)
  opened.close()
}

/** The program on a folder, until the scope closes, and what is asked of it. */
const serving = Effect.fn("serving")(function* (folder: string, variables: Variables = {}) {
  const port = yield* freePort
  const program = yield* start({
    PORT: String(port),
    HOST: "127.0.0.1",
    DATA_DIR: folder,
    ADMIN_API_KEY: adminKey,
    POOL_LOW: "20",
    POOL_HIGH: "200",
    BUFFER_CAPACITY: "16",
    ...variables
  })
  const connections = yield* agent()
  const create = (count: number) =>
    Effect.map(
      send(connections, port, {
        method: "POST",
        path: "/api/v1/links/bulk",
        headers: { "x-api-key": adminKey, "content-type": "application/json" },
        body: JSON.stringify({
          links: Array.from({ length: count }, () => ({ url: "https://example.com/" }))
        })
      }),
      (answer) =>
        (
          jsonOf(answer) as { readonly results: ReadonlyArray<{ readonly link: { readonly key: string } }> }
        ).results.map(({ link }) => link.key)
    )
  const statusOf = (key: string) =>
    Effect.map(send(connections, port, { path: `/${key}` }), ({ status }) => status)
  const remove = (key: string) =>
    send(connections, port, {
      method: "DELETE",
      path: `/api/v1/links/${key}`,
      headers: { "x-api-key": adminKey }
    })
  const stop = Effect.suspend(() => {
    program.signal("SIGTERM")
    return program.ended
  })
  return { create, output: program.output, remove, statusOf, stop }
})

/** What `npm run admin -- skip-keys` says of a folder. */
const skipKeys = (DATA_DIR: string) =>
  Effect.gen(function* () {
    const program = yield* run(process.execPath, ["dist/admin.js", "skip-keys"], { DATA_DIR })
    expect(yield* program.ended).toEqual({ code: 0, signal: null })
    return program.output()
  })

/** A copy of the database of a program that runs. */
const backUp = (folder: string) => {
  const opened = database(folder)
  opened.exec(`VACUUM INTO '${folder}.copy'`)
  opened.close()
}

/** Puts the copy of a folder's database into the same, or into another one. */
const restore = (folder: string, into = folder) => {
  mkdirSync(into, { recursive: true })
  for (const name of ["linkmint.db", "linkmint.db-wal", "linkmint.db-shm"])
    rmSync(join(into, name), { force: true })
  copyFileSync(`${folder}.copy`, join(into, "linkmint.db"))
}

describe("a backup that is restored", () => {
  it.scopedLive(
    "mints no key that was handed out since: beside its witness, or when its keys are skipped before the first start; it does otherwise",
    () =>
      Effect.gen(function* () {
        const [folder, careless, careful] = [yield* dataFolder, yield* dataFolder, yield* dataFolder]
        const first = yield* serving(folder)
        const kept = yield* first.create(5)
        backUp(folder)
        const published = new Set(yield* first.create(400))
        expect(published.size).toBe(400)
        yield* first.stop
        restore(folder)
        restore(folder, careless)
        restore(folder, careful)

        const again = yield* serving(careless)
        expect((yield* again.create(400)).filter((key) => published.has(key))).not.toEqual([])
        yield* again.stop

        expect(yield* skipKeys(careful)).toMatch(/^Each of 16 ranges has skipped 1000000 keys\./m)
        const witnessed = yield* serving(folder)
        for (const restored of [yield* serving(careful), witnessed]) {
          expect(yield* restored.statusOf(kept[0]!)).toBe(302)
          expect(yield* restored.statusOf([...published][0]!)).toBe(404)
          const fresh = yield* restored.create(1_000)
          expect(fresh.length).toBe(1_000)
          expect(fresh.filter((key) => published.has(key))).toEqual([])
          expect(restored.output().includes("The database has forgotten")).toBe(restored === witnessed)
        }
      }),
    120_000
  )
})

describe("a backup with a key whose quarantine has ended since", () => {
  it.scopedLive(
    "does not give the key to another once more when keys are skipped before the first start; it does otherwise",
    () =>
      Effect.gen(function* () {
        const [folder, careless, careful] = [yield* dataFolder, yield* dataFolder, yield* dataFolder]
        const first = yield* serving(folder)
        const [key] = yield* first.create(1)
        expect((yield* first.remove(key!)).status).toBe(204)
        yield* first.stop
        // As if the backup were of the moment before its quarantine was over.
        execute(folder, `UPDATE links SET ended_at = ended_at - ${Duration.toMillis("31 days")}`)
        backUp(folder)
        /** Creates links until one has the key. */
        const given = (program: Effect.Effect.Success<ReturnType<typeof serving>>) =>
          Effect.repeat(program.create(100), { until: (keys) => keys.includes(key!), times: 100 })

        const second = yield* serving(folder)
        expect(yield* given(second)).toContain(key)
        yield* second.stop
        restore(folder, careless)
        restore(folder, careful)

        const again = yield* serving(careless)
        expect(yield* given(again)).toContain(key)
        yield* again.stop

        yield* skipKeys(careful)
        const restored = yield* serving(careful)
        // Its tombstone goes, as any other.
        yield* Effect.repeat(restored.statusOf(key!), { until: (status) => status === 404 })
        expect(yield* restored.create(1_000)).not.toContain(key)
        expect(yield* restored.create(1_000)).not.toContain(key)
        expect(yield* restored.statusOf(key!)).toBe(404)
      }),
    120_000
  )
})

/** Runs the commands over databases of four settings; gives, by the name of the dump, which database is found in it. */
const dumped = (commands: string) =>
  Effect.gen(function* () {
    const folder = yield* dataFolder
    mkdirSync(folder, { recursive: true })
    const opened = (url: string) =>
      Effect.map(Layer.build(postgresAt(url)), (context) => Context.get(context, SqlClient.SqlClient))
    const names = ["linkmint", "links-1", "links-2", "visits-1"]
    const urls = yield* Effect.forEach(names, (name) =>
      Effect.gen(function* () {
        const url = yield* migratedDatabase
        const sql = yield* opened(url)
        yield* sql`INSERT INTO deployment (name, value) VALUES ('is', ${name})`
        return url
      })
    )
    const [DATABASE_URL, one, two, VISIT_DATABASE_URLS] = urls
    const variables = { DATABASE_URL, LINK_DATABASE_URLS: `${one},${two}`, VISIT_DATABASE_URLS }
    const dumping = yield* run("/bin/sh", ["-ec", `cd "${folder}"\n${commands}`], variables)
    expect((yield* dumping.ended).code, dumping.output()).toBe(0)
    return yield* Effect.forEach(names, (name) =>
      Effect.gen(function* () {
        const url = yield* freshDatabase
        const restoring = yield* run("pg_restore", [`--dbname=${url}`, `${folder}/${name}.dump`], {})
        expect((yield* restoring.ended).code, restoring.output()).toBe(0)
        const sql = yield* opened(url)
        const [row] = yield* sql<{ value: string }>`SELECT value FROM deployment WHERE name = 'is'`
        return [name, row!.value] as const
      })
    )
  })

describePostgres("a backup of several databases", () => {
  it.scopedLive(
    "has each of them by its setting and place",
    () =>
      Effect.gen(function* () {
        const [, chapter = ""] = document.split(/^## Backup and restore$/m)
        const blocks = [...chapter.matchAll(/(?:^ {4}.*\n)+/gm)].map(([block]) => block)
        const commands = blocks.find((block) => block.includes("LINK_DATABASE_URLS"))
        for (const [name, value] of yield* dumped(commands ?? "")) expect(value).toBe(name)
      }),
    60_000
  )
})

describe("a database whose KEY_SECRET is lost", () => {
  it.scopedLive(
    "is served with another one when its identity is taken from it",
    () =>
      Effect.gen(function* () {
        const folder = yield* dataFolder
        const first = yield* serving(folder, { KEY_SECRET: "0".repeat(32) })
        const [key] = yield* first.create(1)
        yield* first.stop
        execute(folder, sqlUnder("Secrets"))
        const second = yield* serving(folder, { KEY_SECRET: "1".repeat(32) })
        expect(yield* second.statusOf(key!)).toBe(302)
        expect((yield* second.create(500)).length).toBe(500)
      }),
    120_000
  )
})
