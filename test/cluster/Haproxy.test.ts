import { expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { describe } from "vitest"
import { configure, haveProgram } from "../../cluster/Haproxy.ts"
import { routes } from "../../src/http/contract/Routes.ts"
import { inRepository } from "../../cluster/Repository.ts"
import { type Balanced, type Sent, balanced, describeWith, send, until } from "./Balanced.ts"

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

/** Each node of three in turn gets a request: one of them is the one that fails. */
const threeTimes = (setup: Balanced, sent: Sent) => Effect.forEach([1, 2, 3], () => send(setup.port, sent))

const keyed = { "idempotency-key": "k1" }
const create: Sent = { method: "POST", path: "/api/v1/links", body: '{"url":"https://example.com/"}' }
const faulty = (fault: string, sent: Sent): Sent => ({
  ...sent,
  headers: { ...sent.headers, "x-fault": `b=${fault}` }
})

await describeWith(haveProgram, "a node that fails while it has a request", { concurrent: true }, () => {
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
    it.scopedLive(`${what} is answered by another node`, () =>
      Effect.gen(function* () {
        const setup = yield* balanced()
        const answers = yield* threeTimes(setup, faulty("die", sent))
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
        const seen = setup.seen()
        expect(seen).toHaveLength(4)
        expect(seen.every(({ body }) => body === (sent.body ?? ""))).toBe(true)
        const failed = seen.filter(({ name }) => name === "b")
        expect(failed).toHaveLength(1)
        // Both tries of the request have its id.
        const id = failed[0]!.headers["x-request-id"]
        expect(seen.filter(({ headers }) => headers["x-request-id"] === id)).toHaveLength(2)
      })
    )
  }

  const alone: Record<string, Sent> = {
    "a create without an Idempotency-Key": create,
    "a PATCH": { ...create, method: "PATCH", headers: keyed },
    "a POST to where no Idempotency-Key is heeded": { ...create, path: "/api/v1/users", headers: keyed },
    "a create of more than the buffer": { ...create, headers: keyed, body: "x".repeat(16_384) }
  }
  for (const [what, sent] of Object.entries(alone)) {
    it.scopedLive(`${what} is not sent again`, () =>
      Effect.gen(function* () {
        const setup = yield* balanced()
        const answers = yield* threeTimes(setup, faulty("die", sent))
        expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 502])
        expect(setup.seen()).toHaveLength(3)
        const { body, headers } = answers.find(({ status }) => status === 502)!
        expect(headers).toMatchObject({ "content-type": "application/problem+json", "retry-after": "1" })
        expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/)
        expect(JSON.parse(body)).toMatchObject({
          status: 502,
          type: "https://linkmint.dev/problems/unavailable"
        })
      })
    )
  }

  for (const fault of ["half", "junk", "unavailable"]) {
    it.scopedLive(`a redirect is answered by another node, a create is not (${fault})`, () =>
      Effect.gen(function* () {
        const setup = yield* balanced()
        const redirects = yield* threeTimes(setup, faulty(fault, {}))
        expect(redirects.map(({ status }) => status)).toEqual([200, 200, 200])
        const again = yield* balanced()
        const creates = yield* threeTimes(again, faulty(fault, create))
        expect(again.seen()).toHaveLength(3)
        const failed = creates.filter(({ status }) => status !== 200)
        expect(failed.map(({ status }) => status)).toEqual([fault === "unavailable" ? 503 : 502])
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
    it.scopedLive(
      `${what} is not tried again after 503, which may have taken a node all the time there is`,
      () =>
        Effect.gen(function* () {
          const setup = yield* balanced()
          const answers = yield* threeTimes(setup, faulty("unavailable", sent))
          expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 503])
        })
    )
  }
})

await describeWith(haveProgram, "a node that is silent", { concurrent: true }, () => {
  /** Two requests at once, of which the silent one gets one. */
  const both = (setup: Balanced, sent: Sent) =>
    Effect.timed(Effect.all([send(setup.port, sent), send(setup.port, sent)], { concurrency: 2 }))

  it.scopedLive("loses a redirect to another node soon", () =>
    Effect.gen(function* () {
      const setup = yield* balanced(2)
      for (const path of ["/aZ3k9Qx", "/events/2026/berlin"]) {
        const [took, answers] = yield* both(setup, faulty("hang", { path }))
        expect([path, ...answers.map(({ status }) => status)]).toEqual([path, 200, 200])
        expect(Duration.toMillis(took)).toBeLessThan(2_500)
      }
    })
  )

  it.scopedLive("costs a redirect less than 5 s, even if every node is", () =>
    Effect.gen(function* () {
      const setup = yield* balanced(2)
      const [took, answers] = yield* both(setup, { headers: { "x-fault": "all=hang" } })
      expect(answers.map(({ status }) => status)).toEqual([504, 504])
      expect(Duration.toMillis(took)).toBeLessThan(5_000)
    })
  )

  it.scopedLive("costs a create less than 5 s, and it gets 504", () =>
    Effect.gen(function* () {
      const [took, answers] = yield* both(yield* balanced(2), faulty("hang", create))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 504])
      expect(Duration.toMillis(took)).toBeLessThan(5_000)
    })
  )
})

const isOut = ({ statusOf }: Balanced, node: string) =>
  Effect.map(statusOf("redirects", node), (status) => status.startsWith("DOWN"))

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
      process.kill(setup.nodes[0]!.pid, "SIGKILL")
      const [took] = yield* Effect.timed(until(isOut(setup, "a")))
      expect(Duration.toMillis(took)).toBeLessThan(1_000)
    })
  )

  it.scopedLive("is out within 4 s when it is only silent", () =>
    Effect.gen(function* () {
      const setup = yield* balanced()
      process.kill(setup.nodes[0]!.pid, "SIGSTOP")
      const [took] = yield* Effect.timed(until(isOut(setup, "a")))
      expect(Duration.toMillis(took)).toBeLessThan(4_000)
      process.kill(setup.nodes[0]!.pid, "SIGCONT")
      yield* until(Effect.map(isOut(setup, "a"), (out) => !out))
    })
  )
})

await describeWith(haveProgram, "a node that is not ready", {}, () => {
  it.scopedLive("ends what it has, and gets no more", () =>
    Effect.gen(function* () {
      const setup = yield* balanced(2)
      const slow: Sent = { headers: { "x-fault": "a=slow" }, path: "/slow" }
      const fibers = yield* Effect.forEach([slow, slow], (sent) => Effect.fork(send(setup.port, sent)))
      yield* until(Effect.sync(() => setup.seen().length === 2))
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
      yield* until(Effect.sync(() => setup.seen().length === 2))
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

await describeWith(haveProgram, "HAProxy", {}, () => {
  it.effect("accepts the configuration as it is", () =>
    Effect.gen(function* () {
      const program = yield* haveProgram
      execFileSync(program, ["-q", "-c", "-f", inRepository("haproxy/haproxy.cfg")], { stdio: "ignore" })
    })
  )

  it.scopedLive("says 503 and when to try again when no node is left", () =>
    Effect.gen(function* () {
      const setup = yield* balanced(1)
      process.kill(setup.nodes[0]!.pid, "SIGKILL")
      yield* until(Effect.map(setup.statusOf("alive", "a"), (status) => status.startsWith("DOWN")))
      const { body, headers, status } = yield* send(setup.port, { headers: { "x-request-id": "mine-1" } })
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
    })
  )

  it.scopedLive("tells nodes who the client is, and believes nobody else about it", () =>
    Effect.gen(function* () {
      const setup = yield* balanced(1)
      const spoofed = { "x-forwarded-for": "192.0.2.1", "x-request-id": "not sane!" }
      yield* send(setup.port, { headers: spoofed })
      const [seen] = setup.seen()
      expect(seen!.headers["x-forwarded-for"]).toBe("127.0.0.1")
      expect(seen!.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/)
    })
  )
})
