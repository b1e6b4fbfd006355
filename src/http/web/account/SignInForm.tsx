import { useState } from "preact/hooks"
import { type ApiError, asApiError } from "../api/Client.ts"
import * as Session from "../app/Session.ts"
import { settings } from "../app/Settings.ts"
import { Field } from "../ui/Field.tsx"

/** Begins a session, then says so. */
export const SignInForm = ({ onDone }: { readonly onDone: () => void }) => {
  const [email, setEmail] = useState("")
  const [password, setPassword] = useState("")
  const [isSending, setIsSending] = useState(false)
  const [error, setError] = useState<ApiError>()
  const send = async () => {
    setIsSending(true)
    setError(undefined)
    try {
      await Session.begin(email.trim(), password)
      onDone()
    } catch (error) {
      setError(asApiError(error))
      setIsSending(false)
    }
  }
  return (
    <form
      class="card form"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isSending) void send()
      }}
    >
      {error && (
        <p class="fault" role="alert">
          {error.message}
        </p>
      )}
      <Field label="E-mail">
        {(control) => (
          <input
            {...control}
            type="text"
            inputMode="email"
            autocomplete="username"
            autocapitalize="none"
            required
            value={email}
            onInput={({ currentTarget }) => setEmail(currentTarget.value)}
          />
        )}
      </Field>
      <Field label="Password">
        {(control) => (
          <input
            {...control}
            type="password"
            autocomplete="current-password"
            required
            value={password}
            onInput={({ currentTarget }) => setPassword(currentTarget.value)}
          />
        )}
      </Field>
      <button type="submit" class="button strong" disabled={isSending}>
        {isSending ? "Signing in…" : "Sign in"}
      </button>
      {settings.signUp && (
        <p class="hint">
          No account? <a href="/app/sign-up">Sign up</a>
        </p>
      )}
    </form>
  )
}
