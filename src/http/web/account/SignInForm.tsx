import { useState } from "preact/hooks"
import * as Session from "../app/Session.ts"
import { settings } from "../app/Settings.ts"
import { Field } from "../ui/Field.tsx"
import { PasswordField } from "../ui/PasswordField.tsx"
import { useSending } from "../ui/useSending.ts"

/** Begins a session, then says so. */
export const SignInForm = ({ onDone }: { readonly onDone: () => void }) => {
  const [email, setEmail] = useState("")
  const [password, setPassword] = useState("")
  const { error, isSending, onSubmit } = useSending(async () => {
    await Session.begin(email.trim(), password)
    onDone()
  })
  return (
    <form class="card form" onSubmit={onSubmit}>
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
      <PasswordField
        label="Password"
        autocomplete="current-password"
        value={password}
        onInput={setPassword}
      />
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
