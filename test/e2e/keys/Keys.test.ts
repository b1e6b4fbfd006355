import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { agent, send } from "../../support/http/HttpClient.ts"
import { accountOfFolder } from "../Database.ts"
import { nothingTold, run, strays, summaryOf } from "../Load.ts"
import { refillMax, settingsOfPool } from "../Pools.ts"
import { migratedPlace, start } from "../Program.ts"

const clients = 64
const kills = 4

/** Small pools and buffers, so that many batches are minted, leased and settled between two kills. */
const pool = { low: 900, high: 1_000, bufferCapacity: 64 }

/** A pool that holds far more than a kill may lose, and is refilled as often. */
const brimful = { ...pool, low: 3_900, high: 4_000 }

describe("minted keys", () => {
  it.scopedLive(
    "that were pooled or buffered at a kill -9 come back at the next start",
    () =>
      Effect.gen(function* () {
        const { folder, port, settings: own } = yield* migratedPlace
        const settings = { ...own, ...settingsOfPool(brimful) }
        const connections = yield* agent(clients)
        const told = nothingTold()
        /** What the kills can lose. */
        let killedMax = 0

        for (let kill = 0; kill < kills; kill++) {
          const program = yield* start(settings)
          // Not at a round number: at every kill another share of the pool, the buffer and the records is in use.
          const target = told.acknowledged.size + 300 + kill * 137
          const load = yield* Effect.fork(
            run({
              agent: connections,
              port,
              clients,
              creates: Number.POSITIVE_INFINITY,
              name: `kill-${kill}`,
              told,
              afterEach: () => {
                if (told.acknowledged.size >= target) program.signal("SIGKILL")
              }
            })
          )
          yield* program.ended
          yield* Fiber.join(load)
          const taken = told.acknowledged.size + told.unanswered.length + told.unavailable.length
          killedMax += clients + refillMax(brimful, taken)
        }
        const atKill = yield* accountOfFolder(folder)

        const last = yield* start(settings)
        yield* run({ agent: connections, port, clients, creates: 1_500, name: "afterwards", told })
        // Some of them, since all are compared with the database below.
        const some = [...told.acknowledged].filter((_, index) => index % 8 === 0)
        expect(yield* strays(connections, port, { ...told, acknowledged: new Map(some) })).toEqual([])
        last.signal("SIGTERM")
        yield* last.ended
        const atStop = yield* accountOfFolder(folder)

        const summary = `${summaryOf(told)}; ${JSON.stringify({
          atKill: {
            minted: atKill.minted,
            bound: atKill.bound.size,
            kept: atKill.kept.size,
            lost: atKill.lost
          },
          atStop: {
            minted: atStop.minted,
            bound: atStop.bound.size,
            kept: atStop.kept.size,
            lost: atStop.lost
          }
        })}`
        expect(told.repeated, summary).toEqual([])
        expect(told.refused, summary).toEqual([])
        expect([...told.acknowledged].filter(([key, url]) => atStop.bound.get(key) !== url)).toEqual([])
        // What a kill can lose had left the buffer and was not bound yet: one key for each create under way; or it was not recorded yet: a refill. The many
        // keys in the pool and in the buffer all stand in batch records still. A create that was answered 503 may have taken a key with it, too.
        const lostMax = killedMax + told.unavailable.length
        expect(lostMax, summary).toBeLessThan((brimful.low * kills) / 2)
        expect(atKill.lost, summary).toBeGreaterThanOrEqual(0)
        expect(atKill.lost, summary).toBeLessThanOrEqual(lostMax)
        // The start after the last kill lost none, and neither did its orderly stop.
        expect(atStop.lost, summary).toBeLessThanOrEqual(lostMax)
        // No more was minted than the links have, the pool and the buffer hold, and was lost.
        const { bound, minted } = atStop
        expect(minted - bound.size, summary).toBeLessThanOrEqual(
          brimful.high + brimful.bufferCapacity + clients + lostMax
        )
      }),
    240_000
  )

  it.scopedLive(
    "are neither handed out twice nor lost beyond the bound when each start stocks them in another way, after a kill -9",
    () =>
      Effect.gen(function* () {
        const { folder, port, settings: own } = yield* migratedPlace
        const settings = { ...own, ADMIN_API_KEY: "lm_the-key-of-this-test" }
        const connections = yield* agent(clients)
        const told = nothingTold()
        const target = 3_000
        const kinds = ["status", "file", "two-table", "none"]

        for (const [index, kind] of kinds.entries()) {
          const stocked = { KEY_STOCK: kind, KEY_STOCK_TARGET: kind === "none" ? "0" : String(target) }
          const program = yield* start({ ...settings, ...settingsOfPool(pool), ...stocked })
          const some = { agent: connections, port, clients, told }
          yield* run({ ...some, creates: 1_500, name: `${index}-first` })
          const metrics = yield* send(connections, port, {
            path: "/metrics",
            headers: { "x-api-key": settings.ADMIN_API_KEY }
          })
          // Each key that came twice would have met the primary key.
          expect(metrics.text).toMatch(/^linkmint_key_conflicts_total{by="key"} 0$/m)
          if (kind === "none") {
            program.signal("SIGTERM")
            expect(yield* program.ended).toEqual({ code: 0, signal: null })
            continue
          }
          const until = told.acknowledged.size + 300 + index * 171
          const load = yield* Effect.fork(
            run({
              ...some,
              creates: Number.POSITIVE_INFINITY,
              name: `${index}-second`,
              afterEach: () => {
                if (told.acknowledged.size >= until) program.signal("SIGKILL")
              }
            })
          )
          yield* program.ended
          yield* Fiber.join(load)
        }

        const { bound, kept, lost, minted } = yield* accountOfFolder(folder)
        const summary = `${summaryOf(told)}; ${JSON.stringify({ minted, bound: bound.size, kept: kept.size, lost })}`
        expect(told.repeated, summary).toEqual([])
        expect(told.refused, summary).toEqual([])
        expect([...told.acknowledged].filter(([key, url]) => bound.get(key) !== url)).toEqual([])
        // Of a create under way a key; of the stock a batch that was being minted or moved; of a file what was read ahead, and a refill with it.
        const killed = kinds.length - 1
        const ofFile = target + pool.high
        expect(lost, summary).toBeGreaterThanOrEqual(0)
        expect(lost, summary).toBeLessThanOrEqual(
          killed * (clients + 1_000) + told.unavailable.length + ofFile
        )
      }),
    240_000
  )

  it.scopedLive(
    "are all accounted for after an orderly stop",
    () =>
      Effect.gen(function* () {
        const { folder, port, settings: own } = yield* migratedPlace
        const settings = { ...own, ...settingsOfPool(pool) }
        const connections = yield* agent(clients)
        const told = nothingTold()
        for (const name of ["first", "second"]) {
          const program = yield* start(settings)
          yield* run({ agent: connections, port, clients, creates: 700, name, told })
          program.signal("SIGTERM")
          expect(yield* program.ended).toEqual({ code: 0, signal: null })
        }
        const { bound, kept, lost, minted } = yield* accountOfFolder(folder)
        const summary = `${summaryOf(told)}; ${JSON.stringify({ minted, bound: bound.size, kept: kept.size })}`
        expect(told.refused, summary).toEqual([])
        expect(lost, summary).toBeLessThanOrEqual(told.unavailable.length)
        expect(minted, summary).toBeLessThanOrEqual(bound.size + pool.high + pool.bufferCapacity + lost)
      }),
    120_000
  )
})
