import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, type Scope } from "effect"
import { agent } from "../../support/http/HttpClient.ts"
import { freePort } from "../../support/FreePort.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { describeRedis, serverUrl } from "../../support/services/redis/Redis.ts"
import { migratedDatabase } from "../../support/Stores.ts"
import { type Account, accountOfFolder, accountOfUrl, accountWithPools } from "../Database.ts"
import { nothingTold, run, strays, summaryOf, urlOf } from "../Load.ts"
import { refillMax, settingsOfPool } from "../Pools.ts"
import { migratedFolder, start, type Variables } from "../Program.ts"

const clients = 64

/** Links that are followed afterwards. */
const followed = 1_000

/** The same with other keys, and with a pool and a buffer that are refilled all the time. The pool holds far more than a kill may lose. */
const fewCreates = 1_000
const brimful = { low: 3_900, high: 4_000, bufferCapacity: 32 }

/** A database for the program: how it is told of it, and what is in it afterwards. */
interface Database {
  readonly variables: Variables
  readonly account: Effect.Effect<Account>
  /**
   * Keys that a kill may lose beside those of creates under way, when `taken` keys were taken before: a refill, where it can come amid one, and the buffer, where the pool
   * is not in the program's memory.
   */
  readonly besides?: (taken: number) => number
}

const crashes = (title: string, database: Effect.Effect<Database, never, Scope.Scope>, creates = 4_000) => {
  it.scopedLive(
    `${title}: no acknowledged create is lost or mixed up by kill -9 amid ${creates} creates from 64 clients`,
    () =>
      Effect.gen(function* () {
        const { account, besides = () => 0, variables } = yield* database
        const port = yield* freePort
        const name = title.replaceAll(/\W+/g, "-")
        const settings = { ...variables, PORT: String(port), HOST: "127.0.0.1", ANONYMOUS_CREATES: "true" }
        const connections = yield* agent(clients)
        const told = nothingTold()
        const restarted = yield* Deferred.make<void>()

        const first = yield* start(settings)
        const load = yield* Effect.fork(
          run({
            agent: connections,
            port,
            clients,
            creates,
            name,
            told,
            afterEach: () => {
              if (told.acknowledged.size >= creates / 2) first.signal("SIGKILL")
            },
            afterLoss: Deferred.await(restarted)
          })
        )
        expect(yield* first.ended).toEqual({ code: null, signal: "SIGKILL" })
        const acknowledgedBefore = told.acknowledged.size
        expect(acknowledgedBefore).toBeLessThan(creates)
        const second = yield* start(settings)
        yield* Deferred.succeed(restarted, undefined)
        yield* Fiber.join(load)

        const afterwards = nothingTold()
        yield* run({
          agent: connections,
          port,
          clients: 1,
          creates: 10,
          name: "afterwards",
          told: afterwards
        })
        expect(afterwards.acknowledged.size).toBe(10)
        expect(yield* strays(connections, port, afterwards)).toEqual([])

        const summary = `${acknowledgedBefore} acknowledged before the kill; in all ${summaryOf(told)}`
        expect(told.repeated, summary).toEqual([])
        expect(told.refused, summary).toEqual([])
        // Only the creates that were under way had no answer.
        expect(told.unanswered.length, summary).toBeLessThanOrEqual(clients)
        expect(told.acknowledged.size, summary).toBeGreaterThan(creates / 2)
        // Some of them, since all are compared with the database below.
        const some = [...told.acknowledged].filter((_, index) => index % Math.ceil(creates / followed) === 0)
        const followedOf = { ...told, acknowledged: new Map(some) }
        expect(yield* strays(connections, port, followedOf), summary).toEqual([])

        second.signal("SIGTERM")
        expect(yield* second.ended).toEqual({ code: 0, signal: null })
        const { bound, lost } = yield* account
        const missing = [...told.acknowledged].filter(([key, url]) => bound.get(key) !== url)
        expect(missing, summary).toEqual([])
        // Whatever else is stored was asked for, and its answer did not come through.
        const asked = new Set(Array.from({ length: creates }, (_, index) => urlOf(name, index)))
        const unasked = [...bound].filter(
          ([key, url]) => !afterwards.acknowledged.has(key) && !asked.has(url)
        )
        expect(unasked, summary).toEqual([])
        // A key is lost when it had left the buffer and was not bound: one a client at most, and one a 503. Or it was not recorded yet.
        const underWay = clients + told.unavailable.length
        const lostMax = underWay + besides(acknowledgedBefore + underWay)
        expect(lost, summary).toBeGreaterThanOrEqual(0)
        expect(lost, summary).toBeLessThanOrEqual(lostMax)
      }),
    240_000
  )
}

describe("a crash", () => {
  crashes(
    "SQLite",
    Effect.map(migratedFolder, (DATA_DIR) => ({
      variables: { DATA_DIR },
      account: accountOfFolder(DATA_DIR)
    }))
  )
  crashes(
    "SQLite, random keys",
    Effect.map(migratedFolder, (DATA_DIR) => ({
      variables: { ...settingsOfPool(brimful), DATA_DIR, KEY_ORDER: "random" },
      account: accountOfFolder(DATA_DIR),
      besides: (taken) => refillMax(brimful, taken)
    })),
    fewCreates
  )
})

describePostgres("a crash", () => {
  crashes(
    "PostgreSQL",
    Effect.map(migratedDatabase, (DATABASE_URL) => ({
      variables: { DATABASE_URL },
      account: accountOfUrl(DATABASE_URL)
    }))
  )
  describeRedis("with Redis", () => {
    const inSet = Effect.gen(function* () {
      const [DATABASE_URL, REDIS_URLS] = [yield* migratedDatabase, yield* serverUrl]
      const keys = { KEY_ORDER: "sequential", KEY_POOL: "set" }
      const variables = {
        ...settingsOfPool(brimful),
        ...keys,
        DATABASE_URL,
        REDIS_URLS,
        RUNNER_PORT: String(yield* freePort)
      }
      return {
        variables,
        account: accountWithPools(DATABASE_URL, REDIS_URLS),
        besides: (taken: number) => refillMax(brimful, taken) + brimful.bufferCapacity
      }
    })
    crashes("a set of sequential keys", inSet, fewCreates)
  })
})
