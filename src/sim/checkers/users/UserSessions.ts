import type { Checker } from "../../Evidence.ts"
import type { JournalEntry } from "../../Journal.ts"
import { ms_us } from "../../world/Time.ts"
import { suspensionsOf } from "../facts/suspensions.ts"

/** So many sessions a user has at most: the oldest ends. */
const sessionsMax = 20

/** A session in the database: when it began there, and when it ended, if it did. */
interface Session {
  readonly user: string
  readonly begun_us: number
  ended_us: number
}

/** Sessions by the digests of their tokens: each ends by itself, or with its user's password, or when its user is disabled. */
const sessionsOf = (journal: ReadonlyArray<JournalEntry>): ReadonlyMap<string, Session> => {
  const sessions = new Map<string, Session>()
  for (const entry of journal) {
    const { at_us, tag } = entry
    if (tag === "session begun")
      sessions.set(entry.session, { user: entry.user, begun_us: at_us, ended_us: Number.POSITIVE_INFINITY })
    if (tag === "session ended" || tag === "password changed" || tag === "user disabled") {
      for (const [name, session] of sessions) {
        const isMeant = tag === "session ended" ? name === entry.session : session.user === entry.user
        if (isMeant) session.ended_us = Math.min(session.ended_us, at_us)
      }
    }
  }
  return sessions
}

/**
 * A session that has ended is accepted by no node from then on, and until then none takes it for unknown. A disabled user cannot sign in; every
 * other user can, with the right password alone.
 */
export const UserSessions: Checker = {
  name: "sessions of users",
  check: ({ end_us, exchanges, journal }) => {
    const violation = (at_us: number, text: string, number?: number) => ({
      checker: UserSessions.name,
      at_us,
      text,
      keys: number === undefined ? [] : [`#${number}`]
    })
    const sessions = sessionsOf(journal)
    const suspensions = suspensionsOf(journal)
    const changed = journal.flatMap((entry) =>
      entry.tag === "password changed" ? [{ user: entry.user, at_us: entry.at_us }] : []
    )
    const isSuspended = (user: string, from_us: number, to_us = from_us) =>
      suspensions.get(user)?.some((one) => one.from_us <= to_us && one.until_us >= from_us) === true
    const isSurplus = (session: Session, at_us: number) =>
      Array.from(sessions.values()).filter(
        ({ begun_us, ended_us, user }) =>
          user === session.user && begun_us <= at_us && ended_us > session.begun_us
      ).length > sessionsMax
    return [
      ...journal.flatMap((entry) =>
        entry.tag === "session begun" && isSuspended(entry.user, entry.at_us)
          ? [violation(entry.at_us, `a session of ${entry.user} began, who is disabled, by ${entry.by}`)]
          : []
      ),
      ...exchanges.flatMap((exchange) => {
        const { answered_us = end_us, answeredBy, isRight, kind, number, sent_us, status, user } = exchange
        if (status === 0 || status >= 500) return []
        const found = (text: string) => [violation(answered_us, `${text}, by ${answeredBy}`, number)]
        if (kind === "sign in" && user !== undefined) {
          if (status < 300 && isRight === false) return found(`${user} signed in with a wrong password`)
          const wasChanged = changed.some(
            (one) => one.user === user && one.at_us >= sent_us && one.at_us <= answered_us
          )
          return status === 401 && isRight === true && !wasChanged && !isSuspended(user, sent_us, answered_us)
            ? found(`${user} could not sign in with the right password`)
            : []
        }
        // Signing out needs no session that has not ended.
        const session =
          kind === "sign out" || exchange.session === undefined ? undefined : sessions.get(exchange.session)
        if (session === undefined) return []
        const late_ms = Math.round((sent_us - session.ended_us) / ms_us)
        if (status !== 401 && sent_us > session.ended_us)
          return found(`a session of ${session.user} was accepted ${late_ms} ms after its end`)
        return status === 401 && answered_us < session.ended_us && !isSurplus(session, answered_us)
          ? found(`a session of ${session.user} was refused, and had not ended`)
          : []
      })
    ]
  }
}
