import { Effect, Either, Exit, FiberRef } from "effect"
import { Quotas } from "../../accounts/Quotas.ts"
import { Links } from "../../actors/links/Links.ts"
import type { Link } from "../../model/Link.ts"
import type { Answering, Work } from "../exchange/Answering.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import { ClientAddress } from "../exchange/ClientAddress.ts"
import * as CreateRequest from "./CreateRequest.ts"
import * as Idempotency from "./Idempotency.ts"
import { createAnswer, orProblem } from "./LinkAnswers.ts"
import * as LinkChecking from "./LinkChecking.ts"
import * as Problem from "../exchange/Problem.ts"
import * as RateLimit from "../exchange/RateLimit.ts"
import type { Request } from "../exchange/Request.ts"
import * as VisitTotals from "./VisitTotals.ts"

/** What creates need to know of the operator's choices. */
export interface CreationOptions extends Omit<CreateRequest.CreatePolicy, "targets"> {
  readonly anonymousCreates: boolean
}

/** Answers a create without an effect, or reads its body and hands it on; `false`, and nothing is done, where that is plain from its headers. */
export type PlainCreation = (request: Request, answering: Answering) => boolean

/** A request whose body was read. */
const withBytes = (request: Request, bytes: Uint8Array): Request => ({
  method: request.method,
  url: request.url,
  headers: request.headers,
  remoteAddress: request.remoteAddress,
  readBytes: (_, done) => done(Either.right(bytes))
})

/**
 * Creates that are most creates: with a minted key, by a caller whom this node knows, under a quota of which it has leased some. They have the checks and answers
 * of all others (`general`), and no fiber of their own. None is plain where requests are traced.
 */
export const make = Effect.fnUntraced(function* (options: CreationOptions) {
  const checks = yield* LinkChecking.make(options)
  const identify = yield* Caller.makeNow
  const links = yield* Links
  const quotas = yield* Quotas
  const { clientOf } = yield* ClientAddress
  const clock = yield* Effect.clock
  const isTraced = yield* FiberRef.get(FiberRef.currentTracerEnabled)

  return (general: (request: Request) => Work): PlainCreation =>
    (request, { answer, instead, isOver }) => {
      if (isTraced || request.headers["idempotency-key"] !== undefined) return false
      const caller = identify(request)
      if (caller === undefined) return false
      if (Either.isLeft(Caller.requireCreator(caller, options.anonymousCreates))) return false
      const refuse = (problem: Problem.Problem) => answer(Problem.answer(problem))
      Body.readJsonBytes(request, Body.plain, (bytes) => {
        // A body can take longer than its answer may: nobody would learn of the link.
        if (isOver()) return
        if (Either.isLeft(bytes)) return refuse(bytes.left)
        const json = Body.parse(bytes.right)
        if (Either.isLeft(json)) return refuse(json.left)
        const now = clock.unsafeCurrentTimeMillis()
        const checked = CreateRequest.check(json.right, checks.policyOf(request), now)
        if (Either.isLeft(checked)) return refuse(checked.left)
        const owner = Caller.ownerOf(caller)
        const standing = CreateRequest.isPlain(checked.right, owner)
          ? quotas.createNow(caller, clientOf(request))
          : undefined
        if (standing === undefined) return instead(general(withBytes(request, bytes.right)))
        if (standing?.isAllowed === false) return refuse(RateLimit.problemOf(standing))
        const draft = {
          ...checked.right.draft,
          ...Caller.keyLimitOf(caller),
          passwordHash: null,
          owner
        }
        const created = (link: Link) => {
          const kept = createAnswer(201, link, options.own.baseUrl, VisitTotals.none)
          return RateLimit.shownIn(Idempotency.respond({ answer: kept, isReplay: false }), standing)
        }
        links.createSoon(draft, (made) =>
          Exit.isSuccess(made) ? answer(created(made.value)) : instead(Effect.map(orProblem(made), created))
        )
      })
      return true
    }
})
