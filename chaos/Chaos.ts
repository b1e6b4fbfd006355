// A run: load, faults, calm, and what is left to check.

import { Effect, Random, type Scope } from "effect"
import { copyFileSync, existsSync, mkdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { lateness } from "../test/support/Lateness.ts"
import { Unavailable } from "../test/support/services/Service.ts"
import type { Arguments } from "./Arguments.ts"
import { Acknowledged } from "./Acknowledged.ts"
import * as Checks from "./Checks.ts"
import { redirectsThroughKills } from "./Directed.ts"
import { type FaultKind, frozenAt } from "./FaultKind.ts"
import { isOrderly } from "./Done.ts"
import * as Faults from "./Faults.ts"
import * as Ledger from "./Ledger.ts"
import * as Client from "./Client.ts"
import * as Load from "./Load.ts"
import { coldKey, coldKeyPrefix, coldUrlPrefix, creating, judgeCreate } from "./Load.ts"
import { Observed } from "./Observed.ts"
import type { Report } from "./Report.ts"
import * as Probes from "./Probes.ts"
import type { Server } from "./Server.ts"
import { inDatabase } from "./Stores.ts"
import * as Topology from "./Topology.ts"
import { type Limits, noHarm, type Redirects, type World } from "./World.ts"

/** Beside the arguments: whom to tell how it goes, in one line each. */
export interface Options extends Arguments {
  readonly notify: World["notify"]
  /** Of the steady load, where the machine comes to it. */
  readonly requestsPerSecond: number
  /** Clients of each operation: what is under way at once is bounded by them, so that a slow machine is asked less. */
  readonly clients: number
  readonly limits: Limits
}

/** Links that stand in the database and that nobody has asked for yet, so many a minute of the faults, and at least. */
const coldPerMinute = 3_000
const coldMin = 6_000
const coldMax = 150_000

/** Each class is asked for at each node so often, over the requests per second: an eighth of the load in all. */
const probes_ms = 96_000

/** Links that are asked for all the time. */
const hotLinks = 30

/** Links of one run at most: all of them are asked for at the end, and kept in memory. */
const linksMax = 200_000

/** Before each fault, in milliseconds: from … to. */
const calm_ms = [500, 2_000] as const

/** The pools fill within this. */
const warmUpMax_ms = 20_000

/** After the last fault. */
const lastCalm = "2 seconds"

const load = { parts: { hot: 0.4, cold: 0.25, create: 0.3, change: 0.05 }, hotLinks, linksMax }

/** What a fault takes that is no freeze, mostly less, in seconds. */
const fault_s = 45

/** How long faults go on at least, in minutes: all of the first round come. */
const minutesOf = ({ faults, freeze_s, minutes }: Options): number => {
  const frozen = faults.filter((kind) => kind in frozenAt).length
  return Math.max(minutes, (faults.length * fault_s + frozen * freeze_s) / 60)
}

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
export const stopNodes = (observed: Pick<Observed, "violate">, nodes: ReadonlyArray<Server>) =>
  Effect.forEach(
    nodes,
    Effect.fn("Chaos.stopNode")(function* (node) {
      yield* node.signal("SIGTERM")
      const how = yield* node.ended
      if (!isOrderly(how)) observed.violate("orderly stop", `${node.name} ${how}`)
    }),
    { discard: true }
  )

/** Copies logs into a folder, each under its server's name. */
export const keepLogs = (folder: string, logs: ReadonlyArray<string>) =>
  Effect.sync(() => {
    mkdirSync(folder, { recursive: true })
    for (const log of logs) {
      if (existsSync(log)) copyFileSync(log, join(folder, `${basename(dirname(log))}.log`))
    }
  })

type Ground = Pick<World, "topology" | "observed" | "acknowledged">

/** Waits until links can be made through the load balancer, so that the load finds the pools filled. Gives the last link, which is for those who count its visits. */
const warmUp = ({ acknowledged, observed, topology }: Ground) =>
  Effect.promise(async () => {
    const client = Client.make(topology.port)
    const end = performance.now() + warmUpMax_ms
    let key: string | null = null
    for (let rightInRow = 0, turn = 0; rightInRow <= hotLinks && performance.now() < end; turn++) {
      const requestId = `chaos-warm-up-${turn}`
      const url = `https://example.com/${requestId}`
      key = judgeCreate(observed, acknowledged, await client.ask(creating(topology, requestId, url)), url)
      if (key !== null) acknowledged.keepForChanges(key, url)
      rightInRow = key === null ? 0 : rightInRow + 1
    }
    client.close()
    return key
  })

/** Puts links into the database past the nodes, whose caches have none of them. Gives what hands them out, one by one. */
const makeCold = Effect.fn("Chaos.makeCold")(function* (
  topology: Topology.Topology,
  like: string,
  minutes: number
) {
  const count = Math.min(coldMax, coldMin + Math.ceil(coldPerMinute * minutes))
  yield* inDatabase(
    topology,
    (sql) => sql`INSERT INTO links
      SELECT (jsonb_populate_record(links, jsonb_build_object('key', ${coldKeyPrefix} || number, 'custom', true,
        'url', ${coldUrlPrefix} || ${coldKeyPrefix} || number))).*
      FROM links, generate_series(1, ${count}::int) AS number WHERE links.key = ${like}`
  )
  let next = 0
  return () => (next < count ? coldKey(++next) : undefined)
})

/** Everything under load; the load ends with it. */
const torment = Effect.fn("Chaos.torment")(function* (ground: Ground, options: Options) {
  const { acknowledged, observed, topology } = ground
  const { adminKey, port } = topology
  const { clients, freeze_s, limits, notify, requestsPerSecond } = options
  const visitedKey = yield* warmUp(ground)
  if (visitedKey === null) return yield* new Unavailable({ reason: "No link could be made" })
  const nextCold = yield* makeCold(topology, visitedKey, minutesOf(options))
  const keys = [...acknowledged.links.keys()].filter((key) => key !== visitedKey)
  const hotKeys = keys.slice(0, hotLinks)
  yield* Load.start(
    { ...load, clients, keys, requestsPerSecond, port, apiKey: adminKey, chance: Math.random, nextCold },
    observed,
    acknowledged
  )
  const { nodes } = topology
  const outages = yield* Probes.start(
    { nodes, adminKey, hotKeys, nextCold, every_ms: probes_ms / requestsPerSecond },
    observed,
    acknowledged
  )
  const world: World = {
    ...ground,
    limits,
    notify,
    outages,
    lateSince: yield* lateness,
    visitedKey,
    freeze_s,
    harm: noHarm(),
    recoveries: [],
    takeovers: [],
    freezes: []
  }
  yield* Effect.sleep("2 seconds")
  yield* faultsUntil(world, options)
  yield* Effect.sleep(lastCalm)
  return world
}, Effect.scoped)

/** What became of redirects over failovers to a standby that has every commit. */
const redirectsThroughFailovers = Effect.fn("Chaos.redirectsThroughFailovers")(function* (world: World) {
  const { limits, notify, observed, topology } = world
  const kind = "primary-kill"
  const tally = observed.tallies.get(kind)
  if (tally === undefined || topology.standby?.mode !== "sync") return null
  const redirects = { kind, hot: tally.hot, cold: tally.cold } satisfies Redirects
  for (const line of Checks.judgeRedirects(observed, redirects, limits)) yield* notify(line)
  return redirects
})

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
  yield* stopNodes(observed, topology.nodes)
  const failovers = yield* redirectsThroughFailovers(world)
  const books = yield* Ledger.read(topology)
  const ledger = Ledger.balance(books)
  const lostMax = Checks.lostBound(harm, acknowledged.unacknowledged, {
    bufferCapacity: Topology.bufferCapacity,
    poolHigh: Topology.poolHigh,
    pools: topology.poolUrls.length,
    nodes: topology.nodes.length
  })
  Checks.compareBound(observed, acknowledged, books)
  Checks.judgeLedger(observed, ledger, lostMax, harm.databaseLosses)
  return {
    redirectsThroughFailovers: failovers,
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
  const { logs, program, seed, standby } = options
  const start = performance.now()
  const notify = (line: string) =>
    options.notify(`${((performance.now() - start) / 1_000).toFixed(0).padStart(4)} s  ${line}`)
  yield* notify("starting PostgreSQL, Redis, the Sentinels, three nodes and HAProxy …")
  const topology = yield* Topology.start(program, standby)
  if (logs !== null) yield* Effect.addFinalizer(() => keepLogs(logs, topology.logs))
  const ground: Ground = { topology, observed: new Observed(), acknowledged: new Acknowledged() }
  const possible = Topology.possible(topology, options.faults)
  for (const kind of options.faults.filter((kind) => !possible.includes(kind))) {
    yield* notify(`${kind} is left out: this machine has not what it needs`)
  }
  const world = yield* Effect.withRandom(
    torment(ground, { ...options, faults: possible, notify }),
    Random.make(seed)
  )
  const throughKills = yield* redirectsThroughKills(world)
  const judged = yield* judge(world)
  const { acknowledged, freezes, harm, observed, recoveries, takeovers } = world
  return {
    seed,
    seconds: Math.round((performance.now() - start) / 1_000),
    acknowledged: acknowledged.links.size,
    unacknowledged: acknowledged.unacknowledged,
    forgotten: acknowledged.forgotten.size,
    skipped: observed.skipped,
    phases: Object.fromEntries(observed.tallies),
    failures: Object.fromEntries(observed.failures),
    recoveries,
    takeovers,
    freezes,
    redirectsThroughKills: throughKills,
    kills: options.limits.kills,
    ...judged,
    harm,
    violations: observed.violations,
    violationsUntold: observed.violationsUntold
  }
})
