import { FileSystem } from "@effect/platform"
import { Context, Effect, Layer, Option } from "effect"
import * as Blocklist from "./Blocklist.ts"
import { isPrivate } from "../../model/PrivateTarget.ts"
import type { Message } from "../../model/Messages.ts"

/** What the operator forbids links to lead to. */
export interface TargetPolicyOptions {
  /** A file of domains, one a line. */
  readonly blocklistFile: Option.Option<string>
  readonly blockPrivate: boolean
}

/**
 * Where links may lead. It is asked when a link is made or changed, and again by every redirect, since a domain can be blocked when there are
 * links to it already.
 *
 * By default links may lead anywhere.
 */
export class TargetPolicy extends Context.Reference<TargetPolicy>()("linkmint/TargetPolicy", {
  defaultValue: (): TargetPolicyService => ({ faultOf: () => undefined })
}) {}

/** See {@link TargetPolicy}. */
export interface TargetPolicyService {
  /** Why no link may lead to a target, a URL as it is stored; `undefined` where one may. */
  readonly faultOf: (url: string) => Message | undefined
}

const host = /^https?:\/\/(\[[^\]]*\]|[^/:?#]*)/

/** The host of a URL as the WHATWG URL Standard writes it. By a pattern, since every redirect pays for it. */
const hostOf = (url: string): string => host.exec(url)?.[1] ?? ""

const make = Effect.fnUntraced(function* ({ blockPrivate, blocklistFile }: TargetPolicyOptions) {
  const blocklist = Option.isSome(blocklistFile) ? yield* Blocklist.watch(blocklistFile.value) : undefined
  return {
    faultOf: (url: string): Message | undefined => {
      const name = hostOf(url)
      if (blocklist?.has(name) === true) return `leads to a host that is blocked here (${name})`
      return blockPrivate && isPrivate(name) ? `leads to a private network (${name})` : undefined
    }
  }
})

/** See {@link TargetPolicy}. Without any rule there is nothing to ask. */
export const layer = (
  options: TargetPolicyOptions
): Layer.Layer<never, Blocklist.BlocklistUnusable, FileSystem.FileSystem> =>
  Option.isNone(options.blocklistFile) && !options.blockPrivate
    ? Layer.empty
    : Layer.scoped(TargetPolicy, make(options))
