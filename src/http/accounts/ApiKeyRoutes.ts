import { Clock, Effect, Either, Redacted } from "effect"
import type { KnownCaller } from "../../accounts/Access.ts"
import { Accounts, keysMax } from "../../accounts/Accounts.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import type { ApiKey } from "../../storage/accounts/AccountStore.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { empty, json } from "../exchange/Answer.ts"
import { type KeyBody, NewKeyBody } from "../contract/AccountSchemas.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import * as Decode from "../exchange/Decode.ts"
import * as RequestDoer from "../exchange/RequestDoer.ts"
import { isIdShaped } from "../contract/LinkSchemas.ts"
import * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"

const decodeNewKey = Decode.body(NewKeyBody)

const bodyOf = (key: ApiKey): typeof KeyBody.Type => ({
  id: key.id,
  name: key.name,
  scopes: key.scopes,
  createsPerMinute: key.createsPerMinute,
  redirectsPerDay: key.redirectsPerDay,
  createdAt: Iso8601.formatMoment(key.createdAt),
  expiresAt: Iso8601.formatOptionalMoment(key.expiresAt)
})

const checkExpiry = (
  text: string | undefined,
  now: number
): Either.Either<number | null, Problem.Problem> => {
  if (text === undefined) return Either.right(null)
  const moment = Iso8601.parseMoment(text)
  if (moment !== undefined && moment > now && moment <= Iso8601.momentMax) return Either.right(moment)
  return Problem.oneFault(
    "invalid-request",
    "expiresAt",
    "must be an RFC 3339 date-time in the future such as 2030-01-01T00:00:00Z"
  )
}

const lackedBy = (caller: KnownCaller, wanted: ReadonlyArray<string>) =>
  wanted.filter((scope) => ![...caller.scopes].some((own) => own === scope))

/** Makes, lists and revokes API keys. */
export const make = Effect.gen(function* () {
  const accounts = yield* Accounts
  const { doerOf } = yield* RequestDoer.make
  const identify = yield* Caller.make

  const keeperOf = (request: Request) =>
    Effect.flatMap(identify(request), (caller) => Caller.requireKeeper(caller, "API keys"))

  return {
    addKey: Effect.fn("apiKeys.add")(function* (request) {
      const [caller, given] = yield* Caller.withBody(Caller.recent(keeperOf(request)), Body.read(request))
      const body = yield* decodeNewKey(given)
      const now = yield* Clock.currentTimeMillis
      const { createsPerMinute = null, name, redirectsPerDay = null } = body
      const expiresAt = yield* checkExpiry(body.expiresAt, now)
      const lacked = caller.isAdmin ? [] : lackedBy(caller, body.scopes)
      if (lacked.length > 0) {
        return yield* Problem.refuse(
          "forbidden",
          `You do not have what you would allow: ${lacked.join(", ")}.`
        )
      }
      const scopes = [...new Set(body.scopes)]
      const draft = { name, scopes, createsPerMinute, redirectsPerDay, expiresAt }
      const made = yield* Problem.orUnavailable(
        accounts.addKey(caller.userId, draft, doerOf(request, caller))
      )
      if (made === "nobody") return yield* Problem.refuse("unauthorized", "The account is disabled or gone.")
      if (made === "full") {
        return yield* Problem.refuse(
          "too-many-keys",
          `There may be ${keysMax} API keys at most. Revoke one first.`
        )
      }
      return json({ ...bodyOf(made.key), secret: Redacted.value(made.secret) }, 201)
    }),

    listKeys: Effect.fn("apiKeys.list")(function* (request) {
      const { userId } = yield* keeperOf(request)
      const keys = yield* Problem.orUnavailable(accounts.keysOf(userId))
      return json({ data: keys.map(bodyOf) })
    }),

    revokeKey: Effect.fn("apiKeys.revoke")(function* (request, { id }) {
      const caller = yield* keeperOf(request)
      const owner = caller.isAdmin ? null : caller.userId
      const revoked =
        isIdShaped(id) && (yield* Problem.orUnavailable(accounts.revoke(id, owner, doerOf(request, caller))))
      return revoked ? empty() : yield* Problem.refuse("not-found", "There is no API key with this id.")
    })
  } satisfies OperationsOf<"apiKeys">
})
