import { expect, it } from "@effect/vitest"
import { Either, FastCheck as fc, Schema, type SchemaAST, Struct } from "effect"
import { describe } from "vitest"
import * as AccountSchemas from "../../../src/http/contract/AccountSchemas.ts"
import { DomainChangeBody, NewDomainBody } from "../../../src/http/contract/DomainApi.ts"
import * as LinkSchemas from "../../../src/http/contract/LinkSchemas.ts"
import { NewWebhookBody } from "../../../src/http/contract/WebhookApi.ts"
import * as Decode from "../../../src/http/exchange/Decode.ts"
import { isMessage } from "../../support/samples/KnownMessages.ts"

const text = fc.oneof(
  fc.constantFrom("", "ab", "promo", "https://example.com/", "P1D", "2030-01-01T00:00:00Z", "a b", "\u0007"),
  fc.string({ unit: "binary", maxLength: 70 })
)
const value = fc.oneof(
  text,
  fc.boolean(),
  fc.constantFrom(null, 0, 1, 301, 302, 303, 1.5, -1, 1e9, 1e10),
  fc.array(fc.oneof(text, fc.constant(1)), { maxLength: 22 }),
  fc.constant({ nested: true })
)
const names = [
  "url",
  "alias",
  "reuse",
  ...LinkSchemas.settingNames,
  "unknown",
  "__proto__",
  "constructor",
  "toString"
]
/** Objects as `JSON.parse` makes them: each name is an own field, `__proto__` too. */
const json = fc
  .tuple(
    fc.constantFrom([["url", "https://example.com/"] as const], []),
    fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 3 })
  )
  .map(([url, others]) => [...url, ...others])
  .map((fields) => JSON.parse(`{${fields.map(([name, v]) => `"${name}":${JSON.stringify(v)}`).join(",")}}`))

const url = "https://example.com/"

/** What no field of a body may be, or few. */
const odd: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1.5,
  1e13,
  "",
  "\u0007",
  "a b",
  "x".repeat(5_000),
  {},
  { odd: 1 },
  [],
  [null],
  [0, 0],
  ["", ""],
  Array.from({ length: 50 }, (_, n) => String(n)),
  Array.from({ length: 2_000 }, () => 0),
  Array.from({ length: 50 }, () => ({}))
]

/** Values of a schema with something odd in one place each, whatever else is missing then. */
const oddOf = (ast: SchemaAST.AST): ReadonlyArray<unknown> => {
  switch (ast._tag) {
    case "TypeLiteral":
      return [
        ...odd,
        ...ast.propertySignatures.flatMap(({ name, type }) => oddOf(type).map((value) => ({ [name]: value })))
      ]
    case "TupleType":
      return [...odd, ...ast.rest.flatMap(({ type }) => oddOf(type).map((value) => [value, value]))]
    case "Union":
      return ast.types.flatMap(oddOf)
    case "Refinement":
    case "Transformation":
      return oddOf(ast.from)
    default:
      return odd
  }
}

describe("a body", () => {
  it.each([
    [LinkSchemas.CreateBody, 500],
    [LinkSchemas.ChangeBody, 500],
    [Schema.Struct(Struct.omit(LinkSchemas.BulkEditBody.fields, "change")), 100],
    [LinkSchemas.BulkEditBody.fields.change.from.pipe(Schema.pick("addTags", "removeTags")), 50],
    [AccountSchemas.NewUserBody, 50],
    [AccountSchemas.LogInBody, 20],
    [AccountSchemas.NewPasswordBody, 20],
    [AccountSchemas.UserChangeBody, 20],
    [AccountSchemas.NewKeyBody, 50],
    [NewDomainBody, 20],
    [DomainChangeBody, 50],
    [NewWebhookBody, 50]
  ] as ReadonlyArray<[Schema.Schema<object>, number]>)(
    "has no fault without a message of the service (%#)",
    (schema, faultsMin) => {
      const understand = Decode.body(schema)
      const faults = oddOf(schema.ast).flatMap((value) => {
        const understood = understand(value)
        return Either.isLeft(understood) ? (understood.left.errors ?? []) : []
      })
      expect(faults.length).toBeGreaterThan(faultsMin)
      const unknown = faults.filter(({ message }) => !isMessage(message))
      expect(unknown.map(({ message, path }) => `${path} ${message.slice(0, 80)}`)).toEqual([])
    }
  )

  it.each([
    ["create", LinkSchemas.CreateBody as Schema.Schema<object>],
    ["change", LinkSchemas.ChangeBody as Schema.Schema<object>]
  ])("of a %s is understood where its schema decodes it, and as it does", (_, schema) => {
    const decode = Schema.decodeUnknownEither(schema, { onExcessProperty: "error" })
    const understand = Decode.body(schema)
    let accepted = 0
    fc.assert(
      fc.property(json, (body) => {
        const understood = understand(body)
        const decoded = decode(body)
        expect(Either.isRight(understood)).toBe(Either.isRight(decoded))
        if (Either.isRight(understood)) {
          accepted++
          expect(understood.right).toEqual(Either.getOrThrow(decoded))
        }
      }),
      { numRuns: 3_000 }
    )
    expect(accepted).toBeGreaterThan(20)
  })

  it("is not looked at where a list has too many values in it, at whatever depth", () => {
    const understand = Decode.body(LinkSchemas.CreateBody)
    const within = (languages: number) =>
      understand({ url, rules: [{ url, when: { languages: Array.from({ length: languages }, () => "?") } }] })
    const faultsOf = (languages: number) => Either.getOrThrow(Either.flip(within(languages))).errors
    expect(faultsOf(100_000)).toEqual([
      { path: "rules", message: "may have 1,000 values at most, at all depths" }
    ])
    expect(faultsOf(30)).toContainEqual(expect.objectContaining({ path: "rules.0.when.languages.0" }))
    expect(faultsOf(10)).toHaveLength(10)
  })

  it("is transformed where its schema transforms it", () => {
    const understand = Decode.body(Schema.Struct({ email: Schema.Lowercase }))
    expect(understand({ email: "A@B.example" })).toEqual(Either.right({ email: "a@b.example" }))
  })
})
