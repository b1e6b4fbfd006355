// Faults of PostgreSQL's primary, where it has a standby.

import { Effect } from "effect"
import { closeSync, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import { Unavailable } from "../test/support/services/Service.ts"
import type { Done } from "./Done.ts"
import type { Member, Pair } from "./Pair.ts"
import { inDatabase } from "./Stores.ts"
import type { World } from "./World.ts"

const pairOf = ({ topology: { standby } }: World): Effect.Effect<Pair, Unavailable> =>
  standby === null ? new Unavailable({ reason: "PostgreSQL has no standby here" }) : Effect.succeed(standby)

/** The primary, once it has a standby that can take its place. */
const readyLeader = Effect.fn("PrimaryFaults.readyLeader")(function* (pair: Pair) {
  yield* pair.whole(pair.mode)
  return yield* pair.leader
})

/** Does something to the primary and waits until the other one is in its place. */
const untilReplaced = (
  world: World,
  done: (leader: Member) => Effect.Effect<void, Unavailable>,
  mend: (leader: Member, pair: Pair) => Effect.Effect<void, Unavailable>
) =>
  Effect.gen(function* () {
    const pair = yield* pairOf(world)
    const leader = yield* readyLeader(pair)
    world.harm.databaseStops++
    const since = performance.now()
    yield* done(leader)
    yield* pair.replaced(leader)
    const over = performance.now()
    return {
      target: leader.name,
      over,
      promoted_ms: Math.round(over - since),
      mend: mend(leader, pair)
    } satisfies Done
  })

const wholeAgain = (_: Member, pair: Pair) => pair.whole(pair.mode)

/** The primary's postmaster is killed; its Patroni lets the standby have the lease, and makes a standby of the old one. */
export const primaryKill = (world: World) =>
  untilReplaced(world, (leader) => leader.killPostmaster, wholeAgain)

/** The primary's machine is gone, and comes back when the other one has its place. */
export const primaryLost = (world: World) =>
  untilReplaced(
    world,
    (leader) => Effect.zipRight(leader.signalPostgres("SIGKILL"), leader.signal("SIGKILL")),
    (leader, pair) => leader.ended.pipe(Effect.zipRight(leader.start), Effect.zipRight(pair.whole(pair.mode)))
  )

/** As planned. */
export const switchover = Effect.fn("PrimaryFaults.switchover")(function* (world: World) {
  const pair = yield* pairOf(world)
  yield* readyLeader(pair)
  world.harm.databaseStops++
  const since = performance.now()
  const { name } = yield* pair.switchOver
  const over = performance.now()
  return {
    target: name,
    over,
    promoted_ms: Math.round(over - since),
    mend: pair.whole(pair.mode)
  } satisfies Done
})

/** For so long there are two of them. */
const twoFor = "5 seconds"

/** The primary's machine stands still until the other one has its place; then its PostgreSQL goes on, and takes what it is sent, before its Patroni does. */
export const twoPrimaries = (world: World) =>
  untilReplaced(
    world,
    (leader) => Effect.zipRight(leader.signal("SIGSTOP"), leader.signalPostgres("SIGSTOP")),
    (leader, pair) =>
      leader.signalPostgres("SIGCONT").pipe(
        Effect.zipRight(Effect.sleep(twoFor)),
        Effect.zipRight(leader.signal("SIGCONT")),
        // It calls itself the primary until it has heard of the other one.
        Effect.zipRight(Effect.sleep("2 seconds")),
        Effect.zipRight(pair.whole(pair.mode))
      )
  )

/** Links that are acknowledged while the standby gets nothing, at least, and how long that may take. */
const lostMin = 300
const lostWithin = "30 seconds"

/** The process that sends the log to the standby. */
const senderOf = (world: World) =>
  Effect.flatMap(
    inDatabase(world.topology, (sql) => sql<{ pid: number }>`SELECT pid FROM pg_stat_replication LIMIT 1`),
    ([row]) =>
      row === undefined
        ? new Unavailable({ reason: "Nothing is sent to the standby" })
        : Effect.succeed(row.pid)
  )

const keysOf = (world: World) =>
  Effect.map(
    inDatabase(world.topology, (sql) => sql<{ key: string }>`SELECT key FROM links WHERE NOT custom`),
    (rows) => new Set(rows.map(({ key }) => key))
  )

/** The standby gets nothing for a while, for which commits do not wait; then the primary is killed, and the standby has its place. */
export const asyncLoss = Effect.fn("PrimaryFaults.asyncLoss")(function* (world: World) {
  const { acknowledged, harm, notify } = world
  const pair = yield* pairOf(world)
  yield* readyLeader(pair)
  yield* pair.setMode("async")
  const leader = yield* pair.leader
  acknowledged.mayForget()
  const sender = yield* senderOf(world)
  process.kill(sender, "SIGSTOP")
  const enough = Effect.sync(() => (acknowledged.suspects?.size ?? 0) >= lostMin)
  yield* Effect.iterate(false, {
    while: (is) => !is,
    body: () => Effect.zipRight(Effect.sleep("50 millis"), enough)
  }).pipe(Effect.timeoutOption(lostWithin))
  harm.databaseStops++
  harm.databaseLosses++
  const since = performance.now()
  yield* leader.killPostmaster
  process.kill(sender, "SIGKILL")
  yield* pair.replaced(leader)
  const over = performance.now()
  const mend = Effect.gen(function* () {
    yield* pair.whole("async")
    yield* pair.setMode(pair.mode)
    const count = acknowledged.suspects?.size ?? 0
    const lost = acknowledged.remembered(yield* keysOf(world))
    yield* notify(`PostgreSQL has forgotten ${lost} of the ${count} links that were acknowledged meanwhile`)
  })
  return { target: leader.name, over, promoted_ms: Math.round(over - since), mend } satisfies Done
})

/** What the primary has that long no room for. */
const fullFor = "10 seconds"

/** Writes a file until nothing more fits. */
const fill = (disk: string) =>
  Effect.sync(() => {
    const file = join(disk, "filler")
    const descriptor = openSync(file, "w")
    for (let size = 1_048_576; size >= 4_096; size /= 16) {
      const zeros = Buffer.alloc(size)
      try {
        for (;;) writeSync(descriptor, zeros)
      } catch {
        // Smaller pieces may still fit.
      }
    }
    closeSync(descriptor)
    return Effect.sync(() => rmSync(file, { force: true }))
  })

/** The primary's disk is full for a while, or until the other one has its place. */
export const diskFull = Effect.fn("PrimaryFaults.diskFull")(function* (world: World) {
  const pair = yield* pairOf(world)
  const leader = yield* readyLeader(pair)
  if (leader.disk === null) {
    return yield* new Unavailable({ reason: "Only root can give PostgreSQL a disk of its own" })
  }
  world.harm.databaseStops++
  const since = performance.now()
  const free = yield* fill(leader.disk)
  const replaced = yield* Effect.timeoutOption(pair.replaced(leader), fullFor)
  if (replaced._tag === "None") yield* free
  const over = performance.now()
  return {
    target: `${leader.name} (${replaced._tag === "None" ? "stayed" : "was replaced"})`,
    over,
    mend: Effect.zipRight(free, pair.whole(pair.mode)),
    ...(replaced._tag === "Some" && { promoted_ms: Math.round(over - since) })
  } satisfies Done
})
