import { Effect, Either } from "effect"
import { type AuditAction, auditActions } from "../../model/Audit.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import { type AuditEntry, AuditLog, type AuditQuery } from "../../storage/accounts/AuditLog.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { json } from "../exchange/Answer.ts"
import { type AuditBody, type AuditParameters, pageBounds } from "../contract/AuditSchemas.ts"
import * as Caller from "../exchange/Caller.ts"
import { isIdShaped } from "../contract/LinkSchemas.ts"
import * as PageRequest from "../exchange/PageRequest.ts"
import * as Problem from "../exchange/Problem.ts"
import type { QueryText } from "../exchange/QueryParameter.ts"
import type { Request } from "../exchange/Request.ts"

const isAction = (text: QueryText): text is AuditAction => auditActions.some((action) => action === text)

/** Checks what is asked for: gives the query, or the problem to answer. */
const check = (parameters: typeof AuditParameters.Type): Either.Either<AuditQuery, Problem.Problem> => {
  const { action, from, to, user } = parameters
  const errors: Array<Problem.Fault> = []
  const fault = (path: string, message: string) => void errors.push({ path, message })

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
  const query = {
    limit,
    after: after ?? undefined,
    user: isUser ? user : undefined,
    action: isKnown ? action : undefined,
    from: momentOf("from", from),
    until: momentOf("to", to)
  }
  return errors.length > 0 ? Either.left(Problem.faulty("invalid-request", errors)) : Either.right(query)
}

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

  const list = Effect.fn("audit.list")(function* (request: Request, parameters: typeof AuditParameters.Type) {
    yield* Caller.requireScope(yield* identify(request), "admin")
    const query = yield* check(parameters)
    // One more tells whether there is a next page.
    const found = yield* Problem.orUnavailable(log.list({ ...query, limit: query.limit + 1 }))
    const page = found.slice(0, query.limit)
    const body: typeof AuditBody.Type = {
      data: page.map(bodyOf),
      nextCursor: found.length > query.limit ? PageRequest.cursorOf(page.at(-1)!) : null
    }
    return json(body)
  })

  return {
    list
  } satisfies OperationsOf<"audit">
})
