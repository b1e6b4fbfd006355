import { useState } from "preact/hooks"
import { asApiError } from "../api/Client.ts"
import type { Webhook } from "../api/Types.ts"
import * as Webhooks from "../api/Webhooks.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { formatUrl } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { Empty, Failure, Loading } from "../ui/States.tsx"
import { ProgramTabs } from "../ui/Tabs.tsx"
import { fail, say } from "../ui/Toasts.tsx"
import { useEvery } from "../ui/useEvery.ts"
import { useLoaded } from "../ui/useLoaded.ts"
import { NewWebhookDialog } from "./NewWebhookDialog.tsx"
import { WebhookRow } from "./WebhookRow.tsx"

/** How often it is read again how deliveries go. */
const every_ms = 3_000

interface RemoveDialogProps {
  readonly webhook: Webhook
  readonly onClose: () => void
  readonly onRemoved: () => void
}

const RemoveDialog = ({ onClose, onRemoved, webhook: { id, url } }: RemoveDialogProps) => {
  const remove = async () => {
    try {
      await Webhooks.remove(id)
      say(`${formatUrl(url)} is told nothing any more.`)
      onRemoved()
    } catch (error) {
      fail(asApiError(error))
    }
  }
  return (
    <Dialog title="Remove this webhook?" onClose={onClose}>
      <p>What waits for {formatUrl(url)} goes with it, and so do its dead letters. This cannot be undone.</p>
      <div class="actions end">
        <button type="button" class="button plain" onClick={onClose}>
          Keep it
        </button>
        <button type="button" class="button danger" onClick={() => void remove()}>
          Remove
        </button>
      </div>
    </Dialog>
  )
}

/** One's webhooks, and how their deliveries go. */
export const WebhooksPage = () => {
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
      say(`${formatUrl(url)} is sent a challenge.`)
    } catch (error) {
      fail(asApiError(error))
    }
    lookNow()
  }
  const webhooks = fresh ?? (loaded.state === "loaded" ? loaded.value : undefined)
  return (
    <>
      <header class="page-header">
        <h1>Webhooks</h1>
        <ProgramTabs />
      </header>
      <p class="lead">
        A webhook posts what happens to your links to an address of yours, signed.{" "}
        <a href="/docs">The HTTP API</a> tells what its messages are.
      </p>
      <p class="actions start">
        <button type="button" class="button" onClick={() => setIsMaking(true)}>
          <Icon name="plus" /> New webhook
        </button>
      </p>
      {webhooks === undefined && loaded.state === "loading" && <Loading />}
      {webhooks === undefined && loaded.state === "failed" && (
        <Failure error={loaded.error} retry={loaded.reload} />
      )}
      {webhooks?.length === 0 && (
        <Empty title="No webhooks yet">
          <p>Make one to have a program of yours told of links and visits.</p>
        </Empty>
      )}
      {webhooks !== undefined && webhooks.length > 0 && (
        <ul class="rows" aria-label="Webhooks">
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
