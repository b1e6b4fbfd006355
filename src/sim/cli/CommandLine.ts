import { Either } from "effect"
import { parseArgs, type ParseArgsConfig } from "node:util"

/** Reads arguments that are all options. What is wrong comes as one sentence. */
export const read = <const Options extends NonNullable<ParseArgsConfig["options"]>>(
  args: ReadonlyArray<string>,
  options: Options
) =>
  Either.try({
    try: () => parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values,
    // Node explains how to pass what looks like an option, too: one sentence is enough.
    catch: (error) => (error instanceof Error ? error.message.split(/\. (?=[A-Z])/)[0]! : String(error))
  })

/** The value of an option that is a whole number. */
export const whole = (
  name: string,
  text: string,
  least: number,
  most: number
): Either.Either<number, string> => {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most
    ? Either.right(value)
    : Either.left(`--${name} must be a whole number from ${least} to ${most}, not "${text}"`)
}

/** The names that were asked for, in the order of those that are known; all of them where none was. */
export const namesAmong = (
  known: ReadonlyArray<string>,
  asked: ReadonlyArray<string> | undefined
): Either.Either<ReadonlyArray<string>, string> => {
  const unknown = asked?.find((one) => !known.includes(one))
  return unknown === undefined
    ? Either.right(known.filter((one) => asked === undefined || asked.includes(one)))
    : Either.left(`--name knows ${known.join(", ")}, not "${unknown}"`)
}

/** Which seeds to run, and how many side by side. */
export const seedsOf = (texts: Readonly<Record<"from" | "seeds" | "jobs", string>>) =>
  Either.all({
    from: whole("from", texts.from, 0, 100_000_000),
    seeds: whole("seeds", texts.seeds, 1, 100_000),
    jobs: whole("jobs", texts.jobs, 1, 64)
  })
