// Many clients that create links, and a careful record of what they were told.

import { Effect } from "effect"
import type { Agent } from "node:http"
import { send } from "../support/http/HttpClient.ts"

/** What the clients were told. */
export interface Told {
  /** The URL of each key that a 201 named. */
  readonly acknowledged: Map<string, string>
  /** Keys that more than one 201 named. */
  readonly repeated: Array<string>
  /** URLs of creates whose answer never came, with the reason: they may be stored or not. */
  readonly unanswered: Array<{ readonly url: string; readonly code: string }>
  /** Creates that were answered 503: there was no time for them, and they may be stored or not. */
  readonly unavailable: Array<string>
  /** Other answers, which nobody should get. */
  readonly refused: Array<string>
}

/** Nothing yet. */
export const nothingTold = (): Told => ({
  acknowledged: new Map(),
  repeated: [],
  unanswered: [],
  unavailable: [],
  refused: []
})

/** One create, and the record of its answer; tells whether there was one. */
export const createLink = (agent: Agent, port: number, url: string, told: Told): Effect.Effect<boolean> =>
  send(agent, port, {
    method: "POST",
    path: "/api/v1/links",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ url })
  }).pipe(
    Effect.match({
      onSuccess: (answer) => {
        if (answer.status !== 201) {
          if (answer.status === 503) told.unavailable.push(url)
          else told.refused.push(`${answer.status} ${answer.text}`)
          return true
        }
        const { key } = JSON.parse(answer.text) as { key: string }
        if (told.acknowledged.has(key)) told.repeated.push(key)
        told.acknowledged.set(key, url)
        return true
      },
      onFailure: ({ code }) => {
        told.unanswered.push({ url, code })
        return false
      }
    })
  )

/** Clients that create links side by side, each one after the other, of URLs that are drawn from one sequence. */
export interface Load {
  readonly agent: Agent
  readonly port: number
  readonly clients: number
  /** Creates of all clients together. */
  readonly creates: number
  /** Something that no other load's URLs have. */
  readonly name: string
  readonly told: Told
  /** Run whenever a client has had an answer. */
  readonly afterEach?: () => void
  /** What a client waits for whose create was not answered, before it goes on; without it, it stops. */
  readonly afterLoss?: Effect.Effect<void>
}

/** The URL of a load's create number `index`. */
export const urlOf = (name: string, index: number) => `https://example.com/${name}/${index}`

/** What clients were told, in a line for messages. */
export const summaryOf = ({ acknowledged, refused, unanswered, unavailable }: Told) =>
  `acknowledged ${acknowledged.size}, unanswered ${unanswered.length}, unavailable ${unavailable.length}, refused ${refused.length}`

/** Runs a load to its end. */
export const run = ({ afterEach, afterLoss, agent, clients, creates, name, port, told }: Load) => {
  let next = 0
  const client: Effect.Effect<void> = Effect.gen(function* () {
    while (next < creates) {
      const url = urlOf(name, next++)
      const answered = yield* createLink(agent, port, url, told)
      if (answered) afterEach?.()
      else if (afterLoss === undefined) return
      else yield* afterLoss
    }
  })
  return Effect.all(
    Array.from({ length: clients }, () => client),
    { concurrency: "unbounded", discard: true }
  )
}

/** Follows every key that was acknowledged: gives those that do not redirect to their own URL, and where they lead. */
export const strays = (agent: Agent, port: number, told: Told) =>
  Effect.map(
    Effect.forEach(
      told.acknowledged,
      ([key, url]) =>
        Effect.map(send(agent, port, { path: `/${key}` }), ({ headers, status }) =>
          status === 302 && headers.location === url ? [] : [{ key, url, status, location: headers.location }]
        ),
      { concurrency: agent.maxSockets }
    ),
    (found) => found.flat()
  )
