import { useState } from "preact/hooks"
import { newestUsers } from "../api/Administration.ts"
import { asApiError } from "../api/Client.ts"
import * as Domains from "../api/Domains.ts"
import type { Domain } from "../api/Types.ts"
import { domainPath } from "../app/Paths.ts"
import { me } from "../app/Session.ts"
import { ownHost } from "../app/Settings.ts"
import { fill, rich } from "../language/fill.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Empty, Failure, Loading } from "../ui/States.tsx"
import { AdminTabs } from "../ui/Tabs.tsx"
import { fail, say } from "../ui/Toasts.tsx"
import { useLoaded } from "../ui/hooks/useLoaded.ts"
import { DomainDialog } from "./DomainDialog.tsx"
import { DomainRow } from "./DomainRow.tsx"
import { words } from "./words.ts"
import "./domains.css"

interface RemoveDialogProps {
  readonly host: string
  readonly onClose: () => void
  readonly onRemoved: () => void
}

const RemoveDialog = ({ host, onClose, onRemoved }: RemoveDialogProps) => {
  const t = words()
  const remove = async () => {
    try {
      await Domains.remove(host)
      say(fill(t.removed, { host }))
      onRemoved()
    } catch (error) {
      fail(asApiError(error))
    }
  }
  return (
    <Dialog title={t.removeTitle} onClose={onClose}>
      <p>{fill(t.removeText, { host })}</p>
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

/** The further domains: for administrators all of them and what can be done with them, for others those that they may use. */
export const DomainsPage = () => {
  const t = words()
  const isAdmin = me.value?.admin === true
  const domains = useLoaded(Domains.list, [])
  const named = useLoaded((signal) => (isAdmin ? newestUsers(signal) : Promise.resolve([])), [isAdmin])
  const [changed, setChanged] = useState<ReadonlyMap<string, Domain>>(new Map())
  const [edited, setEdited] = useState<Domain | "new">()
  const [removed, setRemoved] = useState<string>()
  const [verifying, setVerifying] = useState<string>()
  const users = named.state === "loaded" ? named.value : []
  const nameOf = (id: string) => users.find((user) => user.id === id)?.email ?? id
  const noteChanged = (domain: Domain) => setChanged((before) => new Map([...before, [domain.host, domain]]))
  const verify = async ({ host }: Domain) => {
    setVerifying(host)
    try {
      noteChanged(await Domains.verify(host))
      say(fill(words().verifiedNow, { host }))
    } catch (error) {
      fail(asApiError(error))
    }
    setVerifying(undefined)
  }
  return (
    <>
      <header class="page-header">
        <h1>{t.title}</h1>
        {isAdmin && <AdminTabs />}
      </header>
      <p class="lead">{isAdmin ? t.lead : t.leadForOthers}</p>
      {isAdmin && (
        <p class="actions start">
          <button type="button" class="button" onClick={() => setEdited("new")}>
            <Icon name="plus" /> {t.new}
          </button>
          <a class="button plain" href={domainPath(ownHost)} aria-label={fill(t.lostOf, { host: ownHost })}>
            <Icon name="chart" /> {fill(t.lostOf, { host: ownHost })}
          </a>
        </p>
      )}
      {domains.state === "loading" && <Loading />}
      {domains.state === "failed" && <Failure error={domains.error} retry={domains.reload} />}
      {domains.state === "loaded" && domains.value.length === 0 && (
        <Empty title={t.none}>
          <p>{rich(t.noneText, { host: (inner) => <a href="/app/links">{inner}</a> })}</p>
        </Empty>
      )}
      {domains.state === "loaded" && domains.value.length > 0 && (
        <ul class="rows" aria-label={t.title}>
          {domains.value
            .map((domain) => changed.get(domain.host) ?? domain)
            .map((domain) => (
              <DomainRow
                key={domain.host}
                domain={domain}
                nameOf={nameOf}
                {...(isAdmin && {
                  acts: {
                    isVerifying: verifying === domain.host,
                    onVerify: () => void verify(domain),
                    onEdit: () => setEdited(domain),
                    onRemove: () => setRemoved(domain.host)
                  }
                })}
              />
            ))}
        </ul>
      )}
      {edited !== undefined && (
        <DomainDialog
          domain={edited === "new" ? undefined : edited}
          users={users}
          nameOf={nameOf}
          onClose={() => setEdited(undefined)}
          onSaved={(domain) => {
            noteChanged(domain)
            if (edited === "new") domains.reload()
            else say(fill(t.changed, { host: domain.host }))
            setEdited(undefined)
          }}
        />
      )}
      {removed !== undefined && (
        <RemoveDialog
          host={removed}
          onClose={() => setRemoved(undefined)}
          onRemoved={() => {
            setRemoved(undefined)
            domains.reload()
          }}
        />
      )}
    </>
  )
}
