import type { Webhook } from "../api/Types.ts"
import { deadLettersPath } from "../app/Paths.ts"
import { counted, fill } from "../language/fill.tsx"
import { told } from "../language/told.ts"
import { formatDay, formatUrl } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { words } from "./words.ts"

interface WebhookRowProps {
  readonly webhook: Webhook
  readonly onVerify: () => void
  readonly onRemove: () => void
}

/** A webhook in a list, and how its deliveries go. */
export const WebhookRow = ({ onRemove, onVerify, webhook }: WebhookRowProps) => {
  const t = words()
  const { createdAt, deadLetters, dropped, events, failures, id, lastFailure, pending, status, url } = webhook
  return (
    <li data-webhook={id}>
      <div class="webhook">
        <strong>{formatUrl(url)}</strong>
        <div class="marks">
          <span class={status === "active" ? "good" : "mark end"}>{t[status]}</span>
          <span>{fill(t.made, { day: formatDay(createdAt) })}</span>
          {events.map((event) => (
            <span key={event} class="tag">
              {t.event[event]}
            </span>
          ))}
        </div>
        <div class="marks">
          <span>{pending === 0 ? t.nothingWaits : counted(t.waiting, pending)}</span>
          {dropped > 0 && <span>{counted(t.dropped, dropped)}</span>}
          <a href={deadLettersPath(id)}>
            {counted(t.deadLetters, deadLetters)}
            <span class="visually-hidden">{fill(t.deadLettersOf, { url: formatUrl(url) })}</span>
          </a>
        </div>
        {failures > 0 && (
          <p class="fault">
            {lastFailure === null
              ? counted(t.failures, failures)
              : counted(t.failuresBecause, failures, { failure: told(lastFailure) })}
          </p>
        )}
      </div>
      <div class="actions">
        {status === "unverified" && (
          <button
            type="button"
            class="button plain"
            aria-label={fill(t.challengeAgainOf, { url: formatUrl(url) })}
            onClick={onVerify}
          >
            {t.challengeAgain}
          </button>
        )}
        <button
          type="button"
          class="button plain"
          aria-label={fill(t.removeOf, { url: formatUrl(url) })}
          onClick={onRemove}
        >
          <Icon name="trash" /> {t.remove}
        </button>
      </div>
    </li>
  )
}
