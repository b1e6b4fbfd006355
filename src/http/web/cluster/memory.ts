import type { Cluster } from "../api/Types.ts"

/** Something that was seen to happen. */
export interface Change {
  readonly at: string
  readonly kind: "good" | "bad" | "move"
  readonly text: string
}

type Nodes = NonNullable<Cluster["nodes"]>
type Actor = NonNullable<Cluster["actors"]>[number]

/** What is remembered of the pictures so far. */
export interface Memory {
  /** The last picture, with what the stores told before where they did not tell then. */
  readonly picture: Cluster
  /** The last owner of each actor. */
  readonly owners: ReadonlyMap<string, string>
  /** Actors that have moved, and when. */
  readonly moved: ReadonlyMap<string, string>
  /** Addresses of all nodes that were ever seen. */
  readonly addresses: ReadonlyMap<string, string>
  /** The newest first. */
  readonly changes: ReadonlyArray<Change>
  /** Requests and links a second, the oldest first. */
  readonly paces: ReadonlyArray<{ readonly requests: number; readonly links: number }>
}

/** Changes that are shown. */
const changesMax = 12

/** Seconds that are drawn. */
const pacesMax = 60

/** Tells an actor from the others. */
export const nameOf = ({ actor, number }: Actor): string => `${actor} ${number}`

const kinds = {
  KeyRange: ["key range", "key ranges"],
  PoolShard: ["pool shard", "pool shards"],
  UrlMapping: ["partition", "partitions"]
} as const

const counted = (actors: ReadonlyArray<Actor>): string =>
  Object.entries(kinds)
    .flatMap(([kind, [one, many]]) => {
      const { length } = actors.filter(({ actor }) => actor === kind)
      return length === 0 ? [] : [`${length} ${length === 1 ? one : many}`]
    })
    .join(", ")

const addressesOf = (nodes: Nodes) => new Map(nodes.map(({ address, id }) => [id, address]))

const nodeChanges = (before: Nodes, after: Nodes): ReadonlyArray<Omit<Change, "at">> => {
  const had = new Map(before.map((node) => [node.id, node]))
  const has = new Set(after.map(({ id }) => id))
  const addresses = new Set(after.map(({ address }) => address))
  const known = new Set(before.map(({ address }) => address))
  const came = after.flatMap(({ address, id, state }): ReadonlyArray<Omit<Change, "at">> => {
    const earlier = had.get(id)?.state
    if (earlier === state) return []
    if (state === "silent") return [{ kind: "bad", text: `${address} does not answer` }]
    if (state === "stopping") return [{ kind: "bad", text: `${address} is stopping` }]
    if (earlier !== undefined) return [{ kind: "good", text: `${address} answers again` }]
    return [{ kind: "good", text: `${address} ${known.has(address) ? "has started again" : "has joined"}` }]
  })
  const went = before.flatMap(({ address, id, state }): ReadonlyArray<Omit<Change, "at">> =>
    has.has(id) || addresses.has(address) || state === "silent"
      ? []
      : [{ kind: "bad", text: `${address} has left` }]
  )
  return [...went, ...came]
}

const moveChanges = (
  moves: ReadonlyArray<readonly [from: string, to: string, actor: Actor]>,
  addresses: ReadonlyMap<string, string>
): ReadonlyArray<Omit<Change, "at">> => {
  const ways = new Map<string, Array<Actor>>()
  for (const [from, to, actor] of moves) {
    const way = `from ${addresses.get(from) ?? "a former node"} to ${addresses.get(to) ?? "another node"}`
    ways.set(way, [...(ways.get(way) ?? []), actor])
  }
  return [...ways].map(([way, actors]) => ({ kind: "move", text: `${counted(actors)} moved ${way}` }))
}

/** The first picture: nothing has happened yet. */
const begin = (picture: Cluster): Memory => ({
  picture,
  owners: new Map(),
  moved: new Map(),
  addresses: new Map(),
  changes: [],
  paces: []
})

/** Takes in the next picture: what has changed since the last one is what was seen to happen. */
export const observe = (memory: Memory | undefined, next: Cluster): Memory => {
  const before = memory ?? begin(next)
  const last = before.picture
  const picture = {
    ...next,
    nodes: next.nodes ?? last.nodes,
    actors: next.actors ?? last.actors,
    ranges: next.ranges ?? last.ranges,
    // Each node counts for itself, from when it is watched.
    ledger: next.ledger ?? last.ledger,
    forecast: next.forecast ?? last.forecast
  }
  const addresses = new Map([...before.addresses, ...addressesOf(picture.nodes ?? [])])
  const owners = new Map(before.owners)
  const moved = new Map(before.moved)
  const moves: Array<readonly [string, string, Actor]> = []
  for (const actor of picture.actors ?? []) {
    const name = nameOf(actor)
    const former = owners.get(name)
    if (actor.node === null || actor.node === former) continue
    owners.set(name, actor.node)
    if (former === undefined) continue
    moved.set(name, next.at)
    moves.push([former, actor.node, actor])
  }
  const happened = [
    ...moveChanges(moves, addresses),
    ...nodeChanges(last.nodes ?? picture.nodes ?? [], picture.nodes ?? []).toReversed()
  ].map((change) => ({ ...change, at: next.at }))
  const { linksPerSecond = null, requestsPerSecond = null } = next.traffic ?? {}
  return {
    picture,
    owners,
    moved,
    addresses,
    changes: [...happened, ...before.changes].slice(0, changesMax),
    paces: [...before.paces, { requests: requestsPerSecond ?? 0, links: linksPerSecond ?? 0 }].slice(
      -pacesMax
    )
  }
}
