// The service's OpenAPI document, and whether answers are as it says.

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import { type Answer, jsonOf } from "./HttpClient.ts"

/** A JSON schema (draft 2020-12, as OpenAPI 3.1 has it). */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The named schemas that `$ref` can point to. */
export type Definitions = Readonly<Record<string, JsonSchema>>

/** Schemas by media type. */
export type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>

/** What a client can send to one path by one method. */
export interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly parameters?: ReadonlyArray<{
    readonly name: string
    readonly in: "path" | "query" | "header"
    readonly required?: boolean
    readonly schema: JsonSchema
  }>
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Content } | undefined>
  >
}

/** What is looked at here of an OpenAPI document. */
export interface Document {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Definitions }
}

/** The document that an answer is. */
export const documentOf = (answer: Answer): Document => jsonOf(answer) as Document

/** All operations, each with its path and method. */
export const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation }))
  )

const prefix = "#/components/schemas/"

/** The schema that a reference names. One that names nothing is an error. */
export const resolve = (definitions: Definitions, reference: string): JsonSchema => {
  const found = reference.startsWith(prefix) ? definitions[reference.slice(prefix.length)] : undefined
  if (found === undefined) throw new Error(`${reference} points to nothing`)
  return found
}

/** What is wrong with a value under a schema of a document, one fault a line; empty where it fits. */
export type Validate = (schema: JsonSchema, value: unknown) => ReadonlyArray<string>

/** Each schema is compiled once, as long as its document is used. */
const validators = new WeakMap<Document, Validate>()

/** What a document is called among schemas. */
const documentId = "document"

/** The schema with references into a document of that name. */
const withinDocument = (schema: JsonSchema): object =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === "$ref" && typeof value === "string" ? `${documentId}${value}` : value
  )

/** Checks values against a document's schemas. An unknown keyword is an error, never passed over; formats are not looked at. */
export const validating = (document: Document): Validate => {
  const known = validators.get(document)
  if (known !== undefined) return known
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    validateFormats: false,
    allErrors: true,
    // Most are used a few times: to make them fast takes longer than they do.
    code: { optimize: false }
  })
  ajv.addVocabulary(["components"])
  // Each schema that refers to others finds them here: to bring them along would have all of them looked through for each.
  ajv.addSchema({ $id: documentId, components: document.components })
  const compiled = new Map<JsonSchema | string, ValidateFunction>()
  const validate: Validate = (schema, value) => {
    // Most are references, hundreds of them to the same schema: they are compiled once together.
    const { $ref, ...others } = schema
    const name = typeof $ref === "string" && Object.keys(others).length === 0 ? $ref : schema
    let check = compiled.get(name)
    if (check === undefined) {
      check = ajv.compile(withinDocument(schema))
      compiled.set(name, check)
    }
    return check(value)
      ? []
      : check.errors!.map(({ instancePath, message }) => `$${instancePath} ${message ?? "does not fit"}`)
  }
  validators.set(document, validate)
  return validate
}

/** What is wrong with an answer of an operation: its status or type is not listed, or its body does not fit the schema. */
export const faultsOfAnswer = (
  document: Document,
  { responses }: Operation,
  answer: Answer
): ReadonlyArray<string> => {
  const listed = responses[answer.status]
  if (listed === undefined) return [`${answer.status} is not listed`]
  const type = answer.headers["content-type"]?.replace(/;.*$/, "")
  if (type === undefined) {
    return [
      ...(listed.content === undefined ? [] : [`${answer.status} has no content type`]),
      ...(answer.text === "" ? [] : [`${answer.status} has a body without a type`])
    ]
  }
  const schema = listed.content?.[type]?.schema
  if (schema === undefined) return [`${answer.status} is not listed as ${type}`]
  return validating(document)(schema, type.endsWith("json") ? jsonOf(answer) : answer.text)
}
