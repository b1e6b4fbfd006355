import type { ApiKey } from "../api/Types.ts"
import { counted, fill } from "../language/fill.tsx"
import { formatDay } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { words } from "./words.ts"

interface KeyRowProps {
  readonly apiKey: ApiKey
  readonly onRevoke: () => void
}

/** An API key in a list. */
export const KeyRow = ({ apiKey, onRevoke }: KeyRowProps) => {
  const t = words()
  const { createdAt, createsPerMinute, expiresAt, name, redirectsPerDay, scopes } = apiKey
  return (
    <li>
      <div>
        <strong>{name}</strong>
        <div class="marks">
          <span>{fill(t.made, { day: formatDay(createdAt) })}</span>
          {expiresAt !== null && <span>{fill(t.endsAt, { day: formatDay(expiresAt) })}</span>}
          {createsPerMinute !== null && <span>{counted(t.creates, createsPerMinute)}</span>}
          {redirectsPerDay !== null && <span>{counted(t.redirects, redirectsPerDay)}</span>}
          {scopes.map((scope) => (
            <span key={scope} class="tag">
              {scope}
            </span>
          ))}
        </div>
      </div>
      <button type="button" class="button plain" aria-label={fill(t.revokeOf, { name })} onClick={onRevoke}>
        <Icon name="trash" /> {t.revoke}
      </button>
    </li>
  )
}
