import { useState } from "preact/hooks"
import * as Links from "../api/Links.ts"
import type { Link, LinkChange } from "../api/Types.ts"
import { addressOf } from "../ui/address.ts"
import { Check } from "../ui/Check.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Field } from "../ui/Field.tsx"
import { fromLocalInput, toLocalInput } from "../ui/format.ts"
import { tagsOf } from "../ui/tags.ts"
import { useSending } from "../ui/useSending.ts"

/** A link's fields as inputs have them. */
interface Draft {
  readonly url: string
  readonly title: string
  readonly tags: string
  readonly expiresAt: string
  readonly validSince: string
  readonly maxVisits: string
  /** Empty: as it is. */
  readonly password: string
  readonly endsPassword: boolean
  readonly redirectStatus: string
  readonly forwardQuery: boolean
  readonly crawlable: boolean
}

const draftOf = (link: Link): Draft => ({
  url: link.url,
  title: link.title ?? "",
  tags: link.tags.join(", "),
  expiresAt: toLocalInput(link.expiresAt),
  validSince: toLocalInput(link.validSince),
  maxVisits: link.maxVisits === null ? "" : String(link.maxVisits),
  password: "",
  endsPassword: false,
  redirectStatus: String(link.redirectStatus),
  forwardQuery: link.forwardQuery,
  crawlable: link.crawlable
})

/** How each field is said to the service. Only what was changed is said: a date as an input has it knows no seconds. */
const said: { readonly [Name in keyof Draft]?: (draft: Draft) => LinkChange } = {
  url: ({ url }) => ({ url: addressOf(url) }),
  title: ({ title }) => ({ title: title.trim() === "" ? null : title.trim() }),
  tags: ({ tags }) => ({ tags: tagsOf(tags) }),
  expiresAt: ({ expiresAt }) => ({ expiresAt: expiresAt === "" ? null : fromLocalInput(expiresAt) }),
  validSince: ({ validSince }) => ({ validSince: validSince === "" ? null : fromLocalInput(validSince) }),
  maxVisits: ({ maxVisits }) => ({ maxVisits: maxVisits === "" ? null : Number(maxVisits) }),
  password: ({ password }) => ({ password }),
  endsPassword: () => ({ password: null }),
  redirectStatus: ({ redirectStatus }) => ({
    redirectStatus: Number(redirectStatus) as Link["redirectStatus"]
  }),
  forwardQuery: ({ forwardQuery }) => ({ forwardQuery }),
  crawlable: ({ crawlable }) => ({ crawlable })
}

const changeOf = (before: Draft, after: Draft): LinkChange => {
  const names = (Object.keys(said) as Array<keyof Draft>).filter((name) => before[name] !== after[name])
  return Object.assign({}, ...names.map((name) => said[name]!(after))) as LinkChange
}

const statuses = [
  ["302", "302: found, for now"],
  ["301", "301: moved for good"],
  ["307", "307: for now, same method"],
  ["308", "308: for good, same method"]
] as const

interface EditDialogProps {
  readonly link: Link
  readonly onClose: () => void
  readonly onChanged: (link: Link) => void
}

/** Changes a link. Its key stays. */
export const EditDialog = ({ link, onChanged, onClose }: EditDialogProps) => {
  const [draft, setDraft] = useState(() => draftOf(link))
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))

  const { error, isSending, onInput, onSubmit } = useSending(async () => {
    const change = changeOf(draftOf(link), draft)
    if (Object.keys(change).length === 0) return onClose()
    onChanged(await Links.change(link.key, change))
    return undefined
  })

  const text = (name: keyof Draft & string, label: string, attributes: object = {}, hint?: string) => (
    <Field label={label} fault={error?.faultOf(name)} {...(hint !== undefined && { hint })}>
      {(control) => (
        <input
          {...control}
          {...attributes}
          name={name}
          value={String(draft[name])}
          onInput={({ currentTarget }) => set({ [name]: currentTarget.value })}
        />
      )}
    </Field>
  )

  return (
    <Dialog title={`Edit /${link.key}`} onClose={onClose}>
      <form class="form" noValidate onInput={onInput} onSubmit={onSubmit}>
        {error && (
          <p class="fault" role="alert">
            {error.message}
          </p>
        )}
        {text("url", "Long URL", { inputMode: "url", spellcheck: false, autocomplete: "off" })}
        {text("title", "Title")}
        {text("tags", "Tags", { autocomplete: "off" }, "Separated by commas.")}
        <div class="two">
          {text("validSince", "From", { type: "datetime-local" }, "Empty: at once.")}
          {text("expiresAt", "Ends", { type: "datetime-local" }, "Empty: never.")}
          {text("maxVisits", "Visits at most", { type: "number", min: 1, placeholder: "no limit" })}
          {text(
            "password",
            link.hasPassword ? "New password" : "Password",
            { type: "password", autocomplete: "new-password", disabled: draft.endsPassword },
            link.hasPassword ? "Empty: as it is." : "Empty: none."
          )}
          <Field label="Redirect" fault={error?.faultOf("redirectStatus")}>
            {(control) => (
              <select
                {...control}
                value={draft.redirectStatus}
                onChange={({ currentTarget }) => set({ redirectStatus: currentTarget.value })}
              >
                {statuses.map(([value, name]) => (
                  <option key={value} value={value}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        <div class="checks">
          {link.hasPassword && (
            <Check
              checked={draft.endsPassword}
              onChange={(endsPassword) => set({ endsPassword, password: "" })}
            >
              Ask for no password any more
            </Check>
          )}
          <Check checked={draft.forwardQuery} onChange={(forwardQuery) => set({ forwardQuery })}>
            Pass the short link's query on
          </Check>
          <Check checked={draft.crawlable} onChange={(crawlable) => set({ crawlable })}>
            Let search engines follow it
          </Check>
        </div>
        <div class="actions end">
          <button type="button" class="button plain" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button strong" disabled={isSending}>
            {isSending ? "Saving…" : "Save"}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
