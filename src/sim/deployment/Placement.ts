import type { Sharding } from "@effect/cluster"
import type { Layer } from "effect"
import type { ShardOwnershipService } from "../../storage/keys/ShardOwnership.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"

/**
 * Decides which process owns which actors, and delivers messages to them: an adversary (level `actors`), or the production stack of
 * `@effect/cluster` on a virtual network and database (level `cluster`).
 */
export interface Placement {
  /** The cluster as the process sees it. Its scope is the process's: closing it is a graceful shutdown. */
  readonly layer: (process: VirtualProcess) => Layer.Layer<Sharding.Sharding, unknown>
  /** What the store that grants shards knows about the process. */
  readonly ownership: (process: VirtualProcess) => ShardOwnershipService
  /** The process is dead: its connections are reset. */
  readonly died: (process: VirtualProcess) => void
  /** The process is paused for a time. */
  readonly paused: (process: VirtualProcess, for_us: number) => void
  /** Moves some actors to another node for no reason, while the former owner continues for `overlap_us`. Does nothing where that is impossible. */
  readonly move: (overlap_us: number) => void
}
