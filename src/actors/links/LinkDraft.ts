import { Data } from "effect"
import { qualifiedKey } from "../../keys/QualifiedKey.ts"
import type { Link, LinkChoices, LinkExtras } from "../../model/Link.ts"
import type { Guard } from "../../storage/links/GuardedCreates.ts"

/** What a new link is made of. */
export interface LinkDraft extends LinkChoices {
  /** `null`: a minted key. */
  readonly alias: string | null
  /** The number of its domain; none for the default one. */
  readonly domain?: number
  /** The id of the user whose link it will be, `null` for an anonymous creator's. */
  readonly owner: string | null
  /** See `Link`. */
  readonly keyId?: string
  readonly keyRedirectsPerDay?: number
  /** When it counts as created, and as changed, in milliseconds since the Unix epoch: not in the future. Without it, when it is bound. */
  readonly createdAt?: number
  readonly updatedAt?: number
  /** Redirects that are left of `maxVisits`. Without it, all. */
  readonly visitsLeft?: number
  /** See `Link`. */
  readonly importedVisits?: NonNullable<Link["importedVisits"]>
  readonly extras?: LinkExtras
}

/**
 * The link that a create at `now` (milliseconds since the Unix epoch) makes of a draft. Field by field: to spread a draft takes longer than all else that a bulk
 * does with a link here.
 */
export const linkOf = (draft: LinkDraft, key: string, now: number, createId: number): Link => {
  const {
    createdAt = now,
    domain,
    extras,
    importedVisits,
    keyId,
    keyRedirectsPerDay,
    visitsLeft = draft.maxVisits
  } = draft
  return {
    key: domain === undefined ? key : qualifiedKey({ domain, key }),
    url: draft.url,
    title: draft.title,
    tags: draft.tags,
    validSince: draft.validSince,
    expiresAt: draft.expiresAt,
    maxVisits: draft.maxVisits,
    passwordHash: draft.passwordHash,
    redirectStatus: draft.redirectStatus,
    forwardQuery: draft.forwardQuery,
    crawlable: draft.crawlable,
    owner: draft.owner,
    custom: draft.alias !== null,
    createdAt,
    updatedAt: draft.updatedAt ?? createdAt,
    deletedAt: null,
    visitsLeft,
    createId,
    ...(keyId !== undefined && { keyId }),
    ...(keyRedirectsPerDay !== undefined && { keyRedirectsPerDay }),
    ...(importedVisits !== undefined && { importedVisits }),
    ...(extras !== undefined && { extras })
  }
}

/** The alias has a row: it is in use, or was. */
export class AliasTaken extends Data.TaggedError("AliasTaken")<{ readonly alias: string }> {}

/** Somebody else holds a guard of the create now, or has settled it; or an earlier try of the same create has. */
export class Superseded extends Data.TaggedError("Superseded")<{}> {}

/** The guards under which a link is bound, and the answer that is kept with them then. */
export interface Guarding {
  readonly guards: ReadonlyArray<Guard>
  readonly answerOf: (link: Link) => string
}
