import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { type Domain, noTargets } from "../../../src/model/Domain.ts"
import type { DomainStore, NewDomain } from "../../../src/storage/domains/DomainStore.ts"
import { atOnce } from "../../support/Property.ts"
import type { Open } from "../../support/Stores.ts"

const given = (host: string, more: Partial<NewDomain> = {}): NewDomain => ({
  host,
  token: `token of ${host}`,
  owners: null,
  targets: noTargets,
  ignoresCase: false,
  createdAt: 1_000,
  ...more
})

/** A domain as it is after it was added. */
const asAdded = (number: number, domain: NewDomain): Domain => ({
  ...domain,
  number,
  verifiedAt: null,
  updatedAt: domain.createdAt
})

/** What is read where no domain may have aliases of several segments. */
const listOf = (version: number, lastNumber: number, ...domains: ReadonlyArray<Domain>) => ({
  version,
  lastNumber,
  domains,
  longAliasesIn: []
})

/** The laws of `DomainStore`, as tests of one backend. */
export const domainStoreLaws = (title: string, open: Open<DomainStore["Type"]>): void => {
  const store = Effect.flatten(open)
  const one = given("one.example")
  const two = given("two.example", {
    owners: ["ada", 'b"ob'],
    targets: { ...noTargets, home: "https://two.example/?a='$1" },
    ignoresCase: true
  })

  describe(title, () => {
    it.scopedLive("has no domains, and version 0, before the first is added", () =>
      Effect.gen(function* () {
        const { read } = yield* store
        expect(yield* read(null)).toEqual(listOf(0, 0))
        expect(yield* read(0)).toBeNull()
      })
    )

    it.scopedLive("gives all domains as they were added, in the order of their numbers", () =>
      Effect.gen(function* () {
        const { add, read } = yield* store
        expect(yield* add(two, 10)).toEqual(asAdded(1, two))
        expect(yield* add(one, 10)).toEqual(asAdded(2, one))
        expect(yield* read(null)).toEqual(listOf(2, 2, asAdded(1, two), asAdded(2, one)))
      })
    )

    it.scopedLive("refuses a host that is there, and more domains than allowed", () =>
      Effect.gen(function* () {
        const { add, read } = yield* store
        yield* add(one, 1)
        expect(yield* add({ ...two, host: one.host }, 1)).toBe("taken")
        expect(yield* add(two, 1)).toBe("full")
        expect(yield* read(1)).toBeNull()
      })
    )

    it.scopedLive("changes what is given and nothing else", () =>
      Effect.gen(function* () {
        const { add, change, read } = yield* store
        yield* add(one, 10)
        yield* add(two, 10)
        const owned = { ...asAdded(1, one), owners: ["ada"], updatedAt: 2_000 }
        expect(yield* change(1, { owners: ["ada"] }, 2_000)).toEqual(owned)
        const targets = { ...noTargets, unknown: "https://example.com/" }
        const targeted = { ...owned, targets, ignoresCase: true, updatedAt: 3_000 }
        expect(yield* change(1, { targets: { unknown: targets.unknown }, ignoresCase: true }, 3_000)).toEqual(
          targeted
        )
        expect(yield* change(3, { owners: null }, 4_000)).toBeNull()
        const again = { ...targeted, targets: { ...targets, home: "https://example.com/" }, updatedAt: 5_000 }
        expect(yield* change(1, { targets: { home: "https://example.com/" } }, 5_000)).toEqual(again)
        expect(yield* read(4)).toEqual(listOf(5, 2, again, asAdded(2, two)))
      })
    )

    it.scopedLive("verifies a domain once, by the token that it has", () =>
      Effect.gen(function* () {
        const { add, read, verify } = yield* store
        yield* add(one, 10)
        expect(yield* verify(1, two.token, 2_000)).toBeNull()
        expect(yield* verify(2, one.token, 2_000)).toBeNull()
        expect(yield* read(1)).toBeNull()
        const verified = { ...asAdded(1, one), verifiedAt: 2_000, updatedAt: 2_000 }
        expect(yield* verify(1, one.token, 2_000)).toEqual(verified)
        expect(yield* verify(1, one.token, 3_000)).toEqual(verified)
        expect(yield* read(1)).toEqual(listOf(2, 1, verified))
      })
    )

    it.scopedLive("gives the number of a removed domain to no other one, also with its host", () =>
      Effect.gen(function* () {
        const { add, read, remove } = yield* store
        yield* add(one, 1)
        expect(yield* remove(1)).toBe(true)
        expect(yield* remove(1)).toBe(false)
        expect(yield* read(1)).toEqual(listOf(2, 1))
        expect(yield* add(one, 1)).toEqual(asAdded(2, one))
      })
    )

    it.scopedLive("knows for good which domains may have aliases of several segments", () =>
      Effect.gen(function* () {
        const { add, addLongAliases, read, remove } = yield* store
        yield* addLongAliases(0)
        yield* addLongAliases(0)
        expect(yield* read(0)).toEqual({ ...listOf(1, 0), longAliasesIn: [0] })
        yield* add(one, 1)
        yield* addLongAliases(1)
        yield* remove(1)
        expect(yield* read(null)).toEqual({ ...listOf(4, 1), longAliasesIn: [0, 1] })
      })
    )

    it.scopedLive("adds one of several domains with the same host, and numbers all others", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        for (let round = 1; round <= 5; round++) {
          const same = given(`same${round}.example`)
          const added = yield* atOnce(stores.map(({ add }) => add(same, 100)))
          expect(added.filter((one) => one !== "taken")).toEqual([asAdded(4 * round - 3, same)])
          const others = stores.map((_, index) => given(`other${round}-${index}.example`))
          const numbered = yield* atOnce(stores.map(({ add }, index) => add(others[index]!, 100)))
          expect(new Set(numbered.map((one) => typeof one !== "string" && one.number))).toEqual(
            new Set([4 * round - 2, 4 * round - 1, 4 * round])
          )
        }
        expect((yield* stores[0].read(null))!.domains).toHaveLength(20)
      })
    )
  })
}
