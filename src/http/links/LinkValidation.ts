import { Effect, Redacted } from "effect"
import { Passwords } from "../../accounts/Passwords.ts"
import type { CreatePolicy } from "./CreatePlan.ts"
import * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import { TargetPolicy } from "./TargetPolicy.ts"
import { reachedBy } from "./TargetUrl.ts"

/** What creates and changes of links are checked with. */
export const make = Effect.fnUntraced(function* (options: Omit<CreatePolicy, "targets">) {
  const passwords = yield* Passwords
  const targets = yield* TargetPolicy
  return {
    policyOf: (request: Pick<Request, "headers">): CreatePolicy => ({
      ...options,
      own: { ...options.own, reachedAt: reachedBy(request.headers["host"]) },
      targets
    }),
    hash: (password: string, owner: string | null) =>
      Problem.orUnavailable(passwords.hash(Redacted.make(password), owner === null ? "stranger" : "link"))
  }
})
