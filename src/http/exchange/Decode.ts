import { Either, Option, ParseResult, Predicate, Schema, SchemaAST } from "effect"
import { type Fault, faultsMax, faulty, oneFault, type Problem } from "./Problem.ts"
import type { Message } from "../../model/Messages.ts"

const messageOf = (issue: ParseResult.ArrayFormatterIssue): Message => {
  switch (issue._tag) {
    case "Missing":
      return "is required"
    case "Unexpected":
      return "is not a known field"
    default:
      // Schemas of bodies have messages of their own: a test holds them to those.
      return issue.message as Message
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

/** A field that is a list of so many items at most, and what is said of a longer one. */
interface ListBound {
  readonly name: string
  readonly itemsMax: number
  readonly fault: Fault
}

const listBoundOf = ({ name, type }: SchemaAST.PropertySignature): ReadonlyArray<ListBound> => {
  const { maxItems } = Option.getOrElse(SchemaAST.getJSONSchemaAnnotation(type), () => ({})) as {
    readonly maxItems?: number
  }
  if (maxItems === undefined) return []
  const path = String(name)
  const said = Option.map(SchemaAST.getMessageAnnotation(type), (messageOf) =>
    messageOf(new ParseResult.Type(type, undefined))
  )
  const message = Option.getOrElse(
    Option.filter(said, Predicate.isString),
    () => "has too many items"
  ) as Message
  return [{ name: path, itemsMax: maxItems, fault: { path, message } }]
}

/** Values in a list at most, at all depths: as many as a whole body may have that is not a bulk. */
const listValuesMax = 1_000

const tooManyValues: Message = `may have ${listValuesMax.toLocaleString("en")} values at most, at all depths`

/** How many values one has in it, itself included, counted up to `max`. */
const countValues = (value: unknown, max: number): number => {
  if (typeof value !== "object" || value === null || max <= 1) return 1
  let count = 1
  for (const one of Object.values(value)) {
    count += countValues(one, max - count)
    if (count >= max) return max
  }
  return count
}

const isLarge = (value: unknown): boolean => countValues(value, listValuesMax + 1) > listValuesMax

const withoutRefinements = (type: SchemaAST.AST): SchemaAST.AST =>
  SchemaAST.isRefinement(type) ? withoutRefinements(type.from) : type

/** Whether a schema is that of lists of objects. */
const isListOfObjects = (type: SchemaAST.AST): boolean => {
  const list = withoutRefinements(type)
  return (
    SchemaAST.isTupleType(list) &&
    list.rest.some((item) => SchemaAST.isTypeLiteral(withoutRefinements(item.type)))
  )
}

/** Whether a value is of a schema. Of plain texts and flags without the schema, which takes some ten times as long. */
const checkOf = (type: SchemaAST.AST): ((value: unknown) => boolean) => {
  if (SchemaAST.isStringKeyword(type)) return Predicate.isString
  if (SchemaAST.isBooleanKeyword(type)) return Predicate.isBoolean
  const is = Schema.is(Schema.make(type), { onExcessProperty: "error" })
  return isListOfObjects(type) ? (value) => !isLarge(value) && is(value) : is
}

/** Whether JSON is an object of this schema without unknown fields, field by field: that takes a fraction of the time in which a schema decodes it, and finds no faults. */
const accepting = (signatures: ReadonlyArray<SchemaAST.PropertySignature>) => {
  const checks = new Map(signatures.map(({ name, type }) => [name, checkOf(type)]))
  const required = signatures.flatMap(({ isOptional, name }) => (isOptional ? [] : [name]))
  return (json: Readonly<Record<string, unknown>>): boolean => {
    for (const name of required) if (!Object.hasOwn(json, name)) return false
    for (const name of Object.keys(json)) if (checks.get(name)?.(json[name]) !== true) return false
    return true
  }
}

/**
 * Understands a body as an object of this schema without unknown fields; the problem lists the faults. What grows with the body is counted before the schema looks at
 * it, which would find a fault in every item of a list, and in every unknown field.
 */
export const body = <A, I>(schema: Schema.Schema<A, I>): ((json: unknown) => Either.Either<A, Problem>) => {
  const decode = Schema.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })
  const signatures = SchemaAST.getPropertySignatures(schema.ast)
  const known = new Set(signatures.map(({ name }) => name))
  const isTransformed = SchemaAST.typeAST(schema.ast) !== schema.ast
  const accepts = isTransformed ? () => false : accepting(signatures)
  const lists = signatures.flatMap(listBoundOf)

  const tooManyUnknown = (json: Readonly<Record<string, unknown>>): Problem | undefined => {
    const names = Object.keys(json)
    if (names.length <= known.size + faultsMax) return undefined
    const unknown = names.filter((name) => !known.has(name))
    const told = unknown.slice(0, faultsMax).map((path): Fault => ({ path, message: "is not a known field" }))
    return faulty("invalid-request", told, unknown.length)
  }

  return (json) => {
    // Not left to the schema, whose error would quote the body, whatever its size and depth.
    if (!isObject(json)) return oneFault("invalid-request", "", "The body must be a JSON object.")
    if (accepts(json)) return Either.right(json as A)
    const tooMany = tooManyUnknown(json)
    if (tooMany !== undefined) return Either.left(tooMany)
    const tooLarge = lists.flatMap(({ fault, itemsMax, name }): ReadonlyArray<Fault> => {
      const list = json[name]
      if (!Array.isArray(list)) return []
      if (list.length > itemsMax) return [fault]
      return isLarge(list) ? [{ path: name, message: tooManyValues }] : []
    })
    if (tooLarge.length === 0) {
      return Either.mapLeft(decode(json), (error) => faulty("invalid-request", faultsOf(error)))
    }
    const names = new Set(tooLarge.map(({ path }) => path))
    const others = decode(Object.fromEntries(Object.entries(json).filter(([name]) => !names.has(name))))
    const faults = Either.match(others, {
      onLeft: (error) => faultsOf(error).filter(({ path }) => !names.has(path)),
      onRight: () => []
    })
    return Either.left(faulty("invalid-request", [...faults, ...tooLarge]))
  }
}
