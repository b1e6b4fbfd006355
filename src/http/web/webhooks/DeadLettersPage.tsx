import { useState } from "preact/hooks"
import { asApiError } from "../api/Client.ts"
import type { DeadLetters } from "../api/Types.ts"
import * as Webhooks from "../api/Webhooks.ts"
import { webhookIdOf } from "../app/Paths.ts"
import { here } from "../app/Router.ts"
import { formatCount, formatMoment } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { PageButtons } from "../ui/PageButtons.tsx"
import { Empty, Failure, Loading } from "../ui/States.tsx"
import { fail, say } from "../ui/Toasts.tsx"
import { usePages } from "../ui/usePages.ts"
import { letterWords } from "./words.ts"

interface LetterRowProps {
  readonly letter: DeadLetters["data"][number]
  readonly onRetry: () => void
}

const LetterRow = ({ letter, onRetry }: LetterRowProps) => {
  const { attempts, event, events, failedAt, id, queuedAt, reason } = letter
  return (
    <li>
      <div class="webhook">
        <strong>{events > 1 ? formatCount(events, "event") : letterWords[event]}</strong>
        <p class="fault">{reason}</p>
        <div class="marks">
          <span>Queued {formatMoment(queuedAt)}</span>
          <span>
            Given up {formatMoment(failedAt)}, after {formatCount(attempts, "attempt")}
          </span>
          <code>{id}</code>
        </div>
      </div>
      <button type="button" class="button plain" aria-label={`Send again: ${id}`} onClick={onRetry}>
        Send again
      </button>
    </li>
  )
}

/** What could not be delivered to a webhook. */
export const DeadLettersPage = () => {
  const webhook = webhookIdOf(here.value.pathname) ?? ""
  const list = usePages("dead letters", (cursor, signal) => Webhooks.deadLetters(webhook, cursor, signal))
  const [sent, setSent] = useState<ReadonlySet<string>>(new Set())
  const retry = async (id: string) => {
    try {
      await Webhooks.retry(webhook, id)
      setSent((before) => new Set([...before, id]))
      say("It is queued again.")
    } catch (error) {
      fail(asApiError(error))
    }
  }
  const letters = list.state === "loaded" ? list.value.data.filter(({ id }) => !sent.has(id)) : []
  return (
    <>
      <header class="page-header">
        <h1>Dead letters</h1>
        <a class="button plain" href="/app/webhooks">
          <Icon name="back" /> Webhooks
        </a>
      </header>
      <p class="lead">
        Messages that <code>{webhook}</code> did not take within a day. They are kept for 7 days.
      </p>
      {list.state === "loading" && <Loading />}
      {list.state === "failed" && <Failure error={list.error} retry={list.reload} />}
      {list.state === "loaded" && letters.length === 0 && (
        <Empty title="No dead letters">
          <p>Everything was delivered, or is still tried.</p>
        </Empty>
      )}
      {letters.length > 0 && (
        <ul class="rows" aria-label="Dead letters">
          {letters.map((letter) => (
            <LetterRow key={letter.id} letter={letter} onRetry={() => void retry(letter.id)} />
          ))}
        </ul>
      )}
      <PageButtons {...list} />
    </>
  )
}
