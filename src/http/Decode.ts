import { Either, ParseResult, Schema } from "effect"
import { type Fault, faulty, oneFault, type Problem } from "./Problem.ts"

const messageOf = (issue: ParseResult.ArrayFormatterIssue): string => {
  switch (issue._tag) {
    case "Missing":
      return "is required"
    case "Unexpected":
      return "is not a known field"
    default:
      return issue.message
  }
}

const faultsOf = (error: ParseResult.ParseError): ReadonlyArray<Fault> =>
  ParseResult.ArrayFormatter.formatErrorSync(error).map((issue) => ({
    path: issue.path.map(String).join("."),
    message: messageOf(issue)
  }))

/** Whether JSON is an object. */
export const isObject = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** Understands a body as an object of this schema without unknown fields; the problem lists every fault. */
export const body = <A, I>(schema: Schema.Schema<A, I>): ((json: unknown) => Either.Either<A, Problem>) => {
  const decode = Schema.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })
  return (json) =>
    // Not left to the schema, whose error would quote the body, whatever its size and depth.
    isObject(json)
      ? Either.mapLeft(decode(json), (error) => faulty("invalid-request", faultsOf(error)))
      : oneFault("invalid-request", "", "The body must be a JSON object.")
}
