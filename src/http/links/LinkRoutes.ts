import { HttpApiBuilder, type HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"
import { Links } from "../../actors/links/Links.ts"
import { type Answer, ofJson, toResponse } from "../exchange/Answer.ts"
import { Api } from "../contract/Api.ts"
import * as Caller from "../exchange/Caller.ts"
import { bodyOf, orProblem } from "./LinkAnswers.ts"
import { LinkCreation, type LinkRoutesOptions } from "./LinkCreation.ts"
import { LinkManagement } from "./LinkManagement.ts"
import type { LinksBody } from "../contract/LinkSchemas.ts"
import * as ListRequest from "./ListRequest.ts"
import * as Problem from "../exchange/Problem.ts"
import { fromEffect } from "../exchange/Request.ts"
import * as VisitTotals from "./VisitTotals.ts"
import * as Traced from "../../telemetry/Traced.ts"

/** Creates, shows, lists, changes and deletes links. */
export const layer = ({ own }: Pick<LinkRoutesOptions, "own">) =>
  HttpApiBuilder.group(Api, "links", (handlers) =>
    Effect.gen(function* () {
      const links = yield* Links
      const creation = yield* LinkCreation
      const management = yield* LinkManagement
      const identify = yield* Caller.make
      const totals = yield* VisitTotals.make

      const list = Effect.fnUntraced(function* (
        request: HttpServerRequest.HttpServerRequest,
        parameters: typeof ListRequest.ListParameters.Type
      ) {
        const caller = yield* Caller.requireScope(yield* identify(request), "links:read")
        const query = yield* ListRequest.check(parameters, caller)
        const page = yield* orProblem(links.list(query))
        const visits = yield* totals(page.links)
        const body: typeof LinksBody.Type = {
          data: page.links.map((link, index) => bodyOf(link, own.baseUrl, visits[index]!)),
          nextCursor: page.next === null ? null : ListRequest.cursorOf(query.order, page.next)
        }
        return ofJson(JSON.stringify(body))
      }, Traced.span("links.list"))

      const answered = <R>(self: Effect.Effect<Answer, Problem.Problem, R>) =>
        Problem.orRespond(Effect.map(self, toResponse))

      return handlers
        .handleRaw("create", ({ request }) => answered(creation.one(fromEffect(request))))
        .handleRaw("createBulk", ({ request }) => answered(creation.bulk(fromEffect(request))))
        .handleRaw("get", ({ path, request }) => answered(management.show(fromEffect(request), path.key)))
        .handleRaw("list", ({ request, urlParams }) => answered(list(request, urlParams)))
        .handleRaw("patch", ({ path, request }) => answered(management.change(fromEffect(request), path.key)))
        .handleRaw("delete", ({ path, request }) =>
          answered(management.remove(fromEffect(request), path.key))
        )
    })
  )
