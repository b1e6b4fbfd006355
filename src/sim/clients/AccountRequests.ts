import type { Scope } from "../../accounts/Access.ts"
import { formatMoment } from "../../model/Iso8601.ts"
import type { Answer } from "./Balancer.ts"
import type { Creates } from "./Creates.ts"
import type { Exchange, Wish } from "../History.ts"
import { administrator, suspended, type Users } from "../deployment/Users.ts"
import type { VirtualRequest } from "../deployment/VirtualNode.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us } from "../world/Time.ts"
import type { World } from "../world/World.ts"

/** How likely what is asked for is about the user's API keys, about the sessions, or another password. */
const keysShare = 0.45
const sessionsShare = 0.25
const passwordShare = 0.05

/** How likely what is asked of sessions is the end of all others; the end of one; and how likely that is another user's. */
const endOthersShare = 0.15
const endOneShare = 0.3
const strangersShare = 0.15

/** Keys of a user at most; how likely a new one may not write, how likely it is to be an administrator's, which it must not, and how likely it ends by itself. */
const ownKeysMax = 4
const readingShare = 0.2
const overreachingShare = 0.1
const expiringShare = 0.3
/** What keys are made for that may write, and others. */
const writing: ReadonlyArray<ReadonlyArray<Scope>> = [
  ["links:read", "links:write"],
  ["links:write"],
  ["stats:read", "links:write", "links:read"]
]
const reading: ReadonlyArray<ReadonlyArray<Scope>> = [
  ["links:read"],
  ["stats:read"],
  ["links:read", "stats:read"]
]
/** After so many seconds by the true time an API key ends that does. */
export const keyLasts_s = { least: 2, most: 12 }

/** How likely a change of the password gives a wrong present one, and ends the keys as well, where the user has no webhooks, which would end with them. */
const wrongShare = 0.15
const revokesShare = 0.4

/** How likely another change is asked for at once, with the same present password. */
const atOnceShare = 0.3

const keysPath = "/api/v1/api-keys"
const sessionsPath = "/api/v1/sessions"

/** What is read of an API key that was made, and of a list of keys or sessions. */
interface MadeKey {
  readonly id: string
  readonly secret: string
}
interface IdList {
  readonly data: ReadonlyArray<Pick<MadeKey, "id">>
}

/** A request in a session. */
export type SessionRequest = Pick<VirtualRequest, "method" | "path"> &
  Partial<Pick<Wish, "kind" | "ends" | "isRight" | "asked" | "refusedWith">> & { readonly body?: object }

/** Sends a request in a session; `told` has the answer, if there is one, before anything else happens. */
export type Ask = (
  request: SessionRequest,
  told?: (answer: Answer | undefined, exchange: Exchange) => void
) => void

/** What a list has: the ids of an answer. */
const listed = (answer: Answer | undefined, exchange: Exchange) => {
  if (answer?.response.status === 200)
    exchange.listed = (JSON.parse(answer.response.body) as IdList).data.map(({ id }) => id)
}

/** What users ask about their own accounts in their sessions: API keys, sessions, passwords. */
export class AccountRequests {
  readonly #world: World
  readonly #creates: Creates
  readonly #users: Users
  readonly #chance: Chance
  readonly #scopes: Chance
  /** The sessions that users were told of last, by the users. */
  readonly #sessions = new Map<string, ReadonlyArray<string>>()

  constructor(world: World, creates: Creates, users: Users, chance: Chance) {
    this.#world = world
    this.#creates = creates
    this.#users = users
    this.#chance = chance
    this.#scopes = world.chance("scopes of API keys")
  }

  /** Has a user ask for something about their account. `done` is called where nothing is asked in the session. */
  act(user: string, ask: Ask, done: () => void) {
    const what = this.#chance.fraction()
    if (what < keysShare) return this.#askAboutKeys(user, ask, done)
    if (what < keysShare + sessionsShare) return this.#askAboutSessions(user, ask)
    if (what < keysShare + sessionsShare + passwordShare) return this.changePassword(user, ask)
    ask({ method: "GET", path: "/api/v1/me" }, (answer, exchange) => {
      if (answer?.response.status === 200) exchange.body = answer.response.body
    })
  }

  /** Has a user choose another password, or two of them at once, of which the second is confirmed by none that is the user's any more. */
  changePassword(user: string, ask: Ask) {
    this.#choosePassword(user, ask, user === suspended && this.#chance.happens(revokesShare))
    if (this.#chance.happens(atOnceShare)) this.#choosePassword(user, ask, false)
  }

  #choosePassword(user: string, ask: Ask, revokeKeys: boolean) {
    const isRight = !this.#chance.happens(wrongShare)
    const body = {
      currentPassword: isRight ? this.#users.passwordOf(user) : "no password of anybody",
      password: this.#users.newPassword(),
      ...(revokeKeys && { revokeKeys })
    }
    const isAsked = isRight && revokeKeys
    if (isAsked) this.#users.revokingAll(user)
    ask({ method: "PUT", path: "/api/v1/me/password", kind: "password", isRight, body }, (answer) => {
      if (isAsked) this.#users.revokedAll(user, answer?.response.status === 204)
    })
  }

  /** Lists the sessions, or ends all others, or one. */
  #askAboutSessions(user: string, ask: Ask) {
    const what = this.#chance.fraction()
    if (what < endOthersShare) return ask({ method: "DELETE", path: sessionsPath, kind: "end others" })
    const whose = this.#chance.happens(strangersShare) ? this.#chance.pick(this.#users.names) : user
    const known = this.#sessions.get(whose) ?? []
    if (known.length > 0 && what < endOthersShare + endOneShare) {
      const ends = this.#chance.pick(known)
      return ask({ method: "DELETE", path: `${sessionsPath}/${ends}`, kind: "end session", ends })
    }
    ask({ method: "GET", path: sessionsPath, kind: "sessions" }, (answer, exchange) => {
      listed(answer, exchange)
      if (exchange.listed !== undefined) this.#sessions.set(user, exchange.listed)
    })
  }

  /** Makes an API key, uses it, revokes it or lists all. */
  #askAboutKeys(user: string, ask: Ask, done: () => void) {
    const own = this.#users.ownOf(user)
    const [first] = own
    const what = this.#chance.fraction()
    if (first === undefined || (what < 0.25 && own.length < ownKeysMax)) return this.#makeKey(user, ask)
    if (what < 0.4) return ask({ method: "GET", path: keysPath, kind: "keys" }, listed)
    if (what < 0.6) {
      this.#users.revoking(first)
      return ask({ method: "DELETE", path: `${keysPath}/${first.id}`, kind: "key" }, (answer) => {
        if (answer?.response.status === 204) this.#users.revoked(first)
      })
    }
    this.#creates.byKey(user, this.#chance.pick(own).secret)
    done()
  }

  #makeKey(user: string, ask: Ask) {
    const scopes = this.#scopes.pick(this.#chance.happens(readingShare) ? reading : writing)
    const isTooMuch = user !== administrator && this.#scopes.happens(overreachingShare)
    const { least, most } = keyLasts_s
    const expiresAt_ms = this.#chance.happens(expiringShare)
      ? this.#world.now_ms + 1_000 * this.#chance.between(least, most)
      : undefined
    const body = {
      name: "a key",
      scopes: isTooMuch ? [...scopes, "admin"] : scopes,
      ...(expiresAt_ms !== undefined && { expiresAt: formatMoment(expiresAt_ms) })
    }
    const asked = isTooMuch
      ? ({ kind: "trespass", asked: "an API key of an administrator", refusedWith: 403 } as const)
      : ({ kind: "key" } as const)
    ask({ method: "POST", path: keysPath, body, ...asked }, (answer) => {
      if (answer?.response.status !== 201) return
      const { id, secret } = JSON.parse(answer.response.body) as MadeKey
      const left_us =
        expiresAt_ms === undefined ? Number.POSITIVE_INFINITY : (expiresAt_ms - this.#world.now_ms) * ms_us
      this.#users.addOwn(user, { id, secret, scopes, expires_us: this.#world.now_us + left_us })
    })
  }
}
