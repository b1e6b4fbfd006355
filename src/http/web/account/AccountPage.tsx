import * as Accounts from "../api/Accounts.ts"
import { asApiError } from "../api/Client.ts"
import type { Session as SessionBody } from "../api/Types.ts"
import * as Session from "../app/Session.ts"
import { fill } from "../language/fill.tsx"
import { formatMoment } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { Failure, Loading } from "../ui/States.tsx"
import { fail, say } from "../ui/Toasts.tsx"
import { useLoaded } from "../ui/hooks/useLoaded.ts"
import { ChangePasswordForm } from "./ChangePasswordForm.tsx"
import { DeleteAccount } from "./DeleteAccount.tsx"
import { words } from "./words.ts"
import "./account.css"

const nameOf = ({ browser, os }: SessionBody) =>
  browser === "unknown" || browser === "bot"
    ? words().program
    : fill(words().sessionName, { browser, system: os })

interface SessionRowProps {
  readonly session: SessionBody
  readonly onEnd: () => void
}

const SessionRow = ({ onEnd, session }: SessionRowProps) => {
  const t = words()
  const name = nameOf(session)
  const signedIn = formatMoment(session.createdAt)
  return (
    <li class="session">
      <div>
        <strong>{name}</strong>
        <div class="marks">
          {session.current && <span class="tag">{t.here}</span>}
          <span>{fill(t.signedIn, { moment: signedIn })}</span>
          <span>{fill(t.lastUsed, { moment: formatMoment(session.lastUsedAt) })}</span>
        </div>
      </div>
      {!session.current && (
        <button
          type="button"
          class="button plain"
          aria-label={fill(t.endOf, { name, moment: signedIn })}
          onClick={onEnd}
        >
          <Icon name="close" /> {t.end}
        </button>
      )}
    </li>
  )
}

const Sessions = () => {
  const sessions = useLoaded(Accounts.sessions, [])
  const ending = async (end: Promise<unknown>, told: string) => {
    try {
      await end
      say(told)
    } catch (error) {
      fail(asApiError(error))
    }
    sessions.reload()
  }
  if (sessions.state === "failed") return <Failure error={sessions.error} retry={sessions.reload} />
  if (sessions.state === "loading") return <Loading />
  return (
    <>
      <ul class="sessions">
        {sessions.value.map((session) => (
          <SessionRow
            key={session.id}
            session={session}
            onEnd={() => void ending(Accounts.endSession(session.id), words().ended)}
          />
        ))}
      </ul>
      {sessions.value.length > 1 && (
        <button
          type="button"
          class="button"
          onClick={() => void ending(Accounts.endOtherSessions(), words().othersEnded)}
        >
          {words().endOthers}
        </button>
      )}
    </>
  )
}

/** One's sessions and password. */
export const AccountPage = () => (
  <>
    <h1>{words().title}</h1>
    <p class="lead">{Session.me.value?.email}</p>
    <section class="account-part">
      <h2>{words().sessions}</h2>
      <Sessions />
    </section>
    <section class="account-part narrow">
      <h2>{words().password}</h2>
      <ChangePasswordForm />
    </section>
    {Session.me.value?.id !== "admin" && (
      <section class="account-part">
        <h2>{words().theEnd}</h2>
        <DeleteAccount />
      </section>
    )}
  </>
)
