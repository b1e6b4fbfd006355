// What clients ask while links are moved and while a database is away, and what they were answered.

import { setTimeout } from "node:timers/promises"
import { adminId } from "../../src/accounts/Access.ts"
import { bucketOf, bucketOfName } from "../../src/keys/Buckets.ts"
import * as Secret from "../../src/secrets/Secret.ts"
import { Acknowledged, changingMax } from "../Acknowledged.ts"
import type { Answer, Asking, Client } from "../Client.ts"
import { changing, coldKey, creating, describe, judgeCreate, judgeRedirect, type Turn } from "../Load.ts"
import { answerMax_ms, Observed } from "../Observed.ts"

/**
 * What clients do: redirect by a link that is asked for all the time, or by one that no cache has; make a link; make one under an
 * `Idempotency-Key`; repeat such a request; change a link; list links.
 */
export const operations = ["hot", "cold", "create", "keyed create", "repeat", "change", "list"] as const
/** See {@link operations}. */
export type Operation = (typeof operations)[number]

/** Redirects. */
export const redirects = ["hot", "cold"] as const satisfies ReadonlyArray<Operation>

/** What happens while requests come: buckets are moved, a database is away, it has been started and comes back, or nothing. */
export const phases = ["moves", "away", "return", "calm"] as const
/** See {@link phases}. */
export type Phase = (typeof phases)[number]

/**
 * What a request has to do with what is killed: nothing; its link or guard is in the database that is away; it failed and was under way
 * when a node was killed, or began within 7 s of that (C8); or it failed while buckets were fenced and their mover was dead, and writes.
 */
export const sides = ["none", "away", "node killed", "mover killed"] as const
/** See {@link sides}. */
export type Side = (typeof sides)[number]

/** Counts of requests, and how long right answers took, with all that was asked again before them, in milliseconds. */
export interface Tally {
  sent: number
  right: number
  /** How often requests were asked again. */
  again: number
  readonly times_ms: Array<number>
}

/** Parts of the load. */
export const parts: Readonly<Record<Operation, number>> = {
  hot: 0.36,
  cold: 0.2,
  create: 0.18,
  "keyed create": 0.08,
  repeat: 0.08,
  change: 0.05,
  list: 0.05
}

/** Links that are asked for all the time. */
const hotLinks = 100

/** What waits for the mover where its bucket is fenced. */
const writes: ReadonlySet<Operation> = new Set(["keyed create", "repeat", "change"])

/** Answers that tell a client to ask again; 0 is no answer. */
const askAgain: ReadonlySet<number> = new Set([0, 503, 504])

/** So much later a client asks again. */
const pause_ms = 250

/** For so long a class of requests may fail when a node was killed. */
const nodeKilled_ms = 7_000

/** The links of a list. Their text is shorter than what a client reads of an answer. */
const listed = 10

/** A create under an `Idempotency-Key`, whatever became of it. */
interface Keyed {
  readonly requestId: string
  readonly url: string
  /** Null until it is acknowledged. */
  key: string | null
}

/** The name of its guard. */
export const guardOf = (requestId: string): string =>
  `idempotency:${Secret.digest(`${adminId}\n${requestId}`)}`

const linkOf = (key: string) => bucketOf(key)

/** Up to so many links, of which each database has an equal part at most: nodes make many in a row in one of them. */
class Spread {
  readonly #most: number
  readonly #counts = new Map<number, number>()

  constructor(max: number, databases: number) {
    this.#most = Math.ceil(max / databases)
  }

  /** Whether a further link that is in `home` is wanted. */
  wants(home: number): boolean {
    const count = this.#counts.get(home) ?? 0
    if (count < this.#most) this.#counts.set(home, count + 1)
    return count < this.#most
  }

  /** A link that is in `home` is used no more: another one is wanted. */
  lost(home: number): void {
    this.#counts.set(home, this.#counts.get(home)! - 1)
  }
}

interface TrafficOptions {
  readonly adminKey: string
  /** Between 0 and 1. */
  readonly chance: () => number
  /** Links that are there before. */
  readonly seeded: number
  /** The buckets of each database, while none are moved. */
  readonly homes: ReadonlyArray<ReadonlyArray<number>>
  /**
   * For so long a client asks again, where it did not get an answer or was told to: a machine on which a request takes longer than a node
   * gives it then still shows what it is answered. 0: it asks once. Redirects are asked once whatever this says.
   */
  readonly patience_ms: number
}

/** See the parts. */
export class Traffic {
  readonly observed = new Observed()
  readonly acknowledged = new Acknowledged()
  readonly keyed: Array<Keyed> = []
  /** By phase, operation and side. */
  readonly tallies = new Map<string, Tally>()
  /** What came instead of right answers, and how often. */
  readonly instead = new Map<string, number>()
  /** Redirects by key: those that were answered, and those whose visit may have been counted or not. */
  readonly visits = new Map<string, { answered: number; uncertain: number }>()
  skipped = 0
  /** Buckets of the database that is away. */
  #away: ReadonlySet<number> = new Set()
  #isMoverDead = false
  #nodeKilledAt = Number.NEGATIVE_INFINITY
  #phase: Phase = "calm"
  /** Counts up with each phase. */
  #turn = 0
  /** What began and was answered right within the phase, and had nothing to do with what is killed. */
  readonly #answered = new Set<Operation>()
  #serial = 0
  readonly #keys: Array<string> = []
  /** When the last redirects were answered. */
  #answeredAt: Array<number> = []
  readonly #underWay = new Set<{ isNodeKilled: boolean; isMoverDead: boolean }>()
  readonly #adminKey: string
  readonly #seeded: number
  readonly #chance: () => number
  readonly #patience_ms: number
  readonly #homeOf: ReadonlyMap<number, number>
  readonly #hotOnes: Spread
  readonly #changingOnes: Spread
  readonly #hot: Array<string> = []

  constructor({ adminKey, chance, homes, patience_ms, seeded }: TrafficOptions) {
    this.#adminKey = adminKey
    this.#patience_ms = patience_ms
    this.#chance = chance
    this.#seeded = seeded
    this.#homeOf = new Map(homes.flatMap((buckets, home) => buckets.map((bucket) => [bucket, home] as const)))
    this.#hotOnes = new Spread(hotLinks, homes.length)
    this.#changingOnes = new Spread(changingMax, homes.length)
  }

  get phase(): Phase {
    return this.#phase
  }

  /** Begins another phase. */
  begin(phase: Phase, away: ReadonlySet<number> = new Set()): void {
    this.#phase = phase
    this.#turn++
    this.#answered.clear()
    this.#away = away
  }

  /** The mover is dead, while buckets are fenced perhaps, or the move is over. */
  moverIsDead(is: boolean): void {
    this.#isMoverDead = is
    if (is) for (const request of this.#underWay) request.isMoverDead = true
  }

  /** What was not yet asked for and answered right within this phase, but for what has to do with what is killed. */
  unanswered(): ReadonlyArray<Operation> {
    return operations.filter((operation) => !this.#answered.has(operation))
  }

  /** What was counted so far. */
  tallyOf(phase: Phase, operation: Operation, side: Side = "none"): Tally {
    const name = `${phase} ${operation} ${side}`
    const tally = this.tallies.get(name) ?? { sent: 0, right: 0, again: 0, times_ms: [] }
    this.tallies.set(name, tally)
    return tally
  }

  /**
   * Notes that a request begins, about `bucket` where it is about one. Gives what asks for it, again where it has to, but not while the
   * bucket's database is away; and what to call at its end. One that failed counts in the phase in which it did: it may have begun just
   * before.
   */
  #begin(operation: Operation, bucket: number | null) {
    const [phase, turn, start] = [this.#phase, this.#turn, performance.now()]
    const isAway = () => bucket !== null && this.#away.has(bucket)
    const wasAway = isAway()
    const request = {
      isNodeKilled: start - this.#nodeKilledAt < nodeKilled_ms,
      isMoverDead: this.#isMoverDead
    }
    this.#underWay.add(request)
    const sideOf = (isRight: boolean): Side => {
      if (wasAway || (!isRight && this.#turn !== turn && isAway())) return "away"
      if (isRight) return "none"
      if (request.isNodeKilled) return "node killed"
      return request.isMoverDead && writes.has(operation) ? "mover killed" : "none"
    }
    let [again, askedAt] = [0, start]
    const ask = async (client: Pick<Client, "ask">, asking: Asking): Promise<Answer> => {
      for (;;) {
        askedAt = performance.now()
        const answer = await client.ask(asking)
        const isOver = performance.now() - start >= this.#patience_ms
        if (isOver || isAway() || !askAgain.has(answer.status)) return answer
        again++
        await setTimeout(pause_ms)
      }
    }
    const end = (isRightEver: boolean, answered: string): void => {
      this.#underWay.delete(request)
      const now = performance.now()
      const isLate = isRightEver && now - askedAt > answerMax_ms
      const isRight = isRightEver && !isLate
      const side = sideOf(isRight)
      const tally = this.tallyOf(isRight ? phase : this.#phase, operation, side)
      tally.sent++
      tally.again += again
      if (isRight) {
        tally.right++
        tally.times_ms.push(now - start)
        if (side === "none" && this.#turn === turn) this.#answered.add(operation)
        return
      }
      const what = `${this.#phase}: ${operation}${side === "none" ? "" : ` (${side})`}: ${isLate ? "late" : answered}`
      this.instead.set(what, (this.instead.get(what) ?? 0) + 1)
    }
    return { ask, end }
  }

  #visitsOf(key: string) {
    const visits = this.visits.get(key) ?? { answered: 0, uncertain: 0 }
    this.visits.set(key, visits)
    return visits
  }

  /** A redirect of `key` was asked for so many times more by the load balancer: each of the nodes may have counted it. */
  askedAgain(key: string, times: number): void {
    this.#visitsOf(key).uncertain += times
  }

  /** Notes what a redirect of `key` was answered, as its visit should be counted then. */
  visited(key: string, { status }: Answer): void {
    const visits = this.#visitsOf(key)
    if (status === 302) {
      visits.answered++
      this.#answeredAt.push(performance.now())
      if (this.#answeredAt.length > 100_000) this.#answeredAt = this.#answeredAt.slice(50_000)
    } else visits.uncertain++
  }

  /** A node is killed now. Gives the redirects that were answered within the last `within_ms`: some of them may be not counted. */
  killed(within_ms: number): number {
    this.#nodeKilledAt = performance.now()
    for (const request of this.#underWay) request.isNodeKilled = true
    const since = performance.now() - within_ms
    return this.#answeredAt.filter((at) => at >= since).length
  }

  readonly #nextId = () => `chaos-${++this.#serial}`

  /** Makes a link, which must succeed, before the load. */
  async warmUp(client: Client): Promise<boolean> {
    const requestId = this.#nextId()
    const url = `https://example.com/chaos/${requestId}`
    const answer = await client.ask(creating({ adminKey: this.#adminKey }, requestId, url))
    const key = judgeCreate(this.observed, this.acknowledged, answer, url)
    if (key !== null) this.#made(key, url)
    return key !== null
  }

  #made(key: string, url: string) {
    const home = this.#homeOf.get(linkOf(key))!
    if (this.#changingOnes.wants(home)) this.acknowledged.keepForChanges(key, url)
    if (this.#hotOnes.wants(home)) this.#hot.push(key)
    this.#keys.push(key)
  }

  async #redirect(client: Client, operation: Operation, key: string) {
    const request = this.#begin(operation, linkOf(key))
    const answer = await client.ask({ method: "GET", path: `/${key}`, requestId: this.#nextId() })
    this.visited(key, answer)
    request.end(
      judgeRedirect(this.observed, this.acknowledged, answer, { key, at: "the load balancer" }),
      describe(answer)
    )
  }

  async #create(client: Client) {
    const requestId = this.#nextId()
    const url = `https://example.com/chaos/${requestId}`
    const request = this.#begin("create", null)
    const answer = await request.ask(client, creating({ adminKey: this.#adminKey }, requestId, url))
    const key = judgeCreate(this.observed, this.acknowledged, answer, url)
    if (key !== null) this.#made(key, url)
    request.end(key !== null, describe(answer))
  }

  async #ask(client: Client, operation: Operation, keyed: Keyed) {
    const { requestId, url } = keyed
    const { ask, end } = this.#begin(operation, bucketOfName(guardOf(requestId)))
    const answer = await ask(client, creating({ adminKey: this.#adminKey }, requestId, url, true))
    const before = keyed.key
    if (answer.status !== 201) return end(false, describe(answer))
    const { key } = JSON.parse(answer.body) as { readonly key: string }
    if (before !== null) {
      if (key !== before) this.observed.violate("C7", `${requestId} was answered ${before}, and then ${key}`)
      return end(key === before, `key ${key}`)
    }
    // A repeat may have been answered while this one waited.
    if (keyed.key === null) {
      judgeCreate(this.observed, this.acknowledged, answer, url)
      keyed.key = key
      this.#made(key, url)
    } else if (keyed.key !== key) {
      this.observed.violate("C7", `${requestId} was answered ${keyed.key} and ${key}`)
    }
    return end(true, "")
  }

  async #createOnce(client: Client) {
    const requestId = this.#nextId()
    const keyed = { requestId, url: `https://example.com/chaos/${requestId}`, key: null }
    await this.#ask(client, "keyed create", keyed)
    this.keyed.push(keyed)
  }

  async #repeat(client: Client) {
    const keyed = this.keyed[Math.floor(this.#chance() * this.keyed.length)]
    if (keyed !== undefined) await this.#ask(client, "repeat", keyed)
  }

  async #change(client: Client) {
    const link = changing(this.acknowledged, { apiKey: this.#adminKey, requestId: this.#nextId() })
    if (link === undefined) return
    const request = this.#begin("change", linkOf(link.key))
    const answer = await link.ask({ ask: (asking) => request.ask(client, asking) })
    // A link whose change failed is not changed again.
    if (answer.status !== 200) this.#changingOnes.lost(this.#homeOf.get(linkOf(link.key))!)
    request.end(answer.status === 200, describe(answer))
  }

  async #list(client: Client) {
    const [phase, turn] = [this.#phase, this.#turn]
    const { ask, end } = this.#begin("list", null)
    const answer = await ask(client, {
      method: "GET",
      path: `/api/v1/links?limit=${listed}`,
      requestId: this.#nextId(),
      apiKey: this.#adminKey
    })
    const isPartial = answer.status === 200 && isPartialList(answer)
    const isSure = turn === this.#turn && phase !== "return"
    const isRight = answer.status === 200 && (!isSure || isPartial === (phase === "away"))
    end(isRight, answer.status === 200 ? (isPartial ? "partial" : "not partial") : describe(answer))
  }

  readonly #some = (keys: ReadonlyArray<string>, from: number, to: number) =>
    keys[from + Math.floor(this.#chance() * (Math.min(to, keys.length) - from))]

  /** What a client does in its turn, by operation. */
  readonly turns: Readonly<Record<Operation, Turn>> = {
    hot: (client) => this.#redirect(client, "hot", this.#some(this.#hot, 0, this.#hot.length)!),
    cold: (client) =>
      this.#redirect(
        client,
        "cold",
        this.#chance() < 0.5
          ? coldKey(1 + Math.floor(this.#chance() * this.#seeded))
          : this.#some(this.#keys, 0, this.#keys.length)!
      ),
    create: (client) => this.#create(client),
    "keyed create": (client) => this.#createOnce(client),
    repeat: (client) => this.#repeat(client),
    change: (client) => this.#change(client),
    list: (client) => this.#list(client)
  }
}

/** Whether a list that was answered has links of some databases alone. */
export const isPartialList = ({ body }: Answer): boolean =>
  (JSON.parse(body) as { readonly partial?: boolean }).partial === true
