// What is wrong with what came of a case.

import type { Answer } from "../test/support/http/HttpClient.ts"
import { type Document, faultsOfAnswer, type Operation, validating } from "../test/support/http/OpenApi.ts"
import type { Lap } from "./Probe.ts"
import type { Stored } from "./Program.ts"
import type { Heard } from "./Socket.ts"
import type { Wire } from "./Wire.ts"

/** What is checked. */
export const checks = [
  "status",
  "schema",
  "hang",
  "size",
  "no answer",
  "wire",
  "stored",
  "stall",
  "memory",
  "ended",
  "log",
  "unavailable"
] as const

/** One thing that is wrong. */
export interface Fault {
  readonly check: (typeof checks)[number]
  readonly what: string
}

/** What must hold. */
export interface Limits {
  /** Time for an answer. */
  readonly hang_ms: number
  /** Bytes of an answer that refuses. */
  readonly refused_bytes: number
  /** The most CPU time of the main thread while a redirect waits. */
  readonly stall_ms: number
  /** By how much the resident memory may have grown at the end. */
  readonly growth_MB: number
  /** The part of all answers that may be 503. */
  readonly unavailable: number
}

/** Those of `npm run fuzz`. */
export const limits: Limits = {
  hang_ms: 5_000,
  refused_bytes: 64 * 1_024,
  stall_ms: 250,
  growth_MB: 150,
  unavailable: 0.01
}

const isRefusal = (status: number): boolean => status >= 400

const tooLarge = (status: number, bytes: number, { refused_bytes }: Limits): ReadonlyArray<Fault> =>
  isRefusal(status) && bytes > refused_bytes
    ? [{ check: "size", what: `an answer ${status} of more than ${refused_bytes} bytes` }]
    : []

/** Of 5xx the contract lists, for each operation, those that say that the service is at fault. It is not while it is well, but it may be busy. */
const atFault = (status: number): ReadonlyArray<Fault> =>
  status >= 500 && status !== 503 ? [{ check: "status", what: `it says ${status}` }] : []

/** Of an answer to an operation of the contract. */
export const ofAnswer = (
  document: Document,
  operation: Operation,
  answer: Answer,
  limits: Limits
): ReadonlyArray<Fault> => [
  ...atFault(answer.status),
  ...(operation.responses[answer.status] === undefined
    ? [{ check: "status" as const, what: `${answer.status} is not listed` }]
    : faultsOfAnswer(document, operation, answer).map((what): Fault => ({ check: "schema", what }))),
  ...(answer.headers["x-request-id"] === undefined
    ? [{ check: "schema" as const, what: "it has no X-Request-Id" }]
    : []),
  ...tooLarge(answer.status, Buffer.byteLength(answer.text), limits)
]

/** What HTTP itself refuses, beside what the contract lists: RFC 9110, section 15; RFC 6585. */
const ofTransport = new Set([
  400, 401, 403, 404, 405, 408, 409, 410, 411, 413, 414, 415, 417, 422, 426, 429, 431, 501, 503, 505
])

const problemFaults = (document: Document, body: string): ReadonlyArray<string> => {
  try {
    return validating(document)(
      { $ref: "#/components/schemas/Problem" },
      JSON.parse(Buffer.from(body, "latin1").toString())
    )
  } catch {
    return ["the problem is not JSON"]
  }
}

/** Of what one connection heard. */
export const ofHeard = (
  document: Document,
  wire: Wire,
  { answers, garbage, isHung }: Heard,
  limits: Limits
): ReadonlyArray<Fault> => [
  ...(isHung ? [{ check: "hang" as const, what: "neither an answer nor the end of the connection" }] : []),
  // A request that is not understood is not known to be HEAD either: its refusal has a body.
  ...(garbage === "" || wire.isHead
    ? []
    : [{ check: "wire" as const, what: "what came is no answer of HTTP/1.1" }]),
  ...(answers.length > wire.answersMax
    ? [{ check: "wire" as const, what: `more than ${wire.answersMax} answer(s)` }]
    : []),
  ...answers.flatMap(({ body, bytes, headers, status }): ReadonlyArray<Fault> => [
    ...atFault(status),
    ...(status >= 400 && status < 500 && !ofTransport.has(status)
      ? [{ check: "status" as const, what: `${status} is none that HTTP has for this` }]
      : []),
    ...(!wire.isHead && headers["content-type"]?.startsWith("application/problem+json") === true
      ? problemFaults(document, body).map((what): Fault => ({ check: "schema", what }))
      : []),
    ...tooLarge(status, bytes, limits)
  ])
]

/** Of the wait of somebody else beside the case. */
export const ofLap = ({ busy_ms }: Lap, { stall_ms }: Limits): ReadonlyArray<Fault> =>
  busy_ms > stall_ms
    ? [{ check: "stall", what: `the event loop was busy for more than ${stall_ms} ms at a time` }]
    : []

/** Of what is stored before and after something that was refused. */
export const ofStored = (before: Stored, after: Stored): ReadonlyArray<Fault> =>
  Object.keys(before)
    .filter((table) => before[table] !== after[table])
    .map((table) => ({ check: "stored", what: `a refused request changed the number of ${table}` }))

/** Of the memory at the end of a life, beside that after its beginning, in megabytes. */
export const ofMemory = (before: number, after: number, { growth_MB }: Limits): ReadonlyArray<Fault> =>
  after - before > growth_MB ? [{ check: "memory", what: `it grew by more than ${growth_MB} MB` }] : []

/** Of so many answers, of which so many were 503. */
export const ofUnavailable = (
  answers: number,
  unavailable: number,
  { unavailable: part }: Limits
): ReadonlyArray<Fault> =>
  // Some, of few, say nothing.
  unavailable > Math.max(5, part * answers)
    ? [{ check: "unavailable", what: `more than ${100 * part} % of the answers are 503` }]
    : []

/** How long what was given up may still be stored, in milliseconds: longer than any request is worked on. */
export const unsureFor_ms = 10_000

/** Whether nobody knows what was stored: of a request that was not answered (0), or given up by the service. */
export const isUnsure = (status: number): boolean => status === 0 || status === 503

/** Whether all answers refuse: then nothing may have been stored. */
export const areRefused = (statuses: ReadonlyArray<number>): boolean =>
  statuses.every((status) => isRefusal(status) && !isUnsure(status))
