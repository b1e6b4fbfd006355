import { Schema } from "effect"
import { Level, SimOptions } from "../cli/Options.ts"
import { SeedReport } from "../cli/SeedReport.ts"
import { Summary } from "../cli/Summary.ts"

/** A seed that broke a promise. */
export const BrokenSeed = Schema.Struct({
  ...SeedReport.fields,
  /** All options of the run. */
  options: SimOptions,
  /** The command that runs it again. */
  replay: Schema.String
})
/** See {@link BrokenSeed}. */
export type BrokenSeed = typeof BrokenSeed.Type

/** What `--json FILE` writes. Fields that are added later do not change the format's number. */
export const JsonReport = Schema.Struct({
  format: Schema.Literal("linkmint-simulation/1"),
  /** The commit that ran, or `unknown`; `-dirty` behind it where files were changed since. */
  commit: Schema.String,
  /** The version of Node. */
  node: Schema.String,
  preset: Schema.String,
  level: Level,
  /** How many databases had links, where that was asked for. */
  databases: Schema.optional(Schema.Number),
  /** What was different from the preset; `{}` when nothing was. */
  changes: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  from: Schema.Number,
  seeds: Schema.Number,
  /** Real time. */
  elapsed_s: Schema.Number,
  exitCode: Schema.Number,
  summary: Summary,
  /** The first 20 seeds that broke a promise. */
  broken: Schema.Array(BrokenSeed)
})
/** See {@link JsonReport}. */
export type JsonReport = typeof JsonReport.Type

/** The report as text. */
export const encode = (report: JsonReport): string =>
  `${JSON.stringify(Schema.encodeSync(JsonReport)(report), null, 2)}\n`
