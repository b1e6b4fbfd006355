import type { FaultOptions, Occasional, SimOptions } from "./Options.ts"
import { Chance } from "../world/Chance.ts"

const never: Occasional = { perMinute: 0, least_ms: 0, most_ms: 0 }

/** Nothing goes wrong. */
export const noFaults: FaultOptions = {
  kill: never,
  crashPoint: { probability: 0, least_ms: 0, most_ms: 0 },
  stop: never,
  pause: never,
  clockJump: never,
  cutNodes: never,
  cutDatabase: never,
  cutRedis: never,
  databaseRestart: never,
  databaseCalls: { refused: 0, lost: 0, ignored: 0 },
  redisRestart: never,
  redisFailover: never,
  redisLoss: never,
  redisCalls: { refused: 0, lost: 0, ignored: 0 },
  replicaLag_ms: 0,
  messages: { dropped: 0, repeated: 0, delayed: 0, delay_ms: 0 },
  move: never,
  preemption: 0
}

/** A small deployment, so that a few requests go through everything: refills, other shards, other owners. */
const calm: SimOptions = {
  level: "actors",
  nodes: 3,
  pools: 2,
  keyOrder: "permuted",
  keyPool: "list",
  bufferCapacity: 16,
  poolLow: 20,
  poolHigh: 60,
  keyStock: "none",
  keyStockTarget: 0,
  quarantine_s: 20,
  faulty_s: 42,
  calm_s: 20,
  workload: {
    clients: 6,
    think_ms: 1_230,
    created: 0.53,
    deleted: 0.04,
    changed: 0.06,
    withAlias: 0.1,
    withKey: 0.08,
    reused: 0.06,
    bulk: 0.02,
    withExpiry: 0.1,
    withMaxVisits: 0.1,
    justCreated: 0.4,
    wished: 0.05,
    bursts: 0.02
  },
  faults: noFaults
}

/** Each fault once in a while. */
const liteFaults: FaultOptions = {
  kill: { perMinute: 1, least_ms: 500, most_ms: 5_000 },
  crashPoint: { probability: 0.0002, least_ms: 500, most_ms: 5_000 },
  stop: { perMinute: 0.5, least_ms: 500, most_ms: 3_000 },
  pause: { perMinute: 1, least_ms: 100, most_ms: 12_000 },
  clockJump: { perMinute: 0.5, least_ms: 10, most_ms: 60_000 },
  cutNodes: { perMinute: 0.5, least_ms: 500, most_ms: 10_000 },
  cutDatabase: { perMinute: 0.5, least_ms: 500, most_ms: 10_000 },
  cutRedis: { perMinute: 0.5, least_ms: 500, most_ms: 10_000 },
  databaseRestart: { perMinute: 0.3, least_ms: 100, most_ms: 4_000 },
  databaseCalls: { refused: 0.002, lost: 0.001, ignored: 0.001 },
  redisRestart: { perMinute: 0.3, least_ms: 100, most_ms: 5_000 },
  redisFailover: { perMinute: 0.5, least_ms: 500, most_ms: 4_000 },
  redisLoss: { perMinute: 0.3, least_ms: 100, most_ms: 5_000 },
  redisCalls: { refused: 0.002, lost: 0.001, ignored: 0.001 },
  replicaLag_ms: 500,
  messages: { dropped: 0.001, repeated: 0.002, delayed: 0.01, delay_ms: 500 },
  move: { perMinute: 3, least_ms: 0, most_ms: 5_000 },
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
  const calls = (name: "databaseCalls" | "redisCalls") => ({
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
    databaseCalls: calls("databaseCalls"),
    redisRestart: often("redisRestart"),
    redisFailover: often("redisFailover"),
    redisLoss: often("redisLoss"),
    redisCalls: calls("redisCalls"),
    replicaLag_ms: Math.round(faults.replicaLag_ms * Math.max(1, weight("redisFailover"))),
    messages: {
      dropped: faults.messages.dropped * weight("messages"),
      repeated: faults.messages.repeated * weight("messages"),
      delayed: faults.messages.delayed * weight("messages"),
      delay_ms: faults.messages.delay_ms
    },
    move: often("move"),
    preemption: faults.preemption
  }
}

/** The mix of a seed: some kinds of faults not at all, some seldom, some often; and a deployment of any shape. */
const swarm = (seed: number): SimOptions => {
  const chance = new Chance(seed, "swarm")
  const weights = new Map<string, number>()
  const weight = (name: string) => {
    const known = weights.get(name) ?? chance.pick([0, 0.5, 1, 1, 2, 6])
    weights.set(name, known)
    return known
  }
  const capacity = chance.pick([4, 16, 32])
  const low = capacity + chance.below(20)
  return {
    ...calm,
    nodes: chance.between(1, 4),
    pools: chance.between(1, 3),
    bufferCapacity: capacity,
    poolLow: low,
    poolHigh: low + chance.between(10, 80),
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

/** The presets, by name: each makes the options of a seed. */
export const presets = {
  calm: () => calm,
  lite: () => ({ ...calm, faults: liteFaults }),
  swarm,
  cruel: () => ({ ...calm, faults: weighted(liteFaults, () => 5) })
} satisfies Record<string, (seed: number) => SimOptions>

/** See {@link presets}. */
export type PresetName = keyof typeof presets
