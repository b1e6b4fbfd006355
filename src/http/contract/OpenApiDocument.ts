import { Record as Records } from "effect"
import { isProblemType } from "../exchange/Problem.ts"

/** The fields of a JSON schema that are used here. */
interface Schema {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<Schema>
  readonly enum?: ReadonlyArray<unknown>
  readonly properties?: Readonly<Record<string, Schema>>
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

/** The fields of an OpenAPI operation that are used here. */
interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

/** The fields of an OpenAPI document that are used here. */
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** The schemas of Effect's own answer to invalid requests, which this service never gives: it answers with problems. */
const unused = ["HttpApiDecodeError", "Issue", "PropertyKey"]

const isUnused = ({ $ref }: Schema) => unused.some((name) => $ref === `#/components/schemas/${name}`)

const isProblem = ({ properties }: Schema) => isProblemType(String(properties?.["type"]?.enum?.[0]))

const oneOf = (schemas: ReadonlyArray<Schema>): Schema =>
  schemas.length === 1 ? schemas[0]! : { anyOf: schemas }

/** A response's content by media type: Effect puts all JSON of a status under one media type. */
const contentOf = (content: Content): Content => {
  const others = Object.entries(content).filter(([mediaType]) => !mediaType.endsWith("json"))
  const schemas = Object.entries(content)
    .filter(([mediaType]) => mediaType.endsWith("json"))
    .flatMap(([, { schema }]) => schema.anyOf ?? [schema])
    .filter((schema) => !isUnused(schema))
  const problems = schemas.filter(isProblem)
  const bodies = schemas.filter((schema) => !isProblem(schema))
  return {
    ...Object.fromEntries(others),
    ...(bodies.length > 0 && { "application/json": { schema: oneOf(bodies) } }),
    ...(problems.length > 0 && { "application/problem+json": { schema: oneOf(problems) } })
  }
}

/** Responses with their content under the right media types, and without those that only the unused errors would give. */
const responsesOf = (responses: Operation["responses"]): Operation["responses"] =>
  Object.fromEntries(
    Object.entries(responses).flatMap(([status, response]) => {
      if (response.content === undefined) return [[status, response]]
      const content = contentOf(response.content)
      return Object.keys(content).length === 0 ? [] : [[status, { ...response, content }]]
    })
  )

/** An operation whose answer of a status has one of several media types, the first of which is in the contract. */
export const answersWith =
  (status: string, [told, ...others]: readonly [string, ...Array<string>]) =>
  (made: Record<string, unknown>): Record<string, unknown> => {
    const { responses } = made as unknown as Operation
    const schema = responses[status]!.content![told]!
    const content = { [told]: schema, ...Object.fromEntries(others.map((other) => [other, schema])) }
    return { ...made, responses: { ...responses, [status]: { ...responses[status], content } } }
  }

/** An operation that answers with text of a media type at a status, where that is asked for. */
export const answersText =
  (status: string, type: string) =>
  (made: Record<string, unknown>): Record<string, unknown> => {
    const { responses } = made as unknown as Operation
    const content = { ...responses[status]!.content, [type]: { schema: { type: "string" } as Schema } }
    return { ...made, responses: { ...responses, [status]: { ...responses[status], content } } }
  }

const page: Content = { "text/html": { schema: { type: "string" } as Schema } }

/** An operation that answers browsers with pages at these statuses. */
export const answersPages =
  (statuses: ReadonlyArray<string>) =>
  (made: Record<string, unknown>): Record<string, unknown> => {
    const { responses } = made as unknown as Operation
    return {
      ...made,
      responses: Records.map(responses, (response, status) =>
        statuses.includes(status) ? { ...response, content: { ...response.content, ...page } } : response
      )
    }
  }

/** Corrects the document that Effect makes of the API to the answers as they are. */
export const correct = (made: Record<string, unknown>): Record<string, unknown> => {
  const { components, paths } = made as unknown as Document
  return {
    ...made,
    paths: Records.map(paths, (operations) =>
      Records.map(operations, (operation) => ({ ...operation, responses: responsesOf(operation.responses) }))
    ),
    components: {
      ...components,
      schemas: Records.filter(components.schemas, (_, name) => !unused.includes(name))
    }
  }
}
