import { Creates } from "./Creates.ts"
import { aliases } from "./Drafts.ts"
import type { Exchange } from "../History.ts"
import { namesOf } from "../deployment/FurtherDomains.ts"
import { Requests, type RequestsOptions } from "./Requests.ts"
import type { WorkloadOptions } from "../cli/Options.ts"
import { adminKey } from "../deployment/StubServices.ts"
import type { Users } from "../deployment/Users.ts"
import type { VirtualRequest } from "../deployment/VirtualNode.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us } from "../world/Time.ts"

/** The maximum of requests in a burst. */
const burstMax = 20

/** How likely a new link takes the place of one that clients remember, when they remember as many as they can. They ask for the first ones most often. */
const replacedShare = 0.3

/** How many follow a write; within what time most writes are done, and after what time one that was acknowledged holds everywhere. */
const followers = 4
const writtenWithin_us = 20 * ms_us
const holds_us = 1_300 * ms_us

/** `text`: that by which the link is stored. */
const requestOf = (
  kind: "redirect" | "change" | "delete",
  text: string,
  url: string | undefined
): VirtualRequest => {
  const { domain, key } = namesOf(text)
  const path = `/api/v1/links/${key}${domain === undefined ? "" : `?domain=${domain}`}`
  switch (kind) {
    case "redirect":
      return {
        method: "GET",
        path: `/${key}`,
        headers: { accept: "application/json", ...(domain !== undefined && { host: domain }) }
      }
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

/** Options of the clients. */
export interface ClientsOptions extends RequestsOptions {
  readonly workload: WorkloadOptions
  readonly answersKept_s: number | null
  readonly users: Users
}

/** Many clients that create, follow, change and delete links, through the load balancer or at one node. */
export class Clients {
  readonly #options: ClientsOptions
  readonly #chance: Chance
  readonly #followers: Chance
  readonly #requests: Requests
  readonly #creates: Creates
  /** Keys that clients were given, the oldest first. */
  readonly #known: Array<string> = []

  constructor(options: ClientsOptions) {
    this.#options = options
    this.#chance = options.world.chance("clients")
    this.#followers = options.world.chance("followers")
    this.#requests = new Requests(options)
    this.#creates = new Creates(options.world, this.#requests, options, options.users, (exchange) =>
      this.#know(exchange)
    )
  }

  /** Starts all clients. They work until `until_us`. */
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
    const wish = this.#chance.happens(workload.wished)
      ? this.#creates.drafts.wished(this.#chance.pick(aliases))
      : undefined
    const key = own !== undefined && this.#chance.happens(workload.justCreated) ? own : this.#popular()
    if (key === undefined || this.#chance.happens(workload.created)) return this.#creates.begin(client, done)
    if (this.#chance.happens(workload.deleted)) return this.#simple(client, "delete", key, done)
    if (this.#chance.happens(workload.changed)) return this.#simple(client, "change", key, done)
    this.#simple(client, "redirect", this.#creates.drafts.perhapsElsewhere(wish ?? key), done)
  }

  /** A key that was given to somebody: after Zipf's law, the n-th is asked for 1/n as often as the first. */
  #popular(): string | undefined {
    if (this.#known.length === 0) return undefined
    const rank = Math.floor(Math.exp(this.#chance.fraction() * Math.log(this.#known.length + 1))) - 1
    return this.#known[Math.min(rank, this.#known.length - 1)]
  }

  #know({ isReplay, key, status }: Exchange) {
    if (key === undefined) return
    const isNew = status === 201 && !isReplay
    if (!isNew && this.#known.includes(key)) return
    if (this.#known.length < this.#options.workload.remembered) this.#known.push(key)
    else if (this.#chance.happens(replacedShare)) this.#known[this.#chance.below(this.#known.length)] = key
  }

  #simple(client: string, kind: "redirect" | "change" | "delete", key: string, done: () => void) {
    const url = kind === "change" ? this.#creates.drafts.newUrl() : undefined
    const direct = kind === "redirect" && this.#chance.happens(0.3)
    if (kind !== "redirect" && this.#followers.happens(this.#options.workload.followed))
      this.#follow(`${client}'s followers`, key)
    this.#requests.send([{ client, kind, key, url, direct }], requestOf(kind, key, url), () => done())
  }

  /** Asks some nodes for a link while it is written, and again when that must hold everywhere. */
  #follow(client: string, key: string) {
    const chance = this.#followers
    const wish = { client, kind: "redirect", key, direct: true } as const
    const ask = (after_us: number) =>
      this.#options.world.after(after_us, null, () =>
        this.#requests.send([wish], requestOf("redirect", key, undefined), () => {})
      )
    for (let times = 0; times < followers; times++) {
      ask(chance.below(writtenWithin_us))
      ask(holds_us + chance.below(holds_us))
    }
  }
}
