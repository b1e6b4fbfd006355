import { useState } from "preact/hooks"
import * as Accounts from "../api/Accounts.ts"
import { asApiError } from "../api/Client.ts"
import type { ApiKey } from "../api/Types.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { Icon } from "../ui/Icon.tsx"
import { ProgramTabs } from "../ui/Tabs.tsx"
import { Empty, Failure, Loading } from "../ui/States.tsx"
import { fail, say } from "../ui/Toasts.tsx"
import { useLoaded } from "../ui/useLoaded.ts"
import { KeyRow } from "./KeyRow.tsx"
import { NewKeyDialog } from "./NewKeyDialog.tsx"
import { Quotas } from "./Quotas.tsx"
import "./keys.css"

interface RevokeDialogProps {
  readonly apiKey: ApiKey
  readonly onClose: () => void
  readonly onRevoked: () => void
}

const RevokeDialog = ({ apiKey: { id, name }, onClose, onRevoked }: RevokeDialogProps) => {
  const revoke = async () => {
    try {
      await Accounts.revokeKey(id)
      say(`“${name}” opens nothing any more.`)
      onRevoked()
    } catch (error) {
      fail(asApiError(error))
    }
  }
  return (
    <Dialog title="Revoke this key?" onClose={onClose}>
      <p>Programs that use “{name}” stop working within a second. This cannot be undone.</p>
      <div class="actions end">
        <button type="button" class="button plain" onClick={onClose}>
          Keep it
        </button>
        <button type="button" class="button danger" onClick={() => void revoke()}>
          Revoke
        </button>
      </div>
    </Dialog>
  )
}

/** One's API keys and quotas. */
export const KeysPage = () => {
  const keys = useLoaded(Accounts.keys, [])
  const [isMaking, setIsMaking] = useState(false)
  const [revoked, setRevoked] = useState<ApiKey>()
  return (
    <>
      <header class="page-header">
        <h1>API keys</h1>
        <ProgramTabs />
      </header>
      <p class="lead">
        Programs show a key instead of a password. <a href="/docs">The HTTP API</a> tells what they can do
        with it.
      </p>
      <p class="actions start">
        <button type="button" class="button" onClick={() => setIsMaking(true)}>
          <Icon name="plus" /> New key
        </button>
      </p>
      {keys.state === "loading" && <Loading />}
      {keys.state === "failed" && <Failure error={keys.error} retry={keys.reload} />}
      {keys.state === "loaded" && keys.value.length === 0 && (
        <Empty title="No keys yet">
          <p>Make one for each program, so that each can be revoked by itself.</p>
        </Empty>
      )}
      {keys.state === "loaded" && keys.value.length > 0 && (
        <ul class="rows">
          {keys.value.map((key) => (
            <KeyRow key={key.id} apiKey={key} onRevoke={() => setRevoked(key)} />
          ))}
        </ul>
      )}
      <Quotas />
      {isMaking && <NewKeyDialog onMade={keys.reload} onClose={() => setIsMaking(false)} />}
      {revoked && (
        <RevokeDialog
          apiKey={revoked}
          onClose={() => setRevoked(undefined)}
          onRevoked={() => {
            setRevoked(undefined)
            keys.reload()
          }}
        />
      )}
    </>
  )
}
