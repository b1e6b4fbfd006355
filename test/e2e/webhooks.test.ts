import { describe, expect, it } from "@effect/vitest"
import { Effect, type Scope, Schedule } from "effect"
import { agent, jsonOf, keyOf, send } from "../http/client.ts"
import { freePort } from "../http/freePort.ts"
import { describePostgres, freshDatabase } from "../services/Postgres.ts"
import { type Receiver, receiver, signatureOf } from "../webhooks/Receiver.ts"
import { dataFolder, start, type Variables } from "./Program.ts"

const adminKey = "lm_the-administrator-of-webhooks"

/** Waits until something holds, a minute at most. */
const until = (holds: () => boolean) =>
  Effect.sync(holds).pipe(
    Effect.repeat({ until: (done) => done, schedule: Schedule.spaced("50 millis") }),
    Effect.timeout("60 seconds")
  )

const idsOf = ({ received }: Receiver) => received.map(({ headers }) => String(headers["webhook-id"]))

/** The keys of the links that a receiver was told of. */
const keysOf = ({ received }: Receiver, event: string) =>
  received
    .map(({ body }) => JSON.parse(body) as { readonly type: string; readonly data: { readonly key: string } })
    .filter(({ type }) => type === event)
    .map(({ data }) => data.key)

/** The visits of a link that a receiver was told of. */
const visitsOf = ({ received }: Receiver, key: string) =>
  received
    .map(
      ({ body }) =>
        JSON.parse(body) as { data: { links?: ReadonlyArray<{ key: string; visits: { total: number } }> } }
    )
    .flatMap(({ data }) => data.links ?? [])
    .filter((link) => link.key === key)
    .reduce((sum, { visits }) => sum + visits.total, 0)

const caller = (port: number) =>
  Effect.map(
    agent(),
    (connections) => (method: string, path: string, body?: unknown) =>
      send(connections, port, {
        method,
        path,
        headers: {
          "x-api-key": adminKey,
          ...(body !== undefined && { "content-type": "application/json" })
        },
        ...(body !== undefined && { body: JSON.stringify(body) })
      })
  )

const webhooks = (title: string, database: Effect.Effect<Variables, never, Scope.Scope>) => {
  it.scopedLive(
    `${title}: what was acknowledged is told, also when the process is killed before it was`,
    () =>
      Effect.gen(function* () {
        const port = yield* freePort
        const settings = {
          ...(yield* database),
          PORT: String(port),
          HOST: "127.0.0.1",
          ADMIN_API_KEY: adminKey,
          ALLOW_PRIVATE_WEBHOOKS: "true"
        }
        const hook = yield* receiver
        const call = yield* caller(port)

        const first = yield* start(settings)
        const made = yield* call("POST", "/api/v1/webhooks", {
          url: hook.url,
          events: ["link.created", "link.deleted", "link.visited"]
        })
        expect(made.status).toBe(201)
        const { secret } = jsonOf(made) as { readonly secret: string }
        const link = yield* call("POST", "/api/v1/links", { url: "https://example.com/", alias: "seen" })
        for (let visits = 0; visits < 3; visits++) yield* call("GET", "/seen")
        yield* until(() => visitsOf(hook, "seen") === 3)
        yield* call("DELETE", "/api/v1/links/seen")
        yield* until(() => keysOf(hook, "link.deleted").length > 0)
        const told = hook.received.length
        expect(keysOf(hook, "link.created")).toEqual(["seen"])
        expect(keysOf(hook, "link.deleted")).toEqual(["seen"])
        const created = hook.received.find(({ body }) => body.includes(`"link.created"`))!
        expect(JSON.parse(created.body)).toMatchObject({ data: jsonOf(link) })
        for (const one of hook.received)
          expect(one.headers["webhook-signature"]).toBe(signatureOf(one, secret))

        // The receiver takes messages and answers nothing, until the process is killed amid its attempts and with most of them not tried.
        hook.answer(() => {})
        const links = Array.from({ length: 20 }, (_, index) => ({ url: `https://example.com/${index}` }))
        const answers = yield* Effect.forEach(links, (body) => call("POST", "/api/v1/links", body), {
          concurrency: "unbounded"
        })
        const keys = answers.map(keyOf)
        yield* until(() => hook.received.length > told)
        first.signal("SIGKILL")
        yield* first.ended
        const before = hook.received.length
        expect(before).toBeLessThan(told + keys.length)

        hook.answer(204)
        const second = yield* start(settings)
        const after = () => keysOf({ ...hook, received: hook.received.slice(before) }, "link.created")
        yield* until(() => after().length >= keys.length)
        expect(after().toSorted()).toEqual(keys.toSorted())
        // A repeat is known by its id.
        expect(new Set(idsOf(hook)).size).toBe(told + keys.length)
        for (const one of hook.received)
          expect(one.headers["webhook-signature"]).toBe(signatureOf(one, secret))
        second.signal("SIGTERM")
        expect(yield* second.ended).toEqual({ code: 0, signal: null })
      }),
    180_000
  )
}

describe("webhooks", () => {
  webhooks(
    "SQLite",
    Effect.map(dataFolder, (DATA_DIR) => ({ DATA_DIR }))
  )
})

describePostgres("webhooks", () => {
  webhooks(
    "PostgreSQL",
    Effect.map(freshDatabase, (DATABASE_URL) => ({ DATABASE_URL }))
  )
})
