import type { Occasional, SimOptions } from "../cli/Options.ts"
import { Chance } from "../world/Chance.ts"
import { scarce, withWorkload } from "./Aims.ts"
import { fewConnections, liteFaults, mayDatabaseCallsFail, never } from "./Faults.ts"

/** Calls that take keys out of the database are often late. */
const answersOfFormer = {
  probability: 0,
  most_ms: 2_500,
  single: {
    probability: 0.6,
    at: ["KeyRangeStore.advance", "KeyStock.take"] as const
  }
}

/** The database fails over, in some seeds to a standby that has not been given the last commits: what of the witnesses is left knows, and users' tables are left alone. */
export const withStandby = (options: SimOptions, chance: Chance): SimOptions => {
  // Whether a tombstone is older than a recovery is told by the clock that jumps.
  if (!chance.happens(0.2) || options.faults.databaseClock.perMinute > 0) return options
  // There is no Redis that knows.
  if (options.alone !== null) return options
  const databaseLag_ms = chance.pick([0, 100, 600, 3_000])
  const databaseFailover = { perMinute: chance.pick([1, 4]), least_ms: 200, most_ms: 4_000 }
  const formerPrimary_ms = chance.pick([0, 0, 1_000, 6_000])
  const standbyRoutes_ms = new Chance(chance.below(2 ** 31), "routes").pick([0, 3_000])
  const faults = { ...options.faults, databaseFailover, databaseLag_ms, formerPrimary_ms, standbyRoutes_ms }
  if (databaseLag_ms === 0) return { ...options, witnessed: true, faults }
  // What the former primary was asked for it answers when another one is known.
  const isAnsweredLate = new Chance(chance.below(2 ** 31), "late answers").happens(0.7)
  // Where keys leave the database all the time, moves of them are among what it forgets.
  const isHungry = chance.happens(0.5) || isAnsweredLate
  const drawn = isHungry ? withWorkload(scarce(options, chance), { created: 0.8, bursts: 0.1 }) : options
  return {
    ...withWorkload(drawn, { withAccount: 0 }),
    witnessed: true,
    // Of several nodes only in the simulation: a database that they share has none.
    keyStock: drawn.keyStock === "file" ? "table" : drawn.keyStock,
    faults: {
      ...faults,
      ...(isHungry && { databaseFailover: { perMinute: 12, least_ms: 50, most_ms: 2_000 } }),
      ...(isAnsweredLate && { slowCalls: answersOfFormer, formerPrimary_ms: 6_000 }),
      redisFailover: never,
      redisLoss: never
    }
  }
}

/** A slow disk on which restarts find commits on their way: a session that ends says nothing of whether its commit is there. */
export const cutCommits = {
  databaseSlow: { perMinute: 12, least_ms: 2_000, most_ms: 8_000 },
  databaseRestart: { perMinute: 20, least_ms: 50, most_ms: 300 }
}

/** The database is there, and something is wrong with it. */
export const withAilments = (options: SimOptions, chance: Chance): SimOptions => {
  if (!chance.happens(0.2) || options.alone === "sqlite") return options
  const drawn = (fault: Occasional) => ({ ...fault, perMinute: chance.pick([0, 1, 4]) })
  const { databaseFull, databaseReadOnly, databaseSlow } = liteFaults
  const ailments = {
    databaseFull: drawn(databaseFull),
    databaseSlow: drawn(databaseSlow),
    databaseReadOnly: drawn(databaseReadOnly)
  }
  const own = chance.happens(0.3) ? cutCommits : {}
  return { ...options, faults: { ...options.faults, ...ailments, ...own } }
}

/** The database's clock jumps once or twice in some seeds that are about something else, by more than any correction. */
export const withWrongClock = (options: SimOptions, chance: Chance): SimOptions => {
  const { databaseClock, databaseFailover } = options.faults
  // Whether a tombstone is older than a recovery is told by the clock.
  const isPossible = databaseClock.perMinute + databaseFailover.perMinute === 0 && options.alone !== "sqlite"
  if (!isPossible || !chance.happens(0.08)) return options
  const jumping = { perMinute: 1.5, least_ms: 3_000, most_ms: 30_000 }
  return { ...options, faults: { ...options.faults, databaseClock: jumping } }
}

/** Links are read from a replica as well, mostly where nodes redirect while their one database is away, which forgets nothing. In half of these seeds they have few links at hand, and are cut off often. */
export const withReplica = (options: SimOptions, chance: Chance): SimOptions => {
  const { alone, databases, faults, staleRedirects_s } = options
  const isPossible = databases === 1 && alone !== "sqlite" && faults.databaseLag_ms === 0
  if (staleRedirects_s === 0 || !isPossible || !chance.happens(0.7)) return options
  const replicated = { ...options, linkReplicaLag_ms: chance.pick([0, 100, 700]) }
  if (chance.happens(0.5)) return replicated
  const cutDatabase = { perMinute: 8, least_ms: 3_000, most_ms: 12_000 }
  return { ...replicated, redirectCacheMax: 4, faults: { ...faults, cutDatabase } }
}

/** What the database is seldom asked fails as well, where its calls fail at all, and are given up without harm. */
export const withFirstCalls = (options: SimOptions, chance: Chance): SimOptions => {
  if (!mayDatabaseCallsFail(options)) return options
  const first = chance.pick([0, 0, 0.3, 0.8])
  const databaseCalls = { ...options.faults.databaseCalls, first }
  return { ...options, faults: { ...options.faults, databaseCalls } }
}

/** A database that is away for longer than most: others go on, and what is in it waits. */
const longOutages = { perMinute: 2, least_ms: 22_000, most_ms: 30_000 }

/** Further steps at which nodes are killed where there are several databases. */
const stepsOfSeveral = ["BucketPlacement.read", "LinkCarrier.leave", "LinkCarrier.arrive"] as const

/** So many databases have links; between several of them buckets move. Then there is no standby that lags: see `SimOptions`. */
export const withDatabases = (options: SimOptions, databases: number, seed: number): SimOptions => {
  if (databases === 1)
    return { ...options, databases, faults: { ...options.faults, bucketMove: never, moverCrash: 0 } }
  const chance = new Chance(seed, "moves")
  const { databaseCalls } = options.faults
  // Not where few connections wait for one another: see `withFewConnections`.
  const losesAnswers = databaseCalls.lost > 0 && new Chance(seed, "lost answers").happens(0.3)
  const isAwayForLong =
    options.connectionsMax > fewConnections && new Chance(seed, "long outages").happens(0.35)
  // Users who are removed meanwhile have links there.
  const { signedIn, withAccount } = options.workload
  const ofUsers = isAwayForLong && new Chance(seed, "users of long outages").happens(0.9)
  const drawn = ofUsers
    ? withWorkload(options, { withAccount: Math.max(0.4, withAccount), signedIn: Math.max(0.1, signedIn) })
    : options
  return {
    ...drawn,
    databases,
    faults: {
      ...options.faults,
      ...(losesAnswers && { databaseCalls: { ...databaseCalls, lost: Math.max(databaseCalls.lost, 0.05) } }),
      databaseLag_ms: 0,
      ...(isAwayForLong && { databaseRestart: longOutages }),
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
            : [...options.faults.crashPoint.at, chance.pick(stepsOfSeveral)]
      }
    }
  }
}
