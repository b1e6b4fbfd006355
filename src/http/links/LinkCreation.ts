import { Clock, Context, Effect, Layer } from "effect"
import * as Traced from "../../telemetry/Traced.ts"
import type { Answer } from "../exchange/Answer.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import type * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import * as BulkCreation from "./BulkCreation.ts"
import { planCreate } from "./CreatePlan.ts"
import * as Creation from "./Creation.ts"
import * as PlainCreation from "./PlainCreation.ts"

/** What the link routes need to know of the operator's choices. */
export type LinkRoutesOptions = Creation.CreationOptions

/** Creates links, one or many at a time. */
export class LinkCreation extends Context.Tag("linkmint/LinkCreation")<
  LinkCreation,
  {
    readonly one: (request: Request) => Effect.Effect<Answer, Problem.Problem>
    /** The same for creates that need no effect; `false`, and nothing is done, for others. */
    readonly soon: PlainCreation.PlainCreation
    /** Each item is a create of its own, also for repeats. */
    readonly bulk: (request: Request) => Effect.Effect<Answer, Problem.Problem>
  }
>() {}

/** See {@link LinkCreation}. */
export const make = Effect.fnUntraced(function* (options: LinkRoutesOptions) {
  const identify = yield* Caller.make
  const creation = yield* Creation.make(options)
  const createBulk = yield* BulkCreation.make(creation)
  const identified = (request: Request) =>
    Effect.flatMap(identify(request), (caller) => creation.creatorOf(request, caller))

  return LinkCreation.of({
    one: Effect.fnUntraced(function* (request) {
      const creator = yield* identified(request)
      const json = yield* Body.read(request)
      const plan = planCreate(json, creator, yield* Clock.currentTimeMillis)
      return Creation.answerOf(yield* creation.carryOut(plan, creator.quota()))
    }, Traced.span("links.create")),

    soon: yield* PlainCreation.make(creation),

    bulk: Effect.fnUntraced(function* (request) {
      const creator = yield* identified(request)
      return yield* createBulk(yield* Body.read(request, BulkCreation.bulkBounds), creator)
    }, Traced.span("links.createBulk"))
  })
})

/** See {@link LinkCreation}. */
export const layer = (options: LinkRoutesOptions) => Layer.effect(LinkCreation, make(options))
