import { Clock, Effect } from "effect"
import { Links } from "../../actors/links/Links.ts"
import type { Link } from "../../model/Link.ts"
import * as Traced from "../../telemetry/Traced.ts"
import { empty, json } from "../exchange/Answer.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import { Domains } from "../domains/Domains.ts"
import { bodyOf, orProblem } from "./LinkAnswers.ts"
import type { CreationOptions } from "./Creation.ts"
import type { LinkEditing } from "./LinkEditing.ts"
import * as ManagedLink from "./ManagedLink.ts"
import * as PatchRequest from "./PatchRequest.ts"
import type { Request } from "../exchange/Request.ts"
import * as VisitTotals from "./VisitTotals.ts"

/** Which link a request is about. */
type OneLink = ManagedLink.NamedLink

/** Shows, changes and deletes single links of those who may. */
export const make = Effect.fnUntraced(function* (options: CreationOptions, editing: LinkEditing) {
  const links = yield* Links
  const identify = yield* Caller.make
  const totals = yield* VisitTotals.make
  const manageable = yield* ManagedLink.make
  const naming = { baseUrl: options.own.baseUrl, domains: yield* Domains }

  const shown = Effect.fnUntraced(function* (link: Link) {
    const [visits] = yield* totals([link])
    return json(bodyOf(link, naming, visits!))
  })

  /** A link with the visits that are left of its limit. */
  const withVisitsLeft = (link: Link) =>
    link.maxVisits === null
      ? Effect.succeed(link)
      : // It may have been deleted since: what the node has cached knows nothing of the visits that were used.
        Effect.filterOrFail(
          Effect.map(orProblem(links.findStored(link.key)), ManagedLink.present),
          (row) => row !== null,
          () => ManagedLink.noLink
        )

  return {
    show: Effect.fnUntraced(function* (request: Request, named: OneLink) {
      const caller = yield* Caller.requireScope(yield* identify(request), "links:read")
      return yield* shown(yield* withVisitsLeft(yield* manageable(caller, named)))
    }, Traced.span("links.get")),

    change: Effect.fnUntraced(function* (request: Request, named: OneLink) {
      const writer = Effect.flatMap(identify(request), (caller) => Caller.requireScope(caller, "links:write"))
      const [caller, json] = yield* Caller.withBody(writer, Body.read(request))
      const link = yield* manageable(caller, named)
      const now = yield* Clock.currentTimeMillis
      const patch = yield* PatchRequest.check(json, link, editing.policyOf(request), now)
      return yield* shown(yield* editing.change(request, caller, link, patch))
    }, Traced.span("links.patch")),

    remove: Effect.fnUntraced(function* (request: Request, named: OneLink) {
      const caller = yield* Caller.requireScope(yield* identify(request), "links:write")
      const link = yield* manageable(caller, named)
      yield* editing.remove(request, caller, link)
      return empty()
    }, Traced.span("links.delete"))
  }
})
