import type { Changes } from "../clients/Changes.ts"
import type { Mix } from "../cli/SeedReport.ts"

/** A word of a POSIX shell's command line. */
const quoted = (word: string) => (/^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

/** Whether a mix differs from what its preset makes. */
export const hasChanges = (changes: Changes): boolean => Object.keys(changes).length > 0

/** The command that runs a seed again, just as it was; `more` are further arguments. */
export const commandOf = (
  seed: number,
  { changes, databases, level, preset }: Mix,
  ...more: ReadonlyArray<string>
): string => {
  const differing = hasChanges(changes) ? ["--options", JSON.stringify(changes)] : []
  const several = databases === undefined ? "" : ` --databases ${databases}`
  const named = `--seed ${seed} --preset ${preset} --level ${level}${several}`
  return `npm run sim -- ${named.split(" ").concat(differing, more).map(quoted).join(" ")}`
}
