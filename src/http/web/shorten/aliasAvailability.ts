import { useEffect, useState } from "preact/hooks"
import { isAlias, isLong, segmentsOf } from "../../../model/Alias.ts"
import { isReserved } from "../../links/ReservedAliases.ts"
import { me } from "../app/Session.ts"
import { ApiError } from "../api/Client.ts"
import * as Links from "../api/Links.ts"
import { useDebounced } from "../ui/hooks/useDebounced.ts"

/** What can be said of an alias before it is asked for. `unknown`: nothing; the create will tell. */
export type Availability = "none" | "malformed" | "reserved" | "checking" | "free" | "taken" | "unknown"

const wait_ms = 350

/** A preview is no visit. A link that is not valid yet answers like one that does not exist: that, the create tells. */
const ask = async (alias: string, signal: AbortSignal): Promise<Availability> => {
  try {
    await Links.preview(alias, signal)
    return "taken"
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 404) return "free"
    return error.status === 410 ? "taken" : "unknown"
  }
}

/** Another domain's previews are of another origin, which the page's policy forbids. */
const withoutAsking = (alias: string, domain: string): Availability => {
  if (alias === "") return "none"
  const lengthMin = me.value?.admin === true ? 1 : 3
  if (!isAlias(alias) || segmentsOf(alias).some(({ length }) => length < lengthMin)) return "malformed"
  if (isReserved(alias)) return "reserved"
  // Where a shorter alias forwards its path, to ask would be a visit.
  return domain === "" && !isLong(alias) ? "checking" : "unknown"
}

/** Whether an alias can be had in a domain (empty: the default one), as one types it. */
export const useAvailability = (alias: string, domain: string): Availability => {
  const settled = useDebounced(alias, wait_ms)
  const [answer, setAnswer] = useState<{ readonly alias: string; readonly availability: Availability }>()
  useEffect(() => {
    if (withoutAsking(settled, domain) !== "checking") return undefined
    const abort = new AbortController()
    ask(settled, abort.signal).then(
      (availability) => setAnswer({ alias: settled, availability }),
      () => {}
    )
    return () => abort.abort()
  }, [settled, domain])
  const known = withoutAsking(alias, domain)
  return known === "checking" && answer?.alias === alias ? answer.availability : known
}
