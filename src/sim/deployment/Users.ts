import { Effect } from "effect"
import { digest } from "../../secrets/Secret.ts"
import { newUser } from "../../storage/accounts/AccountStore.ts"
import type { StorageError } from "../../storage/StorageError.ts"
import type { SimOptions } from "../cli/Options.ts"
import type { VirtualDatabase } from "../stores/VirtualDatabase.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us, s_us } from "../world/Time.ts"
import type { World } from "../world/World.ts"

/** Users of a deployment, if there are any. */
const usersMax = 3

/** How long an API key is used on average. */
const keyLasts_us = 8 * s_us

/** How long before an API key is revoked `Users.whenRevoked` is called. */
export const announced_us = 300 * ms_us

/** How likely a client uses an API key that was revoked last rather than the one that is valid. */
const formerShare = 0.3

/** An API key of a user. Times are microseconds since the world's beginning; infinite: never. */
export interface UserKey {
  readonly id: string
  readonly secret: string
  readonly user: string
  readonly added_us: number
  revoked_us: number
}

/** Users, each with an API key, which is revoked after a while and has a successor, and a webhook for links that were created or deleted. */
export class Users {
  readonly keys: Array<UserKey> = []
  readonly names: ReadonlyArray<string>
  /** Called with the secret of each API key that is revoked {@link announced_us} later. */
  whenRevoked: (secret: string) => void = () => {}
  readonly #world: World
  readonly #database: VirtualDatabase
  readonly #options: SimOptions
  readonly #chance: Chance

  constructor(world: World, database: VirtualDatabase, options: SimOptions) {
    this.#world = world
    this.#database = database
    this.#options = options
    this.#chance = world.chance("users")
    const count = options.workload.withAccount === 0 ? 0 : usersMax
    this.names = Array.from({ length: count }, (_, number) => `usr_${number}`)
  }

  /** Adds them to the database. Only from within the world. */
  start(until_us: number) {
    const { accounts, webhooks } = this.#database.users.stores
    for (const id of this.names) {
      const user = newUser({ id, email: `${id}@example.com` }, this.#world.now_ms)
      const webhook = {
        id: `whk_${id}`,
        owner: id,
        keyId: null,
        url: "https://receiver.example.com/",
        events: ["link.created", "link.deleted"],
        secret: "whsec_",
        createdAt: this.#world.now_ms
      } as const
      this.#done(
        Effect.all([
          accounts.addUser(user),
          webhooks.add(webhook, { id: `challenge of ${id}`, body: "{}" }, 1),
          webhooks.verify(webhook.id, `challenge of ${id}`)
        ])
      )
      this.#addKey(id)
      this.#revokeLater(id, until_us)
    }
  }

  /** The API key that a client sends: of some user, mostly the valid one. */
  apiKey(chance: Chance): string {
    const name = chance.pick(this.names)
    const own = this.keys.filter(({ user }) => user === name)
    return (chance.happens(formerShare) ? (own.at(-2) ?? own.at(-1)!) : own.at(-1)!).secret
  }

  /** Has the database do something at once. */
  #done(self: Effect.Effect<unknown, StorageError>) {
    Effect.runSync(Effect.withClock(Effect.orDie(self), this.#database.clock.service))
  }

  #addKey(user: string) {
    const number = this.keys.length
    const { createsPerMinute, redirectsPerDay } = this.#options
    const id = `key_${number}`
    const secret = `lm_${String(number).padStart(32, "0")}`
    const key = {
      id,
      userId: user,
      secretHash: digest(secret),
      name: id,
      scopes: ["links:write", "links:read"],
      createsPerMinute: createsPerMinute === null ? null : 2 * createsPerMinute,
      redirectsPerDay: redirectsPerDay === null ? null : Math.ceil(redirectsPerDay / 2),
      createdAt: this.#world.now_ms,
      expiresAt: null
    }
    this.#done(this.#database.users.stores.accounts.addKey(key, 100))
    this.keys.push({ id, secret, user, added_us: this.#world.now_us, revoked_us: Number.POSITIVE_INFINITY })
  }

  #revokeLater(user: string, until_us: number) {
    const wait_us = this.#chance.waiting(keyLasts_us)
    if (this.#world.now_us + wait_us > until_us) return
    const last = this.keys.findLast((key) => key.user === user)!
    this.#world.after(wait_us, null, () => this.whenRevoked(last.secret))
    this.#world.after(wait_us + announced_us, null, () => {
      this.#done(this.#database.users.stores.accounts.removeKey(last.id, null))
      last.revoked_us = this.#world.now_us
      this.#world.tell("users", "revoked", last.id)
      this.#addKey(user)
      this.#revokeLater(user, until_us)
    })
  }
}
