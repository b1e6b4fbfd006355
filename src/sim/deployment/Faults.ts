import type { FaultOptions, Occasional } from "../cli/Options.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us, s_us } from "../world/Time.ts"
import type { World } from "../world/World.ts"

/** What faults do to a deployment. Numbers identify nodes and pool shards; durations are in microseconds. */
export interface Victim {
  readonly nodes: number
  readonly pools: number
  /** Kills a node, which is started again after `down_us`. */
  readonly kill: (node: number, down_us: number) => void
  readonly stop: (node: number, down_us: number) => void
  readonly pause: (node: number, for_us: number) => void
  readonly jumpClock: (node: number, by_us: number) => void
  readonly cutNodes: (one: number, other: number, for_us: number, oneWay: boolean) => void
  readonly cutDatabase: (node: number, for_us: number, oneWay: boolean) => void
  readonly cutRedis: (node: number, pool: number, for_us: number, oneWay: boolean) => void
  readonly jumpDatabaseClock: (by_us: number) => void
  readonly restartDatabase: (down_us: number) => void
  readonly failOverDatabase: (down_us: number) => void
  readonly ailDatabase: (fault: "databaseFull" | "databaseSlow" | "databaseReadOnly", for_us: number) => void
  readonly restartRedis: (pool: number, down_us: number) => void
  readonly failOver: (pool: number, down_us: number) => void
  readonly loseData: (pool: number, down_us: number) => void
  readonly move: (overlap_us: number) => void
}

/** A fault that happened. */
export interface Strike {
  /** Its kind: a name of `FaultOptions`, or `crash point`. */
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
  readonly how: Occasional
  /** Causes the fault, and returns whom it hit. */
  readonly strike: (for_us: number, chance: Chance) => string
}

const kindsOf = (faults: FaultOptions, victim: Victim): ReadonlyArray<Kind> => {
  const node = (chance: Chance) => chance.below(victim.nodes)
  const pool = (chance: Chance) => chance.below(victim.pools)
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
    {
      name: "cutDatabase",
      how: faults.cutDatabase,
      strike: (for_us, chance) => {
        const number = node(chance)
        victim.cutDatabase(number, for_us, chance.happens(0.3))
        return `node ${number}`
      }
    },
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
        return "the database"
      }
    },
    {
      name: "databaseRestart",
      how: faults.databaseRestart,
      strike: (for_us) => {
        victim.restartDatabase(for_us)
        return "the database"
      }
    },
    {
      name: "databaseFailover",
      how: faults.databaseFailover,
      strike: (for_us) => {
        victim.failOverDatabase(for_us)
        return "the database"
      }
    },
    ...(["databaseFull", "databaseSlow", "databaseReadOnly"] as const).map((name): Kind => ({
      name,
      how: faults[name],
      strike: (for_us) => {
        victim.ailDatabase(name, for_us)
        return "the database"
      }
    })),
    { name: "redisRestart", how: faults.redisRestart, strike: atPool(victim.restartRedis) },
    { name: "redisFailover", how: faults.redisFailover, strike: atPool(victim.failOver) },
    { name: "redisLoss", how: faults.redisLoss, strike: atPool(victim.loseData) },
    {
      name: "move",
      how: faults.move,
      strike: (for_us) => {
        victim.move(for_us)
        return "actors"
      }
    }
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
  for (const { how, name, strike } of kindsOf(faults, victim)) {
    if (how.perMinute === 0) continue
    const chance = world.chance(`fault ${name}`)
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
