import { useState } from "preact/hooks"
import * as Accounts from "../api/Accounts.ts"
import { useConfirmed } from "../account/useConfirmed.tsx"
import type { MadeApiKey } from "../api/Types.ts"
import * as Session from "../app/Session.ts"
import { fill } from "../language/fill.tsx"
import { Check } from "../ui/Check.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Field } from "../ui/Field.tsx"
import { GeneralFault } from "../ui/GeneralFault.tsx"
import { fromLocalInput } from "../ui/format.ts"
import { Secret } from "../ui/Secret.tsx"
import { words as common } from "../ui/words.ts"
import { words } from "./words.ts"

const allScopes = ["links:read", "links:write", "stats:read", "admin"] as const

/** Fields whose faults are shown beside them. */
const fields = ["name", "expiresAt", "createsPerMinute", "redirectsPerDay"]

const NewKeyForm = ({ onMade }: { readonly onMade: (made: MadeApiKey) => void }) => {
  const t = words()
  const [name, setName] = useState("")
  const [scopes, setScopes] = useState<ReadonlyArray<string>>(["links:read", "links:write"])
  const [expiresAt, setExpiresAt] = useState("")
  const [createsPerMinute, setCreatesPerMinute] = useState("")
  const [redirectsPerDay, setRedirectsPerDay] = useState("")
  const send = async () => {
    const made = await Accounts.addKey({
      name: name.trim(),
      scopes,
      ...(expiresAt !== "" && { expiresAt: fromLocalInput(expiresAt) }),
      ...(createsPerMinute !== "" && { createsPerMinute: Number(createsPerMinute) }),
      ...(redirectsPerDay !== "" && { redirectsPerDay: Number(redirectsPerDay) })
    })
    onMade(made)
  }
  const { error, isSending, onSubmit, passwordField } = useConfirmed(send, {
    hint: t.confirm
  })
  const limit = (label: string, path: string, value: string, set: (value: string) => void) => (
    <Field label={label} fault={error?.faultOf(path)}>
      {(control) => (
        <input
          {...control}
          type="number"
          min={1}
          placeholder={common().noLimit}
          value={value}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      )}
    </Field>
  )
  return (
    <form class="form" noValidate onSubmit={onSubmit}>
      <GeneralFault error={error} fields={fields} />
      <Field label={t.name} hint={t.nameHint} fault={error?.faultOf("name")}>
        {(control) => (
          <input {...control} value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
        )}
      </Field>
      <fieldset class="checks">
        <legend>{t.itMay}</legend>
        {allScopes
          .filter((scope) => scope !== "admin" || Session.me.value?.admin)
          .map((scope) => (
            <Check
              key={scope}
              checked={scopes.includes(scope)}
              onChange={(isChosen) =>
                setScopes(isChosen ? [...scopes, scope] : scopes.filter((other) => other !== scope))
              }
            >
              {t.scope[scope]} <span class="soft">({scope})</span>
            </Check>
          ))}
      </fieldset>
      <Field label={t.ends} hint={t.endsHint} fault={error?.faultOf("expiresAt")}>
        {(control) => (
          <input
            {...control}
            type="datetime-local"
            value={expiresAt}
            onInput={({ currentTarget }) => setExpiresAt(currentTarget.value)}
          />
        )}
      </Field>
      <div class="two">
        {limit(t.createsAMinute, "createsPerMinute", createsPerMinute, setCreatesPerMinute)}
        {limit(t.redirectsADay, "redirectsPerDay", redirectsPerDay, setRedirectsPerDay)}
      </div>
      {passwordField}
      <div class="actions end">
        <button
          type="submit"
          class="button strong"
          disabled={isSending || name.trim() === "" || scopes.length === 0}
        >
          {isSending ? t.making : t.make}
        </button>
      </div>
    </form>
  )
}

interface NewKeyDialogProps {
  readonly onMade: () => void
  readonly onClose: () => void
}

/** Makes an API key, and shows its secret once. */
export const NewKeyDialog = ({ onClose, onMade }: NewKeyDialogProps) => {
  const t = words()
  const [made, setMade] = useState<MadeApiKey>()
  return (
    <Dialog title={made ? t.yours : t.newTitle} onClose={onClose}>
      {made ? (
        <Secret
          text={fill(t.secretText, { name: made.name })}
          secret={made.secret}
          what={t.secret}
          onClose={onClose}
        />
      ) : (
        <NewKeyForm
          onMade={(made) => {
            setMade(made)
            onMade()
          }}
        />
      )}
    </Dialog>
  )
}
