import { adminKey } from "../deployment/StubServices.ts"
import type { Answer } from "./Balancer.ts"
import { textOf } from "../deployment/FurtherDomains.ts"
import { bulkOf, type Draft, Drafts, isShared, requestOf } from "./Drafts.ts"
import type { Exchange } from "../History.ts"
import type { SimOptions, WorkloadOptions } from "../cli/Options.ts"
import type { Users } from "../deployment/Users.ts"
import type { Requests } from "./Requests.ts"
import type { VirtualRequest } from "../deployment/VirtualNode.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us, s_us } from "../world/Time.ts"
import type { World } from "../world/World.ts"

/** Links of a bulk at most. */
const bulkMax = 4

/** How likely the items of a bulk say much the same, as those of a program do. */
const alikeShare = 0.5

/** How often a client with an `Idempotency-Key` repeats its create at most, and how long it waits before the first time; twice as long each further time. */
const repeatsMax = 4
const repeatAfter_us = 600 * ms_us

/** When a client sends a keyed create once more for no reason, at most: with another one under way, or long after it was answered. */
const onceMoreSoon_us = 20 * ms_us
const onceMoreLate_us = 8 * s_us

/** When a create is repeated while its answer is about to be dropped, as a share of the time for which it is kept. */
const lastRepeats = { least: 0.5, more: 0.45 }

/** What is read of the answer to a create: a link's key, or a problem's type. */
interface CreateAnswer {
  readonly key?: string
  readonly domain?: string
  readonly type?: string
}

/** The answer to a bulk, an item a create. */
interface BulkAnswer {
  readonly results: ReadonlyArray<{
    readonly status: number
    readonly link?: CreateAnswer
    readonly problem?: CreateAnswer
  }>
}

/** Creates that go in one request. */
interface Errand {
  readonly drafts: ReadonlyArray<Draft>
  readonly request: VirtualRequest
  readonly isBulk: boolean
}

/** How likely the body of a create in a session, or by a key that is revoked just then, comes slowly, and in how many seconds at most. */
const slowShare = 0.25
const slow_s = 2.5

const single = (draft: Draft): Errand => ({ drafts: [draft], request: requestOf(draft), isBulk: false })

/** Whether the answer to a create says what came of it, so that asking again would tell nothing new. */
const isFinal = ({ body, status }: Exchange) => {
  if (status === 0 || status >= 500) return false
  const { type } = body === undefined ? {} : (JSON.parse(body) as CreateAnswer)
  return status !== 409 || type?.endsWith("in-progress") !== true
}

/** Notes what an answer says of each create. An item of a bulk does not say whether it was answered before: a repeat may have been. */
const note = ({ isBulk }: Errand, exchanges: ReadonlyArray<Exchange>, answer: Answer | undefined) => {
  if (answer === undefined) return
  const { body, isReplay, status } = answer.response
  const results =
    isBulk && status === 200 && body !== undefined ? (JSON.parse(body) as BulkAnswer).results : undefined
  exchanges.forEach((exchange, index) => {
    const item = results?.[index]
    exchange.status = item?.status ?? status
    exchange.body = item === undefined ? body : JSON.stringify(item.link ?? item.problem)
    exchange.isReplay = isBulk ? exchange.idempotencyKey !== undefined : isReplay
    if ((exchange.status === 201 || exchange.status === 200) && exchange.body !== undefined) {
      const { domain, key } = JSON.parse(exchange.body) as CreateAnswer
      exchange.key = key === undefined ? undefined : textOf(key, domain)
    }
  })
}

/** How clients create links: once, many in a bulk, or with a key again and again until they know what came of it. */
export class Creates {
  readonly drafts: Drafts
  readonly #world: World
  readonly #requests: Requests
  readonly #workload: WorkloadOptions
  readonly #answersKept_us: number | undefined
  readonly #chance: Chance
  readonly #slowness: Chance
  readonly #alikes: Chance
  readonly #made: (exchange: Exchange) => void
  readonly #wanted: (alias: string) => void

  /** `made` is told of each create that gave a link, and `wanted` of each alias that is about to be asked for. */
  constructor(
    world: World,
    requests: Requests,
    { answersKept_s, workload }: Pick<SimOptions, "answersKept_s" | "workload">,
    users: Users,
    made: (exchange: Exchange) => void,
    wanted: (alias: string) => void
  ) {
    this.drafts = new Drafts(world, workload, users)
    this.#world = world
    this.#requests = requests
    this.#workload = workload
    this.#answersKept_us = answersKept_s === null ? undefined : answersKept_s * s_us
    this.#chance = world.chance("creates")
    this.#slowness = world.chance("slow bodies")
    this.#alikes = world.chance("alike items")
    this.#made = made
    this.#wanted = wanted
  }

  /** Has a client create something. `done` is told the key of a link that it was given. */
  begin(client: string, done: (created?: string) => void) {
    const errand = this.#chance.happens(this.#workload.bulk) ? this.#bulk() : single(this.drafts.next())
    const [first] = errand.drafts
    const isKeyed = first!.idempotencyKey !== undefined
    for (const { alias } of errand.drafts) if (alias !== undefined) this.#wanted(alias)
    if (isKeyed && !errand.isBulk) this.#onceMore(client, first!)
    this.#insist(client, errand, isKeyed ? repeatsMax : 0, repeatAfter_us, done)
  }

  #bulk(): Errand {
    const drafts = Array.from({ length: this.#chance.between(2, bulkMax) }, () => this.drafts.next())
    const { apiKey, idempotencyKey } = drafts[0]!
    // Who may reuse is an administrator, and is not refused everything that others are.
    const isByAdmin = drafts.some((draft) => draft.apiKey === apiKey && draft.reuse === true)
    // Whether a reused link was answered before could not be told.
    const kept = drafts.filter(
      (draft) =>
        draft.apiKey === apiKey &&
        (draft.refusal === undefined || !isByAdmin) &&
        (idempotencyKey === undefined ||
          (draft.reuse !== true && draft.refusal === undefined && !isShared(draft.url!)))
    )
    if (kept.length === 0) return single(drafts[0]!)
    // Each item is a create of its own, with a key of its own.
    const [first] = kept
    const areOwn = kept.every(({ url }) => !isShared(url!))
    const areAlike = idempotencyKey === undefined && !isByAdmin && areOwn && this.#alikes.happens(alikeShare)
    const drafted = areAlike ? kept.map(({ url }) => this.drafts.alike(first!, url!)) : kept
    const items = drafted.map((draft, index) => ({
      ...draft,
      // Only users give the links of a bulk passwords.
      password: draft.apiKey === undefined ? undefined : draft.password,
      idempotencyKey: idempotencyKey && `${idempotencyKey}, item ${index}`
    }))
    return { drafts: items, request: bulkOf(items, idempotencyKey), isBulk: true }
  }

  /** Has one node asked for a link by an API key, perhaps as a bulk of one, whatever comes of it; the body perhaps comes slowly. */
  byKey(client: string, apiKey: string) {
    const drafts = [{ url: this.drafts.newUrl(), apiKey }] as const
    const isBulk = this.#slowness.happens(0.5)
    const errand = isBulk ? { drafts, request: bulkOf(drafts, undefined), isBulk } : single(drafts[0])
    this.#ask(client, errand, () => {}, true, this.#slow_us())
  }

  /** How long a body takes to come, where it comes slowly. */
  #slow_us(): number | undefined {
    return this.#slowness.happens(slowShare) ? this.#slowness.below(slow_s * s_us) : undefined
  }

  /** Has a browser ask for a link in a session. `done` is told what came of it. */
  inSession(
    client: string,
    own: Pick<Draft, "cookie" | "session">,
    direct: boolean,
    done: (exchange: Exchange) => void
  ) {
    const draft = { url: this.drafts.newUrl(), ...own }
    this.#ask(client, single(draft), ([exchange]) => done(exchange!), direct, this.#slow_us())
  }

  /** Asks, and asks again until it is known what came of it, each time some node. */
  #insist(
    client: string,
    errand: Errand,
    repeats: number,
    wait_us: number,
    done: (created?: string) => void
  ) {
    this.#ask(client, errand, (exchanges) => {
      if (repeats === 0 || exchanges.every(isFinal)) return done(exchanges.at(-1)?.key)
      const pause_us = wait_us * (0.5 + this.#chance.fraction())
      this.#world.after(pause_us, null, () => this.#insist(client, errand, repeats - 1, 2 * wait_us, done))
    })
  }

  /** What clients do that have lost track: the same once more, or something else with the key. */
  #onceMore(client: string, draft: Draft) {
    const again = (most_us: number, other: Draft) =>
      this.#world.after(this.#chance.below(most_us), null, () => this.#ask(client, single(other)))
    const kept_us = this.#answersKept_us
    const what = this.#chance.below(6)
    if (what === 0) again(onceMoreSoon_us, draft)
    if (what === 1) again(onceMoreLate_us, draft)
    if (what === 2) again(onceMoreLate_us, { ...draft, url: this.drafts.newUrl() })
    if (what > 2 && kept_us !== undefined) {
      const after_us = kept_us * (lastRepeats.least + lastRepeats.more * this.#chance.fraction())
      this.#world.after(after_us, null, () => this.#ask(client, single(draft)))
    }
  }

  /** Sends an errand once. */
  #ask(
    client: string,
    errand: Errand,
    done: (exchanges: ReadonlyArray<Exchange>) => void = () => {},
    direct?: boolean,
    slow_us?: number
  ) {
    const isByAdmin = errand.request.headers["x-api-key"] === adminKey
    const wishes = errand.drafts.map(
      (draft) => ({ client, kind: "create", direct, isByAdmin, ...draft }) as const
    )
    const answered: Parameters<Requests["send"]>[2] = (exchanges, answer) => {
      note(errand, exchanges, answer)
      for (const exchange of exchanges) if (exchange.key !== undefined) this.#made(exchange)
      done(exchanges)
    }
    this.#requests.send(wishes, errand.request, answered, slow_us)
  }
}
