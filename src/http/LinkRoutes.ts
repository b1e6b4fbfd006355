import { HttpApiBuilder, type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Clock, Effect } from "effect"
import type { AliasTaken } from "../actors/Links.ts"
import { Links } from "../actors/Links.ts"
import type { Unavailable } from "../actors/Unavailable.ts"
import * as Iso8601 from "../Iso8601.ts"
import { type Link, stateAt } from "../Link.ts"
import { Api } from "./Api.ts"
import * as Body from "./Body.ts"
import * as Caller from "./Caller.ts"
import * as CreateRequest from "./CreateRequest.ts"
import { isKeyShaped, type LinkBody } from "./LinkSchemas.ts"
import * as Problem from "./Problem.ts"
import { TargetPolicy } from "./TargetPolicy.ts"

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

/** Shows a link to clients. */
export const bodyOf = (link: Link, baseUrl: URL): typeof LinkBody.Type => ({
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
  visits: { total: 0, nonBots: 0, bots: 0 }
})

/** Creates, shows and deletes links. */
export const layer = (options: LinkRoutesOptions) =>
  HttpApiBuilder.group(Api, "links", (handlers) =>
    Effect.gen(function* () {
      const links = yield* Links
      const targets = yield* TargetPolicy

      const create = Effect.fn("links.create")(function* (request: HttpServerRequest.HttpServerRequest) {
        const caller = yield* Caller.identify(request)
        if (caller !== "anonymous" || !options.anonymousCreates) {
          yield* Caller.requireScope(caller, "links:write")
        }
        const json = yield* Body.read(request)
        const own = { ...options.own, reachedAt: request.headers["host"] }
        const policy = { ...options, own, targets }
        const draft = yield* CreateRequest.check(json, policy, yield* Clock.currentTimeMillis)
        const link = yield* orProblem(links.create({ ...draft, owner: Caller.ownerOf(caller) }))
        return HttpServerResponse.unsafeJson(bodyOf(link, options.own.baseUrl), {
          status: 201,
          headers: { location: `/api/v1/links/${link.key}`, "cache-control": "no-store" }
        })
      })

      const get = Effect.fn("links.get")(function* (
        request: HttpServerRequest.HttpServerRequest,
        key: string
      ) {
        yield* Caller.requireScope(yield* Caller.identify(request), "links:read")
        const link = isKeyShaped(key) ? yield* orProblem(links.find(key)) : null
        if (link === null || stateAt(link, yield* Clock.currentTimeMillis) === "deleted") {
          return yield* Effect.fail(notFound)
        }
        return HttpServerResponse.unsafeJson(bodyOf(link, options.own.baseUrl), {
          headers: { "cache-control": "no-store" }
        })
      })

      const remove = Effect.fn("links.delete")(function* (
        request: HttpServerRequest.HttpServerRequest,
        key: string
      ) {
        yield* Caller.requireScope(yield* Caller.identify(request), "links:write")
        const removed = isKeyShaped(key) && (yield* orProblem(links.remove(key)))
        return removed ? HttpServerResponse.empty() : yield* Effect.fail(notFound)
      })

      const answer = <R>(
        self: Effect.Effect<HttpServerResponse.HttpServerResponse, Problem.Problem, R>
      ): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R> =>
        Effect.catchAll(self, (problem) => Effect.succeed(Problem.respond(problem)))

      return handlers
        .handleRaw("create", ({ request }) => answer(create(request)))
        .handleRaw("get", ({ path, request }) => answer(get(request, path.key)))
        .handleRaw("delete", ({ path, request }) => answer(remove(request, path.key)))
    })
  )
