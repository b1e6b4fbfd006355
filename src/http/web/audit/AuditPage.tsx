import * as Administration from "../api/Administration.ts"
import type { AuditEntry } from "../api/Types.ts"
import { go, here } from "../app/Router.ts"
import { Icon } from "../ui/Icon.tsx"
import { PageButtons } from "../ui/PageButtons.tsx"
import { Empty, Failure, Loading } from "../ui/States.tsx"
import english from "../messages/en/audit.ts"
import { counted, fill, rich } from "../language/fill.tsx"
import { formatMoment } from "../ui/format.ts"
import { usePages } from "../ui/hooks/usePages.ts"
import { AdminTabs } from "../ui/Tabs.tsx"
import { words } from "./words.ts"
import "./audit.css"

interface Filter {
  readonly action: string
  readonly user: string
}

/** The filter stands in the address, so that it can be kept and passed on. */
const filterOf = ({ searchParams }: URL): Filter => ({
  action: searchParams.get("action") ?? "",
  user: searchParams.get("user") ?? ""
})

const pathOf = (filter: Filter): string => {
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== "")).toString()
  return query === "" ? "/app/audit" : `/app/audit?${query}`
}

/** A client's hash, as much of it as tells it from others. */
const clientOf = ({ client }: AuditEntry) => (client === null ? undefined : client.slice(0, 8))

/** What an entry says that was done. */
const actions = Object.keys(english.action) as ReadonlyArray<AuditEntry["action"]>

const EntryRow = ({ entry }: { readonly entry: AuditEntry }) => {
  const { action, at, by, count, keyId, ownerId, target, userId } = entry
  const t = words()
  const client = clientOf(entry)
  return (
    <li class="audit-row">
      <div class="audit-what">
        <strong>{t.action[action]}</strong>
        <time dateTime={at}>{formatMoment(at)}</time>
      </div>
      <div class="marks">
        <span>
          {rich(t.by[by], { user: () => userId !== null && <code>{userId}</code> })}
          {keyId !== null && (
            <>
              {" "}
              (<code>{keyId}</code>)
            </>
          )}
        </span>
        {target !== null && (
          <span>
            {rich(ownerId !== null && ownerId !== target ? t.toOf : t.to, {
              target: () => <code>{target}</code>,
              owner: () => <code>{ownerId}</code>
            })}
          </span>
        )}
        {client !== undefined && <span>{rich(t.fromClient, { client: () => <code>{client}</code> })}</span>}
        {count > 1 && <span class="tag">{counted(t.times, count)}</span>}
      </div>
    </li>
  )
}

/** Who did what to whose things, for administrators. */
export const AuditPage = () => {
  const t = words()
  const filter = filterOf(here.value)
  const change = (part: Partial<Filter>) => go(pathOf({ ...filter, ...part }), { replaces: true })
  const log = usePages(`${filter.action} ${filter.user}`, (cursor, signal) =>
    Administration.audit(filter, cursor, signal)
  )
  return (
    <>
      <header class="page-header">
        <h1>{t.title}</h1>
        <AdminTabs />
      </header>
      <div class="filter" role="search">
        <select
          aria-label={t.what}
          value={filter.action}
          onChange={({ currentTarget }) => change({ action: currentTarget.value })}
        >
          <option value="">{t.all}</option>
          {actions.map((action) => (
            <option key={action} value={action}>
              {t.action[action]}
            </option>
          ))}
        </select>
        {filter.user !== "" && (
          <button
            type="button"
            class="tag chosen"
            aria-label={fill(t.showAllUsers, { user: filter.user })}
            onClick={() => change({ user: "" })}
          >
            {filter.user}
            <Icon name="close" />
          </button>
        )}
      </div>
      {log.state === "loading" && <Loading rows={6} />}
      {log.state === "failed" && <Failure error={log.error} retry={log.reload} />}
      {log.state === "loaded" && log.value.data.length === 0 && <Empty title={t.none} />}
      {log.state === "loaded" && log.value.data.length > 0 && (
        <ul class="audit" aria-label={t.entries}>
          {log.value.data.map((entry) => (
            <EntryRow key={entry.id} entry={entry} />
          ))}
        </ul>
      )}
      <PageButtons {...log} />
    </>
  )
}
