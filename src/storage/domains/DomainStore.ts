import { Context, type Effect } from "effect"
import type { Domain, DomainChange } from "../../model/Domain.ts"
import type { StorageError } from "../StorageError.ts"

/** All further domains, in the order of their numbers, and a version that each change raises. */
export interface DomainList {
  readonly version: number
  /** The greatest number that a domain has had; 0 where there has never been one. */
  readonly lastNumber: number
  readonly domains: ReadonlyArray<Domain>
  /** The numbers of the domains, the default one among them, that may have aliases of several segments. */
  readonly longAliasesIn: ReadonlyArray<number>
}

/** A domain that is to be added. It gets its number, and is not verified. */
export type NewDomain = Pick<Domain, "createdAt" | "host" | "ignoresCase" | "owners" | "targets" | "token">

/**
 * The further domains of a deployment.
 *
 * Laws:
 * 1. Hosts are unique: of concurrent `add`s with the same one, one wins.
 * 2. Numbers count up from 1, and a number is never given again. Who adds the host of a removed domain again has none of its links.
 * 3. There are never more domains than each `add` allows.
 * 4. A domain is verified only by the token that it has.
 * 5. `read` with the version that it gave gives `null` exactly as long as nothing was added, changed, verified or removed, and no domain got long aliases.
 * 6. A domain that has got long aliases keeps them, also when it is removed.
 */
export class DomainStore extends Context.Tag("linkmint/DomainStore")<
  DomainStore,
  {
    /** All domains; `null` where their version is `known`. Before the first change the version is 0. */
    readonly read: (known: number | null) => Effect.Effect<DomainList | null, StorageError>
    /** Adds a domain, unless its host is there (`taken`) or there are `domainsMax` (`full`). */
    readonly add: (
      domain: NewDomain,
      domainsMax: number
    ) => Effect.Effect<Domain | "full" | "taken", StorageError>
    /** Changes a domain: gives it as it is afterwards, `null` where there is none. */
    readonly change: (
      number: number,
      change: DomainChange,
      at: number
    ) => Effect.Effect<Domain | null, StorageError>
    /** Has a domain verified from `at` on, unless it already is: gives it, `null` where there is none with this token. */
    readonly verify: (number: number, token: string, at: number) => Effect.Effect<Domain | null, StorageError>
    /** Removes a domain; `false` where there is none. */
    readonly remove: (number: number) => Effect.Effect<boolean, StorageError>
    /** Has a domain be one that may have aliases of several segments. */
    readonly addLongAliases: (number: number) => Effect.Effect<void, StorageError>
  }
>() {}

/** A domain as it is added. */
export const addedAs = (domain: NewDomain, number: number): Domain => ({
  ...domain,
  number,
  verifiedAt: null,
  updatedAt: domain.createdAt
})
