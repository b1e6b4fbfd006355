import type { Wish } from "../History.ts"
import { administrator, emailOf, type Users } from "../deployment/Users.ts"
import { changingHost } from "../deployment/FurtherDomains.ts"
import type { VirtualRequest } from "../deployment/VirtualNode.ts"
import type { Chance } from "../world/Chance.ts"
import type { World } from "../world/World.ts"
import { linkPathOf } from "./LinkRequests.ts"
import { ofBrowser } from "./Drafts.ts"
import type { Requests } from "./Requests.ts"

/** How likely a turn of a client is one of theirs, and one of a browser; and how likely the former shows an API key, and the latter is sent by another site. */
const share = 0.01
const browsersShare = 0.04
const knownShare = 0.6
const forgedShare = 0.5

/** Something that may be asked for. */
interface Errand extends Pick<VirtualRequest, "method" | "path"> {
  readonly body?: object
}

const anyPassword = "nobody has this password"

/** What administrators may ask for alone, about another user. `hasDomains`: whether the deployment answers requests about domains. */
const ofAdministrators = (other: string, hasDomains: boolean): ReadonlyArray<Errand> => [
  { method: "GET", path: "/api/v1/users" },
  { method: "GET", path: `/api/v1/users?email=${emailOf(other)}` },
  { method: "POST", path: "/api/v1/users", body: { email: "guest@example.com", password: anyPassword } },
  { method: "PATCH", path: `/api/v1/users/${other}`, body: { disabled: true } },
  { method: "PATCH", path: `/api/v1/users/${other}`, body: { admin: true } },
  { method: "DELETE", path: `/api/v1/users/${other}?links=delete` },
  { method: "GET", path: "/api/v1/audit" },
  { method: "GET", path: `/api/v1/links?owner=${other}` },
  { method: "POST", path: "/api/v1/links/bulk-edit", body: { filter: { owner: other }, delete: true } },
  ...(hasDomains
    ? ([
        { method: "POST", path: "/api/v1/domains", body: { host: "stolen.test" } },
        { method: "PATCH", path: `/api/v1/domains/${changingHost}`, body: { owners: [] } },
        { method: "DELETE", path: `/api/v1/domains/${changingHost}` }
      ] as const)
    : [])
]

/** What users may ask for in their sessions alone; with the id of an API key. */
const ofSessions = (keyId: string): ReadonlyArray<Errand> => [
  { method: "GET", path: "/api/v1/api-keys" },
  { method: "POST", path: "/api/v1/api-keys", body: { name: "another", scopes: ["links:read"] } },
  { method: "DELETE", path: `/api/v1/api-keys/${keyId}` },
  { method: "GET", path: "/api/v1/sessions" },
  { method: "DELETE", path: "/api/v1/sessions" },
  { method: "DELETE", path: "/api/v1/me?links=delete" },
  {
    method: "PUT",
    path: "/api/v1/me/password",
    body: { currentPassword: anyPassword, password: `${anyPassword} either` }
  }
]

/** What everybody who is known may ask for, some of it about a link. */
const ofUsers = (key: string): ReadonlyArray<Errand> => [
  { method: "GET", path: linkPathOf(key) },
  { method: "PATCH", path: linkPathOf(key), body: { title: "somebody else's" } },
  { method: "DELETE", path: linkPathOf(key) },
  { method: "GET", path: "/api/v1/links" },
  { method: "POST", path: "/api/v1/links/bulk-edit", body: { filter: {}, delete: true } },
  { method: "GET", path: "/api/v1/stats" },
  { method: "GET", path: "/api/v1/me" },
  { method: "GET", path: "/api/v1/webhooks" },
  {
    method: "POST",
    path: "/api/v1/webhooks",
    body: { url: "https://nobody.example.com/", events: ["link.created"] }
  }
]

/** What changes something in a session. */
const changesInSession = (keyId: string): ReadonlyArray<Errand> =>
  [
    ...ofSessions(keyId),
    ...ofUsers("no-link"),
    { method: "POST", path: "/api/v1/links", body: { url: "https://example.com/forged" } } as const,
    { method: "DELETE", path: "/api/v1/session" } as const
  ].filter(({ method }) => method !== "GET")

/** What browsers say of a request that a page of another site sends, or of another host of the same one, and old ones that say only where it is from. */
const foreign: ReadonlyArray<VirtualRequest["headers"]> = [
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  { origin: "https://elsewhere.example" },
  { origin: "null" }
]

const requestOf = ({ body, ...asked }: Errand, headers: VirtualRequest["headers"]): VirtualRequest => ({
  ...asked,
  headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
  ...(body !== undefined && { body: JSON.stringify(body) })
})

/** Those who ask for what they may not: strangers, programs with API keys, users in their sessions, and other sites by users' browsers. */
export class Trespasses {
  readonly #requests: Requests
  readonly #users: Users
  readonly #chance: Chance
  /** Whether the deployment answers requests about domains. */
  readonly hasDomains: boolean

  constructor(world: World, requests: Requests, users: Users, hasDomains: boolean) {
    this.#chance = world.chance("trespasses")
    this.#requests = requests
    this.#users = users
    this.hasDomains = hasDomains
  }

  /** Whether a turn of a client is one of theirs. */
  happens(): boolean {
    return this.#users.names.length > 0 && this.#chance.happens(share)
  }

  /** Whether a turn of a browser is one. */
  happensInBrowser(): boolean {
    return this.#chance.happens(browsersShare)
  }

  /** Asks for something, perhaps about a link, with an API key that does not allow it, or with none. */
  ask(client: string, key: string, done: () => void) {
    const chance = this.#chance
    const user = chance.pick(this.#users.names)
    const errands = chance.happens(0.5)
      ? ofAdministrators(this.#otherThan(user), this.hasDomains)
      : ofSessions(this.#users.lastKeyOf(user).id)
    if (chance.happens(knownShare)) {
      const apiKey = this.#users.anyKeyOf(user, chance)
      const isBearer = chance.happens(0.3)
      const headers = isBearer ? { authorization: `Bearer ${apiKey}` } : { "x-api-key": apiKey }
      return this.#send({ client, apiKey, refusedWith: 403 }, chance.pick(errands), headers, done)
    }
    const errand = chance.pick(chance.happens(0.5) ? ofUsers(key) : errands)
    this.#send({ client, refusedWith: 401 }, errand, {}, done)
  }

  /** Asks for something in a session of a user who is no administrator, or has another site ask in anybody's. */
  askInSession(
    user: string,
    { cookie, session }: Pick<Wish, "session"> & { readonly cookie: string },
    done: () => void
  ) {
    const chance = this.#chance
    const wish = { client: user, user, refusedWith: 403 } as const
    const isForged = user === administrator || chance.happens(forgedShare)
    if (isForged) {
      const errand = chance.pick(changesInSession(this.#users.lastKeyOf(user).id))
      // Whether the session has ended is not asked then.
      return this.#send(wish, errand, { cookie, ...chance.pick(foreign) }, done)
    }
    const errand = chance.pick(ofAdministrators(this.#otherThan(user), this.hasDomains))
    this.#send({ ...wish, session }, errand, ofBrowser(cookie), done)
  }

  #otherThan(user: string): string {
    return this.#chance.pick(this.#users.names.filter((name) => name !== user))
  }

  #send(
    wish: Omit<Wish, "kind" | "direct">,
    errand: Errand,
    headers: VirtualRequest["headers"],
    done: () => void
  ) {
    const asked = `${errand.method} ${errand.path}`
    this.#requests.send(
      [{ ...wish, kind: "trespass", asked, direct: this.#chance.happens(0.5) }],
      requestOf(errand, headers),
      () => done()
    )
  }
}
