import { Clock, Effect } from "effect"
import * as Traced from "../../telemetry/Traced.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import type { Request } from "../exchange/Request.ts"
import * as BulkCreation from "./BulkCreation.ts"
import { planCreate } from "./CreatePlan.ts"
import * as Creation from "./Creation.ts"
import * as PlainCreation from "./PlainCreation.ts"

/** What the link routes need to know of the operator's choices. */
export type LinkRoutesOptions = Creation.CreationOptions

/** Creates links, one or many at a time. */
export const make = Effect.fnUntraced(function* (options: LinkRoutesOptions) {
  const identify = yield* Caller.make
  const creation = yield* Creation.make(options)
  const createBulk = yield* BulkCreation.make(creation)
  const identified = (request: Request) =>
    Effect.flatMap(identify(request), (caller) => creation.creatorOf(request, caller))

  return {
    create: {
      soon: yield* PlainCreation.make(creation),
      answer: Effect.fnUntraced(function* (request: Request) {
        const creator = yield* identified(request)
        const json = yield* Body.read(request)
        const plan = planCreate(json, creator, yield* Clock.currentTimeMillis)
        return Creation.answerOf(yield* creation.carryOut(plan, creator.quota()))
      }, Traced.span("links.create"))
    },
    createBulk: Effect.fnUntraced(function* (request: Request) {
      const creator = yield* identified(request)
      return yield* createBulk(yield* Body.read(request, BulkCreation.bulkBounds), creator)
    }, Traced.span("links.createBulk"))
  }
})
