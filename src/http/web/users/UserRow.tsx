import type { User } from "../api/Types.ts"
import { fill } from "../language/fill.tsx"
import { formatDay, formatMoment } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { words } from "./words.ts"

interface UserRowProps {
  readonly user: User
  readonly onChange: (change: { readonly disabled?: boolean; readonly admin?: boolean }) => void
  readonly onDelete: () => void
}

/** A user in the administrators' list. */
export const UserRow = ({ onChange, onDelete, user }: UserRowProps) => {
  const t = words()
  const { admin, createdAt, disabledAt, email, id, lastLoginAt } = user
  const isDisabled = disabledAt !== null
  return (
    <li>
      <div class="user-who">
        <strong>{email}</strong>
        <div class="marks">
          <span>{fill(t.made, { day: formatDay(createdAt) })}</span>
          <span>
            {lastLoginAt === null ? t.neverSignedIn : fill(t.signedIn, { moment: formatMoment(lastLoginAt) })}
          </span>
          {admin && <span class="tag">{t.administrator}</span>}
          {isDisabled && <span class="tag">{t.isDisabled}</span>}
        </div>
      </div>
      <div class="actions">
        <a
          class="button plain"
          href={`/app/audit?user=${encodeURIComponent(id)}`}
          aria-label={fill(t.logOf, { email })}
        >
          <Icon name="clock" /> {t.log}
        </a>
        <button
          type="button"
          class="button plain"
          aria-label={fill(admin ? t.unmakeAdminOf : t.makeAdminOf, { email })}
          onClick={() => onChange({ admin: !admin })}
        >
          <Icon name="key" /> {admin ? t.unmakeAdmin : t.makeAdmin}
        </button>
        <button
          type="button"
          class="button plain"
          aria-label={fill(isDisabled ? t.enableOf : t.disableOf, { email })}
          onClick={() => onChange({ disabled: !isDisabled })}
        >
          <Icon name="lock" /> {isDisabled ? t.enable : t.disable}
        </button>
        {id !== "admin" && (
          <button
            type="button"
            class="button plain"
            aria-label={fill(t.deleteOf, { email })}
            onClick={onDelete}
          >
            <Icon name="trash" /> {t.delete}
          </button>
        )}
      </div>
    </li>
  )
}
