import type { Occasional, SimOptions } from "../cli/Options.ts"
import { stockKinds } from "../../storage/keys/KeyStock.ts"
import { believedAfter_ms } from "../../time/TimeKeeper.ts"
import { returnsBelow_us } from "../deployment/MachineTime.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us } from "../world/Time.ts"
import { noFaults } from "./Faults.ts"
import { struckAt } from "./Steps.ts"

/** What chance alone hardly ever brings together, and some seeds therefore aim at. */
export type Aim = (options: SimOptions, chance: Chance) => SimOptions

export const withWorkload = (options: SimOptions, workload: Partial<SimOptions["workload"]>): SimOptions => ({
  ...options,
  workload: { ...options.workload, ...workload }
})

/** The same options for a process alone. */
export const aloneOver = (options: SimOptions, over: NonNullable<SimOptions["alone"]>): SimOptions => ({
  ...options,
  alone: over,
  nodes: 1,
  pools: 1,
  witnessed: false
})

/** Links that everybody asks for are changed and deleted, while nodes are cut off and paused. */
const hotStale: Aim = (options, chance) => ({
  ...withWorkload(options, {
    clients: 8,
    think_ms: 600,
    created: 0.06,
    deleted: chance.pick([0.01, 0.04]),
    changed: 0.15,
    withMaxVisits: 0,
    withExpiry: 0,
    wished: 0,
    justCreated: 0.02,
    followed: 0.6,
    remembered: chance.pick([3, 8])
  }),
  nodes: chance.between(2, 4),
  quarantine_s: 4,
  staleRedirects_s: chance.pick([0, 1.2, 2.8]),
  faults: {
    ...(chance.happens(0.5) ? options.faults : noFaults),
    preemption: options.faults.preemption,
    cutDatabase: { perMinute: chance.pick([4, 12]), least_ms: 1_500, most_ms: chance.pick([4_000, 12_000]) },
    pause: { perMinute: 4, least_ms: 100, most_ms: 4_000 }
  },
  // Where they move as well, they may be changed where a node that is cut off hears nothing.
  databases: chance.pick([1, 2, 3])
})

/** Keys are free again soon, and nodes that were paused meanwhile come back with what they knew. */
const recycled: Aim = (options, chance) => ({
  ...withWorkload(options, {
    created: 0.4,
    deleted: 0.3,
    withAlias: chance.pick([0.1, 0.4]),
    withExpiry: 0.3,
    remembered: chance.pick([8, 40])
  }),
  quarantine_s: 2,
  staleRedirects_s: 0,
  keysPerRange: chance.pick([4, 10]),
  faults: {
    ...options.faults,
    pause: { perMinute: chance.pick([4, 12]), least_ms: 1_000, most_ms: 8_000 },
    move: { perMinute: 12, least_ms: 0, most_ms: 5_000 }
  }
})

/** Nodes are killed at a few steps of protocols, each time that some come to them, or shut down. */
const crashAtStep: Aim = (options, chance) => struckAt(options, chance, 0.1, 7)

/** The stores answer many calls late, and not in the order in which they were put. */
const slowStores: Aim = (options, chance) => ({
  ...withWorkload(options, {
    deleted: 0.1,
    changed: 0.15,
    withMaxVisits: 0.2,
    withAccount: chance.pick([0.15, 0.3]),
    withAlias: chance.pick([0.1, 0.6]),
    followed: 0.5,
    remembered: chance.pick([3, 40])
  }),
  faults: {
    ...options.faults,
    slowCalls: { probability: chance.pick([0.05, 0.2]), most_ms: chance.pick([300, 1_200, 3_000]) },
    move: { perMinute: chance.pick([3, 20]), least_ms: 500, most_ms: 8_000 },
    kill: { ...options.faults.kill, perMinute: Math.min(1, options.faults.kill.perMinute) }
  }
})

/** Users' links use up their visits and their owners' redirects of a day, which begins again in the middle of the run. */
const usedUpDays: Aim = (options, chance) => ({
  ...withWorkload(options, {
    clients: 6,
    think_ms: chance.pick([300, 1_000]),
    created: 0.12,
    deleted: 0,
    withAccount: 0.8,
    withMaxVisits: 0.6,
    justCreated: 0.2,
    remembered: chance.pick([6, 20])
  }),
  faults: {
    ...noFaults,
    move: { perMinute: chance.pick([0, 6]), least_ms: 0, most_ms: 3_000 },
    messages: { dropped: 0.005, repeated: 0.05, delayed: 0.05, delay_ms: 500 },
    preemption: options.faults.preemption
  },
  createsPerMinute: null,
  redirectsPerDay: chance.pick([3, 10, 30, 2_000])
})

/** People who guess at links use up their look-ups, of which the nodes lease the last ones while the database is slow or away. */
const guessing: Aim = (options, chance) => ({
  ...withWorkload(options, {
    clients: 4,
    think_ms: chance.pick([400, 1_200]),
    created: 0.2,
    deleted: 0.1,
    withAccount: 0.3,
    withDomain: 0,
    guessed: chance.pick([0.2, 0.6]),
    remembered: 10
  }),
  nodes: chance.between(1, 3),
  faults: {
    ...noFaults,
    databaseSlow: { perMinute: chance.pick([0, 4]), least_ms: 200, most_ms: 3_000 },
    slowCalls: options.faults.slowCalls,
    preemption: options.faults.preemption
  },
  failedLookupsPerMinute: chance.pick([3, 12, 40, 90])
})

/** The receivers of webhooks fail for minutes, so that messages wait for longer and longer; now and then they take one, or no attempt would be made in a run. */
const failingReceivers: Aim = (options, chance) => ({
  ...withWorkload(options, {
    clients: 1,
    think_ms: chance.pick([3_000, 10_000]),
    created: 0.6,
    deleted: 0.3,
    withAccount: 0.8,
    bursts: 0,
    followed: 0
  }),
  faulty_s: chance.pick([200, 400]),
  compared: true,
  createsPerMinute: null,
  faults: {
    ...noFaults,
    webhookCalls: { refused: chance.pick([0.7, 0.85]), lost: chance.pick([0, 0.02]), ignored: 0 },
    databaseCalls: { refused: 0, lost: chance.pick([0, 0.01]), ignored: 0 },
    kill: { perMinute: chance.pick([0, 0.5]), least_ms: 500, most_ms: 3_000 },
    preemption: options.faults.preemption
  }
})

/** Pushes and leases fail, by the pool alone: an owner is hardly ever fenced, so that it goes on with what it knows. */
const failingPools: Aim = (options, chance) => {
  const isDown = chance.happens(0.5)
  return {
    ...withWorkload(options, { created: 0.8 }),
    pools: chance.between(2, 4),
    bufferCapacity: 4,
    poolLow: 8,
    poolHigh: chance.pick([12, 30]),
    witnessed: !isDown && options.witnessed,
    faults: {
      ...noFaults,
      redisRestart: { perMinute: isDown ? 4 : 0, least_ms: 2_000, most_ms: 9_000 },
      redisCalls: isDown
        ? noFaults.redisCalls
        : chance.pick([
            { refused: 0.1, lost: 0, ignored: 0 },
            { refused: 0.02, lost: 0.05, ignored: 0.05 }
          ]),
      cutRedis: { perMinute: chance.pick([0, 4]), least_ms: 500, most_ms: 5_000 },
      stop: { perMinute: isDown ? 0 : chance.pick([0, 2]), least_ms: 500, most_ms: 3_000 },
      preemption: options.faults.preemption
    }
  }
}

/** Owners go on for seconds when others have taken over from them, and are fenced. */
const lateOwners: Aim = (options, chance) => ({
  ...withWorkload(options, { created: 0.8, bursts: 0.1 }),
  nodes: chance.between(2, 4),
  bufferCapacity: 4,
  poolLow: 8,
  poolHigh: chance.pick([12, 30]),
  faults: {
    ...options.faults,
    move: { perMinute: chance.pick([12, 40]), least_ms: 1_000, most_ms: 15_000 },
    pause: { perMinute: chance.pick([1, 4]), least_ms: 5_000, most_ms: 12_000 }
  }
})

/** Creates are repeated when their answers are about to be dropped. In some seeds they are of aliases, mostly in another database than their guards, and fail halfway. */
const lateRepeats: Aim = (options, chance) => {
  const drawn = {
    ...withWorkload(options, { created: 0.8, withKey: 0.5 }),
    quarantine_s: 4,
    staleRedirects_s: 0,
    answersKept_s: chance.pick([12, 24])
  }
  if (chance.happens(0.4)) return drawn
  return {
    ...withWorkload(drawn, {
      withKey: 0.8,
      withAlias: 0.7,
      wished: 0,
      bursts: 0.1,
      reused: chance.pick([0, 0.3])
    }),
    databases: chance.between(2, 4),
    faults: {
      ...noFaults,
      databaseCalls: {
        refused: chance.pick([0, 0.02]),
        lost: 0.02,
        ignored: 0,
        single: {
          refused: chance.pick([0.1, 0.4]),
          lost: chance.pick([0.1, 0.4]),
          ignored: 0,
          at: ["GuardedCreates.settleMany", "GuardedCreates.bindMany", "GuardedCreates.bindMany"]
        }
      },
      kill: { perMinute: chance.pick([0, 2]), least_ms: 200, most_ms: 2_000 },
      preemption: options.faults.preemption
    }
  }
}

/** What shutdowns wait for: leases, and something else. */
const atTheEnd = (chance: Chance) =>
  [
    "KeyPool.lease",
    chance.pick([
      "KeyPool.giveBack",
      "KeyPool.push",
      "KeyRangeStore.advance",
      "KeyStock.record",
      "KeyStock.take",
      "LinkStore.insertMany",
      "LinkStore.updateMany",
      "VisitStore.write",
      "QuotaStore.leaseMany",
      "WebhookStore.delivered"
    ])
  ] as const

/** Nodes shut down one after the other, and actors move, in the midst of everything; nothing else goes wrong, so that nothing may be lost. */
const stopping: Aim = (options, chance) => {
  const drawn: SimOptions = {
    ...withWorkload(options, { created: 0.8, bursts: 0.1 }),
    nodes: chance.between(2, 4),
    keyStock: chance.pick(["none", "file", "file", options.keyStock]),
    keyStockTarget: chance.pick([30, 120]),
    bufferCapacity: chance.pick([4, 16]),
    drainDelay_ms: chance.pick([0, 0, 300]),
    faults: {
      ...noFaults,
      stop: { perMinute: chance.pick([6, 12]), least_ms: 500, most_ms: 3_000 },
      // Mostly with a lease under way.
      crashPoint: { probability: 0.12, least_ms: 500, most_ms: 3_000, at: ["send Lease"], stops: true },
      move: { perMinute: chance.pick([0, 6, 20]), least_ms: 0, most_ms: 3_000 },
      slowCalls: {
        probability: chance.pick([0, 0.1, 0.4]),
        most_ms: chance.pick([400, 1_500]),
        ...(chance.happens(0.8) && { single: { probability: 0.7, at: atTheEnd(chance) } })
      },
      // Leases are still under way when the last request has been answered.
      messages: { dropped: 0, repeated: 0, delayed: chance.pick([0, 0.4]), delay_ms: 900 },
      // So are messages to receivers that do not answer.
      webhookCalls: { refused: 0, lost: 0, ignored: chance.pick([0, 0.5]) },
      preemption: options.faults.preemption
    }
  }
  // Links are deleted and changed as often as they are made in some.
  return chance.happens(0.5) ? withWorkload(drawn, { created: 0.4, deleted: 0.4, changed: 0.3 }) : drawn
}

/** Pools and stocks so small that each key goes through everything, beside ranges that go on to longer keys. */
export const scarce = (options: SimOptions, chance: Chance): SimOptions => ({
  ...options,
  keyStock: chance.pick(["file", "file", options.keyStock]),
  keyStockTarget: chance.pick([30, 120]),
  keysPerRange: chance.pick([null, 4, 10]),
  bufferCapacity: 4,
  poolLow: 8,
  poolHigh: chance.pick([12, 30])
})

/** The stores refuse calls, or the database all writes for a while, and nothing else goes wrong: what was refused is known not to have happened, so that nothing may be lost. */
const refusals: Aim = (options, chance) => ({
  ...withWorkload(scarce(options, chance), { created: chance.pick([0.8, 0.3]), bursts: 0.1 }),
  nodes: chance.between(2, 4),
  faults: {
    ...noFaults,
    databaseCalls: { refused: chance.pick([0.03, 0.1, 0.25]), lost: 0, ignored: 0 },
    databaseReadOnly: { perMinute: chance.pick([0, 12]), least_ms: 500, most_ms: 4_000 },
    redisCalls: { refused: chance.pick([0, 0.05]), lost: 0, ignored: 0 },
    stop: { perMinute: chance.pick([3, 8]), least_ms: 500, most_ms: 3_000 },
    move: { perMinute: chance.pick([0, 0, 12]), least_ms: 0, most_ms: 3_000 },
    preemption: options.faults.preemption
  }
})

/** The answers of calls and messages are lost, or come when nobody waits any more. */
const lostAnswers: Aim = (options, chance) => ({
  ...withWorkload(scarce(options, chance), { created: 0.7, deleted: 0.1, withKey: 0.2, reused: 0.2 }),
  keyStock: chance.pick(stockKinds),
  nodes: chance.between(2, 4),
  faults: {
    ...noFaults,
    databaseCalls: { refused: 0, lost: chance.pick([0.03, 0.1]), ignored: chance.pick([0, 0.02]) },
    redisCalls: { refused: 0, lost: chance.pick([0, 0.03]), ignored: 0 },
    slowCalls: { probability: chance.pick([0, 0.1]), most_ms: 1_500 },
    messages: { dropped: chance.pick([0.005, 0.05]), repeated: 0.1, delayed: 0.1, delay_ms: 2_000 },
    move: { perMinute: chance.pick([0, 12]), least_ms: 0, most_ms: 5_000 },
    preemption: options.faults.preemption
  }
})

/** Wall clocks jump back and forth, of nodes that count by the minute and whose links expire. */
const jumpingClocks: Aim = (options, chance) => ({
  ...withWorkload(options, {
    created: 0.5,
    withExpiry: 0.3,
    withAccount: 0.5,
    remembered: chance.pick([8, 40])
  }),
  createsPerMinute: chance.pick([2, 8]),
  faults: {
    ...noFaults,
    clockJump: { perMinute: chance.pick([6, 20]), least_ms: 1_000, most_ms: 60_000 },
    cutDatabase: { perMinute: chance.pick([0, 2]), least_ms: 500, most_ms: 5_000 },
    pause: { perMinute: chance.pick([0, 2]), least_ms: 100, most_ms: 3_000 },
    preemption: options.faults.preemption
  }
})

/** The database's clock jumps, by which everything is judged, and is not right in between. */
const jumpingDatabase: Aim = (options, chance) => ({
  ...withWorkload(options, {
    created: 0.5,
    deleted: 0.1,
    withExpiry: 0.4,
    withMaxVisits: 0,
    withAccount: chance.pick([0, 0.4]),
    remembered: chance.pick([8, 40])
  }),
  quarantine_s: 4,
  staleRedirects_s: 0,
  answersKept_s: null,
  createsPerMinute: chance.pick([null, 8]),
  faults: {
    ...noFaults,
    databaseClock: {
      perMinute: chance.pick([1, 2, 4]),
      // Some steps are as small as those of a clock that is kept right.
      ...chance.pick([
        { least_ms: 20, most_ms: 900 },
        { least_ms: 3_000, most_ms: 6_000 },
        { least_ms: 3_000, most_ms: 30_000 }
      ])
    },
    databaseDrift: chance.pick([0, 10_000, -10_000]),
    kill: { perMinute: chance.pick([0, 1]), least_ms: 500, most_ms: 3_000 },
    move: { perMinute: chance.pick([0, 6]), least_ms: 0, most_ms: 3_000 },
    cutDatabase: { perMinute: chance.pick([0, 2]), least_ms: 500, most_ms: 5_000 },
    preemption: options.faults.preemption
  }
})

/** A few links of few visits are asked for at all nodes at once; answers come late, so that takes of one link wait for each other. */
const spent: Aim = (options, chance) => ({
  ...withWorkload(options, {
    created: 0.2,
    deleted: 0,
    changed: chance.pick([0, 0.05, 0.2]),
    edited: 0.7,
    withMaxVisits: 1,
    withExpiry: 0,
    withAccount: 0,
    justCreated: 0.3,
    bursts: 0.3,
    followed: 0,
    remembered: 3
  }),
  compared: true,
  nodes: chance.between(2, 4),
  faults: {
    ...noFaults,
    databaseCalls: { refused: 0, lost: chance.pick([0, 0.03]), ignored: 0 },
    slowCalls: chance.pick([
      { probability: 0.1, most_ms: chance.pick([100, 600]) },
      { probability: 0.4, most_ms: chance.pick([100, 600]) },
      { probability: 0.02, most_ms: 1_500, single: { probability: 0.5, at: ["LinkStore.takeVisits"] } }
    ]),
    // Owners are asked late, when the nodes have asked the store already.
    messages: { dropped: 0, repeated: 0, delayed: chance.pick([0, 0.4]), delay_ms: 1_200 },
    move: { perMinute: chance.pick([0, 6]), least_ms: 0, most_ms: 3_000 },
    pause: { perMinute: chance.pick([0, 2]), least_ms: 100, most_ms: 3_000 },
    preemption: options.faults.preemption
  }
})

/** Aliases whose creates often fail are asked for afterwards, and wanted by others. */
const failedAliases: Aim = (options, chance) => ({
  ...withWorkload(options, {
    created: 0.5,
    deleted: chance.pick([0, 0.1]),
    withAlias: 0.8,
    withAccount: 0,
    withKey: 0,
    wished: 0.6,
    bursts: 0.1
  }),
  ownerCacheMax: 64,
  redirectCacheMax: 64,
  faults: {
    ...noFaults,
    databaseCalls: { refused: chance.pick([0.1, 0.3]), lost: chance.pick([0, 0.1]), ignored: 0 },
    move: { perMinute: chance.pick([0, 6]), least_ms: 0, most_ms: 3_000 },
    preemption: options.faults.preemption
  }
})

/** Keys are free again soon in several databases, whose answers are lost when these are carried; nothing else goes wrong, but for kills. */
const carried: Aim = (options, chance) => ({
  ...recycled(options, chance),
  databases: chance.between(2, 3),
  keyStock: chance.pick(["table", "two-table", "status"]),
  faults: {
    ...noFaults,
    databaseCalls: {
      refused: chance.pick([0, 0.05]),
      lost: chance.pick([0.05, 0.15]),
      ignored: chance.pick([0, 0.03])
    },
    kill: { perMinute: chance.pick([0, 2]), least_ms: 200, most_ms: 2_000 },
    preemption: options.faults.preemption
  }
})

/** Visits are counted in several databases, between which their links move; writes are refused, or their answers lost. */
const movedVisits: Aim = (options, chance) => ({
  ...withWorkload(options, {
    created: 0.2,
    deleted: 0.02,
    bursts: 0.1,
    listed: chance.pick([0.02, 0.1]),
    remembered: 40
  }),
  databases: chance.between(2, 3),
  faults: {
    ...noFaults,
    databaseCalls: {
      refused: chance.pick([0.1, 0.3]),
      lost: chance.pick([0.1, 0.3]),
      ignored: chance.pick([0, 0.05])
    },
    slowCalls: { probability: chance.pick([0, 0.1]), most_ms: 1_500 },
    cutDatabase: { perMinute: chance.pick([0, 4]), least_ms: 200, most_ms: 2_000 },
    preemption: options.faults.preemption
  }
})

/** Many ask at once, of several databases that are slow, so that what nodes have in common is used up. */
const crowded: Aim = (options, chance) => ({
  ...withWorkload(options, {
    clients: 20,
    think_ms: 4_000,
    created: chance.pick([0.2, 0.6]),
    withAccount: 0,
    bursts: 0.5,
    listed: chance.pick([0.02, 0.1]),
    remembered: 400
  }),
  databases: chance.between(2, 4),
  redirectCacheMax: 4,
  ownerCacheMax: 2,
  faults: {
    ...noFaults,
    slowCalls: { probability: chance.pick([0.1, 0.4]), most_ms: chance.pick([300, 1_500]) },
    move: { perMinute: chance.pick([0, 6]), least_ms: 0, most_ms: 3_000 },
    preemption: options.faults.preemption
  }
})

/** Links that everybody asks for are changed by several at once, through owners of whom some are not the owners any more; answers come late, and the news of changes are lost again and again. */
const lateNews: Aim = (options, chance) => ({
  ...withWorkload(options, {
    created: 0.1,
    deleted: 0.02,
    changed: chance.pick([0.05, 0.1, 0.2, 0.5]),
    withAccount: 0,
    withExpiry: 0,
    withMaxVisits: 0,
    justCreated: 0.1,
    wished: 0,
    followed: 0.5,
    rivalled: 0.7,
    remembered: chance.pick([2, 5, 40])
  }),
  nodes: chance.between(2, 3),
  compared: true,
  // Of many links nodes have few at hand, and read the others.
  redirectCacheMax: chance.pick([8, 64]),
  ownerCacheMax: 64,
  faults: {
    ...noFaults,
    databaseCalls: { refused: 0, lost: 0.02, ignored: 0 },
    slowCalls: chance.pick([
      { probability: 0.4, most_ms: 3_000 },
      // Only reads are late.
      { probability: 0.05, most_ms: 3_000, single: { probability: 0.8, at: ["LinkStore.findMany"] } }
    ]),
    messages: { dropped: 0.01, repeated: chance.pick([0, 0.3]), delayed: 0.4, delay_ms: 3_000 },
    cutDatabase: { perMinute: chance.pick([0, 8]), least_ms: 300, most_ms: 2_500 },
    move: { perMinute: 30, least_ms: 4_000, most_ms: 15_000 },
    newsReset: { perMinute: chance.pick([0, 15, 60, 120]), least_ms: 0, most_ms: 600 },
    preemption: options.faults.preemption
  }
})

/** Pools forget what they have handed out, so that some links of a bulk get keys that are bound already. */
const forgottenPops: Aim = (options, chance) => ({
  ...withWorkload(scarce(options, chance), {
    created: 0.9,
    bulk: 0.5,
    withAccount: 0,
    withKey: 0,
    reused: 0
  }),
  nodes: chance.between(2, 4),
  faults: {
    ...noFaults,
    redisFailover: { perMinute: 20, least_ms: 50, most_ms: 500 },
    replicaLag_ms: chance.pick([300, 1_500]),
    preemption: options.faults.preemption
  }
})

/** The same options for a process alone over SQLite, whose machine's clock jumps: not at all, often, or now and then for so long that the first of its jumps could be believed, in which few requests come. */
const whoseClockJumps = (chance: Chance): ((options: SimOptions) => SimOptions) => {
  const how = chance.pick(["never", "often", "often", "for long"] as const)
  const jumping =
    (clockJump: SimOptions["faults"]["clockJump"]) =>
    ({ faults, ...options }: SimOptions): SimOptions => ({ ...options, faults: { ...faults, clockJump } })
  switch (how) {
    case "never":
      return (options) => options
    case "often":
      return jumping({ perMinute: chance.pick([3, 8]), least_ms: 2_000, most_ms: 60_000 })
    case "for long": {
      const nowAndThen = jumping({ perMinute: 0.5, least_ms: returnsBelow_us / ms_us, most_ms: 90_000 })
      const seldom = (how: Occasional): Occasional => ({ ...how, perMinute: how.perMinute / 10 })
      return (options) =>
        nowAndThen({
          ...withWorkload(options, { clients: 2, think_ms: 10_000, bursts: 0 }),
          faults: { ...options.faults, kill: seldom(options.faults.kill), stop: seldom(options.faults.stop) },
          faulty_s: believedAfter_ms / 1_000 + 200,
          compared: false,
          visitsSettle_s: null
        })
    }
  }
}

/** A process alone, which is killed and shut down again and again: what it has in its memory comes again from its records. Over SQLite its links are read while they change, and it is told of no change. */
const alone: Aim = (options, chance) => {
  const over = chance.pick(["sqlite", "postgres"] as const)
  const killed = chance.pick([0, 6, 12])
  // What a process had asked of SQLite does not come there after its end.
  const isSlow = over === "postgres" || killed === 0
  const drawn = withWorkload(scarce(options, chance), {
    created: chance.pick([0.2, 0.8]),
    changed: chance.pick([0.06, 0.3]),
    bursts: chance.pick([0, 0.1]),
    withAlias: chance.pick([0.1, 0.4]),
    remembered: chance.pick([4, 40])
  })
  const refused = { refused: 0.1, lost: 0, ignored: 0 }
  const lost = { refused: 0, lost: 0.05, ignored: 0.01 }
  const jumping = over === "sqlite" ? whoseClockJumps(chance) : (options: SimOptions) => options
  return jumping({
    ...aloneOver(drawn, over),
    redirectCacheMax: chance.pick([2, 64]),
    faults: {
      ...noFaults,
      kill: { perMinute: killed, least_ms: 500, most_ms: 2_000 },
      stop: { perMinute: chance.pick([0, 4]), least_ms: 500, most_ms: 3_000 },
      databaseCalls: chance.pick([noFaults.databaseCalls, refused, over === "sqlite" ? refused : lost]),
      slowCalls: { probability: isSlow ? chance.pick([0, 0.2, 0.4]) : 0, most_ms: chance.pick([300, 1_500]) },
      ...(over === "postgres" && {
        pause: { perMinute: chance.pick([0, 2]), least_ms: 100, most_ms: 3_000 },
        databaseRestart: { perMinute: chance.pick([0, 0, 2]), least_ms: 200, most_ms: 4_000 }
      }),
      preemption: options.faults.preemption
    }
  })
}

/** Changes alone are often late, by up to 5 s. */
const changesAreLate = (chance: Chance) => ({
  probability: chance.pick([0.02, 0.1]),
  most_ms: 5_000,
  single: { probability: 0.6, at: ["LinkStore.updateMany", "LinkStore.deleteMany"] as const }
})

/** A process alone over SQLite, whose few links change while they are read: it is told of no change, so that what it keeps of them it keeps for long. */
const ownChanges: Aim = (options, chance) =>
  whoseClockJumps(chance)({
    ...aloneOver(
      withWorkload(options, {
        clients: 6,
        think_ms: 700,
        created: 0.1,
        deleted: 0.02,
        changed: chance.pick([0.02, 0.05, 0.1]),
        withExpiry: 0,
        withMaxVisits: 0,
        withAccount: 0,
        justCreated: 0.05,
        followed: 0.9,
        rivalled: 0,
        bursts: 0.1,
        remembered: chance.pick([3, 6])
      }),
      "sqlite"
    ),
    redirectCacheMax: chance.pick([1, 2, 64]),
    ownerCacheMax: chance.pick([1, 2, 16]),
    faults: {
      ...noFaults,
      databaseCalls: { refused: chance.pick([0, 0.05]), lost: 0, ignored: 0 },
      // Some changes take longer than their callers wait.
      slowCalls: chance.pick([
        { probability: chance.pick([0.2, 0.5]), most_ms: 500 },
        changesAreLate(chance),
        changesAreLate(chance)
      ]),
      preemption: options.faults.preemption
    }
  })

const noAim: Aim = (options) => options

/** All of them, which seeds have in turns: some more often than others. */
export const aims = [
  alone,
  noAim,
  ownChanges,
  alone,
  jumpingDatabase,
  stopping,
  stopping,
  refusals,
  refusals,
  hotStale,
  recycled,
  crashAtStep,
  crashAtStep,
  slowStores,
  usedUpDays,
  failingReceivers,
  guessing,
  failingPools,
  lateOwners,
  lateRepeats,
  lostAnswers,
  jumpingClocks,
  lateNews,
  lateNews,
  forgottenPops,
  spent,
  failedAliases,
  carried,
  movedVisits,
  crowded
]

/** The calls that some of them are about. */
export const callsOf: ReadonlyMap<Aim, ReadonlyArray<string>> = new Map([
  [hotStale, ["LinkStore.findMany", "LinkStore.updateMany", "LinkStore.deleteMany"]],
  [recycled, ["LinkLifetime.recycle", "LinkStore.insertMany", "LinkStore.deleteMany", "KeyStock.fill"]],
  [usedUpDays, ["QuotaStore.leaseMany", "LinkStore.takeVisits"]],
  [guessing, ["QuotaStore.leaseMany", "LinkStore.findMany"]],
  [failingReceivers, ["WebhookStore.claim", "WebhookStore.delivered", "WebhookStore.failed"]],
  [failingPools, ["KeyPool.lease", "KeyPool.push", "KeyPool.giveBack"]],
  [lateOwners, ["KeyPool.claim", "KeyPool.push", "KeyStock.claim", "KeyStock.record", "KeyStock.take"]],
  [lateRepeats, ["GuardedCreates.beginMany", "GuardedCreates.bindMany", "GuardedCreates.settleMany"]],
  [jumpingClocks, ["QuotaStore.leaseMany", "VisitStore.write"]],
  [failedAliases, ["LinkStore.insertMany", "LinkStore.findMany", "DomainStore.read"]],
  [forgottenPops, ["LinkStore.takenAmong", "LinkStore.insertMany", "KeyPool.lease"]],
  [movedVisits, ["VisitStore.write", "VisitStore.isWritten", "BucketPlacement.read"]],
  [crowded, ["LinkStore.findMany", "LinkStore.insertMany", "LinkStore.list"]]
])
