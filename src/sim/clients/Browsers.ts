import type { LinkFate } from "../../accounts/Users.ts"
import { digest } from "../../secrets/Secret.ts"
import { AccountRequests, type Ask } from "./AccountRequests.ts"
import type { Answer } from "./Balancer.ts"
import type { Creates } from "./Creates.ts"
import { ofBrowser } from "./Drafts.ts"
import type { WorkloadOptions } from "../cli/Options.ts"
import type { Exchange, Wish } from "../History.ts"
import type { Requests } from "./Requests.ts"
import { emailOf, leaving, type Users } from "../deployment/Users.ts"
import type { VirtualRequest } from "../deployment/VirtualNode.ts"
import type { Trespasses } from "./Trespasses.ts"
import { WebhookRequests } from "./WebhookRequests.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us } from "../world/Time.ts"
import type { World } from "../world/World.ts"

/** Browsers of each user. */
const browsersMax = 2

/** How likely somebody who signs in writes their address in capitals, which is the same one. */
const capitalsShare = 0.3

/** How likely a browser that has a session signs in again, and signs out. */
const signInShare = 0.04
const signOutShare = 0.08

/** How likely the first user, who hardly ever tries a wrong password, signs in on many further devices one after another, on more than may be signed in at once; and how long that takes each time, beside the answer. */
const devicesShare = 0.05
const devices = 24
const deviceEach_us = 100 * ms_us

/** How likely a request in a session is a create, is sent to one node, and has the session before rather than the present one. */
const createdShare = 0.4
const directShare = 0.3
const formerShare = 0.2

/** How likely one lists the domains, where the deployment answers requests about them. */
const domainsShare = 0.04

/** A page of the audit log; and how many entries are read at most. */
interface AuditPage {
  readonly data: ReadonlyArray<unknown>
  readonly nextCursor: string | null
}
const entriesMax = 400

/** How likely a password is wrong, of the users in turns: some use up what they may try within an hour, others hardly ever try. */
const wrongShares = [0.01, 0.1, 0.3]

const sessionCookie = "linkmint_session"
const sessionPath = "/api/v1/session"

/** What a browser with such cookies sends beside the path. */
const sentBy = (cookie: string, body: object | undefined): Pick<VirtualRequest, "headers" | "body"> =>
  body === undefined
    ? { headers: ofBrowser(cookie) }
    : {
        headers: { ...ofBrowser(cookie), "content-type": "application/json" },
        body: JSON.stringify(body)
      }

/** The same with an API key. */
const byKey = (secret: string, body: object | undefined): Pick<VirtualRequest, "headers" | "body"> => ({
  headers: { "x-api-key": secret, ...(body !== undefined && { "content-type": "application/json" }) },
  ...(body !== undefined && { body: JSON.stringify(body) })
})

/** A browser of a user. */
class Browser {
  readonly user: string
  /** The address of its machine, if that is not the node's. */
  readonly from: string | undefined
  /** Whether its user has been told to choose another password. */
  mustChange = false
  readonly #cookies = new Map<string, string>()
  #former: string | undefined

  constructor(user: string, from?: string) {
    this.user = user
    this.from = from
  }

  /** The token of its session, or of that before. */
  token(isFormer: boolean): string | undefined {
    return (isFormer ? this.#former : undefined) ?? this.#cookies.get(sessionCookie)
  }

  /** What it sends, with one of these sessions; and by which name that session is known. */
  sent(token: string | undefined): { readonly cookie: string; readonly session: string | undefined } {
    const others = Array.from(this.#cookies).filter(([name]) => name !== sessionCookie)
    const all = token === undefined ? others : [...others, [sessionCookie, token] as const]
    return {
      cookie: all.map(([name, value]) => `${name}=${value}`).join("; "),
      session: token === undefined ? undefined : digest(token)
    }
  }

  /** Keeps and forgets cookies as an answer has it. */
  keep(cookies: ReadonlyArray<string>) {
    for (const cookie of cookies) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      if (name === sessionCookie) this.leave()
      if (value !== "") this.#cookies.set(name!, value!)
    }
  }

  /** Forgets its session. */
  leave() {
    this.#former = this.#cookies.get(sessionCookie) ?? this.#former
    this.#cookies.delete(sessionCookie)
    this.mustChange = false
  }
}

/** Browsers of users, which sign in and out, and ask for accounts and links in their sessions. */
export class Browsers {
  readonly #requests: Requests
  readonly #creates: Creates
  readonly #users: Users
  readonly #account: AccountRequests
  readonly #share: number
  readonly #webhooksShare: number
  readonly #auditedShare: number
  readonly #webhooks: WebhookRequests
  readonly #trespasses: Trespasses
  readonly #world: World
  readonly #chance: Chance
  readonly #spelling: Chance
  readonly #browsers: ReadonlyArray<Browser>

  /** How likely a request is one of theirs, and one of those about webhooks. */
  constructor(
    world: World,
    requests: Requests,
    creates: Creates,
    users: Users,
    trespasses: Trespasses,
    { audited, signedIn, withWebhooks }: Pick<WorkloadOptions, "audited" | "signedIn" | "withWebhooks">
  ) {
    this.#world = world
    this.#requests = requests
    this.#creates = creates
    this.#users = users
    this.#share = signedIn
    this.#webhooksShare = withWebhooks
    this.#auditedShare = audited
    this.#trespasses = trespasses
    this.#webhooks = new WebhookRequests(world, users)
    this.#chance = world.chance("browsers")
    this.#spelling = world.chance("spelling of addresses")
    this.#account = new AccountRequests(world, creates, users, this.#chance)
    this.#browsers = users.names.flatMap((user) =>
      Array.from({ length: browsersMax }, () => new Browser(user))
    )
  }

  /** Whether the next request is one of theirs. */
  happens(): boolean {
    return this.#chance.happens(this.#share)
  }

  /** Has one of them ask for something. `done` is told the key of a link that it made. */
  act(done: (created?: string) => void) {
    const browser = this.#chance.pick(this.#browsers)
    const what = this.#chance.fraction()
    if (browser.token(false) === undefined || what < signInShare) return this.#signIn(browser, done)
    if (what < signInShare + signOutShare) return this.#signOut(browser, done)
    if (this.#chance.happens(devicesShare)) return this.#signInElsewhere(this.#users.names[0]!, devices, done)
    const direct = this.#chance.happens(directShare)
    const token = browser.token(this.#chance.happens(formerShare))
    const own = browser.sent(token)
    const answered = ({ kind, status }: Exchange) => {
      if (token !== browser.token(false)) return
      if (status === 401) browser.leave()
      // Some of it nobody else may ask for than administrators.
      if (status === 403 && kind !== "audit" && kind !== "trespass") browser.mustChange = true
    }
    /** Requests of this turn that are not answered yet. */
    let left = 0
    const ask: Ask = ({ body, kind = "account", method, path, ...more }, told = () => {}) => {
      left++
      const { user } = browser
      const wish = { client: user, kind, user, session: own.session, direct, ...more }
      this.#requests.send([wish], { method, path, ...sentBy(own.cookie, body) }, ([exchange], answer) => {
        told(answer, exchange!)
        // A node may answer late what the browser has done meanwhile.
        if (token === browser.token(false)) browser.keep(answer?.response.cookies ?? [])
        answered(exchange!)
        if (--left === 0) done()
      })
    }
    if (browser.mustChange && token === browser.token(false))
      return this.#account.changePassword(browser.user, ask)
    if (this.#trespasses.hasDomains && this.#chance.happens(domainsShare))
      return ask({ method: "GET", path: "/api/v1/domains", kind: "domains" }, (answer, exchange) => {
        if (answer?.response.status !== 200) return
        const { data } = JSON.parse(answer.response.body) as {
          readonly data: ReadonlyArray<{ readonly host: string }>
        }
        exchange.listed = data.map(({ host }) => host)
      })
    if (this.#trespasses.happensInBrowser()) return this.#trespasses.askInSession(browser.user, own, done)
    if (this.#auditedShare > 0 && this.#chance.happens(this.#auditedShare))
      return this.#readAudit(browser.user, { ...own, direct }, answered, done)
    if (
      this.#webhooksShare > 0 &&
      !leaving.includes(browser.user) &&
      this.#chance.happens(this.#webhooksShare)
    ) {
      return this.#webhooks.act(browser.user, ({ request: { body, ...request }, wish }, told) => {
        left++
        const { user } = browser
        const { apiKey } = wish
        const shown = apiKey === undefined ? { session: own.session } : {}
        const sent = apiKey === undefined ? sentBy(own.cookie, body) : byKey(apiKey, body)
        this.#requests.send(
          [{ client: user, kind: "webhook", user, direct, ...shown, ...wish }],
          { ...request, ...sent },
          ([exchange], answer) => {
            if (apiKey === undefined) answered(exchange!)
            if (answer !== undefined) {
              exchange!.body = answer.response.body
              told?.(answer, exchange!)
            }
            if (--left === 0) done()
          }
        )
      })
    }
    if (this.#chance.happens(createdShare)) {
      return this.#creates.inSession(browser.user, own, direct, (exchange) => {
        answered(exchange)
        done(exchange.key)
      })
    }
    this.#account.act(browser.user, ask, done)
  }

  /** Has a user remove their own account, where they are signed in. `otherwise` is called if that was not done. */
  removeOwn(user: string, links: LinkFate, otherwise: () => void) {
    const browser = this.#browsers.find((one) => one.user === user && one.token(false) !== undefined)
    if (browser === undefined) return otherwise()
    const request = { method: "DELETE", path: `/api/v1/me?links=${links}` } as const
    this.#send(browser, { kind: "remove user", user, links }, request, ({ status }) => {
      if (status !== 204) otherwise()
    })
  }

  /** Reads the audit log page by page, or some of it. */
  #readAudit(
    user: string,
    { cookie, ...more }: Pick<Wish, "session" | "direct"> & { readonly cookie: string },
    answered: (exchange: Exchange) => void,
    done: () => void
  ) {
    const audit: NonNullable<Wish["audit"]> = this.#chance.pick([
      {},
      { user: this.#chance.pick(this.#users.names) },
      { action: this.#chance.pick(["session.begun", "key.added", "link.deleted"]) }
    ])
    const limit = String(this.#chance.pick([3, 20, 500]))
    let since_us: number | undefined
    const entries: Array<unknown> = []
    const ask = (cursor: string | null) => {
      const query = new URLSearchParams({ ...audit, limit, ...(cursor !== null && { cursor }) })
      this.#requests.send(
        [{ client: user, kind: "audit", user, audit, since_us, ...more }],
        { method: "GET", path: `/api/v1/audit?${query.toString()}`, ...sentBy(cookie, undefined) },
        ([exchange], answer) => {
          answered(exchange!)
          since_us ??= exchange!.sent_us
          if (answer?.response.status !== 200) return done()
          const { data, nextCursor } = JSON.parse(answer.response.body) as AuditPage
          entries.push(...data)
          if (nextCursor !== null && entries.length < entriesMax) return ask(nextCursor)
          if (nextCursor === null) exchange!.body = JSON.stringify(entries)
          done()
        }
      )
    }
    ask(null)
  }

  #signIn(browser: Browser, done: () => void) {
    const { user } = browser
    const isRight = !this.#chance.happens(wrongShares[this.#users.names.indexOf(user) % wrongShares.length]!)
    const email = emailOf(user)
    const body = {
      email: this.#spelling.happens(capitalsShare) ? email.toUpperCase() : email,
      password: isRight ? this.#users.passwordOf(user) : "no password of anybody"
    }
    this.#send(browser, { kind: "sign in", user, isRight }, { method: "POST", path: sessionPath, body }, () =>
      done()
    )
  }

  /** Signs in on so many devices that are not used any more, each in a network of its own: there are limits on what comes from one. */
  #signInElsewhere(user: string, times: number, done: () => void) {
    if (times === 0) return done()
    const next = () => this.#signInElsewhere(user, times - 1, done)
    const elsewhere = new Browser(user, `198.51.${times}.1`)
    this.#signIn(elsewhere, () => void this.#world.after(deviceEach_us, null, next))
  }

  #signOut(browser: Browser, done: () => void) {
    this.#send(browser, { kind: "sign out" }, { method: "DELETE", path: sessionPath }, () => done())
  }

  /** Sends what begins or ends a session, with a browser's cookies, and has it keep those that it is given. */
  #send(
    browser: Browser,
    wish: Omit<Wish, "client">,
    { body, ...asked }: Pick<VirtualRequest, "method" | "path"> & { readonly body?: object },
    done: (exchange: Exchange) => void
  ) {
    const { cookie, session } = browser.sent(browser.token(false))
    const request = { ...asked, from: browser.from, ...sentBy(cookie, body) }
    this.#requests.send(
      [{ client: browser.user, session, ...wish }],
      request,
      ([exchange], answer?: Answer) => {
        browser.keep(answer?.response.cookies ?? [])
        done(exchange!)
      }
    )
  }
}
