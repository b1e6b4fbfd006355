// A run: load, faults, calm, and what is left to check.

import { Effect, Random, type Scope } from "effect"
import { copyFileSync, existsSync, mkdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { Unavailable } from "../test/services/Service.ts"
import type { Arguments } from "./Arguments.ts"
import * as Checks from "./Checks.ts"
import { redirectsThroughKills } from "./Directed.ts"
import type { FaultKind } from "./FaultKind.ts"
import * as Faults from "./Faults.ts"
import * as Ledger from "./Ledger.ts"
import * as Client from "./Client.ts"
import * as Load from "./Load.ts"
import { creating, judgeCreate } from "./Load.ts"
import { Observed } from "./Observed.ts"
import type { Report } from "./Report.ts"
import * as Topology from "./Topology.ts"
import { type Limits, noHarm, type World } from "./World.ts"

/** Beside the arguments: whom to tell how it goes, in one line each. */
export interface Options extends Arguments {
  readonly notify: World["notify"]
  /** Of the steady load, where the machine comes to it. */
  readonly requestsPerSecond: number
  readonly limits: Limits
}

/** Links of one run at most: all of them are asked for at the end, and kept in memory. */
const linksMax = 200_000

/** Before each fault, in milliseconds: from … to. */
const calm_ms = [500, 2_000] as const

/** The pools fill within this. */
const warmUpMax_ms = 20_000

/** After the last fault. */
const lastCalm = "2 seconds"

const load = { clients: 16, creates: 1 / 3, linksMax }

/** The end of time for new faults, and the kinds of each round in an order of its own. */
const faultsUntil = Effect.fn("Chaos.faults")(function* (world: World, { faults, minutes, notify }: Options) {
  const start = performance.now()
  const isOver = () => performance.now() - start >= minutes * 60_000
  const round = Effect.fn("Chaos.round")(function* (number: number) {
    const kinds: ReadonlyArray<FaultKind> = [...(yield* Random.shuffle(faults))]
    for (const [index, kind] of kinds.entries()) {
      if (number > 1 && isOver()) return
      yield* Effect.sleep(yield* Random.nextIntBetween(...calm_ms))
      const minute = ((performance.now() - start) / 60_000).toFixed(1)
      yield* notify(
        `[${minute} of ${minutes} min, round ${number}, fault ${index + 1} of ${kinds.length}] ${kind} …`
      )
      yield* Faults.inject(world, kind)
    }
  })
  for (let number = 1; number === 1 || !isOver(); number++) {
    if (faults.length === 0) break
    yield* round(number)
  }
})

/** Stops the nodes in order, one after the other, so that each gives its keys back to an owner that is there. */
const stopNodes = ({ observed, topology }: World) =>
  Effect.forEach(
    topology.nodes,
    Effect.fn("Chaos.stopNode")(function* (node) {
      yield* node.signal("SIGTERM")
      const how = yield* node.ended
      if (!Faults.isOrderly(how)) observed.violate("orderly stop", `${node.name} ${how}`)
    }),
    { discard: true }
  )

const keepLogs = (folder: string, logs: ReadonlyArray<string>) =>
  Effect.sync(() => {
    mkdirSync(folder, { recursive: true })
    for (const log of logs) {
      if (existsSync(log)) copyFileSync(log, join(folder, `${basename(dirname(log))}.log`))
    }
  })

const makeWorld = (topology: Topology.Topology, limits: Limits, notify: World["notify"]): World => ({
  topology,
  limits,
  notify,
  observed: new Observed(),
  acknowledged: { links: new Map(), unacknowledged: 0 },
  harm: noHarm(),
  recoveries: [],
  takeovers: []
})

/** Waits until links can be made through the load balancer, so that the load finds the pools filled. */
const warmUp = ({ acknowledged, observed, topology }: World) =>
  Effect.promise(async () => {
    const client = Client.make(topology.port)
    const end = performance.now() + warmUpMax_ms
    for (let rightInRow = 0, turn = 0; rightInRow < 30 && performance.now() < end; turn++) {
      const requestId = `chaos-warm-up-${turn}`
      const url = `https://example.com/${requestId}`
      const key = judgeCreate(
        observed,
        acknowledged,
        await client.ask(creating(topology, requestId, url)),
        url
      )
      rightInRow = key === null ? 0 : rightInRow + 1
    }
    client.close()
  })

/** Everything under load; the load ends with it. */
const torment = Effect.fn("Chaos.torment")(function* (world: World, options: Options) {
  const { acknowledged, observed, topology } = world
  const { adminKey: apiKey, port } = topology
  const { requestsPerSecond } = options
  yield* warmUp(world)
  yield* Load.start({ ...load, requestsPerSecond, port, apiKey, chance: Math.random }, observed, acknowledged)
  yield* Effect.sleep("2 seconds")
  yield* faultsUntil(world, options)
  yield* Effect.sleep(lastCalm)
}, Effect.scoped)

/** What holds when all is quiet. */
const judge = Effect.fn("Chaos.judge")(function* (world: World) {
  const { acknowledged, harm, notify, observed, topology } = world
  yield* notify(`asking every node for ${acknowledged.links.size} links …`)
  const resolved = yield* Effect.forEach(
    topology.nodes,
    (node) => Effect.map(Checks.resolveAll(observed, acknowledged, node), (one) => [node.name, one] as const),
    { concurrency: "unbounded" }
  )
  yield* notify("stopping the nodes, and adding up the keys …")
  yield* stopNodes(world)
  const books = yield* Ledger.read(topology)
  const ledger = Ledger.balance(books)
  const lostMax = Checks.lostBound(harm, acknowledged.unacknowledged, {
    bufferCapacity: Topology.bufferCapacity,
    poolHigh: Topology.poolHigh,
    pools: topology.poolUrls.length,
    nodes: topology.nodes.length
  })
  Checks.compareBound(observed, acknowledged, books)
  Checks.judgeLedger(observed, ledger, lostMax)
  return {
    resolved: Object.fromEntries(resolved),
    ledger,
    lostMax,
    conflicts: Checks.linesWith(topology.nodes, Checks.conflict).length,
    troubles: Checks.linesWith(topology.nodes, Checks.broken).slice(0, 10)
  }
})

/** One run from the start of the servers to their end. Fails only where the run itself could not go on. */
export const run = Effect.fn("Chaos.run")(function* (
  options: Options
): Effect.fn.Return<Report, Unavailable, Scope.Scope> {
  const { logs, program, seed } = options
  const start = performance.now()
  const notify = (line: string) =>
    options.notify(`${((performance.now() - start) / 1_000).toFixed(0).padStart(4)} s  ${line}`)
  yield* notify("starting PostgreSQL, Redis, the Sentinels, three nodes and HAProxy …")
  const topology = yield* Topology.start(program)
  if (logs !== null) yield* Effect.addFinalizer(() => keepLogs(logs, topology.logs))
  const world = makeWorld(topology, options.limits, notify)
  yield* Effect.withRandom(torment(world, { ...options, notify }), Random.make(seed))
  const redirects = yield* redirectsThroughKills(world)
  const judged = yield* judge(world)
  const { acknowledged, harm, observed, recoveries, takeovers } = world
  return {
    seed,
    seconds: Math.round((performance.now() - start) / 1_000),
    acknowledged: acknowledged.links.size,
    unacknowledged: acknowledged.unacknowledged,
    skipped: observed.skipped,
    phases: Object.fromEntries(observed.tallies),
    failures: Object.fromEntries(observed.failures),
    recoveries,
    takeovers,
    redirectsThroughKills: redirects,
    kills: options.limits.kills,
    ...judged,
    harm,
    violations: observed.violations,
    violationsUntold: observed.violationsUntold
  }
})
