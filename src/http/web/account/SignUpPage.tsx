import { useState } from "preact/hooks"
import * as Accounts from "../api/Accounts.ts"
import { asApiError, ownError } from "../api/Client.ts"
import { go } from "../app/Router.ts"
import * as Session from "../app/Session.ts"
import { settings } from "../app/Settings.ts"
import { Field } from "../ui/Field.tsx"
import { PasswordField, passwordHint } from "../ui/PasswordField.tsx"
import { Empty } from "../ui/States.tsx"
import { useSending } from "../ui/hooks/useSending.ts"
import { words } from "./words.ts"

const SignUpForm = () => {
  const t = words()
  const [email, setEmail] = useState("")
  const [firstName, setFirstName] = useState("")
  const [password, setPassword] = useState("")
  const { error, isSending, onSubmit } = useSending(async () => {
    const name = firstName.trim()
    await Accounts.signUp({ email: email.trim(), password, ...(name !== "" && { firstName: name }) })
    await Session.begin(email.trim(), password).catch((error: unknown) => {
      // The service does not say it, since strangers may ask. Who knows the password learns it by signing in.
      throw asApiError(error).kind === "unauthorized" ? ownError(words().isThereAlready) : error
    })
    go("/app/links")
  })
  return (
    <form class="card form" noValidate onSubmit={onSubmit}>
      {error && error.faults.length === 0 && (
        <p class="fault" role="alert">
          {error.message}
        </p>
      )}
      <Field label={t.email} fault={error?.faultOf("email")}>
        {(control) => (
          <input
            {...control}
            type="email"
            autocomplete="username"
            value={email}
            onInput={({ currentTarget }) => setEmail(currentTarget.value)}
          />
        )}
      </Field>
      <Field label={t.firstName} hint={t.firstNameHint} fault={error?.faultOf("firstName")}>
        {(control) => (
          <input
            {...control}
            autocomplete="given-name"
            value={firstName}
            onInput={({ currentTarget }) => setFirstName(currentTarget.value)}
          />
        )}
      </Field>
      <PasswordField
        label={t.password}
        autocomplete="new-password"
        hint={passwordHint()}
        fault={error?.faultOf("password")}
        value={password}
        onInput={setPassword}
      />
      <button type="submit" class="button strong" disabled={isSending}>
        {isSending ? t.signingUp : t.signUp}
      </button>
    </form>
  )
}

/** Makes an account, and begins a session with it. */
export const SignUpPage = () =>
  settings.signUp ? (
    <section class="narrow">
      <h1>{words().signUp}</h1>
      <SignUpForm />
    </section>
  ) : (
    <Empty isPage title={words().closed}>
      <p>{words().closedText}</p>
    </Empty>
  )
