import { useState } from "preact/hooks"
import { asApiError } from "../api/Client.ts"
import type { DeadLetters } from "../api/Types.ts"
import * as Webhooks from "../api/Webhooks.ts"
import { webhookIdOf } from "../app/Paths.ts"
import { here } from "../app/Router.ts"
import { counted, fill, rich } from "../language/fill.tsx"
import { told } from "../language/told.ts"
import { formatMoment } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { PageButtons } from "../ui/PageButtons.tsx"
import { Empty, Failure, Loading } from "../ui/States.tsx"
import { fail, say } from "../ui/Toasts.tsx"
import { usePages } from "../ui/hooks/usePages.ts"
import { words } from "./words.ts"

interface LetterRowProps {
  readonly letter: DeadLetters["data"][number]
  readonly onRetry: () => void
}

const LetterRow = ({ letter, onRetry }: LetterRowProps) => {
  const t = words()
  const { attempts, event, events, failedAt, id, queuedAt, reason } = letter
  return (
    <li>
      <div class="webhook">
        <strong>{events > 1 ? counted(t.events, events) : t.letter[event]}</strong>
        <p class="fault">{told(reason)}</p>
        <div class="marks">
          <span>{fill(t.queued, { moment: formatMoment(queuedAt) })}</span>
          <span>{counted(t.givenUp, attempts, { moment: formatMoment(failedAt) })}</span>
          <code>{id}</code>
        </div>
      </div>
      <button type="button" class="button plain" aria-label={fill(t.sendAgainOf, { id })} onClick={onRetry}>
        {t.sendAgain}
      </button>
    </li>
  )
}

/** What could not be delivered to a webhook. */
export const DeadLettersPage = () => {
  const t = words()
  const webhook = webhookIdOf(here.value.pathname) ?? ""
  const list = usePages("dead-letters", (cursor, signal) => Webhooks.deadLetters(webhook, cursor, signal))
  const [sent, setSent] = useState<ReadonlySet<string>>(new Set())
  const retry = async (id: string) => {
    try {
      await Webhooks.retry(webhook, id)
      setSent((before) => new Set([...before, id]))
      say(words().queuedAgain)
    } catch (error) {
      fail(asApiError(error))
    }
  }
  const letters = list.state === "loaded" ? list.value.data.filter(({ id }) => !sent.has(id)) : []
  return (
    <>
      <header class="page-header">
        <h1>{t.letters}</h1>
        <a class="button plain" href="/app/webhooks">
          <Icon name="back" /> {t.title}
        </a>
      </header>
      <p class="lead">{rich(t.lettersLead, { webhook: () => <code>{webhook}</code> })}</p>
      {list.state === "loading" && <Loading />}
      {list.state === "failed" && <Failure error={list.error} retry={list.reload} />}
      {list.state === "loaded" && letters.length === 0 && (
        <Empty title={t.noLetters}>
          <p>{t.noLettersText}</p>
        </Empty>
      )}
      {letters.length > 0 && (
        <ul class="rows" aria-label={t.letters}>
          {letters.map((letter) => (
            <LetterRow key={letter.id} letter={letter} onRetry={() => void retry(letter.id)} />
          ))}
        </ul>
      )}
      <PageButtons {...list} />
    </>
  )
}
