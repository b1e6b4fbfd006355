import { Headers, HttpTraceContext } from "@effect/platform"
import {
  Cause,
  Duration,
  Effect,
  Exit,
  type Fiber,
  FiberRef,
  FiberSet,
  Option,
  Runtime,
  type Scope
} from "effect"
import type { FastOperation, Operation, Operations, UncontractedOperations } from "../contract/Operations.ts"
import * as Routes from "../contract/Routes.ts"
import type { Elsewhere } from "../redirects/Elsewhere.ts"
import type { Answer, Answering, Content, Work } from "../exchange/Answer.ts"
import { defaultDomain } from "../../keys/QualifiedKey.ts"
import * as Problem from "../exchange/Problem.ts"
import * as Domains from "../domains/Domains.ts"
import type { Request } from "../exchange/Request.ts"
import type { IdOf } from "../exchange/RequestId.ts"
import * as StrictHeaders from "../exchange/StrictHeaders.ts"
import { noRoute, VisitorPages } from "../pages/VisitorPages.ts"

/**
 * Every request is answered within 5 s: with a problem, when nothing better came by then. The last second is for a busy machine and
 * the way to the client.
 */
export const answerMax = Duration.seconds(4)

/** What begins within this time shares one timer. */
const gatherFor = Duration.millis(100)

/** Bounds how long things take that begin and end often, by few timers. */
interface Deadlines {
  /** Calls `onTimeout` in `duration`, or up to 100 ms later, unless the function that it gives is called before. */
  readonly watch: (onTimeout: () => void) => () => void
}

/** See {@link Deadlines}. */
const makeDeadlines = (duration: Duration.Duration): Effect.Effect<Deadlines, never, Scope.Scope> =>
  Effect.gen(function* () {
    const run = yield* FiberSet.makeRuntime<never>()
    let gathering: Set<() => void> | undefined

    const bound = Effect.fnUntraced(function* (group: ReadonlySet<() => void>) {
      yield* Effect.sleep(gatherFor)
      gathering = undefined
      if (group.size === 0) return
      yield* Effect.sleep(duration)
      group.forEach((onTimeout) => onTimeout())
    })

    return {
      watch: (onTimeout) => {
        if (gathering === undefined) {
          gathering = new Set()
          run(bound(gathering))
        }
        const group = gathering
        group.add(onTimeout)
        return () => void group.delete(onTimeout)
      }
    }
  })

/** What load balancers and Prometheus ask all the time. */
const isUntraced = (path: string) => path.startsWith("/health/") || path === "/metrics"

/**
 * Puts the answering of a request into a span, where requests are traced: within that of its client (`traceparent`) if there is one. It has the request's
 * route and id, and no URL, since queries and keys are the client's alone.
 */
const withinSpan =
  (request: Request, id: string) =>
  <A extends { readonly status: number }, E, R>(answer: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiberRuntime((fiber) => {
      if (!fiber.getFiberRef(FiberRef.currentTracerEnabled)) return answer
      const { method, path } = Routes.routeOf(request.method, request.url)
      if (isUntraced(path)) return Effect.withTracerEnabled(answer, false)
      const parent = HttpTraceContext.fromHeaders(Headers.fromInput(request.headers))
      return Effect.useSpan(
        `${method} ${path}`,
        {
          kind: "server",
          parent: Option.getOrUndefined(parent),
          captureStackTrace: false,
          attributes: { "http.request.method": request.method, "http.route": path, "linkmint.request_id": id }
        },
        (span) =>
          Effect.tap(Effect.withParentSpan(answer, span), ({ status }) =>
            Effect.sync(() => span.attribute("http.response.status_code", status))
          )
      )
    })

/** The one way by which requests are answered, for the server and for simulated nodes. */
export interface FrontDoor {
  /** Calls `answer` once, at once or later, with the route of the request, and gives what to call when the client is gone before. */
  readonly serve: (request: Request, answer: (answer: Answer, route: Routes.Route) => void) => () => void
}

/** What the front door is made of. Requests for operations that are left out are answered as if there were no such path. */
export interface FrontDoorOptions {
  readonly operations: Partial<Operations>
  readonly uncontracted?: Partial<UncontractedOperations>
  readonly requestId: IdOf
  /** By default further domains have nothing where no operation is. */
  readonly elsewhere?: Elsewhere
  /** Headers that all answers get, names and values by turns. */
  readonly always?: ReadonlyArray<string>
}

/** An operation with any parameters: the contract's table passes those of its route. */
type AnyOperation = FastOperation<never>

/** The operations by their routes. */
const tableOf = ({ operations, uncontracted = {} }: FrontDoorOptions) => {
  const groups = { ...operations, uncontracted } as Readonly<
    Record<string, Readonly<Record<string, Operation<never>>>>
  >
  const table = new Map<Routes.Route, AnyOperation>()
  for (const route of Routes.routes) {
    const operation = groups[route.group]?.[route.name]
    if (operation === undefined) continue
    table.set(route, typeof operation === "function" ? { answer: operation } : operation)
  }
  return table
}

const parametersOf = ({ path, query, route: { decodeQuery } }: Routes.Match) =>
  (decodeQuery === undefined ? path : { ...decodeQuery(query), ...path }) as never

/** Bytes of a body, as far as that is known before it is sent. */
const lengthOf = (body: Content): number => {
  if (typeof body === "string") return Buffer.byteLength(body)
  return body instanceof Uint8Array ? body.byteLength : 0
}

const nothing = () => {}

/** See {@link FrontDoor}. */
export const make = (options: FrontDoorOptions): Effect.Effect<FrontDoor, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { always = [], elsewhere, requestId } = options
    const table = tableOf(options)
    const pages = yield* VisitorPages
    const domainOf = yield* Domains.numberOf
    const deadlines = yield* makeDeadlines(answerMax)
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
        const { body, headers } = made
        const length = lengthOf(body)
        if (length > 0) headers.push("content-length", String(length))
        StrictHeaders.complete(made)
        headers.push("x-request-id", id, ...always)
        answer(made)
      }
      const giveUp = () => {
        isOver = true
        stop()
        interrupt()
      }
      const stop = deadlines.watch(() => {
        runFork(Effect.annotateLogs(Problem.logUnavailable(Problem.tooLate.detail), "request", id))
        end(pages.refuse(request, Problem.tooLate))
        interrupt()
      })

      const work = (effect: Work) => {
        if (isOver) return
        const fiber: Fiber.RuntimeFiber<Answer> = runFork(
          effect.pipe(
            Effect.catchAll((problem) => Effect.succeed(Problem.answer(problem))),
            Effect.catchAllCause((cause) =>
              Cause.isInterruptedOnly(cause)
                ? Effect.interrupt
                : Effect.map(Problem.ofBroken(cause), (problem) => pages.refuse(request, problem))
            ),
            withinSpan(request, id),
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

    const matchOf = (request: Request): Routes.Match | undefined => {
      const { method, url } = request
      const domain = domainOf(request)
      if (domain === defaultDomain) return Routes.find(method, url)
      return domain === undefined ? Routes.findNowhere(method, url) : Routes.findIn(domain, method, url)
    }

    /** The answer to a request for a path at which nothing is. */
    const nothingAt = (request: Request): Answer => {
      const domain = domainOf(request)
      const isFurther = domain !== undefined && domain !== defaultDomain
      return (isFurther ? elsewhere?.(request, domain) : undefined) ?? pages.refuse(request, noRoute)
    }

    const openAt = (request: Request, route: Routes.Route, answer: Parameters<FrontDoor["serve"]>[1]) =>
      open(request, (made) => answer(made, route))

    const serve: FrontDoor["serve"] = (request, answer) => {
      const match = matchOf(request)
      const route = match?.route ?? Routes.other
      const operation = table.get(route)
      if (operation === undefined) {
        const { giveUp, work } = openAt(request, route, answer)
        work(Effect.sync(() => nothingAt(request)))
        return giveUp
      }
      const path = match!.path as never
      let opened: ReturnType<typeof open> | undefined
      try {
        const answered = operation.answerNow?.(request, path, requestId)
        if (answered !== undefined) {
          answered.headers.push(...always)
          answer(answered, route)
          return nothing
        }
        opened = openAt(request, route, answer)
        if (operation.answerThen?.(request, path, opened.answering) !== true) {
          opened.work(Effect.suspend(() => operation.answer(request, parametersOf(match!))))
        }
      } catch (defect) {
        opened ??= openAt(request, route, answer)
        opened.work(Effect.die(defect))
      }
      return opened.giveUp
    }

    return { serve }
  })
