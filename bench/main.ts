import { keys } from "./keys.ts"

/** A benchmark: prints its figures, and tells whether the goals it states were met. */
export type BenchCase = () => boolean | Promise<boolean>

const cases: Record<string, BenchCase> = { keys }

/** `npm run bench -- <case> …`: exits 1 if a goal is missed, 2 (with the list of cases) on a wrong name. */
const main = async (names: ReadonlyArray<string>): Promise<number> => {
  const chosen = names.map((name) => (Object.hasOwn(cases, name) ? cases[name] : undefined))
  if (names.length === 0 || chosen.includes(undefined)) {
    process.stderr.write(`usage: npm run bench -- <case> …\ncases: ${Object.keys(cases).join(", ")}\n`)
    return 2
  }
  let met = true
  for (const run of chosen) met = (await run!()) && met
  return met ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
