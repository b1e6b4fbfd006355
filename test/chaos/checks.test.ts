import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Acknowledged } from "../../chaos/Acknowledged.ts"
import * as Checks from "../../chaos/Checks.ts"
import type { Books } from "../../chaos/Ledger.ts"
import { balance } from "../../chaos/Ledger.ts"
import { judgeCreate, judgeRedirect } from "../../chaos/Load.ts"
import { Observed } from "../../chaos/Observed.ts"
import { Outages } from "../../chaos/Probes.ts"
import { noHarm } from "../../chaos/World.ts"

const answer = (status: number, more: { readonly location?: string; readonly body?: string } = {}) => ({
  status,
  location: more.location,
  body: more.body ?? "",
  requestId: "r",
  error: null
})

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
      const server = yield* Effect.acquireRelease(
        Effect.async<ReturnType<typeof createServer>>((resume) => {
          const server = createServer((_, response) => response.writeHead(503).end())
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      const observed = new Observed()
      const node = { name: "node-1", port: (server.address() as AddressInfo).port }
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
