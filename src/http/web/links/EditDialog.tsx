import { useEffect, useRef, useState } from "preact/hooks"
import * as Links from "../api/Links.ts"
import type { Link, LinkChange } from "../api/Types.ts"
import { guardLeaving } from "../app/Router.ts"
import { ExtraFields } from "../extras/ExtraFields.tsx"
import { type ExtrasDraft, extrasDraftOf, extrasFields, extrasSaid } from "../extras/extras.ts"
import { fill } from "../language/fill.tsx"
import * as Routing from "../rules/drafts.ts"
import { RoutingOptions } from "../rules/RoutingOptions.tsx"
import { addressOf } from "../ui/address.ts"
import { Check } from "../ui/Check.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Field } from "../ui/Field.tsx"
import { fromLocalInput, toLocalInput } from "../ui/format.ts"
import { GeneralFault } from "../ui/GeneralFault.tsx"
import { tagsOf } from "../ui/tags.ts"
import { useSending } from "../ui/hooks/useSending.ts"
import { words as common } from "../ui/words.ts"
import { type UtmValues, withUtm } from "../utm/utm.ts"
import { UtmFields } from "../utm/UtmFields.tsx"
import { words } from "./words.ts"

/** A link's fields as inputs have them. */
interface Draft extends ExtrasDraft {
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
  readonly crawlable: boolean
  readonly archived: boolean
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
  crawlable: link.crawlable,
  archived: link.archived ?? false,
  ...extrasDraftOf(link)
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
  crawlable: ({ crawlable }) => ({ crawlable }),
  archived: ({ archived }) => ({ archived }),
  ...extrasSaid
}

const changeOf = (before: Draft, after: Draft): LinkChange => {
  const names = (Object.keys(said) as Array<keyof Draft>).filter((name) => before[name] !== after[name])
  return Object.assign({}, ...names.map((name) => said[name]!(after))) as LinkChange
}

/** The usual ones first. */
const statuses = [302, 301, 307, 308] as const

/** Fields whose faults are shown beside them. */
const fields = [...Object.keys(said), ...extrasFields, "rules", "variants"]

/** Asks before changes are lost: by what closes the dialog, the way back in the history, and the end of the page. */
const useUnsaved = (isUnsaved: boolean, onClose: () => void) => {
  const [leave, setLeave] = useState<() => void>()
  const ask = (leave: () => void) => {
    setLeave(() => leave)
    return true
  }
  useEffect(() => {
    if (!isUnsaved) return undefined
    const unguard = guardLeaving(ask)
    const warn = (event: Event) => event.preventDefault()
    addEventListener("beforeunload", warn)
    return () => {
      unguard()
      removeEventListener("beforeunload", warn)
    }
  }, [isUnsaved])
  return {
    /** Leaves without saving, where that is asked about. */
    leave,
    stay: () => setLeave(undefined),
    close: () => (isUnsaved ? void ask(onClose) : onClose())
  }
}

interface EditDialogProps {
  readonly link: Link
  readonly onClose: () => void
  readonly onChanged: (link: Link) => void
}

/** Changes a link. Its key stays. */
export const EditDialog = ({ link, onChanged, onClose }: EditDialogProps) => {
  const [t, c] = [words(), common()]
  const [draft, setDraft] = useState(() => draftOf(link))
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))

  const form = useRef<HTMLFormElement>(null)
  const [utm, setUtm] = useState<UtmValues>({})
  const [routingBefore] = useState(() => Routing.draftOf(link))
  const [routing, setRouting] = useState(routingBefore)
  const change: LinkChange = {
    ...changeOf(draftOf(link), { ...draft, url: withUtm(draft.url, utm) }),
    ...Routing.changeOf(routingBefore, routing)
  }
  const isUnsaved = Object.keys(change).length > 0

  const { error, isSending, onInput, onSubmit } = useSending(async () => {
    if (!isUnsaved) return onClose()
    onChanged(await Links.change(Links.nameOf(link), change))
    return undefined
  })
  const { close, leave, stay } = useUnsaved(isUnsaved, onClose)
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [error])

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
    <Dialog title={fill(t.editTitle, { key: link.key })} onClose={close}>
      <form class="form" noValidate ref={form} onInput={onInput} onSubmit={onSubmit}>
        {text("url", t.longUrl, { inputMode: "url", spellcheck: false, autocomplete: "off" })}
        <UtmFields url={draft.url} changes={utm} onChange={setUtm} />
        <RoutingOptions draft={routing} error={error} onChange={setRouting} />
        {text("title", t.linkTitle)}
        {text("tags", t.tags, { autocomplete: "off" }, c.commas)}
        <div class="two">
          {text("validSince", t.validSince, { type: "datetime-local" }, t.atOnce)}
          {text("expiresAt", t.endsAt, { type: "datetime-local" }, t.never)}
          {text("maxVisits", t.maxVisits, { type: "number", min: 1, placeholder: c.noLimit })}
          {text(
            "password",
            link.hasPassword ? t.newPassword : t.password,
            { type: "password", autocomplete: "new-password", disabled: draft.endsPassword },
            link.hasPassword ? t.asItIs : t.noPassword
          )}
          <Field label={t.redirect} fault={error?.faultOf("redirectStatus")}>
            {(control) => (
              <select
                {...control}
                value={draft.redirectStatus}
                onChange={({ currentTarget }) => set({ redirectStatus: currentTarget.value })}
              >
                {statuses.map((status) => (
                  <option key={status} value={status}>
                    {t.status[status]}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        <ExtraFields draft={draft} onChange={set} faultOf={(name) => error?.faultOf(name)} />
        <div class="checks">
          {link.hasPassword && (
            <Check
              checked={draft.endsPassword}
              onChange={(endsPassword) => set({ endsPassword, password: "" })}
            >
              {t.endsPassword}
            </Check>
          )}
          <Check checked={draft.crawlable} onChange={(crawlable) => set({ crawlable })}>
            {t.crawlable}
          </Check>
          <Check checked={draft.archived} onChange={(archived) => set({ archived })}>
            {t.archiveIt}
          </Check>
        </div>
        <div class="dialog-end">
          <GeneralFault error={error} fields={fields} />
          {/* With keys, or a button would become the one in its place while it is clicked. */}
          {leave ? (
            <div key="unsaved" class="actions end">
              <p role="alert">{t.unsaved}</p>
              <button type="button" class="button plain" onClick={leave}>
                {t.discard}
              </button>
              <button type="button" class="button strong" onClick={stay}>
                {t.keepEditing}
              </button>
            </div>
          ) : (
            <div key="usual" class="actions end">
              <button type="button" class="button plain" onClick={close}>
                {c.cancel}
              </button>
              <button type="submit" class="button strong" disabled={isSending}>
                {isSending ? c.saving : c.save}
              </button>
            </div>
          )}
        </div>
      </form>
    </Dialog>
  )
}
