import { Context, Duration, Effect, Either, type Fiber, Option, type Scope } from "effect"
import * as KeyBuffer from "../../actors/keys/KeyBuffer.ts"
import * as Parts from "../../node/Parts.ts"
import type { Answer } from "../../http/exchange/Answer.ts"
import { Draining } from "../../http/ops/Draining.ts"
import * as FrontDoor from "../../http/server/FrontDoor.ts"
import { beatEvery, holdFor, Standstills } from "../../http/server/LateRequests.ts"
import type { Request } from "../../http/exchange/Request.ts"
import * as RequestId from "../../http/exchange/RequestId.ts"
import * as HttpServer from "../../http/server/Server.ts"
import type { KeyMinter } from "../../keys/KeyMinter.ts"
import type { GuardedCreates } from "../../storage/links/GuardedCreates.ts"
import type { KeyPool } from "../../storage/keys/KeyPool.ts"
import type { KeyRangeStore } from "../../storage/keys/KeyRangeStore.ts"
import type { KeyStock } from "../../storage/keys/KeyStock.ts"
import type { LinkInvalidations } from "../../storage/links/LinkInvalidations.ts"
import type { LinkLifetime } from "../../storage/links/LinkLifetime.ts"
import type { LinkStore } from "../../storage/links/LinkStore.ts"
import { ShardOwnership } from "../../storage/keys/ShardOwnership.ts"
import type { VisitStore } from "../../storage/visits/VisitStore.ts"
import { stubServices } from "./StubServices.ts"
import type { SimOptions } from "../cli/Options.ts"
import type { Journal } from "../Journal.ts"
import type { Mutation } from "../mutants/Mutation.ts"
import type { Placement } from "./Placement.ts"
import { ms_us } from "../world/Time.ts"
import { fork } from "../world/ProcessServices.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"

/** Links that a simulated node caches, and the owner of a partition: few, so that some are dropped. */
const redirectCacheMax = 64
const ownerCacheMax = 16

/** What the operator chose. */
const httpOptions = {
  own: { baseUrl: new URL("http://linkmint.test"), port: 80 },
  defaultExpiry: Option.none(),
  anonymousCreates: true
}

/** How long an orderly stop goes on answering, so that the load balancer notices. */
const drainDelay_us = 2_500 * ms_us

/** How long an orderly stop waits at most for requests that are under way. */
const drainMax_us = 5_000 * ms_us

/** The ports, as a node has them. */
export type PortServices =
  | LinkStore
  | LinkInvalidations
  | LinkLifetime
  | GuardedCreates
  | KeyRangeStore
  | KeyStock
  | KeyPool
  | KeyMinter
  | VisitStore

/** What a node is given from outside. */
export interface Surroundings {
  readonly placement: Placement
  readonly journal: Journal
  /** The stores as a process sees them, and the news of links. */
  readonly ports: (
    process: VirtualProcess
  ) => Effect.Effect<Context.Context<PortServices>, never, Scope.Scope>
  readonly options: SimOptions
  /** What is broken about the product. */
  readonly mutation: Mutation
}

/** A request, as the network carries it. */
export interface VirtualRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** An answer, as the network carries it. */
export interface VirtualResponse {
  readonly status: number
  readonly location: string | undefined
  /** Whether it says to be the answer to an earlier request with the same `Idempotency-Key`. */
  readonly isReplay: boolean
  readonly body: string
}

/** A request as the service looks at it; its body comes in one piece, in a task of its own. */
const requestOf = (
  process: VirtualProcess,
  { body = "", headers, method, path }: VirtualRequest
): Request => ({
  method,
  url: path,
  headers,
  remoteAddress: Option.none(),
  readBytes: (_, done) => process.post(() => done(Either.right(Buffer.from(body))))
})

const responseOf = ({ body, headers, status }: Answer): VirtualResponse => {
  const of = (name: string) => {
    const at = headers.indexOf(name)
    return at === -1 ? undefined : headers[at + 1]
  }
  if (typeof body !== "string") throw new Error("Streams and images are not simulated")
  return { status, location: of("location"), isReplay: of("idempotency-replayed") === "true", body }
}

/** Begins to answer a request; `done` may be called at once. Gives what to call when the client is gone before. */
type Serve = (request: VirtualRequest, done: (response: VirtualResponse) => void) => () => void

/** A node of the deployment in one virtual process: the service from its HTTP handlers to its ports, as it runs in production. */
export class VirtualNode {
  readonly process: VirtualProcess
  readonly #surroundings: Surroundings
  readonly #main: Fiber.RuntimeFiber<unknown, unknown>
  readonly #standstills: Standstills
  #serve: Serve | undefined
  #buffer: typeof KeyBuffer.KeyBuffer.Service | undefined
  #isDraining = false
  #isClosed = false
  #underWay = 0

  /** Starts a node; only from within the world. `ended` is told when it has stopped by itself. */
  constructor(process: VirtualProcess, surroundings: Surroundings, ended: () => void) {
    this.process = process
    this.#surroundings = surroundings
    surroundings.journal.add({ tag: "started", by: process.id })
    const { clock } = surroundings.mutation
    if (clock !== undefined) process.clock_ms = clock(process)
    this.#standstills = new Standstills(() => process.monotonic_ms())
    this.#beat()
    this.#main = fork(process, this.#run())
    this.#main.addObserver((exit) => {
      if (!process.isAlive) return
      process.world.tell(process.id, "ended", exit._tag)
      surroundings.journal.add({ tag: "ended", by: process.id })
      process.kill()
      ended()
    })
  }

  /** Whether it accepts connections. */
  get isListening(): boolean {
    return this.process.isAlive && this.#serve !== undefined && !this.#isClosed
  }

  /** Keys in its buffer now, for the ledger. */
  get buffered(): number {
    return this.#buffer === undefined ? 0 : Effect.runSync(this.#buffer.level)
  }

  /**
   * Answers a request that has arrived, and gives what to call when its connection is closed before. Nothing is told when the process dies first.
   */
  answer(request: VirtualRequest, done: (response: VirtualResponse) => void): () => void {
    const serve = this.#serve
    if (serve === undefined) return () => {}
    let isOver = false
    const end = () => {
      if (!isOver) this.#underWay--
      isOver = true
    }
    this.#underWay++
    let giveUp = () => {}
    const begin = () => {
      if (isOver) return
      giveUp = serve(request, (response) => {
        end()
        done(response)
      })
    }
    if (this.#standstills.mayBeLate(request.method)) {
      const { process } = this
      process.world.after(Duration.toMillis(holdFor) * ms_us, process, () => process.post(begin))
    } else begin()
    return () => {
      if (isOver) return
      end()
      giveUp()
    }
  }

  /** What SIGTERM does: it says that it is not ready, goes on for a while, answers what is under way, and ends. */
  stop() {
    const { world } = this.process
    this.#isDraining = true
    const close = (left_us: number) => {
      this.#isClosed = true
      if (this.#underWay > 0 && left_us > 0) {
        return void world.after(50 * ms_us, this.process, () => close(left_us - 50 * ms_us))
      }
      this.process.post(() => this.#main.unsafeInterruptAsFork(this.#main.id()))
    }
    world.after(drainDelay_us, this.process, () => close(drainMax_us))
  }

  #beat() {
    const { process } = this
    this.#standstills.beat()
    process.world.after(Duration.toMillis(beatEvery) * ms_us, process, () => process.post(() => this.#beat()))
  }

  #run() {
    const { mutation, options, placement, ports } = this.#surroundings
    const { process } = this
    const own = Effect.map(ports(process), (ports) =>
      Context.merge(stubServices, ports).pipe(
        Context.add(ShardOwnership, placement.ownership(process)),
        Context.add(Draining, {
          isDraining: () => mutation.isDraining?.(this.#isDraining, process) ?? this.#isDraining
        })
      )
    )
    const whole = own.pipe(
      Parts.parts({
        inFlightMax: 4,
        readsInFlightMax: 4,
        runner: placement.layer(process),
        pool: { low: options.poolLow, high: options.poolHigh },
        ownerCacheMax,
        bufferCapacity: options.bufferCapacity,
        redirectCacheMax,
        staleRedirects: Duration.zero,
        recycleQuarantine: Duration.seconds(options.quarantine_s),
        keyStockTarget: options.keyStock === "none" ? null : options.keyStockTarget,
        visits: { ownHost: "linkmint.test", writer: process.id },
        replaced: {
          ...(mutation.buffer !== undefined && { buffer: (buffer) => mutation.buffer!(buffer, process) }),
          ...(mutation.cache !== undefined && { cache: (cache) => mutation.cache!(cache, process) })
        }
      })
    )
    return Effect.scoped(
      Effect.gen(this, function* () {
        const context = yield* whole
        const operations = yield* Effect.provide(HttpServer.linkOperations(httpOptions), context)
        const { serve } = yield* FrontDoor.make({ operations, requestId: yield* RequestId.make })
        this.#serve = (request, done) => {
          return serve(requestOf(process, request), (answer) => done(responseOf(answer)))
        }
        this.#buffer = Context.get(context, KeyBuffer.KeyBuffer)
        return yield* Effect.never
      })
    )
  }
}
