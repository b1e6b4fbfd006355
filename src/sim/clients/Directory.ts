import { adminHeaders } from "../deployment/StubServices.ts"
import { emailOf, type Users } from "../deployment/Users.ts"
import type { VirtualRequest } from "../deployment/VirtualNode.ts"
import type { Exchange, Wish } from "../History.ts"
import type { Answer } from "./Balancer.ts"
import type { Requests } from "./Requests.ts"
import type { Chance } from "../world/Chance.ts"
import { s_us } from "../world/Time.ts"
import type { World } from "../world/World.ts"

/** How long it is between two things that they ask for, on average. */
const asksEvery_us = 3 * s_us

/** How likely that is a list; how likely one is of a single address; and else how likely a user who was added is removed again. */
const listShare = 0.5
const oneShare = 0.4
const removalShare = 0.3

/** Addresses of those who are added: few, so that some are taken. */
const addresses: ReadonlyArray<string> = Array.from({ length: 5 }, (_, n) => `newcomer-${n}@example.com`)

/** Pages of a list that are followed at most. */
const pagesMax = 20

const usersPath = "/api/v1/users"

/** What is read of a user, and of a page of users. */
interface ShownUser {
  readonly id: string
}
interface UserPage {
  readonly data: ReadonlyArray<ShownUser>
  readonly nextCursor: string | null
}

/** Administrators who add users, remove them again, and list all or one of them. */
export class Directory {
  readonly #world: World
  readonly #requests: Requests
  readonly #users: Users
  readonly #chance: Chance
  /** Those who were added, and were not asked to be removed. */
  readonly #added: Array<string> = []

  constructor(world: World, requests: Requests, users: Users) {
    this.#world = world
    this.#requests = requests
    this.#users = users
    this.#chance = world.chance("directory")
  }

  /** They begin nothing later than that. */
  start(until_us: number) {
    const wait_us = this.#chance.waiting(asksEvery_us)
    if (this.#world.now_us + wait_us > until_us) return
    this.#world.after(wait_us, null, () => this.#act(() => this.start(until_us)))
  }

  #act(done: () => void) {
    const chance = this.#chance
    if (chance.happens(listShare)) return this.#list(done)
    if (this.#added.length > 0 && chance.happens(removalShare)) return this.#remove(done)
    this.#add(done)
  }

  /** An address of somebody who is there from the beginning on, or may have been added; with capitals perhaps, by which none differs. */
  #address(): string {
    const all = [...addresses, ...addresses, ...this.#users.names.map(emailOf)]
    const address = this.#chance.pick(all)
    return this.#chance.happens(0.5) ? address : address.toUpperCase()
  }

  #add(done: () => void) {
    const email = this.#address()
    const body = JSON.stringify({ email, password: this.#users.newPassword() })
    this.#send({ kind: "add user", email }, { method: "POST", path: usersPath, body }, (exchange, answer) => {
      if (answer?.response.status === 201) {
        const { id } = JSON.parse(answer.response.body) as ShownUser
        exchange.listed = [id]
        this.#added.push(id)
      }
      done()
    })
  }

  #remove(done: () => void) {
    const [id] = this.#added.splice(this.#chance.below(this.#added.length), 1)
    const request = { method: "DELETE", path: `${usersPath}/${id}?links=keep` } as const
    this.#send({ kind: "remove user", user: id, links: "keep" }, request, done)
  }

  /** Lists users page by page. The last page is noted with those of all pages. */
  #list(done: () => void) {
    const chance = this.#chance
    const email = chance.happens(oneShare) ? this.#address() : undefined
    const limit = String(chance.pick([1, 2, 50]))
    const ids: Array<string> = []
    let since_us: number | undefined
    let pages = 0
    const ask = (cursor: string | null) => {
      const query = new URLSearchParams({
        limit,
        ...(email !== undefined && { email }),
        ...(cursor !== null && { cursor })
      })
      const request = { method: "GET", path: `${usersPath}?${query.toString()}` } as const
      this.#send({ kind: "users", email, since_us }, request, (exchange, answer) => {
        since_us ??= exchange.sent_us
        if (answer?.response.status !== 200) return done()
        const { data, nextCursor } = JSON.parse(answer.response.body) as UserPage
        ids.push(...data.map(({ id }) => id))
        if (nextCursor !== null && ++pages < pagesMax) return ask(nextCursor)
        if (nextCursor === null) exchange.listed = ids
        done()
      })
    }
    ask(null)
  }

  #send(
    wish: Omit<Wish, "client">,
    request: Omit<VirtualRequest, "headers">,
    done: (exchange: Exchange, answer: Answer | undefined) => void
  ) {
    const direct = this.#chance.happens(0.5)
    this.#requests.send(
      [{ client: "directory", direct, ...wish }],
      { ...request, headers: adminHeaders },
      ([exchange], answer) => done(exchange!, answer)
    )
  }
}
