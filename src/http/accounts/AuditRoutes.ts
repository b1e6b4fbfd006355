import { Effect } from "effect"
import { type AuditAction, auditActions } from "../../model/Audit.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import { type AuditEntry, AuditLog } from "../../storage/accounts/AuditLog.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { json } from "../exchange/Answer.ts"
import { type AuditBody, type AuditParameters, pageBounds } from "../contract/AuditApi.ts"
import * as Caller from "../exchange/Caller.ts"
import { isIdShaped } from "../contract/LinkSchemas.ts"
import * as PageRequest from "../exchange/PageRequest.ts"
import * as Problem from "../exchange/Problem.ts"
import type { QueryText } from "../exchange/PageRequest.ts"

const isAction = (text: QueryText): text is AuditAction => auditActions.some((action) => action === text)

/** Checks which entries are asked for: gives the query, or the problem to answer. */
const check = (parameters: typeof AuditParameters.Type) =>
  Problem.collectFaults((fault) => {
    const { action, from, to, user } = parameters
    const momentOf = (path: string, text: QueryText | undefined) => {
      if (text === undefined) return undefined
      const moment = typeof text === "string" ? Iso8601.parseMoment(text) : undefined
      if (moment === undefined) fault(path, "must be an RFC 3339 date-time such as 2027-01-01T00:00:00Z")
      return moment
    }
    const isUser = user === undefined || (typeof user === "string" && isIdShaped(user))
    if (!isUser) fault("user", "must be the id of a user")
    const isKnown = action === undefined || isAction(action)
    if (!isKnown) fault("action", `must be one of ${auditActions.join(", ")}`)
    const { after, limit } = PageRequest.check(parameters, pageBounds, fault)
    return {
      limit,
      after: after ?? undefined,
      user: isUser ? user : undefined,
      action: isKnown ? action : undefined,
      from: momentOf("from", from),
      until: momentOf("to", to)
    }
  })

const bodyOf = ({ action, at, count, doer, id, lastAt, owner, target }: AuditEntry) => ({
  id,
  at: Iso8601.formatMoment(at),
  lastAt: Iso8601.formatMoment(lastAt),
  count,
  action,
  ...doer,
  target,
  ownerId: owner
})

/** Shows the audit log to administrators. */
export const make = Effect.gen(function* () {
  const log = yield* AuditLog
  const identify = yield* Caller.make

  return {
    list: Effect.fn("audit.list")(function* (request, parameters) {
      yield* Caller.requireScope(yield* identify(request), "admin")
      const { limit, ...query } = yield* check(parameters)
      const found = yield* Problem.orUnavailable(log.list({ ...query, limit: limit + 1 }))
      const { nextCursor, page } = PageRequest.pageOf(found, limit, (entry) => entry)
      const body: typeof AuditBody.Type = { data: page.map(bodyOf), nextCursor }
      return json(body)
    })
  } satisfies OperationsOf<"audit">
})
