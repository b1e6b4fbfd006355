import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { ownError } from "../api/Client.ts"
import * as Links from "../api/Links.ts"
import type { Link } from "../api/Types.ts"
import * as Early from "../app/Early.ts"
import { me } from "../app/Session.ts"
import { settings } from "../app/Settings.ts"
import { isUsable, useDomains } from "../domains/useDomains.ts"
import { ExtraFields } from "../extras/ExtraFields.tsx"
import { extrasDraftOf, extrasFields, extrasOfNew } from "../extras/extras.ts"
import { counted, fill } from "../language/fill.tsx"
import { targetLengthMax } from "../../links/TargetLength.ts"
import * as Routing from "../rules/drafts.ts"
import { RoutingOptions } from "../rules/RoutingOptions.tsx"
import { addressInput, addressOf } from "../ui/address.ts"
import { Field } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { tagsOf } from "../ui/tags.ts"
import { useSending } from "../ui/hooks/useSending.ts"
import { words as common } from "../ui/words.ts"
import { type UtmValues, withUtm } from "../utm/utm.ts"
import { UtmFields } from "../utm/UtmFields.tsx"
import { AliasField } from "./AliasField.tsx"
import { type Expiry, ExpiryField } from "./ExpiryField.tsx"
import { words } from "./words.ts"

interface ShortenFormProps {
  /** Told of the URL as it is typed. */
  readonly onType: (url: string) => void
  readonly onMade: (link: Link) => void
}

/** Fields whose faults are shown beside them; others are shown above. */
const fields = [
  "url",
  "domain",
  "alias",
  "expiresAt",
  "expiresIn",
  "password",
  "maxVisits",
  "title",
  "tags",
  ...extrasFields,
  "rules",
  "variants"
]

/** It is said as one types: whatever is pasted stands in the field as it is. */
const tooLong = (url: string) => {
  const { length } = addressOf(url)
  return length > targetLengthMax
    ? fill(words().tooLong, {
        length: counted(common().characters, length),
        max: counted(common().characters, targetLengthMax)
      })
    : undefined
}

/** A URL, what may be wished for its link, and the button that makes it. */
export const ShortenForm = ({ onMade, onType }: ShortenFormProps) => {
  const [t, c] = [words(), common()]
  const [early] = useState(Early.take)
  const [url, setUrl] = useState(early?.text ?? "")
  const domains = useDomains().filter((domain) => isUsable(domain, me.value?.id ?? ""))
  const [domain, setDomain] = useState("")
  const [alias, setAlias] = useState("")
  const [expiry, setExpiry] = useState<Expiry>({})
  const [password, setPassword] = useState("")
  const [maxVisits, setMaxVisits] = useState("")
  const [title, setTitle] = useState("")
  const [tags, setTags] = useState("")
  const [utm, setUtm] = useState<UtmValues>({})
  const [extras, setExtras] = useState(() => extrasDraftOf())
  const [routing, setRouting] = useState(() => Routing.draftOf({}))
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    if (early === undefined || !early.isFocused) return
    input.current?.focus()
    input.current?.setSelectionRange(...early.selection)
  }, [])
  const tagList = tagsOf(tags)

  const { error, isSending, onInput, onSubmit } = useSending(async () => {
    try {
      if (url.trim() === "") throw ownError(words().pasteFirst)
      onMade(
        await Links.create({
          url: addressOf(withUtm(url, utm)),
          ...expiry,
          ...(domain !== "" && { domain }),
          ...(alias !== "" && { alias }),
          ...(password !== "" && { password }),
          ...(maxVisits !== "" && { maxVisits: Number(maxVisits) }),
          ...(title.trim() !== "" && { title: title.trim() }),
          ...(tagList.length > 0 && { tags: tagList }),
          ...extrasOfNew(extras),
          ...Routing.choicesOf(routing)
        })
      )
    } catch (error) {
      input.current?.focus()
      throw error
    }
  })

  return (
    <form class="shorten" noValidate onInput={onInput} onSubmit={onSubmit}>
      <Field
        label={t.longUrl}
        class="press"
        fault={error?.generalFault(fields) ?? error?.faultOf("url") ?? tooLong(withUtm(url, utm))}
      >
        {(control) => (
          <div class="press-row">
            <input
              {...control}
              ref={input}
              name="url"
              type="text"
              {...addressInput}
              placeholder="https://example.com/a/very/long/address"
              value={url}
              onInput={({ currentTarget: { value } }) => {
                setUrl(value)
                onType(value)
              }}
            />
            <button type="submit" class="button strong" disabled={isSending}>
              {isSending ? t.minting : t.shorten}
            </button>
          </div>
        )}
      </Field>
      <details class="options">
        <summary>
          <Icon name="forth" /> {t.options}
        </summary>
        <div class="options-grid">
          {domains.length > 0 && (
            <Field label={t.domain} fault={error?.faultOf("domain")}>
              {(control) => (
                <select
                  {...control}
                  value={domain}
                  onChange={({ currentTarget }) => setDomain(currentTarget.value)}
                >
                  <option value="">{settings.shortHost}</option>
                  {domains.map(({ host }) => (
                    <option key={host} value={host}>
                      {host}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          )}
          <AliasField domain={domain} value={alias} onInput={setAlias} fault={error?.faultOf("alias")} />
          <ExpiryField
            onChange={setExpiry}
            fault={error?.faultOf("expiresAt") ?? error?.faultOf("expiresIn")}
          />
          <Field label={t.password} hint={t.passwordHint} fault={error?.faultOf("password")}>
            {(control) => (
              <input
                {...control}
                type="password"
                autocomplete="new-password"
                value={password}
                onInput={({ currentTarget }) => setPassword(currentTarget.value)}
              />
            )}
          </Field>
          <Field label={t.maxVisits} hint={t.maxVisitsHint} fault={error?.faultOf("maxVisits")}>
            {(control) => (
              <input
                {...control}
                type="number"
                min={1}
                max={1_000_000_000}
                inputMode="numeric"
                placeholder={c.noLimit}
                value={maxVisits}
                onInput={({ currentTarget }) => setMaxVisits(currentTarget.value)}
              />
            )}
          </Field>
          {me.value && (
            <>
              <Field label={t.linkTitle} fault={error?.faultOf("title")}>
                {(control) => (
                  <input
                    {...control}
                    value={title}
                    onInput={({ currentTarget }) => setTitle(currentTarget.value)}
                  />
                )}
              </Field>
              <Field label={t.tags} hint={c.commas} fault={error?.faultOf("tags")}>
                {(control) => (
                  <input
                    {...control}
                    value={tags}
                    onInput={({ currentTarget }) => setTags(currentTarget.value)}
                  />
                )}
              </Field>
            </>
          )}
        </div>
      </details>
      <ExtraFields
        draft={extras}
        onChange={(change) => setExtras((before) => ({ ...before, ...change }))}
        faultOf={(name) => error?.faultOf(name)}
      />
      <UtmFields url={url} changes={utm} onChange={setUtm} />
      {me.value && <RoutingOptions draft={routing} error={error} onChange={setRouting} />}
    </form>
  )
}
