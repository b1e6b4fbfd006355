import type { Webhook } from "../api/Types.ts"
import { deadLettersPath } from "../app/Paths.ts"
import { formatCount, formatDay, formatUrl } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { eventWords } from "./words.ts"

const statusWords: Readonly<Record<Webhook["status"], string>> = {
  unverified: "Has not answered its challenge",
  active: "Active",
  ended: "Ended with its API key"
}

interface WebhookRowProps {
  readonly webhook: Webhook
  readonly onVerify: () => void
  readonly onRemove: () => void
}

/** A webhook in a list, and how its deliveries go. */
export const WebhookRow = ({ onRemove, onVerify, webhook }: WebhookRowProps) => {
  const { createdAt, deadLetters, dropped, events, failures, id, lastFailure, pending, status, url } = webhook
  return (
    <li data-webhook={id}>
      <div class="webhook">
        <strong>{formatUrl(url)}</strong>
        <div class="marks">
          <span class={status === "active" ? "good" : "mark end"}>{statusWords[status]}</span>
          <span>Made {formatDay(createdAt)}</span>
          {events.map((event) => (
            <span key={event} class="tag">
              {eventWords[event]}
            </span>
          ))}
        </div>
        <div class="marks">
          <span>{pending === 0 ? "Nothing waits" : `${formatCount(pending, "event")} waiting`}</span>
          {dropped > 0 && <span>{formatCount(dropped, "event")} dropped</span>}
          <a href={deadLettersPath(id)}>
            {formatCount(deadLetters, "dead letter")}
            <span class="visually-hidden"> of {formatUrl(url)}</span>
          </a>
        </div>
        {failures > 0 && (
          <p class="fault">
            {formatCount(failures, "attempt")} failed since the last that did not
            {lastFailure !== null && `: ${lastFailure}`}
          </p>
        )}
      </div>
      <div class="actions">
        {status === "unverified" && (
          <button
            type="button"
            class="button plain"
            aria-label={`Challenge again: ${formatUrl(url)}`}
            onClick={onVerify}
          >
            Challenge again
          </button>
        )}
        <button type="button" class="button plain" aria-label={`Remove ${formatUrl(url)}`} onClick={onRemove}>
          <Icon name="trash" /> Remove
        </button>
      </div>
    </li>
  )
}
