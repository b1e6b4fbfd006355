import { useState } from "preact/hooks"
import * as Session from "../app/Session.ts"
import { Check } from "../ui/Check.tsx"
import { PasswordField, passwordHint } from "../ui/PasswordField.tsx"
import { say } from "../ui/Toasts.tsx"
import { useSending } from "../ui/hooks/useSending.ts"
import { words } from "./words.ts"

/** Has who is signed in choose another password. */
export const ChangePasswordForm = () => {
  const t = words()
  const [current, setCurrent] = useState("")
  const [password, setPassword] = useState("")
  const [revokesKeys, setRevokesKeys] = useState(false)
  const { error, isSending, onSubmit } = useSending(async () => {
    await Session.changePassword(current, password, revokesKeys)
    setCurrent("")
    setPassword("")
    say(words().changed)
  })
  return (
    <form class="card form" onSubmit={onSubmit}>
      {error && error.faults.length === 0 && (
        <p class="fault" role="alert">
          {error.message}
        </p>
      )}
      <PasswordField
        label={t.current}
        autocomplete="current-password"
        fault={error?.faultOf("currentPassword")}
        value={current}
        onInput={setCurrent}
      />
      <PasswordField
        label={t.new}
        autocomplete="new-password"
        hint={passwordHint()}
        fault={error?.faultOf("password")}
        value={password}
        onInput={setPassword}
      />
      <Check checked={revokesKeys} onChange={setRevokesKeys}>
        {t.revokes}
      </Check>
      <button type="submit" class="button strong" disabled={isSending}>
        {isSending ? t.changing : t.change}
      </button>
    </form>
  )
}
