import type { Answer, Balancer } from "./Balancer.ts"
import { aliases, type Draft, Drafts, requestOf as createOf } from "./Drafts.ts"
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

/** How often a client with an `Idempotency-Key` repeats its create at most, and how long it waits before the first time; twice as long each further time. */
const repeatsMax = 4
const repeatAfter_us = 600 * ms_us

/** When a client sends a keyed create once more for no reason, at most: with another one under way, or long after it was answered. */
const onceMoreSoon_us = 20 * ms_us
const onceMoreLate_us = 8 * s_us

/** Links that clients remember, of which they ask the first ones most. */
const rememberedMax = 400

/** What is read of the answer to a create: a link's key, or a problem's type. */
interface CreateAnswer {
  readonly key?: string
  readonly type?: string
}

const jsonOf = (body: string | undefined): CreateAnswer =>
  body === undefined || body === "" ? {} : (JSON.parse(body) as CreateAnswer)

/** Whether the answer to a create says what came of it, so that asking again would tell nothing new. */
const isFinal = ({ body, status }: Exchange) =>
  status > 0 && status < 500 && !(status === 409 && jsonOf(body).type?.endsWith("in-progress") === true)

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
  readonly #drafts: Drafts
  /** Keys that somebody was given, the oldest first. */
  readonly #known: Array<string> = []

  constructor(options: ClientsOptions) {
    this.#options = options
    this.#chance = options.world.chance("clients")
    this.#drafts = new Drafts(options.world, options.workload)
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

  /** A key that was given to somebody: after Zipf's law, the n-th is asked for 1/n as often as the first. */
  #popular(): string | undefined {
    if (this.#known.length === 0) return undefined
    const rank = Math.floor(Math.exp(this.#chance.fraction() * Math.log(this.#known.length + 1))) - 1
    return this.#known[Math.min(rank, this.#known.length - 1)]
  }

  #create(client: string, done: (created?: string) => void) {
    const draft = this.#drafts.next()
    if (draft.idempotencyKey === undefined) return this.#ask(client, draft, ({ key }) => done(key))
    this.#onceMore(client, draft)
    this.#insist(client, draft, 0, done)
  }

  /** Asks again until it is known what came of it, each time some node. */
  #insist(client: string, draft: Draft, repeats: number, done: (created?: string) => void) {
    this.#ask(client, draft, (exchange) => {
      if (isFinal(exchange) || repeats === repeatsMax) return done(exchange.key)
      const pause_us = repeatAfter_us * 2 ** repeats * (0.5 + this.#chance.fraction())
      this.#options.world.after(pause_us, null, () => this.#insist(client, draft, repeats + 1, done))
    })
  }

  /** What clients do that have lost track: the same once more, or something else with the key. */
  #onceMore(client: string, draft: Draft) {
    const again = (most_us: number, other: Draft) =>
      this.#options.world.after(this.#chance.below(most_us), null, () => this.#ask(client, other))
    const what = this.#chance.below(6)
    if (what === 0) again(onceMoreSoon_us, draft)
    if (what === 1) again(onceMoreLate_us, draft)
    if (what === 2) again(onceMoreLate_us, { ...draft, url: this.#drafts.newUrl() })
  }

  /** Sends a create once. */
  #ask(client: string, draft: Draft, done: (exchange: Exchange) => void = () => {}) {
    const exchange = this.#options.history.begin({ client, kind: "create", ...draft })
    this.#send(exchange, createOf(draft), (answer) => {
      const { body, isReplay, status } = answer?.response ?? { status: 0 }
      exchange.body = body
      exchange.isReplay = isReplay === true
      if (status === 201 || status === 200) {
        exchange.key = jsonOf(exchange.body).key
        this.#know(exchange)
      }
      done(exchange)
    })
  }

  #know({ isReplay, key, status }: Exchange) {
    if (key === undefined || this.#known.length >= rememberedMax) return
    const isNew = status === 201 && !isReplay
    if (isNew || !this.#known.includes(key)) this.#known.push(key)
  }

  #simple(client: string, kind: "redirect" | "change" | "delete", key: string, done: () => void) {
    const url = kind === "change" ? this.#drafts.newUrl() : undefined
    const direct = kind === "redirect" && this.#chance.happens(0.3)
    const exchange = this.#options.history.begin({ client, kind, key, url, direct })
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
    const node = exchange.direct === true ? this.#chance.pick(nodes()) : undefined
    if (node === undefined) return balancer.send(request, finish)
    balancer.ask(node, request, patience_us, (result) =>
      finish(
        result.tag === "answered" ? { response: result.response, by: node.process.id, tries: 1 } : undefined
      )
    )
  }
}
