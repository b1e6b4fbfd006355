import type { Cluster } from "../api/Types.ts"

type Nodes = NonNullable<Cluster["nodes"]>
type Actor = NonNullable<Cluster["actors"]>[number]

type Kind = Actor["actor"]

/** What happened to a node. */
type NodeEvent = "silent" | "stopping" | "answers" | "restarted" | "joined" | "left"

/** Something that happened: to a node, or to actors. */
type Event =
  | { readonly kind: "good" | "bad"; readonly what: NodeEvent; readonly address: string }
  | {
      readonly kind: "move"
      /** How many have moved, by their kind. */
      readonly actors: Readonly<Record<Kind, number>>
      /** The addresses of the nodes; `undefined` where one was never seen. */
      readonly from: string | undefined
      readonly to: string | undefined
    }

/** Something that was seen to happen. */
export type Change = Event & { readonly at: string }

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

const addressesOf = (nodes: Nodes) => new Map(nodes.map(({ address, id }) => [id, address]))

const nodeChanges = (before: Nodes, after: Nodes): ReadonlyArray<Event> => {
  const had = new Map(before.map((node) => [node.id, node]))
  const has = new Set(after.map(({ id }) => id))
  const addresses = new Set(after.map(({ address }) => address))
  const known = new Set(before.map(({ address }) => address))
  const came = after.flatMap(({ address, id, state }): ReadonlyArray<Event> => {
    const earlier = had.get(id)?.state
    if (earlier === state) return []
    if (state !== "up") return [{ kind: "bad", what: state, address }]
    const what = earlier !== undefined ? "answers" : known.has(address) ? "restarted" : "joined"
    return [{ kind: "good", what, address }]
  })
  const went = before.flatMap(({ address, id, state }): ReadonlyArray<Event> =>
    has.has(id) || addresses.has(address) || state === "silent"
      ? []
      : [{ kind: "bad", what: "left", address }]
  )
  return [...went, ...came]
}

const moveChanges = (
  moves: ReadonlyArray<readonly [from: string, to: string, actor: Actor]>,
  addresses: ReadonlyMap<string, string>
): ReadonlyArray<Event> => {
  const ways = new Map<string, Extract<Event, { readonly kind: "move" }>>()
  for (const [from, to, { actor }] of moves) {
    const [before, after] = [addresses.get(from), addresses.get(to)]
    const way = `${before} ${after}`
    const actors = ways.get(way)?.actors ?? { KeyRange: 0, PoolShard: 0, UrlMapping: 0 }
    ways.set(way, {
      kind: "move",
      actors: { ...actors, [actor]: actors[actor] + 1 },
      from: before,
      to: after
    })
  }
  return [...ways.values()]
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
