import { Effect } from "effect"
import type { FaultOptions, SimOptions, WorkloadOptions } from "../cli/Options.ts"
import { noFaults } from "../presets/Faults.ts"
import { type PresetName, presets } from "../presets/Presets.ts"
import { fork } from "../world/ProcessServices.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import type { Mutation } from "./Mutation.ts"

/** A small breakage of the product, planted in the simulation to see whether the checkers find it. */
export interface Mutant {
  readonly name: string
  /** What is broken, in one sentence. */
  readonly text: string
  /** The promise that it breaks. */
  readonly promise:
    | "C1"
    | "C2"
    | "C3"
    | "C4"
    | "C5"
    | "C6"
    | "C7"
    | "C8"
    | "C9"
    | "C11"
    | "quotas"
    | "accounts"
    | "webhooks"
    | "lists"
    | "domains"
  /** The checker that must find it, whichever others do as well. */
  readonly checker: string
  /** Whose faults bring it out; `swarm` unless said otherwise. */
  readonly preset?: PresetName
  /** What else is different about its runs; of nodes of a cluster, unless it says otherwise. */
  readonly options?: (options: SimOptions) => SimOptions
  /** For one run, since it may remember things. */
  readonly make: () => Mutation
}

/** How long faults last at most where a mutant has options of its own, in seconds: runs that are longer are about clocks of single machines. */
const faultyMax_s = 400

/** The options with which a seed is run to find it. */
export const optionsOf = ({ options, preset = "swarm" }: Mutant, seed: number): SimOptions => {
  const drawn = presets[preset](seed)
  return options === undefined
    ? drawn
    : options({ ...drawn, alone: null, faulty_s: Math.min(drawn.faulty_s, faultyMax_s) })
}

/** Has runs in which nothing goes wrong but this, and clients do more of something. */
export const withFaults =
  (faults: Partial<FaultOptions>, workload: Partial<WorkloadOptions> = {}) =>
  (options: SimOptions): SimOptions => ({
    ...options,
    workload: { ...options.workload, ...workload },
    faults: { ...noFaults, preemption: 0.02, ...faults }
  })

/** Does something in a process after a time in milliseconds, whatever comes of it, unless the process is dead by then. */
export const later = <A, E>(
  process: VirtualProcess,
  after_ms: number,
  effect: Effect.Effect<A, E>
): Effect.Effect<void> => Effect.sync(() => void fork(process, Effect.ignore(Effect.delay(effect, after_ms))))

/** Whether it happens this time. */
export const happens = (process: VirtualProcess, probability: number): boolean =>
  process.world.chance("mutant").happens(probability)
