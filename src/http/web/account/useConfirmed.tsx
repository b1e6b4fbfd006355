import { useState } from "preact/hooks"
import * as Session from "../app/Session.ts"
import { PasswordField } from "../ui/PasswordField.tsx"
import { useSending } from "../ui/hooks/useSending.ts"
import { words } from "./words.ts"

interface ConfirmedOptions {
  /** Asks for the password at once, and does not wait for the service to want it. */
  readonly asks?: boolean
  /** Why the password is asked for. */
  readonly hint: string
}

/**
 * What a form sends that the service does only in a session which began a short while ago: where it says that this one is too old, the form gets a field for the password, and the next try begins
 * another session first. Beside what `useSending` gives: that field.
 */
export const useConfirmed = (send: () => Promise<void>, { asks = false, hint }: ConfirmedOptions) => {
  const [password, setPassword] = useState("")
  const [asksPassword, setAsksPassword] = useState(asks)
  const { error, ...sending } = useSending(async () => {
    const me = Session.me.value
    if (password !== "" && me) await Session.begin(me.email, password)
    await send()
  })
  const isTooOld = error?.kind === "reauthentication-required"
  if (isTooOld && !asksPassword) setAsksPassword(true)
  const passwordField = asksPassword && (
    <PasswordField
      label={words().yourPassword}
      autocomplete="current-password"
      hint={hint}
      value={password}
      onInput={setPassword}
    />
  )
  return {
    ...sending,
    error: isTooOld ? undefined : error,
    passwordField,
    isComplete: !asksPassword || password !== ""
  }
}
