// What is sent in one go, and how it is drawn.

import { FastCheck as fc } from "effect"
import type { Request } from "../test/support/http/HttpClient.ts"
import type { Document } from "../test/support/http/OpenApi.ts"
import { type Hostile, hostileRequests, rendered } from "./Hostile.ts"
import { type AnyRequest, requestsOf, type Supply } from "./Requests.ts"
import { type Wire, wires } from "./Wire.ts"

/** One case. */
export type Case =
  | ({ readonly kind: "request" } & AnyRequest)
  | ({ readonly kind: "hostile"; readonly hostile: Hostile } & AnyRequest)
  /** The same request many times at once. */
  | ({ readonly kind: "burst"; readonly times: number } & AnyRequest)
  | { readonly kind: "wire"; readonly wire: Wire }

/** Cases for a document; bodies have some `bytesMax` bytes at most. */
export const cases = (document: Document, supply: Supply, bytesMax: number): fc.Arbitrary<Case> => {
  const { full, tame, wild } = requestsOf(document, supply)
  const plain = (requests: fc.Arbitrary<AnyRequest>) =>
    requests.map((drawn): Case => ({ kind: "request", ...drawn }))
  return fc.oneof(
    { weight: 40, arbitrary: plain(tame) },
    { weight: 36, arbitrary: plain(wild) },
    {
      weight: 16,
      arbitrary: hostileRequests(
        fc.oneof({ weight: 9, arbitrary: full }, { weight: 1, arbitrary: tame }),
        bytesMax
      ).map((drawn): Case => ({ kind: "hostile", ...drawn }))
    },
    {
      weight: 6,
      arbitrary: wires((supply.known["key"] ?? []).map((key) => `/${key}`)).map((wire): Case => ({
        kind: "wire",
        wire
      }))
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.oneof(tame, wild), fc.integer({ min: 2, max: 40 }))
        .map(([drawn, times]): Case => ({ kind: "burst", times, ...drawn }))
    }
  )
}

/** The request of a case that a client of HTTP can send. */
export const requestOf = (one: Exclude<Case, { kind: "wire" }>): Request => {
  if (one.kind !== "hostile") return one.request
  const { bytes, headers } = rendered(one.hostile)
  return {
    ...one.request,
    headers: { ...one.request.headers, ...headers },
    body: one.hostile.isChunked ? [bytes] : bytes
  }
}

/** How many requests a case is on the wire. */
export const sizeOf = (one: Case): number => {
  if (one.kind === "burst") return one.times
  return one.kind === "wire" ? one.wire.answersMax * one.wire.connections : 1
}

/** Whether a case is of a kind that can change something. */
export const canChange = (one: Case): boolean => one.kind === "wire" || one.request.method !== "GET"

/** Characters of a text that are shown. */
const shownMax = 600

const shortened = (text: string): string =>
  text.length <= shownMax ? text : `${text.slice(0, shownMax)}… (${text.length} characters)`

/** A case for people: what they need to send it by hand. */
export const shown = (one: Case): string => {
  if (one.kind === "wire") {
    const { connections, name, parts } = one.wire
    const texts = parts.map(
      ({ text, times }) => `${shortened(JSON.stringify(text))}${times === 1 ? "" : ` × ${times}`}`
    )
    return `${name}, over ${connections} connection(s):\n    ${texts.join("\n    ")}`
  }
  const { body, headers, method, path } = one.request
  const said = [
    `${method} ${shortened(path)}${one.kind === "burst" ? `, ${one.times} times at once` : ""}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => shortened(`${name}: ${String(value)}`))
  ]
  if (one.kind === "hostile") {
    const { around, damage, inside, isChunked } = one.hostile
    said.push(
      `${shortened(around)}  with ${JSON.stringify(inside)} in the hole, ${JSON.stringify(damage)}${isChunked ? ", chunked" : ""}`
    )
  } else if (body !== undefined) {
    said.push(shortened(typeof body === "string" ? body : JSON.stringify(body)))
  }
  return said.join("\n    ")
}
