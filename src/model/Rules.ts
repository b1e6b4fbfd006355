import { Schema } from "effect"
import { deviceNames, osNames, rulesMax, variantsMax, variantsMin, weightMax } from "./RuleBounds.ts"

/** Values of a condition at most: one of them is enough. */
const valuesMax = 20

/** Characters of a rule's or variant's name at most. */
const nameLengthMax = 64

const isPlainText = (text: string, max: number) =>
  text.length > 0 &&
  text.length <= 2 * max &&
  Array.from(text).length <= max &&
  /^[^\p{Cc}\p{Cs}]*$/u.test(text)

const plainText = (max: number) => {
  const message = () => ({
    message: `must have 1 to ${max} characters, none of them a control character`,
    override: true
  })
  return Schema.String.pipe(
    Schema.filter((text) => isPlainText(text, max), { jsonSchema: { minLength: 1, maxLength: max } }),
    Schema.annotations({ message })
  )
}

const textLike = (pattern: RegExp, message: string, description: string) =>
  Schema.String.pipe(
    Schema.pattern(pattern),
    Schema.annotations({ message: () => ({ message, override: true }), description })
  )

const oneOf = <const Names extends ReadonlyArray<string>>(names: Names) =>
  Schema.Literal(...names).annotations({
    message: () => ({ message: `must be one of ${names.join(", ")}`, override: true })
  })

const listOf = <A, I>(item: Schema.Schema<A, I>, min: number, max: number, what: string) => {
  const message = () => `must be a list of ${min} to ${max} ${what}`
  return Schema.Array(item).pipe(
    Schema.annotations({ message }),
    Schema.minItems(min, { message }),
    Schema.maxItems(max, { message })
  )
}

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

const text = Schema.String.annotations({ message: () => ({ message: "must be a string", override: true }) })

const object = { message: () => "must be an object" }

/** A moment of RFC 3339; it is stored in UTC, with milliseconds. */
const moment = text.annotations({
  description: "RFC 3339 date-time",
  jsonSchema: { type: "string", format: "date-time" }
})

const timeOfDay = textLike(
  /^([01]\d|2[0-3]):[0-5]\d$/,
  "must be a time of day from 00:00 to 23:59",
  "Hours and minutes"
)

const weekday = Schema.Literal(1, 2, 3, 4, 5, 6, 7).annotations({
  message: () => ({ message: "must be a whole number from 1 (Monday) to 7", override: true }),
  description: "ISO 8601: 1 is Monday"
})

/** Hours that come again every day, or every week. */
const Hours = Schema.Struct({
  timeZone: text.annotations({ description: "A name of the IANA time zone database, such as Europe/Berlin" }),
  days: optional(listOf(weekday, 1, 7, "days")),
  from: optional(timeOfDay),
  until: optional(
    timeOfDay.annotations({ description: "Up to before it; where it is not after from, on the next day" })
  )
}).annotations(object)
/** See {@link Hours}. */
export type Hours = typeof Hours.Type

const Parameter = Schema.Struct({
  name: plainText(64),
  value: optional(
    plainText(256).annotations({ description: "Any where it is missing. Capital letters count" })
  )
}).annotations(object)

/** All of them must hold; a list of values holds where one of them does, that of query parameters where all do. What is not known of a visitor never holds. */
export const Conditions = Schema.Struct({
  devices: optional(listOf(oneOf(deviceNames), 1, valuesMax, "devices")),
  os: optional(listOf(oneOf(osNames), 1, valuesMax, "systems")),
  languages: optional(
    listOf(
      textLike(
        /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}$/,
        "must be a language such as de or de-AT",
        "That which the browser prefers: de is any German, de-AT is that of Austria alone"
      ),
      1,
      valuesMax,
      "languages"
    )
  ),
  countries: optional(
    listOf(textLike(/^[A-Z]{2}$/, "must be a country such as DE", "ISO 3166-1"), 1, valuesMax, "countries")
  ),
  query: optional(listOf(Parameter, 1, valuesMax, "parameters")),
  from: optional(moment),
  until: optional(moment),
  hours: optional(Hours),
  networks: optional(
    listOf(text.annotations({ description: "CIDR, such as 192.0.2.0/24" }), 1, valuesMax, "networks")
  )
}).annotations(object)
/** See {@link Conditions}. */
export type Conditions = typeof Conditions.Type

const name = optional(
  plainText(nameLengthMax).annotations({
    description: "By which visits are counted; where it is missing, by its place, such as `rule 1`"
  })
)

const url = text.annotations({
  description: "http or https, at most 2,048 characters",
  jsonSchema: { type: "string", format: "uri" }
})

/** A target for visitors of whom all conditions hold. */
export const Rule = Schema.Struct({ url, name, when: Conditions }).annotations(object)
/** See {@link Rule}. */
export type Rule = typeof Rule.Type

const weightMessage = () => ({
  message: `must be a whole number from 1 to ${weightMax.toLocaleString("en")}`,
  override: true
})

/** A target for a share of the visitors. */
export const Variant = Schema.Struct({
  url,
  name,
  weight: Schema.Number.pipe(
    Schema.int(),
    Schema.between(1, weightMax),
    Schema.annotations({
      message: weightMessage,
      description: "Its share of the sum of all variants' weights"
    })
  )
}).annotations(object)
/** See {@link Variant}. */
export type Variant = typeof Variant.Type

/** The rules of a link: the first that holds of a visitor leads them to its target. */
export const Rules = listOf(Rule, 1, rulesMax, "rules").annotations({
  description: "The first whose conditions all hold decides where a visitor is led"
})

/** The variants of a link: visitors whom no rule leads are divided among them by weight, each by the same for a day of UTC. */
export const Variants = listOf(Variant, variantsMin, variantsMax, "variants").annotations({
  description:
    "Visitors whom no rule leads are divided among them by weight, in place of url. A visitor keeps theirs for a day, in UTC"
})

/** What decides where a link leads, beside its URL. */
export interface Routing {
  readonly rules?: ReadonlyArray<Rule>
  readonly variants?: ReadonlyArray<Variant>
}

/** Characters of a link's rules and variants in JSON at most, so that caches, lists and messages stay small. */
export const routingLengthMax = 8_192

/** By which visits are counted that neither a rule nor a variant led. */
export const defaultTarget = "default"

/** By which visits of a rule or a variant are counted. */
export const targetNameOf = (
  kind: "rule" | "variant",
  { name }: { readonly name?: string },
  index: number
): string => name ?? `${kind} ${index + 1}`

/** Whether a name is one that is given to others: those without a name, and what statistics call the rest. */
export const isReservedName = (name: string): boolean =>
  /^((rule|variant) \d+|other)$/i.test(name) || name.toLowerCase() === defaultTarget
