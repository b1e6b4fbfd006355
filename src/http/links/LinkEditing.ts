import { Clock, Effect } from "effect"
import type { KnownCaller } from "../../accounts/Access.ts"
import { Links } from "../../actors/links/Links.ts"
import type { AuditAction } from "../../model/Audit.ts"
import type { Link, LinkCondition } from "../../model/Link.ts"
import { AuditLog } from "../../storage/accounts/AuditLog.ts"
import * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import * as RequestDoer from "../exchange/RequestDoer.ts"
import type { CreationOptions } from "./Creation.ts"
import { orProblem } from "./LinkAnswers.ts"
import * as LinkChecks from "./LinkChecks.ts"
import * as ManagedLink from "./ManagedLink.ts"
import type * as PatchRequest from "./PatchRequest.ts"

/** See {@link make}. */
export type LinkEditing = Effect.Effect.Success<ReturnType<typeof make>>

/** How a link is edited where others may change it meanwhile. */
interface Meanwhile {
  /** What the link must still be like. */
  readonly onlyIf: LinkCondition
  /** The link as it was when the same was tried before. */
  readonly before: Link | undefined
}

/** Changes and deletes a link for a caller who may manage it. */
export const make = Effect.fnUntraced(function* (options: CreationOptions) {
  const links = yield* Links
  const checks = yield* LinkChecks.make(options)
  const log = yield* AuditLog
  const { doerOf } = yield* RequestDoer.make

  /**
   * Records that a caller is about to do something to a link of somebody else's, as administrators may. Before it is done, since the link's owner is not in the database alone: so
   * it is never done unrecorded, and an entry can be of something that failed in the end. What is tried again with the same link is recorded once.
   */
  const recorded = (
    request: Request,
    caller: KnownCaller,
    action: AuditAction,
    { createdAt, key, owner }: Link,
    before: Link | undefined
  ) =>
    owner === caller.userId || (before?.createdAt === createdAt && before.owner === owner)
      ? Effect.void
      : Effect.flatMap(Clock.currentTimeMillis, (at) =>
          Problem.orUnavailable(log.record({ doer: doerOf(request, caller), action, target: key, owner, at }))
        )

  return {
    policyOf: checks.policyOf,

    /** Gives the link as it is then. There is no link (`ManagedLink.noLink`) as well where it does not meet its condition any more; so for `remove`. */
    change: Effect.fnUntraced(function* (
      request: Request,
      caller: KnownCaller,
      link: Link,
      { change, password }: PatchRequest.Patch,
      meanwhile?: Meanwhile
    ) {
      const passwordHash =
        typeof password === "string" ? yield* checks.hash(password, caller.userId) : password
      yield* recorded(request, caller, "link.changed", link, meanwhile?.before)
      const changed = yield* orProblem(
        links.update(
          link.key,
          link.owner,
          { ...change, ...(passwordHash !== undefined && { passwordHash }) },
          meanwhile?.onlyIf
        )
      )
      return changed === null ? yield* Effect.fail(ManagedLink.noLink) : changed
    }),

    remove: Effect.fnUntraced(function* (
      request: Request,
      caller: KnownCaller,
      link: Link,
      meanwhile?: Meanwhile
    ) {
      yield* recorded(request, caller, "link.deleted", link, meanwhile?.before)
      const removed = yield* orProblem(links.remove(link.key, link.owner, meanwhile?.onlyIf))
      return removed ? undefined : yield* Effect.fail(ManagedLink.noLink)
    })
  }
})
