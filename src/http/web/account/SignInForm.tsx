import { useState } from "preact/hooks"
import * as Session from "../app/Session.ts"
import { settings } from "../app/Settings.ts"
import { rich } from "../language/fill.tsx"
import { Field } from "../ui/Field.tsx"
import { PasswordField } from "../ui/PasswordField.tsx"
import { useSending } from "../ui/hooks/useSending.ts"
import { words } from "./words.ts"

/** Begins a session, then says so. */
export const SignInForm = ({ onDone }: { readonly onDone: () => void }) => {
  const t = words()
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
      <Field label={t.email}>
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
        label={t.password}
        autocomplete="current-password"
        value={password}
        onInput={setPassword}
      />
      <button type="submit" class="button strong" disabled={isSending}>
        {isSending ? t.signingIn : t.signIn}
      </button>
      {settings.signUp && (
        <p class="hint">{rich(t.noAccount, { up: (inner) => <a href="/app/sign-up">{inner}</a> })}</p>
      )}
    </form>
  )
}
