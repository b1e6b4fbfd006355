import { HttpApiBuilder, type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Clock, Effect, Redacted } from "effect"
import type { KnownCaller } from "../accounts/Access.ts"
import { Quotas } from "../accounts/Quotas.ts"
import type { AliasTaken } from "../actors/Links.ts"
import { Links } from "../actors/Links.ts"
import type { Unavailable } from "../actors/Unavailable.ts"
import * as Iso8601 from "../Iso8601.ts"
import { type Link, stateAt } from "../Link.ts"
import { Passwords } from "../Passwords.ts"
import { Api } from "./Api.ts"
import * as Body from "./Body.ts"
import * as Caller from "./Caller.ts"
import { ClientAddress } from "./ClientAddress.ts"
import * as CreateRequest from "./CreateRequest.ts"
import { isKeyShaped, type LinkBody, type LinksBody } from "./LinkSchemas.ts"
import * as ListRequest from "./ListRequest.ts"
import * as PatchRequest from "./PatchRequest.ts"
import * as Problem from "./Problem.ts"
import * as RateLimit from "./RateLimit.ts"
import { TargetPolicy } from "./TargetPolicy.ts"
import * as VisitTotals from "./VisitTotals.ts"

/** What the link routes need to know of the operator's choices. */
export interface LinkRoutesOptions extends Omit<CreateRequest.CreatePolicy, "targets"> {
  readonly anonymousCreates: boolean
}

const notFound: Problem.Problem = { kind: "not-found", detail: "There is no link with this key." }

/** What an actor could not do, as the problem that the client is told; why it could not stays in the log. */
export const orProblem = <A>(
  self: Effect.Effect<A, AliasTaken | Unavailable>
): Effect.Effect<A, Problem.Problem> =>
  Effect.catchTags(self, {
    AliasTaken: ({ alias }) =>
      Effect.fail(Problem.faulty("alias-taken", [{ path: "alias", message: `"${alias}" is taken` }])),
    Unavailable: (error) => Problem.orUnavailable(error)
  })

const momentOrNull = (moment: number | null) => (moment === null ? null : Iso8601.formatMoment(moment))

/** What a client gives out for a link. */
export const shortUrlOf = (key: string, baseUrl: URL): string => new URL(`/${key}`, baseUrl).href

/** Shows a link, and how often it was visited, to clients. */
export const bodyOf = (link: Link, baseUrl: URL, visits: VisitTotals.VisitTotals): typeof LinkBody.Type => ({
  key: link.key,
  shortUrl: shortUrlOf(link.key, baseUrl),
  url: link.url,
  title: link.title,
  tags: link.tags,
  createdAt: Iso8601.formatMoment(link.createdAt),
  updatedAt: Iso8601.formatMoment(link.updatedAt),
  expiresAt: momentOrNull(link.expiresAt),
  validSince: momentOrNull(link.validSince),
  maxVisits: link.maxVisits,
  redirectStatus: link.redirectStatus,
  forwardQuery: link.forwardQuery,
  crawlable: link.crawlable,
  hasPassword: link.passwordHash !== null,
  custom: link.custom,
  visits
})

/** Creates, shows, lists, changes and deletes links. */
export const layer = (options: LinkRoutesOptions) =>
  HttpApiBuilder.group(Api, "links", (handlers) =>
    Effect.gen(function* () {
      const links = yield* Links
      const passwords = yield* Passwords
      const targets = yield* TargetPolicy
      const totals = yield* VisitTotals.make
      const quotas = yield* Quotas
      const { clientOf } = yield* ClientAddress
      const { baseUrl } = options.own

      const policyOf = (request: HttpServerRequest.HttpServerRequest) => ({
        ...options,
        own: { ...options.own, reachedAt: request.headers["host"] },
        targets
      })

      const hash = (password: string) => Problem.orUnavailable(passwords.hash(Redacted.make(password)))

      const create = Effect.fn("links.create")(function* (request: HttpServerRequest.HttpServerRequest) {
        const caller = yield* Caller.identify(request)
        if (caller !== "anonymous" || !options.anonymousCreates) {
          yield* Caller.requireScope(caller, "links:write")
        }
        const json = yield* Body.read(request)
        const now = yield* Clock.currentTimeMillis
        const { draft, password } = yield* CreateRequest.check(json, policyOf(request), now)
        const standing = yield* RateLimit.check(quotas.create(caller, clientOf(request)))
        const passwordHash = password === null ? null : yield* hash(password)
        const owner = Caller.ownerOf(caller)
        const link = yield* orProblem(
          links.create({ ...draft, passwordHash, owner, ...Caller.keyLimitOf(caller) })
        )
        const response = HttpServerResponse.unsafeJson(bodyOf(link, baseUrl, VisitTotals.none), {
          status: 201,
          headers: { location: `/api/v1/links/${link.key}`, "cache-control": "no-store" }
        })
        return RateLimit.show(response, standing)
      })

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

      const get = Effect.fn("links.get")(function* (
        request: HttpServerRequest.HttpServerRequest,
        key: string
      ) {
        const caller = yield* Caller.requireScope(yield* Caller.identify(request), "links:read")
        return yield* show(yield* manageable(caller, key))
      })

      const list = Effect.fn("links.list")(function* (
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
      })

      const patch = Effect.fn("links.patch")(function* (
        request: HttpServerRequest.HttpServerRequest,
        key: string
      ) {
        const caller = yield* Caller.requireScope(yield* Caller.identify(request), "links:write")
        const json = yield* Body.read(request)
        const link = yield* manageable(caller, key)
        const now = yield* Clock.currentTimeMillis
        const { change, password } = yield* PatchRequest.check(json, link, policyOf(request), now)
        const passwordHash = typeof password === "string" ? yield* hash(password) : password
        const changed = yield* orProblem(
          links.update(key, link.owner, { ...change, ...(passwordHash !== undefined && { passwordHash }) })
        )
        return changed === null ? yield* Effect.fail(notFound) : yield* show(changed)
      })

      const remove = Effect.fn("links.delete")(function* (
        request: HttpServerRequest.HttpServerRequest,
        key: string
      ) {
        const caller = yield* Caller.requireScope(yield* Caller.identify(request), "links:write")
        const { owner } = yield* manageable(caller, key)
        const removed = yield* orProblem(links.remove(key, owner))
        return removed ? HttpServerResponse.empty() : yield* Effect.fail(notFound)
      })

      return handlers
        .handleRaw("create", ({ request }) => Problem.orRespond(create(request)))
        .handleRaw("get", ({ path, request }) => Problem.orRespond(get(request, path.key)))
        .handleRaw("list", ({ request, urlParams }) => Problem.orRespond(list(request, urlParams)))
        .handleRaw("patch", ({ path, request }) => Problem.orRespond(patch(request, path.key)))
        .handleRaw("delete", ({ path, request }) => Problem.orRespond(remove(request, path.key)))
    })
  )
