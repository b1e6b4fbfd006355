import { useState } from "preact/hooks"
import type { MadeWebhook, Webhook } from "../api/Types.ts"
import * as Webhooks from "../api/Webhooks.ts"
import { addressOf } from "../ui/address.ts"
import { Check } from "../ui/Check.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Field } from "../ui/Field.tsx"
import { GeneralFault } from "../ui/GeneralFault.tsx"
import { Secret } from "../ui/Secret.tsx"
import { useSending } from "../ui/hooks/useSending.ts"
import english from "../messages/en/webhooks.ts"
import { words } from "./words.ts"

type Event = Webhook["events"][number]

const events = Object.keys(english.event) as ReadonlyArray<Event>

const NewWebhookForm = ({ onMade }: { readonly onMade: (made: MadeWebhook) => void }) => {
  const t = words()
  const [url, setUrl] = useState("")
  const [chosen, setChosen] = useState<ReadonlyArray<Event>>(["link.created", "link.deleted"])
  const { error, isSending, onInput, onSubmit } = useSending(async () =>
    onMade(
      await Webhooks.add({ url: addressOf(url), events: events.filter((event) => chosen.includes(event)) })
    )
  )
  return (
    <form class="form" noValidate onInput={onInput} onSubmit={onSubmit}>
      <GeneralFault error={error} fields={["url", "events"]} />
      <Field label={t.address} hint={t.addressHint} fault={error?.faultOf("url")}>
        {(control) => (
          <input
            {...control}
            inputMode="url"
            autocomplete="off"
            spellcheck={false}
            placeholder="https://example.com/hooks/links"
            value={url}
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
        )}
      </Field>
      <fieldset class="checks">
        <legend>{t.toldOf}</legend>
        {events.map((event) => (
          <Check
            key={event}
            checked={chosen.includes(event)}
            onChange={(isChosen) =>
              setChosen(isChosen ? [...chosen, event] : chosen.filter((other) => other !== event))
            }
          >
            {t.event[event]} <span class="soft">({event})</span>
          </Check>
        ))}
      </fieldset>
      <div class="dialog-end actions end">
        <button
          type="submit"
          class="button strong"
          disabled={isSending || url.trim() === "" || chosen.length === 0}
        >
          {isSending ? t.making : t.make}
        </button>
      </div>
    </form>
  )
}

interface NewWebhookDialogProps {
  readonly onMade: () => void
  readonly onClose: () => void
}

/** Makes a webhook, and shows its secret once. */
export const NewWebhookDialog = ({ onClose, onMade }: NewWebhookDialogProps) => {
  const t = words()
  const [made, setMade] = useState<MadeWebhook>()
  return (
    <Dialog title={made ? t.itsSecret : t.new} onClose={onClose}>
      {made ? (
        <Secret text={t.secretText} secret={made.secret} what={t.secret} onClose={onClose} />
      ) : (
        <NewWebhookForm
          onMade={(made) => {
            setMade(made)
            onMade()
          }}
        />
      )}
    </Dialog>
  )
}
