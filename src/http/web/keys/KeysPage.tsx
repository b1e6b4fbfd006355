import { useState } from "preact/hooks"
import * as Accounts from "../api/Accounts.ts"
import { asApiError } from "../api/Client.ts"
import type { ApiKey } from "../api/Types.ts"
import { fill, rich } from "../language/fill.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Icon } from "../ui/Icon.tsx"
import { ProgramTabs } from "../ui/Tabs.tsx"
import { Empty, Failure, Loading } from "../ui/States.tsx"
import { fail, say } from "../ui/Toasts.tsx"
import { useLoaded } from "../ui/hooks/useLoaded.ts"
import { KeyRow } from "./KeyRow.tsx"
import { NewKeyDialog } from "./NewKeyDialog.tsx"
import { Quotas } from "./Quotas.tsx"
import { words } from "./words.ts"
import "./keys.css"

interface RevokeDialogProps {
  readonly apiKey: ApiKey
  readonly onClose: () => void
  readonly onRevoked: () => void
}

const RevokeDialog = ({ apiKey: { id, name }, onClose, onRevoked }: RevokeDialogProps) => {
  const t = words()
  const revoke = async () => {
    try {
      await Accounts.revokeKey(id)
      say(fill(t.revoked, { name }))
      onRevoked()
    } catch (error) {
      fail(asApiError(error))
    }
  }
  return (
    <Dialog title={t.revokeTitle} onClose={onClose}>
      <p>{fill(t.revokeText, { name })}</p>
      <div class="actions end">
        <button type="button" class="button plain" onClick={onClose}>
          {t.keep}
        </button>
        <button type="button" class="button danger" onClick={() => void revoke()}>
          {t.revoke}
        </button>
      </div>
    </Dialog>
  )
}

/** One's API keys and quotas. */
export const KeysPage = () => {
  const t = words()
  const keys = useLoaded(Accounts.keys, [])
  const [isMaking, setIsMaking] = useState(false)
  const [revoked, setRevoked] = useState<ApiKey>()
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
      {keys.state === "loading" && <Loading />}
      {keys.state === "failed" && <Failure error={keys.error} retry={keys.reload} />}
      {keys.state === "loaded" && keys.value.length === 0 && (
        <Empty title={t.none}>
          <p>{t.noneText}</p>
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
