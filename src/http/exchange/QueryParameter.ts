import { Schema } from "effect"

/** A query parameter as it came: text, or a list where it was there more than once. */
export type QueryText = string | ReadonlyArray<string>

/**
 * A query parameter that may be left out, as the contract says it by `jsonSchema`. Any text is let through: the route checks it and answers
 * with a problem that names it, which Effect would not do.
 */
export const queryParameter = (jsonSchema: object) =>
  Schema.optionalWith(Schema.Union(Schema.String, Schema.Array(Schema.String)).annotations({ jsonSchema }), {
    exact: true
  })

/** A {@link queryParameter} that is a moment. */
export const momentParameter = (description: string) =>
  queryParameter({ type: "string", format: "date-time", description })
