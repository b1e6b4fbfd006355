// A run: batches of cases that follow from their seeds, each judged, and the failing ones shrunk.

import { Clock, Data, Duration, Effect, FastCheck as fc, Runtime } from "effect"
import { Agent } from "node:http"
import { send } from "../test/support/http/HttpClient.ts"
import { operationsOf } from "../test/support/http/OpenApi.ts"
import type { Unavailable } from "../test/support/services/Service.ts"
import { canChange, type Case, cases, requestOf, shown, sizeOf } from "./Case.ts"
import * as Judge from "./Judge.ts"
import type { Stored, Target } from "./Program.ts"
import { hearAll } from "./Socket.ts"

/** How much to send, and what must hold. */
export interface CampaignOptions {
  /** Of the first batch; each of the others has the next one. */
  readonly seed: number
  /** How many batches the database has seen before. */
  readonly batchesBefore: number
  /** Cases to send, unless the time is over before; many requests at once, or over one connection, are one. */
  readonly requests: number
  /** When to end, on the wall clock. */
  readonly until_ms: number
  /** Bytes of a hostile body at most. */
  readonly bytesMax: number
  readonly limits: Judge.Limits
  /** How often memory is looked at until it has settled. */
  readonly settleEach: Duration.DurationInput
  /** Tells how many cases were sent so far. */
  readonly progress: (cases: number) => void
}

/** Something wrong, with how to see it again. */
export interface Finding extends Judge.Fault {
  readonly operation: string
  /** Of the batch. */
  readonly seed: number
  /** How the shrunk case is reached from the seed, as fast-check says it. */
  readonly path: string
  /** The shrunk case. */
  readonly case: string
  readonly evidence: string
}

/** What was seen. */
export interface Seen {
  readonly cases: number
  /** Those of bursts and pipelines counted each. */
  readonly requests: number
  readonly batches: number
  /** How often each status came, by operation; 0 is a connection that was cut. Raw sockets are an operation of their own. */
  readonly statuses: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** The longest wait of a redirect beside, what the event loop did in it at most, and the loop's longest delay as the program saw it. */
  readonly wait_ms: number
  readonly busy_ms: number
  readonly lag_ms: number
  readonly busiest: string
  /** The largest answer that refused something. */
  readonly refused_bytes: number
  readonly rss_MB: { readonly before: number; readonly after: number; readonly peak: number }
  readonly findings: ReadonlyArray<Finding>
}

/** Cases that follow from one seed, for which everything that they find is made again. */
export const batchSize = 500

/** Seeds are whole numbers below this. */
const seedsInAll = 2 ** 31

/** Findings after which a run ends. */
const findingsMax = 20

/** Tries of smaller cases for a finding, and the time for them. */
const shrinksMax = 200
const shrinkTime_ms = 30_000

/** How often memory is looked at for it to settle, at most. */
const settleTurns = 15

/** A program that answers nobody for so long is started again. */
const recoverMax = Duration.seconds(60)

/** Keeps none. */
const newConnections = new Agent()

/** Names of raw sockets' cases in the statistics. */
const socket = "socket"

/** What came of one case. */
interface Outcome {
  readonly faults: ReadonlyArray<Judge.Fault>
  readonly statuses: ReadonlyArray<number>
  readonly evidence: string
}

/** Ends a property of fast-check. */
class Failed extends Data.Error<{ readonly outcome: Outcome }> {}

const operationOf = (one: Case): string =>
  one.kind === "wire" ? `${socket}: ${one.wire.name}` : one.operationId

const nameOf = (one: Case, { check, what }: Judge.Fault): string => `${check} ${operationOf(one)} ${what}`

const tellOf = (status: number, bytes: number, text: string): string =>
  `answered ${status} with ${bytes} bytes: ${text.slice(0, 300)}`

/** Sends cases to a target that is there, one after the other, and judges what comes of them. */
export const run = Effect.fn("Campaign.run")(function* (
  target: Target,
  options: CampaignOptions
): Effect.fn.Return<Seen, Unavailable> {
  const { document } = target
  const { limits } = options
  const operations = new Map(
    operationsOf(document).map(({ operation }) => [operation.operationId, operation])
  )
  const statuses = new Map<string, Map<number, number>>()
  const findings: Array<Finding> = []
  const known = new Set<string>()
  const figures = { requests: 0, cases: 0, wait_ms: 0, busy_ms: 0, lag_ms: 0, refused_bytes: 0 }
  let peak_MB = 0
  let busiest = ""
  let client = 0

  /** Answers to cases of one request each, and those of them that are 503: many at once may be too many. */
  const alone = { answers: 0, unavailable: 0 }

  const counted = (operation: string, status: number) => {
    const of = statuses.get(operation) ?? new Map<number, number>()
    statuses.set(operation, of.set(status, (of.get(status) ?? 0) + 1))
  }

  /** One request, as one of many clients. */
  const asked = Effect.fnUntraced(function* (one: Exclude<Case, { kind: "wire" }>) {
    const request = requestOf(one)
    const address = `10.${(client >>> 16) & 255}.${(client >>> 8) & 255}.${client++ & 255}`
    const sent = { ...request, headers: { "x-forwarded-for": address, ...request.headers } }
    const isLarge = one.kind === "hostile" && (sent.body?.length ?? 0) > 0
    const once = (agent: Agent, cuts: ReadonlyArray<number>) =>
      Effect.map(send(agent, target.port, sent), (answer) => ({ answer, cuts }))
    const outcome: Outcome = yield* once(target.agent, []).pipe(
      // A connection that was kept may end just when the next request is on its way (RFC 9112, section 9.3.1).
      Effect.catchTag("NoAnswer", () => once(newConnections, [0])),
      Effect.map(({ answer, cuts }): Outcome => {
        const bytes = Buffer.byteLength(answer.text)
        if (answer.status >= 400) figures.refused_bytes = Math.max(figures.refused_bytes, bytes)
        return {
          faults: Judge.ofAnswer(document, operations.get(one.operationId)!, answer, limits),
          statuses: [...cuts, answer.status],
          evidence: tellOf(answer.status, bytes, answer.text)
        }
      }),
      Effect.timeoutTo({
        duration: limits.hang_ms,
        onSuccess: (outcome) => outcome,
        onTimeout: (): Outcome => ({
          faults: [{ check: "hang", what: `no answer within ${limits.hang_ms} ms` }],
          statuses: [],
          evidence: ""
        })
      }),
      // What is too large may be cut off instead of read to its end.
      Effect.catchTag("NoAnswer", ({ code }) =>
        Effect.succeed<Outcome>({
          faults: isLarge ? [] : [{ check: "no answer", what: `the connection ended: ${code}` }],
          statuses: [0],
          evidence: code
        })
      )
    )
    return outcome
  })

  const joined = (outcomes: ReadonlyArray<Outcome>): Outcome => ({
    faults: outcomes.flatMap(({ faults }) => faults),
    statuses: outcomes.flatMap(({ statuses }) => statuses),
    evidence: (outcomes.find(({ faults }) => faults.length > 0) ?? outcomes[0])?.evidence ?? ""
  })

  const sendOf = (one: Case): Effect.Effect<Outcome> => {
    switch (one.kind) {
      case "wire":
        return Effect.map(hearAll(target.port, one.wire, limits.hang_ms), (heard) =>
          joined(
            heard.map((each) => ({
              faults: Judge.ofHeard(document, one.wire, each, limits),
              statuses: each.answers.map(({ status }) => status),
              evidence: each.answers
                .map(({ body, bytes, status }) => tellOf(status, bytes, body))
                .join("\n")
                .slice(0, 600)
            }))
          )
        )
      case "burst":
        return Effect.map(
          Effect.all(
            Array.from({ length: one.times }, () => asked(one)),
            { concurrency: "unbounded" }
          ),
          joined
        )
      default:
        return asked(one)
    }
  }

  /** The wait of others, once the target answers again; a target that does not is restarted. */
  const recovered = Effect.fnUntraced(function* (one: Case) {
    const ended = target.ended()
    const lap = ended === null ? yield* Effect.timeoutOption(target.lap, recoverMax) : undefined
    if (lap?._tag === "Some") {
      const { busy_ms, wait_ms } = lap.value
      figures.wait_ms = Math.max(figures.wait_ms, wait_ms)
      if (busy_ms > figures.busy_ms) {
        figures.busy_ms = busy_ms
        busiest = operationOf(one)
      }
      const endedSince = target.ended()
      if (endedSince === null) return Judge.ofLap(lap.value, limits)
    }
    yield* Effect.orDie(target.revive)
    const how = target.ended() ?? ended ?? "answered nobody any more"
    return [{ check: "ended", what: `the program ${how}` }] satisfies ReadonlyArray<Judge.Fault>
  })

  let stored: Stored | null = target.stored()
  /** Until when something may still be stored of what nobody knows whether it was. */
  let unsureUntil_ms = 0
  const clock = yield* Effect.clock
  const now = () => clock.unsafeCurrentTimeMillis()

  /** Sends one case, and gives all that is wrong with what came of it. */
  const attempt = Effect.fnUntraced(function* (one: Case) {
    const sent = yield* sendOf(one)
    figures.requests += sizeOf(one)
    figures.cases++
    for (const status of sent.statuses) counted(one.kind === "wire" ? socket : one.operationId, status)
    if (one.kind === "request" || one.kind === "hostile") {
      alone.answers++
      if (sent.statuses.includes(503)) alone.unavailable++
    }
    const stalls = yield* recovered(one)
    peak_MB = Math.max(peak_MB, target.rss_MB())
    const broken = target.troubles().map((line): Judge.Fault => ({ check: "log", what: line.slice(0, 200) }))
    const before = stored
    if (sent.statuses.some(Judge.isUnsure)) unsureUntil_ms = now() + Judge.unsureFor_ms
    const isToBeChecked = canChange(one)
    if (isToBeChecked) stored = target.stored()
    const harm =
      isToBeChecked &&
      now() >= unsureUntil_ms &&
      before !== null &&
      stored !== null &&
      Judge.areRefused(sent.statuses)
        ? Judge.ofStored(before, stored)
        : []
    return { ...sent, faults: [...sent.faults, ...stalls, ...broken, ...harm] }
  })

  /** One batch, to its first finding that is new. */
  const batch = Effect.fnUntraced(function* (seed: number, number: number, size: number) {
    const supply = yield* target.supply(number)
    stored = target.stored()
    const runtime = yield* Effect.runtime()
    const shrinking = { name: "", tries: 0, until_ms: 0 }
    const property = fc.asyncProperty(cases(document, supply, options.bytesMax), async (one) => {
      if (now() > options.until_ms) return
      if (shrinking.name !== "" && (++shrinking.tries > shrinksMax || now() > shrinking.until_ms)) return
      const outcome = await Runtime.runPromise(runtime)(attempt(one))
      const found = outcome.faults.find((fault) =>
        shrinking.name === "" ? !known.has(nameOf(one, fault)) : nameOf(one, fault) === shrinking.name
      )
      if (found === undefined) return
      if (shrinking.name === "") {
        shrinking.name = nameOf(one, found)
        shrinking.until_ms = now() + shrinkTime_ms
      }
      throw new Failed({ outcome: { ...outcome, faults: [found] } })
    })
    const details = yield* Effect.promise(() => fc.check(property, { seed, numRuns: size }))
    if (!details.failed || details.counterexample === null) return
    const [one] = details.counterexample
    const error = details.errorInstance
    if (!(error instanceof Failed)) return yield* Effect.die(error)
    const { evidence, faults } = error.outcome
    known.add(nameOf(one, faults[0]!))
    findings.push({
      ...faults[0]!,
      operation: operationOf(one),
      seed,
      path: details.counterexamplePath ?? "",
      case: shown(one),
      evidence
    })
  })

  /** Resident memory once it falls no more. */
  const settled = Effect.gen(function* () {
    let lowest = target.rss_MB()
    for (let turn = 0; turn < settleTurns; turn++) {
      yield* Effect.sleep(options.settleEach)
      const rss_MB = target.rss_MB()
      if (rss_MB > lowest - 1) break
      lowest = rss_MB
    }
    return Math.min(lowest, target.rss_MB())
  })

  /** Of the batch after which memory is compared. */
  let before_MB = yield* settled
  let number = 0
  for (; figures.cases < options.requests && findings.length < findingsMax; number++) {
    if ((yield* Clock.currentTimeMillis) > options.until_ms) break
    const left = options.requests - figures.cases
    const seed = (options.seed + number) % seedsInAll
    yield* batch(seed, options.batchesBefore + number, Math.min(batchSize, left))
    figures.lag_ms = Math.max(figures.lag_ms, yield* target.lag_ms)
    if (number === 0 && left > batchSize) before_MB = yield* settled
    options.progress(figures.cases)
  }
  const after_MB = yield* settled

  const whole = [
    ...Judge.ofMemory(before_MB, after_MB, limits),
    ...Judge.ofUnavailable(alone.answers, alone.unavailable, limits)
  ]
  return {
    ...figures,
    batches: number,
    statuses: Object.fromEntries([...statuses].map(([name, of]) => [name, Object.fromEntries(of)])),
    busiest,
    rss_MB: { before: before_MB, after: after_MB, peak: peak_MB },
    findings: [
      ...findings,
      ...whole.map((fault): Finding => ({
        ...fault,
        operation: "all",
        seed: options.seed,
        path: "",
        case: `${figures.cases} cases`,
        evidence: `${before_MB.toFixed(0)} MB before, ${after_MB.toFixed(0)} MB after; ${alone.unavailable} of ${alone.answers} answers to one request at a time are 503`
      }))
    ]
  }
})
