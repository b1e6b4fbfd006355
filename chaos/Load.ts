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
  /** So many for each operation, so that those of one that stands still hold no other up. Each has one request under way at most. */
  readonly clients: number
  /** Of all clients together, where they come to it; a client that is late skips its turns. */
  readonly requestsPerSecond: number
  /** The parts of the operations, which add up to 1. */
  readonly parts: Readonly<Record<Operation, number>>
  /** Links that there are; those that are made are added. */
  readonly keys: Array<string>
  /** How many of them, the first ones, are asked for all the time. */
  readonly hotLinks: number
  /** Gives the key of a link that no cache has yet; undefined where there is none left. */
  readonly nextCold: () => string | undefined
  /** Links at most; from then on none are made. */
  readonly linksMax: number
  /** In 0 … 1. */
  readonly chance: () => number
}

/** What an answer was, in short. */
export const describe = ({ error, status }: Answer): string => error ?? String(status)

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
  observed: Pick<Observed, "violate">,
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
  observed: Pick<Observed, "violate">,
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

/** What changes a link's URL, and notes how that went; undefined where there is no link to change. */
export const changing = (
  acknowledged: Acknowledged,
  { apiKey, requestId }: { readonly apiKey: string; readonly requestId: string }
): { readonly key: string; readonly ask: (client: Pick<Client, "ask">) => Promise<Answer> } | undefined => {
  const url = `https://example.com/changed/${requestId}`
  const link = acknowledged.takeForChange(url)
  if (link === undefined) return undefined
  const path = `/api/v1/links/${link.key}`
  const ask = async (client: Pick<Client, "ask">) => {
    const answer = await client.ask({ method: "PATCH", path, requestId, apiKey, json: { url } })
    acknowledged.changed(link, url, answer.status === 200)
    return answer
  }
  return { key: link.key, ask }
}

/** Part of the creates that hold a guard, by an Idempotency-Key. */
const guarded = 1 / 4

/** What a client does in its turn. */
export type Turn = (client: Client) => Promise<void>

/** What clients do in their turns, by operation. */
const makeTurns = (
  { apiKey, chance, hotLinks, keys, linksMax, nextCold }: LoadOptions,
  observed: Observed,
  acknowledged: Acknowledged
): Readonly<Record<Operation, Turn>> => {
  let serial = 0
  const nextId = () => `chaos-${++serial}`
  const create = async (client: Client) => {
    if (acknowledged.links.size >= linksMax) return
    const requestId = nextId()
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
  const change = async (client: Client) => {
    const link = changing(acknowledged, { apiKey, requestId: nextId() })
    if (link === undefined) return
    const end = observed.begin("change")
    const answer = await link.ask(client)
    end(answer.status === 200, describe(answer))
  }
  const redirect = async (client: Client, operation: Operation, key: string | undefined) => {
    if (key === undefined || acknowledged.forgotten.has(key)) return
    const end = observed.begin(operation)
    const answer = await client.ask({ method: "GET", path: `/${key}`, requestId: nextId() })
    end(judgeRedirect(observed, acknowledged, answer, { key, at: "the load balancer" }), describe(answer))
  }
  const draw = (from: number, to: number) => keys[from + Math.floor(chance() * (to - from))]
  const hot = () => draw(0, Math.min(hotLinks, keys.length))
  // Half of them are new links, which the owner's cache may have.
  const cold = () =>
    (chance() < 0.5 ? nextCold() : undefined) ?? draw(Math.min(hotLinks, keys.length), keys.length) ?? hot()
  return {
    hot: (client) => redirect(client, "hot", hot()),
    cold: (client) => redirect(client, "cold", cold()),
    create,
    change
  }
}

/** What `steadily` does, and how much of it. */
export interface Steady<O extends string> extends Pick<
  LoadOptions,
  "port" | "clients" | "requestsPerSecond"
> {
  readonly parts: Readonly<Record<O, number>>
  readonly turns: Readonly<Record<O, Turn>>
  /** Turns were skipped: no client was free for them. */
  readonly skipped: (turns: number) => void
}

/** Starts clients that take turns at a steady rate; they stop when the scope closes, after the requests under way. */
export const steadily = <O extends string>({
  clients,
  parts,
  port,
  requestsPerSecond,
  skipped,
  turns
}: Steady<O>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const state = { isStopped: false }

    const run = async (turn: Turn, index: number, interval_ms: number) => {
      const client = HttpClient.make(port)
      let next = performance.now() + (index * interval_ms) / clients
      while (!state.isStopped) {
        const now = performance.now()
        if (now < next) {
          await new Promise((resolve) => setTimeout(resolve, next - now))
          continue
        }
        await turn(client)
        const missed = Math.max(0, Math.floor((performance.now() - next) / interval_ms))
        skipped(missed)
        next += interval_ms * (missed + 1)
      }
      client.close()
    }
    const runAll = () =>
      (Object.keys(parts) as Array<O>)
        .filter((operation) => parts[operation] > 0)
        .flatMap((operation) => {
          const interval_ms = (1_000 * clients) / (requestsPerSecond * parts[operation])
          return Array.from({ length: clients }, (_, index) => run(turns[operation], index, interval_ms))
        })

    yield* Effect.acquireRelease(Effect.sync(runAll), (running) =>
      Effect.suspend(() => {
        state.isStopped = true
        return Effect.promise(() => Promise.all(running))
      })
    )
  })

/** Starts the load; it stops when the scope closes, after the requests under way. */
export const start = (
  options: LoadOptions,
  observed: Observed,
  acknowledged: Acknowledged
): Effect.Effect<void, never, Scope.Scope> =>
  steadily({
    ...options,
    turns: makeTurns(options, observed, acknowledged),
    skipped: (turns) => {
      observed.skipped += turns
    }
  })
