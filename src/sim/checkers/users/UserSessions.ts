import { idOf } from "../../../accounts/Sessions.ts"
import { administrator } from "../../deployment/Users.ts"
import type { Checker } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import type { JournalEntry } from "../../Journal.ts"
import { ms_us, s_us } from "../../world/Time.ts"
import { mayBeAskedUnseen } from "../facts/remembered.ts"
import { suspensionsOf } from "../facts/suspensions.ts"

/** So many sessions a user has at most: the oldest ends. */
const sessionsMax = 20

/** What a session's stored last use may be older than it is: a tenth of the time after which it ends unused. And how far the clocks of nodes differ, and a use may last. */
const touchedEach = 0.1
const idleSlack_us = 1.5 * s_us

/** How long after it was asked for a session begins at most. */
const beginsWithin_us = 15 * s_us

/** A session in the database: when it began there, whether with a password that must be changed, and when it ended, if it did. */
interface Session {
  readonly name: string
  readonly user: string
  readonly begun_us: number
  readonly mustChange: boolean
  ended_us: number
}

/** Sessions by the digests of their tokens: each ends by itself, or with its user's password, or when its user is disabled. */
const sessionsOf = (journal: ReadonlyArray<JournalEntry>): ReadonlyMap<string, Session> => {
  const sessions = new Map<string, Session>()
  const mustChange = new Set<string>()
  for (const entry of journal) {
    const { at_us, tag } = entry
    if (tag === "session begun") {
      const { session: name, user } = entry
      const begun = { name, user, begun_us: at_us, mustChange: mustChange.has(user) }
      sessions.set(name, { ...begun, ended_us: Number.POSITIVE_INFINITY })
    }
    if (tag === "password changed") mustChange[entry.isTemporary ? "add" : "delete"](entry.user)
    if (
      tag === "session ended" ||
      tag === "password changed" ||
      tag === "user disabled" ||
      tag === "user removed"
    ) {
      for (const [name, session] of sessions) {
        const isMeant = tag === "session ended" ? name === entry.session : session.user === entry.user
        if (isMeant) session.ended_us = Math.min(session.ended_us, at_us)
      }
    }
  }
  return sessions
}

/** What a user may do who must choose another password first. */
const always = new Set(["account", "password", "sign out"])

/** Whether a request asks for the end of a session by itself. */
const isToEnd = ({ ends, kind, session, user }: Exchange, { name, user: owner }: Session) =>
  (session === name && (kind === "sign out" || kind === "sign in")) ||
  (kind === "end session" && ends === idOf(name) && user === owner) ||
  (kind === "end others" && user === owner && session !== name)

/**
 * A session that has ended is accepted by no node from then on, and until then none takes it for unknown. A disabled user cannot sign in; every
 * other user can, and can choose another password, with the right password alone: of several changes at once that one confirms one is made. Who has a password that an administrator gave can do nothing else before. Sessions end as somebody was told, or when nobody has used them for long, none by itself without being asked to, and a list has those that have not ended.
 */
export const UserSessions: Checker = {
  name: "sessions of users",
  check: ({ clock, end_us, exchanges, faults, journal, options }) => {
    const violation = (at_us: number, text: string, number?: number) => ({
      checker: UserSessions.name,
      at_us,
      text,
      keys: number === undefined ? [] : [`#${number}`]
    })
    const sessions = sessionsOf(journal)
    const all = Array.from(sessions.values())
    const byId = new Map(all.map((session) => [idOf(session.name), session]))
    const suspensions = suspensionsOf(journal)
    const changed = journal.flatMap((entry) => (entry.tag === "password changed" ? [entry] : []))
    const isSuspended = (user: string, from_us: number, to_us = from_us) =>
      suspensions.get(user)?.some((one) => one.from_us <= to_us && one.until_us >= from_us) === true
    const mayBeUnseen = mayBeAskedUnseen(journal)
    const signIns = exchanges.filter(({ kind }) => kind === "sign in")
    const areClocksRight = clock.jumps.length === 0 && !faults.has("clockJump")
    /** When a session was asked for at the earliest, by which the oldest ones are told. */
    const asked = new Map<Session, number>()
    /** Changes of passwords that somebody was told of. */
    const toldOf = new Set<JournalEntry>()
    const asked_us = (session: Session) => {
      const { begun_us, user } = session
      const known = asked.get(session)
      if (known !== undefined) return known
      const sent = signIns.flatMap(({ answered_us = end_us, sent_us, user: signedIn }) =>
        signedIn === user && sent_us <= begun_us && answered_us >= begun_us ? [sent_us] : []
      )
      const least_us = sent.length === 0 ? begun_us - beginsWithin_us : Math.min(...sent)
      asked.set(session, areClocksRight ? least_us : Number.NEGATIVE_INFINITY)
      return asked.get(session)!
    }
    /** Whether a session may have ended since there were too many younger ones. */
    const isSurplus = (session: Session, at_us: number) => {
      const least_us = asked_us(session)
      return (
        all.filter(
          (other) =>
            other !== session &&
            other.user === session.user &&
            other.begun_us <= at_us &&
            other.begun_us >= least_us &&
            other.ended_us > session.begun_us
        ).length >= sessionsMax
      )
    }
    const idle_us = (options.sessionIdle_s ?? Number.POSITIVE_INFINITY) * s_us
    /** The requests in each session, and which of them were let in. */
    const uses = new Map<
      string,
      Array<Pick<Exchange, "begun_us" | "sent_us"> & { readonly until_us: number; readonly isLetIn: boolean }>
    >()
    for (const { answered_us = end_us, begun_us, kind, sent_us, session, status } of exchanges) {
      if (session === undefined) continue
      const isLetIn =
        status > 0 &&
        status < 500 &&
        status !== 401 &&
        kind !== "sign in" &&
        kind !== "sign out" &&
        kind !== "trespass"
      uses.set(session, [...(uses.get(session) ?? []), { begun_us, sent_us, until_us: answered_us, isLetIn }])
    }
    /** When a session was used last before a moment: certainly, or possibly. */
    const usedLast_us = (session: Session, at_us: number, isCertain: boolean) =>
      (uses.get(session.name) ?? []).reduce((last_us, { begun_us, isLetIn, sent_us, until_us }) => {
        if (isCertain) return sent_us < at_us && isLetIn ? Math.max(last_us, sent_us) : last_us
        return begun_us < at_us ? Math.max(last_us, until_us) : last_us
      }, session.begun_us)
    const isMeasured = areClocksRight && !faults.has("databaseFailover")
    /** Whether a session may have ended by then since nobody used it. */
    const mayBeIdle = (session: Session, at_us: number) =>
      idle_us < Number.POSITIVE_INFINITY &&
      (!isMeasured || at_us - usedLast_us(session, at_us, true) > idle_us * (1 - touchedEach) - idleSlack_us)
    /** Whether it must have ended for that. */
    const isIdle = (session: Session, at_us: number) =>
      isMeasured && at_us - usedLast_us(session, at_us, false) > idle_us + idleSlack_us
    /** Whether a session certainly has not ended by then, for whatever cause. */
    const goesOn = (session: Session, at_us: number) =>
      session.ended_us > at_us && !isSurplus(session, at_us) && !mayBeIdle(session, at_us)
    /** What is wrong with what an answer told of the user's sessions. */
    const told = ({
      answered_us = end_us,
      ends,
      kind,
      listed,
      sent_us,
      session: own,
      status,
      user
    }: Exchange) => {
      const isThere = (one: Session) => goesOn(one, answered_us)
      const others = all.filter((one) => one.user === user && one.name !== own && one.begun_us < sent_us)
      const meant = ends === undefined ? undefined : byId.get(ends)
      if (kind === "end others" && status === 204)
        return others.filter(isThere).map(({ name }) => `session ${name} was said to have ended`)
      if (kind === "end session" && status === 204)
        return meant?.user !== user || isThere(meant!) ? [`session ${ends} was said to have ended`] : []
      if (kind === "end session" && status === 404)
        return meant?.user === user && isThere(meant!) ? [`session ${ends} was not found`] : []
      if (kind === "sessions" && listed !== undefined) {
        const wrong = listed.filter((id) => {
          const one = byId.get(id)
          return one?.user !== user || one!.ended_us < sent_us
        })
        const absent = others.filter((one) => isThere(one) && !listed.includes(idOf(one.name)))
        return [
          ...wrong.map((id) => `a list has session ${id}, which is not there`),
          ...absent.map(({ name }) => `a list is without session ${name}`)
        ]
      }
      return []
    }
    return [
      ...journal.flatMap((entry) => {
        if (entry.tag === "session begun" && isSuspended(entry.user, entry.at_us))
          return [violation(entry.at_us, `a session of ${entry.user} began, who is disabled, by ${entry.by}`)]
        if (entry.tag !== "session ended") return []
        const session = sessions.get(entry.session)
        const isAsked =
          session === undefined ||
          mayBeUnseen(entry.at_us) ||
          exchanges.some((exchange) => exchange.sent_us <= entry.at_us && isToEnd(exchange, session))
        return isAsked
          ? []
          : [violation(entry.at_us, `a session of ${session.user} was ended, which nobody wanted`)]
      }),
      ...exchanges.flatMap((exchange) => {
        const {
          answered_us = end_us,
          answeredBy,
          begun_us,
          isRight,
          kind,
          number,
          sent_us,
          status,
          user
        } = exchange
        if (status === 0 || status >= 500) return []
        const found = (text: string) => [violation(answered_us, `${text}, by ${answeredBy}`, number)]
        const changes = changed.filter(
          (one) => one.user === user && one.at_us >= sent_us && one.at_us <= answered_us
        )
        if (kind === "sign in" && user !== undefined) {
          if (status < 300 && isRight === false) return found(`${user} signed in with a wrong password`)
          return status === 401 &&
            isRight === true &&
            changes.length === 0 &&
            !isSuspended(user, sent_us, answered_us)
            ? found(`${user} could not sign in with the right password`)
            : []
        }
        const session = exchange.session === undefined ? undefined : sessions.get(exchange.session)
        if (session === undefined) return []
        // Signing out needs no session that has not ended.
        if (kind === "sign out") {
          return status === 204 && goesOn(session, answered_us)
            ? found(`a session of ${session.user} goes on after its user signed out`)
            : []
        }
        const late_ms = Math.round((sent_us - session.ended_us) / ms_us)
        if (status !== 401 && sent_us > session.ended_us)
          return found(`a session of ${session.user} was accepted ${late_ms} ms after its end`)
        if (status !== 401 && isIdle(session, begun_us))
          return found(`a session of ${session.user} was accepted that nobody had used for long`)
        if (status === 401 && goesOn(session, answered_us))
          return found(`a session of ${session.user} was refused, and had not ended`)
        // Those who are no administrators are refused the audit log, and more, as others judge.
        if ((kind === "audit" && status === 403 && user !== administrator) || kind === "trespass") return []
        if (status !== 401 && (status === 403) !== (session.mustChange && !always.has(kind)))
          return found(
            `a session of ${session.user} ${status === 403 ? "was" : "was not"} told to change the password`
          )
        if (kind === "password") {
          const [first] = changes
          const isDone = changes.some(({ by }) => by === answeredBy)
          if (status === 204 && (isRight === false || !isDone))
            return found(`${session.user} was told that the password is another one`)
          // With the first change another password is the right one.
          if (status === 204 && (first!.by !== answeredBy || toldOf.has(first!)))
            return found(`${session.user} changed a password that was not the present one any more`)
          if (status === 204) toldOf.add(first!)
          // Of a user who was removed meanwhile no password is right.
          const isOver = session.ended_us <= answered_us
          if (status === 400 && isRight === true && changes.length === 0 && !isOver)
            return found(`${session.user} could not change the password with the right one`)
        }
        return told(exchange).flatMap(found)
      })
    ]
  }
}
