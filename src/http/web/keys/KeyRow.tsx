import type { ApiKey } from "../api/Types.ts"
import { formatDay, formatNumber } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"

interface KeyRowProps {
  readonly apiKey: ApiKey
  readonly onRevoke: () => void
}

/** An API key in a list. */
export const KeyRow = ({ apiKey, onRevoke }: KeyRowProps) => {
  const { createdAt, createsPerMinute, expiresAt, name, redirectsPerDay, scopes } = apiKey
  return (
    <li>
      <div>
        <strong>{name}</strong>
        <div class="marks">
          <span>Made {formatDay(createdAt)}</span>
          {expiresAt !== null && <span>Ends {formatDay(expiresAt)}</span>}
          {createsPerMinute !== null && <span>{formatNumber(createsPerMinute)} creates a minute</span>}
          {redirectsPerDay !== null && <span>{formatNumber(redirectsPerDay)} redirects a day</span>}
          {scopes.map((scope) => (
            <span key={scope} class="tag">
              {scope}
            </span>
          ))}
        </div>
      </div>
      <button type="button" class="button plain" aria-label={`Revoke ${name}`} onClick={onRevoke}>
        <Icon name="trash" /> Revoke
      </button>
    </li>
  )
}
