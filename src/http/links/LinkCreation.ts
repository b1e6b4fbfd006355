import { Clock, Effect, Either, Exit, FiberRef } from "effect"
import { Links } from "../../actors/links/Links.ts"
import type { Link } from "../../model/Link.ts"
import * as Traced from "../../telemetry/Traced.ts"
import { monotonicNow_ms } from "../../time/MonotonicTime.ts"
import type { FastOperation } from "../contract/Operations.ts"
import type { Answer } from "../exchange/Answer.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import * as Problem from "../exchange/Problem.ts"
import * as RateLimit from "../exchange/RateLimit.ts"
import type { Request } from "../exchange/Request.ts"
import * as BulkCreation from "./BulkCreation.ts"
import { plainDraftOf, planCreate } from "./CreatePlan.ts"
import * as Creation from "./Creation.ts"
import { orProblem } from "./LinkAnswers.ts"

/** For how long a caller is who that was, in milliseconds: a body can take seconds, in which a session or a key ends. */
const knownFor_ms = 250

/**
 * Creates without a fiber what is plain: a link with a minted key, by a caller whom this node knows, from a quota of which it has leased some. A plan that turns out to be another is
 * handed on as it is. No create is plain where requests are traced.
 */
const makePlain = Effect.fnUntraced(function* (
  { carryOut, created, creatorOf }: Creation.Creation,
  createBy: (request: Request, json: unknown) => Effect.Effect<Answer, Problem.Problem>
) {
  const identify = yield* Caller.makeNow
  const links = yield* Links
  const clock = yield* Effect.clock
  const isTraced = yield* FiberRef.get(FiberRef.currentTracerEnabled)

  const answerThen: FastOperation<unknown>["answerThen"] = (request, _, { answer, instead, isOver }) => {
    if (isTraced || request.headers["idempotency-key"] !== undefined) return false
    const caller = identify(request)
    if (caller === undefined) return false
    const known = creatorOf(request, caller)
    if (Either.isLeft(known)) return false
    const creator = known.right
    const refuse = (problem: Problem.Problem) => answer(Problem.answer(problem))
    const begun_ms = monotonicNow_ms(clock)
    Body.readJsonBytes(request, Body.plain, (bytes) => {
      // A body can take longer than its answer may: nobody would learn of the link.
      if (isOver()) return
      const json = Either.flatMap(bytes, Body.parse)
      if (Either.isLeft(json)) return refuse(json.left)
      if (monotonicNow_ms(clock) - begun_ms > knownFor_ms) return instead(createBy(request, json.right))
      const plan = planCreate(json.right, creator, clock.unsafeCurrentTimeMillis())
      if (Either.isLeft(plan.link)) return refuse(plan.link.left)
      const draft = plainDraftOf(plan)
      const standing = draft === undefined ? undefined : creator.quotaNow()
      if (draft === undefined || standing === undefined) {
        return instead(Effect.map(carryOut(plan, creator.quota()), Creation.answerOf))
      }
      if (standing?.isAllowed === false) return refuse(RateLimit.problemOf(standing))
      const answered = (link: Link) =>
        Creation.answerOf({ answered: { answer: created(link), isReplay: false }, standing })
      links.createThen(draft, (made) =>
        Exit.isSuccess(made) ? answer(answered(made.value)) : instead(Effect.map(orProblem(made), answered))
      )
    })
    return true
  }
  return answerThen
})

/** Creates links, one or many at a time. */
export const make = Effect.fnUntraced(function* (options: Creation.CreationOptions) {
  const identify = yield* Caller.make
  const creation = yield* Creation.make(options)
  const createBulk = yield* BulkCreation.make(creation)
  const identified = (request: Request) =>
    Effect.flatMap(identify(request), (caller) => creation.creatorOf(request, caller))

  const createBy = Effect.fnUntraced(function* (request: Request, json: unknown) {
    const creator = yield* identified(request)
    const plan = planCreate(json, creator, yield* Clock.currentTimeMillis)
    return Creation.answerOf(yield* creation.carryOut(plan, creator.quota()))
  })

  return {
    create: {
      answerThen: yield* makePlain(creation, createBy),
      answer: Effect.fnUntraced(function* (request: Request) {
        yield* identified(request)
        return yield* createBy(request, yield* Body.read(request))
      }, Traced.span("links.create"))
    },
    createBulk: Effect.fnUntraced(function* (request: Request) {
      const body = Body.read(request, BulkCreation.bulkBounds)
      const [creator, json] = yield* Caller.withBody(identified(request), body)
      return yield* createBulk(json, creator)
    }, Traced.span("links.createBulk"))
  }
})
