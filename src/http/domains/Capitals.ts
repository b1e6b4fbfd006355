import { Effect } from "effect"
import { foldedKey, plainKeyOf, qualifiedKey } from "../../keys/QualifiedKey.ts"
import type { Link } from "../../model/Link.ts"
import type { LinkPage, LinkQuery, Position } from "../../storage/links/LinkStore.ts"

/** Links that are looked at for a page of aliases. */
const lookedAtMax = 50_000

/** How links are read. A page without the links of a database that does not answer is a failure: it may lack aliases. */
export interface LinkReading<E> {
  readonly list: (query: LinkQuery) => Effect.Effect<LinkPage, E>
  readonly findMany: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Link | null>, E>
}

/** An alias that would be found only as it is written if its domain ignored case. */
export interface Capital {
  readonly key: string
  /** The alias in lower case. */
  readonly folded: string
  /** Whether another link has that, or has it in another case. Of those with capital letters only the ones of the same report are compared. */
  readonly collides: boolean
}

/** The aliases of a domain that have capital letters, the newest first, `max` at most. `isComplete`: whether these are all. */
export const aliasesWithCapitals = Effect.fnUntraced(function* <E>(
  list: LinkReading<E>["list"],
  domain: number,
  max: number
) {
  const keys: Array<string> = []
  let after: Position | undefined
  do {
    const page: LinkPage = yield* list({
      domain,
      hasCapitals: true,
      order: "createdAt-desc",
      after,
      limit: max - keys.length,
      lookedAtMax
    })
    keys.push(...page.links.map(({ key }) => plainKeyOf(key)))
    after = page.next ?? undefined
  } while (after !== undefined && keys.length < max)
  return { keys, isComplete: after === undefined }
})

/** What keeps a domain from ignoring case: see {@link aliasesWithCapitals}. */
export const report = Effect.fnUntraced(function* <E>(
  { findMany, list }: LinkReading<E>,
  domain: number,
  max: number
) {
  const { isComplete, keys } = yield* aliasesWithCapitals(list, domain, max)
  const named = keys.map((key) => ({ key, folded: foldedKey(key) }))
  const counts = new Map<string, number>()
  for (const { folded } of named) counts.set(folded, (counts.get(folded) ?? 0) + 1)
  const rows = yield* findMany(named.map(({ folded }) => qualifiedKey({ domain, key: folded })))
  const data = named.map(({ folded, key }, index): Capital => {
    const other = rows[index] ?? null
    const isTaken = other !== null && other.deletedAt === null
    return { key, folded, collides: isTaken || counts.get(folded)! > 1 }
  })
  return { data, isComplete }
})
