import { useState } from "preact/hooks"
import * as Accounts from "../api/Accounts.ts"
import { useConfirmed } from "../account/useConfirmed.tsx"
import type { MadeApiKey } from "../api/Types.ts"
import * as Session from "../app/Session.ts"
import { Check } from "../ui/Check.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Field } from "../ui/Field.tsx"
import { GeneralFault } from "../ui/GeneralFault.tsx"
import { fromLocalInput } from "../ui/format.ts"
import { Secret } from "../ui/Secret.tsx"

const meanings = [
  ["links:read", "See links"],
  ["links:write", "Make, change and delete links"],
  ["stats:read", "See statistics"],
  ["admin", "Everything, of everybody"]
] as const

/** Fields whose faults are shown beside them. */
const fields = ["name", "expiresAt", "createsPerMinute", "redirectsPerDay"]

const NewKeyForm = ({ onMade }: { readonly onMade: (made: MadeApiKey) => void }) => {
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
    hint: "You signed in a while ago. It is asked for again before a key is made."
  })
  const limit = (label: string, path: string, value: string, set: (value: string) => void) => (
    <Field label={label} fault={error?.faultOf(path)}>
      {(control) => (
        <input
          {...control}
          type="number"
          min={1}
          placeholder="no limit"
          value={value}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      )}
    </Field>
  )
  return (
    <form class="form" noValidate onSubmit={onSubmit}>
      <GeneralFault error={error} fields={fields} />
      <Field label="Name" hint="The program it is for." fault={error?.faultOf("name")}>
        {(control) => (
          <input {...control} value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
        )}
      </Field>
      <fieldset class="checks">
        <legend>It may</legend>
        {meanings
          .filter(([scope]) => scope !== "admin" || Session.me.value?.admin)
          .map(([scope, meaning]) => (
            <Check
              key={scope}
              checked={scopes.includes(scope)}
              onChange={(isChosen) =>
                setScopes(isChosen ? [...scopes, scope] : scopes.filter((other) => other !== scope))
              }
            >
              {meaning} <span class="soft">({scope})</span>
            </Check>
          ))}
      </fieldset>
      <Field label="Ends" hint="Empty: when it is revoked." fault={error?.faultOf("expiresAt")}>
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
        {limit("Creates a minute", "createsPerMinute", createsPerMinute, setCreatesPerMinute)}
        {limit("Redirects a day", "redirectsPerDay", redirectsPerDay, setRedirectsPerDay)}
      </div>
      {passwordField}
      <div class="actions end">
        <button
          type="submit"
          class="button strong"
          disabled={isSending || name.trim() === "" || scopes.length === 0}
        >
          {isSending ? "Making…" : "Make the key"}
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
  const [made, setMade] = useState<MadeApiKey>()
  return (
    <Dialog title={made ? "Your new API key" : "New API key"} onClose={onClose}>
      {made ? (
        <Secret of={`“${made.name}”`} secret={made.secret} what="the API key" onClose={onClose} />
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
