import * as Iso8601 from "../Iso8601.ts"
import type { Answer, Balancer } from "./Balancer.ts"
import type { Exchange, History } from "./History.ts"
import type { WorkloadOptions } from "./Options.ts"
import { adminKey } from "./Bystanders.ts"
import type { VirtualNode, VirtualRequest } from "./VirtualNode.ts"
import type { Chance } from "./world/Chance.ts"
import { ms_us, s_us } from "./world/Time.ts"
import type { World } from "./world/World.ts"

/** How long a client waits for an answer at most. */
const patience_us = 10 * s_us

/** Requests that a client in a hurry sends at once at most. */
const burstMax = 20

/** Aliases that clients want: few, so that they want the same ones. */
const aliases = Array.from({ length: 40 }, (_, index) => `alias-${index}`)

/** Visits that a link of few visits has at most. */
const visitsMax = 8

/** Links that clients remember, of which they ask the first ones most. */
const rememberedMax = 400

const jsonOf = (body: Uint8Array | undefined): { readonly key?: string } =>
  body === undefined ? {} : (JSON.parse(Buffer.from(body).toString()) as { key?: string })

const requestOf = (
  kind: "redirect" | "change" | "delete",
  key: string,
  url: string | undefined
): VirtualRequest => {
  const path = `/api/v1/links/${key}`
  switch (kind) {
    case "redirect":
      return { method: "GET", path: `/${key}`, headers: { accept: "application/json" } }
    case "change":
      return {
        method: "PATCH",
        path,
        headers: { "x-api-key": adminKey, "content-type": "application/json" },
        body: JSON.stringify({ url })
      }
    case "delete":
      return { method: "DELETE", path, headers: { "x-api-key": adminKey } }
  }
}

/** What clients are given. */
export interface ClientsOptions {
  readonly world: World
  readonly history: History
  readonly balancer: Balancer
  readonly nodes: () => ReadonlyArray<VirtualNode>
  readonly workload: WorkloadOptions
}

/** Many clients who create, follow, change and delete links, through the load balancer or at one node. */
export class Clients {
  readonly #options: ClientsOptions
  readonly #chance: Chance
  /** Keys that somebody was given, the oldest first. */
  readonly #known: Array<string> = []

  constructor(options: ClientsOptions) {
    this.#options = options
    this.#chance = options.world.chance("clients")
  }

  /** Has all clients at work until a time. */
  start(until_us: number) {
    for (let number = 0; number < this.#options.workload.clients; number++)
      this.#live(`client-${number}`, until_us)
  }

  #live(client: string, until_us: number) {
    const { workload, world } = this.#options
    let own: string | undefined
    const next = () => {
      const pause_us = this.#chance.waiting(workload.think_ms * ms_us)
      if (world.now_us + pause_us < until_us) world.after(pause_us, null, act)
    }
    const act = () => {
      const times = this.#chance.happens(workload.bursts) ? this.#chance.between(2, burstMax) : 1
      let left = times
      for (let time = 0; time < times; time++) {
        this.#request(client, own, (created) => {
          own = created ?? own
          if (--left === 0) next()
        })
      }
    }
    next()
  }

  #request(client: string, own: string | undefined, done: (created?: string) => void) {
    const { workload } = this.#options
    const wish = this.#chance.happens(workload.wished) ? this.#chance.pick(aliases) : undefined
    const key = own !== undefined && this.#chance.happens(workload.justCreated) ? own : this.#popular()
    if (key === undefined || this.#chance.happens(workload.created)) return this.#create(client, done)
    if (this.#chance.happens(workload.deleted)) return this.#simple(client, "delete", key, done)
    if (this.#chance.happens(workload.changed)) return this.#simple(client, "change", key, done)
    this.#simple(client, "redirect", wish ?? key, done)
  }

  /** A target that nobody has asked for yet. */
  #newUrl() {
    return `https://example.com/${this.#options.history.exchanges.length}`
  }

  /** A key that was given to somebody: after Zipf's law, the n-th is asked for 1/n as often as the first. */
  #popular(): string | undefined {
    if (this.#known.length === 0) return undefined
    const rank = Math.floor(Math.exp(this.#chance.fraction() * Math.log(this.#known.length + 1))) - 1
    return this.#known[Math.min(rank, this.#known.length - 1)]
  }

  #create(client: string, done: (created?: string) => void) {
    const { history, workload, world } = this.#options
    const alias = this.#chance.happens(workload.withAlias) ? this.#chance.pick(aliases) : undefined
    const expiresAt_ms = this.#chance.happens(workload.withExpiry)
      ? world.now_ms + this.#chance.between(2_000, 20_000)
      : undefined
    const maxVisits = this.#chance.happens(workload.withMaxVisits)
      ? this.#chance.between(1, visitsMax)
      : undefined
    const url = this.#newUrl()
    const exchange = history.begin({
      client,
      kind: "create",
      key: undefined,
      url,
      alias,
      expiresAt_ms,
      maxVisits,
      direct: false
    })
    const expiresAt = expiresAt_ms === undefined ? undefined : Iso8601.formatMoment(expiresAt_ms)
    const request: VirtualRequest = {
      method: "POST",
      path: "/api/v1/links",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ url, alias, expiresAt, maxVisits })
    }
    this.#send(exchange, request, (answer) => {
      if (answer?.response.status !== 201) return done()
      exchange.key = jsonOf(answer.response.body).key
      if (exchange.key === undefined) return done()
      if (this.#known.length < rememberedMax) this.#known.push(exchange.key)
      done(exchange.key)
    })
  }

  #simple(client: string, kind: "redirect" | "change" | "delete", key: string, done: () => void) {
    const url = kind === "change" ? this.#newUrl() : undefined
    const direct = kind === "redirect" && this.#chance.happens(0.3)
    const exchange = this.#options.history.begin({
      client,
      kind,
      key,
      url,
      alias: undefined,
      expiresAt_ms: undefined,
      maxVisits: undefined,
      direct
    })
    this.#send(exchange, requestOf(kind, key, url), () => done())
  }

  #send(exchange: Exchange, request: VirtualRequest, done: (answer: Answer | undefined) => void) {
    const { balancer, nodes, world } = this.#options
    let isOver = false
    const finish = (answer: Answer | undefined) => {
      if (isOver) return
      isOver = true
      timer.isCancelled = true
      exchange.answered_us = world.now_us
      exchange.status = answer?.response.status ?? 0
      exchange.location = answer?.response.location
      exchange.answeredBy = answer?.by
      exchange.tries = answer?.tries ?? 0
      world.tell(exchange.client, `got ${exchange.status}`, `${exchange.kind} ${exchange.number}`)
      done(answer)
    }
    const timer = world.after(patience_us, null, () => finish(undefined))
    const node = exchange.direct ? this.#chance.pick(nodes()) : undefined
    if (node === undefined) return balancer.send(request, finish)
    balancer.ask(node, request, patience_us, (result) =>
      finish(
        result.tag === "answered" ? { response: result.response, by: node.process.id, tries: 1 } : undefined
      )
    )
  }
}
