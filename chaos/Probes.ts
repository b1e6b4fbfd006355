// Each node is asked past the load balancer, all the time, so that it shows for how long any class of request failed there.

import { Effect, type Scope } from "effect"
import type { Acknowledged } from "./Acknowledged.ts"
import * as HttpClient from "./Client.ts"
import { changing, creating, judgeCreate, judgeRedirect } from "./Load.ts"
import { answerMax_ms, type Observed, type Operation, operations } from "./Observed.ts"
import type { Node } from "./Topology.ts"

/** For how long requests of a class failed at a node without a break. */
export interface Outage {
  readonly node: string
  readonly operation: Operation
  readonly ms: number
}

/** A request of a probe. */
interface Asked {
  readonly start: number
  readonly ok: boolean
}

const inOrder = (a: Asked, b: Asked) => a.start - b.start

/** From the first that failed to the next that did not, or to now. */
const longestOf = (asked: ReadonlyArray<Asked>, now: number): number => {
  let since: number | null = null
  let longest = 0
  for (const { ok, start } of asked.toSorted(inOrder)) {
    if (!ok) since ??= start
    else if (since !== null) {
      longest = Math.max(longest, start - since)
      since = null
    }
  }
  return since === null ? longest : Math.max(longest, now - since)
}

/** What the probes saw since the last mark. Several may be under way at once: they count in the order in which they began. */
export class Outages {
  readonly #now: () => number
  readonly #seen = new Map<
    string,
    { readonly node: string; readonly operation: Operation; readonly asked: Array<Asked> }
  >()
  #marked = Number.NEGATIVE_INFINITY

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Forgets what is over. */
  mark(): void {
    this.#marked = this.#now()
    for (const one of this.#seen.values()) {
      const last = one.asked.toSorted(inOrder).at(-1)
      one.asked.length = 0
      if (last?.ok === false) one.asked.push({ start: this.#marked, ok: false })
    }
  }

  /** Notes a request that began at `start`, on the clock of `performance.now()`. */
  note(node: string, operation: Operation, start: number, ok: boolean): void {
    const name = `${node} ${operation}`
    const one = this.#seen.get(name) ?? { node, operation, asked: [] }
    this.#seen.set(name, one)
    one.asked.push({ start: Math.max(start, this.#marked), ok })
  }

  /** The longest outages of each class, those of the node `except` left out. */
  longest(except: string | undefined): ReadonlyArray<Outage> {
    return operations.flatMap((operation) => {
      const [worst] = [...this.#seen.values()]
        .filter((one) => one.operation === operation && one.node !== except)
        .map(({ asked, node }) => ({ node, operation, ms: Math.round(longestOf(asked, this.#now())) }))
        .toSorted((a, b) => b.ms - a.ms)
      return worst === undefined || worst.ms === 0 ? [] : [worst]
    })
  }
}

/** So many of one class may be under way at a node: one that waits holds no later one up. */
const underWayMax = 16

/** What the probes ask with. */
export interface ProbeOptions {
  readonly nodes: ReadonlyArray<Pick<Node, "name" | "port">>
  readonly adminKey: string
  readonly hotKeys: ReadonlyArray<string>
  /** How often each class is asked for at each node, in milliseconds. */
  readonly every_ms: number
  readonly nextCold: () => string | undefined
}

/** Starts them; they stop when the scope closes, after the requests under way. */
export const start = (
  { adminKey, every_ms, hotKeys, nextCold, nodes }: ProbeOptions,
  observed: Observed,
  acknowledged: Acknowledged
): Effect.Effect<Outages, never, Scope.Scope> =>
  Effect.gen(function* () {
    const outages = new Outages()
    const state = { isStopped: false }

    /** Tells whether the answer was right; undefined where there was nothing to ask for. */
    const ask = async (client: HttpClient.Client, node: string, operation: Operation, turn: number) => {
      const requestId = `chaos-probe-${node}-${operation}-${turn}`
      if (operation === "create") {
        const url = `https://example.com/${requestId}`
        const answer = await client.ask(creating({ adminKey }, requestId, url))
        return judgeCreate(observed, acknowledged, answer, url) !== null
      }
      if (operation === "change") {
        const answer = await changing(acknowledged, { apiKey: adminKey, requestId })?.ask(client)
        return answer && answer.status === 200
      }
      const key = operation === "cold" ? nextCold() : hotKeys[turn % hotKeys.length]
      if (key === undefined) return undefined
      const answer = await client.ask({ method: "GET", path: `/${key}`, requestId })
      return judgeRedirect(observed, acknowledged, answer, { key, at: node })
    }
    const run = async ({ name, port }: Pick<Node, "name" | "port">, operation: Operation) => {
      const idle: Array<HttpClient.Client> = []
      const underWay = new Set<Promise<void>>()
      const probe = async (turn: number) => {
        const client = idle.pop() ?? HttpClient.make(port)
        const begun = performance.now()
        const isRight = await ask(client, name, operation, turn)
        const isInTime = performance.now() - begun <= answerMax_ms
        if (isRight !== undefined) outages.note(name, operation, begun, isRight && isInTime)
        idle.push(client)
      }
      for (let turn = 0; !state.isStopped; turn++) {
        if (underWay.size < underWayMax) {
          const one: Promise<void> = probe(turn).finally(() => underWay.delete(one))
          underWay.add(one)
        }
        await new Promise((resolve) => setTimeout(resolve, every_ms))
      }
      await Promise.all(underWay)
      idle.forEach((client) => client.close())
    }

    yield* Effect.acquireRelease(
      Effect.sync(() => nodes.flatMap((node) => operations.map((operation) => run(node, operation)))),
      (running) =>
        Effect.suspend(() => {
          state.isStopped = true
          return Effect.promise(() => Promise.all(running))
        })
    )
    return outages
  })
