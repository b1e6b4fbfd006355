import { Context, Option } from "effect"
import type { LinkStore } from "./LinkStore.ts"

/**
 * Reads links from a server that follows the database, for redirects while the database itself is away. What it gives may lack the last changes, and links that were just made. By
 * default there is none.
 */
export class LinkReplicas extends Context.Reference<LinkReplicas>()("linkmint/LinkReplicas", {
  defaultValue: (): Option.Option<(typeof LinkStore.Service)["findMany"]> => Option.none()
}) {}
