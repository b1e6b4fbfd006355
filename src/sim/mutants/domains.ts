import { Effect } from "effect"
import { changedDomain, type Domain, noTargets } from "../../model/Domain.ts"
import { KnownDomains } from "../../http/domains/Domains.ts"
import { s_us } from "../world/Time.ts"
import { type Mutant, withFaults } from "./Mutant.ts"
import type { Mutation } from "./Mutation.ts"

/** A domain comes and goes, and much is asked there. */
const changing: Mutant["options"] = withFaults({}, { domainsChanged: 1, withLongAlias: 0 })

/** The same, where little is asked elsewhere: then what a node was asked last may be the same before a change and after it. */
const quiet: Mutant["options"] = withFaults(
  {},
  { domainsChanged: 1, withLongAlias: 0, clients: 2, think_ms: 4_000, bursts: 0 }
)

/** The same, asked for over HTTP. */
const asked: Mutant["options"] = withFaults({}, { domainsChanged: 1, domainsAsked: 1, withLongAlias: 0 })

/** Reads each domain as another one. */
const readingEach =
  (mutate: (domain: Domain) => Domain): NonNullable<Mutation["domains"]> =>
  (store) => ({
    ...store,
    read: (known) =>
      Effect.map(store.read(known), (list) => list && { ...list, domains: list.domains.map(mutate) })
  })

/** Keeps what was found for the host that was asked for last, whatever becomes of domains. */
class HostRemembered extends KnownDomains {
  #last = { host: "", number: undefined as number | undefined }

  override numberOf(...[request, addresses]: Parameters<KnownDomains["numberOf"]>) {
    const host = request.headers["host"] ?? ""
    if (host === "" || this.#last.host !== host)
      this.#last = { host, number: super.numberOf(request, addresses) }
    return this.#last.number
  }
}

/** What can be broken about what nodes know of domains. */
export const domains: ReadonlyArray<Mutant> = [
  {
    name: "last-host-remembered",
    text: "A node treats the host of its last request as before, though its domain has been verified or removed since.",
    promise: "domains",
    checker: "domains",
    options: quiet,
    make: () => ({ knownDomains: (policy) => new HostRemembered(policy) })
  },
  {
    name: "home-page-target-lost",
    text: "A node reads domains without where visitors of their home pages are sent.",
    promise: "domains",
    checker: "strays",
    options: withFaults({}, { domainsChanged: 1, withDomain: 0.5 }),
    make: () => ({
      domains: readingEach((domain) => ({ ...domain, targets: { ...domain.targets, home: null } }))
    })
  },
  {
    name: "domain-change-unwritten",
    text: "A change of a domain is answered as if it were made, and is not.",
    promise: "domains",
    checker: "requests about domains",
    options: asked,
    make: () => ({
      domains: (store) => ({
        ...store,
        change: (number, change, at) =>
          Effect.map(store.read(null), (list) => {
            const domain = list!.domains.find((one) => one.number === number)
            return domain === undefined ? null : changedDomain(domain, change, at)
          })
      })
    })
  },
  {
    name: "domain-without-its-targets",
    text: "A node forgets where visitors of a domain are sent.",
    promise: "domains",
    checker: "domains",
    options: asked,
    make: () => ({
      domains: readingEach((domain) => ({ ...domain, targets: noTargets }))
    })
  },
  {
    name: "proof-not-needed",
    text: "Any proof that a host shows verifies its domain.",
    promise: "domains",
    checker: "requests about domains",
    options: asked,
    make: () => {
      let token = ""
      return {
        domains: (store) => ({
          ...store,
          read: (known) =>
            Effect.tap(store.read(known), (list) =>
              Effect.sync(() => {
                token = list?.domains.at(-1)?.token ?? token
              })
            )
        }),
        proofs: (proofs) => ({
          ...proofs,
          txt: (name) =>
            Effect.map(proofs.txt(name), (records) =>
              records.length > 1 ? [`linkmint-domain=${token}`] : records
            )
        })
      }
    }
  },
  {
    name: "domains-read-once",
    text: "A node does not read the domains again after its start.",
    promise: "domains",
    checker: "domains",
    options: changing,
    make: () => ({
      domains: (store) => ({
        ...store,
        read: (known) => (known === null ? store.read(null) : Effect.succeed(null))
      })
    })
  },
  {
    name: "domains-read-seldom",
    text: "A node reads the domains every four seconds.",
    promise: "domains",
    checker: "domains",
    options: changing,
    make: () => ({
      domains: (store, { world }) => {
        let read_us = Number.NEGATIVE_INFINITY
        return {
          ...store,
          read: (known) =>
            Effect.suspend(() => {
              if (known !== null && world.now_us < read_us + 4 * s_us) return Effect.succeed(null)
              read_us = world.now_us
              return store.read(known)
            })
        }
      }
    })
  },
  {
    name: "unverified-domain-served",
    text: "A domain is served before it is verified.",
    promise: "domains",
    checker: "domains",
    options: changing,
    make: () => ({
      domains: readingEach((domain) => ({ ...domain, verifiedAt: domain.verifiedAt ?? 0 }))
    })
  }
]
