import type { UserKey } from "../../deployment/Users.ts"
import type { Evidence } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"

/** Who sent a request: a user, perhaps by an API key; both `undefined` where it was none of theirs. */
interface Sender {
  readonly key: UserKey | undefined
  readonly user: string | undefined
}

/** Tells who sent a request, by its API key or its session. */
export const sendersOf = ({
  journal,
  userKeys
}: Pick<Evidence, "journal" | "userKeys">): ((exchange: Pick<Exchange, "apiKey" | "session">) => Sender) => {
  const keys = new Map(userKeys.map((key) => [key.secret, key]))
  const sessions = new Map(
    journal.flatMap((entry) => (entry.tag === "session begun" ? [[entry.session, entry.user] as const] : []))
  )
  return ({ apiKey, session }) => {
    const key = apiKey === undefined ? undefined : keys.get(apiKey)
    return { key, user: key?.user ?? (session === undefined ? undefined : sessions.get(session)) }
  }
}
