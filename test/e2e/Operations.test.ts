// What an operator sees of the running program: metrics, traces and logs, of one process that has done a bit of everything.

import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schedule } from "effect"
import Database from "libsql"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parse as parseYaml } from "yaml"
import { agent, jsonOf, send } from "../support/http/HttpClient.ts"
import { freePort } from "../support/FreePort.ts"
import { labelsIn, metricsIn, samplesOf, selectorsIn } from "../support/http/MetricsText.ts"
import { receiver } from "../support/http/Receiver.ts"
import { migratedFolder, start } from "./Program.ts"

const adminKey = "lm_the-administrator-of-operations"
const metricsToken = "the-token-of-operations"

/** What must not be told: by what it is. */
const secrets = {
  "the admin key": adminKey,
  "the token for metrics": metricsToken,
  "a user's password": "correct horse battery",
  "a link's password": "open sesame of tests",
  "a target's query": "hunter2",
  "a short URL's query": "swordfish"
}

/** A span as OTLP has it in JSON. */
interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: object }>
}

const clientTrace = "0af7651916cd43dd8448eb211c80319c"
const clientSpan = "b7ad6b7169203331"
const requestId = "the-create-of-operations"
const lockedId = "the-create-while-locked"

class Evidence extends Context.Tag("test/Evidence")<
  Evidence,
  {
    readonly metrics: string
    readonly spans: ReadonlyArray<Span>
    readonly output: string
    /** Secrets that were drawn. */
    readonly drawn: Readonly<Record<string, string>>
  }
>() {}

const gather = Effect.gen(function* () {
  const [collector, hook] = [yield* receiver, yield* receiver]
  const port = yield* freePort
  const metricsPort = yield* freePort
  const folder = yield* migratedFolder
  const program = yield* start({
    PORT: String(port),
    HOST: "127.0.0.1",
    DATA_DIR: folder,
    ADMIN_API_KEY: adminKey,
    METRICS_TOKEN: metricsToken,
    METRICS_PORT: String(metricsPort),
    ALLOW_PRIVATE_WEBHOOKS: "true",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
    LOG_FORMAT: "json",
    LOG_LEVEL: "trace"
  })
  const connections = yield* agent()
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    send(connections, port, {
      method,
      path,
      headers: {
        ...(headers["cookie"] === undefined && { "x-api-key": adminKey }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
  const url = `https://example.com/?password=${secrets["a target's query"]}`

  const webhook = yield* call("POST", "/api/v1/webhooks", { url: hook.url, events: ["link.created"] })
  // Told of links from the moment on at which its receiver has proven itself.
  yield* call("GET", "/api/v1/webhooks").pipe(
    Effect.repeat({ until: ({ text }) => text.includes(`"active"`), schedule: Schedule.spaced("50 millis") })
  )
  const traced = { traceparent: `00-${clientTrace}-${clientSpan}-01`, "x-request-id": requestId }
  expect((yield* call("POST", "/api/v1/links", { url }, traced)).status).toBe(201)
  const choices = { alias: "guarded", password: secrets["a link's password"], forwardQuery: true }
  yield* call("POST", "/api/v1/links", { url, ...choices })
  yield* call("POST", "/guarded", `password=${encodeURIComponent(choices.password)}`, {
    "content-type": "application/x-www-form-urlencoded"
  })
  yield* call("POST", "/api/v1/links", { url, alias: "plain", forwardQuery: true })
  yield* call("PATCH", "/api/v1/links/plain", { title: "changed" })
  for (let times = 0; times < 3; times++) yield* call("GET", "/plain")
  yield* call("GET", `/plain?q=${secrets["a short URL's query"]}`)
  yield* call("GET", "/nowhere")
  yield* call("POST", "/api/v1/links", `{"url":"${url}",`)
  yield* call("GET", `/api/v1/links?q=${secrets["a target's query"]}`)
  const account = { email: "ada@example.com", password: secrets["a user's password"] }
  yield* call("POST", "/api/v1/users", account)
  const session = yield* call("POST", "/api/v1/session", account)
  const cookie = String(session.headers["set-cookie"]).split(";")[0]!
  yield* call("GET", "/api/v1/me", undefined, { cookie })
  yield* call("POST", "/api/v1/session", { ...account, password: `${account.password}!` })

  // Nobody can write: the create is answered 503, and the log tells why.
  const lock = new Database(join(folder, "linkmint.db"))
  yield* Effect.try(() => lock.exec("BEGIN EXCLUSIVE")).pipe(
    // The program may be writing.
    Effect.retry({
      while: ({ error }) => /locked/.test(String(error)),
      schedule: Schedule.spaced("5 millis")
    })
  )
  const locked = yield* call("POST", "/api/v1/links", { url }, { "x-request-id": lockedId })
  lock.exec("ROLLBACK")
  lock.close()
  expect(locked.status).toBe(503)

  // Spans are sent every 5 s; what is under way when a program stops may be lost.
  const hasCome = () =>
    hook.received.length > 0 && collector.received.some(({ body }) => body.includes(lockedId))
  yield* Effect.sync(hasCome).pipe(
    Effect.repeat({ until: (came) => came, schedule: Schedule.spaced("50 millis") }),
    Effect.timeout("60 seconds")
  )
  // Text that is kept for a second may be of before.
  const scrape = call("GET", "/metrics", undefined, { authorization: `Bearer ${metricsToken}` })
  const { text } = yield* Effect.delay(scrape, "100 millis").pipe(
    Effect.repeat({
      until: ({ text }) => /linkmint_webhook_attempts_total\{outcome="delivered"\} [1-9]/.test(text)
    }),
    Effect.timeout("60 seconds")
  )
  // At their own port, which not everybody reaches, the metrics ask for no token, and nothing else is there.
  const alone = yield* agent()
  const atOwnPort = yield* send(alone, metricsPort, { path: "/metrics" })
  expect([atOwnPort.status, atOwnPort.headers["content-type"]]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8"
  ])
  expect(atOwnPort.text).toContain("linkmint_links_created_total ")
  expect((yield* send(alone, metricsPort, { path: "/api/v1/links" })).status).toBe(404)
  program.signal("SIGTERM")
  expect(yield* program.ended).toEqual({ code: 0, signal: null })

  const spans = collector.received.flatMap(
    ({ body }) =>
      (
        JSON.parse(body) as {
          resourceSpans: ReadonlyArray<{ scopeSpans: ReadonlyArray<{ spans: ReadonlyArray<Span> }> }>
        }
      ).resourceSpans[0]!.scopeSpans[0]!.spans
  )
  return Evidence.of({
    metrics: text,
    spans,
    output: program.output(),
    drawn: {
      "a session's token": cookie.split("=")[1]!,
      "a webhook's secret": (jsonOf(webhook) as { readonly secret: string }).secret
    }
  })
})

const source = (file: string) => readFileSync(join(import.meta.dirname, "../../ops", file), "utf8")

/** The expressions in a tree, under whatever `expr` there is. */
const expressionsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === "expr" ? [String(inner).replaceAll("$__rate_interval", "5m")] : expressionsIn(inner)
  )
}

const expressions = {
  dashboard: expressionsIn(JSON.parse(source("grafana/linkmint.json"))),
  alerts: expressionsIn(parseYaml(source("prometheus/alerts.yml")))
}

const documents = ["README.md", "docs/operations.md", "docs/key-pipeline.md"].map((file) =>
  readFileSync(join(import.meta.dirname, "../..", file), "utf8")
)

const promtool = (args: ReadonlyArray<string>, input = "") =>
  spawnSync("promtool", ["check", ...args], { input, encoding: "utf8" })
const hasPromtool = spawnSync("promtool", ["--version"]).error === undefined
const untold = hasPromtool ? "" : " (not run: no promtool in PATH)"

layer(Layer.scoped(Evidence, gather), { excludeTestServices: true, timeout: "2 minutes" })(
  "a program that has done a bit of everything",
  (it) => {
    it.effect("names its metrics as Prometheus' conventions have it, and describes each", () =>
      Effect.map(Evidence, ({ metrics }) => {
        const types = [...metrics.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => ({
          name: name!,
          type: type!
        }))
        expect(types.length).toBeGreaterThan(40)
        for (const { name, type } of types) {
          expect(name).toMatch(/^[a-z][a-z0-9_]*$/)
          expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"])
          expect(name).not.toMatch(/_(ms|millis|milliseconds|kb|mb|minutes|hours|percent)(_|$)/)
          expect(metrics).toMatch(new RegExp(`^# HELP ${name} \\S`, "m"))
          if (type === "histogram") expect(name).toMatch(/_(seconds|bytes)$/)
        }
        expect(new Set(types.map(({ name }) => name)).size).toBe(types.length)
        for (const { name, value } of samplesOf(metrics)) expect([name, value]).not.toContain(Number.NaN)
      })
    )

    for (const [what, all] of Object.entries(expressions)) {
      it.effect(`has every metric and label that the ${what} ask for`, () =>
        Effect.map(Evidence, ({ metrics }) => {
          const labels = new Map<string, Set<string>>()
          for (const sample of samplesOf(metrics)) {
            const known = labels.get(sample.name) ?? new Set(["instance", "job"])
            Object.keys(sample.labels).forEach((label) => known.add(label))
            labels.set(sample.name, known)
          }
          // Prometheus' own.
          labels.set("up", new Set(["instance", "job"]))
          expect(all.length).toBeGreaterThan(10)
          for (const expression of all) {
            expect(metricsIn(expression).filter((name) => !labels.has(name))).toEqual([])
            for (const selector of selectorsIn(expression)) {
              const known = labels.get(metricsIn(selector)[0]!)!
              expect(labelsIn(selector).filter((label) => !known.has(label))).toEqual([])
            }
          }
        })
      )
    }

    it.effect("has every metric that the documents name", () =>
      Effect.map(Evidence, ({ metrics }) => {
        // What the mover of buckets makes in a database has names of that kind, too.
        const named = documents.flatMap((text) => text.match(/\blinkmint_(?!move_)[a-z0-9_]+/g) ?? [])
        expect(named.length).toBeGreaterThan(5)
        const known = new Set([...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
        expect(named.filter((name) => !known.has(name))).toEqual([])
      })
    )

    it.effect.skipIf(!hasPromtool)(`satisfies promtool, and so do the alerts${untold}`, () =>
      Effect.map(Evidence, ({ metrics }) => {
        expect(promtool(["metrics"], metrics)).toMatchObject({ status: 0, stderr: "" })
        const rules = join(import.meta.dirname, "../../ops/prometheus/alerts.yml")
        expect(promtool(["rules", rules])).toMatchObject({ status: 0 })
      })
    )

    it.effect("traces a create from its client over HTTP to SQL", () =>
      Effect.map(Evidence, ({ spans }) => {
        const trace = new Map(
          spans.filter(({ traceId }) => traceId === clientTrace).map((span) => [span.spanId, span])
        )
        const root = [...trace.values()].find(({ parentSpanId }) => parentSpanId === clientSpan)
        expect(root).toMatchObject({ name: "POST /api/v1/links", kind: 2 })
        const attributes = Object.fromEntries(root!.attributes.map(({ key, value }) => [key, value]))
        expect(attributes).toMatchObject({
          "http.route": { stringValue: "/api/v1/links" },
          "linkmint.request_id": { stringValue: requestId },
          "http.response.status_code": { intValue: 201 }
        })
        const wayOf = (span: Span): ReadonlyArray<string> => {
          const parent = trace.get(span.parentSpanId ?? "")
          return parent === undefined ? [span.name] : [...wayOf(parent), span.name]
        }
        const ways = [...trace.values()].map(wayOf)
        const insert = ways.find(
          (way) => way.includes("LinkStore.insertMany") && way.at(-1) === "sql.execute"
        )
        expect(insert).toBeDefined()
        expect(insert![0]).toBe("POST /api/v1/links")
        expect(insert).toContain("Links.createMinted")
        // Nothing of the trace is out of it.
        expect(ways.filter(([first]) => first !== "POST /api/v1/links")).toEqual([])
      })
    )

    it.effect("traces what an actor is asked for", () =>
      Effect.map(Evidence, ({ spans }) =>
        expect(spans.some(({ name }) => /^UrlMapping\(\d+\)\.\w+$/.test(name))).toBe(true)
      )
    )

    it.effect("traces requests, and not what goes on all the time", () =>
      Effect.map(Evidence, ({ spans }) => {
        const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined)
        expect(roots.length).toBeGreaterThan(5)
        expect(roots.filter(({ kind }) => kind !== 2)).toEqual([])
        expect(roots.filter(({ name }) => /health|metrics/.test(name))).toEqual([])
      })
    )

    it.effect("logs JSON, with the ids of requests", () =>
      Effect.map(Evidence, ({ output }) => {
        const lines = output.split("\n").filter((line) => line.startsWith("{"))
        const entries = lines.map(
          (line) => JSON.parse(line) as { message: string; logLevel: string; annotations: object }
        )
        expect(entries).toContainEqual(
          expect.objectContaining({
            message: expect.stringMatching(/^Answered 503: /),
            logLevel: "WARN",
            annotations: { request: lockedId }
          })
        )
      })
    )

    it.effect("tells no secret, no target's query and no visitor's, in logs, traces or metrics", () =>
      Effect.map(Evidence, ({ drawn, metrics, output, spans }) => {
        const told = { output, metrics, spans: JSON.stringify(spans) }
        for (const [what, secret] of Object.entries({ ...secrets, ...drawn })) {
          for (const [where, text] of Object.entries(told)) {
            const isTold = [secret, encodeURIComponent(secret)].some((form) => text.includes(form))
            expect([what, where, isTold]).toEqual([what, where, false])
          }
        }
      })
    )
  }
)
