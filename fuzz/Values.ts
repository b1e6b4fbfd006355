// Random values by JSON schema: such as fit, and such as hardly fit any more.

import { FastCheck as fc } from "effect"
import * as Iso8601 from "../src/model/Iso8601.ts"
import { type Definitions, type JsonSchema, resolve } from "../test/support/http/OpenApi.ts"

/** Texts that mean something to the service, by the name of the field or parameter: they are used three times in four. */
export type Known = Readonly<Record<string, ReadonlyArray<string>>>

const moment = fc
  .integer({ min: Date.parse("2020-01-01T00:00:00Z"), max: Date.parse("2040-01-01T00:00:00Z") })
  .map(Iso8601.formatMoment)

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  uri: fc.webUrl({ withQueryParameters: true, withFragments: true }),
  "date-time": moment,
  duration: fc.stringMatching(/^P[1-9]\d{0,3}(D|DT[1-9]\d{0,4}S)$/)
}

/** Of a pattern that names classes of characters by their properties only what fits is taken from any text. */
const textOf = ({ format, maxLength = 100, minLength = 0, pattern }: JsonSchema): fc.Arbitrary<string> => {
  const named = formats[String(format)]
  if (named !== undefined) return named
  const [min, max] = [Number(minLength), Number(maxLength)]
  const any = fc.string({ unit: "grapheme", minLength: min, maxLength: max })
  if (pattern === undefined) return any
  const shape = new RegExp(String(pattern), "u")
  return String(pattern).includes("\\p{")
    ? any.filter((text) => shape.test(text) && Array.from(text).length <= max)
    : fc.stringMatching(shape).filter((text) => text.length >= min && text.length <= max)
}

/** Optional fields that an object has on average, where there are more: each may contradict others, and all of many hardly ever go together. */
const fieldsMean = 4

/** Leaves an optional field out (`undefined`), every second time, or more often where there are many. */
const sparsely =
  (optional: number) =>
  (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof(
      { weight: fieldsMean, arbitrary: values },
      { weight: Math.max(fieldsMean, optional - fieldsMean), arbitrary: fc.constant(undefined) }
    )

/** Values that fit a schema. Lists have eight items at most, whatever they may have. */
export const fitting = (definitions: Definitions, known: Known) => {
  const values = (schema: JsonSchema, name = ""): fc.Arbitrary<unknown> => {
    if (schema["$ref"] !== undefined) return values(resolve(definitions, String(schema["$ref"])), name)
    if (schema["enum"] !== undefined) return fc.constantFrom(...(schema["enum"] as ReadonlyArray<unknown>))
    if (schema["anyOf"] !== undefined) {
      return fc.oneof(...(schema["anyOf"] as ReadonlyArray<JsonSchema>).map((one) => values(one, name)))
    }
    const { items, maximum = 1_000, maxItems = 8, minimum = 0, minItems = 0, properties, required } = schema
    switch (schema["type"]) {
      case "object": {
        const names = new Set(required as ReadonlyArray<string> | undefined)
        const fields = Object.entries(properties as Definitions)
        const chosenOf = sparsely(fields.length - names.size)
        const some = fields.map(([field, inner]) => {
          const all = values(inner, field)
          return [field, names.has(field) ? all : chosenOf(all)] as const
        })
        return fc
          .record(Object.fromEntries(some))
          .map((value) =>
            Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined))
          )
      }
      case "array":
        return fc.array(values(items as JsonSchema, name), {
          minLength: Number(minItems),
          maxLength: Math.min(8, Number(maxItems))
        })
      case "boolean":
        return fc.boolean()
      case "null":
        return fc.constant(null)
      case "integer":
        return fc.integer({ min: Number(minimum), max: Math.min(Number(maximum), 2 ** 31 - 1) })
      case "string":
        return known[name] === undefined
          ? textOf(schema)
          : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...known[name]) }, textOf(schema))
      default:
        throw new Error(`${name}: no values are known of ${JSON.stringify(schema)}`)
    }
  }
  return values
}

/** Any text, with lone surrogates as well. `unit: "binary"` would take two seconds of CPU time to be made, as it can map each character back. */
export const anyText = fc.string({
  unit: fc.nat({ max: 0x10_ff_ff }).map((point) => String.fromCodePoint(point))
})

/** What nobody expects in a field. */
export const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e308, 2 ** 53, "", " ", [], {}, [[]], { a: null }),
  fc.constantFrom("\u0000", "a\u0000b", "\ud800", "\udc00a", "\u202e", "\ufeff", "Ａ", "e\u0301", "👩‍👩‍👧"),
  fc.constantFrom("a".repeat(300), "ä".repeat(5_000), "'; DROP TABLE links; --", "%00", "../..", "{{7*7}}"),
  fc.oneof({ weight: 30, arbitrary: anyText }, fc.constantFrom("__proto__", "constructor", "toString")),
  fc.jsonValue({ depthSize: "small" })
)

/** The names and places that lead to a part of a value. */
export type Path = ReadonlyArray<string>

/** The paths of all parts of a value, itself included. */
export const placesIn = (value: unknown): ReadonlyArray<Path> =>
  typeof value === "object" && value !== null
    ? [[], ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner).map((path) => [key, ...path]))]
    : [[]]

/** A value with one part replaced; `undefined` leaves a field out. */
export const replaced = (value: unknown, [key, ...rest]: Path, by: (value: unknown) => unknown): unknown => {
  if (key === undefined) return by(value)
  if (Array.isArray(value)) {
    return value.map((item, index) => (String(index) === key ? replaced(item, rest, by) : (item as unknown)))
  }
  const fields = Object.entries(value as object).map(([name, inner]) => [
    name,
    name === key ? replaced(inner, rest, by) : (inner as unknown)
  ])
  return Object.fromEntries(fields) as unknown
}

/** Values with a fault somewhere, most of the time: something odd in a place, a field that is missing, a field too many. */
export const faulty = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      values,
      fc.nat(),
      odd,
      fc.constantFrom("replace", "replace", "drop", "add"),
      fc.constantFrom("extra", "", "__proto__", "constructor", "toString", "\u0000")
    )
    .map(([value, at, other, fault, name]) => {
      const places = placesIn(value)
      return replaced(value, places[at % places.length]!, (old) => {
        if (fault === "drop") return undefined
        if (fault === "replace" || typeof old !== "object" || old === null || Array.isArray(old)) return other
        return Object.fromEntries([...Object.entries(old), [name, other]]) as unknown
      })
    })
