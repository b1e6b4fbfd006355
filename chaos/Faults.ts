// The faults, done to real processes.

import { Effect, Random, Record } from "effect"
import { Unavailable } from "../test/support/services/Service.ts"
import { clock } from "./Clock.ts"
import { cutOff } from "./Cut.ts"
import { type Done, isOrderly } from "./Done.ts"
import { type FaultKind, frozenAt } from "./FaultKind.ts"
import * as Failover from "./Failover.ts"
import { freeze } from "./Freeze.ts"
import { operations } from "./Observed.ts"
import * as Pause from "./Pause.ts"
import * as PrimaryFaults from "./PrimaryFaults.ts"
import type { Outage } from "./Probes.ts"
import type { World } from "./World.ts"

/** A killed node comes back after this. */
const restartAfter = "2 seconds"

/** A Redis or a PostgreSQL is away for this long, and what its start takes. */
const away = "500 millis"

const anyNode = ({ topology: { nodes } }: World) =>
  Effect.map(Random.nextIntBetween(0, nodes.length), (index) => nodes[index]!)

const now = Effect.sync(() => performance.now())

const kill = Effect.fn("Faults.kill")(function* (world: World) {
  const node = yield* anyNode(world)
  world.harm.nodeKills++
  yield* node.signal("SIGKILL")
  const over = yield* now
  return {
    target: node.name,
    over,
    mend: Effect.delay(Effect.zipRight(node.ended, node.start), restartAfter)
  }
})

const term = Effect.fn("Faults.term")(function* (world: World) {
  const node = yield* anyNode(world)
  yield* node.signal("SIGTERM")
  const over = yield* now
  const mend = Effect.gen(function* () {
    const how = yield* node.ended
    if (!isOrderly(how)) world.observed.violate("orderly stop", `${node.name} ${how}`)
    yield* node.start
  })
  return { target: node.name, over, mend }
})

const restartRedis = (isEmptied: boolean) =>
  Effect.fn("Faults.restartRedis")(function* (world: World) {
    const { emptyPlainRedis, plainRedis } = world.topology
    world.harm.redisKills++
    if (isEmptied) world.harm.redisLosses++
    yield* plainRedis.signal("SIGKILL")
    yield* plainRedis.ended
    if (isEmptied) yield* emptyPlainRedis
    yield* Effect.sleep(away)
    yield* plainRedis.start
    return { target: plainRedis.name, over: yield* now, mend: Effect.void }
  })

const restartPostgres = (signal: "SIGINT" | "SIGKILL") =>
  Effect.fn("Faults.restartPostgres")(function* (world: World) {
    const { postgres } = world.topology
    if (postgres === null)
      return yield* new Unavailable({ reason: "PostgreSQL is more than one server here" })
    world.harm.databaseStops++
    yield* postgres.signal(signal)
    yield* postgres.ended
    yield* Effect.sleep(away)
    yield* postgres.start
    return { target: `${postgres.name} (${signal})`, over: yield* now, mend: Effect.void }
  })

type Fault = (world: World) => Effect.Effect<Done, Unavailable>

const faults: Readonly<{ [Kind in FaultKind]: Fault }> = {
  kill,
  pause: Pause.pause,
  term,
  "redis-restart": restartRedis(false),
  "redis-empty": restartRedis(true),
  failover: Failover.failover,
  "postgres-restart": restartPostgres("SIGINT"),
  "postgres-kill": restartPostgres("SIGKILL"),
  ...Record.map(frozenAt, (_, kind) => freeze(kind)),
  cut: cutOff(["requests", "answers"]),
  "cut-requests": cutOff(["requests"]),
  "cut-answers": cutOff(["answers"]),
  clock,
  "primary-kill": PrimaryFaults.primaryKill,
  "primary-lost": PrimaryFaults.primaryLost,
  switchover: PrimaryFaults.switchover,
  "two-primaries": PrimaryFaults.twoPrimaries,
  "async-loss": PrimaryFaults.asyncLoss,
  "disk-full": PrimaryFaults.diskFull
}

/** Requests succeed for this long before the cluster counts as recovered. */
const steady_ms = 1_000

/** How long a recovery is waited for: a request under way when the bound is over is, too. */
const patienceOf = ({ limits }: World) => limits.recover_ms + steady_ms + 6_000

/** Waits until the load is answered without a failure; gives how long after `from` that began, null where it never did. */
const awaitRecovery = (world: World, from: number): Effect.Effect<number | null> =>
  Effect.gen(function* () {
    while (performance.now() < from + patienceOf(world)) {
      const moment = world.observed.steadyFrom(from, steady_ms)
      if (moment !== null) return Math.round(moment - from)
      yield* Effect.sleep("100 millis")
    }
    return null
  })

const judgeRecovery = (
  world: World,
  { target }: Done,
  kind: FaultKind,
  when: string,
  took: number | null
) => {
  const { recover_ms } = world.limits
  if (took !== null && took <= recover_ms) return
  const failed = world.observed.failedSince(performance.now() - patienceOf(world)).slice(-5)
  const examples = failed.map(({ instead, operation }) => `${operation}: ${instead}`).join(", ")
  world.observed.violate(
    "C8",
    `${kind} of ${target}: no recovery within ${recover_ms} ms ${when} (took ${took ?? `more than ${patienceOf(world)}`} ms); last failures: ${examples}`
  )
}

/** While one node alone is at fault, no class of request fails at the others for long. */
const judgeOthers = ({ limits, observed }: World, kind: FaultKind, outages: ReadonlyArray<Outage>) => {
  for (const { ms, node, operation } of outages) {
    if (ms <= limits.others_ms) continue
    observed.violate(
      "C8",
      `${kind}: ${operation} requests failed at ${node} for ${ms} ms, which was not at fault`
    )
  }
}

/** Does one fault, waits until the cluster works again, and notes how long that took and what should not have failed. */
export const inject = Effect.fn("Faults.inject")(function* (
  world: World,
  kind: FaultKind
): Effect.fn.Return<void, Unavailable> {
  const { notify, observed, outages, recoveries } = world
  const begin = performance.now()
  const before = observed.tallyOf(kind)
  outages.mark()
  observed.phase = kind
  const done = yield* faults[kind](world)
  const [recover_ms, settle_ms] = yield* Effect.all(
    [
      awaitRecovery(world, done.over),
      Effect.flatMap(done.mend, () => Effect.suspend(() => awaitRecovery(world, performance.now())))
    ],
    { concurrency: 2 }
  )
  observed.phase = "calm"
  const { alone, promoted_ms = null, target } = done
  const longest = outages.longest(alone)
  recoveries.push({ kind, recover_ms, settle_ms, promoted_ms, target, outages: longest })
  if (alone !== undefined) judgeOthers(world, kind, longest)
  judgeRecovery(world, done, kind, "after it ended", recover_ms)
  judgeRecovery(world, done, kind, "after all was back", settle_ms)
  const tally = observed.tallySince(kind, before)
  if (kind === "term" && world.lateSince(begin) <= world.limits.late_ms) {
    for (const { end, instead, operation, start } of observed.failedSince(begin)) {
      const times = `${Math.round(start - begin)} to ${Math.round(end - begin)} ms after SIGTERM`
      observed.violate("orderly stop", `${done.target}: a ${operation} got ${instead}, ${times}`)
    }
  }
  const took = recover_ms === null ? "did not recover" : `recovered in ${recover_ms} ms`
  const promoted = promoted_ms === null ? "" : `another primary after ${promoted_ms} ms, `
  const out = longest.map(({ ms, operation }) => `${operation} ${ms} ms`).join(", ") || "none"
  const where = alone === undefined ? "at any node" : "at other nodes"
  const failed = operations.reduce((sum, one) => sum + tally[one].sent - tally[one].answered, 0)
  yield* notify(
    `${kind} of ${target}: ${promoted}${took}, ${failed} requests failed; longest outage ${where}: ${out}`
  )
})
