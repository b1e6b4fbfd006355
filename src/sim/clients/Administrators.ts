import { type LinkFate, linkFates } from "../../accounts/Users.ts"
import type { Browsers } from "./Browsers.ts"
import { controlDatabase, type Strike } from "../deployment/Faults.ts"
import { adminHeaders } from "../deployment/StubServices.ts"
import { administrator, announced_us, leaving, suspended, type Users } from "../deployment/Users.ts"
import type { VirtualRequest } from "../deployment/VirtualNode.ts"
import type { Exchange, Wish } from "../History.ts"
import type { Requests } from "./Requests.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us, s_us } from "../world/Time.ts"
import { lookedForHere_ms } from "../stores/ports/OwnersPorts.ts"
import type { World, WorldEvent } from "../world/World.ts"

/** How long the user who is disabled now and then is enabled, and disabled, on average. */
const enabledFor_us = 10 * s_us
const disabledFor_us = 4 * s_us

/** How likely it is said of that user, while disabled, that they are no administrator. */
const roleLeftShare = 0.5

/** After how long an administrator asks again who was not told that it is done. */
const again_us = 500 * ms_us

/** How long it is between tries to end the last administrator, on average, and how that is tried, beside a removal. */
const endTried_us = 15 * s_us
const endings = [
  { admin: false },
  { disabled: true },
  { disabled: false, admin: false },
  { disabled: true, admin: true }
]
const removalShare = 0.2

/** When a user who leaves is removed, as a part of the time in which clients work: at least, and at most. */
const removedAt = { least: 0.2, most: 0.8 }

/** How likely a user who leaves does so by themselves, if they are signed in. */
const ownShare = 0.5

/** For how long at least a database is away when administrators may remove a user at its beginning, and how likely one does. */
const long_us = lookedForHere_ms * ms_us
const struckShare = 0.9

/** Administrators, who disable a user now and then and enable them again, and remove some, by the API key of the deployment; and try to end the last user who is one, which is refused. */
export class Administrators {
  readonly #world: World
  readonly #requests: Requests
  readonly #users: Users
  readonly #chance: Chance
  readonly #leaving: Chance
  readonly #browsers: Pick<Browsers, "removeOwn">
  /** Removals that are still to come, by their users. */
  readonly #removals = new Map<string, WorldEvent>()

  constructor(world: World, requests: Requests, users: Users, browsers: Pick<Browsers, "removeOwn">) {
    this.#world = world
    this.#requests = requests
    this.#users = users
    this.#browsers = browsers
    this.#leaving = world.chance("users who leave by themselves")
    this.#chance = world.chance("administrators")
  }

  /** They begin nothing that would last longer than until then. */
  start(until_us: number) {
    this.#suspendLater(until_us)
    this.#endLastLater(until_us)
    for (const user of leaving) {
      const { least, most } = removedAt
      const links = this.#chance.pick(linkFates)
      const at_us = until_us * (least + (most - least) * this.#chance.fraction())
      this.#removals.set(
        user,
        this.#world.after(at_us, null, () => this.#removeNow(user, links))
      )
    }
  }

  /** Some remove a user with their links when a database begins to be away for long. */
  struck({ for_us, name, whom }: Strike) {
    const isLong = name === "databaseRestart" && whom !== controlDatabase && for_us >= long_us
    const [next] = this.#removals
    if (!isLong || next === undefined || !this.#chance.happens(struckShare)) return
    const [user, event] = next
    event.isCancelled = true
    this.#removeNow(user, "delete")
  }

  #removeNow(user: string, links: LinkFate) {
    this.#removals.delete(user)
    const remove = () => this.#remove(user, links)
    const isOwn = this.#leaving.happens(ownShare)
    this.#announce(user, () => (isOwn ? this.#browsers.removeOwn(user, links, remove) : remove()))
  }

  #suspendLater(until_us: number) {
    const wait_us = this.#chance.waiting(enabledFor_us)
    const away_us = this.#chance.waiting(disabledFor_us)
    if (this.#world.now_us + wait_us + announced_us + away_us > until_us) return
    const enableLater = () => {
      if (this.#chance.happens(roleLeftShare)) this.#world.after(away_us / 2, null, () => this.#leaveRole())
      this.#world.after(away_us, null, () => this.#set(false, () => this.#suspendLater(until_us)))
    }
    this.#world.after(wait_us, null, () =>
      this.#announce(suspended, () => this.#set(true, () => void enableLater()))
    )
  }

  /** Says that the user who is disabled is no administrator, which changes nothing: above all, it does not enable them. */
  #leaveRole() {
    const path = `/api/v1/users/${suspended}`
    const body = JSON.stringify({ admin: false })
    this.#send({ kind: "change user", user: suspended }, { method: "PATCH", path, body }, () => {})
  }

  /** Tries to end the last administrator after a while, and so on. */
  #endLastLater(until_us: number) {
    const wait_us = this.#chance.waiting(endTried_us)
    if (this.#world.now_us + wait_us > until_us) return
    const path = `/api/v1/users/${administrator}`
    this.#world.after(wait_us, null, () => {
      const next = () => this.#endLastLater(until_us)
      if (this.#chance.happens(removalShare))
        return this.#send(
          { kind: "remove user", user: administrator, links: "keep" },
          { method: "DELETE", path },
          next
        )
      const body = JSON.stringify(this.#chance.pick(endings))
      this.#send({ kind: "change user", user: administrator }, { method: "PATCH", path, body }, next)
    })
  }

  /** Tells that a user's API key is about to end, so that others use it. */
  #announce(name: string, done: () => void) {
    this.#users.whenRevoked(this.#users.keys.findLast(({ user }) => user === name)!.secret)
    this.#world.after(announced_us, null, done)
  }

  /** Disables or enables the user, and asks again until that is done. */
  #set(disabled: boolean, done: () => void) {
    const request = {
      method: "PATCH",
      path: `/api/v1/users/${suspended}`,
      body: JSON.stringify({ disabled })
    } as const
    this.#ask({ kind: "change user", user: suspended }, request, [200], done)
  }

  /** Removes a user, and asks again until that is done. */
  #remove(user: string, links: LinkFate) {
    const request = { method: "DELETE", path: `/api/v1/users/${user}?links=${links}` } as const
    this.#ask({ kind: "remove user", user, links }, request, [204, 404], () => {})
  }

  #ask(
    wish: Omit<Wish, "client">,
    request: Omit<VirtualRequest, "headers">,
    until: ReadonlyArray<number>,
    done: () => void
  ) {
    this.#send(wish, request, ({ status }) => {
      if (until.includes(status)) return done()
      this.#world.after(again_us, null, () => this.#ask(wish, request, until, done))
    })
  }

  #send(
    wish: Omit<Wish, "client">,
    request: Omit<VirtualRequest, "headers">,
    done: (exchange: Exchange) => void
  ) {
    this.#requests.send(
      [{ client: "administrator", ...wish }],
      { ...request, headers: adminHeaders },
      ([exchange]) => done(exchange!)
    )
  }
}
