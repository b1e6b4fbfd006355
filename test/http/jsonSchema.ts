// A check of values against the JSON schemas of the OpenAPI document: the keywords that it uses, and no others.

/** A JSON schema (draft 2020-12, as OpenAPI 3.1 has it). */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The named schemas that `$ref` can point to. */
export type Definitions = Readonly<Record<string, JsonSchema>>

const prefix = "#/components/schemas/"

/** The schema that a reference names. One that names nothing is an error. */
export const resolve = (definitions: Definitions, reference: string): JsonSchema => {
  const found = reference.startsWith(prefix) ? definitions[reference.slice(prefix.length)] : undefined
  if (found === undefined) throw new Error(`${reference} points to nothing`)
  return found
}

const typeOf = (value: unknown): string => {
  if (value === null) return "null"
  if (Number.isInteger(value)) return "integer"
  return Array.isArray(value) ? "array" : typeof value
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeOf(value) === "object"

type Check = (value: unknown, argument: never, schema: JsonSchema, at: string) => ReadonlyArray<string>

const annotations = new Set(["title", "description", "$id", "$comment", "format", "examples"])

/** What is wrong with a value under a schema, one fault a line; empty where it fits. An unknown keyword is an error, never passed over. */
export const faultsOf = (
  definitions: Definitions,
  schema: JsonSchema,
  value: unknown,
  at = "$"
): ReadonlyArray<string> => {
  const inner = (schema: JsonSchema, value: unknown, at: string) => faultsOf(definitions, schema, value, at)

  const checks: Readonly<Record<string, Check>> = {
    $ref: (value, reference: string, _, at) => inner(resolve(definitions, reference), value, at),
    type: (value, type: string, _, at) =>
      typeOf(value) === type || (type === "number" && typeof value === "number")
        ? []
        : [`${at} is ${typeOf(value)}, not ${type}`],
    enum: (value, values: ReadonlyArray<unknown>, _, at) =>
      values.includes(value) ? [] : [`${at} is ${JSON.stringify(value)}, none of ${JSON.stringify(values)}`],
    anyOf: (value, schemas: ReadonlyArray<JsonSchema>, _, at) => {
      const faults = schemas.map((schema) => inner(schema, value, at))
      return faults.some((found) => found.length === 0) ? [] : [`${at} fits none of:`, ...faults.flat()]
    },
    required: (value, names: ReadonlyArray<string>, _, at) =>
      isRecord(value)
        ? names.filter((name) => !(name in value)).map((name) => `${at}.${name} is missing`)
        : [],
    properties: (value, properties: Definitions, _, at) =>
      isRecord(value)
        ? Object.entries(properties).flatMap(([name, schema]) =>
            name in value ? inner(schema, value[name], `${at}.${name}`) : []
          )
        : [],
    additionalProperties: (value, allowed: boolean, { properties }, at) =>
      allowed || !isRecord(value)
        ? []
        : Object.keys(value)
            .filter((name) => !(name in (properties as object)))
            .map((name) => `${at}.${name} is not known`),
    items: (value, items: JsonSchema, _, at) =>
      Array.isArray(value) ? value.flatMap((item, index) => inner(items, item, `${at}[${index}]`)) : [],
    minLength: (value, min: number, _, at) =>
      typeof value === "string" && value.length < min ? [`${at} is too short`] : [],
    maxLength: (value, max: number, _, at) =>
      typeof value === "string" && value.length > max ? [`${at} is too long`] : [],
    minimum: (value, min: number, _, at) =>
      typeof value === "number" && value < min ? [`${at} is too small`] : [],
    maximum: (value, max: number, _, at) =>
      typeof value === "number" && value > max ? [`${at} is too large`] : [],
    maxItems: (value, max: number, _, at) =>
      Array.isArray(value) && value.length > max ? [`${at} has too many`] : [],
    pattern: (value, pattern: string, _, at) =>
      typeof value === "string" && !new RegExp(pattern, "u").test(value) ? [`${at} has another form`] : []
  }

  return Object.entries(schema).flatMap(([keyword, argument]) => {
    if (annotations.has(keyword)) return []
    const check = checks[keyword]
    if (check === undefined) throw new Error(`${at}: the keyword ${keyword} is not known here`)
    return check(value, argument as never, schema, at)
  })
}
