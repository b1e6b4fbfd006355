import * as Accounts from "../api/Accounts.ts"
import { asApiError } from "../api/Client.ts"
import type { Session as SessionBody } from "../api/Types.ts"
import * as Session from "../app/Session.ts"
import { formatMoment } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { Failure, Loading } from "../ui/States.tsx"
import { fail, say } from "../ui/Toasts.tsx"
import { useLoaded } from "../ui/useLoaded.ts"
import { ChangePasswordForm } from "./ChangePasswordForm.tsx"
import { DeleteAccount } from "./DeleteAccount.tsx"
import "./account.css"

const nameOf = ({ browser, os }: SessionBody) =>
  browser === "unknown" || browser === "bot" ? "A program" : `${browser}, ${os}`

interface SessionRowProps {
  readonly session: SessionBody
  readonly onEnd: () => void
}

const SessionRow = ({ onEnd, session }: SessionRowProps) => (
  <li class="session">
    <div>
      <strong>{nameOf(session)}</strong>
      <div class="marks">
        {session.current && <span class="tag">This browser</span>}
        <span>Signed in {formatMoment(session.createdAt)}</span>
        <span>Last used {formatMoment(session.lastUsedAt)}</span>
      </div>
    </div>
    {!session.current && (
      <button
        type="button"
        class="button plain"
        aria-label={`End the session of ${nameOf(session)}, signed in ${formatMoment(session.createdAt)}`}
        onClick={onEnd}
      >
        <Icon name="close" /> End
      </button>
    )}
  </li>
)

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
            onEnd={() => void ending(Accounts.endSession(session.id), "That session has ended.")}
          />
        ))}
      </ul>
      {sessions.value.length > 1 && (
        <button
          type="button"
          class="button"
          onClick={() => void ending(Accounts.endOtherSessions(), "All other sessions have ended.")}
        >
          End all other sessions
        </button>
      )}
    </>
  )
}

/** One's sessions and password. */
export const AccountPage = () => (
  <>
    <h1>Account</h1>
    <p class="lead">{Session.me.value?.email}</p>
    <section class="account-part">
      <h2>Where you are signed in</h2>
      <Sessions />
    </section>
    <section class="account-part narrow">
      <h2>Password</h2>
      <ChangePasswordForm />
    </section>
    {Session.me.value?.id !== "admin" && (
      <section class="account-part">
        <h2>The end</h2>
        <DeleteAccount />
      </section>
    )}
  </>
)
