import { adminKey } from "../deployment/StubServices.ts"
import { announced_us, suspended, type Users } from "../deployment/Users.ts"
import type { Requests } from "./Requests.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us, s_us } from "../world/Time.ts"
import type { World } from "../world/World.ts"

/** How long the user who is disabled now and then is enabled, and disabled, on average. */
const enabledFor_us = 10 * s_us
const disabledFor_us = 4 * s_us

/** After how long an administrator asks again who was not told that it is done. */
const again_us = 500 * ms_us

/** Administrators, who disable a user now and then and enable them again, by the API key of the deployment. */
export class Administrators {
  readonly #world: World
  readonly #requests: Requests
  readonly #users: Users
  readonly #chance: Chance

  constructor(world: World, requests: Requests, users: Users) {
    this.#world = world
    this.#requests = requests
    this.#users = users
    this.#chance = world.chance("administrators")
  }

  /** They begin nothing that would last longer than until then. */
  start(until_us: number) {
    const wait_us = this.#chance.waiting(enabledFor_us)
    const away_us = announced_us + this.#chance.waiting(disabledFor_us)
    if (this.#world.now_us + wait_us + away_us > until_us) return
    this.#world.after(wait_us, null, () => {
      this.#users.whenRevoked(this.#users.keys.findLast(({ user }) => user === suspended)!.secret)
      this.#world.after(announced_us, null, () =>
        this.#set(true, () =>
          this.#world.after(away_us, null, () => this.#set(false, () => this.start(until_us)))
        )
      )
    })
  }

  /** Disables or enables the user, and asks again until that is done. */
  #set(disabled: boolean, done: () => void) {
    const request = {
      method: "PATCH",
      path: `/api/v1/users/${suspended}`,
      headers: { "x-api-key": adminKey, "content-type": "application/json" },
      body: JSON.stringify({ disabled })
    } as const
    this.#requests.send([{ client: "administrator", kind: "change user" }], request, ([exchange]) => {
      if (exchange!.status === 200) return done()
      this.#world.after(again_us, null, () => this.#set(disabled, done))
    })
  }
}
