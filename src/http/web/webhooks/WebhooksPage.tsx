import { useState } from "preact/hooks"
import { asApiError } from "../api/Client.ts"
import type { Webhook } from "../api/Types.ts"
import * as Webhooks from "../api/Webhooks.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { fill, rich } from "../language/fill.tsx"
import { formatUrl } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { Empty, Failure, Loading } from "../ui/States.tsx"
import { ProgramTabs } from "../ui/Tabs.tsx"
import { fail, say } from "../ui/Toasts.tsx"
import { useEvery } from "../ui/hooks/useEvery.ts"
import { useLoaded } from "../ui/hooks/useLoaded.ts"
import { NewWebhookDialog } from "./NewWebhookDialog.tsx"
import { WebhookRow } from "./WebhookRow.tsx"
import { words } from "./words.ts"

/** How often it is read again how deliveries go. */
const every_ms = 3_000

interface RemoveDialogProps {
  readonly webhook: Webhook
  readonly onClose: () => void
  readonly onRemoved: () => void
}

const RemoveDialog = ({ onClose, onRemoved, webhook: { id, url } }: RemoveDialogProps) => {
  const t = words()
  const remove = async () => {
    try {
      await Webhooks.remove(id)
      say(fill(t.removed, { url: formatUrl(url) }))
      onRemoved()
    } catch (error) {
      fail(asApiError(error))
    }
  }
  return (
    <Dialog title={t.removeTitle} onClose={onClose}>
      <p>{fill(t.removeText, { url: formatUrl(url) })}</p>
      <div class="actions end">
        <button type="button" class="button plain" onClick={onClose}>
          {t.keep}
        </button>
        <button type="button" class="button danger" onClick={() => void remove()}>
          {t.remove}
        </button>
      </div>
    </Dialog>
  )
}

/** One's webhooks, and how their deliveries go. */
export const WebhooksPage = () => {
  const t = words()
  const loaded = useLoaded(Webhooks.list, [])
  const [fresh, setFresh] = useState<ReadonlyArray<Webhook>>()
  const [isMaking, setIsMaking] = useState(false)
  const [removed, setRemoved] = useState<Webhook>()
  const look = async (signal?: AbortSignal) =>
    setFresh(await Webhooks.list(signal ?? new AbortController().signal))
  useEvery(every_ms, look, [])
  const lookNow = () => void look().catch((error: unknown) => fail(asApiError(error)))
  const verify = async ({ id, url }: Webhook) => {
    try {
      await Webhooks.verify(id)
      say(fill(words().challenged, { url: formatUrl(url) }))
    } catch (error) {
      fail(asApiError(error))
    }
    lookNow()
  }
  const webhooks = fresh ?? (loaded.state === "loaded" ? loaded.value : undefined)
  return (
    <>
      <header class="page-header">
        <h1>{t.title}</h1>
        <ProgramTabs />
      </header>
      <p class="lead">{rich(t.lead, { api: (inner) => <a href="/docs">{inner}</a> })}</p>
      <p class="actions start">
        <button type="button" class="button" onClick={() => setIsMaking(true)}>
          <Icon name="plus" /> {t.new}
        </button>
      </p>
      {webhooks === undefined && loaded.state === "loading" && <Loading />}
      {webhooks === undefined && loaded.state === "failed" && (
        <Failure error={loaded.error} retry={loaded.reload} />
      )}
      {webhooks?.length === 0 && (
        <Empty title={t.none}>
          <p>{t.noneText}</p>
        </Empty>
      )}
      {webhooks !== undefined && webhooks.length > 0 && (
        <ul class="rows" aria-label={t.title}>
          {webhooks.map((webhook) => (
            <WebhookRow
              key={webhook.id}
              webhook={webhook}
              onVerify={() => void verify(webhook)}
              onRemove={() => setRemoved(webhook)}
            />
          ))}
        </ul>
      )}
      {isMaking && <NewWebhookDialog onMade={lookNow} onClose={() => setIsMaking(false)} />}
      {removed && (
        <RemoveDialog
          webhook={removed}
          onClose={() => setRemoved(undefined)}
          onRemoved={() => {
            setRemoved(undefined)
            lookNow()
          }}
        />
      )}
    </>
  )
}
