import { Administrators } from "./Administrators.ts"
import { Browsers } from "./Browsers.ts"
import { BulkEdits } from "./BulkEdits.ts"
import { Creates } from "./Creates.ts"
import { aliases, linkPasswords, noPassword } from "./Drafts.ts"
import { Directory } from "./Directory.ts"
import { DomainAdministrator } from "./DomainAdministrator.ts"
import { Guessers } from "./Guessers.ts"
import { linkRequestOf, type LinkWish } from "./LinkRequests.ts"
import { Lists } from "./Lists.ts"
import type { Exchange, Wish } from "../History.ts"
import { announced_us as changeAnnounced_us, type ChangingDomain } from "../deployment/ChangingDomain.ts"
import { Requests, type RequestsOptions } from "./Requests.ts"
import { Strays } from "./Strays.ts"
import { Trespasses } from "./Trespasses.ts"
import { Statistics } from "./Statistics.ts"
import type { WorkloadOptions } from "../cli/Options.ts"
import { defaultDomain, domainKeyOf } from "../../keys/QualifiedKey.ts"
import type { Strike } from "../deployment/Faults.ts"
import { domainNumbers } from "../deployment/FurtherDomains.ts"
import { announced_us, type Users } from "../deployment/Users.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us, s_us } from "../world/Time.ts"

/** The maximum of requests in a burst. */
const burstMax = 20

/** How likely a new link takes the place of one that clients remember, when they remember as many as they can. They ask for the first ones most often. */
const replacedShare = 0.3

/** How likely clients forget a link that they asked for, when there was none or no more. */
const forgottenShare = 0.15

/** How likely a user asks for a link, who is shown their own ones alone, or changes it; and how likely one whom nobody has told of it. */
const byUserShare = 0.3
const strangerShare = 0.2

/** How likely a visitor who is asked for a link's password gives the one that it was given last, where that is known. */
const rightShare = 0.8

/** How likely the form with it comes slowly, and in how many seconds at most. */
const slowFormShare = 0.4
const slowForm_s = 2.5

/** How likely a visitor asks for the headers alone, and how likely somebody asks for a link's preview rather than for what the API shows of it. */
const headShare = 0.05
const previewShare = 0.3

/** How many follow a write; within what time most writes are done, and after what time one that was acknowledged holds everywhere. */
const followers = 4
const writtenWithin_us = 20 * ms_us
const holds_us = 1_300 * ms_us

/** After what time others change a link at most that a client has begun to change. */
const rivalsWithin_us = 600 * ms_us

/** How likely a link is asked for and changed when a node ceases to hear of changes, within what time it is asked for, and within what time it is changed. */
const unheardShare = 0.5
const unheardAskedWithin_us = 100 * ms_us
const unheardWithin_us = 400 * ms_us

/** How many archive links while others edit them all, and for how long. */
const archivers = 8
const archivedWithin_us = 100 * ms_us

/** How many use an API key shortly before it is revoked, how many while some nodes may accept it still, and how many, and for how long, when none may. */
const keyUses = { before: 2, meanwhile: 3, after: 4 }
const usedFor_us = 2.5 * s_us

/** How many ask at the host of the domain that comes and goes until nodes can have read that, and how many, and for how long, when all must have. */
const probes = { before: 8, after: 8 }
const readWithin_us = s_us
const readBy_us = 2 * s_us
const probedFor_us = 1.5 * s_us

/** How likely a link that was deleted is read again, where links are read that way. */
const missedShare = 0.5

/** How likely one that has ended in whatever way is taken for such a link. */
const endedShare = 0.1

/** How likely hardly anybody asks for anything else meanwhile, so that a node's requests at that host can follow one another. */
const lullShare = 0.4

/** Whether the link that is stored by a text is one of the default domain, with a key of one segment: where keys have several, what it is also depends on what a node has read. */
const isPlain = (text: string): boolean => domainKeyOf(text).domain === defaultDomain && !text.includes("/")

/** Options of the clients. */
export interface ClientsOptions extends RequestsOptions {
  readonly workload: WorkloadOptions
  readonly answersKept_s: number | null
  readonly users: Users
  readonly changingDomain: ChangingDomain
}

/** Many clients that create, follow, change and delete links, through the load balancer or at one node. */
export class Clients {
  readonly #options: ClientsOptions
  readonly #chance: Chance
  readonly #followers: Chance
  readonly #rivals: Chance
  readonly #unheard: Chance
  readonly #lists: Chance
  readonly #probes: Chance
  /** Until when clients have no request in mind. */
  #quietUntil_us = 0
  readonly #forgetting: Chance
  readonly #shown: Chance
  readonly #missing: Chance
  readonly #passwords: Chance
  readonly #heads: Chance
  readonly #previews: Chance
  readonly #crawlers: Chance
  readonly #requests: Requests
  readonly #creates: Creates
  readonly #listing: Lists
  readonly #statistics: Statistics
  readonly #edits: BulkEdits
  readonly #guessers: Guessers
  readonly #strays: Strays
  readonly #trespasses: Trespasses
  readonly #senders: Chance
  /** The passwords that links were given last, by their texts. */
  readonly #words = new Map<string, string>()
  /** Who has made links, by their texts, as far as users have. */
  readonly #makers = new Map<string, string>()
  /** Those of users, if any sign in. */
  readonly #administrators: Administrators | undefined
  readonly #browsers: Browsers | undefined
  /** Until when they work. */
  #until_us = 0
  /** Keys that clients were given, the oldest first. */
  readonly #known: Array<string> = []

  constructor(options: ClientsOptions) {
    this.#options = options
    this.#chance = options.world.chance("clients")
    this.#followers = options.world.chance("followers")
    this.#rivals = options.world.chance("rivals")
    this.#unheard = options.world.chance("unheard changes")
    this.#lists = options.world.chance("lists")
    this.#probes = options.world.chance("probes")
    this.#forgetting = options.world.chance("forgetting")
    this.#shown = options.world.chance("shown")
    this.#missing = options.world.chance("readers of deleted links")
    this.#passwords = options.world.chance("passwords of links")
    this.#heads = options.world.chance("redirects without bodies")
    this.#previews = options.world.chance("previews")
    this.#crawlers = options.world.chance("crawlers")
    this.#requests = new Requests(options)
    const domains = options.workload.withDomain > 0 ? domainNumbers : []
    this.#listing = new Lists(options.world, this.#requests, options.users, domains, this.#lists)
    const further = domains.filter((number) => number !== defaultDomain)
    this.#statistics = new Statistics(options.world, this.#requests, options.users, further)
    this.#edits = new BulkEdits(options.world, this.#requests, options.users, domains)
    this.#guessers = new Guessers(options.world)
    this.#strays = new Strays(options.world, this.#requests, further, options.workload.domainsChanged > 0)
    const { domainsAsked, domainsChanged } = options.workload
    const hasDomains = domainsAsked > 0 && domainsChanged > 0
    this.#trespasses = new Trespasses(options.world, this.#requests, options.users, hasDomains)
    this.#senders = options.world.chance("senders of changes")
    this.#creates = new Creates(
      options.world,
      this.#requests,
      options,
      options.users,
      (exchange) => this.#know(exchange),
      (alias) => {
        if (this.#followers.happens(options.workload.followed))
          this.#askAround("followers of an alias", alias, () => this.#followers.below(writtenWithin_us))
      }
    )
    const { users, workload, world } = options
    if (users.names.length > 0 && workload.signedIn > 0) {
      this.#browsers = new Browsers(world, this.#requests, this.#creates, users, this.#trespasses, workload)
      this.#administrators = new Administrators(world, this.#requests, users, this.#browsers)
    }
  }

  /** Starts all clients. They work until `until_us`. */
  start(until_us: number) {
    this.#until_us = until_us
    this.#options.users.whenRevoked = (secret) => {
      if (this.#followers.happens(this.#options.workload.followed)) this.#useRevoked(secret)
    }
    this.#options.changingDomain.whenChanged = () => {
      if (this.#probes.happens(this.#options.workload.domainsChanged)) this.#probe()
    }
    if (this.#administrators !== undefined) {
      this.#administrators.start(until_us)
      new Directory(this.#options.world, this.#requests, this.#options.users).start(until_us)
    }
    const { domainsAsked, domainsChanged } = this.#options.workload
    if (domainsChanged > 0 && domainsAsked > 0)
      new DomainAdministrator(this.#options.world, this.#requests, this.#options.changingDomain).start(
        until_us
      )
    for (let number = 0; number < this.#options.workload.clients; number++)
      this.#live(`client-${number}`, until_us)
  }

  /** Is told of each fault as it happens: what some do depends on it. */
  struck(strike: Strike) {
    this.#administrators?.struck(strike)
    if (strike.name === "newsReset") this.#changeUnheard()
  }

  #live(client: string, until_us: number) {
    const { workload, world } = this.#options
    let own: string | undefined
    const next = () => {
      const pause_us = this.#chance.waiting(workload.think_ms * ms_us)
      if (world.now_us + pause_us < until_us) world.after(pause_us, null, act)
    }
    const act = () => {
      // All at once would come when it is over.
      if (world.now_us < this.#quietUntil_us) return next()
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
    if (this.#lists.happens(workload.listed)) return this.#listing.begin(client, done)
    // What is counted of visitors is known where they differ in that alone.
    if (workload.varied === 0 && this.#statistics.happens(workload.statistics))
      return this.#statistics.ask(client, (chance) => own ?? this.#popular(this.#known, chance), done)
    if (this.#crawlers.happens(workload.crawled)) return this.#crawl(client, done)
    if (this.#lists.happens(workload.editedInBulk)) {
      this.#archive(`${client}'s rivals`)
      return this.#edits.begin(client, done)
    }
    if (this.#browsers?.happens() === true) return this.#browsers.act(done)
    if (this.#guessers.happens(workload.guessed)) return this.#guess(done)
    if (this.#strays.happens()) return this.#strays.ask(client, done)
    if (this.#trespasses.happens())
      return this.#trespasses.ask(client, this.#popular(this.#known, this.#senders) ?? "no-link", done)
    const wish = this.#chance.happens(workload.wished)
      ? this.#creates.drafts.wished(this.#chance.pick(aliases))
      : undefined
    const key = own !== undefined && this.#chance.happens(workload.justCreated) ? own : this.#popular()
    if (key === undefined || this.#chance.happens(workload.created)) return this.#creates.begin(client, done)
    if (this.#chance.happens(workload.deleted)) return this.#simple(client, "delete", key, done)
    if (this.#chance.happens(workload.changed)) {
      if (this.#rivals.happens(workload.rivalled)) this.#rival(`${client}'s rival`, key)
      return this.#simple(client, "change", key, done)
    }
    if (this.#shown.happens(workload.shown)) return this.#show(client, key, done)
    this.#simple(client, "redirect", this.#creates.drafts.perhapsElsewhere(wish ?? key), done)
  }

  /** A key that was given to somebody: after Zipf's law, the n-th is asked for 1/n as often as the first. */
  #popular(known = this.#known, chance = this.#chance): string | undefined {
    if (known.length === 0) return undefined
    const rank = Math.floor(Math.exp(chance.fraction() * Math.log(known.length + 1))) - 1
    return known[Math.min(rank, known.length - 1)]
  }

  #know({ apiKey, client, isReplay, key, password, session, status }: Exchange) {
    if (key === undefined) return
    const isNew = status === 201 && !isReplay
    const { users } = this.#options
    if (isNew && password !== undefined) this.#words.set(key, password)
    const maker = apiKey !== undefined ? users.ownerOf(apiKey) : session !== undefined ? client : undefined
    if (maker !== undefined) this.#makers.set(key, maker)
    if (!isNew && this.#known.includes(key)) return
    if (isNew && isPlain(key) && this.#followers.happens(this.#options.workload.followed))
      this.#askAround("followers of a link", key, () => this.#followers.below(ms_us))
    if (this.#known.length < this.#options.workload.remembered) this.#known.push(key)
    else if (this.#chance.happens(replacedShare)) this.#known[this.#chance.below(this.#known.length)] = key
  }

  /** Gives the password of a link that asked for it. */
  #unlock(asked: LinkWish, done: () => void) {
    const known = this.#words.get(asked.key)
    const isKnown = known !== undefined && this.#passwords.happens(rightShare)
    const password = isKnown ? known : this.#passwords.pick([...linkPasswords, noPassword])
    const wish: LinkWish = { ...asked, password }
    const slow_us = this.#passwords.happens(slowFormShare)
      ? this.#passwords.below(slowForm_s * s_us)
      : undefined
    this.#requests.send([wish], linkRequestOf(wish), () => done(), slow_us)
  }

  #forget(key: string) {
    const place = this.#known.indexOf(key)
    if (place !== -1 && this.#forgetting.happens(forgottenShare)) this.#known.splice(place, 1)
  }

  #simple(
    client: string,
    kind: "redirect" | "change" | "delete",
    key: string,
    done: () => void,
    change?: Pick<Wish, "choices" | "lasts">
  ) {
    const { drafts } = this.#creates
    const more =
      kind === "change"
        ? (change ?? drafts.refusedChange() ?? drafts.change())
        : kind === "redirect"
          ? { ...drafts.visit(), isHead: this.#heads.happens(headShare) }
          : {}
    const direct = kind === "redirect" && this.#chance.happens(0.3)
    if (kind !== "redirect" && this.#followers.happens(this.#options.workload.followed))
      this.#follow(`${client}'s followers`, key)
    const sender = kind === "redirect" || change !== undefined ? {} : this.#sender(key)
    const wish: LinkWish = { client, kind, key, direct, ...sender, ...more }
    this.#requests.send([wish], linkRequestOf(wish), ([exchange], answer) => {
      const status = answer?.response.status
      if (
        (wish.choices !== undefined && status === 200) ||
        (wish.refusal !== undefined && answer !== undefined)
      )
        exchange!.body = answer!.response.body
      const { password } = wish.choices ?? {}
      if (kind === "change" && status === 200 && typeof password === "string") this.#words.set(key, password)
      if (kind === "redirect" && (status === 404 || status === 410)) this.#forget(key)
      const isDeleted = kind === "delete" && status === 204
      if (isDeleted || (status === 410 && this.#missing.happens(endedShare)))
        this.#missed(`${client}'s readers`, key)
      const wrong = kind === "change" && status === 200 && drafts.tooEarlyEnd(wish.choices ?? {})
      // When every node must know of it.
      if (wrong)
        this.#options.world.after(holds_us + this.#unheard.below(s_us), null, () =>
          this.#simple(`${client}'s mistake`, "change", key, () => {}, wrong)
        )
      if (kind === "redirect" && status === 401) this.#unlock({ ...wish, isHead: false }, done)
      else done()
    })
  }

  /** The API key with which a link is changed or deleted, and whose that is: mostly of who made it, where a user did; none: the administrator's. */
  #sender(key: string): Pick<Wish, "apiKey" | "user"> {
    const { names } = this.#options.users
    const chance = this.#senders
    if (names.length === 0 || !chance.happens(byUserShare)) return {}
    const maker = this.#makers.get(key)
    const user = maker === undefined || chance.happens(strangerShare) ? chance.pick(names) : maker
    return { apiKey: this.#options.users.anyKeyOf(user, chance), user }
  }

  /** What there was to read of a link that has ended is asked for again. */
  #missed(client: string, key: string) {
    const { shown, statistics, varied } = this.#options.workload
    const chance = this.#missing
    const isReadOf = (share: number) => share > 0 && chance.happens(missedShare)
    if (isReadOf(shown)) this.#show(client, key)
    if (varied === 0 && isReadOf(statistics))
      this.#statistics.ask(
        client,
        () => key,
        () => {},
        "anybody"
      )
  }

  #show(client: string, key: string, done: () => void = () => {}) {
    if (this.#previews.happens(previewShare)) return this.#preview(client, key, done)
    const { users } = this.#options
    const isUsers = users.names.length > 0 && this.#shown.happens(byUserShare)
    const user = isUsers ? this.#shown.pick(users.names) : undefined
    const apiKey = user === undefined ? undefined : users.anyKeyOf(user, this.#shown)
    const wish: LinkWish = { client, kind: "show", key, apiKey, direct: this.#shown.happens(0.5) }
    this.#requests.send([wish], linkRequestOf(wish), ([exchange], answer) => {
      if (answer?.response.status === 200) exchange!.body = answer.response.body
      done()
    })
  }

  #preview(client: string, key: string, done: () => void) {
    const wish: LinkWish = { client, kind: "preview", key, direct: this.#previews.happens(0.5) }
    this.#requests.send([wish], linkRequestOf(wish), ([exchange], answer) => {
      if (answer?.response.status === 200) exchange!.body = answer.response.body
      done()
    })
  }

  /** Asks which links of the default domain crawlers may read. */
  #crawl(client: string, done: () => void) {
    const wish: Wish = { client, kind: "crawl", direct: this.#crawlers.happens(0.5) }
    this.#requests.send([wish], { method: "GET", path: "/robots.txt", headers: {} }, ([exchange], answer) => {
      if (answer?.response.status === 200) exchange!.body = answer.response.body
      done()
    })
  }

  #guess(done: () => void) {
    const guesses = this.#guessers.guesses((chance) => this.#popular(this.#known, chance))
    let left = guesses.length
    for (const { from, isRight, key } of guesses) {
      const wish: LinkWish = { client: from, kind: isRight ? "redirect" : "guess", key, from }
      this.#requests.send([wish], linkRequestOf(wish), () => {
        if (--left === 0) done()
      })
    }
  }

  /** Changes a link that is being changed. */
  #rival(client: string, key: string) {
    const { world } = this.#options
    world.after(this.#rivals.below(rivalsWithin_us), null, () =>
      this.#simple(client, "change", key, () => {})
    )
  }

  /** Changes a link that is being read, since a node hears nothing of changes for a moment; and asks for it when that must hold everywhere. */
  #changeUnheard() {
    const { world } = this.#options
    if (this.#known.length === 0 || !this.#unheard.happens(unheardShare)) return
    // Not only those that nodes have at hand.
    const key = this.#unheard.pick(this.#known)
    const client = "readers of a link"
    this.#askAround(client, key, () => this.#unheard.below(unheardAskedWithin_us))
    world.after(this.#unheard.below(unheardWithin_us), null, () =>
      this.#simple(client, "change", key, () => {
        this.#askAround(client, key, () => holds_us + this.#unheard.below(holds_us))
      })
    )
  }

  /** Archives links, or takes them out of the archive, while all are edited. */
  #archive(client: string) {
    for (let times = 0; times < archivers; times++)
      this.#options.world.after(this.#rivals.below(archivedWithin_us), null, () => {
        const key = this.#known[this.#rivals.below(this.#known.length)]
        if (key !== undefined) this.#simple(client, "change", key, () => {}, this.#creates.drafts.archiving())
      })
  }

  /** Uses an API key at some nodes while it is revoked, and again when none may accept it. */
  #useRevoked(secret: string) {
    const use = (after_us: number) =>
      this.#options.world.after(after_us, null, () => this.#creates.byKey("users' programs", secret))
    for (let times = 0; times < keyUses.before; times++) use(this.#followers.below(announced_us))
    for (let times = 0; times < keyUses.meanwhile; times++) use(announced_us + this.#followers.below(s_us))
    for (let times = 0; times < keyUses.after; times++)
      use(announced_us + s_us + this.#followers.below(usedFor_us))
  }

  /** Asks some nodes for links at the host of the domain that comes and goes while it does so, and again when that must hold everywhere. */
  #probe() {
    const chance = this.#probes
    if (chance.happens(lullShare))
      this.#quietUntil_us =
        this.#options.world.now_us + changeAnnounced_us + readBy_us + chance.below(probedFor_us)
    const ask = (after_us: number) =>
      this.#options.world.after(after_us, null, () => {
        const key = this.#popular(this.#known.filter(isPlain), chance)
        if (key === undefined) return
        const visitor = chance.happens(0.5) ? ("desk" as const) : undefined
        const wish: LinkWish = { client: "probes", kind: "probe", key, direct: true, visitor }
        this.#requests.send([wish], linkRequestOf(wish), () => {})
      })
    for (let times = 0; times < probes.before; times++) ask(chance.below(changeAnnounced_us + readWithin_us))
    for (let times = 0; times < probes.after; times++)
      ask(changeAnnounced_us + readBy_us + 1 + chance.below(probedFor_us))
  }

  /** Asks some nodes for a link while it is written, and again when that must hold everywhere. */
  #follow(client: string, key: string) {
    const chance = this.#followers
    this.#askAround(client, key, () => chance.below(writtenWithin_us))
    this.#askAround(client, key, () => holds_us + chance.below(holds_us))
  }

  /** Asks some nodes for a link, each after some time. */
  #askAround(client: string, key: string, after_us: () => number) {
    // A create that goes on until it knows what came of it may end later: visits would not be counted any more before the run's end.
    if (this.#options.world.now_us >= this.#until_us) return
    for (let times = 0; times < followers; times++) {
      const visit = this.#creates.drafts.visit()
      const wish: LinkWish = { client, kind: "redirect", key, direct: true, ...visit }
      const isShown = this.#shown.happens(this.#options.workload.shown)
      this.#options.world.after(after_us(), null, () => {
        if (isShown) this.#show(client, key)
        else this.#requests.send([wish], linkRequestOf(wish), () => {})
      })
    }
  }
}
