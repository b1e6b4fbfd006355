import type { FaultOptions, Occasional, SimOptions } from "../cli/Options.ts"
import type { Chance } from "../world/Chance.ts"

/** Does not come. */
export const never: Occasional = { perMinute: 0, least_ms: 0, most_ms: 0 }

/** Nothing goes wrong. */
export const noFaults: FaultOptions = {
  kill: never,
  crashPoint: { probability: 0, least_ms: 0, most_ms: 0, at: null, stops: false },
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
  newsReset: never,
  slowNews: { probability: 0, most_ms: 0 },
  databaseCalls: { refused: 0, lost: 0, ignored: 0 },
  redisRestart: never,
  redisFailover: never,
  redisLoss: never,
  redisFull: never,
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

/** Each fault once in a while. */
export const liteFaults: FaultOptions = {
  kill: { perMinute: 1, least_ms: 500, most_ms: 5_000 },
  crashPoint: { probability: 0.0002, least_ms: 500, most_ms: 5_000, at: null, stops: false },
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
  newsReset: never,
  slowNews: { probability: 0, most_ms: 0 },
  databaseCalls: { refused: 0.002, lost: 0.001, ignored: 0.001 },
  redisRestart: { perMinute: 0.3, least_ms: 100, most_ms: 5_000 },
  redisFailover: { perMinute: 0.5, least_ms: 500, most_ms: 4_000 },
  redisLoss: { perMinute: 0.3, least_ms: 100, most_ms: 5_000 },
  redisFull: never,
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

/** Where processes are paused, they are for longer in some seeds than most clients wait. */
export const withLongPauses = (options: SimOptions, chance: Chance): SimOptions =>
  options.faults.pause.perMinute === 0 || !chance.happens(0.25)
    ? options
    : { ...options, faults: { ...options.faults, pause: { perMinute: 4, least_ms: 3_000, most_ms: 12_000 } } }

/** So few connections to the database that calls wait for them. */
export const fewConnections = 3

export const failAtAll = ({ ignored, lost, refused }: FaultOptions["redisCalls"]): boolean =>
  refused + lost + ignored > 0

/** Whether calls of the database fail by chance, and others may as well without harm to those that wait for a connection. */
export const mayDatabaseCallsFail = ({ alone, connectionsMax, faults }: SimOptions): boolean =>
  failAtAll(faults.databaseCalls) && alone !== "sqlite" && connectionsMax > fewConnections

/** Whether calls of few operations may be late again and again: without harm to those that wait for a connection, and not of a process over SQLite that is killed, since what it had asked does not come there after its end. */
export const mayCallsBeLate = ({ alone, connectionsMax, faults }: SimOptions): boolean =>
  faults.slowCalls.single === undefined &&
  connectionsMax > fewConnections &&
  (alone !== "sqlite" || faults.kill.perMinute + faults.crashPoint.probability === 0)

/** Every fault `weight(name)` times as often. */
export const weighted = (
  faults: FaultOptions,
  weight: (name: keyof FaultOptions) => number
): FaultOptions => {
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
    newsReset: faults.newsReset,
    slowNews: faults.slowNews,
    databaseCalls: calls("databaseCalls"),
    slowCalls: { ...faults.slowCalls, probability: faults.slowCalls.probability * weight("slowCalls") },
    redisRestart: often("redisRestart"),
    redisFailover: often("redisFailover"),
    redisLoss: often("redisLoss"),
    redisFull: faults.redisFull,
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
