import { NodeContext } from "@effect/platform-node"
import { SqlClient } from "@effect/sql"
import { expect, it, layer } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Fiber, Layer, Logger, LogLevel, Schedule } from "effect"
import * as Node from "../../src/node/Node.ts"
import { messageOf, settings as readSettings } from "../../src/node/Settings.ts"
import { bucketOf } from "../../src/keys/Buckets.ts"
import { fromStrings } from "../../src/keys/PackedKeys.ts"
import * as KeyStockSql from "../../src/storage/keys/KeyStockSql.ts"
import * as BucketPlacementSql from "../../src/storage/links/buckets/BucketPlacementSql.ts"
import * as LinkEpoch from "../../src/storage/links/buckets/LinkEpoch.ts"
import * as Migrations from "../../src/storage/sql/Migrations.ts"
import { freePort } from "../support/FreePort.ts"
import { agent, type Answer, jsonOf, keyOf, send } from "../support/http/HttpClient.ts"
import { describePostgres } from "../support/services/postgres/Postgres.ts"
import { sharedLogicalServer } from "../support/services/postgres/PostgresLogical.ts"
import { hasPrograms, killablePostgres, type Member } from "../support/services/postgres/PostgresPair.ts"
import { migratedDatabase, postgresAt } from "../support/Stores.ts"
import { dataFolder, launch, run, start } from "./Program.ts"

const isElsewhere = (key: string) => bucketOf(key) >= 128

/** A control database, half of whose buckets are in database 1. Nothing is in them yet. */
const halved = Effect.gen(function* () {
  const url = yield* migratedDatabase
  const sql = Context.get(yield* Layer.build(postgresAt(url)), SqlClient.SqlClient)
  yield* Effect.gen(function* () {
    const move = { from: 0, to: 1, buckets: Array.from({ length: 128 }, (_, index) => index + 128) }
    const { begin, end } = yield* BucketPlacementSql.make
    yield* begin(move)
    yield* (yield* LinkEpoch.make).raise(1)
    yield* end(move)
  }).pipe(Effect.provideService(SqlClient.SqlClient, sql))
  return { url, sql }
})

/** Has a database be number 1 of a deployment, as if nodes had worked with it. */
const besides = ({ sql }: Effect.Effect.Success<typeof halved>, url: string) =>
  Effect.gen(function* () {
    yield* Migrations.migrate
    const further = yield* SqlClient.SqlClient
    yield* further`INSERT INTO deployment (name, value) VALUES ('link-database', 'ours 1')`
    yield* sql`INSERT INTO deployment (name, value) VALUES ('link-databases-of', 'ours')`
  }).pipe(Effect.provide(postgresAt(url)))

interface Visits {
  readonly total: number
  readonly unavailable?: boolean
}

interface Page {
  readonly data: ReadonlyArray<{ readonly key: string }>
  readonly nextCursor: string | null
  readonly partial?: boolean
  readonly total: { readonly count: number; readonly isExact: boolean }
}

const admin = "lm_an-administrators-key-that-nobody-guesses"

/** A server that is killed and started again. */
class Killable extends Context.Tag("test/e2e/Killable")<Killable, Member>() {
  static readonly layer = Layer.scoped(Killable, killablePostgres)
}

if (hasPrograms) {
  describePostgres("a node with links in two databases", () => {
    layer(Killable.layer, { excludeTestServices: true, timeout: 60_000 })((it) => {
      it.scoped(
        "keeps each link where its bucket is, and goes on while one of them is away",
        () =>
          Effect.gen(function* () {
            const primary = yield* Killable
            yield* primary.run("CREATE DATABASE visits")
            const control = yield* halved
            yield* besides(control, primary.url)
            const port = yield* freePort
            const connections = yield* agent(8)
            yield* start({
              DATABASE_URL: control.url,
              LINK_DATABASE_URLS: primary.url,
              VISIT_DATABASE_URLS: `${yield* migratedDatabase},${primary.url.replace(/postgres$/, "visits")}`,
              DATA_DIR: yield* dataFolder,
              PORT: String(port),
              HOST: "127.0.0.1",
              ADMIN_API_KEY: admin,
              ANONYMOUS_CREATES_PER_MINUTE: "none",
              ANONYMOUS_CREATES: "true"
            })
            const authorized = { "content-type": "application/json", authorization: `Bearer ${admin}` }
            const post = (fields: object, headers: object = {}) =>
              send(connections, port, {
                method: "POST",
                path: "/api/v1/links",
                headers: { ...authorized, ...headers },
                body: JSON.stringify({ url: "https://example.com/there", ...fields })
              })
            const create = (fields: object = {}, headers: object = {}) =>
              Effect.map(post(fields, headers), (response) => {
                expect(response.status, response.text).toBe(201)
                return keyOf(response)
              })
            const visit = (key: string) =>
              Effect.map(send(connections, port, { path: `/${key}` }), ({ status }) => status)
            const list = Effect.map(
              send(connections, port, { path: "/api/v1/links?limit=500&total=true", headers: authorized }),
              (response) => {
                expect(response.status, response.text).toBe(200)
                return jsonOf(response) as Page
              }
            )
            const inFirst = Effect.map(
              control.sql<{ key: string }>`SELECT key FROM links`,
              (rows) => new Set(rows.map(({ key }) => key))
            )
            const inSecond = Effect.map(
              primary.run("SELECT key FROM links"),
              (rows) => new Set(rows.map((row) => String(Object.values(row as object)[0])))
            )

            const keys = yield* Effect.forEach(Array(40).keys(), () => create())
            const once = { "idempotency-key": "the same request" }
            const guarded = yield* create({}, once)
            expect(yield* create({}, once)).toBe(guarded)
            // Aliases lie where they lie, whatever their guard does.
            const aliases = yield* Effect.forEach(["alias-a", "alias-b", "alias-c", "alias-d"], (alias) =>
              Effect.gen(function* () {
                const headers = { "idempotency-key": `once for ${alias}` }
                expect(yield* create({ alias }, headers)).toBe(alias)
                expect(yield* create({ alias }, headers)).toBe(alias)
                expect((yield* post({ alias: "another" }, headers)).status).toBe(422)
                return alias
              })
            )
            const reused = yield* create({ url: "https://example.com/reused", reuse: true })
            const again = yield* post({ url: "https://example.com/reused", reuse: true })
            expect([again.status, keyOf(again)]).toEqual([200, reused])

            const all = [...keys, guarded, ...aliases, reused]
            expect(yield* inFirst).toEqual(new Set(all.filter((key) => !isElsewhere(key))))
            expect(yield* inSecond).toEqual(new Set(all.filter(isElsewhere)))
            expect(keys.some(isElsewhere)).toBe(true)
            expect(yield* Effect.forEach(all, visit)).toEqual(all.map(() => 302))
            const visitsOf = (key: string) =>
              Effect.map(
                send(connections, port, { path: `/api/v1/links/${key}`, headers: authorized }),
                (response) => {
                  expect(response.status, response.text).toBe(200)
                  return (jsonOf(response) as { readonly visits: Visits }).visits
                }
              )
            const untilVisits = (key: string, until: (visits: Visits) => boolean) =>
              Effect.zipRight(
                Effect.repeat(visitsOf(key), { until, schedule: Schedule.spaced("50 millis") }),
                visitsOf(key)
              )
            yield* Effect.forEach(all, (key) => untilVisits(key, ({ total }) => total === 1))
            const whole = yield* list
            expect(whole.partial).toBeUndefined()
            expect(whole.total).toEqual({ count: all.length, isExact: true })
            expect(whole.data.map(({ key }) => key).toSorted()).toEqual(all.toSorted())

            yield* primary.kill
            const here = all.filter((key) => !isElsewhere(key))
            const made = yield* Effect.forEach(Array(60).keys(), () => create())
            expect(made.filter(isElsewhere)).toEqual([])
            expect(yield* Effect.forEach([...here, ...made], visit)).toEqual(
              [...here, ...made].map(() => 302)
            )
            // Links whose visits are in the database that is away, and in the other one.
            const [countedThere, countedHere] = [1, 0].map((place) =>
              here.find((key) => bucketOf(key) % 2 === place)
            )
            yield* untilVisits(countedThere!, ({ unavailable }) => unavailable === true)
            expect((yield* untilVisits(countedHere!, ({ total }) => total === 2)).unavailable).toBeUndefined()
            const part = yield* list
            expect(part.partial).toBe(true)
            expect(part.total).toEqual({ count: here.length + made.length, isExact: false })
            expect(part.data.map(({ key }) => key).toSorted()).toEqual([...here, ...made].toSorted())

            yield* primary.restart
            yield* Effect.repeat(list, {
              until: ({ partial }) => partial !== true,
              schedule: Schedule.spaced("50 millis")
            })
            const restored = yield* list
            expect(restored.partial).toBeUndefined()
            expect(restored.data.map(({ key }) => key).toSorted()).toEqual([...all, ...made].toSorted())
            expect(
              (yield* untilVisits(countedThere!, ({ total }) => total === 2)).unavailable
            ).toBeUndefined()
            expect(yield* control.sql`SELECT subject FROM visit_periods`).toEqual([])
            yield* Effect.repeat(create(), {
              until: isElsewhere,
              schedule: Schedule.spaced("50 millis")
            })
          }),
        180_000
      )

      it.scoped(
        "starts and serves while one of them is away, uses it when it comes, and ends if it is another deployment's",
        () =>
          Effect.gen(function* () {
            const primary = yield* Killable
            const [control, other] = [yield* halved, yield* halved]
            yield* primary.run("CREATE DATABASE late")
            const lateUrl = primary.url.replace(/postgres$/, "late")
            yield* besides(control, lateUrl)
            // A process before left a record with keys of both databases.
            const stock = yield* Effect.provideService(KeyStockSql.make(), SqlClient.SqlClient, control.sql)
            const recorded = Array.from({ length: 40 }, (_, index) => `left${index + 100}`)
            expect(new Set(recorded.map(isElsewhere)).size).toBe(2)
            const claim = yield* stock.claim(0)
            yield* stock.record({ ...claim, sequence: 0 }, fromStrings(recorded))
            yield* primary.kill
            const connections = yield* agent(8)
            const begin = ({ url }: { readonly url: string }) =>
              Effect.gen(function* () {
                const port = yield* freePort
                const program = yield* start({
                  DATABASE_URL: url,
                  LINK_DATABASE_URLS: lateUrl,
                  DATA_DIR: yield* dataFolder,
                  PORT: String(port),
                  HOST: "127.0.0.1",
                  ANONYMOUS_CREATES_PER_MINUTE: "none",
                  ANONYMOUS_CREATES: "true"
                })
                return { program, port }
              })
            const { port, program } = yield* begin(control)
            const post = (fields: object = {}, headers: object = {}) =>
              send(connections, port, {
                method: "POST",
                path: "/api/v1/links",
                headers: { "content-type": "application/json", ...headers },
                body: JSON.stringify({ url: "https://example.com/there", ...fields })
              })
            const visit = (key: string) =>
              Effect.map(send(connections, port, { path: `/${key}` }), ({ status }) => status)
            const statuses: Array<number> = []
            const keys: Array<string> = []
            for (let made = 0; made < 60; made++) {
              const created = yield* post()
              statuses.push(created.status)
              if (created.status === 201) keys.push(keyOf(created))
            }
            expect(new Set(statuses)).toEqual(new Set([201]))
            expect(keys.filter(isElsewhere)).toEqual([])
            expect(new Set(yield* Effect.forEach(keys, visit))).toEqual(new Set([302]))
            const alias = (wanted: boolean) =>
              Array.from({ length: 100 }, (_, index) => `alias-${index}`).find(
                (name) => isElsewhere(name) === wanted
              )!
            expect((yield* post({ alias: alias(false) })).status).toBe(201)
            expect((yield* post({ alias: alias(true) })).status).toBe(503)
            expect(yield* visit(alias(true))).toBe(503)

            yield* primary.restart
            const used: Array<string> = []
            yield* Effect.repeat(post(), {
              until: (created) => {
                expect(created.status, created.text).toBe(201)
                if (isElsewhere(keyOf(created))) used.push(keyOf(created))
                return used.length > 0
              },
              schedule: Schedule.spaced("50 millis")
            })
            expect(yield* Effect.forEach(used, visit)).toEqual([302])
            expect((yield* post({ alias: alias(true) })).status).toBe(201)
            expect(program.output()).toContain("Database 1 of links can be used")

            yield* primary.kill
            const late = yield* begin(other)
            yield* primary.restart
            expect((yield* late.program.ended).code).toBe(1)
            expect(late.program.output()).toContain(
              "database 1 of LINK_DATABASE_URLS has links of another deployment."
            )
          }),
        180_000
      )
    })

    it.scopedLive(
      "does not start with databases that are missing, are in another order, or are another deployment's",
      () =>
        Effect.gen(function* () {
          const control = yield* halved
          const second = yield* migratedDatabase
          const variablesOf = (url: string, links: string | undefined, visits: string | undefined) =>
            Effect.gen(function* () {
              return {
                DATABASE_URL: url,
                ...(links !== undefined && { LINK_DATABASE_URLS: links }),
                ...(visits !== undefined && { VISIT_DATABASE_URLS: visits }),
                DATA_DIR: yield* dataFolder,
                PORT: String(yield* freePort),
                HOST: "127.0.0.1"
              }
            })
          /** The program ends with the reason. */
          const refusedByProcess = (url: string, links: string | undefined, message: string) =>
            Effect.scoped(
              Effect.gen(function* () {
                const program = yield* launch(yield* variablesOf(url, links, undefined))
                expect((yield* program.ended).code).toBe(1)
                expect(program.output()).toContain(message)
              })
            )
          /** A node in this process is not built, by which the program ends: its start takes longer than the looks at the databases. */
          const refused = (url: string, links: string | undefined, message: string, visits?: string) =>
            Effect.scoped(
              Effect.gen(function* () {
                const variables = yield* variablesOf(url, links, visits)
                const settings = yield* Effect.withConfigProvider(
                  readSettings,
                  ConfigProvider.fromMap(new Map(Object.entries(variables)))
                )
                const node = Node.layer(settings, { pid: process.pid, incarnation: "refused" })
                const error = yield* Effect.flip(Layer.build(Layer.provide(node, NodeContext.layer)))
                expect(messageOf(error)).toContain(message)
              })
            ).pipe(Logger.withMinimumLogLevel(LogLevel.None))
          yield* refusedByProcess(
            control.url,
            undefined,
            "database 1 has links of this deployment, and LINK_DATABASE_URLS names 0."
          )
          const own = control.url
          yield* refused(own, own, "is that of DATABASE_URL")
          // An empty one has no row of the links that are there by the placement: they would be answered 404, and their aliases be free.
          yield* refused(own, second, "database 1 of LINK_DATABASE_URLS has nothing of this deployment")
          const sql = Context.get(yield* Layer.build(postgresAt(second)), SqlClient.SqlClient)
          yield* sql`INSERT INTO deployment (name, value) VALUES ('link-database', 'someone 1')`
          yield* refused(own, second, "database 1 of LINK_DATABASE_URLS has links of another deployment.")
          yield* refused(second, own, "DATABASE_URL names database 1 of links of a deployment")

          const [whole, ...apart] = [
            yield* migratedDatabase,
            yield* migratedDatabase,
            yield* migratedDatabase
          ]
          const decided = (url: string, name: string, value: string) =>
            Effect.gen(function* () {
              const sql = Context.get(yield* Layer.build(postgresAt(url)), SqlClient.SqlClient)
              yield* sql`INSERT INTO deployment (name, value) VALUES (${name}, ${value})`
            })
          yield* decided(whole!, "visit-databases", "2")
          yield* decided(whole!, "visit-databases-of", "someone")
          yield* decided(apart[0]!, "visit-database", "someone 1")
          yield* refused(
            whole!,
            undefined,
            "the visits of this deployment are in 2 databases of their own, and VISIT_DATABASE_URLS names 0."
          )
          yield* refused(
            whole!,
            undefined,
            "database 2 of VISIT_DATABASE_URLS has nothing of this deployment",
            apart.join(",")
          )
          yield* decided(apart[1]!, "visit-database", "someone 2")
          // Both are looked at side by side.
          yield* refused(
            whole!,
            undefined,
            "of this deployment: their order counts.",
            apart.toReversed().join(",")
          )
        }),
      180_000
    )

    it.scopedLive(
      "ends when links are moved to a database that it does not know",
      () =>
        Effect.gen(function* () {
          const url = yield* migratedDatabase
          const port = yield* freePort
          const program = yield* start({
            DATABASE_URL: url,
            DATA_DIR: yield* dataFolder,
            PORT: String(port),
            HOST: "127.0.0.1"
          })
          const sql = Context.get(yield* Layer.build(postgresAt(url)), SqlClient.SqlClient)
          const { begin } = yield* Effect.provideService(BucketPlacementSql.make, SqlClient.SqlClient, sql)
          yield* begin({ from: 0, to: 1, buckets: [7] })
          expect((yield* program.ended).code).toBe(1)
          expect(program.output()).toContain(
            "database 1 has links of this deployment, and LINK_DATABASE_URLS names 0."
          )
        }),
      120_000
    )

    const server = sharedLogicalServer()
    it.scopedLive(
      "goes on creating, changing and redirecting while its buckets are moved, and finds all afterwards",
      () =>
        Effect.gen(function* () {
          const { database } = yield* server
          const [first, second] = [yield* database, yield* database]
          const port = yield* freePort
          const connections = yield* agent(8)
          const settings = { DATABASE_URL: first, LINK_DATABASE_URLS: second }
          yield* start({
            ...settings,
            DATA_DIR: yield* dataFolder,
            PORT: String(port),
            HOST: "127.0.0.1",
            ADMIN_API_KEY: admin
          })
          const headers = { "content-type": "application/json", authorization: `Bearer ${admin}` }
          const json = (method: string, path: string, body: object, more: object = {}) =>
            send(connections, port, {
              method,
              path,
              headers: { ...headers, ...more },
              body: JSON.stringify(body)
            })
          const keys: Array<string> = []
          const failures: Array<string> = []
          const seen = (status: number, wanted: number, what: string) => {
            if (status !== wanted) failures.push(`${what}: ${status}`)
          }
          const urlOf = (number: number) => `https://example.com/${number}`
          /** URLs of creates without a guard that were answered 503: each may have made a link all the same. */
          const uncertain = new Set<string>()
          let [asked, askedAgain] = [0, 0]
          /** A request that is answered 503, as on a machine that does other things as well, is repeated once. */
          const twice = <E>(request: Effect.Effect<Answer, E>, onUnavailable = () => {}) =>
            Effect.flatMap(request, (answer) => {
              asked++
              if (answer.status !== 503) return Effect.succeed(answer)
              askedAgain++
              onUnavailable()
              return request
            })
          const step = (number: number) =>
            Effect.gen(function* () {
              const guard = number % 3 === 0 ? { "idempotency-key": `create ${number}` } : {}
              const made = yield* twice(json("POST", "/api/v1/links", { url: urlOf(number) }, guard), () => {
                if (number % 3 !== 0) uncertain.add(urlOf(number))
              })
              seen(made.status, 201, `create ${number} ${made.text}`)
              if (made.status !== 201) return
              keys.push(keyOf(made))
              const old = keys[Math.floor(keys.length / 2)]!
              const changed = yield* twice(json("PATCH", `/api/v1/links/${old}`, { title: String(number) }))
              seen(changed.status, 200, `change ${old} ${changed.text}`)
              for (const key of [keyOf(made), old]) {
                const { status } = yield* twice(send(connections, port, { path: `/${key}` }))
                seen(status, 302, `visit ${key}`)
              }
            })
          yield* Effect.forEach(Array(50).keys(), step)
          let number = 50
          let isMoved = false
          const load = yield* Effect.fork(
            Effect.suspend(() => step(number++)).pipe(
              Effect.zipRight(Effect.sleep("10 millis")),
              Effect.repeat({ until: () => isMoved })
            )
          )
          const mover = yield* run(process.execPath, ["dist/admin.js", "move-buckets", "--even"], settings)
          expect((yield* mover.ended).code, mover.output()).toBe(0)
          expect(mover.output()).toContain("Moved 128 buckets")
          // To its end, so that the key of each link that was made is known.
          isMoved = true
          yield* Fiber.join(load)
          expect(failures).toEqual([])
          expect(number).toBeGreaterThan(60)
          yield* Effect.forEach(Array(20).keys(), (index) => step(100_000 + index))
          expect(failures).toEqual([])
          expect(askedAgain, `of ${asked}`).toBeLessThanOrEqual(asked * 0.02)

          const sqlOf = (url: string) =>
            Effect.map(Layer.build(postgresAt(url)), (context) => Context.get(context, SqlClient.SqlClient))
          const rows = yield* Effect.forEach([first, second], (url) =>
            Effect.flatMap(sqlOf(url), (sql) => sql<{ key: string; url: string }>`SELECT key, url FROM links`)
          )
          expect(rows.map((some) => some.length).every((count) => count > 10)).toBe(true)
          expect(
            rows
              .flat()
              .filter(({ key, url }) => keys.includes(key) || !uncertain.has(url))
              .map(({ key }) => key)
              .toSorted()
          ).toEqual(keys.toSorted())
          const statuses = yield* Effect.forEach(keys, (key) =>
            Effect.map(send(connections, port, { path: `/${key}` }), ({ status }) => status)
          )
          expect(new Set(statuses)).toEqual(new Set([302]))
        }),
      240_000
    )
  })
}
