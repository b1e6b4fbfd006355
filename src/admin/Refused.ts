import { Data } from "effect"

/** What was asked for cannot be done. */
export class Refused extends Data.TaggedError("Refused")<{ readonly message: string }> {}
