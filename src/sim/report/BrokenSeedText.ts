import { momentOf } from "./Events.ts"
import { commandOf, hasChanges } from "./Replay.ts"
import type { Mix, SeedReport } from "../cli/SeedReport.ts"

/** Violations of a seed that are told at most. */
const toldMax = 6

/** What is said of a seed that broke a promise: what ran, what was found, what happened around that, and how to run it again. */
export const told = ({ seed, violations }: SeedReport, mix: Mix, commit: string): string => {
  const { changes, level, preset } = mix
  const differing = hasChanges(changes) ? `with ${JSON.stringify(changes)}` : "as it is"
  return [
    "",
    `Seed ${seed} broke a promise.`,
    `  commit   ${commit}`,
    `  options  preset ${preset} ${differing}, level ${level}`,
    ...violations
      .slice(0, toldMax)
      .flatMap(({ at_us, checker, text, timeline }) => [
        `  ${momentOf(at_us)}  ${checker}: ${text}`,
        ...timeline.map((line) => `    ${line}`)
      ]),
    ...(violations.length > toldMax ? [`  and ${violations.length - toldMax} more`] : []),
    `  again    ${commandOf(seed, mix)}`,
    `  smaller  ${commandOf(seed, mix, "--shrink")}`
  ].join("\n")
}
