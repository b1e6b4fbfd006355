import { Effect, Either, Exit, FiberRef } from "effect"
import { Links } from "../../actors/links/Links.ts"
import type { Link } from "../../model/Link.ts"
import type { Answering } from "../exchange/Answering.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import * as Problem from "../exchange/Problem.ts"
import * as RateLimit from "../exchange/RateLimit.ts"
import type { Request } from "../exchange/Request.ts"
import { plainDraftOf, planCreate } from "./CreatePlan.ts"
import { answerOf, type Creation } from "./Creation.ts"
import { orProblem } from "./LinkAnswers.ts"

/**
 * The common case of a create: a minted key, a caller whom this node knows, a quota of which it has leased some. It takes no fiber of its own. Others
 * go on with their plan as all others do (`carryOut`). No create is plain where requests are traced.
 *
 * Gives what answers a create so, or hands its plan on; `false`, and nothing is done, where it is plain from the headers that it cannot.
 */
export const make = Effect.fnUntraced(function* ({ carryOut, created, creatorOf }: Creation) {
  const identify = yield* Caller.makeNow
  const links = yield* Links
  const clock = yield* Effect.clock
  const isTraced = yield* FiberRef.get(FiberRef.currentTracerEnabled)

  return (request: Request, _: unknown, { answer, instead, isOver }: Answering): boolean => {
    if (isTraced || request.headers["idempotency-key"] !== undefined) return false
    const caller = identify(request)
    if (caller === undefined) return false
    const known = creatorOf(request, caller)
    if (Either.isLeft(known)) return false
    const creator = known.right
    const refuse = (problem: Problem.Problem) => answer(Problem.answer(problem))
    Body.readJsonBytes(request, Body.plain, (bytes) => {
      // A body can take longer than its answer may: nobody would learn of the link.
      if (isOver()) return
      const json = Either.flatMap(bytes, Body.parse)
      if (Either.isLeft(json)) return refuse(json.left)
      const plan = planCreate(json.right, creator, clock.unsafeCurrentTimeMillis())
      if (Either.isLeft(plan.link)) return refuse(plan.link.left)
      const draft = plainDraftOf(plan)
      const standing = draft === undefined ? undefined : creator.quotaNow()
      if (draft === undefined || standing === undefined) {
        return instead(Effect.map(carryOut(plan, creator.quota()), answerOf))
      }
      if (standing?.isAllowed === false) return refuse(RateLimit.problemOf(standing))
      const answered = (link: Link) =>
        answerOf({ answered: { answer: created(link), isReplay: false }, standing })
      links.createThen(draft, (made) =>
        Exit.isSuccess(made) ? answer(answered(made.value)) : instead(Effect.map(orProblem(made), answered))
      )
    })
    return true
  }
})
