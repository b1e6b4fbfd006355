import { Context } from "effect"

/**
 * Whether links can be in further domains. Then the `INSERT` of a minted key looks for it in all of them. A pool that has forgotten what it handed out hands it out again, and the primary key refuses
 * a second link in the same domain alone. The look costs PostgreSQL a quarter of an `INSERT`: it is left out where there has never been a further domain.
 */
export class FurtherDomains extends Context.Reference<FurtherDomains>()("linkmint/FurtherDomains", {
  defaultValue: (): { readonly areInUse: () => boolean } => ({ areInUse: () => true })
}) {}
