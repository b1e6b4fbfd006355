import { Effect, Layer } from "effect"
import { changedDomain, type Domain } from "../../model/Domain.ts"
import { addedAs, DomainStore } from "../../storage/domains/DomainStore.ts"

/** `DomainStore` in this process's memory: the reference that other backends are compared with. */
export const make = Effect.sync(() => {
  const domains = new Map<number, Domain>()
  let version = 0
  let lastNumber = 0
  const longAliasesIn = new Set<number>()

  const set = (domain: Domain) => {
    domains.set(domain.number, domain)
    version++
    return domain
  }

  return DomainStore.of({
    read: (known) =>
      Effect.sync(() =>
        known === version
          ? null
          : { version, lastNumber, domains: [...domains.values()], longAliasesIn: [...longAliasesIn] }
      ),
    add: (given, domainsMax) =>
      Effect.sync(() => {
        if ([...domains.values()].some(({ host }) => host === given.host)) return "taken"
        if (domains.size >= domainsMax) return "full"
        return set(addedAs(given, ++lastNumber))
      }),
    change: (number, change, at) =>
      Effect.sync(() => {
        const before = domains.get(number)
        return before === undefined ? null : set(changedDomain(before, change, at))
      }),
    verify: (number, token, at) =>
      Effect.sync(() => {
        const before = domains.get(number)
        if (before?.token !== token) return null
        return before.verifiedAt !== null ? before : set({ ...before, verifiedAt: at, updatedAt: at })
      }),
    remove: (number) =>
      Effect.sync(() => {
        if (!domains.delete(number)) return false
        version++
        return true
      }),
    addLongAliases: (number) =>
      Effect.sync(() => {
        if (longAliasesIn.has(number)) return
        longAliasesIn.add(number)
        version++
      })
  })
})

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<DomainStore> = Layer.effect(DomainStore, make)
