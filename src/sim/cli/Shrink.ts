import { Effect } from "effect"
import type { FaultOptions, Occasional, SimOptions, WorkloadOptions } from "./Options.ts"
import { noFaults } from "../presets/Faults.ts"

/** What came of shrinking. */
export interface Shrunk {
  /** The simplest options found that still break the promise. */
  readonly options: SimOptions
  /** How many runs it took, and how many of them were simpler and still broke it. */
  readonly tries: number
  readonly steps: number
}

/** Gives simpler options, the simplest first. */
type Pass = (options: SimOptions) => ReadonlyArray<SimOptions>

type FaultName = keyof FaultOptions

/** Smaller whole numbers, the smallest first. */
const smaller = (value: number, least: number): ReadonlyArray<number> =>
  Array.from(
    new Set([least, ...[0.25, 0.5, 0.75].map((part) => Math.ceil(value * part)), Math.ceil(value) - 1])
  ).filter((one) => one >= least && one < value)

const isOn = (name: FaultName, faults: FaultOptions) =>
  JSON.stringify(faults[name]) !== JSON.stringify(noFaults[name])

/** Whether a kind of fault comes at random moments. */
const isOccasional = (fault: FaultOptions[FaultName]): fault is Occasional =>
  typeof fault === "object" && "perMinute" in fault

const withFault = <K extends FaultName>(
  options: SimOptions,
  name: K,
  fault: FaultOptions[K]
): SimOptions => ({
  ...options,
  faults: { ...options.faults, [name]: fault }
})

const without = (options: SimOptions, names: ReadonlyArray<FaultName>): SimOptions =>
  names.reduce((others, name) => withFault(others, name, noFaults[name]), options)

/** Kinds of faults off: all of them, one half or the other, or a single one. */
const fewerKinds: Pass = (options) => {
  const on = (Object.keys(options.faults) as ReadonlyArray<FaultName>).filter((name) =>
    isOn(name, options.faults)
  )
  const middle = Math.ceil(on.length / 2)
  const several = on.length > 2 ? [on, on.slice(0, middle), on.slice(middle)] : []
  return [...several, ...on.map((name) => [name])].map((names) => without(options, names))
}

const smallerSize =
  (name: "nodes" | "pools" | "faulty_s" | "calm_s"): Pass =>
  (options) =>
    smaller(options[name], 1).map((value) => ({ ...options, [name]: value }))

const noStillEnd: Pass = (options) => (options.still_s > 0 ? [{ ...options, still_s: 0 }] : [])

const fewerClients: Pass = (options) =>
  smaller(options.workload.clients, 1).map((clients) => ({
    ...options,
    workload: { ...options.workload, clients }
  }))

/** What clients need not do. */
const unneeded = [
  "bursts",
  "withAlias",
  "withLongAlias",
  "withKey",
  "reused",
  "bulk",
  "withExpiry",
  "withMaxVisits",
  "withPassword",
  "withChoices",
  "varied",
  "refused",
  "edited",
  "extended",
  "shown",
  "statistics",
  "listed",
  "editedInBulk",
  "imported",
  "signedIn",
  "withWebhooks",
  "audited",
  "guessed",
  "withDomain",
  "domainsChanged",
  "domainsAsked",
  "deleted",
  "changed"
] as const satisfies ReadonlyArray<keyof WorkloadOptions>

const plainerWorkload: Pass = (options) =>
  unneeded
    .filter((name) => options.workload[name] > 0)
    .map((name) => ({ ...options, workload: { ...options.workload, [name]: 0 } }))

/** A fault that comes less often than this in a minute does not come at all. */
const seldom_perMinute = 0.05

const occasional = (options: SimOptions, simpler: (fault: Occasional) => ReadonlyArray<Occasional>) =>
  (Object.keys(options.faults) as ReadonlyArray<FaultName>).flatMap((name) => {
    const fault = options.faults[name]
    if (!isOccasional(fault) || fault.perMinute === 0) return []
    return simpler(fault).map((other) => withFault(options, name, other))
  })

const fewerFaults: Pass = (options) =>
  occasional(options, (fault) =>
    [0.25, 0.5]
      .map((part) => Number((fault.perMinute * part).toPrecision(3)))
      .filter((perMinute) => perMinute >= seldom_perMinute)
      .map((perMinute) => ({ ...fault, perMinute }))
  )

/** Durations that are all alike, then shorter ones. */
const narrowerDurations: Pass = (options) =>
  occasional(options, (fault) => {
    const { least_ms, most_ms } = fault
    const middle_ms = Math.floor((least_ms + most_ms) / 2)
    return least_ms === most_ms
      ? smaller(most_ms, 1)
          .slice(0, 3)
          .map((ms) => ({ ...fault, least_ms: ms, most_ms: ms }))
      : [least_ms, middle_ms, most_ms].map((ms) => ({ ...fault, least_ms: ms, most_ms: ms }))
  })

/** What makes runs short comes first: the rest then takes less time. */
const passes: ReadonlyArray<Pass> = [
  smallerSize("faulty_s"),
  smallerSize("calm_s"),
  noStillEnd,
  fewerKinds,
  smallerSize("nodes"),
  smallerSize("pools"),
  fewerClients,
  plainerWorkload,
  fewerFaults,
  narrowerDurations
]

/**
 * Looks for simpler options that still break a promise, as `breaks` tells, by at most `triesMax` runs: shorter ones, with fewer kinds of faults, fewer
 * nodes, pool shards and clients, and with fewer and shorter faults. Goes on until nothing of that can be left out any more. The same each time.
 */
export const shrink = (
  options: SimOptions,
  breaks: (options: SimOptions) => boolean,
  triesMax: number,
  tried: (tries: number, steps: number) => void = () => {}
): Effect.Effect<Shrunk> =>
  Effect.gen(function* () {
    const known = new Set([JSON.stringify(options)])
    let [best, tries, steps] = [options, 0, 0]
    /** Takes the first of a pass's options that still break the promise. */
    const improve = (pass: Pass) =>
      Effect.gen(function* () {
        for (const simpler of pass(best)) {
          const text = JSON.stringify(simpler)
          if (tries >= triesMax) return false
          if (known.has(text)) continue
          known.add(text)
          tries++
          // Lets signals come through: a run lets nothing else happen.
          yield* Effect.sleep(0)
          const isBroken = breaks(simpler)
          if (isBroken) steps++
          tried(tries, steps)
          if (!isBroken) continue
          best = simpler
          return true
        }
        return false
      })
    for (let isBetter = true; isBetter;) {
      isBetter = false
      for (const pass of passes) while (yield* improve(pass)) isBetter = true
    }
    return { options: best, tries, steps }
  })
