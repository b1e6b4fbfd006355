import { Either, ParseResult, Predicate, Schema } from "effect"
import { SimOptions } from "../cli/Options.ts"

/** What differs from other options, in the shape of `SimOptions` with only the fields that differ. */
export interface Changes {
  readonly [name: string]: unknown
}

const isObject = (value: unknown): value is Changes => Predicate.isReadonlyRecord(value)

const merged = (base: unknown, changes: unknown): unknown => {
  if (!isObject(base) || !isObject(changes)) return changes
  const names = Object.keys({ ...base, ...changes })
  return Object.fromEntries(
    names.map((name) => [name, name in changes ? merged(base[name], changes[name]) : base[name]])
  )
}

/** Reads changes from JSON; what is wrong comes as one sentence. */
export const parse = (text: string): Either.Either<Changes, string> =>
  Either.try({
    try: () => JSON.parse(text) as unknown,
    catch: (error) => `not JSON: ${error instanceof Error ? error.message : String(error)}`
  }).pipe(
    Either.flatMap((value) => (isObject(value) ? Either.right(value) : Either.left("not a JSON object")))
  )

const decode = Schema.decodeUnknownEither(SimOptions, { errors: "all", onExcessProperty: "error" })

/** The options with changes; what does not fit comes as one sentence a field. */
export const applied = (base: SimOptions, changes: Changes): Either.Either<SimOptions, string> =>
  Either.mapLeft(decode(merged(base, changes)), (error) =>
    ParseResult.ArrayFormatter.formatErrorSync(error)
      .map(({ message, path }) => `${path.join(".") || "options"}: ${message}`)
      .join("\n")
  )

/** What turns `base` into `options` when it is applied. */
export const between = (base: SimOptions, options: SimOptions): Changes => difference(base, options)

const difference = (base: object, other: object): Changes => {
  const [before, after] = [base as Changes, other as Changes]
  return Object.fromEntries(
    Object.keys(after).flatMap((name) => {
      const [one, two] = [before[name], after[name]]
      if (!isObject(one) || !isObject(two)) return one === two ? [] : [[name, two]]
      const inner = difference(one, two)
      return Object.keys(inner).length === 0 ? [] : [[name, inner]]
    })
  )
}
