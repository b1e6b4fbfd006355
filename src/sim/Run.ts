import { judge } from "./checkers/all.ts"
import { Deployment } from "./deployment/Deployment.ts"
import type { Evidence, Violation } from "./Evidence.ts"
import type { Mutation } from "./mutants/Mutation.ts"
import type { SimOptions } from "./cli/Options.ts"
import type { TraceEvent } from "./world/Trace.ts"

/** The result of one seed. */
export interface RunResult {
  readonly seed: number
  /** The same for every run of the same seed, options and code. */
  readonly digest: string
  readonly violations: ReadonlyArray<Violation>
  readonly evidence: Evidence
  /** Tasks that the world's processes ran. */
  readonly tasks: number
  /** The trace, if it was kept. */
  readonly events: ReadonlyArray<TraceEvent>
}

/** How a seed is run. */
export interface RunOptions {
  readonly keepTrace: boolean
  /** The defect that is planted in the product. */
  readonly mutation?: Mutation
}

/** Runs a seed and checks all promises. */
export const run = (
  seed: number,
  options: SimOptions,
  { keepTrace, mutation }: RunOptions = { keepTrace: false }
): RunResult => {
  const deployment = new Deployment(seed, options, keepTrace, mutation)
  const evidence = deployment.run()
  return {
    seed,
    digest: deployment.world.trace.digest(),
    violations: judge(evidence),
    evidence,
    tasks: deployment.world.tasks,
    events: deployment.world.trace.events
  }
}
