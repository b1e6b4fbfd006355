import { expect, it, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import { describe } from "vitest"
import { configure, haveProgram } from "../../cluster/Haproxy.ts"
import { routes } from "../../src/http/contract/Routes.ts"
import { inRepository } from "../../cluster/Repository.ts"
import { inTime } from "../support/InTime.ts"
import { timed } from "../support/Lateness.ts"
import {
  type Answer,
  type Balanced,
  type Seen,
  type Sent,
  balanced,
  describeWith,
  send,
  until
} from "./Balanced.ts"

const template = readFileSync(inRepository("haproxy/haproxy.cfg"), "utf8")
const servers = (text: string) => text.split("\n").filter((line) => /^ +server /.test(line))

describe("haproxy.cfg", () => {
  it("keeps all its directives when it is made for other nodes", () => {
    const made = configure(template, [{ name: "x", address: "127.0.0.1:1" }])
    expect(servers(made).map((line) => line.trim())).toEqual([
      "server x 127.0.0.1:1",
      "server x-unready 127.0.0.1:1 track alive/x",
      "server x 127.0.0.1:1 track redirects/x",
      "server x-unready 127.0.0.1:1 track alive/x",
      "server x 127.0.0.1:1"
    ])
    const others = (text: string) => text.split("\n").filter((line) => !/^ +server /.test(line))
    expect(others(made)).toEqual(others(template))
  })

  it("knows the paths of several segments that are the service's own", () => {
    const [, own] = /^ +acl own_path path_beg (.+)$/m.exec(template)!
    const roots = routes
      .filter(({ method, path }) => method === "GET" && !path.startsWith("/{") && path.split("/").length > 2)
      .map(({ path }) => `/${path.split("/")[1]}/`)
    expect(own!.split(" ")).toEqual([...new Set(roots)].toSorted())
  })

  it("says of each node what it says of the first one", () => {
    const nodes = [
      { name: "x", address: "y:3" },
      { name: "z", address: "127.0.0.1:4" }
    ]
    const made = configure("  server a a:1 weight 5 track t/a\n  server b b:1\n", nodes)
    expect(made).toBe("  server x y:3 weight 5 track t/x\n  server z 127.0.0.1:4 weight 5 track t/z\n")
  })
})

/** Waits until a balancer has found nodes ready: on a busy machine it may take one for gone that answers late. */
const areUp = ({ statusOf }: Balanced, names: ReadonlyArray<string>) =>
  until(
    Effect.map(
      Effect.forEach(names, (name) => statusOf("redirects", name)),
      (all) => all.every((status) => status === "UP")
    )
  )

/** Each node of three in turn gets a request. */
const threeTimes = (setup: Balanced, sent: Sent) => Effect.forEach([1, 2, 3], () => send(setup.port, sent))

const keyed = { "idempotency-key": "k1" }
const create: Sent = { method: "POST", path: "/api/v1/links", body: '{"url":"https://example.com/"}' }
const faulty = (fault: string, sent: Sent, victim = "b"): Sent => ({
  ...sent,
  headers: { ...sent.headers, "x-fault": `${victim}=${fault}` }
})

/** What a request was answered, and what nodes have seen of it. */
interface Failed {
  readonly answer: Answer
  readonly seen: ReadonlyArray<Seen>
}

/** One node gets a request, and fails then. Each gets one in turn: it does after `before` has. */
const failed = Effect.fn("failed")(function* (
  setup: Balanced,
  fault: string,
  sent: Sent,
  [before, victim]: readonly [string, string] = ["a", "b"]
): Effect.fn.Return<Failed> {
  yield* areUp(setup, [before, victim])
  // Those of redirects and all others take turns of their own.
  const isLookup = sent.method === undefined || sent.method === "HEAD"
  const like: Sent = isLookup ? { path: sent.path ?? "/aZ3k9Qx" } : create
  yield* Effect.repeat(send(setup.port, like), { until: ({ body }) => JSON.parse(body).name === before })
  const known = new Set(setup.seen().map(({ headers }) => headers["x-request-id"]))
  const answer = yield* send(setup.port, faulty(fault, sent, victim))
  const seen = setup.seen().filter(({ headers }) => !known.has(headers["x-request-id"]))
  expect(seen.filter(({ name }) => name === victim)).toHaveLength(1)
  return { answer, seen }
})

const expectRepeated = ({ answer, seen }: Failed, { body = "" }: Sent) => {
  expect(answer.status).toBe(200)
  expect(seen).toHaveLength(2)
  // Both tries of the request have its body and its id.
  expect(seen.map((one) => one.body)).toEqual([body, body])
  expect(new Set(seen.map(({ headers }) => headers["x-request-id"])).size).toBe(1)
}

const expectNotRepeated = ({ answer, seen }: Failed) => {
  expect(seen).toHaveLength(1)
  const { body, headers, status } = answer
  expect(status).toBe(502)
  expect(headers).toMatchObject({ "content-type": "application/problem+json", "retry-after": "1" })
  expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/)
  expect(JSON.parse(body)).toMatchObject({
    status: 502,
    type: "https://linkmint.dev/problems/unavailable"
  })
}

/** Three nodes behind HAProxy, for all cases after which they run on. */
class Shared extends Context.Tag("test/cluster/Shared")<Shared, Balanced>() {
  static readonly layer = Layer.scoped(Shared, balanced())
}

await describeWith(haveProgram, "a node that fails while it has a request", {}, () => {
  // To HAProxy a node that is killed is a connection that ends.
  layer(Shared.layer, { excludeTestServices: true })((it) => {
    const repeated: Record<string, Sent> = {
      "a GET": {},
      "a HEAD": { method: "HEAD" },
      "an OPTIONS": { method: "OPTIONS" },
      "a PUT": { method: "PUT", body: "x" },
      "a DELETE": { method: "DELETE", path: "/api/v1/links/aZ3k9Qx" },
      "a create with an Idempotency-Key": { ...create, headers: keyed },
      "a create with an Idempotency-Key whose body comes late": { ...create, headers: keyed, pause_ms: 300 }
    }
    for (const [what, sent] of Object.entries(repeated)) {
      it.effect(`${what} is answered by another node`, () =>
        Effect.flatMap(Shared, (setup) =>
          Effect.map(failed(setup, "close", sent), (seen) => expectRepeated(seen, sent))
        )
      )
    }

    const alone: Record<string, Sent> = {
      "a create without an Idempotency-Key": create,
      "a PATCH": { ...create, method: "PATCH", headers: keyed },
      "a POST to where no Idempotency-Key is heeded": { ...create, path: "/api/v1/users", headers: keyed },
      "a create of more than the buffer": { ...create, headers: keyed, body: "x".repeat(16_384) }
    }
    for (const [what, sent] of Object.entries(alone)) {
      it.effect(`${what} is not sent again`, () =>
        Effect.flatMap(Shared, (setup) => Effect.map(failed(setup, "close", sent), expectNotRepeated))
      )
    }

    for (const fault of ["half", "junk", "unavailable"]) {
      it.effect(`a redirect is answered by another node, a create is not (${fault})`, () =>
        Effect.gen(function* () {
          const setup = yield* Shared
          expect((yield* failed(setup, fault, {})).answer.status).toBe(200)
          const { answer, seen } = yield* failed(setup, fault, create)
          expect(seen).toHaveLength(1)
          expect(answer.status).toBe(fault === "unavailable" ? 503 : 502)
        })
      )
    }

    const slowToFail: Record<string, Sent> = {
      "a create": create,
      "a create with an Idempotency-Key": { ...create, headers: keyed },
      "a DELETE": { method: "DELETE", path: "/api/v1/links/aZ3k9Qx" },
      "a list": { path: "/api/v1/links" },
      "a link's details": { path: "/api/v1/links/aZ3k9Qx" }
    }
    for (const [what, sent] of Object.entries(slowToFail)) {
      it.effect(
        `${what} is not tried again after 503, which may have taken a node all the time there is`,
        () =>
          Effect.gen(function* () {
            const { answer, seen } = yield* failed(yield* Shared, "unavailable", sent)
            expect(answer.status).toBe(503)
            expect(seen).toHaveLength(1)
          })
      )
    }

    it.effect("nodes are told who the client is, and nobody else is believed about it", () =>
      Effect.gen(function* () {
        const spoofed = { "x-forwarded-for": "192.0.2.1", "x-request-id": "not sane!" }
        const { body } = yield* send((yield* Shared).port, { headers: spoofed })
        const { headers } = JSON.parse(body) as Seen
        expect(headers["x-forwarded-for"]).toBe("127.0.0.1")
        expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/)
      })
    )
  })

  it.scopedLive(
    "a create is not sent again when the node is killed, and a redirect is answered by another one",
    () =>
      Effect.gen(function* () {
        const setup = yield* balanced()
        expectNotRepeated(yield* failed(setup, "die", create))
        expectRepeated(yield* failed(setup, "die", {}, ["c", "a"]), {})
      })
  )
})

await describeWith(haveProgram, "a node that is silent", { concurrent: true }, () => {
  /** Two requests at once, of which the silent one gets one. */
  const both = (setup: Balanced, sent: Sent) =>
    Effect.all([send(setup.port, sent), send(setup.port, sent)], { concurrency: 2 })

  it.scopedLive("loses a redirect to another node soon", () =>
    Effect.gen(function* () {
      const setup = yield* balanced(2)
      for (const path of ["/aZ3k9Qx", "/events/2026/berlin"]) {
        const [took, answers] = yield* timed(both(setup, faulty("hang", { path })))
        expect([path, ...answers.map(({ status }) => status)]).toEqual([path, 200, 200])
        expect(took).toBeLessThan(2_500)
      }
    })
  )

  it.scopedLive("costs a redirect less than 5 s, even if every node is", () =>
    Effect.gen(function* () {
      const setup = yield* balanced(2)
      const answers = yield* inTime("a redirect", both(setup, { headers: { "x-fault": "all=hang" } }))
      expect(answers.map(({ status }) => status)).toEqual([504, 504])
    })
  )

  it.scopedLive("costs a create less than 5 s, and it gets 504", () =>
    Effect.gen(function* () {
      const answers = yield* inTime("a create", both(yield* balanced(2), faulty("hang", create)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 504])
    })
  )
})

const isOut = ({ statusOf }: Balanced, node: string) =>
  Effect.map(statusOf("redirects", node), (status) => status.startsWith("DOWN"))

// They mostly wait, as those above do, which run at the same time.
await describeWith(haveProgram, "a node that is not ready", { concurrent: true }, () => {
  it.scopedLive("ends what it has, and gets no more", () =>
    Effect.gen(function* () {
      const setup = yield* balanced(2)
      const slow: Sent = { headers: { "x-fault": "a=slow" }, path: "/slow" }
      const fibers = yield* Effect.forEach([slow, slow], (sent) => Effect.fork(send(setup.port, sent)))
      yield* until(Effect.sync(() => setup.seen().length >= 2))
      process.kill(setup.nodes[0]!.pid, "SIGTERM")
      yield* until(isOut(setup, "a"))
      const after = yield* threeTimes(setup, {})
      expect(after.map(({ body }) => JSON.parse(body).name)).toEqual(["b", "b", "b"])
      const answers = yield* Fiber.join(Fiber.all(fibers))
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
    })
  )

  it.scopedLive("is where a request goes that another node did not answer, when none is ready", () =>
    Effect.gen(function* () {
      const setup = yield* balanced(2)
      const gets = yield* Effect.fork(
        Effect.all([send(setup.port, faulty("hang", {})), send(setup.port, faulty("hang", {}))], {
          concurrency: 2
        })
      )
      yield* until(Effect.sync(() => setup.seen().length >= 2))
      for (const { pid } of setup.nodes) process.kill(pid, "SIGTERM")
      const answers = yield* Fiber.join(gets)
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
    })
  )

  it.scopedLive("is asked all the same when none is ready", () =>
    Effect.gen(function* () {
      const setup = yield* balanced(2)
      for (const { pid } of setup.nodes) process.kill(pid, "SIGTERM")
      yield* until(Effect.zipWith(isOut(setup, "a"), isOut(setup, "b"), (a, b) => a && b))
      const answers = yield* threeTimes(setup, {})
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    })
  )
})

await describeWith(haveProgram, "a node that is gone", {}, () => {
  it.scopedLive("takes no request with it that comes after its death, whatever the request", () =>
    Effect.gen(function* () {
      const setup = yield* balanced()
      process.kill(setup.nodes[0]!.pid, "SIGKILL")
      yield* setup.nodes[0]!.ended
      const answers = yield* Effect.forEach(Array(12).keys(), () => send(setup.port, create))
      expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200))
      expect(setup.seen()).toHaveLength(12)
    })
  )

  it.scopedLive("is out with the first redirect that it refuses", () =>
    Effect.gen(function* () {
      const setup = yield* balanced()
      process.kill(setup.nodes[0]!.pid, "SIGKILL")
      yield* setup.nodes[0]!.ended
      expect((yield* threeTimes(setup, {})).map(({ status }) => status)).toEqual([200, 200, 200])
      expect(yield* isOut(setup, "a")).toBe(true)
    })
  )

  it.scopedLive("is out within a second even if nobody asks for anything", () =>
    Effect.gen(function* () {
      const setup = yield* balanced()
      const took = yield* Effect.forEach(setup.nodes, ({ name, pid }) => {
        process.kill(pid, "SIGKILL")
        return timed(until(isOut(setup, name)))
      })
      // A machine that does other things as well may take longer, but not every time.
      expect(Math.min(...took.map(([took_ms]) => took_ms))).toBeLessThan(1_000)
    })
  )

  it.scopedLive("is out within 4 s when it is only silent", () =>
    Effect.gen(function* () {
      const setup = yield* balanced()
      process.kill(setup.nodes[0]!.pid, "SIGSTOP")
      const [took] = yield* timed(until(isOut(setup, "a")))
      expect(took).toBeLessThan(4_000)
      process.kill(setup.nodes[0]!.pid, "SIGCONT")
      yield* until(Effect.map(isOut(setup, "a"), (out) => !out))
    })
  )
})

await describeWith(haveProgram, "HAProxy", {}, () => {
  it.effect("accepts the configuration as it is", () =>
    Effect.gen(function* () {
      const program = yield* haveProgram
      execFileSync(program, ["-q", "-c", "-f", inRepository("haproxy/haproxy.cfg")], { stdio: "ignore" })
    })
  )

  it.scopedLive("says 503 and when to try again when no node is left, and leaves no temporary folder", () =>
    Effect.gen(function* () {
      // A scope of its own: what is left of it is looked for.
      const { folder, refusal } = yield* Effect.scoped(
        Effect.gen(function* () {
          const setup = yield* balanced(1)
          process.kill(setup.nodes[0]!.pid, "SIGKILL")
          yield* until(Effect.map(setup.statusOf("alive", "a"), (status) => status.startsWith("DOWN")))
          const refusal = yield* send(setup.port, { headers: { "x-request-id": "mine-1" } })
          return { folder: dirname(dirname(setup.nodes[0]!.log)), refusal }
        })
      )
      const { body, headers, status } = refusal
      expect(status).toBe(503)
      expect(headers).toMatchObject({
        "content-type": "application/problem+json",
        "retry-after": "1",
        "x-request-id": "mine-1"
      })
      expect(JSON.parse(body)).toMatchObject({
        status: 503,
        type: "https://linkmint.dev/problems/unavailable"
      })
      expect(existsSync(folder)).toBe(false)
    })
  )
})
