import type { Sharding } from "@effect/cluster/Sharding"
import { Context, Effect, Layer, type Scope } from "effect"
import type { LinkStore } from "../../storage/links/LinkStore.ts"
import type { KeyBuffer } from "../keys/KeyBuffer.ts"
import * as LinkChanges from "./LinkChanges.ts"
import * as LinkCreates from "./LinkCreates.ts"
import * as LinkReads from "./LinkReads.ts"
import type { LocalOwners } from "./LocalOwners.ts"
import type { RedirectCache } from "./RedirectCache.ts"

/** What a node can do with links, whichever actors do it. */
export interface LinksService extends LinkCreates.LinkCreates, LinkReads.LinkReads, LinkChanges.LinkChanges {}

/** See {@link LinksService}. */
export class Links extends Context.Tag("linkmint/Links")<Links, LinksService>() {}

/** See {@link Links}. */
export const make: Effect.Effect<
  LinksService,
  never,
  KeyBuffer | LinkStore | LocalOwners | RedirectCache | Sharding | Scope.Scope
> = Effect.gen(function* () {
  return { ...(yield* LinkCreates.make), ...(yield* LinkReads.make), ...(yield* LinkChanges.make) }
})

/** See {@link Links}. */
export const layer: Layer.Layer<
  Links,
  never,
  KeyBuffer | LinkStore | LocalOwners | RedirectCache | Sharding
> = Layer.scoped(Links, make)
