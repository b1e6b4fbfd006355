import type { Scope } from "../../accounts/Access.ts"
import type { Answer } from "./Balancer.ts"
import type { Exchange, WebhookWish, Wish } from "../History.ts"
import {
  formerDead,
  formerLate,
  formerTried,
  formerWebhook,
  owner as formerOwner,
  webhookOf
} from "../deployment/FormerWebhook.ts"
import { type Manner, manners, proves } from "../deployment/Receivers.ts"
import { allows, type UserKey, type Users } from "../deployment/Users.ts"
import type { VirtualRequest } from "../deployment/VirtualNode.ts"
import type { WebhookEvent } from "../../model/Webhook.ts"
import type { Chance } from "../world/Chance.ts"
import type { World } from "../world/World.ts"

/** How likely a webhook is made with an API key, with which it ends; and how likely as many are made at once as there may not be. */
const byKeyShare = 0.3
const manyShare = 0.1
const many = 12

/** How likely one is asked for by an API key that its user has made, which may not ask for some, if there is one. */
const narrowShare = 0.3

/** How likely a new webhook leads to a private network, and how likely a request is of another user's. */
const privateShare = 0.05
const othersShare = 0.15

/** How likely the user of the webhook from before asks about its dead letters. */
const formerShare = 0.5

/** Webhooks of a user at most whose receivers prove themselves: a node sends few messages of one user in a second. */
const provingMax = 2

const choices: ReadonlyArray<ReadonlyArray<WebhookEvent>> = [
  ["link.created"],
  ["link.deleted"],
  ["link.created", "link.deleted"],
  ["link.deleted", "link.created"]
]

/** What makes webhooks of all events. */
const ofWebhooks: ReadonlyArray<Scope> = ["links:read", "links:write", "stats:read"]

/** A webhook that somebody has made, as the answer said. */
interface Made {
  readonly id: string
  readonly url: string
  readonly user: string
}

/** What is asked for: in the session, unless the wish has an API key. */
export interface Asked {
  readonly request: Pick<VirtualRequest, "method" | "path"> & { readonly body?: object }
  readonly wish: Partial<Wish> & { readonly webhook: WebhookWish }
}

/** Asks for something; `told` has the answer, if there is one. */
export type Ask = (asked: Asked, told?: (answer: Answer, exchange: Exchange) => void) => void

const path = "/api/v1/webhooks"

/** How users make webhooks, have them listed and verified, and remove them. */
export class WebhookRequests {
  readonly #chance: Chance
  readonly #keys: Chance
  readonly #users: Users
  #number = 0
  #made: ReadonlyArray<Made>
  /** How many each user may have whose receivers prove themselves. */
  readonly #proving = new Map([[formerOwner, 1]])

  constructor(world: World, users: Users) {
    this.#chance = world.chance("webhooks")
    this.#keys = world.chance("webhooks of API keys")
    this.#users = users
    this.#made = [{ id: formerWebhook, url: webhookOf(world.now_ms).url, user: formerOwner }]
  }

  /** Has a user ask for something of webhooks, in a session. */
  act(user: string, ask: Ask) {
    const own = this.#made.filter((made) => made.user === user)
    const what = this.#chance.fraction()
    if (own.some(({ id }) => id === formerWebhook) && this.#chance.happens(formerShare))
      return this.#lookBack(ask)
    if (own.length === 0 || what < 0.3) {
      if (!this.#chance.happens(manyShare)) return this.#add(user, ask)
      for (let time = 0; time < many; time++) this.#add(user, ask, "mute")
      return
    }
    if (what < 0.5) return ask({ request: { method: "GET", path }, wish: { webhook: { act: "list" } } })
    const others = this.#made.filter((made) => made.user !== user)
    const isOthers = others.length > 0 && this.#chance.happens(othersShare)
    const { id, url, user: owner } = this.#chance.pick(isOthers ? others : own)
    const one = `${path}/${id}`
    if (what < 0.75) {
      return ask(
        { request: { method: "DELETE", path: one }, wish: { webhook: { act: "remove", id } } },
        ({ response }) => {
          if (response.status !== 204) return
          this.#made = this.#made.filter((made) => made.id !== id)
          if (proves(url)) this.#proving.set(owner, this.#proving.get(owner)! - 1)
        }
      )
    }
    if (what < 0.88)
      return ask({
        request: { method: "POST", path: `${one}/verify` },
        wish: { webhook: { act: "verify", id } }
      })
    return what < 0.95 ? this.#listDead(id, ask) : this.#retry(id, "msg_none", ask)
  }

  /** Has the dead letters of the webhook from before listed, or one of its messages queued again. */
  #lookBack(ask: Ask) {
    if (this.#chance.happens(0.5)) return this.#listDead(formerWebhook, ask)
    const message = this.#chance.pick([...formerDead, formerTried, formerLate])
    this.#retry(formerWebhook, message, ask)
  }

  #listDead(id: string, ask: Ask) {
    ask({
      request: { method: "GET", path: `${path}/${id}/dead-letters` },
      wish: { webhook: { act: "dead letters", id } }
    })
  }

  #retry(id: string, message: string, ask: Ask) {
    ask({
      request: { method: "POST", path: `${path}/${id}/dead-letters/${message}/retry` },
      wish: { webhook: { act: "retry", id, message } }
    })
  }

  /** Tries to make a webhook by an API key that may not read all that it would tell, or may only read. */
  #overreach(key: UserKey, url: string, ask: Ask) {
    const { id, secret } = key
    const some = this.#keys.pick(choices)
    const isVisited = allows(key, ["links:read", "links:write"])
    const events: ReadonlyArray<WebhookEvent> = isVisited ? [...some, "link.visited"] : some
    const wish = { url, isRight: false, apiKey: secret, webhook: { act: "add", events, keyId: id } } as const
    ask({ request: { method: "POST", path, body: { url, events } }, wish })
  }

  #add(user: string, ask: Ask, manner: Manner = this.#chance.pick(manners)) {
    const proving = this.#proving.get(user) ?? 0
    const chosen = proves(`/${manner}`) && proving >= provingMax ? "mute" : manner
    if (proves(`/${chosen}`)) this.#proving.set(user, proving + 1)
    const isRight = !this.#chance.happens(privateShare)
    const host = isRight ? `hook-${this.#number++}.example.com` : "10.0.0.1"
    const url = `https://${host}/${chosen}`
    const events = this.#chance.pick(choices)
    const narrow = this.#keys.happens(narrowShare)
      ? this.#users.ownOf(user).findLast((key) => !allows(key, ofWebhooks))
      : undefined
    if (narrow !== undefined) return this.#overreach(narrow, url, ask)
    const key = this.#chance.happens(byKeyShare) ? this.#users.lastKeyOf(user) : undefined
    ask(
      {
        request: { method: "POST", path, body: { url, events } },
        wish: {
          url,
          isRight,
          ...(key !== undefined && { apiKey: key.secret }),
          webhook: { act: "add", events, keyId: key?.id ?? null }
        }
      },
      ({ response }) => {
        if (response.status !== 201) return
        const { id } = JSON.parse(response.body) as Made
        this.#made = [...this.#made, { id, url, user }]
      }
    )
  }
}
