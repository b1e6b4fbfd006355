import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type RequestListener, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Acknowledged } from "../../chaos/Acknowledged.ts"
import * as Checks from "../../chaos/Checks.ts"
import { Counted } from "../../chaos/Freeze.ts"
import type { Books } from "../../chaos/Ledger.ts"
import { balance } from "../../chaos/Ledger.ts"
import * as Load from "../../chaos/Load.ts"
import { judgeCreate, judgeRedirect } from "../../chaos/Load.ts"
import { Observed } from "../../chaos/Observed.ts"
import * as Probes from "../../chaos/Probes.ts"
import { Outages } from "../../chaos/Probes.ts"
import { type Froze, noHarm } from "../../chaos/World.ts"

const answer = (status: number, more: { readonly location?: string; readonly body?: string } = {}) => ({
  status,
  location: more.location,
  body: more.body ?? "",
  requestId: "r",
  error: null
})

/** Gives the port at which requests are answered so, until the scope closes. */
const serve = (answers: RequestListener) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer(answers)
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    ),
    (server) => (server.address() as AddressInfo).port
  )

/** Waits until something has been counted. */
const until = (is: () => boolean) =>
  Effect.repeat(Effect.sleep("5 millis"), { until: () => is() }).pipe(Effect.asVoid)

const url = "https://a.example/"

const promisesOf = ({ violations }: Observed) => violations.map(({ promise }) => promise)

const books: Books = {
  minted: new Set(["a", "b", "c", "d", "e", "f"]),
  stocked: new Set(["a"]),
  pooled: ["b", "b"],
  recorded: new Set(["b", "c"]),
  bound: new Map([["d", "https://d.example/"]])
}
const capacities = { bufferCapacity: 1, poolHigh: 10, pools: 2, nodes: 3 }

describe("the ledger", () => {
  it("counts each key once, and what is nowhere as lost", () => {
    expect(balance(books)).toEqual({
      minted: 6,
      stocked: 1,
      pooled: 1,
      recorded: 1,
      bound: 1,
      lost: 2,
      foreign: [],
      returned: 0
    })
  })

  it("tells a bound key that stands in a pool again", () => {
    expect(balance({ ...books, pooled: ["b", "d"] }).returned).toBe(1)
  })

  it("catches one key lost more than may be", () => {
    const observed = new Observed()
    const bound = Checks.lostBound({ ...noHarm(), redisKills: 0 }, 1, capacities)
    Checks.judgeLedger(observed, { ...balance(books), lost: 1 }, bound)
    expect(promisesOf(observed)).toEqual([])
    Checks.judgeLedger(observed, balance(books), bound)
    expect(promisesOf(observed)).toEqual(["C6"])
  })

  it("catches a key that was never minted", () => {
    const observed = new Observed()
    const ledger = balance({ ...books, pooled: ["z"] })
    Checks.judgeLedger(observed, { ...ledger, lost: 0 }, Checks.lostBound(noHarm(), 0, capacities))
    expect(observed.violations).toEqual([{ promise: "C6", evidence: "1 keys were never minted, such as z" }])
  })
})

describe("the checks of answers", () => {
  const acknowledged = () => new Acknowledged([["d", "https://d.example/"]])

  it("catch a key that is given twice", () => {
    const observed = new Observed()
    judgeCreate(observed, acknowledged(), answer(201, { body: `{"key":"d"}` }), "https://other.example/")
    expect(promisesOf(observed)).toEqual(["C1"])
  })

  it("catch a redirect to another link's URL, and an acknowledged link that is gone", () => {
    const observed = new Observed()
    const expected = { key: "d", at: "node-1" }
    judgeRedirect(observed, acknowledged(), answer(302, { location: "https://other.example/" }), expected)
    judgeRedirect(observed, acknowledged(), answer(404), expected)
    judgeRedirect(observed, acknowledged(), answer(503), expected)
    expect(promisesOf(observed)).toEqual(["C1", "C3"])
  })

  it("catch an acknowledged link that is not in the database, or is bound to another URL", () => {
    const observed = new Observed()
    Checks.compareBound(observed, acknowledged(), { ...books, bound: new Map() })
    Checks.compareBound(observed, acknowledged(), { ...books, bound: new Map([["d", "https://o.example/"]]) })
    Checks.compareBound(observed, acknowledged(), books)
    expect(promisesOf(observed)).toEqual(["C2", "C1"])
  })

  it.live("catch a node that does not resolve an acknowledged link", () =>
    Effect.gen(function* () {
      const port = yield* serve((_, response) => response.writeHead(503).end())
      const observed = new Observed()
      const node = { name: "node-1", port }
      expect(yield* Checks.resolveAll(observed, acknowledged(), node)).toEqual({ right: 0, askedAgain: 2 })
      expect(promisesOf(observed)).toEqual(["C3"])
    }).pipe(Effect.scoped)
  )
})

describe("what was acknowledged", () => {
  const urls = ["https://a.example/", "https://b.example/"] as const

  it("may be forgotten while PostgreSQL may forget, and its key may not be given to others", () => {
    const acknowledged = new Acknowledged([["before", urls[0]]])
    acknowledged.mayForget()
    expect(acknowledged.add("lost", urls[0])).toBe(undefined)
    expect(acknowledged.add("kept", urls[1])).toBe(undefined)
    const observed = new Observed()
    judgeRedirect(observed, acknowledged, answer(404), { key: "lost", at: "node-1" })
    expect(promisesOf(observed)).toEqual([])
    expect(acknowledged.remembered(new Set(["kept"]))).toBe(1)
    expect([...acknowledged.links.keys()]).toEqual(["before", "kept"])
    expect(acknowledged.add("lost", urls[1])).toBe("C9")
    Checks.compareBound(observed, acknowledged, {
      ...books,
      bound: new Map([
        ["before", urls[0]],
        ["kept", urls[1]],
        ["lost", urls[1]]
      ])
    })
    expect(promisesOf(observed)).toContain("C9")
  })

  it("has the URL of the last change, and either where nobody knows how that went", () => {
    const acknowledged = new Acknowledged([["k", urls[0]]])
    acknowledged.keepForChanges("k", urls[0])
    const link = acknowledged.takeForChange(urls[1])!
    expect(acknowledged.takeForChange(urls[1])).toBe(undefined)
    acknowledged.changed(link, urls[1], true)
    expect([acknowledged.isRight("k", urls[0]), acknowledged.isRight("k", urls[1])]).toEqual([false, true])
    acknowledged.changed(acknowledged.takeForChange(urls[0])!, urls[0], false)
    expect([acknowledged.isRight("k", urls[0]), acknowledged.isRight("k", urls[1])]).toEqual([true, true])
  })
})

describe("outages", () => {
  it("last from the first request that failed to the first that did not, at the nodes that were not at fault", () => {
    let now = 0
    const outages = new Outages(() => now)
    outages.note("node-1", "hot", 0, false)
    outages.note("node-2", "hot", 0, false)
    outages.note("node-2", "hot", 100, false)
    outages.note("node-2", "hot", 300, true)
    outages.note("node-2", "create", 400, false)
    now = 1_000
    expect(outages.longest("node-1")).toEqual([
      { node: "node-2", operation: "hot", ms: 300 },
      { node: "node-2", operation: "create", ms: 600 }
    ])
    expect(outages.longest(undefined)[0]).toEqual({ node: "node-1", operation: "hot", ms: 1_000 })
    outages.mark()
    expect(outages.longest("node-1")).toEqual([])
  })
})

describe("outages under several probes at once", () => {
  it("end with the first that began after them and was answered, whichever was over first", () => {
    const outages = new Outages(() => 10_000)
    outages.note("node-1", "change", 800, true)
    outages.note("node-1", "change", 2_400, true)
    outages.note("node-1", "change", 1_600, false)
    outages.note("node-1", "change", 0, false)
    expect(outages.longest(undefined)).toEqual([{ node: "node-1", operation: "change", ms: 800 }])
    outages.note("node-1", "change", 3_000, false)
    outages.mark()
    expect(outages.longest(undefined)).toEqual([])
    outages.note("node-1", "change", 9_000, false)
    outages.note("node-1", "change", 10_500, true)
    expect(outages.longest(undefined)).toEqual([{ node: "node-1", operation: "change", ms: 500 }])
  })

  it.live("are those of a class, not of one request that waits", () =>
    Effect.gen(function* () {
      const held: Array<ServerResponse> = []
      let [answered, isGivenUp] = [0, false]
      const port = yield* serve((request, response) => {
        if (request.url === "/a" && held.length === 0) {
          held.push(response)
          response.on("close", () => (isGivenUp = true))
          return
        }
        if (request.url === "/a") answered++
        response.writeHead(302, { location: url }).end()
      })
      yield* Effect.gen(function* () {
        yield* Probes.start(
          {
            nodes: [{ name: "node-1", port }],
            adminKey: "key",
            hotKeys: ["a"],
            every_ms: 5,
            nextCold: () => undefined
          },
          new Observed(),
          new Acknowledged([["a", url]])
        )
        yield* until(() => answered >= 20)
        expect(isGivenUp).toBe(false)
        held.forEach((one) => one.writeHead(302, { location: url }).end())
      }).pipe(Effect.scoped)
    }).pipe(Effect.scoped)
  )
})

describe("the checks of a node that stands still", () => {
  const limits = { backendsPerNode: 52, others_ms: 7_000, visits_ms: 10_000 }
  const within: Omit<Froze, "back_ms"> = {
    kind: "freeze-link",
    target: "node-1",
    backends: 156,
    held_ms: 7_000,
    visits: 1,
    counted_ms: 10_000
  }
  const broken = (more: Partial<Froze>) => {
    const observed = new Observed()
    Checks.judgeFreeze(observed, { ...within, ...more }, limits, 3)
    return promisesOf(observed)
  }

  it("catch what is beyond each bound, and nothing within", () => {
    const beyond: ReadonlyArray<Partial<Froze>> = [
      {},
      { backends: 157 },
      { held_ms: 7_001 },
      { counted_ms: 10_001 },
      { counted_ms: null },
      { visits: 0 }
    ]
    expect(beyond.map(broken)).toEqual([[], ["connections"], ["C8"], ["C11"], ["C11"], ["C11"]])
  })

  it("tell for how long a visit was not counted, also in the middle", () => {
    const counted = new Counted()
    for (const at of [0, 1_000, 2_000]) counted.visited(at)
    expect(counted.saw(1, 1_500)).toBe(false)
    expect(counted.saw(1, 3_100)).toBe(false)
    expect(counted.saw(2, 3_200)).toBe(false)
    expect(counted.saw(3, 3_300)).toBe(true)
    expect(counted.visits).toBe(3)
    expect(counted.longest_ms).toBe(2_100)
  })
})

describe("the checks of redirects through a failover", () => {
  const limits = { failover: { hot: 0.999, cold: 0.99 } }
  const judged = (hot: readonly [sent: number, failed: number], cold: readonly [number, number]) => {
    const observed = new Observed()
    const tally = ([sent, failed]: readonly [number, number]) => ({ sent, answered: sent - failed })
    const untold = Checks.judgeRedirects(
      observed,
      { kind: "primary-kill", hot: tally(hot), cold: tally(cold) },
      limits
    )
    return { broken: observed.violations.map(({ evidence }) => evidence.split(" were")[0]), untold }
  }

  it("catch one more that failed than may", () => {
    expect(judged([2_000, 2], [300, 3])).toEqual({ broken: [], untold: [] })
    expect(judged([2_000, 3], [300, 4]).broken).toEqual([
      "primary-kill: 1997 of 2000 hot redirects",
      "primary-kill: 296 of 300 cold redirects"
    ])
  })

  it("say where there were too few, and catch two of those that failed", () => {
    expect(judged([999, 1], [99, 1])).toEqual({
      broken: [],
      untold: [
        "999 hot redirects are too few to tell 99.9 % from less",
        "99 cold redirects are too few to tell 99 % from less"
      ]
    })
    expect(judged([999, 2], [99, 2]).broken.length).toBe(2)
  })
})

describe("what clients ask", () => {
  it.live("of one kind goes on while that of another stands still, and counts only what was asked", () =>
    Effect.gen(function* () {
      let redirected = 0
      const held: Array<ServerResponse> = []
      const port = yield* serve((request, response) => {
        if (request.method === "GET") {
          redirected++
          response.writeHead(302, { location: url }).end()
        } else held.push(response)
        if (redirected >= 50) held.splice(0).forEach((one) => one.writeHead(503).end())
      })
      const acknowledged = new Acknowledged([["a", url]])
      const observed = new Observed()
      yield* Effect.gen(function* () {
        yield* Load.start(
          {
            port,
            apiKey: "key",
            clients: 2,
            requestsPerSecond: 400,
            parts: { hot: 0.5, cold: 0, create: 0.25, change: 0.25 },
            keys: ["a"],
            hotLinks: 1,
            nextCold: () => undefined,
            linksMax: 10,
            chance: () => 0
          },
          observed,
          acknowledged
        )
        yield* until(() => redirected >= 50)
      }).pipe(Effect.scoped)
      const { change, hot } = observed.tallyOf("calm")
      expect(hot.answered).toBeGreaterThanOrEqual(50)
      expect(change.sent).toBe(0)
    }).pipe(Effect.scoped)
  )

  it.live("as probes does not end an outage where there was nothing to ask for", () =>
    Effect.gen(function* () {
      const asked: Array<string | undefined> = []
      const port = yield* serve((request, response) => {
        asked.push(request.url)
        response.writeHead(503).end()
      })
      const cold = ["cold-1"]
      const outages = yield* Probes.start(
        {
          nodes: [{ name: "node-1", port }],
          adminKey: "key",
          hotKeys: ["a"],
          every_ms: 5,
          nextCold: () => cold.shift()
        },
        new Observed(),
        new Acknowledged([["a", url]])
      )
      const hot = () => asked.filter((path) => path === "/a").length
      yield* until(() => asked.includes("/cold-1") && hot() >= 10)
      outages.mark()
      const before = hot()
      yield* until(() => hot() >= before + 3)
      expect(outages.longest(undefined).map(({ operation }) => operation)).toContain("cold")
    }).pipe(Effect.scoped)
  )
})

describe("the time to recover", () => {
  const world = () => {
    let now = 0
    const observed = new Observed(() => now)
    /** Five of each operation, which take 10 ms together. */
    const ask = (ok: boolean) => {
      for (let turn = 0; turn < 5; turn++) {
        observed.begin("create")(ok, "503")
        observed.begin("hot")(ok, "503")
        now += 2
      }
    }
    return { observed, ask, pass: (ms: number) => (now += ms) }
  }

  it("ends when the first request of a second without failures began", () => {
    const { ask, observed } = world()
    ask(true)
    expect(observed.steadyFrom(0, 10)).toBe(0)
    expect(observed.steadyFrom(0, 11)).toBe(null)
  })

  it("goes on while requests fail", () => {
    const { ask, observed } = world()
    ask(false)
    ask(true)
    ask(true)
    expect(observed.steadyFrom(0, 10)).toBeGreaterThan(8)
    expect(observed.steadyFrom(0, 10)).toBeLessThan(9)
  })

  it("ends also after a time in which there were few requests, and none failed", () => {
    const { ask, observed, pass } = world()
    observed.begin("create")(true, "201")
    pass(500)
    for (let turn = 0; turn < 30; turn++) ask(true)
    expect(observed.steadyFrom(0, 50)).toBe(500)
  })

  it("goes on while a request is under way, and while nobody asks", () => {
    const { ask, observed } = world()
    expect(observed.steadyFrom(0, 0)).toBe(null)
    const end = observed.begin("create")
    ask(true)
    expect(observed.steadyFrom(0, 10)).toBe(null)
    end(true, "201")
    expect(observed.steadyFrom(0, 10)).toBe(0)
  })
})
