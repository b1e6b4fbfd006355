import { Effect } from "effect"
import { type HostPolicy, KnownDomains } from "../../http/domains/Domains.ts"
import { defaultDomain, domainKeyOf, qualifiedKey } from "../../keys/QualifiedKey.ts"
import { type Domain, type DomainTargets, noTargets } from "../../model/Domain.ts"
import { endedUrls, missingUrls } from "./Visitors.ts"
import { addedAs, type DomainStore, type NewDomain } from "../../storage/domains/DomainStore.ts"
import type { StorageError } from "../../storage/StorageError.ts"

/** The host of the default domain of every simulated deployment. */
export const ownHost = "linkmint.test"

/** How nodes treat hosts. */
export const policy: HostPolicy = { ownHost, unknownHosts: "default" }

/** The host of a domain that comes and goes, in which there are no links; see `ChangingDomain`. */
export const changingHost = "changing.test"

/** A domain that is for everybody, as it is added. */
export const newAt = (host: string): NewDomain => ({
  host,
  token: "",
  owners: null,
  targets: noTargets,
  ignoresCase: false,
  createdAt: 0
})

/** Where people are sent whom no link of a further domain leads: of the first one from its home page and from where nothing is, of the second one from links that have ended, or are yet to begin. */
const targets: ReadonlyArray<DomainTargets> = [
  { ...noTargets, home: `${missingUrls}home`, unknown: `${missingUrls}unknown` },
  {
    ...noTargets,
    expired: `${endedUrls}in-time`,
    usedUp: `${endedUrls}in-use`,
    pending: `${missingUrls}pending`
  },
  noTargets
]

/** The users who may create links in the third one. */
const ownersOfThird = ["usr_0", "usr_2"]

/** The further domains of deployments whose clients use any: verified. In the second one aliases are the same in capitals, the third one is some users' alone. */
const domains: ReadonlyArray<Domain> = [1, 2, 3].map((number) => ({
  ...addedAs({ ...newAt(`domain-${number}.test`), ignoresCase: number === 2 }, number),
  owners: number === 3 ? ownersOfThird : null,
  targets: targets[number - 1]!,
  verifiedAt: 0
}))

/** Where people are sent whom no link leads, at a host or in a domain. */
export const targetsOf = (where: string | number): DomainTargets =>
  domains.find(({ host, number }) => host === where || number === where)?.targets ?? noTargets

/** Whether a user, or nobody who is known, may create links in a domain. */
export const mayCreateIn = (number: number, user: string | undefined): boolean => {
  const { owners = null } = domains[number - 1] ?? {}
  return owners === null || (user !== undefined && owners.includes(user))
}

/** Aliases that clients write with capitals where these are the same. */
const capitalized = /^a(?=lias-\d*[13579](\/|$))/

/** The numbers of all domains. */
export const domainNumbers: ReadonlyArray<number> = [defaultDomain, ...domains.map(({ number }) => number)]

/** What a node knows of domains that has not read them. */
export const unread = (): KnownDomains => new KnownDomains(policy)

/** Adds them to a store, where clients use any. */
export const addTo = ({ add, verify }: typeof DomainStore.Service): Effect.Effect<void, StorageError> =>
  Effect.forEach(
    domains,
    (domain) => Effect.zipRight(add(domain, domains.length), verify(domain.number, domain.token, 0)),
    { discard: true }
  )

/** The domains as a node knows them. */
export const known = (): KnownDomains => {
  const known = unread()
  known.set({ version: 1, lastNumber: domains.length, domains, longAliasesIn: [] })
  return known
}

/** The host of a domain. */
export const hostOf = (number: number): string => domains[number - 1]?.host ?? ownHost

/** How requests name a link that is stored by a text: its key, and the host of its domain unless that is the default one. */
export const namesOf = (text: string): { readonly key: string; readonly domain?: string } => {
  const { domain, key } = domainKeyOf(text)
  if (domain === defaultDomain) return { key }
  const written = domains[domain - 1]?.ignoresCase === true ? key.replace(capitalized, "A") : key
  return { key: written, domain: hostOf(domain) }
}

/** Whether requests name a link by the text by which it is stored, and not in capitals. */
export const isNamedAsStored = (text: string): boolean => namesOf(text).key === domainKeyOf(text).key

/** The text by which a link is stored that has such names, or is asked for by a path at a host. */
export const textOf = (key: string, host: string | undefined): string => {
  const domain = domains.find((one) => one.host === host)?.number ?? defaultDomain
  return qualifiedKey({ domain, key })
}
