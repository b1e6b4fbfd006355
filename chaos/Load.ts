// A steady load of clients through the load balancer.

import { Effect, type Scope } from "effect"
import type { Acknowledged } from "./Acknowledged.ts"
import type { Answer, Asking, Client } from "./Client.ts"
import * as HttpClient from "./Client.ts"
import type { Observed, Operation } from "./Observed.ts"
import type { Topology } from "./Topology.ts"

/** How much load, of what. */
export interface LoadOptions {
  readonly port: number
  readonly apiKey: string
  /** Each has one request under way at most. */
  readonly clients: number
  /** Of all clients together, where they come to it; a client that is late skips its turns. */
  readonly requestsPerSecond: number
  /** The parts of requests that create links, change one, and redirect by a link that few ask for. The others redirect by one that is asked for all the time. */
  readonly creates: number
  readonly changes: number
  readonly cold: number
  /** Links that are asked for all the time. */
  readonly hotLinks: number
  /** Gives the key of a link that no cache has yet; undefined where there is none left. */
  readonly nextCold: () => string | undefined
  /** Links at most; from then on there are only redirects. */
  readonly linksMax: number
  /** In 0 … 1. */
  readonly chance: () => number
}

const describe = ({ error, status }: Answer) => error ?? String(status)

/** Where an answer to a redirect comes from, and what it should have been. */
export interface Expected {
  readonly key: string
  /** Who was asked. */
  readonly at: string
}

/** What keys and URLs begin with of links that stand in the database beside those that were made by creates. */
export const coldKeyPrefix = "cold-"
/** See {@link coldKeyPrefix}. */
export const coldUrlPrefix = "https://example.com/cold/"

/** The key of a link that stands in the database beside those that were made by creates. */
export const coldKey = (index: number): string => `${coldKeyPrefix}${index}`

/** Where it leads. */
export const coldUrl = (key: string): string => `${coldUrlPrefix}${key}`

/** Looks at the answer to the redirect of an acknowledged link, and notes what must never be. Tells whether it is right. */
export const judgeRedirect = (
  observed: Observed,
  acknowledged: Acknowledged,
  answer: Answer,
  { at, key }: Expected
): boolean => {
  const { location, requestId, status } = answer
  const url = acknowledged.links.get(key) ?? acknowledged.forgotten.get(key)
  const evidence = `key ${key} of ${url}: ${at} answered ${describe(answer)} ${location ?? ""} (request ${requestId})`
  const isRight = acknowledged.isRight(key, location) || location === coldUrl(key)
  // The answer to one that was asked before its change came may come after that.
  const wasRight = location !== undefined && acknowledged.had(key, location)
  if (status === 302 && !isRight && !wasRight) observed.violate("C1", evidence)
  const mayBeGone = acknowledged.forgotten.has(key) || (acknowledged.suspects?.has(key) ?? false)
  if ((status === 404 || status === 410) && !mayBeGone) observed.violate("C3", evidence)
  return status === 302 && (isRight || wasRight)
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
  const before = acknowledged.links.get(key) ?? acknowledged.forgotten.get(key)
  const broken = acknowledged.add(key, url)
  if (broken !== undefined) {
    observed.violate(broken, `key ${key} was given to ${before} and to ${url} (request ${answer.requestId})`)
  }
  return key
}

/** What makes a link of a URL, as a create that holds a guard where it is told to. */
export const creating = (
  { adminKey }: Pick<Topology, "adminKey">,
  requestId: string,
  url: string,
  isGuarded = false
): Asking => ({
  method: "POST",
  path: "/api/v1/links",
  requestId,
  apiKey: adminKey,
  json: { url },
  ...(isGuarded && { idempotencyKey: requestId })
})

/** Changes a link's URL, and notes how that went. */
export const change = async (
  client: Client,
  acknowledged: Acknowledged,
  { apiKey, requestId }: { readonly apiKey: string; readonly requestId: string }
): Promise<Answer | undefined> => {
  const url = `https://example.com/changed/${requestId}`
  const link = acknowledged.takeForChange(url)
  if (link === undefined) return undefined
  const path = `/api/v1/links/${link.key}`
  const answer = await client.ask({ method: "PATCH", path, requestId, apiKey, json: { url } })
  acknowledged.changed(link, url, answer.status === 200)
  return answer
}

/** Part of the creates that hold a guard, by an Idempotency-Key. */
const guarded = 1 / 4

/** What one client does, turn by turn, until it is told to stop. */
const makeTurn = (
  options: LoadOptions,
  observed: Observed,
  acknowledged: Acknowledged,
  keys: Array<string>
) => {
  const { apiKey, chance } = options
  let serial = 0
  const create = async (client: Client, requestId: string) => {
    const url = `https://example.com/chaos/${requestId}`
    const end = observed.begin("create")
    const asking = creating({ adminKey: apiKey }, requestId, url, chance() < guarded)
    const answer = await client.ask(asking)
    const key = judgeCreate(observed, acknowledged, answer, url)
    end(key !== null, describe(answer))
    if (key === null) return
    acknowledged.keepForChanges(key, url)
    keys.push(key)
  }
  const changeOne = async (client: Client, requestId: string) => {
    const end = observed.begin("change")
    const answer = await change(client, acknowledged, { apiKey, requestId })
    if (answer === undefined) end(true, "nothing to change")
    else end(answer.status === 200, describe(answer))
  }
  const redirect = async (client: Client, requestId: string, operation: Operation, key: string) => {
    const end = observed.begin(operation)
    const answer = await client.ask({ method: "GET", path: `/${key}`, requestId })
    end(judgeRedirect(observed, acknowledged, answer, { key, at: "the load balancer" }), describe(answer))
  }
  const draw = (from: number, to: number) => keys[from + Math.floor(chance() * (to - from))]
  return (client: Client) => {
    const requestId = `chaos-${++serial}`
    const which = chance()
    const mayCreate = acknowledged.links.size < options.linksMax
    if (mayCreate && (keys.length === 0 || which < options.creates)) return create(client, requestId)
    if (which < options.creates + options.changes) return changeOne(client, requestId)
    const isCold = which < options.creates + options.changes + options.cold
    const hot = Math.min(options.hotLinks, keys.length)
    // Half of them are new links, which the owner's cache may have.
    const key = isCold
      ? ((chance() < 0.5 ? options.nextCold() : undefined) ?? draw(hot, keys.length) ?? draw(0, hot))
      : draw(0, hot)
    if (key === undefined || acknowledged.forgotten.has(key)) return Promise.resolve()
    return redirect(client, requestId, isCold ? "cold" : "hot", key)
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
