// Processes whose machine's clock is wrong, and what comes with time. What they answer is judged by the clock of this process, which is right.

import { describe, expect, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Schedule } from "effect"
import { agent, type Answer, jsonOf, keyOf, send } from "../../support/http/HttpClient.ts"
import { valueOf } from "../../support/http/MetricsText.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { wrongClock } from "../../support/services/Faketime.ts"
import { ADMIN_API_KEY, asAdmin, type ClusterNode, freshStores, startNode } from "../ClusterNodes.ts"
import { migratedPlace, start, startAlone } from "../Program.ts"

const day_s = 86_400

/** More keys than the pool and the buffer hold: a recycled one is among them. */
const createsMax = 200

const created = (answer: Answer) => {
  expect(answer.status, answer.text).toBe(201)
  return jsonOf(answer) as { readonly key: string; readonly createdAt: string; readonly expiresAt: string }
}

// They mostly wait: for a quarantine, and for moments.
describe.concurrent("machines whose clocks are wrong", () => {
  it.scopedLive(
    "a clock that jumps 40 days ahead ends no link, and gives no alias away, nor does it after a restart",
    () =>
      Effect.gen(function* () {
        const clock = yield* wrongClock
        const { port, settings } = yield* migratedPlace
        const variables = { ...settings, ...clock.variables, ADMIN_API_KEY, RECYCLE_QUARANTINE: "PT10S" }
        const program = yield* start(variables)
        const connections = yield* agent(1)
        const call = (method: string, path: string, body?: object) =>
          send(connections, port, {
            method,
            path,
            headers: { ...asAdmin, ...(body !== undefined && { "content-type": "application/json" }) },
            ...(body !== undefined && { body: JSON.stringify(body) })
          })
        const statusOf = (path: string) => Effect.map(call("GET", path), ({ status }) => status)
        const bind = (alias: string) => call("POST", "/api/v1/links", { url: "https://example.com/", alias })
        const held = Effect.map(call("GET", "/metrics"), ({ text }) =>
          valueOf(text, "linkmint_clock_held_steps_total", {})
        )
        const heldMore = Effect.flatMap(held, (before) =>
          Effect.repeat(held, { until: (now) => now >= before + 1, schedule: Schedule.spaced("100 millis") })
        )

        const link = { url: "https://example.com/two-days", expiresIn: "P2D" }
        const key = keyOf(yield* call("POST", "/api/v1/links", link))
        expect((yield* bind("mine")).status).toBe(201)
        expect((yield* call("DELETE", "/api/v1/links/mine")).status).toBe(204)

        clock.setAhead(40 * day_s)
        const { createdAt } = created(yield* bind("since-then"))
        expect(Date.parse(createdAt)).toBeLessThan((yield* Clock.currentTimeMillis) + 2_000)
        expect(yield* statusOf(`/${key}`)).toBe(302)
        yield* heldMore
        expect(yield* statusOf(`/${key}`)).toBe(302)
        expect((yield* bind("mine")).status).toBe(409)
        yield* program.printed(
          /The machine's clock is 3456\d{3}\.\d s ahead, which monotonic time does not bear out/
        )

        program.signal("SIGKILL")
        yield* program.ended
        const again = yield* start(variables)
        yield* heldMore
        expect(yield* statusOf(`/${key}`)).toBe(302)
        expect((yield* bind("mine")).status).toBe(409)

        clock.setAhead(0)
        yield* again.printed(/The machine's clock is right again/)
        expect(yield* statusOf(`/${key}`)).toBe(302)
        yield* Effect.repeat(bind("mine"), {
          until: ({ status }) => status === 201,
          schedule: Schedule.spaced("200 millis")
        })
      }),
    240_000
  )

  describePostgres("nodes of a cluster whose clocks are 45 s wrong", () => {
    it.scopedLive(
      "begin and end each link within a second of its time",
      () =>
        Effect.gen(function* () {
          const stores = yield* freshStores
          const nodeAhead = Effect.fnUntraced(function* (seconds: number) {
            const clock = yield* wrongClock
            clock.setAhead(seconds)
            return yield* startNode({ ...stores, ...clock.variables })
          })
          const nodes = [yield* nodeAhead(45), yield* nodeAhead(-45)]

          const looked = Effect.fnUntraced(function* (node: ClusterNode, key: string) {
            const asked = yield* Clock.currentTimeMillis
            const { status } = yield* node.send({ path: `/${key}` })
            return { asked, answered: yield* Clock.currentTimeMillis, status }
          })
          /** Asks until the redirect has begun, or ended, and compares each answer with the moment when it should have. */
          const turns = (
            node: ClusterNode,
            key: string,
            at: number,
            [before, after]: readonly [number, number]
          ) =>
            looked(node, key).pipe(
              Effect.tap(({ answered, asked, status }) => {
                // A node that is too busy to tell says nothing of the link.
                if (status === 503) return
                if (status === before) expect(asked, "too late").toBeLessThan(at + 1_000)
                else expect([status, answered >= at - 1_000]).toEqual([after, true])
              }),
              Effect.repeat({
                until: ({ status }) => status === after,
                schedule: Schedule.spaced("50 millis")
              })
            )

          for (const maker of nodes) {
            const asked = yield* Clock.currentTimeMillis
            const validSince = asked + 2_500
            const make = (fields: object) =>
              Effect.map(
                maker.send({
                  path: "/api/v1/links",
                  headers: asAdmin,
                  json: { url: "https://example.com/", ...fields }
                }),
                created
              )
            const ending = yield* make({ expiresIn: "PT2S" })
            const beginning = yield* make({ validSince: DateTime.formatIso(DateTime.unsafeMake(validSince)) })
            const answered = yield* Clock.currentTimeMillis
            const expiresAt = Date.parse(ending.expiresAt)
            expect(expiresAt).toBeGreaterThan(asked + 1_000)
            expect(expiresAt).toBeLessThan(answered + 3_000)
            yield* Effect.all(
              nodes.flatMap((node) => [
                turns(node, ending.key, expiresAt, [302, 410]),
                turns(node, beginning.key, validSince, [404, 302])
              ]),
              { concurrency: "unbounded" }
            )
          }
          expect(
            nodes.map((node) => /This machine's clock is not the database's/.test(node.output()))
          ).toEqual([true, true])
        }),
      240_000
    )
  })
})

// Beside those above, since it waits as they do.
describe.concurrent("a service whose clock is right", () => {
  it.scopedLive(
    "ends a link that has expired, and gives its key to another one when its quarantine is over",
    () =>
      Effect.gen(function* () {
        const { port } = yield* startAlone({
          RECYCLE_QUARANTINE: "PT10S",
          POOL_LOW: "5",
          POOL_HIGH: "10",
          BUFFER_CAPACITY: "16"
        })
        const connections = yield* agent(1)
        const create = (url: string, more: object = {}) =>
          Effect.map(
            send(connections, port, {
              method: "POST",
              path: "/api/v1/links",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ url, ...more })
            }),
            (answer) => {
              expect(answer.status).toBe(201)
              return jsonOf(answer) as { readonly key: string; readonly expiresAt: string }
            }
          )
        const visit = (key: string) => send(connections, port, { path: `/${key}` })
        const { expiresAt, key } = yield* create("https://example.com/first", { expiresIn: "PT2S" })
        expect((yield* visit(key)).status).toBe(302)
        const statusOf = (wanted: number) =>
          Effect.map(visit(key), ({ status }) => status).pipe(
            Effect.repeat({ until: (status) => status === wanted, schedule: Schedule.spaced("100 millis") })
          )
        yield* statusOf(410)
        yield* statusOf(404)
        expect((yield* Clock.currentTimeMillis) - Date.parse(expiresAt)).toBeGreaterThan(10_000)

        let rebound = ""
        for (let tries = 0; tries < createsMax && rebound !== key; tries++) {
          rebound = (yield* create("https://example.com/second")).key
        }
        expect(rebound).toBe(key)
        const { headers, status } = yield* visit(key)
        expect([status, headers["location"]]).toEqual([302, "https://example.com/second"])
      }),
    120_000
  )
})
