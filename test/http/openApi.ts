// The service's OpenAPI document, and whether answers are as it says.

import { type Answer, jsonOf } from "./client.ts"
import { type Definitions, faultsOf, type JsonSchema } from "./jsonSchema.ts"

/** Schemas by media type. */
export type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>

/** What a client can send to one path by one method. */
export interface Operation {
  readonly operationId: string
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

/** What is wrong with an answer of an operation: its status or type is not listed, or its body does not fit the schema. */
export const faultsOfAnswer = (
  { components }: Document,
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
  return faultsOf(components.schemas, schema, type.endsWith("json") ? jsonOf(answer) : answer.text)
}
