import { describe, expect, it } from "vitest"
import { formatMoment } from "../../../src/model/Iso8601.ts"
import type { Cluster } from "../../../src/http/web/api/Types.ts"
import { type Memory, observe } from "../../../src/http/web/cluster/memory.ts"

type Node = NonNullable<Cluster["nodes"]>[number]

const node = (id: string, state: Node["state"] = "up", address = `${id}:1`): Node => ({
  id,
  address,
  role: "all",
  version: null,
  state,
  silentSeconds: 0,
  uptimeSeconds: 10,
  bufferedKeys: 512,
  cachedLinks: 0,
  requestsPerSecond: 0,
  linksPerSecond: 0
})

/** A picture of nodes, and of the owners of some actors. */
const picture = (
  second: number,
  nodes: ReadonlyArray<Node> | null,
  owners: Readonly<Record<string, string | null>> = {}
): Cluster => ({
  at: formatMoment(1_000 * second),
  answeredBy: "a",
  nodes,
  actors:
    nodes === null
      ? null
      : Object.entries(owners).map(([name, node]) => {
          const [actor, number] = name.split(" ") as ["KeyRange" | "PoolShard" | "UrlMapping", string]
          return { actor, number: Number(number), node }
        }),
  pools: [],
  ranges: [],
  ledger: null,
  ledgerNote: "not counted",
  databaseWarnings: null,
  traffic: {
    requestsPerSecond: second,
    errorsPerSecond: 0,
    redirectsPerSecond: 0,
    linksPerSecond: null,
    redirects: { p50Ms: null, p99Ms: null },
    creates: { p50Ms: null, p99Ms: null }
  },
  forecast: null,
  regressions: []
})

const after = (...pictures: ReadonlyArray<Cluster>): Memory =>
  pictures.reduce<Memory | undefined>(observe, undefined)!

/** What happened, in short: to which node what, and which actors moved on which way. */
const told = (...pictures: ReadonlyArray<Cluster>) =>
  after(...pictures).changes.map((change) =>
    change.kind === "move"
      ? `${JSON.stringify(Object.values(change.actors))} ${change.from} ${change.to}`
      : `${change.address} ${change.what}`
  )

describe("what a page remembers of a cluster", () => {
  it("has nothing to tell of the first picture, nor of one that is the same", () => {
    const first = picture(1, [node("a"), node("b")], { "KeyRange 0": "a", "UrlMapping 1": null })
    expect(told(first)).toEqual([])
    expect(told(first, first)).toEqual([])
  })

  it("tells that a node dies and its actors move, also when they are nobody's in between", () => {
    const memory = after(
      picture(1, [node("a"), node("b")], { "KeyRange 0": "a", "UrlMapping 1": "b", "UrlMapping 2": "b" }),
      picture(2, [node("a"), node("b", "silent")], {
        "KeyRange 0": "a",
        "UrlMapping 1": null,
        "UrlMapping 2": null
      }),
      picture(3, [node("a"), node("b", "silent")], {
        "KeyRange 0": "a",
        "UrlMapping 1": "a",
        "UrlMapping 2": "a"
      })
    )
    expect(memory.changes).toEqual([
      {
        at: "1970-01-01T00:00:03.000Z",
        kind: "move",
        actors: { KeyRange: 0, PoolShard: 0, UrlMapping: 2 },
        from: "b:1",
        to: "a:1"
      },
      { at: "1970-01-01T00:00:02.000Z", kind: "bad", what: "silent", address: "b:1" }
    ])
    expect([...memory.moved.keys()]).toEqual(["UrlMapping 1", "UrlMapping 2"])
  })

  it("tells of actors by their kinds and ways", () => {
    const nodes = [node("a"), node("b"), node("c")]
    expect(
      told(
        picture(1, nodes, {
          "KeyRange 0": "c",
          "PoolShard 0": "c",
          "UrlMapping 0": "c",
          "UrlMapping 3": "c"
        }),
        picture(2, nodes, { "KeyRange 0": "a", "PoolShard 0": "a", "UrlMapping 0": "a", "UrlMapping 3": "b" })
      )
    ).toEqual(["[1,1,1] c:1 a:1", "[0,0,1] c:1 b:1"])
    const owned = { "KeyRange 0": "a" }
    expect(
      told(picture(1, nodes, owned), picture(2, nodes, { "KeyRange 0": null }), picture(3, nodes, owned))
    ).toEqual([])
  })

  it("tells of nodes that join, stop, leave, answer again and start again", () => {
    const a = node("a")
    expect(told(picture(1, [a]), picture(2, [a, node("b")]))).toEqual(["b:1 joined"])
    expect(told(picture(1, [a]), picture(2, [node("a", "stopping")]), picture(3, []))).toEqual([
      "a:1 left",
      "a:1 stopping"
    ])
    expect(told(picture(1, [node("a", "silent")]), picture(2, [a]))).toEqual(["a:1 answers"])
    expect(told(picture(1, [node("a", "silent")]), picture(2, [node("a2", "up", "a:1")]))).toEqual([
      "a:1 restarted"
    ])
    // So quickly that nobody saw it silent.
    expect(told(picture(1, [a]), picture(2, [node("a2", "up", "a:1")]))).toEqual(["a:1 restarted"])
    // A silent node is forgotten at last, which is no news.
    expect(told(picture(1, [a, node("b", "silent")]), picture(2, [a]))).toEqual([])
  })

  it("keeps what the stores told last while they do not tell", () => {
    const memory = after(picture(1, [node("a")], { "KeyRange 0": "a" }), picture(2, null))
    expect(memory.picture.nodes).toEqual([node("a")])
    expect(memory.picture.actors).toHaveLength(1)
    expect(memory.changes).toEqual([])
    expect(told(picture(1, null), picture(2, [node("a")]))).toEqual([])
  })

  it("is bounded: twelve changes, and a minute of paces", () => {
    const flapping = Array.from({ length: 100 }, (_, second) =>
      picture(second, [node("a", second % 2 === 0 ? "up" : "silent")])
    )
    const { changes, paces } = after(...flapping)
    expect(changes).toHaveLength(12)
    expect(changes[0]).toMatchObject({ at: "1970-01-01T00:01:39.000Z", what: "silent", address: "a:1" })
    expect(paces).toHaveLength(60)
    expect(paces.at(-1)).toEqual({ requests: 99, links: 0 })
  })
})
