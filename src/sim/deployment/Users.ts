import { Effect } from "effect"
import type { Scope } from "../../accounts/Access.ts"
import { type AuditEvent, command } from "../../model/Audit.ts"
import { type Webhook, webhooksMax } from "../../model/Webhook.ts"
import { digest } from "../../secrets/Secret.ts"
import { newUser, type User } from "../../storage/accounts/AccountStore.ts"
import type { StorageError } from "../../storage/StorageError.ts"
import type { SimOptions } from "../cli/Options.ts"
import * as FormerWebhook from "./FormerWebhook.ts"
import type { Journal } from "../Journal.ts"
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

/** A user of those who sign in who is disabled now and then. They have no webhook, since that would end. */
export const suspended = "usr_suspended"
/** Users of those who sign in whom an administrator removes. They have no webhooks either. */
export const leaving: ReadonlyArray<string> = ["usr_leaving_0", "usr_leaving_1", "usr_leaving_2"]
/** A user who is an administrator, with API keys that are for links alone. */
export const administrator = "usr_0"

/** A user who was an administrator when their API keys were made: they may what all may, whatever their keys say. */
const demoted = "usr_1"

/** What the API keys may be used for that users have from the beginning on. */
const ofLinks = ["links:write", "links:read", "stats:read"] as const satisfies ReadonlyArray<Scope>

/** A user who was an administrator, and is disabled from the beginning on. Nobody asks as this one, so that `administrator` is the last one who can. */
const formerAdministrator = "usr_former"

/** How long a user's password stays the same on average, where users sign in. */
const passwordLasts_us = 20 * s_us

/** How long after a request that was not answered as hoped it may still be carried out. */
const late_us = 15 * s_us

/** How likely an administrator gives a password that its user must change. */
const temporaryShare = 0.3

/** How likely a client uses an API key that was revoked last rather than the one that is valid; and how likely one that its user has made, where any API key will do. */
const formerShare = 0.3
const ownShare = 0.5

/** Where the webhooks of users lead that there are from the beginning on. */
export const ownReceiver = "https://receiver.example.com/"

/** The id of the webhook that a user has from the beginning on. */
export const firstWebhookOf = (user: string) => `whk_${user}`

/** Whether a webhook is one of these. */
export const isFirstWebhook = (id: string) => id.startsWith("whk_usr_")

/** In some runs this user has more webhooks than a process may send to at once. */
const busyUser = "usr_2"
const moreWebhooks = 8
const moreOf = "whk_more_"
/** How likely that is where users make webhooks. */
const busyShare = 0.5

/** Whether a webhook is there from the beginning on. */
export const isOfBeginning = (id: string) =>
  isFirstWebhook(id) || id.startsWith(moreOf) || id === FormerWebhook.formerWebhook

/** What the audit log has from before the beginning: some of it is too old to be kept. */
export const oldEntries = (beginning_ms: number): ReadonlyArray<AuditEvent> =>
  [900, 500, 366, 364, 1].map((days) => ({
    doer: command,
    action: "keys.skipped",
    target: null,
    owner: null,
    at: beginning_ms - days * 24 * 3_600_000
  }))

/** The e-mail address of a user. */
export const emailOf = (user: string) => `${user}@example.com`

/** An API key of a user. Times are microseconds since the world's beginning; infinite: never. */
export interface UserKey {
  readonly id: string
  readonly secret: string
  readonly user: string
  readonly added_us: number
  /** When it ends by itself. */
  readonly expires_us: number
  /** What it may be used for. */
  readonly scopes: ReadonlyArray<Scope>
  /** How often the links that it made may redirect in a day; none: as often as its user's. */
  readonly redirectsPerDay?: number | null
  /** How many links it may make in a minute; none: as many as its user. */
  readonly createsPerMinute?: number
  /** From when on it may be revoked: somebody has asked for that. */
  revoking_us: number
  revoked_us: number
}

/** Whether an API key has some scopes. */
export const allows = ({ scopes }: Pick<UserKey, "scopes">, needed: ReadonlyArray<Scope>): boolean =>
  needed.every((scope) => scopes.includes(scope))

const never_us = Number.POSITIVE_INFINITY

/** Users, each with a password, an API key, which is revoked after a while and has a successor, and a webhook for links that were created or deleted; {@link suspended}, and {@link leaving}. */
export class Users {
  readonly keys: Array<UserKey> = []
  /** Those that users have made themselves, in their sessions. */
  readonly ownKeys: Array<UserKey> = []
  readonly names: ReadonlyArray<string>
  /** Called with the secret of each API key that is about to be revoked, or whose user is about to be disabled. */
  whenRevoked: (secret: string) => void = () => {}
  readonly #world: World
  readonly #database: VirtualDatabase
  readonly #journal: Pick<Journal, "add">
  readonly #options: SimOptions
  readonly #chance: Chance
  readonly #signingIn: Chance
  /** Until when all keys of a user may be revoked. */
  readonly #revokingUntil_us = new Map<string, number>()
  #passwords = 0

  constructor(world: World, database: VirtualDatabase, journal: Pick<Journal, "add">, options: SimOptions) {
    this.#world = world
    this.#database = database
    this.#journal = journal
    this.#options = options
    this.#chance = world.chance("users")
    this.#signingIn = world.chance("users who sign in")
    const { signedIn, withAccount } = options.workload
    const count = withAccount === 0 ? 0 : usersMax
    const names = Array.from({ length: count }, (_, number) => `usr_${number}`)
    this.names = count > 0 && signedIn > 0 ? [...names, suspended, ...leaving] : names
  }

  /** Adds them to the database. Only from within the world. */
  start(until_us: number) {
    const { audit, webhooks } = this.#database.users.stores
    if (this.names.length > 0) {
      this.#done(Effect.forEach(oldEntries(this.#world.now_ms), audit.record, { discard: true }))
      this.#add(this.#formerAdministrator())
    }
    const { withWebhooks } = this.#options.workload
    const isBusy = withWebhooks > 0 && this.#world.chance("more webhooks").happens(busyShare)
    const by = "the beginning"
    for (const id of this.names) {
      const draft = {
        id,
        email: emailOf(id),
        passwordHash: this.newPassword(),
        isAdmin: id === administrator
      }
      const user = newUser(draft, this.#world.now_ms)
      if (this.#options.workload.signedIn > 0 && !leaving.includes(id))
        this.#changePasswordLater(id, until_us)
      if (id === suspended || leaving.includes(id)) {
        this.#add(user)
        this.#addKey(id)
        continue
      }
      this.#add(user)
      if (id === FormerWebhook.owner && withWebhooks > 0) {
        const { keyHolder } = FormerWebhook
        this.#add(newUser({ id: keyHolder, email: emailOf(keyHolder) }, this.#world.now_ms))
        this.#done(FormerWebhook.begin(webhooks, this.#database.clock))
        const former = FormerWebhook.webhookOf(this.#world.now_ms)
        this.#journal.add({ tag: "webhook added", by, webhook: former })
        this.#proven(former.id, "former challenge")
        const { event, owner } = FormerWebhook
        this.#journal.add({ tag: "queued", by, events: [{ id: FormerWebhook.formerTried, owner, event }] })
      }
      this.#addWebhook(firstWebhookOf(id), id, `${ownReceiver}${id}/text`)
      if (id === busyUser && isBusy)
        for (let number = 1; number <= moreWebhooks; number++)
          this.#addWebhook(`${moreOf}${number}`, id, `https://more.example.com/${number}/text`)
      this.#addKey(id)
      this.#revokeLater(id, until_us)
    }
  }

  /** Adds a webhook that its receiver has proven. */
  #addWebhook(id: string, owner: string, url: string) {
    const { webhooks } = this.#database.users.stores
    const webhook: Webhook = {
      id,
      owner,
      keyId: null,
      url,
      events: ["link.created", "link.deleted"],
      secret: `whsec_${Buffer.from(owner).toString("base64")}`,
      createdAt: this.#world.now_ms
    }
    const challenge = `challenge of ${id}`
    this.#done(
      Effect.all([
        webhooks.add(webhook, { id: challenge, body: "{}" }, webhooksMax),
        webhooks.verify(id, challenge)
      ])
    )
    this.#journal.add({ tag: "webhook added", by: "the beginning", webhook })
    this.#proven(id, challenge)
  }

  #add(user: User) {
    const { email, id } = user
    this.#done(this.#database.users.stores.accounts.addUser(user))
    this.#journal.add({ tag: "user added", by: "the beginning", user: id, email })
  }

  #formerAdministrator() {
    const now_ms = this.#world.now_ms
    const id = formerAdministrator
    const draft = { id, email: emailOf(id), passwordHash: this.newPassword(), isAdmin: true }
    return { ...newUser(draft, now_ms), disabledAt: now_ms }
  }

  /** Notes that a webhook's receiver has answered its challenge, at the beginning. */
  #proven(webhook: string, message: string) {
    this.#journal.add({ tag: "webhook verified", by: "the beginning", webhook, message, isLatest: true })
  }

  /** The API key that a client sends: of some user, mostly the valid one. */
  apiKey(chance: Chance): string {
    return this.apiKeyOf(chance.pick(this.names), chance)
  }

  /** An API key of a user, likewise. */
  apiKeyOf(name: string, chance: Chance): string {
    const own = this.keys.filter(({ user }) => user === name)
    return (chance.happens(formerShare) ? (own.at(-2) ?? own.at(-1)!) : own.at(-1)!).secret
  }

  /** An API key of a user, or of one whom its users have made, which may be used for less. */
  anyKeyOf(name: string, chance: Chance): string {
    const own = this.ownKeys.filter(({ user }) => user === name)
    return own.length > 0 && chance.happens(ownShare) ? chance.pick(own).secret : this.apiKeyOf(name, chance)
  }

  /** The user whose an API key is. */
  ownerOf(secret: string): string {
    return [...this.keys, ...this.ownKeys].find((key) => key.secret === secret)!.user
  }

  /** The API key of a user that is revoked last. */
  lastKeyOf(name: string): UserKey {
    return this.keys.findLast(({ user }) => user === name)!
  }

  /** The password that a user has now; any where there is no such user any more. */
  passwordOf(user: string): string {
    return this.#done(this.#database.users.stores.accounts.userById(user))?.passwordHash ?? this.newPassword()
  }

  /** Has the database do something at once. */
  #done<A>(self: Effect.Effect<A, StorageError>): A {
    return Effect.runSync(Effect.withClock(Effect.orDie(self), this.#database.clock.service))
  }

  #addKey(user: string) {
    const number = this.keys.length
    const { createsPerMinute, keyRedirectsPerDay, redirectsPerDay } = this.#options
    const half = redirectsPerDay === null ? null : Math.ceil(redirectsPerDay / 2)
    const id = `key_${number}`
    const secret = `lm_${String(number).padStart(32, "0")}`
    const key = {
      id,
      userId: user,
      secretHash: digest(secret),
      name: id,
      scopes: [...ofLinks, ...(user === demoted ? ["admin"] : [])],
      createsPerMinute: createsPerMinute === null ? null : 2 * createsPerMinute,
      redirectsPerDay: keyRedirectsPerDay ?? half,
      createdAt: this.#world.now_ms,
      expiresAt: null
    }
    // Nobody who is disabled is given one.
    if (this.#done(this.#database.users.stores.accounts.addKey(key, 100)) !== "added") return
    this.keys.push({
      id,
      secret,
      user,
      added_us: this.#world.now_us,
      expires_us: never_us,
      scopes: ofLinks,
      redirectsPerDay: key.redirectsPerDay,
      ...(key.createsPerMinute !== null && { createsPerMinute: key.createsPerMinute }),
      revoking_us: never_us,
      revoked_us: never_us
    })
  }

  /** Notes a key that a user has made, as an answer told it just now. */
  addOwn(user: string, made: Pick<UserKey, "id" | "secret" | "expires_us" | "scopes">) {
    const added_us = this.#world.now_us
    const revoking_us = added_us <= (this.#revokingUntil_us.get(user) ?? 0) ? added_us : never_us
    this.ownKeys.push({ ...made, user, added_us, revoking_us, revoked_us: never_us })
  }

  /** Notes that somebody asks now to revoke a key. */
  revoking(key: UserKey) {
    key.revoking_us = Math.min(key.revoking_us, this.#world.now_us)
    this.whenRevoked(key.secret)
  }

  /** Notes that a key is revoked by now. */
  revoked(key: UserKey) {
    key.revoking_us = Math.min(key.revoking_us, this.#world.now_us)
    key.revoked_us = Math.min(key.revoked_us, this.#world.now_us)
  }

  /** Notes that a user asks now to revoke all keys, with the password. */
  revokingAll(user: string) {
    this.#revokingUntil_us.set(user, never_us)
    for (const key of this.#allOf(user)) this.revoking(key)
  }

  /** Notes the end of all keys, or that it is not known, and gives the user another one when they cannot end any more. */
  revokedAll(user: string, areRevoked: boolean) {
    if (areRevoked) for (const key of this.#allOf(user)) if (key.revoking_us < never_us) this.revoked(key)
    const wait_us = areRevoked ? 0 : late_us
    this.#revokingUntil_us.set(user, this.#world.now_us + wait_us)
    this.#world.after(wait_us, null, () => this.#addKey(user))
  }

  #allOf(name: string): ReadonlyArray<UserKey> {
    return [...this.keys, ...this.ownKeys].filter(({ user }) => user === name)
  }

  /** The keys that a user has made and that nobody has asked to revoke. */
  ownOf(name: string): ReadonlyArray<UserKey> {
    return this.ownKeys.filter(({ revoking_us, user }) => user === name && revoking_us === never_us)
  }

  /** A password that nobody has had. The virtual hash of one is itself. */
  newPassword(): string {
    return `one of many secrets, number ${this.#passwords++}`
  }

  /** Has a user be given another password after a while, and so on. */
  #changePasswordLater(user: string, until_us: number) {
    const wait_us = this.#signingIn.waiting(passwordLasts_us)
    if (this.#world.now_us + wait_us > until_us) return
    this.#world.after(wait_us, null, () => {
      const passwordIsTemporary = this.#signingIn.happens(temporaryShare)
      const change = { passwordHash: this.newPassword(), passwordIsTemporary, revokesKeys: false }
      const { accounts } = this.#database.users.stores
      this.#done(accounts.setPassword(user, { ...change, at: this.#world.now_ms }))
      const by = "an administrator"
      const how = { isTemporary: passwordIsTemporary, revokesKeys: false }
      this.#journal.add({ tag: "password changed", by, user, ...how })
      this.#world.tell("users", "password changed", user)
      this.#changePasswordLater(user, until_us)
    })
  }

  #revokeLater(user: string, until_us: number) {
    const wait_us = this.#chance.waiting(keyLasts_us)
    if (this.#world.now_us + wait_us > until_us) return
    const last = this.keys.findLast((key) => key.user === user)!
    this.#world.after(wait_us, null, () => this.whenRevoked(last.secret))
    this.#world.after(wait_us + announced_us, null, () => {
      this.#done(this.#database.users.stores.accounts.removeKey(last.id, null))
      this.revoked(last)
      this.#journal.add({ tag: "key revoked", by: "an administrator", apiKey: last.id })
      this.#world.tell("users", "revoked", last.id)
      this.#addKey(user)
      this.#revokeLater(user, until_us)
    })
  }
}
