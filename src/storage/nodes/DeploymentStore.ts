import { Context, type Effect } from "effect"
import type { StorageError } from "../StorageError.ts"

/**
 * Facts of the deployment that are decided once and then hold for every node and every start, such as the
 * fingerprint of its key space.
 *
 * Laws:
 * 1. Of all `decide` calls for a name, on any node, one wins; all answer with its value.
 * 2. A decision is durable before `decide` answers.
 */
export class DeploymentStore extends Context.Tag("linkmint/DeploymentStore")<
  DeploymentStore,
  {
    /** Decides `name` as `value` unless it is decided already; gives the decision in force. */
    readonly decide: (name: string, value: string) => Effect.Effect<string, StorageError>
  }
>() {}
