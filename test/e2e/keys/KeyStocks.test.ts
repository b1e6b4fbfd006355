import { expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Schedule } from "effect"
import { agent } from "../../support/http/HttpClient.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { describeRedis } from "../../support/services/redis/Redis.ts"
import { type ClusterNode, freshStores, startNode } from "../ClusterNodes.ts"
import { accountWithPools, stockLevels } from "../Database.ts"
import { createLink, nothingTold, strays, summaryOf, type Told, urlOf } from "../Load.ts"

const clientsPerNode = 6
/** What a client waits between two creates: enough is created, and the processor is left to the nodes that start. */
const pause = Duration.millis(100)

/** Small ones, so that pools and buffers are refilled all the time, and the bound on lost keys is sharp. */
const pool = { shards: 2, low: 50, high: 200 }
const bufferCapacity = 64
/** Keys that are minted ahead, or moved, at a time (`KeyStocking`). */
const stockedAtOnce = 1_000

/** Creates with a stock before the next one takes its place. */
const createsMin = 100

const stocks = {
  table: { KEY_STOCK: "table", KEY_STOCK_TARGET: "1000" },
  // More than two kills may lose.
  status: { KEY_STOCK: "status", KEY_STOCK_TARGET: "4000", KEY_POOL: "set" },
  "two-table": { KEY_STOCK: "two-table", KEY_STOCK_TARGET: "5000" },
  // All defaults.
  none: { KEY_STOCK: undefined, KEY_STOCK_TARGET: undefined }
}
type Stock = keyof typeof stocks

/** Asks until the answer is as it should be, for up to 100 s: a node without a stock looks for leftover keys once a minute. */
const eventually = <A>(ask: Effect.Effect<A>, isRight: (answer: A) => boolean) => {
  let last: A | undefined
  return ask.pipe(
    Effect.tap((answer) => Effect.sync(() => (last = answer))),
    Effect.repeat({ until: isRight, schedule: Schedule.spaced("200 millis") }),
    Effect.timeoutFail({
      duration: "100 seconds",
      onTimeout: () => new Error(`It stays at ${JSON.stringify(last)}`)
    }),
    Effect.orDie
  )
}

/** Has clients of each node create links while something happens, and waits for the creates that are under way at its end. */
const whileCreating = Effect.fn("whileCreating")(function* <A>(
  nodes: ReadonlyArray<ClusterNode>,
  told: Told,
  name: string,
  happening: Effect.Effect<A>
) {
  const connections = yield* agent(nodes.length * clientsPerNode)
  let [isOver, serial] = [false, 0]
  const clientOf = ({ port }: ClusterNode) =>
    Effect.repeat(
      Effect.delay(
        Effect.suspend(() => createLink(connections, port, urlOf(name, serial++), told)),
        pause
      ),
      { until: () => isOver }
    )
  const clients = yield* Effect.forkAll(
    nodes.flatMap((node) => Array.from({ length: clientsPerNode }, () => clientOf(node)))
  )
  const happened = yield* happening
  isOver = true
  yield* Fiber.join(clients)
  return happened
}, Effect.scoped)

/** Creates whose connection was cut; one that found nobody to ask was not begun. */
const cutOff = ({ unanswered }: Told) => unanswered.filter(({ code }) => code !== "ECONNREFUSED").length

/** Keys of leases that came too late for whoever asked, at most: the nodes tell of each. */
const leasedTooLate = (nodes: ReadonlyArray<ClusterNode>) =>
  nodes
    .flatMap((node) => [...node.output().matchAll(/did not answer a lease of (\d+) keys in time/g)])
    .reduce((sum, [, wanted]) => sum + Number(wanted), 0)

/** Two nodes with their keys stocked in a table, and what can be asked of them. */
const twoNodes = Effect.gen(function* () {
  const { DATABASE_URL, REDIS_URLS } = yield* freshStores
  const redisUrls = Array(pool.shards).fill(REDIS_URLS).join(",")
  const one = startNode({
    DATABASE_URL,
    REDIS_URLS: redisUrls,
    ANONYMOUS_CREATES: "true",
    POOL_LOW: String(pool.low),
    POOL_HIGH: String(pool.high),
    BUFFER_CAPACITY: String(bufferCapacity),
    ...stocks.table
  })
  const nodes = [yield* one, yield* one]
  const told = nothingTold()
  return {
    nodes,
    told,
    account: accountWithPools(DATABASE_URL, redisUrls),
    /**
     * Starts the nodes again with another stock, one after the other, and waits until it has taken over. Gives how many creates were answered 503 before that wait, which
     * can be long.
     */
    switchTo: Effect.fn("switchTo")(function* (stock: Stock, signal: "SIGTERM" | "SIGKILL") {
      const changed = { KEY_POOL: undefined, ...stocks[stock] }
      for (const node of nodes) {
        const ending = yield* node.end(signal)
        expect(ending).toEqual(
          signal === "SIGTERM" ? { code: 0, signal: null } : { code: null, signal: "SIGKILL" }
        )
        yield* node.restart(changed)
      }
      const unavailable = told.unavailable.length
      const creates = told.acknowledged.size + createsMin
      yield* eventually(
        Effect.map(stockLevels(DATABASE_URL), (levels) => ({ ...levels, told: told.acknowledged.size })),
        (seen) =>
          seen.told >= creates &&
          // Its own keys are there. Those of others are not, except that `table` has the keys that all take first.
          (stock === "none" || seen[stock] > 0) &&
          (stock === "status" || seen.status === 0) &&
          (stock === "two-table" || seen["two-table"] === 0)
      )
      return unavailable
    })
  }
})

describeRedis("with Redis,", () =>
  describePostgres("two nodes", () => {
    it.scopedLive(
      "change how keys are stocked, node by node under load, and neither give a key twice nor lose one beyond the bound",
      () =>
        Effect.gen(function* () {
          const { account, nodes, switchTo, told } = yield* twoNodes
          const clients = nodes.length * clientsPerNode

          const underLoad = Effect.fn("underLoad")(function* (stock: Stock, signal: "SIGTERM" | "SIGKILL") {
            const before = { unavailable: told.unavailable.length, cutOff: cutOff(told) }
            const unavailable = yield* whileCreating(nodes, told, stock, switchTo(stock, signal))
            // Each client had one create under way when its node ended, which may have come to a connection that was closed just then.
            expect(cutOff(told) - before.cutOff, summaryOf(told)).toBeLessThanOrEqual(clients)
            if (signal === "SIGTERM") {
              expect(unavailable, summaryOf(told)).toBe(before.unavailable)
              // A busy machine may hold each client up once while all wait for the stock.
              expect(told.unavailable.length - unavailable, summaryOf(told)).toBeLessThanOrEqual(clients)
            }
          })

          yield* underLoad("status", "SIGTERM")
          // Nothing is lost: the keys that stand nowhere are in the buffers of the nodes.
          const held = nodes.length * bufferCapacity
          yield* eventually(
            Effect.map(account, ({ lost }) => lost),
            (lost) => lost >= 0 && lost <= held + cutOff(told) + leasedTooLate(nodes)
          )
          yield* underLoad("two-table", "SIGKILL")
          yield* underLoad("none", "SIGTERM")

          const summary = summaryOf(told)
          expect(told.refused, summary).toEqual([])
          expect(told.repeated, summary).toEqual([])
          const connections = yield* agent()
          for (const { port } of nodes) expect(yield* strays(connections, port, told), summary).toEqual([])
          for (const node of nodes) {
            expect(yield* node.end("SIGTERM")).toEqual({ code: 0, signal: null })
            // The primary key would have refused a key that came twice.
            expect(node.output()).not.toMatch(/bound already|A request broke|An actor is broken/)
          }
          const { bound, lost, minted, twice } = yield* account
          expect(twice, summary).toEqual([])
          expect([...told.acknowledged].filter(([key, url]) => bound.get(key) !== url)).toEqual([])
          // Each kill may lose a buffer, a refill of each pool, and keys that were minted ahead just then; a create its key.
          const ofKills = nodes.length * (bufferCapacity + pool.shards * pool.high + stockedAtOnce)
          const ofCreates = cutOff(told) + told.unavailable.length + leasedTooLate(nodes)
          expect(lost, `${summary}, ${minted} minted`).toBeGreaterThanOrEqual(0)
          expect(lost, `${summary}, ${minted} minted`).toBeLessThanOrEqual(ofKills + ofCreates)
        }),
      300_000
    )
  })
)
