import type { OrphanReason } from "../../model/Visit.ts"
import { domainNumbers } from "./FurtherDomains.ts"
import type { VirtualResponse } from "./VirtualNode.ts"
import { endedUrls, missingUrls } from "./Visitors.ts"

/** As what a domain counts visitors whom no link has led: those of links that have ended apart, and all of them together. */
export type OrphanKind = "missing" | "ended" | "all"

/** The number that stands for all domains that come and go: where there are no others, the first of them have lower ones. */
const changingDomain = domainNumbers.length

/** What tells the visitors of a domain whom no link has led from the visits of links. No key has a blank. */
export const orphansOf = (domain: number, kind: OrphanKind): string =>
  `${kind} in domain ${Math.min(domain, changingDomain)}`

/** The same for those who are counted for a reason, or for all of a domain. */
export const orphansFor = (domain: number, reason: OrphanReason | undefined): string => {
  if (reason === undefined) return orphansOf(domain, "all")
  return orphansOf(domain, reason === "expired" || reason === "usedUp" ? "ended" : "missing")
}

/** The same for each place in which such a visitor is counted, or may be: as one of their kind, and among all. */
export const orphansIn = ({
  domains,
  kinds
}: {
  readonly domains: ReadonlyArray<number>
  readonly kinds: ReadonlyArray<OrphanKind>
}): ReadonlyArray<string> =>
  domains.flatMap((domain) => [...kinds, "all" as const].map((kind) => orphansOf(domain, kind)))

/** Whether they are all of a domain, who are counted as others already. */
export const isOfAllOrphans = (orphans: string): boolean => orphans.startsWith("all in ")

/** Where a visitor counts whom no link leads: in one of some domains, and for certain if `isSure`. */
export interface OrphanPlace {
  readonly domains: ReadonlyArray<number>
  readonly isSure: boolean
}

/** Where that is for who asks at the host that comes and goes. */
export const atChangingHost: OrphanPlace = { domains: [...domainNumbers, changingDomain], isSure: false }

/** What an answer says of that, or none: as what the visitor may be counted, and whether they are for certain. Links that were deleted, or are blocked, look like those that have ended, and nobody is counted there. */
export const orphanedBy = (
  response: Pick<VirtualResponse, "location" | "status"> | undefined
): { readonly kinds: ReadonlyArray<OrphanKind>; readonly isSure: boolean } => {
  if (response === undefined) return { kinds: ["missing", "ended"], isSure: false }
  const { location, status } = response
  if (location?.startsWith(endedUrls) === true)
    return { kinds: [location.startsWith(missingUrls) ? "missing" : "ended"], isSure: true }
  if (status === 404) return { kinds: ["missing"], isSure: true }
  return { kinds: status === 410 ? ["ended"] : [], isSure: false }
}
