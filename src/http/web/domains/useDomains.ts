import { useEffect, useState } from "preact/hooks"
import * as Domains from "../api/Domains.ts"
import type { Domain } from "../api/Types.ts"
import { me } from "../app/Session.ts"

/** The further domains that the signed-in user may see. Empty for others, until they are loaded, and where loading fails: the default domain needs none. */
export const useDomains = (): ReadonlyArray<Domain> => {
  const [domains, setDomains] = useState<ReadonlyArray<Domain>>([])
  const id = me.value?.id
  useEffect(() => {
    const abort = new AbortController()
    setDomains([])
    if (id !== undefined) Domains.list(abort.signal).then(setDomains, () => {})
    return () => abort.abort()
  }, [id])
  return domains
}

/** Whether a user may create links in a domain. Administrators are shown others as well. */
export const isUsable = ({ owners, verifiedAt }: Domain, userId: string): boolean =>
  verifiedAt !== null && (owners === null || owners.includes(userId))
