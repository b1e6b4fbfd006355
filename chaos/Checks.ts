// What must hold at the end, when nothing is at fault any more.

import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import * as Client from "./Client.ts"
import type { Books, Ledger } from "./Ledger.ts"
import type { Acknowledged } from "./Acknowledged.ts"
import { judgeRedirect } from "./Load.ts"
import type { Observed } from "./Observed.ts"
import type { Node } from "./Topology.ts"
import type { Froze, Harm, Limits, Redirects } from "./World.ts"

/** Redirects that one check has under way at a node. */
const underWayMax = 8

/** A busy machine may let a node answer 503: it is asked again, so many times in all. */
const triesMax = 3

/** How many links a node resolved right, and how often it had to be asked again for one. */
export interface Resolved {
  readonly right: number
  readonly askedAgain: number
}

const isUnavailable = ({ status }: Client.Answer) => ![302, 404, 410].includes(status)

/** Asks a node, past the load balancer, for every acknowledged link. `answered` is told of each answer. */
export const resolveAll = (
  observed: Pick<Observed, "violate">,
  acknowledged: Acknowledged,
  node: Pick<Node, "name" | "port">,
  answered: (key: string, answer: Client.Answer) => void = () => {}
): Effect.Effect<Resolved> =>
  Effect.promise(async () => {
    const waiting = [...acknowledged.links.keys()]
    let [right, askedAgain] = [0, 0]
    const resolve = async (client: Client.Client, key: string) => {
      const asking = { method: "GET", path: `/${key}`, requestId: `chaos-final-${key}` } as const
      const ask = async () => {
        const answer = await client.ask(asking)
        answered(key, answer)
        return answer
      }
      let answer = await ask()
      for (let tries = 1; tries < triesMax && isUnavailable(answer); tries++) {
        askedAgain++
        answer = await ask()
      }
      if (judgeRedirect(observed, acknowledged, answer, { key, at: node.name })) right++
      else if (isUnavailable(answer)) {
        const what = answer.error ?? answer.status
        observed.violate("C3", `key ${key}: ${node.name} answered ${what} ${triesMax} times in the calm`)
      }
    }
    const resolveNext = async () => {
      const client = Client.make(node.port)
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        await resolve(client, next)
      }
      client.close()
    }
    await Promise.all(Array.from({ length: underWayMax }, resolveNext))
    return { right, askedAgain }
  })

/** Every acknowledged link stands in the database, with its URL and no other; one that was forgotten does with its own, or not at all. */
export const compareBound = (
  observed: Pick<Observed, "violate">,
  acknowledged: Acknowledged,
  { bound }: Pick<Books, "bound">
): void => {
  for (const [key, url] of acknowledged.forgotten) {
    const stands = bound.get(key)
    if (stands !== undefined && stands !== url) {
      observed.violate("C9", `key ${key} was acknowledged for ${url}, forgotten, and given to ${stands}`)
    }
  }
  for (const [key, url] of acknowledged.links) {
    const stands = bound.get(key)
    if (stands === undefined)
      observed.violate("C2", `key ${key} of ${url} was acknowledged and is not in the database`)
    else if (!acknowledged.isRight(key, stands))
      observed.violate("C1", `key ${key} was acknowledged for ${url} and is bound to ${stands}`)
  }
}

/** What decides how many keys may be lost. */
export interface Capacities {
  readonly bufferCapacity: number
  readonly poolHigh: number
  readonly pools: number
  readonly nodes: number
}

/** The parts of the bound on lost keys. The first three are C6; the others are what it leaves out. */
export interface LostBound {
  /** Buffers of nodes that were killed, or paused until others had their shards. */
  readonly buffers: number
  /** Pools that came back empty, or without their last pushes. */
  readonly pools: number
  /** One refill a pool shard that a kill, a pause or a stop of the database may have cut off. */
  readonly refills: number
  /** Leases that were popped when their Redis died, one a node. */
  readonly leases: number
  /** Creates that nobody knows the end of: their keys are never used again. */
  readonly creates: number
}

/** The bound on lost keys, from what really happened. */
export const lostBound = (harm: Harm, unacknowledged: number, capacities: Capacities): LostBound => {
  const { bufferCapacity, nodes, poolHigh, pools } = capacities
  return {
    buffers: (harm.nodeKills + harm.pauses) * bufferCapacity,
    pools: (harm.redisLosses + harm.failovers) * poolHigh,
    refills: (harm.nodeKills + harm.pauses + harm.databaseStops) * pools * poolHigh,
    leases: harm.redisKills * nodes * bufferCapacity,
    creates: unacknowledged
  }
}

/** The sum of the parts. */
export const total = (bound: LostBound): number =>
  Object.values(bound).reduce((sum: number, part: number) => sum + part, 0)

/** The ledger adds up, and not more is lost than may be. */
export const judgeLedger = (
  observed: Observed,
  { foreign, lost }: Ledger,
  bound: LostBound,
  databaseLosses = 0
): void => {
  if (databaseLosses === 0 && foreign.length > 0) {
    observed.violate(
      "C6",
      `${foreign.length} keys were never minted, such as ${foreign.slice(0, 3).join(", ")}`
    )
  }
  // A database that forgets says of keys that they were never minted, and skips others.
  if (databaseLosses === 0 && lost > total(bound))
    observed.violate("C6", `${lost} keys are lost, and ${total(bound)} may be: ${JSON.stringify(bound)}`)
}

/** What holds while a node stands still at a statement, besides that no class of request fails at the others for long. */
export const judgeFreeze = (
  observed: Observed,
  { backends, counted_ms, held_ms, kind, target, visits }: Omit<Froze, "back_ms">,
  { backendsPerNode, others_ms, visits_ms }: Pick<Limits, "backendsPerNode" | "others_ms" | "visits_ms">,
  nodes: number
): void => {
  const max = nodes * backendsPerNode
  if (backends > max) {
    observed.violate(
      "connections",
      `${kind}: PostgreSQL had ${backends} connections of nodes, not ${max} at most`
    )
  }
  if (held_ms > others_ms) {
    observed.violate("C8", `${kind}: PostgreSQL kept the transaction of ${target} open for ${held_ms} ms`)
  }
  if (visits === 0) observed.violate("C11", `${kind}: no other node redirected the link whose visits count`)
  if (counted_ms === null || counted_ms > visits_ms) {
    const within = `${visits_ms} ms, but ${counted_ms === null ? "not at all" : `after ${counted_ms} ms`}`
    observed.violate("C11", `${kind}: visits at other nodes were not counted within ${within}`)
  }
}

/** So many requests, at least, of which the part that may fail is one. */
export const tellingAt = (part: number) => Math.round(1 / (1 - part))

/**
 * What part of the redirects was answered right over all failovers to a standby that has every commit. Of fewer requests than one of which may fail, one may. Gives the
 * classes that had too few.
 */
export const judgeRedirects = (
  observed: Observed,
  redirects: Redirects,
  { failover }: Pick<Limits, "failover">
): ReadonlyArray<string> =>
  (["hot", "cold"] as const).flatMap((operation) => {
    const { answered, sent } = redirects[operation]
    const part = failover[operation]
    const enough = tellingAt(part)
    if (sent - answered > (1 - part) * Math.max(sent, enough) + 1e-9) {
      observed.violate(
        "redirects through a failover",
        `${redirects.kind}: ${answered} of ${sent} ${operation} redirects were answered right, not ${100 * part} %`
      )
    }
    return sent < enough
      ? [`${sent} ${operation} redirects are too few to tell ${100 * part} % from less`]
      : []
  })

/** What the nodes' logs say of one kind. */
export const linesWith = (nodes: ReadonlyArray<Pick<Node, "log">>, pattern: RegExp): ReadonlyArray<string> =>
  nodes.flatMap(({ log }) =>
    existsSync(log)
      ? readFileSync(log, "utf8")
          .split("\n")
          .filter((line) => pattern.test(line))
      : []
  )

/** What a node logs where the primary key refused a minted key. */
export const conflict = /^\{"message":"Key \S+ was bound already/

/** What a node logs where something of ours broke. */
export const broken = /^\{.*(A request broke|An actor is broken|could not be returned)/
