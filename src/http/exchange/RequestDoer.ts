import { Effect } from "effect"
import type { SessionClient } from "../../accounts/Sessions.ts"
import { type Doer, stranger } from "../../model/Audit.ts"
import { KeyedHash } from "../../secrets/KeyedHash.ts"
import { type Caller, presented } from "./Caller.ts"
import { ClientAddress } from "./ClientAddress.ts"
import * as UserAgent from "../../visits/UserAgent.ts"
import type { Request } from "./Request.ts"

/** What is looked at of a request. */
type Source = Pick<Request, "headers" | "remoteAddress">

/** Tells who does what a request asks for, as the audit log knows them. */
export const make = Effect.gen(function* () {
  const addresses = yield* ClientAddress
  const hash = yield* KeyedHash
  const clientOf = (request: Source): string | null => {
    const client = addresses.clientOf(request)
    return client === null ? null : hash.of("audit-client", client.id)
  }
  return {
    clientOf,
    /** What a session is begun with, as far as the client says it. */
    sessionClientOf: (request: Source): SessionClient => {
      const { browser, os } = UserAgent.parse(request.headers["user-agent"])
      return { browser, os, hash: clientOf(request) }
    },
    doerOf: (request: Source, caller: Caller): Doer => {
      const client = clientOf(request)
      if (caller === "anonymous") return stranger(client)
      const { keyId, userId } = caller
      if (keyId !== null) return { by: "api-key", userId, keyId, client }
      return { by: presented(request.headers) === undefined ? "session" : "admin-key", userId, keyId, client }
    }
  }
})
