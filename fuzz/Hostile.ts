// Bodies of hostile size and depth: a valid one in which a part is replaced by something large, and which may be damaged on its way.

import { FastCheck as fc } from "effect"
import { gzipSync } from "node:zlib"
import type { AnyRequest } from "./Requests.ts"
import { type Path, placesIn, replaced } from "./Values.ts"

/** What takes the place of a part. It is kept as numbers, so that a failing case shrinks to a small one. */
export type Shape =
  | {
      readonly shape: "nested"
      readonly of: "array" | "object"
      readonly count: number
      readonly isClosed: boolean
    }
  | { readonly shape: "elements"; readonly of: string; readonly count: number }
  | { readonly shape: "fields"; readonly of: "distinct" | "duplicate"; readonly count: number }
  | { readonly shape: "text"; readonly of: string; readonly count: number }
  | { readonly shape: "number"; readonly of: string; readonly count: number }
  | { readonly shape: "spaces"; readonly count: number }

/** What happens to the bytes. */
export type Damage =
  | { readonly damage: "none" | "bom" | "utf-16" | "gzip" | "claims gzip" | "wrong type" | "no type" }
  /** Places are parts of a thousand. */
  | { readonly damage: "cut"; readonly at: number }
  | { readonly damage: "byte"; readonly at: number; readonly byte: number }

/** A hostile body. */
export interface Hostile {
  /** The body, with {@link hole} in the place of what is hostile. */
  readonly around: string
  readonly inside: Shape
  readonly damage: Damage
  readonly isChunked: boolean
}

/** Stands where the hostile part belongs. */
export const hole = "<hole>"

const list = (of: string, count: number): string => (count === 0 ? "" : `${`${of},`.repeat(count - 1)}${of}`)

const insideOf = (shape: Shape): string => {
  const { count } = shape
  switch (shape.shape) {
    case "nested": {
      const [open, close] = shape.of === "array" ? ["[", "]"] : ['{"a":', "}"]
      return shape.isClosed ? `${open.repeat(count)}0${close.repeat(count)}` : open.repeat(count)
    }
    case "elements":
      return `[${list(shape.of, count)}]`
    case "fields":
      return shape.of === "duplicate"
        ? `{${list('"a":0', count)}}`
        : `{${Array.from({ length: count }, (_, n) => `"f${n}":0`).join(",")}}`
    case "text":
      return `"${shape.of.repeat(count)}"`
    case "number":
      return shape.of.replace("9", "9".repeat(Math.max(1, count)))
    case "spaces":
      return `${" ".repeat(count)}0`
  }
}

const damaged = (text: string, damage: Damage): Uint8Array => {
  const bytes = Buffer.from(text)
  const placeOf = (at: number) => Math.floor((bytes.length * at) / 1_000)
  switch (damage.damage) {
    case "cut":
      return bytes.subarray(0, placeOf(damage.at))
    case "byte":
      if (bytes.length > 0) bytes[placeOf(damage.at)] = damage.byte
      return bytes
    case "bom":
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])
    case "utf-16":
      return Buffer.from(text, "utf16le")
    case "gzip":
      return gzipSync(bytes)
    default:
      return bytes
  }
}

const headersOf = (damage: Damage): Readonly<Record<string, string>> => {
  switch (damage.damage) {
    case "gzip":
    case "claims gzip":
      return { "content-encoding": "gzip" }
    case "wrong type":
      return { "content-type": "text/plain" }
    case "no type":
      return { "content-type": "" }
    default:
      return {}
  }
}

/** The bytes of a hostile body, and the headers that its damage brings. */
export const rendered = ({ around, damage, inside }: Hostile) => ({
  // Not by a pattern of replacements: what is inserted may have a `$`.
  bytes: damaged(
    around.replace(hole, () => insideOf(inside)),
    damage
  ),
  headers: headersOf(damage)
})

/** Counts up to `max`, as many small ones as large ones, and the largest often; they shrink towards 0. */
const counts = (max: number): fc.Arbitrary<number> => {
  const powerMax = Math.ceil(64 * Math.log2(max + 1))
  const powers = fc.integer({ min: 0, max: powerMax })
  return fc
    .oneof(
      { weight: 3, arbitrary: powers },
      powers.map((power) => powerMax - (power % 64))
    )
    .map((power) => Math.min(max, Math.round(2 ** (power / 64)) - 1))
}

const shapes = (bytesMax: number): fc.Arbitrary<Shape> => {
  const sized = <A extends { readonly of: string }>(
    ofs: ReadonlyArray<A["of"]>,
    more: (of: A["of"]) => fc.Arbitrary<Shape>
  ) => fc.constantFrom(...ofs).chain(more)
  const times = (length: number) => counts(Math.floor(bytesMax / length))
  return fc.oneof(
    sized<Extract<Shape, { shape: "nested" }>>(["array", "object"], (of) =>
      fc.record({
        shape: fc.constant("nested" as const),
        of: fc.constant(of),
        count: times(of === "array" ? 2 : 7),
        isClosed: fc.boolean()
      })
    ),
    sized<Extract<Shape, { shape: "elements" }>>(
      ["0", '""', "{}", "[]", '"a"', "null", '{"url":"x"}', '{"url":"https://example.com/","password":"a"}'],
      (of) =>
        fc.record({
          shape: fc.constant("elements" as const),
          of: fc.constant(of),
          count: times(of.length + 1)
        })
    ),
    fc.record({
      shape: fc.constant("fields" as const),
      of: fc.constantFrom("distinct" as const, "duplicate" as const),
      count: times(12)
    }),
    sized<Extract<Shape, { shape: "text" }>>(
      ["a", " ", "ä", "😀", "\\u0000", "\\ud800", "%", "$&", "https://example.com/"],
      (of) =>
        fc.record({
          shape: fc.constant("text" as const),
          of: fc.constant(of),
          count: times(Buffer.byteLength(of))
        })
    ),
    fc.record({
      shape: fc.constant("number" as const),
      of: fc.constantFrom("9", "-9", "1e9", "1e-9", "0.9", "9.5", "09", "1e9.", "-", "9n"),
      count: times(1)
    }),
    fc.record({ shape: fc.constant("spaces" as const), count: times(1) })
  )
}

const damages: fc.Arbitrary<Damage> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Damage>({ damage: "none" }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Damage>(
      ...(["bom", "utf-16", "gzip", "claims gzip", "wrong type", "no type"] as const).map((damage) => ({
        damage
      }))
    )
  },
  { weight: 2, arbitrary: fc.record({ damage: fc.constant("cut" as const), at: fc.nat({ max: 999 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      damage: fc.constant("byte" as const),
      at: fc.nat({ max: 999 }),
      byte: fc.constantFrom(0, 0x22, 0x5c, 0x80, 0xc0, 0xed, 0xff)
    })
  }
)

const isList = (value: unknown, path: Path): boolean =>
  Array.isArray(
    path.reduce<unknown>((part, name) => (part as Readonly<Record<string, unknown>>)[name], value)
  )

/** A body with a hole somewhere: mostly in the place of a list, where it has one. Forms have theirs as their last value. */
const withHole = ({ body }: AnyRequest["request"], place: number): string => {
  if (typeof body !== "string" || !body.startsWith("{"))
    return typeof body === "string" ? `${body}&a=${hole}` : hole
  const value = JSON.parse(body) as unknown
  const places = placesIn(value)
  const lists = places.filter((path) => isList(value, path))
  const likely = [...places, ...Array.from({ length: places.length }, () => lists).flat()]
  return JSON.stringify(replaced(value, likely[place % likely.length]!, () => hole)).replace(
    JSON.stringify(hole),
    () => hole
  )
}

/** `Idempotency-Key`s as they come, and as nobody expects them. */
const idempotencyKeys = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  fc.constantFrom(
    "once",
    "twice",
    "k",
    "k".repeat(255),
    "k".repeat(256),
    "k".repeat(8_000),
    " ",
    "\xe4",
    '"a"'
  )
)

/** Requests that should be refused, or at least do no harm: those of `requests` with a hostile body of some `bytesMax` bytes at most. */
export const hostileRequests = (requests: fc.Arbitrary<AnyRequest>, bytesMax: number) =>
  fc
    // What comes first shrinks first: a small shape shows more than a small request.
    .tuple(shapes(bytesMax), damages, fc.boolean(), idempotencyKeys, fc.nat(), requests)
    .map(([inside, damage, isChunked, key, place, { operationId, request }]) => {
      const { headers = {}, method = "GET", path } = request
      return {
        operationId,
        request: {
          method,
          path,
          headers: {
            "content-type": "application/json",
            ...headers,
            ...(key !== undefined && { "idempotency-key": key })
          }
        },
        hostile: { around: withHole(request, place), inside, damage, isChunked } satisfies Hostile
      }
    })
