import { domainToASCII } from "node:url"
import { Schema } from "effect"

/** Where visitors of a domain are sent when no link redirects them; `null`: to the service's own page. URLs of at most 2,048 characters. */
export const DomainTargets = Schema.Struct({
  /** From `/`. */
  home: Schema.NullOr(Schema.String),
  /** From a key that no link has, or had. */
  unknown: Schema.NullOr(Schema.String),
  expired: Schema.NullOr(Schema.String),
  usedUp: Schema.NullOr(Schema.String),
  /** From a link that is not valid yet. */
  pending: Schema.NullOr(Schema.String)
})
/** See {@link DomainTargets}. */
export type DomainTargets = typeof DomainTargets.Type

/** The targets of a domain that has none. */
export const noTargets: DomainTargets = {
  home: null,
  unknown: null,
  expired: null,
  usedUp: null,
  pending: null
}

/** A further domain of this service. Times are milliseconds since the Unix epoch. */
export interface Domain {
  /** From 1 on. It is part of the identity of the domain's links, and never that of another domain. */
  readonly number: number
  /** In lower case and Punycode, without a port; see {@link parseHost}. */
  readonly host: string
  /** What its DNS or its web server must show before it is used. */
  readonly token: string
  /** Since when it is verified; `null`: it is not. */
  readonly verifiedAt: number | null
  /** The ids of the users who may create links in it; `null`: everybody who may create links. */
  readonly owners: ReadonlyArray<string> | null
  readonly targets: DomainTargets
  /** Whether aliases that differ only in case are the same. */
  readonly ignoresCase: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

/** What may be changed of a domain; the rest stays as it is. */
export interface DomainChange extends Partial<Pick<Domain, "ignoresCase" | "owners">> {
  /** Each target for itself. */
  readonly targets?: Partial<DomainTargets>
}

/** A domain as a change at a moment leaves it. */
export const changedDomain = (domain: Domain, change: DomainChange, at: number): Domain => ({
  ...domain,
  ...change,
  targets: { ...domain.targets, ...change.targets },
  updatedAt: at
})

/** Further domains of a deployment at most. */
export const domainsMax = 1_000

/** Owners of a domain at most. */
export const domainOwnersMax = 100

/** A label of a host name (RFC 1123, section 2.1). */
const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/** What is in no host name, and what `domainToASCII` removes or ends at. */
const foreign = /[\s/?#\\:@%[\]]/

/** The WHATWG URL Standard takes names whose last label is a number for addresses. */
const number = /^(?:\d+|0x[0-9a-f]*)$/

// oxlint-disable-next-line eslint/no-control-regex
const ascii = /^[\u0000-\u007f]*$/

/** A host name that somebody wrote as domains have theirs: in lower case and Punycode. Whether it is one is for the caller to look up. */
export const hostNamed = (text: string): string =>
  ascii.test(text) ? text.toLowerCase() : domainToASCII(text)

/** A host name in lower case and Punycode, as `Host` has it; `undefined` where a text is anything else: an address, a name with a port or a dot at its end. */
export const parseHost = (text: string): string | undefined => {
  if (text.length > 253 || foreign.test(text)) return undefined
  const host = domainToASCII(text)
  const labels = host.split(".")
  const isName =
    host.length <= 253 && labels.every((part) => label.test(part)) && !number.test(labels.at(-1)!)
  return isName ? host : undefined
}
