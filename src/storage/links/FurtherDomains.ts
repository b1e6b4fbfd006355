import { Context } from "effect"

/**
 * Whether links can be in further domains. Then a minted key is looked for in all of them when a link is bound: a pool that has forgotten what it handed out hands it out again, and the primary key
 * tells of links of the same domain alone. It costs PostgreSQL a quarter of an `INSERT`, so that it is left out where there has never been a further domain.
 */
export class FurtherDomains extends Context.Reference<FurtherDomains>()("linkmint/FurtherDomains", {
  defaultValue: (): { readonly areInUse: () => boolean } => ({ areInUse: () => true })
}) {}
