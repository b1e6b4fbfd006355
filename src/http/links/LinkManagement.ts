import { Clock, Effect } from "effect"
import type { KnownCaller } from "../../accounts/Access.ts"
import { Links } from "../../actors/links/Links.ts"
import type { AuditAction } from "../../model/Audit.ts"
import type { Link } from "../../model/Link.ts"
import { AuditLog } from "../../storage/accounts/AuditLog.ts"
import * as Traced from "../../telemetry/Traced.ts"
import { empty, json } from "../exchange/Answer.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import * as RequestDoer from "../exchange/RequestDoer.ts"
import { Domains } from "../domains/Domains.ts"
import * as LinkChecks from "./LinkChecks.ts"
import { bodyOf, orProblem } from "./LinkAnswers.ts"
import type { CreationOptions } from "./Creation.ts"
import * as ManagedLink from "./ManagedLink.ts"
import * as PatchRequest from "./PatchRequest.ts"
import * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import * as VisitTotals from "./VisitTotals.ts"

/** Which link a request is about. */
type OneLink = ManagedLink.NamedLink

/** Shows, changes and deletes single links of those who may. */
export const make = Effect.fnUntraced(function* (options: CreationOptions) {
  const links = yield* Links
  const identify = yield* Caller.make
  const checks = yield* LinkChecks.make(options)
  const totals = yield* VisitTotals.make
  const log = yield* AuditLog
  const { doerOf } = yield* RequestDoer.make
  const manageable = yield* ManagedLink.make
  const naming = { baseUrl: options.own.baseUrl, domains: yield* Domains }

  /**
   * Records that a caller is about to do something to a link of somebody else's, as administrators may. Before it is done, since the link's owner is not in the database alone: so
   * it is never done unrecorded, and an entry can be of something that failed in the end.
   */
  const recorded = (request: Request, caller: KnownCaller, action: AuditAction, { key, owner }: Link) =>
    owner === caller.userId
      ? Effect.void
      : Effect.flatMap(Clock.currentTimeMillis, (at) =>
          Problem.orUnavailable(log.record({ doer: doerOf(request, caller), action, target: key, owner, at }))
        )

  const shown = Effect.fnUntraced(function* (link: Link) {
    const [visits] = yield* totals([link])
    return json(bodyOf(link, naming, visits!))
  })

  return {
    show: Effect.fnUntraced(function* (request: Request, named: OneLink) {
      const caller = yield* Caller.requireScope(yield* identify(request), "links:read")
      return yield* shown(yield* manageable(caller, named))
    }, Traced.span("links.get")),

    change: Effect.fnUntraced(function* (request: Request, named: OneLink) {
      const caller = yield* Caller.requireScope(yield* identify(request), "links:write")
      const json = yield* Body.read(request)
      const link = yield* manageable(caller, named)
      const now = yield* Clock.currentTimeMillis
      const { change, password } = yield* PatchRequest.check(json, link, checks.policyOf(request), now)
      const passwordHash =
        typeof password === "string" ? yield* checks.hash(password, caller.userId) : password
      yield* recorded(request, caller, "link.changed", link)
      const changed = yield* orProblem(
        links.update(link.key, link.owner, { ...change, ...(passwordHash !== undefined && { passwordHash }) })
      )
      return changed === null ? yield* Effect.fail(ManagedLink.noLink) : yield* shown(changed)
    }, Traced.span("links.patch")),

    remove: Effect.fnUntraced(function* (request: Request, named: OneLink) {
      const caller = yield* Caller.requireScope(yield* identify(request), "links:write")
      const link = yield* manageable(caller, named)
      yield* recorded(request, caller, "link.deleted", link)
      const removed = yield* orProblem(links.remove(link.key, link.owner))
      return removed ? empty() : yield* Effect.fail(ManagedLink.noLink)
    }, Traced.span("links.delete"))
  }
})
