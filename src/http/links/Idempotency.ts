import { Effect, Either, Schema } from "effect"
import type { Guarding, Superseded } from "../../actors/links/LinkDraft.ts"
import { fromFailure, type Unavailable } from "../../actors/Unavailable.ts"
import type { Link } from "../../model/Link.ts"
import { drawId } from "../../model/RandomId.ts"
import { KeyedHash } from "../../secrets/KeyedHash.ts"
import * as Secret from "../../secrets/Secret.ts"
import {
  abandon,
  begin,
  type Guard,
  GuardedCreates,
  type GuardState,
  guardTimes,
  holding,
  settle
} from "../../storage/links/GuardedCreates.ts"
import * as Http from "../exchange/Answer.ts"
import * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import * as Traced from "../../telemetry/Traced.ts"

/** An answer as it is kept for repeats. */
const Answer = Schema.Struct({
  status: Schema.Number,
  contentType: Schema.String,
  location: Schema.NullOr(Schema.String),
  body: Schema.String
})
/** See {@link Answer}. */
export type Answer = typeof Answer.Type

const Kept = Schema.parseJson(Answer)
const encode = Schema.encodeSync(Kept)

/** The HTTP answer that an answer is. */
export const respond = ({ answer, isReplay }: Answered): Http.Answer => ({
  status: answer.status,
  headers: Http.flatten({
    "content-type": answer.contentType,
    "cache-control": "no-store",
    ...(answer.location !== null && { location: answer.location }),
    ...(isReplay && { "idempotency-replayed": "true" })
  }),
  body: answer.body
})

/** 1 to 255 printable ASCII characters. */
const keyShape = /^[\x20-\x7e]{1,255}$/

const badKey = Problem.faulty("invalid-request", [
  { path: "Idempotency-Key", message: "must have 1 to 255 printable ASCII characters" }
])

const inProgress: Problem.Problem = {
  kind: "idempotency-in-progress",
  detail: "A request with this Idempotency-Key is under way. Please try again."
}

const mismatch: Problem.Problem = {
  kind: "idempotency-mismatch",
  detail: "This Idempotency-Key was used with another request body."
}

/** A guard's fingerprint once nothing is known of its create any more: repeats are not compared with it. */
const unknownBody = ""

/** What a create that is answered once comes to: an answer that was made under the guards, and is settled; or one that is not. */
export interface Outcome {
  readonly answer: Answer
  readonly isSettled: boolean
}

/** A create that can be asked to hold guards. `answerOf` says how the answer of a link is kept. */
export type Create = (
  guarding: Guarding
) => Effect.Effect<Outcome, Problem.Problem | Superseded | Unavailable>

/** The `Idempotency-Key` of a request, if it has one. */
export const keyOf = (
  request: Pick<Request, "headers">
): Either.Either<string | undefined, Problem.Problem> => {
  const key = request.headers["idempotency-key"]
  return key === undefined || keyShape.test(key) ? Either.right(key) : Either.left(badKey)
}

/** What the repeats of a create are known by: their key, among those of their owner. Each must have the same body, which is JSON as it was understood. */
export interface Repeats {
  readonly key: string
  readonly owner: string | null
  readonly body: string
}

/** What is to be run once. */
export interface Once {
  /** `null`: it runs each time. */
  readonly repeats: Repeats | null
  /** How the answer of a link is kept. */
  readonly answerOf: (link: Link) => Answer
  readonly create: Create
}

/** An answer, and whether it was given before. */
export interface Answered {
  readonly answer: Answer
  readonly isReplay: boolean
}

const problemOf = (
  error: Problem.Problem | Superseded | Unavailable
): Effect.Effect<never, Problem.Problem> => {
  if (!("_tag" in error)) return Effect.fail(error)
  return error._tag === "Superseded" ? Effect.fail(inProgress) : Problem.orUnavailable(error)
}

/** Runs creates once for each key. */
export const make = Effect.map(Effect.all([GuardedCreates, KeyedHash]), ([guarded, hash]) => {
  const replay = (state: GuardState, fingerprint: string): Effect.Effect<Answered, Problem.Problem> => {
    if (state._tag === "Begun") return Effect.fail(inProgress)
    if (state.fingerprint !== unknownBody && state.fingerprint !== fingerprint) return Effect.fail(mismatch)
    if (state._tag === "Running") return Effect.fail(inProgress)
    return Effect.orDie(
      Effect.map(Schema.decode(Kept)(state.answer), (answer) => ({ answer, isReplay: true }))
    )
  }

  /**
   * Runs a create once for each key of an owner: a repeat with the same body within 24 h gets the first answer again. Answers that a repeat would get
   * anyway, because something is wrong with the request, are not kept, nor is one that says to try again. Callers without an account share one space of
   * keys.
   */
  return Effect.fnUntraced(function* ({ answerOf, create, repeats }: Once) {
    const guarding = (guards: ReadonlyArray<Guard>): Guarding => ({
      guards,
      answerOf: (link) => encode(answerOf(link))
    })
    if (repeats === null) {
      const { answer } = yield* Effect.catchAll(create(guarding([])), problemOf)
      return { answer, isReplay: false }
    }
    const { body, key, owner } = repeats
    const fingerprint = hash.of("create-body", body)
    const name = `idempotency:${Secret.digest(`${owner ?? ""}\n${key}`)}`
    const guard = { name, token: yield* drawId, fingerprint }
    const beginning = Problem.orUnavailable(
      Effect.mapError(begin(guarded, { ...guard, ...guardTimes }), fromFailure)
    )
    const createUnder = Effect.gen(function* () {
      const outcome = yield* Effect.either(create(guarding([guard])))
      if (Either.isRight(outcome)) {
        const { answer, isSettled } = outcome.right
        if (!isSettled) yield* Effect.ignore(settle(guarded, guard, encode(answer)))
        return { answer, isReplay: false }
      }
      const error = outcome.left
      if ("_tag" in error && error._tag === "Superseded") {
        // An earlier try of this very create may have been applied, and its answer lost.
        const state = yield* beginning
        // Or it is under way beside its alias, under the substitute, and this one holds the guard for nothing: the next repeat is to meet what becomes of the other.
        if (state._tag !== "Settled") yield* Effect.ignore(abandon(guarded, guard))
        return yield* replay(state, fingerprint)
      }
      const isUnknown = "_tag" in error && error.applied === "unknown"
      if (!isUnknown) yield* Effect.ignore(abandon(guarded, guard))
      return yield* problemOf(error)
    })
    return yield* holding({
      begin: beginning,
      create: () => createUnder,
      otherwise: (state) => replay(state, fingerprint),
      // A link that is still on the way is bound only where a repeat gets its answer: with the guard, or with an alias's substitute for it. To hold the guard for an alias would have repeats
      // wait for its lease also where no bind has begun yet; one that has, has them wait for itself alone.
      giveUp: () => abandon(guarded, guard)
    })
  }, Traced.span("Idempotency.once"))
})
