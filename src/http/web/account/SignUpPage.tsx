import { useState } from "preact/hooks"
import * as Accounts from "../api/Accounts.ts"
import { go } from "../app/Router.ts"
import * as Session from "../app/Session.ts"
import { settings } from "../app/Settings.ts"
import { Field } from "../ui/Field.tsx"
import { Empty } from "../ui/States.tsx"
import { useSending } from "../ui/useSending.ts"

const SignUpForm = () => {
  const [email, setEmail] = useState("")
  const [firstName, setFirstName] = useState("")
  const [password, setPassword] = useState("")
  const { error, isSending, onSubmit } = useSending(async () => {
    const name = firstName.trim()
    await Accounts.signUp({ email: email.trim(), password, ...(name !== "" && { firstName: name }) })
    await Session.begin(email.trim(), password)
    go("/app/links")
  })
  return (
    <form class="card form" noValidate onSubmit={onSubmit}>
      {error && error.faults.length === 0 && (
        <p class="fault" role="alert">
          {error.message}
        </p>
      )}
      <Field label="E-mail" fault={error?.faultOf("email")}>
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
      <Field label="First name" hint="If you like." fault={error?.faultOf("firstName")}>
        {(control) => (
          <input
            {...control}
            autocomplete="given-name"
            maxLength={100}
            value={firstName}
            onInput={({ currentTarget }) => setFirstName(currentTarget.value)}
          />
        )}
      </Field>
      <Field label="Password" hint="8 characters or more." fault={error?.faultOf("password")}>
        {(control) => (
          <input
            {...control}
            type="password"
            autocomplete="new-password"
            maxLength={128}
            value={password}
            onInput={({ currentTarget }) => setPassword(currentTarget.value)}
          />
        )}
      </Field>
      <button type="submit" class="button strong" disabled={isSending}>
        {isSending ? "Making the account…" : "Sign up"}
      </button>
    </form>
  )
}

/** Makes an account, and begins a session with it. */
export const SignUpPage = () =>
  settings.signUp ? (
    <section class="narrow">
      <h1>Sign up</h1>
      <SignUpForm />
    </section>
  ) : (
    <Empty isPage title="Sign-up is closed">
      <p>The administrator makes the accounts of this service.</p>
    </Empty>
  )
