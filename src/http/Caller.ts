import { Either, Redacted } from "effect"
import * as Secret from "../Secret.ts"
import type { Problem } from "./Problem.ts"

/** Who sent a request. */
export type Caller = "admin" | "anonymous"

const unauthorized = (detail: string) => Either.left<Problem>({ kind: "unauthorized", detail })

/** The API key of a request: `X-Api-Key`, or `Authorization: Bearer`. */
const presented = (headers: Readonly<Record<string, string | undefined>>): string | undefined =>
  headers["x-api-key"] ?? /^Bearer +(\S+) *$/i.exec(headers["authorization"] ?? "")?.[1]

/**
 * Tells the caller by the request's API key. A key that is not known is refused even where none is needed: whoever sends one means to be
 * someone.
 */
export const identify = (
  headers: Readonly<Record<string, string | undefined>>,
  adminKeyDigest: string
): Either.Either<Caller, Problem> => {
  const key = presented(headers)
  if (key === undefined) {
    return headers["authorization"] === undefined
      ? Either.right("anonymous")
      : unauthorized("The Authorization header must be of the form: Bearer KEY.")
  }
  return Secret.matches(Redacted.make(key), adminKeyDigest)
    ? Either.right("admin")
    : unauthorized("The API key is not valid.")
}

/** Lets the administrator pass. */
export const requireAdmin = (caller: Caller): Either.Either<void, Problem> =>
  caller === "admin"
    ? Either.void
    : unauthorized("This needs an API key, as X-Api-Key: KEY or Authorization: Bearer KEY.")
