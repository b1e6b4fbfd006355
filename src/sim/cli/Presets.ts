import type { FaultOptions, Occasional, SimOptions } from "./Options.ts"
import { poolKinds } from "../../storage/keys/KeyPool.ts"
import { stockKinds } from "../../storage/keys/KeyStock.ts"
import { Chance } from "../world/Chance.ts"

const never: Occasional = { perMinute: 0, least_ms: 0, most_ms: 0 }

/** Nothing goes wrong. */
export const noFaults: FaultOptions = {
  kill: never,
  crashPoint: { probability: 0, least_ms: 0, most_ms: 0, at: null },
  stop: never,
  pause: never,
  clockJump: never,
  cutNodes: never,
  cutDatabase: never,
  cutRedis: never,
  databaseRestart: never,
  databaseFailover: never,
  databaseLag_ms: 0,
  formerPrimary_ms: 0,
  standbyRoutes_ms: 0,
  databaseClock: never,
  databaseDrift: 0,
  databaseFull: never,
  databaseSlow: never,
  databaseReadOnly: never,
  databaseCalls: { refused: 0, lost: 0, ignored: 0 },
  redisRestart: never,
  redisFailover: never,
  redisLoss: never,
  redisCalls: { refused: 0, lost: 0, ignored: 0 },
  slowCalls: { probability: 0, most_ms: 0 },
  webhookCalls: { refused: 0, lost: 0, ignored: 0 },
  replicaLag_ms: 0,
  messages: { dropped: 0, repeated: 0, delayed: 0, delay_ms: 0 },
  move: never,
  bucketMove: never,
  moverCrash: 0,
  preemption: 0
}

/** A small deployment, so that a few requests go through everything: refills, other shards, other owners. */
const calm: SimOptions = {
  level: "actors",
  nodes: 3,
  databases: 1,
  connectionsMax: 20,
  pools: 2,
  keyOrder: "permuted",
  keyPool: "list",
  keysPerRange: null,
  bufferCapacity: 16,
  redirectCacheMax: 64,
  ownerCacheMax: 16,
  staleRedirects_s: 0,
  poolLow: 20,
  poolHigh: 60,
  keyStock: "none",
  keyStockTarget: 0,
  quarantine_s: 20,
  answersKept_s: null,
  witnessed: false,
  compared: false,
  createsPerMinute: null,
  faulty_s: 42,
  calm_s: 20,
  workload: {
    clients: 6,
    think_ms: 1_230,
    created: 0.53,
    deleted: 0.04,
    changed: 0.06,
    withAlias: 0.1,
    withLongAlias: 0,
    withKey: 0.08,
    reused: 0.06,
    bulk: 0.02,
    withExpiry: 0.1,
    withMaxVisits: 0.1,
    withChoices: 0,
    edited: 0,
    listed: 0,
    withAccount: 0,
    withDomain: 0.2,
    justCreated: 0.4,
    wished: 0.05,
    bursts: 0.02,
    followed: 0,
    rivalled: 0,
    remembered: 400
  },
  faults: noFaults
}

/** Each fault once in a while. */
const liteFaults: FaultOptions = {
  kill: { perMinute: 1, least_ms: 500, most_ms: 5_000 },
  crashPoint: { probability: 0.0002, least_ms: 500, most_ms: 5_000, at: null },
  stop: { perMinute: 0.5, least_ms: 500, most_ms: 3_000 },
  pause: { perMinute: 1, least_ms: 100, most_ms: 12_000 },
  clockJump: { perMinute: 0.5, least_ms: 10, most_ms: 60_000 },
  cutNodes: { perMinute: 0.5, least_ms: 500, most_ms: 10_000 },
  cutDatabase: { perMinute: 0.5, least_ms: 500, most_ms: 10_000 },
  cutRedis: { perMinute: 0.5, least_ms: 500, most_ms: 10_000 },
  databaseRestart: { perMinute: 0.3, least_ms: 100, most_ms: 4_000 },
  databaseFailover: { perMinute: 0.2, least_ms: 500, most_ms: 4_000 },
  databaseLag_ms: 0,
  formerPrimary_ms: 0,
  standbyRoutes_ms: 3_000,
  databaseClock: never,
  databaseDrift: 0,
  databaseFull: { perMinute: 0.1, least_ms: 200, most_ms: 4_000 },
  databaseSlow: { perMinute: 0.1, least_ms: 500, most_ms: 8_000 },
  databaseReadOnly: { perMinute: 0.1, least_ms: 200, most_ms: 4_000 },
  databaseCalls: { refused: 0.002, lost: 0.001, ignored: 0.001 },
  redisRestart: { perMinute: 0.3, least_ms: 100, most_ms: 5_000 },
  redisFailover: { perMinute: 0.5, least_ms: 500, most_ms: 4_000 },
  redisLoss: { perMinute: 0.3, least_ms: 100, most_ms: 5_000 },
  redisCalls: { refused: 0.002, lost: 0.001, ignored: 0.001 },
  slowCalls: { probability: 0.002, most_ms: 2_000 },
  webhookCalls: { refused: 0.03, lost: 0.02, ignored: 0.01 },
  replicaLag_ms: 500,
  messages: { dropped: 0.001, repeated: 0.002, delayed: 0.01, delay_ms: 500 },
  move: { perMinute: 3, least_ms: 0, most_ms: 5_000 },
  bucketMove: never,
  moverCrash: 0,
  preemption: 0.02
}

const moreOften = ({ least_ms, most_ms, perMinute }: Occasional, times: number): Occasional => ({
  perMinute: perMinute * times,
  least_ms,
  most_ms
})

/** Every fault `weight(name)` times as often. */
const weighted = (faults: FaultOptions, weight: (name: keyof FaultOptions) => number): FaultOptions => {
  const often = (name: keyof FaultOptions) => moreOften(faults[name] as Occasional, weight(name))
  const calls = (name: "databaseCalls" | "redisCalls" | "webhookCalls") => ({
    refused: faults[name].refused * weight(name),
    lost: faults[name].lost * weight(name),
    ignored: faults[name].ignored * weight(name)
  })
  return {
    kill: often("kill"),
    crashPoint: { ...faults.crashPoint, probability: faults.crashPoint.probability * weight("crashPoint") },
    stop: often("stop"),
    pause: often("pause"),
    clockJump: often("clockJump"),
    cutNodes: often("cutNodes"),
    cutDatabase: often("cutDatabase"),
    cutRedis: often("cutRedis"),
    databaseRestart: often("databaseRestart"),
    databaseFailover: faults.databaseFailover,
    databaseLag_ms: faults.databaseLag_ms,
    formerPrimary_ms: faults.formerPrimary_ms,
    standbyRoutes_ms: faults.standbyRoutes_ms,
    databaseClock: faults.databaseClock,
    databaseDrift: faults.databaseDrift,
    databaseFull: faults.databaseFull,
    databaseSlow: faults.databaseSlow,
    databaseReadOnly: faults.databaseReadOnly,
    databaseCalls: calls("databaseCalls"),
    slowCalls: { ...faults.slowCalls, probability: faults.slowCalls.probability * weight("slowCalls") },
    redisRestart: often("redisRestart"),
    redisFailover: often("redisFailover"),
    redisLoss: often("redisLoss"),
    redisCalls: calls("redisCalls"),
    webhookCalls: calls("webhookCalls"),
    replicaLag_ms: Math.round(faults.replicaLag_ms * Math.max(1, weight("redisFailover"))),
    messages: {
      dropped: faults.messages.dropped * weight("messages"),
      repeated: faults.messages.repeated * weight("messages"),
      delayed: faults.messages.delayed * weight("messages"),
      delay_ms: faults.messages.delay_ms
    },
    move: often("move"),
    bucketMove: faults.bucketMove,
    moverCrash: faults.moverCrash,
    preemption: faults.preemption
  }
}

/** How often each kind of fault comes in a seed: some not at all, some seldom, some often. */
const drawnWeights = (chance: Chance) => {
  const weights = new Map<string, number>()
  return (name: string) => {
    const known = weights.get(name) ?? chance.pick([0, 0.5, 1, 1, 2, 6])
    weights.set(name, known)
    return known
  }
}

const drawnSizes = (chance: Chance) => {
  const capacity = chance.pick([4, 16, 32])
  const low = capacity + chance.below(20)
  return {
    nodes: chance.between(1, 4),
    pools: chance.between(1, 3),
    bufferCapacity: capacity,
    poolLow: low,
    poolHigh: low + chance.between(10, 80)
  }
}

/** What speed is measured with: deployments of one kind whose clients always do much the same, under faults that differ from seed to seed. */
const steady = (seed: number): SimOptions => {
  const chance = new Chance(seed, "steady")
  const weight = drawnWeights(chance)
  return {
    ...calm,
    ...drawnSizes(chance),
    workload: {
      ...calm.workload,
      bursts: chance.pick([0, 0.02, 0.1]),
      deleted: chance.pick([0, 0.04, 0.15]),
      changed: chance.pick([0, 0.06, 0.2]),
      withKey: chance.pick([0, 0.08, 0.2]),
      reused: chance.pick([0, 0.06, 0.12]),
      bulk: chance.pick([0, 0.02, 0.05])
    },
    faults: { ...weighted(liteFaults, weight), preemption: chance.pick([0, 0.01, 0.02]) }
  }
}

/** The steps of protocols at which a node is killed in some seeds: calls of stores, and messages to other nodes. */
export const protocolSteps: ReadonlyArray<string> = [
  "KeyRangeStore.advance",
  "KeyStock.claim",
  "KeyStock.record",
  "KeyStock.take",
  "KeyStock.openBatches",
  "KeyStock.close",
  "KeyStock.fill",
  "KeyPool.claim",
  "KeyPool.push",
  "KeyPool.lease",
  "KeyPool.giveBack",
  "KeyFile.append",
  "KeyFile.take",
  "LinkStore.insertMany",
  "LinkStore.updateMany",
  "LinkStore.deleteMany",
  "LinkStore.takeVisits",
  "LinkStore.takenAmong",
  "GuardedCreates.beginMany",
  "GuardedCreates.bindMany",
  "LinkLifetime.expireSome",
  "LinkLifetime.recycle",
  "VisitStore.write"
]

/** What chance alone hardly ever brings together, and some seeds therefore aim at. */
type Aim = (options: SimOptions, chance: Chance) => SimOptions

const withWorkload = (options: SimOptions, workload: Partial<SimOptions["workload"]>): SimOptions => ({
  ...options,
  workload: { ...options.workload, ...workload }
})

/** Links that everybody asks for are changed and deleted, while nodes are cut off and paused. */
const hotStale: Aim = (options, chance) => ({
  ...withWorkload(options, {
    created: 0.15,
    deleted: chance.pick([0.02, 0.06]),
    changed: 0.2,
    withMaxVisits: 0,
    withExpiry: 0,
    justCreated: 0.1,
    followed: 0.6,
    remembered: chance.pick([3, 8])
  }),
  nodes: chance.between(2, 4),
  quarantine_s: 4,
  staleRedirects_s: chance.pick([0, 1.2, 2.8]),
  faults: {
    ...options.faults,
    cutDatabase: { perMinute: chance.pick([4, 12]), least_ms: 1_500, most_ms: chance.pick([4_000, 12_000]) },
    pause: { perMinute: 4, least_ms: 100, most_ms: 4_000 }
  }
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

/** Nodes are killed at one step of a protocol, each time that some come to it. */
const crashAtStep: Aim = (options, chance) => ({
  ...options,
  faults: {
    ...options.faults,
    crashPoint: { probability: 0.1, least_ms: 100, most_ms: 3_000, at: chance.pick(protocolSteps) }
  }
})

/** The stores answer many calls late, and not in the order in which they were put. */
const slowStores: Aim = (options, chance) => ({
  ...withWorkload(options, {
    deleted: 0.1,
    changed: 0.15,
    withMaxVisits: 0.2,
    withAccount: chance.pick([0.15, 0.3]),
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

/** Pushes and leases fail, by the pool alone: an owner is hardly ever fenced, so that it goes on with what it knows. */
const failingPools: Aim = (options, chance) => ({
  ...withWorkload(options, { created: 0.8 }),
  bufferCapacity: 4,
  poolLow: 8,
  poolHigh: chance.pick([12, 30]),
  faults: {
    ...noFaults,
    redisCalls: chance.pick([
      { refused: 0.1, lost: 0, ignored: 0 },
      { refused: 0.02, lost: 0.05, ignored: 0.05 }
    ]),
    cutRedis: { perMinute: chance.pick([0, 4]), least_ms: 500, most_ms: 5_000 },
    stop: { perMinute: chance.pick([0, 2]), least_ms: 500, most_ms: 3_000 },
    preemption: options.faults.preemption
  }
})

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

/** Creates are repeated when their answers are about to be dropped. */
const lateRepeats: Aim = (options, chance) => ({
  ...withWorkload(options, { created: 0.8, withKey: 0.5 }),
  quarantine_s: 4,
  staleRedirects_s: 0,
  answersKept_s: chance.pick([12, 24])
})

/** Nodes shut down one after the other, and actors move, in the midst of everything; nothing else goes wrong, so that nothing may be lost. */
const stopping: Aim = (options, chance) => ({
  ...withWorkload(options, { created: 0.8, bursts: 0.1 }),
  nodes: chance.between(2, 4),
  keyStock: chance.pick(["none", "file", "file", options.keyStock]),
  keyStockTarget: chance.pick([30, 120]),
  bufferCapacity: chance.pick([4, 16]),
  faults: {
    ...noFaults,
    stop: { perMinute: chance.pick([6, 12]), least_ms: 500, most_ms: 3_000 },
    move: { perMinute: chance.pick([0, 6, 20]), least_ms: 0, most_ms: 3_000 },
    slowCalls: { probability: chance.pick([0, 0.1, 0.4]), most_ms: 400 },
    preemption: options.faults.preemption
  }
})

/** Pools and stocks so small that each key goes through everything, beside ranges that go on to longer keys. */
const scarce = (options: SimOptions, chance: Chance): SimOptions => ({
  ...options,
  keyStock: chance.pick(["file", "file", options.keyStock]),
  keyStockTarget: chance.pick([30, 120]),
  keysPerRange: chance.pick([null, 4, 10]),
  bufferCapacity: 4,
  poolLow: 8,
  poolHigh: chance.pick([12, 30])
})

/** The stores refuse calls, and nothing else goes wrong: what was refused is known not to have happened, so that nothing may be lost. */
const refusals: Aim = (options, chance) => ({
  ...withWorkload(scarce(options, chance), { created: chance.pick([0.8, 0.3]), bursts: 0.1 }),
  nodes: chance.between(2, 4),
  faults: {
    ...noFaults,
    databaseCalls: { refused: chance.pick([0.03, 0.1, 0.25]), lost: 0, ignored: 0 },
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
      least_ms: 3_000,
      most_ms: chance.pick([6_000, 30_000])
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
    changed: chance.pick([0, 0.1]),
    withMaxVisits: 1,
    withExpiry: 0,
    withAccount: 0,
    justCreated: 0.3,
    bursts: 0.3,
    followed: 0,
    remembered: 3
  }),
  nodes: chance.between(2, 4),
  faults: {
    ...noFaults,
    databaseCalls: { refused: 0, lost: chance.pick([0, 0.03]), ignored: 0 },
    slowCalls: { probability: chance.pick([0.1, 0.4]), most_ms: chance.pick([100, 600]) },
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

/** Keys are free again soon in several databases, and answers are lost when they are carried. */
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
  ...withWorkload(options, { created: 0.2, deleted: 0.02, bursts: 0.1, remembered: 40 }),
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

const noAim: Aim = (options) => options

const aims = [
  jumpingDatabase,
  stopping,
  refusals,
  hotStale,
  recycled,
  crashAtStep,
  slowStores,
  failingPools,
  lateOwners,
  lateRepeats,
  stopping,
  refusals,
  lostAnswers,
  jumpingClocks
]

/** The database fails over, in some seeds to a standby that has not been given the last commits: what of the witnesses is left knows, and users' tables are left alone. */
const withStandby = (options: SimOptions, chance: Chance): SimOptions => {
  // Whether a tombstone is older than a recovery is told by the clock that jumps.
  if (!chance.happens(0.2) || options.faults.databaseClock.perMinute > 0) return options
  const databaseLag_ms = chance.pick([0, 100, 600, 3_000])
  const databaseFailover = { perMinute: chance.pick([1, 4]), least_ms: 200, most_ms: 4_000 }
  const formerPrimary_ms = chance.pick([0, 0, 1_000, 6_000])
  const standbyRoutes_ms = new Chance(chance.below(2 ** 31), "routes").pick([0, 3_000])
  const faults = { ...options.faults, databaseFailover, databaseLag_ms, formerPrimary_ms, standbyRoutes_ms }
  if (databaseLag_ms === 0) return { ...options, witnessed: true, faults }
  // Where keys leave the database all the time, moves of them are among what it forgets.
  const isHungry = chance.happens(0.5)
  const drawn = isHungry ? withWorkload(scarce(options, chance), { created: 0.8, bursts: 0.1 }) : options
  return {
    ...withWorkload(drawn, { withAccount: 0 }),
    witnessed: true,
    // Of several nodes only in the simulation: a database that they share has none.
    keyStock: drawn.keyStock === "file" ? "table" : drawn.keyStock,
    faults: {
      ...faults,
      ...(isHungry && { databaseFailover: { perMinute: 12, least_ms: 50, most_ms: 2_000 } }),
      redisFailover: never,
      redisLoss: never
    }
  }
}

/** Links that everybody asks for are changed by several at once, through owners of whom some are not the owners any more; answers come late, and the news of changes are lost again and again. */
const lateNews: Aim = (options, chance) => ({
  ...withWorkload(options, {
    created: 0.1,
    deleted: 0.02,
    changed: chance.pick([0.1, 0.4]),
    withAccount: 0,
    withExpiry: 0,
    withMaxVisits: 0,
    justCreated: 0.1,
    wished: 0,
    followed: 0.5,
    rivalled: 0.7,
    remembered: chance.pick([2, 8])
  }),
  nodes: chance.between(2, 3),
  redirectCacheMax: 64,
  ownerCacheMax: 64,
  faults: {
    ...noFaults,
    databaseCalls: { refused: 0, lost: 0.02, ignored: 0 },
    slowCalls: { probability: 0.4, most_ms: 3_000 },
    messages: { dropped: 0.01, repeated: chance.pick([0, 0.2]), delayed: 0.2, delay_ms: 3_000 },
    cutDatabase: { perMinute: chance.pick([0, 8]), least_ms: 300, most_ms: 2_500 },
    move: { perMinute: 30, least_ms: 4_000, most_ms: 15_000 },
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

/** What is seldom even among what seeds aim at, drawn apart from it. */
const withRarities = (options: SimOptions, chance: Chance): SimOptions =>
  chance.happens(0.4)
    ? chance.pick([lateNews, lateNews, forgottenPops, spent, failedAliases, carried, movedVisits, crowded])(
        options,
        chance
      )
    : options

/** The database is there, and something is wrong with it. */
const withAilments = (options: SimOptions, chance: Chance): SimOptions => {
  if (!chance.happens(0.2)) return options
  const drawn = (fault: Occasional) => ({ ...fault, perMinute: chance.pick([0, 1, 4]) })
  const { databaseFull, databaseReadOnly, databaseSlow } = liteFaults
  return {
    ...options,
    faults: {
      ...options.faults,
      databaseFull: drawn(databaseFull),
      databaseSlow: drawn(databaseSlow),
      databaseReadOnly: drawn(databaseReadOnly)
    }
  }
}

/** Few connections, for which calls wait: where none is given up unanswered, since a pool opens no others for 15 s when it has given up as many as it may have. */
const withFewConnections = (options: SimOptions, chance: Chance): SimOptions => {
  const { cutDatabase, databaseCalls, databaseFailover, databaseRestart, databaseSlow, pause, slowCalls } =
    options.faults
  const faults = [cutDatabase, databaseFailover, databaseRestart, databaseSlow, pause]
  const isAnswered =
    faults.every(({ perMinute }) => perMinute === 0) &&
    databaseCalls.lost + databaseCalls.ignored === 0 &&
    slowCalls.most_ms * slowCalls.probability < 500
  return isAnswered ? { ...options, connectionsMax: chance.pick([20, 3]) } : options
}

/** Further steps at which nodes are killed where there are several databases. */
const stepsOfSeveral = ["BucketPlacement.read", "LinkCarrier.leave", "LinkCarrier.arrive"] as const

/** So many databases have links; between several of them buckets move. Then there is no standby that lags: see `SimOptions`. */
export const withDatabases = (options: SimOptions, databases: number, seed: number): SimOptions => {
  if (databases === 1)
    return { ...options, databases, faults: { ...options.faults, bucketMove: never, moverCrash: 0 } }
  const chance = new Chance(seed, "moves")
  return {
    ...options,
    databases,
    faults: {
      ...options.faults,
      databaseLag_ms: 0,
      bucketMove: {
        perMinute: chance.pick([3, 8, 20]),
        least_ms: 1_000,
        most_ms: chance.pick([1_500, 8_000])
      },
      moverCrash: chance.pick([0, 0.02, 0.1]),
      crashPoint: {
        ...options.faults.crashPoint,
        at:
          options.faults.crashPoint.at === null
            ? null
            : chance.pick([options.faults.crashPoint.at, ...stepsOfSeveral])
      }
    }
  }
}

/** Everything that can be drawn is: the deployment's shape and sizes, what clients do, and which faults come how often. */
const swarm = (seed: number): SimOptions => {
  const chance = new Chance(seed, "swarm")
  const weight = drawnWeights(chance)
  const quarantine_s = chance.pick([4, 10, 20])
  const clients = chance.pick([2, 6, 20])
  const choices = new Chance(seed, "choices")
  const drawn: SimOptions = {
    ...calm,
    ...drawnSizes(chance),
    keyOrder: chance.pick(["permuted", "permuted", "sequential", "random"]),
    keyPool: chance.pick(poolKinds),
    keysPerRange: chance.pick([null, null, null, 10, 30]),
    redirectCacheMax: chance.pick([4, 64, 64]),
    ownerCacheMax: chance.pick([2, 16, 64]),
    staleRedirects_s: quarantine_s * chance.pick([0, 0, 0.3, 0.7]),
    keyStock: chance.pick(["none", ...stockKinds]),
    keyStockTarget: chance.pick([0, 30, 120]),
    quarantine_s,
    answersKept_s: chance.pick([null, 12, 24]),
    createsPerMinute: chance.pick([null, 2, 8]),
    witnessed: new Chance(seed, "witnesses").happens(1 / 3),
    compared: new Chance(seed, "compared stores").happens(2 / 3),
    workload: {
      clients,
      think_ms: Math.round((1_000 * clients) / chance.pick([2, 5, 9, 18])),
      created: chance.pick([0.2, 0.53, 0.8]),
      deleted: chance.pick([0, 0.04, 0.15]),
      changed: chance.pick([0, 0.06, 0.2]),
      withAlias: chance.pick([0, 0.1, 0.3]),
      withLongAlias: new Chance(seed, "long aliases").pick([0, 0, 0.3]),
      withKey: chance.pick([0, 0.08, 0.2]),
      reused: chance.pick([0, 0.06, 0.12]),
      bulk: chance.pick([0, 0.02, 0.05]),
      withExpiry: chance.pick([0, 0.1, 0.4]),
      withMaxVisits: chance.pick([0, 0.1, 0.3]),
      withChoices: choices.pick([0, 0, 0.1, 0.4]),
      edited: choices.pick([0, 0, 0.3, 0.7]),
      listed: choices.pick([0, 0, 0.02]),
      withAccount: chance.pick([0, 0, 0.2, 0.5]),
      withDomain: new Chance(seed, "domains").pick([0, 0.2, 0.6]),
      justCreated: chance.pick([0.1, 0.4, 0.8]),
      wished: chance.pick([0, 0.05, 0.2]),
      bursts: chance.pick([0, 0.02, 0.1]),
      followed: new Chance(seed, "followers").pick([0, 0.3, 0.6]),
      rivalled: new Chance(seed, "rivals").pick([0, 0, 0.4]),
      remembered: chance.pick([5, 40, 400])
    },
    faults: { ...weighted(liteFaults, weight), preemption: chance.pick([0, 0.01, 0.02]) }
  }
  const aimed = chance.pick([noAim, noAim, noAim, noAim, ...aims])(drawn, chance)
  const rare = withRarities(aimed, new Chance(seed, "rarities"))
  const ailing = withAilments(withStandby(rare, new Chance(seed, "standby")), new Chance(seed, "ailments"))
  const drawnDatabases = new Chance(seed, "databases").pick([1, 1, 1, 1, 1, 1, 2, 3, 3, 4])
  const databases = Math.max(ailing.databases, drawnDatabases)
  return withDatabases(withFewConnections(ailing, new Chance(seed, "connections")), databases, seed)
}

/** The presets, by name: each makes the options of a seed. */
export const presets = {
  calm: () => calm,
  lite: () => ({ ...calm, witnessed: true, compared: true, faults: liteFaults }),
  swarm,
  steady,
  cruel: () => ({ ...calm, witnessed: true, faults: weighted(liteFaults, () => 5) })
} satisfies Record<string, (seed: number) => SimOptions>

/** See {@link presets}. */
export type PresetName = keyof typeof presets
