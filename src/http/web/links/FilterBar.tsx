import { useEffect, useRef, useState } from "preact/hooks"
import type { Filter } from "../api/Links.ts"
import type { Domain } from "../api/Types.ts"
import { ownHost } from "../app/Settings.ts"
import { fill } from "../language/fill.tsx"
import { Icon } from "../ui/Icon.tsx"
import { useDebounced } from "../ui/hooks/useDebounced.ts"
import { words } from "./words.ts"

const wait_ms = 300

interface FilterBarProps {
  readonly filter: Required<Filter>
  /** The further domains that can be chosen. */
  readonly domains: ReadonlyArray<Pick<Domain, "host">>
  readonly onChange: (change: Partial<Filter>, options?: { readonly replaces: boolean }) => void
}

/** Which links are listed, and in which order. */
export const FilterBar = ({ domains, filter, onChange }: FilterBarProps) => {
  const t = words()
  const { archived, domain, notTag, orderBy, q, tag } = filter
  const [typed, setTyped] = useState(q)
  const settled = useDebounced(typed, wait_ms)
  const known = useRef(q)
  useEffect(() => {
    if (settled === q) return
    known.current = settled
    // One entry in the history for all that is typed.
    onChange({ q: settled }, { replaces: q !== "" })
  }, [settled])
  // The way back in the history changes it, too. What comes from here does not: more may have been typed since.
  useEffect(() => {
    if (known.current === q) return
    known.current = q
    setTyped(q)
  }, [q])
  // Also one that is only in the address: of a domain that was removed, say.
  const hosts = [
    ...new Set([ownHost, ...domains.map(({ host }) => host), ...(domain === "" ? [] : [domain])])
  ]
  return (
    <div class="filter" role="search">
      <div class="search">
        <Icon name="search" />
        <input
          type="search"
          aria-label={t.search}
          placeholder={t.searchHint}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </div>
      {tag !== "" && (
        <>
          <button
            type="button"
            class="tag chosen"
            aria-label={fill(t.showAllTags, { tag })}
            onClick={() => onChange({ tag: "" })}
          >
            {tag}
            <Icon name="close" />
          </button>
          <button type="button" class="quiet" onClick={() => onChange({ tag: "", notTag: tag })}>
            {t.withoutIt}
          </button>
        </>
      )}
      {notTag !== "" && (
        <button
          type="button"
          class="tag chosen"
          aria-label={fill(t.notShowAllTags, { tag: notTag })}
          onClick={() => onChange({ notTag: "" })}
        >
          {fill(t.not, { tag: notTag })}
          <Icon name="close" />
        </button>
      )}
      {(domains.length > 0 || domain !== "") && (
        <select
          aria-label={t.domain}
          value={domain}
          onChange={({ currentTarget }) => onChange({ domain: currentTarget.value })}
        >
          <option value="">{t.allDomains}</option>
          {hosts.map((host) => (
            <option key={host} value={host}>
              {host}
            </option>
          ))}
        </select>
      )}
      <select
        aria-label={t.archive}
        value={archived}
        onChange={({ currentTarget }) =>
          onChange({ archived: currentTarget.value as Required<Filter>["archived"] })
        }
      >
        <option value="">{t.notArchived}</option>
        <option value="true">{t.archived}</option>
        <option value="any">{t.withArchived}</option>
      </select>
      <select
        aria-label={t.order}
        value={orderBy}
        onChange={({ currentTarget }) =>
          onChange({ orderBy: currentTarget.value as Required<Filter>["orderBy"] })
        }
      >
        <option value="createdAt-desc">{t.newest}</option>
        <option value="createdAt-asc">{t.oldest}</option>
        <option value="visits-desc">{t.mostVisits}</option>
        <option value="lastVisit-desc">{t.lastVisited}</option>
      </select>
    </div>
  )
}
