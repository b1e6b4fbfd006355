import { Effect } from "effect"
import type { Link } from "../../model/Link.ts"
import type { KnownDomains } from "../domains/Domains.ts"

/** Finds the row of a link's text as it is written, and where that leads nowhere, of the alias that it may mean as well because its domain ignores case. Minted keys are found as they are written alone. */
export const findAsWritten = <E>(
  domains: Pick<KnownDomains, "foldedOf">,
  find: (text: string) => Effect.Effect<Link | null, E>,
  text: string
): Effect.Effect<Link | null, E> => {
  const folded = domains.foldedOf(text)
  return folded === undefined
    ? find(text)
    : Effect.flatMap(find(text), (link) =>
        link !== null && link.deletedAt === null
          ? Effect.succeed(link)
          : Effect.map(find(folded), (other) => (other?.custom === true ? other : link))
      )
}
