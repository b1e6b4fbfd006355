import { Context, Duration, type Effect } from "effect"
import type { NodeReport } from "../../model/NodeReport.ts"
import type { StorageError } from "../StorageError.ts"

/** A node that has not been heard for longer is forgotten. */
export const rememberedFor = Duration.minutes(10)

/** The last that was heard of a node. */
export interface Heard {
  readonly report: NodeReport
  /** How long ago that was, by the store's clock. */
  readonly age_ms: number
}

/**
 * What nodes tell each other of themselves.
 *
 * Laws:
 * 1. `all` gives each node's last report, in the order of their ids.
 * 2. A node is forgotten when it leaves, and when nothing was heard of it for `rememberedFor`; a report makes it known again.
 *
 * There are as many as nodes, and as nodes that died in the last ten minutes.
 */
export class NodeReports extends Context.Tag("linkmint/NodeReports")<
  NodeReports,
  {
    readonly tell: (report: NodeReport) => Effect.Effect<void, StorageError>
    readonly leave: (id: string) => Effect.Effect<void, StorageError>
    readonly all: Effect.Effect<ReadonlyArray<Heard>, StorageError>
  }
>() {}
