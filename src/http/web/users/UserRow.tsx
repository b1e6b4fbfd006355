import type { User } from "../api/Types.ts"
import { formatDay, formatMoment } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"

interface UserRowProps {
  readonly user: User
  readonly onChange: (change: { readonly disabled?: boolean; readonly admin?: boolean }) => void
  readonly onDelete: () => void
}

/** A user in the administrators' list. */
export const UserRow = ({ onChange, onDelete, user }: UserRowProps) => {
  const { admin, createdAt, disabledAt, email, id, lastLoginAt } = user
  const isDisabled = disabledAt !== null
  return (
    <li class="key-row">
      <div class="user-who">
        <strong>{email}</strong>
        <div class="marks">
          <span>Made {formatDay(createdAt)}</span>
          <span>
            {lastLoginAt === null ? "Has never signed in" : `Signed in ${formatMoment(lastLoginAt)}`}
          </span>
          {admin && <span class="tag">administrator</span>}
          {isDisabled && <span class="tag">disabled</span>}
        </div>
      </div>
      <div class="actions">
        <a
          class="button plain"
          href={`/app/audit?user=${encodeURIComponent(id)}`}
          aria-label={`Audit log of ${email}`}
        >
          <Icon name="clock" /> Log
        </a>
        <button
          type="button"
          class="button plain"
          aria-label={`${admin ? "Unmake" : "Make"} admin: ${email}`}
          onClick={() => onChange({ admin: !admin })}
        >
          <Icon name="key" /> {admin ? "Unmake admin" : "Make admin"}
        </button>
        <button
          type="button"
          class="button plain"
          aria-label={`${isDisabled ? "Enable" : "Disable"} ${email}`}
          onClick={() => onChange({ disabled: !isDisabled })}
        >
          <Icon name="lock" /> {isDisabled ? "Enable" : "Disable"}
        </button>
        {id !== "admin" && (
          <button type="button" class="button plain" aria-label={`Delete ${email}`} onClick={onDelete}>
            <Icon name="trash" /> Delete
          </button>
        )}
      </div>
    </li>
  )
}
