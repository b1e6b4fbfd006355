import { HttpApiBuilder, type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Clock, Effect } from "effect"
import type { KnownCaller } from "../accounts/Access.ts"
import { Links } from "../actors/Links.ts"
import { type Link, stateAt } from "../Link.ts"
import { type Answer, toResponse } from "./Answer.ts"
import { Api } from "./Api.ts"
import * as Body from "./Body.ts"
import * as Caller from "./Caller.ts"
import { bodyOf, orProblem } from "./LinkAnswers.ts"
import * as LinkChecking from "./LinkChecking.ts"
import { LinkCreation, type LinkRoutesOptions } from "./LinkCreation.ts"
import { isKeyShaped, type LinksBody } from "./LinkSchemas.ts"
import * as ListRequest from "./ListRequest.ts"
import * as PatchRequest from "./PatchRequest.ts"
import * as Problem from "./Problem.ts"
import { fromEffect } from "./Request.ts"
import * as VisitTotals from "./VisitTotals.ts"
import * as Traced from "../Traced.ts"

const notFound: Problem.Problem = { kind: "not-found", detail: "There is no link with this key." }

/** Creates, shows, lists, changes and deletes links. */
export const layer = (options: LinkRoutesOptions) =>
  HttpApiBuilder.group(Api, "links", (handlers) =>
    Effect.gen(function* () {
      const links = yield* Links
      const checks = yield* LinkChecking.make(options)
      const creation = yield* LinkCreation
      const totals = yield* VisitTotals.make
      const { baseUrl } = options.own

      /** A link that is not deleted, if it is the caller's to manage. Another one is not there for him. */
      const manageable = Effect.fnUntraced(function* (caller: KnownCaller, key: string) {
        const link = isKeyShaped(key) ? yield* orProblem(links.find(key)) : null
        const isThere = link !== null && stateAt(link, yield* Clock.currentTimeMillis) !== "deleted"
        return isThere && Caller.mayManage(caller, link.owner) ? link : yield* Effect.fail(notFound)
      })

      const show = Effect.fnUntraced(function* (link: Link) {
        const [visits] = yield* totals([link])
        return HttpServerResponse.unsafeJson(bodyOf(link, baseUrl, visits!), {
          headers: { "cache-control": "no-store" }
        })
      })

      const get = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, key: string) {
        const caller = yield* Caller.requireScope(yield* Caller.identify(request), "links:read")
        return yield* show(yield* manageable(caller, key))
      }, Traced.span("links.get"))

      const list = Effect.fnUntraced(function* (
        request: HttpServerRequest.HttpServerRequest,
        parameters: typeof ListRequest.ListParameters.Type
      ) {
        const caller = yield* Caller.requireScope(yield* Caller.identify(request), "links:read")
        const query = yield* ListRequest.check(parameters, caller)
        const page = yield* orProblem(links.list(query))
        const visits = yield* totals(page.links)
        const body: typeof LinksBody.Type = {
          data: page.links.map((link, index) => bodyOf(link, baseUrl, visits[index]!)),
          nextCursor: page.next === null ? null : ListRequest.cursorOf(query.order, page.next)
        }
        return HttpServerResponse.unsafeJson(body, { headers: { "cache-control": "no-store" } })
      }, Traced.span("links.list"))

      const patch = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, key: string) {
        const caller = yield* Caller.requireScope(yield* Caller.identify(request), "links:write")
        const json = yield* Body.read(fromEffect(request))
        const link = yield* manageable(caller, key)
        const now = yield* Clock.currentTimeMillis
        const { change, password } = yield* PatchRequest.check(json, link, checks.policyOf(request), now)
        const passwordHash = typeof password === "string" ? yield* checks.hash(password) : password
        const changed = yield* orProblem(
          links.update(key, link.owner, { ...change, ...(passwordHash !== undefined && { passwordHash }) })
        )
        return changed === null ? yield* Effect.fail(notFound) : yield* show(changed)
      }, Traced.span("links.patch"))

      const remove = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, key: string) {
        const caller = yield* Caller.requireScope(yield* Caller.identify(request), "links:write")
        const { owner } = yield* manageable(caller, key)
        const removed = yield* orProblem(links.remove(key, owner))
        return removed ? HttpServerResponse.empty() : yield* Effect.fail(notFound)
      }, Traced.span("links.delete"))

      const answered = <R>(self: Effect.Effect<Answer, Problem.Problem, R>) =>
        Problem.orRespond(Effect.map(self, toResponse))

      return handlers
        .handleRaw("create", ({ request }) => answered(creation.one(fromEffect(request))))
        .handleRaw("createBulk", ({ request }) => answered(creation.bulk(fromEffect(request))))
        .handleRaw("get", ({ path, request }) => Problem.orRespond(get(request, path.key)))
        .handleRaw("list", ({ request, urlParams }) => Problem.orRespond(list(request, urlParams)))
        .handleRaw("patch", ({ path, request }) => Problem.orRespond(patch(request, path.key)))
        .handleRaw("delete", ({ path, request }) => Problem.orRespond(remove(request, path.key)))
    })
  )
