import * as Administration from "../api/Administration.ts"
import type { AuditEntry } from "../api/Types.ts"
import { go, here } from "../app/Router.ts"
import { Icon } from "../ui/Icon.tsx"
import { PageButtons } from "../ui/PageButtons.tsx"
import { Empty, Failure, Loading } from "../ui/States.tsx"
import { formatCount, formatMoment } from "../ui/format.ts"
import { usePages } from "../ui/usePages.ts"
import { AdminTabs } from "../ui/Tabs.tsx"
import { actions, ways } from "./words.ts"
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

const EntryRow = ({ entry }: { readonly entry: AuditEntry }) => {
  const { action, at, by, count, keyId, ownerId, target, userId } = entry
  const client = clientOf(entry)
  return (
    <li class="audit-row">
      <div class="audit-what">
        <strong>{actions[action]}</strong>
        <time dateTime={at}>{formatMoment(at)}</time>
      </div>
      <div class="marks">
        <span>
          {userId !== null && <code>{userId}</code>} {ways[by]}
          {keyId !== null && (
            <>
              {" "}
              (<code>{keyId}</code>)
            </>
          )}
        </span>
        {target !== null && (
          <span>
            to <code>{target}</code>
            {ownerId !== null && ownerId !== target && (
              <>
                {" "}
                of <code>{ownerId}</code>
              </>
            )}
          </span>
        )}
        {client !== undefined && (
          <span>
            from client <code>{client}</code>
          </span>
        )}
        {count > 1 && <span class="tag">{formatCount(count, "time")}</span>}
      </div>
    </li>
  )
}

/** Who did what to whose things, for administrators. */
export const AuditPage = () => {
  const filter = filterOf(here.value)
  const change = (part: Partial<Filter>) => go(pathOf({ ...filter, ...part }), { replaces: true })
  const log = usePages(`${filter.action} ${filter.user}`, (cursor, signal) =>
    Administration.audit(filter, cursor, signal)
  )
  return (
    <>
      <header class="page-header">
        <h1>Audit log</h1>
        <AdminTabs />
      </header>
      <div class="filter" role="search">
        <select
          aria-label="What was done"
          value={filter.action}
          onChange={({ currentTarget }) => change({ action: currentTarget.value })}
        >
          <option value="">All that was done</option>
          {Object.entries(actions).map(([action, words]) => (
            <option key={action} value={action}>
              {words}
            </option>
          ))}
        </select>
        {filter.user !== "" && (
          <button
            type="button"
            class="tag chosen"
            aria-label={`User ${filter.user}: show all users`}
            onClick={() => change({ user: "" })}
          >
            {filter.user}
            <Icon name="close" />
          </button>
        )}
      </div>
      {log.state === "loading" && <Loading rows={6} />}
      {log.state === "failed" && <Failure error={log.error} retry={log.reload} />}
      {log.state === "loaded" && log.value.data.length === 0 && <Empty title="Nothing was done" />}
      {log.state === "loaded" && log.value.data.length > 0 && (
        <ul class="audit" aria-label="Entries">
          {log.value.data.map((entry) => (
            <EntryRow key={entry.id} entry={entry} />
          ))}
        </ul>
      )}
      <PageButtons {...log} />
    </>
  )
}
