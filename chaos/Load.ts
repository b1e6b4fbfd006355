// A steady load of clients through the load balancer.

import { Effect, type Scope } from "effect"
import type { Answer, Asking, Client } from "./Client.ts"
import * as HttpClient from "./Client.ts"
import type { Observed } from "./Observed.ts"
import type { Topology } from "./Topology.ts"

/** How much load, of what. */
export interface LoadOptions {
  readonly port: number
  readonly apiKey: string
  /** Each has one request under way at most. */
  readonly clients: number
  /** Of all clients together, where they come to it; a client that is late skips its turns. */
  readonly requestsPerSecond: number
  /** The part of requests that create links. */
  readonly creates: number
  /** Links at most; from then on there are only redirects. */
  readonly linksMax: number
  /** In 0 … 1. */
  readonly chance: () => number
}

/** Links that were acknowledged, and what became of the other creates. */
export interface Acknowledged {
  /** Their URLs, by key. */
  readonly links: Map<string, string>
  /** Creates without a 201. They may have been applied or not. */
  unacknowledged: number
}

const describe = ({ error, status }: Answer) => error ?? String(status)

/** Where an answer to a redirect comes from, and what it should have been. */
export interface Expected {
  readonly key: string
  readonly url: string
  /** Who was asked. */
  readonly at: string
}

/** Looks at the answer to the redirect of an acknowledged link, and notes what must never be. Tells whether it is right. */
export const judgeRedirect = (observed: Observed, answer: Answer, { at, key, url }: Expected): boolean => {
  const evidence = `key ${key} of ${url}: ${at} answered ${describe(answer)} ${answer.location ?? ""} (request ${answer.requestId})`
  if (answer.status === 302 && answer.location !== url) observed.violate("C1", evidence)
  if (answer.status === 404 || answer.status === 410) observed.violate("C3", evidence)
  return answer.status === 302 && answer.location === url
}

/**
 * Looks at the answer to a create, keeps what it acknowledged, and notes a key that was given before. Gives the key, or null where
 * there is none.
 */
export const judgeCreate = (
  observed: Observed,
  acknowledged: Acknowledged,
  answer: Answer,
  url: string
): string | null => {
  if (answer.status !== 201) {
    acknowledged.unacknowledged++
    return null
  }
  const { key } = JSON.parse(answer.body) as { readonly key: string }
  const before = acknowledged.links.get(key)
  if (before === undefined) acknowledged.links.set(key, url)
  else observed.violate("C1", `key ${key} was given to ${before} and to ${url} (request ${answer.requestId})`)
  return key
}

/** What makes a link of a URL. */
export const creating = (
  { adminKey }: Pick<Topology, "adminKey">,
  requestId: string,
  url: string
): Asking => ({
  method: "POST",
  path: "/api/v1/links",
  requestId,
  apiKey: adminKey,
  json: { url }
})

/** What one client does, turn by turn, until it is told to stop. */
const makeTurn = (
  options: LoadOptions,
  observed: Observed,
  acknowledged: Acknowledged,
  keys: Array<string>
) => {
  let serial = 0
  const create = async (client: Client, requestId: string) => {
    const url = `https://example.com/chaos/${requestId}`
    const end = observed.begin("create")
    const answer = await client.ask(creating({ adminKey: options.apiKey }, requestId, url))
    const key = judgeCreate(observed, acknowledged, answer, url)
    end(key !== null, describe(answer))
    if (key !== null) keys.push(key)
  }
  const redirect = async (client: Client, requestId: string, key: string) => {
    const url = acknowledged.links.get(key)!
    const end = observed.begin("redirect")
    const answer = await client.ask({ method: "GET", path: `/${key}`, requestId })
    end(judgeRedirect(observed, answer, { key, url, at: "the load balancer" }), describe(answer))
  }
  return (client: Client) => {
    const requestId = `chaos-${++serial}`
    const key = keys[Math.floor(options.chance() * keys.length)]
    const mayCreate = acknowledged.links.size < options.linksMax
    return mayCreate && (key === undefined || options.chance() < options.creates)
      ? create(client, requestId)
      : key === undefined
        ? Promise.resolve()
        : redirect(client, requestId, key)
  }
}

/** Starts the load; it stops when the scope closes, after the requests under way. */
export const start = (
  options: LoadOptions,
  observed: Observed,
  acknowledged: Acknowledged
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const turn = makeTurn(options, observed, acknowledged, [...acknowledged.links.keys()])
    const interval_ms = (1_000 * options.clients) / options.requestsPerSecond
    const state = { isStopped: false }

    const run = async (index: number) => {
      const client = HttpClient.make(options.port)
      let next = performance.now() + (index * interval_ms) / options.clients
      while (!state.isStopped) {
        const now = performance.now()
        if (now < next) {
          await new Promise((resolve) => setTimeout(resolve, next - now))
          continue
        }
        await turn(client)
        const missed = Math.max(0, Math.floor((performance.now() - next) / interval_ms))
        observed.skipped += missed
        next += interval_ms * (missed + 1)
      }
      client.close()
    }

    yield* Effect.acquireRelease(
      Effect.sync(() => Array.from({ length: options.clients }, (_, index) => run(index))),
      (running) =>
        Effect.suspend(() => {
          state.isStopped = true
          return Effect.promise(() => Promise.all(running))
        })
    )
  })
