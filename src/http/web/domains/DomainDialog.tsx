import { useState } from "preact/hooks"
import { userOf } from "../api/Administration.ts"
import { ownError } from "../api/Client.ts"
import * as Domains from "../api/Domains.ts"
import type { Domain, User } from "../api/Types.ts"
import { fill } from "../language/fill.tsx"
import { addressInput, addressOf } from "../ui/address.ts"
import { Check } from "../ui/Check.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Field } from "../ui/Field.tsx"
import { GeneralFault } from "../ui/GeneralFault.tsx"
import { tagsOf } from "../ui/tags.ts"
import { useSending } from "../ui/hooks/useSending.ts"
import { targetNames, words } from "./words.ts"

type TargetName = (typeof targetNames)[number]
type TargetTexts = Readonly<Record<TargetName, string>>

/** Fields whose faults are shown beside them. */
const fields = ["host", "owners", ...targetNames.map((name) => `targets.${name}`)]

/** The id of a user that somebody typed as an e-mail address, or as an id. */
const idOf = async (text: string, users: ReadonlyArray<User>): Promise<string> => {
  if (!text.includes("@")) return text
  const known = users.find(({ email }) => email.toLowerCase() === text.toLowerCase()) ?? (await userOf(text))
  if (known !== undefined) return known.id
  throw ownError(fill(words().noUser, { user: text }), "owners")
}

interface DomainDialogProps {
  /** The domain that is edited; none: another one is added. */
  readonly domain?: Domain | undefined
  readonly users: ReadonlyArray<User>
  readonly nameOf: (id: string) => string
  readonly onClose: () => void
  readonly onSaved: (domain: Domain) => void
}

/** Adds a domain, or changes who may use it and where its visitors are sent. */
export const DomainDialog = ({ domain, nameOf, onClose, onSaved, users }: DomainDialogProps) => {
  const t = words()
  // Where the targets of a domain that was just added are refused, it is there nevertheless.
  const [before, setBefore] = useState(domain)
  const [host, setHost] = useState(domain?.host ?? "")
  const [isForSome, setIsForSome] = useState((domain?.owners ?? null) !== null)
  const [owners, setOwners] = useState((domain?.owners ?? []).map(nameOf).join(", "))
  const [targets, setTargets] = useState<TargetTexts>(
    () => Object.fromEntries(targetNames.map((name) => [name, domain?.targets[name] ?? ""])) as TargetTexts
  )
  const [ignoresCase, setIgnoresCase] = useState(domain?.ignoresCase ?? false)
  const { error, isSending, onInput, onSubmit } = useSending(async () => {
    const body = {
      owners: isForSome ? await Promise.all(tagsOf(owners).map((text) => idOf(text, users))) : null
    }
    const current = before ?? (await Domains.add({ host: host.trim(), ...body }))
    setBefore(current)
    const wanted = targetNames.map((name): [TargetName, string | null] => {
      const text = targets[name].trim()
      return [name, text === "" ? null : addressOf(text)]
    })
    const changed = wanted.filter(([name, url]) => url !== current.targets[name])
    const hasOther = before !== undefined && JSON.stringify(current.owners) !== JSON.stringify(body.owners)
    const change = {
      ...(hasOther && body),
      ...(ignoresCase !== current.ignoresCase && { ignoresCase }),
      ...(changed.length > 0 && { targets: Object.fromEntries(changed) })
    }
    onSaved(Object.keys(change).length === 0 ? current : await Domains.change(current.host, change))
  })
  return (
    <Dialog title={domain?.host ?? t.newTitle} onClose={onClose}>
      <form class="form" noValidate onInput={onInput} onSubmit={onSubmit}>
        <GeneralFault error={error} fields={fields} />
        {domain === undefined && (
          <Field label={t.host} hint={t.hostHint} fault={error?.faultOf("host")}>
            {(control) => (
              <input
                {...control}
                {...addressInput}
                placeholder="go.example.com"
                disabled={before !== undefined}
                value={host}
                onInput={({ currentTarget }) => setHost(currentTarget.value)}
              />
            )}
          </Field>
        )}
        <fieldset class="checks">
          <legend>{t.whoMay}</legend>
          <Check checked={isForSome} onChange={setIsForSome}>
            {t.some}
          </Check>
          {isForSome && (
            <Field label={t.users} hint={t.usersHint} fault={error?.faultOf("owners")}>
              {(control) => (
                <input
                  {...control}
                  autocomplete="off"
                  autocapitalize="none"
                  spellcheck={false}
                  value={owners}
                  onInput={({ currentTarget }) => setOwners(currentTarget.value)}
                />
              )}
            </Field>
          )}
        </fieldset>
        <div class="field">
          <Check checked={ignoresCase} onChange={setIgnoresCase}>
            {t.ignoresCase}
          </Check>
          <p class="hint">{t.ignoresCaseHint}</p>
        </div>
        <fieldset class="form">
          <legend>{t.targets}</legend>
          <p class="hint">{t.targetsHint}</p>
          {targetNames.map((name) => (
            <Field key={name} label={t[name]} fault={error?.faultOf(`targets.${name}`)}>
              {(control) => (
                <input
                  {...control}
                  {...addressInput}
                  placeholder="https://example.com/"
                  value={targets[name]}
                  onInput={({ currentTarget: { value } }) => setTargets({ ...targets, [name]: value })}
                />
              )}
            </Field>
          ))}
        </fieldset>
        <div class="dialog-end actions end">
          <button type="button" class="button plain" onClick={onClose}>
            {t.cancel}
          </button>
          <button
            type="submit"
            class="button strong"
            disabled={isSending || (domain === undefined && host.trim() === "")}
          >
            {domain === undefined ? (isSending ? t.adding : t.add) : isSending ? t.saving : t.save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
