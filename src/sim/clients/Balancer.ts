import type { Journal } from "../Journal.ts"
import type { Chance } from "../world/Chance.ts"
import type { Network } from "../world/Network.ts"
import { ms_us, s_us } from "../world/Time.ts"
import type { World, WorldEvent } from "../world/World.ts"
import type { VirtualNode, VirtualRequest, VirtualResponse } from "../deployment/VirtualNode.ts"

/** The load balancer's machine. */
export const balancerName = "balancer"

/** How often the load balancer checks a node that is ready, and one that was not; and how long a check may take. */
const checkReadyEvery_us = 4 * s_us
const checkEvery_us = s_us
const checkMax_us = s_us

/** How long a node may take to answer, and the maximum of tries for a request. */
const answerMax_us = 4_700 * ms_us
const triesMax = 3

/** How long after a connection its request may come, where that matters: less than a node that shuts down waits for one. */
const requestBehind_us = 300 * ms_us

/** How long a refused connection takes. */
const refusedAfter_us = 1 * ms_us

/** How long a node takes on average to notice that a connection was closed. Measured on Node 20: 0.4 to 3.1 ms. */
const closeSeenAfter_us = 1 * ms_us

/** The answer to a request: a node's, or a status of the load balancer itself. */
export interface Answer {
  readonly response: VirtualResponse
  readonly by: string | undefined
  readonly tries: number
}

const own = (status: number): VirtualResponse => ({
  status,
  location: undefined,
  vary: undefined,
  isIndexed: true,
  cacheControl: undefined,
  told: undefined,
  isReplay: false,
  body: "",
  cookies: []
})

/** The result of one try. */
type Attempt =
  | { readonly tag: "answered"; readonly response: VirtualResponse }
  | { readonly tag: "refused" | "broken" | "silent" }

/**
 * The load balancer, configured like HAProxy: it sends requests to the ready nodes in turn. It tries another node when one refused the connection, and,
 * if the request is idempotent, when a node went away or was silent.
 */
export class Balancer {
  readonly #world: World
  readonly #network: Network
  readonly #chance: Chance
  readonly #nodes: () => ReadonlyArray<VirtualNode>
  readonly #journal: Pick<Journal, "add">
  readonly #ready = new Set<string>()
  #turn = 0

  constructor(
    world: World,
    network: Network,
    journal: Pick<Journal, "add">,
    nodes: () => ReadonlyArray<VirtualNode>
  ) {
    this.#world = world
    this.#journal = journal
    this.#network = network
    this.#chance = world.chance("balancer")
    this.#nodes = nodes
  }

  /** Begins to check the nodes. */
  start() {
    const turnsOfReady = checkReadyEvery_us / checkEvery_us
    const check = (turn: number) => {
      for (const node of this.#nodes()) {
        if (turn % turnsOfReady === 0 || !this.#ready.has(node.process.id)) this.#check(node)
      }
      this.#world.after(checkEvery_us, null, () => check(turn + 1))
    }
    check(0)
  }

  /** Whether a node was ready at its last check. */
  isReady({ process }: VirtualNode): boolean {
    return this.#ready.has(process.id)
  }

  /** Sends a request to a ready node, and to another one where a retry is allowed. */
  send(request: VirtualRequest, done: (answer: Answer) => void) {
    const isIdempotent = request.method !== "POST"
    const tried = new Set<VirtualNode>()
    const attempt = (tries: number) => {
      const node = this.#next(tried)
      if (node === undefined) return done({ response: own(503), by: undefined, tries })
      tried.add(node)
      this.ask(node, request, answerMax_us, (result) => {
        if (result.tag === "answered" && !(result.response.status === 503 && isIdempotent)) {
          return done({ response: result.response, by: node.process.id, tries: tries + 1 })
        }
        if (result.tag !== "answered") this.#ready.delete(node.process.id)
        const mayGoOn = tries + 1 < triesMax && (isIdempotent || result.tag === "refused")
        if (mayGoOn && this.#next(tried) !== undefined) return attempt(tries + 1)
        const status =
          result.tag === "answered" ? result.response.status : result.tag === "silent" ? 504 : 502
        done({ response: own(status), by: node.process.id, tries: tries + 1 })
      })
    }
    attempt(0)
  }

  /** Sends a request to one node. If the node takes too long, closes the connection, which the node notices soon after it has read the request. */
  ask(node: VirtualNode, request: VirtualRequest, max_us: number, done: (result: Attempt) => void) {
    const { process } = node
    let isOver = false
    let closed_us: number | undefined
    let giveUp: (() => void) | undefined
    /** To be called when the request was read, and when its connection was closed: the later one counts. */
    const endRequest = () => {
      if (closed_us === undefined || giveUp === undefined) return
      const end = giveUp
      this.#world.after(this.#chance.waiting(closeSeenAfter_us), process, () => process.post(end))
    }
    const finish = (result: Attempt) => {
      if (isOver) return
      isOver = true
      timer.isCancelled = true
      forget()
      done(result)
    }
    const timer: WorldEvent = this.#world.after(max_us, null, () => {
      finish({ tag: "silent" })
      this.#network.deliver(balancerName, process.name, () => {
        closed_us = this.#world.now_us
        endRequest()
      })
    })
    const forget = process.whenDead(() =>
      this.#world.after(refusedAfter_us, null, () => finish({ tag: "broken" }))
    )
    this.#network.deliver(balancerName, process.name, () => {
      if (!node.isListening)
        return void this.#world.after(refusedAfter_us, null, () => finish({ tag: "refused" }))
      const tell = (result: Attempt) =>
        this.#network.deliver(process.name, balancerName, () => finish(result))
      const connection = node.accept(() => tell({ tag: "broken" }))
      const read = () => {
        const answered = (response: VirtualResponse) => tell({ tag: "answered", response })
        giveUp = node.answer(connection, request, answered, () => closed_us)
        endRequest()
      }
      const isBehind = process.isPaused && process.readsLast
      // To a node that shuts down its request is still on its way.
      const later_us = node.isStopping ? this.#chance.below(requestBehind_us) : isBehind ? ms_us : 0
      const arrive = () => void this.#world.after(later_us, process, () => process.post(read))
      process.post(later_us > 0 ? arrive : read)
    })
  }

  #check(node: VirtualNode) {
    const request = { method: "GET", path: "/health/ready", headers: {} } as const
    const by = node.process.id
    const asked_us = this.#world.now_us
    this.ask(node, request, checkMax_us, (result) => {
      const isReady = result.tag === "answered" && result.response.status === 200
      if (result.tag === "answered")
        this.#journal.add(isReady ? { tag: "ready", by, asked_us } : { tag: "unready", by })
      if (isReady) this.#ready.add(by)
      else this.#ready.delete(by)
    })
  }

  /** A node that was not tried yet: the next ready one, or if none is ready, one that listens. */
  #next(tried: ReadonlySet<VirtualNode>): VirtualNode | undefined {
    const nodes = this.#nodes().filter((node) => !tried.has(node))
    const ready = nodes.filter((node) => this.#ready.has(node.process.id))
    if (ready.length > 0) return ready[this.#turn++ % ready.length]
    const listening = nodes.filter((node) => node.isListening)
    return listening.length === 0 ? undefined : this.#chance.pick(listening)
  }
}
