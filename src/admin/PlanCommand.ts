import { Command, HelpDoc, Options, ValidationError } from "@effect/cli"
import { Console, Effect } from "effect"
import { plan as planOf, text } from "./Plan.ts"

/** A number within bounds, both included. */
const number = (name: string, min: number, max: number, what: string) =>
  Options.float(name).pipe(
    Options.mapEffect((value) =>
      value >= min && value <= max
        ? Effect.succeed(value)
        : Effect.fail(
            ValidationError.invalidValue(HelpDoc.p(`--${name} must be a number from ${min} to ${max}`))
          )
    ),
    Options.withDescription(what)
  )

const ratesMax = 1e9

const options = {
  linksPerSecond: number("links-per-second", 0, ratesMax, "New links, on average"),
  redirectsPerSecond: number("redirects-per-second", 0, ratesMax, "Redirects, on average"),
  years: number("years", 0, 100, "For how long").pipe(Options.withDefault(5)),
  links: number("links", 0, 1e15, "Links that are there already").pipe(Options.withDefault(0)),
  hot: number("hot", 1e-9, 1, "The share of the links that gets four fifths of the redirects").pipe(
    Options.withDefault(0.2)
  ),
  peak: number("peak", 1, 1_000, "How much more a busy second has than the average one").pipe(
    Options.withDefault(3)
  ),
  targetLength: number("target-length", 10, 2_048, "Characters of a target").pipe(Options.withDefault(100)),
  databaseCores: number("database-cores", 1, 1_024, "Cores of a database's machine").pipe(
    Options.withDefault(8)
  ),
  databaseDisk: number("database-disk", 1, 1e6, "Its disk, in GB").pipe(Options.withDefault(4_000)),
  databaseMemory: number("database-memory", 1, 1e6, "Its memory, in GB").pipe(Options.withDefault(128)),
  json: Options.boolean("json").pipe(Options.withDescription("Prints a list of lines in JSON"))
}

/** Needs no deployment. */
export const plan = Command.make("plan", options, ({ databaseDisk, databaseMemory, json, ...load }) => {
  const lines = planOf({
    ...load,
    databaseDisk_bytes: databaseDisk * 1e9,
    databaseMemory_bytes: databaseMemory * 1e9
  })
  return Console.log(json ? JSON.stringify(lines, null, 2) : text(lines))
}).pipe(
  Command.withDescription("Estimates what a load needs: keys, nodes, pools, databases, disk, memory, network")
)
