import { Cause, Duration, Effect, Exit, type Fiber, Runtime, type Scope } from "effect"
import type { Quotas } from "../../accounts/Quotas.ts"
import type { Links } from "../../actors/links/Links.ts"
import type { Visits } from "../../visits/Visits.ts"
import type { Answer } from "../exchange/Answer.ts"
import type { Answering } from "../exchange/Answering.ts"
import * as Deadlines from "./Deadlines.ts"
import * as LeanRedirect from "../redirects/LeanRedirect.ts"
import { LinkCreation } from "../links/LinkCreation.ts"
import { LinkManagement } from "../links/LinkManagement.ts"
import { isKeyShaped } from "../contract/LinkSchemas.ts"
import * as Problem from "../exchange/Problem.ts"
import { Readiness } from "../ops/Readiness.ts"
import { Redirects } from "../redirects/Redirects.ts"
import type { Request } from "../exchange/Request.ts"
import * as RequestId from "../exchange/RequestId.ts"
import * as RequestSpan from "./RequestSpan.ts"
import * as StrictHeaders from "../exchange/StrictHeaders.ts"
import { VisitorPages } from "../pages/VisitorPages.ts"

/**
 * Answers the hot operations without `HttpApi`, whose routing, decoding and layers around each request cost many times what the operations themselves do. It
 * shares checks, services and answers with the routes of the contract; whatever is not plainly its own it leaves to them.
 */
export interface Lean {
  /**
   * Calls `answer` once, at once or later, and gives what to call when the client is gone before; `undefined`, and nothing is done, where the request is not one
   * of these.
   */
  readonly serve: (request: Request, answer: (answer: Answer) => void) => (() => void) | undefined
}

const nothing = () => {}

const linksPath = "/api/v1/links"

/** The key of a target that is a link, and nothing more; `undefined` where it is anything else, or is written in another way. */
const managedKeyOf = (url: string): string | undefined => {
  const key = url.slice(linksPath.length + 1)
  return url.startsWith(`${linksPath}/`) && isKeyShaped(key) ? key : undefined
}

/** See {@link Lean}. Every request is answered within `answerMax`. */
export const make = (
  answerMax: Duration.Duration
): Effect.Effect<
  Lean,
  never,
  LinkCreation | LinkManagement | Links | Quotas | Readiness | Redirects | Scope.Scope | Visits
> =>
  Effect.gen(function* () {
    const leanRedirect = yield* LeanRedirect.make
    const redirects = yield* Redirects
    const creation = yield* LinkCreation
    const management = yield* LinkManagement
    const readiness = yield* Readiness
    const pages = yield* VisitorPages
    const requestId = yield* RequestId.make
    const deadlines = yield* Deadlines.make(answerMax)
    const runFork = Runtime.runFork(yield* Effect.runtime())

    /** Sees to it that a request is answered once, and in time. */
    const open = (request: Request, answer: (answer: Answer) => void) => {
      const id = requestId(request.headers)
      let isOver = false
      let interrupt = nothing

      const end = (made: Answer) => {
        if (isOver) return
        isOver = true
        stop()
        // In the order that Effect's server has, so that nobody can tell who answered.
        if (made.body !== "") made.headers.push("content-length", String(Buffer.byteLength(made.body)))
        StrictHeaders.complete(made)
        made.headers.push("x-request-id", id)
        answer(made)
      }
      const giveUp = () => {
        isOver = true
        stop()
        interrupt()
      }
      const stop = deadlines.watch(() => {
        end(pages.refuse(request, Problem.tooLate))
        interrupt()
      })

      const work = (effect: Effect.Effect<Answer, Problem.Problem>) => {
        if (isOver) return
        const fiber: Fiber.RuntimeFiber<Answer> = runFork(
          effect.pipe(
            Effect.catchAll((problem) => Effect.succeed(Problem.answer(problem))),
            Effect.catchAllCause((cause) =>
              Cause.isInterruptedOnly(cause)
                ? Effect.interrupt
                : Effect.map(Problem.ofBroken(cause), (problem) => pages.refuse(request, problem))
            ),
            RequestSpan.within(request, id),
            Effect.annotateLogs("request", id)
          )
        )
        interrupt = () => fiber.unsafeInterruptAsFork(fiber.id())
        fiber.addObserver((exit) =>
          end(Exit.getOrElse(exit, () => pages.refuse(request, Problem.unavailable)))
        )
      }
      const answering: Answering = { answer: end, instead: work, isOver: () => isOver }
      return { answering, giveUp, work }
    }

    const run = (
      request: Request,
      effect: Effect.Effect<Answer, Problem.Problem>,
      answer: (answer: Answer) => void
    ) => {
      const { giveUp, work } = open(request, answer)
      work(effect)
      return giveUp
    }

    const create = (request: Request, answer: (answer: Answer) => void) => {
      const { answering, giveUp, work } = open(request, answer)
      if (!creation.soon(request, answering)) work(creation.one(request))
      return giveUp
    }

    const redirect = (request: Request, key: string, answer: (answer: Answer) => void) => {
      const answered = leanRedirect.now(request, key, requestId)
      if (answered !== undefined) {
        answer(answered)
        return nothing
      }
      const { answering, giveUp, work } = open(request, answer)
      if (!leanRedirect.soon(request, key, answering)) work(redirects.redirect(request, key))
      return giveUp
    }

    const look: Lean["serve"] = (request, answer) => {
      if (request.url === "/health/ready") return run(request, readiness.answer, answer)
      const key = LeanRedirect.keyOf(request.url)
      return key === undefined ? undefined : redirect(request, key, answer)
    }

    const manage = (request: Request, operation: "change" | "remove", answer: (answer: Answer) => void) => {
      const key = managedKeyOf(request.url)
      return key === undefined ? undefined : run(request, management[operation](request, key), answer)
    }

    return {
      serve: (request, answer) => {
        const { method, url } = request
        switch (method) {
          case "GET":
          case "HEAD":
            return look(request, answer)
          case "POST":
            if (url === linksPath) return create(request, answer)
            return url === `${linksPath}/bulk` ? run(request, creation.bulk(request), answer) : undefined
          case "PATCH":
            return manage(request, "change", answer)
          case "DELETE":
            return manage(request, "remove", answer)
          default:
            return undefined
        }
      }
    }
  })
