// A run over several databases: their buckets are moved under load, and one of them is killed.

import { Effect, Schedule, type Scope } from "effect"
import { Unavailable } from "../../test/support/services/Service.ts"
import { keepLogs, stopNodes } from "../Chaos.ts"
import * as Base from "../Checks.ts"
import * as Client from "../Client.ts"
import { steadily } from "../Load.ts"
import type { Violation } from "../Observed.ts"
import type { Arguments } from "./Arguments.ts"
import * as Checks from "./Checks.ts"
import * as Contents from "./Contents.ts"
import * as Moves from "./Moves.ts"
import * as Topology from "./Topology.ts"
import { isPartialList, type Operation, parts, Traffic } from "./Traffic.ts"

/** Beside the arguments: what is asked for, and whom to tell how it goes, in one line each. */
export interface Options extends Arguments {
  readonly limits: Checks.Limits
  /** For how long clients ask again; 0: they ask once. See {@link Traffic}. */
  readonly patience_s: number
  readonly notify: (line: string) => Effect.Effect<void>
}

/** Everything that a run found, as the line of JSON has it. */
export interface Report {
  readonly links: number
  readonly seconds: number
  readonly acknowledged: number
  readonly unacknowledged: number
  readonly skipped: number
  readonly requests: Readonly<
    Record<string, { readonly sent: number; readonly right: number; readonly again: number }>
  >
  readonly instead: Readonly<Record<string, number>>
  readonly moves: ReadonlyArray<Moves.Moved>
  readonly visits: Checks.Visits
  readonly back_ms: number | null
  readonly resolved: Readonly<Record<string, Base.Resolved>>
  readonly violations: ReadonlyArray<Violation>
  readonly violationsUntold: number
  /** What is judged, by name: see `Checks.judgements`. */
  readonly judgements: ReadonlyArray<Checks.Judgement>
  /** The report for people. */
  readonly told: string
}

const databases = 4

/** Whose buckets are moved to all others and back. */
const emptied = 1

/** Which one is killed. */
const killed = 2

/** Links that are made before the load. */
const warmUps = 60

/** What of a node's visits may not be written when it is killed: those of the last second, and what a busy machine adds. */
const unwritten_ms = 1_500

/** The moves: `emptied` gives a part to each of the others, and gets it back. */
const legsOf = (buckets: ReadonlyArray<number>): ReadonlyArray<Moves.Leg> => {
  const others = Array.from({ length: databases }, (_, number) => number).filter(
    (number) => number !== emptied
  )
  const shares = others.map((_, index) => buckets.filter((_, at) => at % others.length === index))
  const kills: ReadonlyArray<Moves.Leg["kill"]> = [
    { who: "mover", at: "copy" },
    { who: "node", at: "compare" },
    null,
    { who: "mover", at: "switch" },
    { who: "node", at: "copy" },
    { who: "mover", at: "detach" }
  ]
  return [
    ...others.map((to, index) => ({ to, buckets: shares[index]!, kill: kills[index]! })),
    ...others.map((_, index) => ({
      to: emptied,
      buckets: shares[index]!,
      kill: kills[others.length + index]!
    }))
  ]
}

const listing = (adminKey: string, requestId: string): Client.Asking => ({
  method: "GET",
  path: "/api/v1/links?limit=1",
  requestId,
  apiKey: adminKey
})

/** Waits until each node lists links of all databases; gives how long that took, and null where it took much too long. */
const untilWhole = ({ adminKey, nodes }: Topology.Topology, from: number) =>
  Effect.forEach(
    nodes,
    ({ port }) =>
      Effect.acquireUseRelease(
        Effect.sync(() => Client.make(port)),
        (client) =>
          Effect.promise(() => client.ask(listing(adminKey, "chaos-whole"))).pipe(
            Effect.repeat({
              schedule: Schedule.spaced("50 millis"),
              until: (answer) => answer.status === 200 && !isPartialList(answer)
            })
          ),
        (client) => Effect.sync(() => client.close())
      ),
    { concurrency: "unbounded", discard: true }
  ).pipe(
    Effect.map(() => Math.round(performance.now() - from)),
    Effect.timeoutTo({ duration: "60 seconds", onTimeout: () => null, onSuccess: (ms) => ms })
  )

/** Waits until each kind of request was answered in this phase; gives those that were not, where that took much too long. */
const untilAnswered = (traffic: Traffic): Effect.Effect<ReadonlyArray<Operation>> =>
  Effect.sync(() => traffic.unanswered()).pipe(
    Effect.repeat({
      schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo("60 seconds")),
      until: (operations) => operations.length === 0
    }),
    Effect.map(() => traffic.unanswered())
  )

const table = (
  report: Omit<Report, "told">,
  traffic: Traffic,
  before: Contents.Contents,
  after: Contents.Contents
) => {
  const { visits } = report
  return [
    "",
    Checks.requestsTable(traffic),
    "",
    Checks.movesTable(report.moves),
    "",
    Checks.contentsTable(before, after),
    "",
    `${report.links} links, ${report.seconds} s; ${report.acknowledged} creates acknowledged, ${report.unacknowledged} not; ${report.skipped} turns skipped for want of a free client`,
    `Visits: ${visits.answered} redirects answered, ${visits.uncertain} uncertain; ${visits.counted} counted, ${visits.lost} lost (at most ${visits.lostMax} may be), ${visits.doubled} counted twice`,
    `The database that was away was used again ${report.back_ms ?? "more than 60,000"} ms after its return`,
    `Resolved past the load balancer: ${Object.entries(report.resolved)
      .map(([node, { askedAgain, right }]) => `${node} ${right} (${askedAgain} asked again)`)
      .join(", ")} of ${report.acknowledged}`,
    ...(Object.keys(report.instead).length === 0 ? [] : ["What came instead of right answers:"]),
    ...Object.entries(report.instead).map(([what, times]) => `  ${what} ×${times}`),
    "",
    Checks.judgementsTable(report.judgements),
    "",
    ...(report.violations.length === 0
      ? ["All promises held."]
      : [
          "BROKEN:",
          ...report.violations.map(({ evidence, promise }) => `  ${promise}: ${evidence}`),
          ...(report.violationsUntold === 0 ? [] : [`  and ${report.violationsUntold} more`])
        ]),
    ""
  ].join("\n")
}

/** One run from the start of the servers to their end. Fails only where the run itself could not go on. */
export const run = Effect.fn("databases.run")(function* (
  options: Options
): Effect.fn.Return<Report, Unavailable, Scope.Scope> {
  const { away_s, calm_s, clients, limits, links, logs, patience_s, requestsPerSecond } = options
  const begun = performance.now()
  const notify = (line: string) =>
    options.notify(`${((performance.now() - begun) / 1_000).toFixed(0).padStart(4)} s  ${line}`)
  yield* notify(`starting ${databases} servers of PostgreSQL, Redis, three nodes and HAProxy …`)
  const topology = yield* Topology.start(databases)
  if (logs !== null) yield* Effect.addFinalizer(() => keepLogs(logs, topology.logs))
  const { adminKey, nodes, port } = topology
  yield* notify("spreading the buckets over the databases …")
  yield* Moves.spread(topology)
  yield* notify(`writing ${links} links …`)
  yield* Contents.fill(topology, links)
  const homes = yield* Contents.placement(topology)
  const before = yield* Contents.read(topology)

  const traffic = new Traffic({
    adminKey,
    homes,
    patience_ms: 1_000 * patience_s,
    seeded: links,
    chance: Math.random
  })
  const { acknowledged, observed } = traffic
  const violate = (promise: string, evidence: string) => observed.violate(promise, evidence)
  const warm = yield* Effect.promise(async () => {
    const client = Client.make(port)
    let right = 0
    for (let turn = 0; turn < 10 * warmUps && right < warmUps; turn++) {
      if (await traffic.warmUp(client)) right++
    }
    client.close()
    return right
  })
  if (warm < warmUps) return yield* new Unavailable({ reason: "Not enough links could be made" })

  let lostMax = 0
  let turn = 0
  const killing: Moves.Killing = {
    node: Effect.gen(function* () {
      const node = nodes[++turn % nodes.length]!
      lostMax += traffic.killed(unwritten_ms)
      yield* node.signal("SIGKILL")
      yield* node.ended
      yield* node.start
      return node.name
    }),
    moverIsDead: (is) => traffic.moverIsDead(is)
  }

  const moves: Array<Moves.Moved> = []
  let back_ms: number | null = null
  let unanswered: ReadonlyArray<Operation> = []
  yield* Effect.gen(function* () {
    yield* steadily({
      port,
      clients,
      requestsPerSecond,
      parts,
      turns: traffic.turns,
      skipped: (turns) => {
        traffic.skipped += turns
      }
    })
    yield* Effect.sleep(`${calm_s} seconds`)
    traffic.begin("moves")
    const legs = legsOf(homes[emptied]!)
    for (const [index, leg] of legs.entries()) {
      const moved = yield* Moves.move(topology, leg, killing).pipe(Effect.scoped)
      moves.push(moved)
      yield* notify(
        `moved ${moved.buckets} buckets (${moved.rows} rows) from ${moved.from} to ${moved.to} in ${moved.seconds.toFixed(1)} s, ${moved.killed === null ? "nobody" : moved.killed} was killed`
      )
      if (index === legs.length / 2 - 1) {
        const middle = yield* Contents.read(topology)
        Checks.judgeContents(violate, "half-way", before, middle, false)
      }
    }
    traffic.begin("calm")
    yield* notify(`killing database ${killed}, for ${away_s} s …`)
    const victim = topology.databases[killed]!
    traffic.begin("away", new Set(homes[killed]!))
    yield* victim.signal("SIGKILL")
    yield* Effect.sleep(`${away_s} seconds`)
    unanswered = yield* untilAnswered(traffic)
    yield* victim.ended
    traffic.begin("return", new Set(homes[killed]!))
    const from = performance.now()
    yield* victim.start
    back_ms = yield* untilWhole(topology, from)
    traffic.begin("calm")
    yield* notify(`it is used again after ${back_ms ?? "more than 60,000"} ms`)
    yield* Effect.sleep(`${calm_s} seconds`)
  }).pipe(Effect.scoped)

  yield* notify(`asking every node for ${acknowledged.links.size} links …`)
  const resolved = yield* Effect.forEach(
    nodes,
    (node) =>
      Effect.map(
        Base.resolveAll(observed, acknowledged, node, (key, answer) => traffic.visited(key, answer)),
        (one) => [node.name, one] as const
      ),
    { concurrency: "unbounded" }
  )
  yield* notify("stopping the nodes, and comparing …")
  yield* stopNodes(observed, nodes)
  const after = yield* Contents.read(topology)
  const written = yield* Contents.readWritten(topology)
  Checks.judgeMoves(violate, traffic, moves, limits)
  Checks.judgeAway(violate, traffic, { back_ms, unanswered }, limits)
  Checks.judgeContents(violate, "at the end", before, after, true)
  Checks.judgeWritten(violate, traffic, written)
  Base.compareBound(observed, acknowledged, {
    bound: new Map(written.links.map(({ key, url }) => [key, url]))
  })
  for (const { key, times } of Checks.repeatsOf(topology.balancer)) traffic.askedAgain(key, times)
  const visits = Checks.judgeVisits(violate, traffic, written.visits, lostMax)
  const report = {
    links,
    seconds: Math.round((performance.now() - begun) / 1_000),
    acknowledged: acknowledged.links.size,
    unacknowledged: acknowledged.unacknowledged,
    skipped: traffic.skipped,
    requests: Object.fromEntries(
      [...traffic.tallies].map(([name, { again, right, sent }]) => [name, { sent, right, again }])
    ),
    instead: Object.fromEntries(traffic.instead),
    moves,
    visits,
    back_ms,
    resolved: Object.fromEntries(resolved),
    judgements: Checks.judgements(
      {
        traffic,
        moves,
        before,
        after,
        written,
        visits,
        back_ms,
        acknowledged: acknowledged.links.size,
        resolved: resolved.map(([, one]) => one.right)
      },
      limits
    ),
    violations: observed.violations,
    violationsUntold: observed.violationsUntold
  }
  return { ...report, told: table(report, traffic, before, after) }
})
