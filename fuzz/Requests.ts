// Random requests to the operations of the OpenAPI document: as clients should send them, and as nobody should.

import { FastCheck as fc } from "effect"
import type { Request } from "../test/support/http/HttpClient.ts"
import { type Document, type Operation, operationsOf } from "../test/support/http/OpenApi.ts"
import { anyText, faulty, fitting, type Known, odd } from "./Values.ts"

/** Request headers. */
export type Headers = Readonly<Record<string, string>>

/** What requests can be made of beside the document. */
export interface Supply {
  readonly known: Known
  /** The headers by which each of some callers says who they are. */
  readonly callers: ReadonlyArray<Headers>
}

/** A request, and the operation that it is made for. */
export interface AnyRequest {
  readonly operationId: string
  readonly request: Request
}

type Values = fc.Arbitrary<unknown>
type Texts = fc.Arbitrary<string>

const written = (value: unknown) => encodeURIComponent(String(value).toWellFormed())

/** As a path segment or a query parameter. */
const inUrl = (values: Values): Texts => values.map(written)
const inUrlWild = (values: Values): Texts =>
  fc.oneof(
    { weight: 4, arbitrary: inUrl(values) },
    anyText.map(written),
    fc.constantFrom("%", "%ff", "%00", "%2f", "%2e%2e", "%ed%a0%80", "a%0d%0ab", "+", "~", "%ef%bb%bf")
  )

/** As a header's value, which is of Latin-1. */
const latin1 = fc.stringMatching(/^[\x20-\x7e\xa0-\xff]{0,40}$/)
const inHeader = (values: Values): Texts =>
  values.map((value) => String(value).replaceAll(/[^\x20-\x7e]/g, "?"))
const inHeaderWild = (values: Values): Texts => fc.oneof(inHeader(values), latin1)

const oddHeaders = fc.oneof(
  { weight: 10, arbitrary: fc.constant<Headers>({}) },
  fc.constantFrom<Headers>(
    { accept: "text/html,application/xhtml+xml,*/*;q=0.8" },
    { accept: "a/b;q=x, ;;, */" },
    { "accept-language": "de;q=2, \xff" },
    { "if-none-match": '*, "a", W/"b"' },
    { range: "bytes=0-0" },
    { expect: "100-continue" },
    { "content-encoding": "gzip" },
    { "x-http-method-override": "DELETE" },
    { "x-forwarded-for": "not an address, 203.0.113.9" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { authorization: "Basic YTpi" },
    { authorization: "Bearer" },
    { cookie: "linkmint_session=; =; ;;a=%" },
    { host: "example.com" },
    { "user-agent": "(".repeat(5_000) },
    { referer: "https://[" }
  ),
  fc
    .tuple(fc.constantFrom("x-request-id", "referer", "user-agent", "accept", "cookie", "x-api-key"), latin1)
    .map(([name, value]): Headers => ({ [name]: value }))
)

const oddQueries = fc.constantFrom("limit=1&limit=2", "%", "a=%ff", "__proto__=1", "=&&?", "format", "q=%00")

const form = "application/x-www-form-urlencoded"
const json = "application/json"

/** A value as a body of this type. */
const textOf = (type: string) => (value: unknown) => {
  if (type === json) return JSON.stringify(value) ?? ""
  if (typeof value !== "object" || value === null) return String(value)
  const fields = Object.entries(value).map(([name, inner]): [string, string] => [name, String(inner)])
  return new URLSearchParams(fields).toString()
}

/** Bytes that end too early, or of which one is wrong. */
const brokenBytes = (texts: Texts) =>
  fc.tuple(texts, fc.nat(), fc.nat({ max: 255 }), fc.boolean()).map(([text, at, byte, isCut]) => {
    const bytes = new TextEncoder().encode(text)
    if (bytes.length === 0) return bytes
    if (isCut) return bytes.subarray(0, at % bytes.length)
    bytes[at % bytes.length] = byte
    return bytes
  })

interface Sent {
  readonly body?: Request["body"]
  readonly headers: Headers
}

const nothingSent = fc.constant<Sent>({ headers: {} })

const sentAs = (types: Texts, bodies: fc.Arbitrary<Request["body"]>): fc.Arbitrary<Sent> =>
  fc.tuple(types, bodies).map(([type, body]) => ({ body, headers: { "content-type": type } }))

const bodyOf = ({ requestBody }: Operation, valuesOf: ReturnType<typeof fitting>) => {
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
  return type === undefined || content === undefined
    ? nothingSent
    : sentAs(fc.constantFrom(type, `${type};charset=UTF-8`), valuesOf(content.schema).map(textOf(type)))
}

const bodyOfWild = ({ requestBody }: Operation, valuesOf: ReturnType<typeof fitting>) => {
  const [type = json, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const values = content === undefined ? odd : valuesOf(content.schema)
  const texts = values.map(textOf(type))
  const bodies: fc.Arbitrary<Request["body"]> = fc.oneof(
    { weight: 6, arbitrary: texts },
    { weight: 12, arbitrary: faulty(values).map(textOf(type)) },
    { weight: 3, arbitrary: brokenBytes(texts) },
    { weight: 1, arbitrary: texts.map((text) => [Buffer.from(text), Buffer.from(" ")]) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
    { weight: 1, arbitrary: fc.constantFrom("", "[".repeat(30_000), " ".repeat(70_000), "\ufeff{}") }
  )
  const others = [form, json, "application/json; charset=latin1", "text/plain", "multipart/form-data", ""]
  const types = fc.oneof(
    { weight: 12, arbitrary: fc.constant(type) },
    { weight: 1, arbitrary: fc.constantFrom(...others) }
  )
  return fc.oneof(
    { weight: content === undefined ? 1 : 9, arbitrary: sentAs(types, bodies) },
    { weight: content === undefined ? 9 : 1, arbitrary: nothingSent }
  )
}

const requestTo = (
  { method, operation, path }: ReturnType<typeof operationsOf>[number],
  { callers }: Supply,
  valuesOf: ReturnType<typeof fitting>,
  isWild: boolean
): fc.Arbitrary<AnyRequest> => {
  const each = (place: string, as: (values: Values) => Texts) => {
    const parameters = operation.parameters?.filter((parameter) => parameter.in === place) ?? []
    const requiredKeys = parameters.flatMap(({ name, required }) => (required === true ? [name] : []))
    const values = parameters.map(({ name, schema }) => [name, as(valuesOf(schema, name))] as const)
    return fc.record(Object.fromEntries(values), { requiredKeys })
  }
  return fc
    .record({
      inPath: each("path", isWild ? inUrlWild : inUrl),
      inQuery: each("query", isWild ? inUrlWild : inUrl),
      inHeaders: each("header", isWild ? inHeaderWild : inHeader),
      caller: fc.constantFrom(...callers),
      sent: isWild ? bodyOfWild(operation, valuesOf) : bodyOf(operation, valuesOf),
      oddQuery: isWild ? fc.option(oddQueries, { nil: "", freq: 9 }) : fc.constant(""),
      more: isWild ? oddHeaders : fc.constant<Headers>({ accept: json })
    })
    .map(({ caller, inHeaders, inPath, inQuery, more, oddQuery, sent }) => {
      const parameters = Object.entries(inQuery).map(([name, value]) => `${name}=${value}`)
      const query = [...parameters, oddQuery].filter((part) => part !== "").join("&")
      // An empty segment would be another path.
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => inPath[name] || "empty")
      const request = {
        method: method.toUpperCase(),
        path: query === "" ? filled : `${filled}?${query}`,
        headers: { ...sent.headers, ...inHeaders, ...caller, ...more },
        ...(sent.body !== undefined && { body: sent.body })
      }
      return { operationId: operation.operationId, request }
    })
}

/** Requests to all operations alike: as clients should send them (`tame`), those of them that have a body (`full`), and as nobody should send them (`wild`). */
export const requestsOf = (
  document: Document,
  supply: Supply
): Readonly<Record<"tame" | "full" | "wild", fc.Arbitrary<AnyRequest>>> => {
  const valuesOf = fitting(document.components.schemas, supply.known)
  const all = operationsOf(document)
  const to = (listed: typeof all, isWild: boolean) =>
    fc.oneof(...listed.map((one) => requestTo(one, supply, valuesOf, isWild)))
  const full = all.filter(({ operation }) => operation.requestBody !== undefined)
  return { tame: to(all, false), full: to(full, false), wild: to(all, true) }
}
