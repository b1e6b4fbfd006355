import type { FaultOptions, Occasional } from "../cli/Options.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us, s_us } from "../world/Time.ts"
import type { World } from "../world/World.ts"

/** What faults do to a deployment. Numbers identify nodes and pool shards; durations are in microseconds. */
export interface Victim {
  readonly nodes: number
  readonly pools: number
  readonly databases: number
  /** Kills a node, which is started again after `down_us`. */
  readonly kill: (node: number, down_us: number) => void
  readonly stop: (node: number, down_us: number) => void
  readonly pause: (node: number, for_us: number) => void
  readonly jumpClock: (node: number, by_us: number) => void
  readonly cutNodes: (one: number, other: number, for_us: number, oneWay: boolean) => void
  readonly cutDatabase: (database: number, node: number, for_us: number, oneWay: boolean) => void
  readonly cutRedis: (node: number, pool: number, for_us: number, oneWay: boolean) => void
  readonly jumpDatabaseClock: (by_us: number) => void
  readonly restartDatabase: (database: number, down_us: number) => void
  readonly failOverDatabase: (database: number, down_us: number) => void
  readonly ailDatabase: (
    database: number,
    fault: "databaseFull" | "databaseSlow" | "databaseReadOnly",
    for_us: number
  ) => void
  readonly resetNews: (database: number, node: number, unnoticed_us: number) => void
  readonly restartRedis: (pool: number, down_us: number) => void
  readonly failOver: (pool: number, down_us: number) => void
  readonly loseData: (pool: number, down_us: number) => void
  readonly fillRedis: (pool: number, for_us: number) => void
  readonly move: (overlap_us: number) => void
  /** Begins to move buckets. A mover that dies is started again after `down_us`. */
  readonly moveBuckets: (down_us: number) => string
}

/** What strikes call the only database, or the control database of several. */
export const controlDatabase = "the database"

/** A fault that happened. */
export interface Strike {
  /** Its kind: a name of `FaultOptions`, `crash point` or `stop point`. */
  readonly name: string
  /** The process or server that it hit. */
  readonly whom: string
  readonly at_us: number
  /** How long it lasts, unless all faults end before; for a `clockJump` or a `databaseClock`, how far the clock jumps. */
  readonly for_us: number
}

/** A kind of fault that happens at random moments. */
interface Kind {
  readonly name: keyof FaultOptions
  /** Which of several such kinds: one for each database. */
  readonly of?: number
  readonly how: Occasional
  /** Causes the fault, and returns whom it hit. */
  readonly strike: (for_us: number, chance: Chance) => string
}

/** What befalls one of the databases. */
const kindsOfDatabase = (faults: FaultOptions, victim: Victim, of: number): ReadonlyArray<Kind> => {
  const whom = of === 0 ? controlDatabase : `database ${of}`
  const atIt =
    (strike: (for_us: number) => void): Kind["strike"] =>
    (for_us) => {
      strike(for_us)
      return whom
    }
  const between = (node: number) => (of === 0 ? `node ${node}` : `node ${node} and ${whom}`)
  return [
    {
      name: "cutDatabase",
      of,
      how: faults.cutDatabase,
      strike: (for_us, chance) => {
        const number = chance.below(victim.nodes)
        victim.cutDatabase(of, number, for_us, chance.happens(0.3))
        return between(number)
      }
    },
    {
      name: "databaseRestart",
      of,
      how: faults.databaseRestart,
      strike: atIt((for_us) => victim.restartDatabase(of, for_us))
    },
    {
      name: "databaseFailover",
      of,
      how: faults.databaseFailover,
      strike: atIt((for_us) => victim.failOverDatabase(of, for_us))
    },
    ...(["databaseFull", "databaseSlow", "databaseReadOnly"] as const).map((name): Kind => ({
      name,
      of,
      how: faults[name],
      strike: atIt((for_us) => victim.ailDatabase(of, name, for_us))
    })),
    {
      name: "newsReset",
      of,
      how: faults.newsReset,
      strike: (unnoticed_us, chance) => {
        const number = chance.below(victim.nodes)
        victim.resetNews(of, number, unnoticed_us)
        return between(number)
      }
    }
  ]
}

const kindsOf = (faults: FaultOptions, victim: Victim): ReadonlyArray<Kind> => {
  const node = (chance: Chance) => chance.below(victim.nodes)
  const pool = (chance: Chance) => chance.below(victim.pools)
  const [cutControl, ...ofControl] = kindsOfDatabase(faults, victim, 0)
  const atNode =
    (strike: (node: number, for_us: number) => void): Kind["strike"] =>
    (for_us, chance) => {
      const number = node(chance)
      strike(number, for_us)
      return `node ${number}`
    }
  const atPool =
    (strike: (pool: number, for_us: number) => void): Kind["strike"] =>
    (for_us, chance) => {
      const number = pool(chance)
      strike(number, for_us)
      return `pool shard ${number}`
    }
  return [
    { name: "kill", how: faults.kill, strike: atNode(victim.kill) },
    { name: "stop", how: faults.stop, strike: atNode(victim.stop) },
    { name: "pause", how: faults.pause, strike: atNode(victim.pause) },
    {
      name: "clockJump",
      how: faults.clockJump,
      strike: (by_us, chance) => {
        const number = node(chance)
        victim.jumpClock(number, chance.happens(0.5) ? by_us : -by_us)
        return `node ${number}`
      }
    },
    {
      name: "cutNodes",
      how: faults.cutNodes,
      strike: (for_us, chance) => {
        const one = node(chance)
        const other = (one + 1 + chance.below(Math.max(1, victim.nodes - 1))) % victim.nodes
        if (one !== other) victim.cutNodes(one, other, for_us, chance.happens(0.3))
        return `nodes ${one} and ${other}`
      }
    },
    cutControl!,
    {
      name: "cutRedis",
      how: faults.cutRedis,
      strike: (for_us, chance) => {
        const [number, shard] = [node(chance), pool(chance)]
        victim.cutRedis(number, shard, for_us, chance.happens(0.3))
        return `node ${number} and pool shard ${shard}`
      }
    },
    {
      name: "databaseClock",
      how: faults.databaseClock,
      strike: (by_us, chance) => {
        victim.jumpDatabaseClock(chance.happens(0.5) ? by_us : -by_us)
        return controlDatabase
      }
    },
    ...ofControl,
    { name: "redisRestart", how: faults.redisRestart, strike: atPool(victim.restartRedis) },
    { name: "redisFailover", how: faults.redisFailover, strike: atPool(victim.failOver) },
    { name: "redisLoss", how: faults.redisLoss, strike: atPool(victim.loseData) },
    { name: "redisFull", how: faults.redisFull, strike: atPool(victim.fillRedis) },
    {
      name: "move",
      how: faults.move,
      strike: (for_us) => {
        victim.move(for_us)
        return "actors"
      }
    },
    ...Array.from({ length: victim.databases - 1 }, (_, index) =>
      kindsOfDatabase(faults, victim, index + 1)
    ).flat(),
    { name: "bucketMove", how: faults.bucketMove, strike: victim.moveBuckets }
  ]
}

/** Causes faults at random moments until `until_us`, and reports each to `struck`. */
export const start = (
  world: World,
  faults: FaultOptions,
  victim: Victim,
  until_us: number,
  struck: (strike: Strike) => void
) => {
  for (const { how, name, of = 0, strike } of kindsOf(faults, victim)) {
    if (how.perMinute === 0) continue
    const chance = world.chance(of === 0 ? `fault ${name}` : `fault ${name} of database ${of}`)
    const next = () => {
      const wait_us = chance.waiting((60 * s_us) / how.perMinute)
      if (world.now_us + wait_us >= until_us) return
      world.after(wait_us, null, () => {
        const for_us = chance.between(how.least_ms, how.most_ms) * ms_us
        const whom = strike(for_us, chance)
        struck({ name, whom, at_us: world.now_us, for_us })
        world.tell("faults", name, `${whom}, ${Math.round(for_us / ms_us)} ms`)
        next()
      })
    }
    next()
  }
}
