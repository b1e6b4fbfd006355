import { designs, narrow } from "../mutants/designs.ts"
import type { Mutation } from "../mutants/Mutation.ts"
import type { SimOptions } from "../cli/Options.ts"
import { noFaults } from "../presets/Faults.ts"
import { presets } from "../presets/Presets.ts"

/** A design, or a breakage of one, that is compared with others. */
export interface Contestant {
  readonly name: string
  readonly title: string
  readonly isBroken: boolean
  /** What is different from the default design. */
  readonly options: Partial<Pick<SimOptions, "keyOrder" | "keyPool" | "keyStock" | "keyStockTarget">>
  /** For one run, since it may remember things. */
  readonly make: () => Mutation
}

const sound = (
  name: string,
  title: string,
  options: Contestant["options"] = {},
  make: Contestant["make"] = () => ({})
): Contestant => ({ name, title, isBroken: false, options, make })

const broken = (name: string, options: Contestant["options"] = {}): Contestant => {
  const { make, text } = designs.find((design) => design.name === name)!
  return { name, title: text, isBroken: true, options, make }
}

const target = { keyStockTarget: 100 }

/** All that are compared, the default design first. */
export const contestants: ReadonlyArray<Contestant> = [
  sound("default", "Permuted keys, minted on demand, in lists"),
  sound("A", "Sequential keys by first characters, in sets", { keyOrder: "sequential", keyPool: "set" }),
  sound("B", "Random keys in a table, deleted when taken", {
    ...target,
    keyOrder: "random",
    keyStock: "table"
  }),
  sound(
    "B, crowded",
    "The same with so few keys to draw from that many come twice",
    { ...target, keyOrder: "random", keyStock: "table" },
    () => ({ minter: narrow })
  ),
  sound("B, status", "Random keys in a table, marked when taken", {
    ...target,
    keyOrder: "random",
    keyStock: "status"
  }),
  sound("C", "Keys that move from a table of unused to one of used keys", {
    ...target,
    keyStock: "two-table"
  }),
  sound("D", "Keys in a file of each node, read ahead", { ...target, keyStock: "file" }),
  broken("select-then-update", { ...target, keyStock: "status" }),
  broken("lock-without-fencing"),
  broken("offset-after-use", { ...target, keyStock: "file" }),
  broken("random-without-arbiter", { ...target, keyOrder: "random", keyStock: "table" }),
  broken("failover-without-primary-key"),
  broken("write-behind", { keyOrder: "sequential", keyPool: "set" })
]

/** Faults in so short a time that every design meets all of them, and owners that change all the time. */
const { faults, ...cruel } = presets.cruel()
const compared: SimOptions["faults"] = {
  ...faults,
  databaseFailover: noFaults.databaseFailover,
  databaseFull: noFaults.databaseFull,
  databaseSlow: noFaults.databaseSlow,
  databaseReadOnly: noFaults.databaseReadOnly,
  kill: { perMinute: 12, least_ms: 500, most_ms: 3_000 },
  pause: { perMinute: 12, least_ms: 500, most_ms: 4_000 },
  redisFailover: { perMinute: 8, least_ms: 100, most_ms: 1_000 },
  replicaLag_ms: 2_000,
  move: { perMinute: 60, least_ms: 500, most_ms: 3_000 }
}

/** The run of a contestant: the deployment, the clients and the faults that all have, for 15 s, and 7 s without. */
export const optionsOf = ({ options }: Contestant): SimOptions => ({
  ...cruel,
  witnessed: false,
  compared: false,
  faults: compared,
  pools: 3,
  bufferCapacity: 4,
  poolLow: 5,
  poolHigh: 15,
  faulty_s: 15,
  calm_s: 7,
  workload: { ...cruel.workload, clients: 16, think_ms: 600, justCreated: 0.6, bursts: 0.05 },
  ...options
})
