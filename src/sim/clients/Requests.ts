import type { Answer, Balancer } from "./Balancer.ts"
import type { Exchange, History, Wish } from "../History.ts"
import { isLed, missingUrls } from "../deployment/Visitors.ts"
import type { VirtualNode, VirtualRequest, VirtualResponse } from "../deployment/VirtualNode.ts"
import type { Chance } from "../world/Chance.ts"
import { s_us } from "../world/Time.ts"
import type { World } from "../world/World.ts"

/** How long a client waits for an answer at most. */
const patience_us = 10 * s_us

/** What requests go through. */
export interface RequestsOptions {
  readonly world: World
  readonly history: History
  readonly balancer: Balancer
  readonly nodes: () => ReadonlyArray<VirtualNode>
}

const noteManner = (exchange: Exchange, response: VirtualResponse) => {
  const { body, cacheControl, isIndexed, location, status, vary } = response
  const form = body === "" ? undefined : body.startsWith("<!doctype html>") ? "page" : "json"
  exchange.manner = { status, vary, isIndexed, cacheControl, form }
  if (status === 200) exchange.body = body
  if (isLed(response)) exchange.status = 302
  else if (location !== undefined) exchange.status = location.startsWith(missingUrls) ? 404 : 410
}

/** Sends what clients ask for, through the load balancer or to one node, and notes what came of it. */
export class Requests {
  readonly #options: RequestsOptions
  readonly #chance: Chance

  constructor(options: RequestsOptions) {
    this.#options = options
    this.#chance = options.world.chance("requests")
  }

  /** Sends a request for one wish, or for several at once. `done` is told when it is answered, or was waited for in vain. `slow_us`: how long its body takes to come. */
  send(
    wishes: ReadonlyArray<Wish>,
    asked: VirtualRequest,
    done: (exchanges: ReadonlyArray<Exchange>, answer: Answer | undefined) => void,
    slow_us?: number
  ) {
    const { balancer, history, nodes, world } = this.#options
    const exchanges = wishes.map((wish) => history.begin(wish))
    let isOver = false
    const finish = (answer: Answer | undefined) => {
      if (isOver) return
      isOver = true
      timer.isCancelled = true
      for (const exchange of exchanges) {
        exchange.answered_us = world.now_us
        const status = answer?.response.status ?? 0
        exchange.status = status
        exchange.location = answer?.response.location
        exchange.told = answer?.response.told
        if (exchange.kind === "redirect" && answer !== undefined) noteManner(exchange, answer.response)
        exchange.answeredBy = answer?.by
        exchange.tries = answer?.tries ?? 0
        world.tell(exchange.client, `got ${exchange.status}`, `${exchange.kind} ${exchange.number}`)
      }
      done(exchanges, answer)
    }
    const read = () => {
      if (!isOver) for (const exchange of exchanges) exchange.sent_us = world.now_us
    }
    const request = slow_us === undefined ? asked : { ...asked, slow: { after_us: slow_us, read } }
    const timer = world.after(patience_us, null, () => finish(undefined))
    const node = wishes[0]?.direct === true ? this.#chance.pick(nodes()) : undefined
    if (node === undefined) return balancer.send(request, finish)
    for (const exchange of exchanges) exchange.sentTo = node.process.id
    balancer.ask(node, request, patience_us, (result) =>
      finish(
        result.tag === "answered" ? { response: result.response, by: node.process.id, tries: 1 } : undefined
      )
    )
  }
}
