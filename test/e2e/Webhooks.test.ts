import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, type Scope, Schedule } from "effect"
import { agent, jsonOf, keyOf, send } from "../support/http/HttpClient.ts"
import { freePort } from "../support/FreePort.ts"
import { describePostgres } from "../support/services/postgres/Postgres.ts"
import { type Receiver, receiver, signatureOf, stranger, toldBy } from "../support/http/Receiver.ts"
import { migratedDatabase } from "../support/Stores.ts"
import { migratedFolder, start, type Variables } from "./Program.ts"

const adminKey = "lm_the-administrator-of-webhooks"

/** Waits until something holds, a minute at most. */
const until = (holds: () => boolean) =>
  Effect.sync(holds).pipe(
    Effect.repeat({ until: (done) => done, schedule: Schedule.spaced("50 millis") }),
    Effect.timeout("60 seconds")
  )

/** The events that a receiver was told of, each once: a message is sent again whose answer came too late. */
const told = ({ received }: Pick<Receiver, "received">) => [
  ...new Map(received.flatMap(toldBy).map((event) => [event.id, event])).values()
]

/** The keys of the links that a receiver was told of. */
const keysOf = (hook: Pick<Receiver, "received">, event: string) =>
  told(hook)
    .filter(({ type }) => type === event)
    .map(({ data }) => (data as { readonly key: string }).key)

/** The visits of a link that a receiver was told of. */
const visitsOf = (hook: Receiver, key: string) =>
  told(hook)
    .filter(({ type }) => type === "link.visited")
    .flatMap(
      ({ data }) => (data as { links: ReadonlyArray<{ key: string; visits: { total: number } }> }).links
    )
    .filter((link) => link.key === key)
    .reduce((sum, { visits }) => sum + visits.total, 0)

const caller = (port: number) =>
  Effect.map(
    agent(),
    (connections) =>
      (method: string, path: string, body?: unknown, key = adminKey) =>
        send(connections, port, {
          method,
          path,
          headers: {
            "x-api-key": key,
            ...(body !== undefined && { "content-type": "application/json" })
          },
          ...(body !== undefined && { body: JSON.stringify(body) })
        })
  )

type Call = Effect.Effect.Success<ReturnType<typeof caller>>

interface Webhook {
  readonly id: string
  readonly secret: string
  readonly status: string
}

const webhooksOf = (call: Call) =>
  Effect.map(
    call("GET", "/api/v1/webhooks"),
    (answer) => (jsonOf(answer) as { readonly data: ReadonlyArray<Webhook> }).data
  )

/** Makes a webhook. */
const made = (call: Call, url: string, events: ReadonlyArray<string>, key?: string) =>
  Effect.map(call("POST", "/api/v1/webhooks", { url, events }, key), (answer) => {
    expect(answer.status).toBe(201)
    return jsonOf(answer) as Webhook
  })

let probes = 0

/** Whether a link was made to see whether a webhook is told of links. */
const isProbe = (key: string) => key.startsWith("probe-")

/** When a receiver that has not proven itself is asked again, at the earliest, in milliseconds after it was first asked. */
const triesAfter_ms = [10_000, 70_000, 370_000]

/** Makes a webhook, and waits until it is verified and told of links. */
const madeActive = (call: Call, hook: Receiver, events: ReadonlyArray<string>, key?: string) =>
  Effect.gen(function* () {
    const webhook = yield* made(call, hook.url, events, key)
    yield* webhooksOf(call).pipe(
      Effect.repeat({
        until: (all) => all.some(({ id, status }) => id === webhook.id && status === "active"),
        schedule: Schedule.spaced("50 millis")
      })
    )
    const isToldOf = (alias: string) =>
      until(() => keysOf(hook, "link.created").includes(alias)).pipe(Effect.timeoutOption("3 seconds"))
    yield* Effect.suspend(() => {
      const alias = `probe-${probes++}`
      return Effect.zipRight(
        call("POST", "/api/v1/links", { url: "https://example.com/", alias }),
        isToldOf(alias)
      )
    }).pipe(Effect.repeat({ until: Option.isSome }))
    return webhook
  })

const webhooks = (title: string, database: Effect.Effect<Variables, never, Scope.Scope>) => {
  const settings = Effect.gen(function* () {
    return {
      ...(yield* database),
      PORT: String(yield* freePort),
      HOST: "127.0.0.1",
      ADMIN_API_KEY: adminKey,
      ALLOW_PRIVATE_WEBHOOKS: "true"
    }
  })

  it.scopedLive(
    `${title}: what was acknowledged is told, also when the process is killed before it was`,
    () =>
      Effect.gen(function* () {
        const variables = yield* settings
        const hook = yield* receiver
        const call = yield* caller(Number(variables.PORT))

        const first = yield* start(variables)
        const { secret } = yield* madeActive(call, hook, ["link.created", "link.deleted", "link.visited"])
        const link = yield* call("POST", "/api/v1/links", { url: "https://example.com/", alias: "seen" })
        for (let visits = 0; visits < 3; visits++) yield* call("GET", "/seen")
        yield* until(() => visitsOf(hook, "seen") === 3)
        yield* call("DELETE", "/api/v1/links/seen")
        yield* until(() => keysOf(hook, "link.deleted").length > 0)
        const before = told(hook).length
        expect(keysOf(hook, "link.created").filter((key) => key === "seen")).toHaveLength(1)
        expect(keysOf(hook, "link.deleted")).toEqual(["seen"])
        expect(
          told(hook)
            .filter(({ type }) => type === "link.created")
            .map(({ data }) => data)
        ).toContainEqual(jsonOf(link))

        // The receiver takes messages and answers nothing, until the process is killed amid its attempts.
        hook.answer(() => {})
        const links = Array.from({ length: 20 }, (_, index) => ({ url: `https://example.com/${index}` }))
        const answers = yield* Effect.forEach(links, (body) => call("POST", "/api/v1/links", body), {
          concurrency: "unbounded"
        })
        const keys = answers.map(keyOf)
        yield* until(() => told(hook).length > before)
        first.signal("SIGKILL")
        yield* first.ended
        const unanswered = hook.received.length

        hook.answer(204)
        const second = yield* start(variables)
        const after = () => keysOf({ received: hook.received.slice(unanswered) }, "link.created")
        yield* until(() => after().length >= keys.length)
        expect(after().toSorted()).toEqual(keys.toSorted())
        // A repeat is known by its id, and is the same.
        expect(told(hook)).toHaveLength(before + keys.length)
        const messages = new Set(
          hook.received.map(({ body, headers }) => `${String(headers["webhook-id"])} ${body}`)
        )
        expect(messages.size).toBe(new Set(hook.received.map(({ headers }) => headers["webhook-id"])).size)
        expect(messages.size).toBeLessThan(hook.received.length)
        for (const one of hook.received)
          expect(one.headers["webhook-signature"]).toBe(signatureOf(one, secret))
        second.signal("SIGTERM")
        expect(yield* second.ended).toEqual({ code: 0, signal: null })
      }),
    180_000
  )

  it.scopedLive(
    `${title}: a bulk becomes some ten messages for a webhook, and none for a receiver that has not proven itself; a webhook ends with the API key that made it`,
    () =>
      Effect.gen(function* () {
        const variables = yield* settings
        const call = yield* caller(Number(variables.PORT))
        const program = yield* start(variables)
        const target = yield* stranger
        const hook = yield* receiver
        const since = performance.now()
        const strangers = yield* Effect.replicateEffect(made(call, target.url, ["link.created"]), 8)
        yield* madeActive(call, hook, ["link.created"])
        const other = yield* receiver
        const others = yield* madeActive(call, other, ["link.created"])

        const links = Array.from({ length: 1_000 }, (_, index) => ({ url: `https://example.com/${index}` }))
        expect((yield* call("POST", "/api/v1/links/bulk", { links })).status).toBe(200)
        const isTold = (one: Receiver) =>
          keysOf(one, "link.created").filter((key) => !isProbe(key)).length >= 1_000
        yield* until(() => isTold(hook) && isTold(other))
        for (const one of [hook, other]) {
          const messages = one.received.filter(
            (message) => !keysOf({ received: [message] }, "link.created").every(isProbe)
          )
          expect(new Set(messages.map(({ headers }) => headers["webhook-id"])).size).toBeLessThanOrEqual(30)
        }
        expect(told(target).filter(({ type }) => type !== "webhook.verification")).toEqual([])
        // No more tries of each of the eight than there was time for.
        const tries = 1 + triesAfter_ms.filter((after_ms) => performance.now() - since >= after_ms).length
        expect(target.received.length).toBeLessThanOrEqual(strangers.length * tries)
        // Others need their places.
        for (const { id } of strangers) {
          expect((yield* call("DELETE", `/api/v1/webhooks/${id}`)).status).toBe(204)
        }

        const scopes = ["links:read", "links:write"]
        const key = jsonOf(yield* call("POST", "/api/v1/api-keys", { name: "a key", scopes })) as {
          readonly id: string
          readonly secret: string
        }
        const bound = yield* receiver
        const { id } = yield* madeActive(call, bound, ["link.created"], key.secret)
        yield* call("POST", "/api/v1/links", { url: "https://example.com/", alias: "before" })
        yield* until(() => [bound, other].every((hook) => keysOf(hook, "link.created").includes("before")))
        const before = told(bound).length

        expect((yield* call("DELETE", `/api/v1/api-keys/${key.id}`)).status).toBe(204)
        for (const alias of ["after-1", "after-2"]) {
          yield* call("POST", "/api/v1/links", { url: "https://example.com/", alias })
          yield* until(() => keysOf(other, "link.created").includes(alias))
        }
        expect(told(bound)).toHaveLength(before)
        expect((yield* webhooksOf(call)).find((one) => one.id === id)).toMatchObject({ status: "ended" })

        // So does one of the administrator's key, when a node starts with another one.
        program.signal("SIGTERM")
        yield* program.ended
        const anotherKey = "lm_another-administrator-of-webhooks"
        yield* start({ ...variables, ADMIN_API_KEY: anotherKey })
        const last = yield* receiver
        const newest = yield* made(call, last.url, ["link.created"], anotherKey)
        const list = jsonOf(yield* call("GET", "/api/v1/webhooks", undefined, anotherKey)) as {
          readonly data: ReadonlyArray<Webhook>
        }
        const ended = list.data.filter(({ status }) => status === "ended").map((webhook) => webhook.id)
        expect(ended).toEqual(expect.arrayContaining([id, others.id]))
        expect(ended).toHaveLength(list.data.length - 1)
        expect(ended).not.toContain(newest.id)
      }),
    180_000
  )
}

// They mostly wait: for receivers that do not answer, and for what is tried again later.
describe.concurrent("webhooks", () => {
  webhooks(
    "SQLite",
    Effect.map(migratedFolder, (DATA_DIR) => ({ DATA_DIR }))
  )
  describePostgres("of a cluster's database", () => {
    webhooks(
      "PostgreSQL",
      Effect.map(migratedDatabase, (DATABASE_URL) => ({ DATABASE_URL }))
    )
  })
})
