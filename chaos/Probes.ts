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

/** What the probes saw since the last mark. */
export class Outages {
  readonly #now: () => number
  readonly #seen = new Map<string, { node: string; operation: Operation; since: number | null; ms: number }>()

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Forgets what is over. */
  mark(): void {
    for (const one of this.#seen.values()) {
      one.ms = 0
      if (one.since !== null) one.since = this.#now()
    }
  }

  /** Notes a request that began at `start`, on the clock of `performance.now()`. */
  note(node: string, operation: Operation, start: number, ok: boolean): void {
    const name = `${node} ${operation}`
    const one = this.#seen.get(name) ?? { node, operation, since: null, ms: 0 }
    this.#seen.set(name, one)
    if (!ok) {
      one.since ??= start
    } else if (one.since !== null) {
      one.ms = Math.max(one.ms, start - one.since)
      one.since = null
    }
  }

  /** The longest outages of each class, those of the node `except` left out. */
  longest(except: string | undefined): ReadonlyArray<Outage> {
    return operations.flatMap((operation) => {
      const [worst] = [...this.#seen.values()]
        .filter((one) => one.operation === operation && one.node !== except)
        .map(({ ms, node, since }) => ({
          node,
          operation,
          ms: Math.round(Math.max(ms, since === null ? 0 : this.#now() - since))
        }))
        .toSorted((a, b) => b.ms - a.ms)
      return worst === undefined || worst.ms === 0 ? [] : [worst]
    })
  }
}

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
        const answer = await changing(acknowledged, { apiKey: adminKey, requestId })?.(client)
        return answer && answer.status === 200
      }
      const key = operation === "cold" ? nextCold() : hotKeys[turn % hotKeys.length]
      if (key === undefined) return undefined
      const answer = await client.ask({ method: "GET", path: `/${key}`, requestId })
      return judgeRedirect(observed, acknowledged, answer, { key, at: node })
    }
    const run = async ({ name, port }: Pick<Node, "name" | "port">, operation: Operation) => {
      const client = HttpClient.make(port)
      for (let turn = 0; !state.isStopped; turn++) {
        const begun = performance.now()
        const isRight = await ask(client, name, operation, turn)
        const isInTime = performance.now() - begun <= answerMax_ms
        if (isRight !== undefined) outages.note(name, operation, begun, isRight && isInTime)
        const rest = every_ms - (performance.now() - begun)
        if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest))
      }
      client.close()
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
