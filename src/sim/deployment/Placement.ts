import type { Sharding } from "@effect/cluster"
import type { Layer } from "effect"
import type { ShardOwnershipService } from "../../storage/keys/ShardOwnership.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"

/**
 * Who owns which actors, and how messages get to them: played by an adversary (level `actors`), or by the production stack of
 * `@effect/cluster` on a virtual network and database (level `cluster`).
 */
export interface Placement {
  /** The cluster as the process sees it. Its scope is the process's: closing it is an orderly stop. */
  readonly layer: (process: VirtualProcess) => Layer.Layer<Sharding.Sharding, unknown>
  /** What the store that grants shards says of the process. */
  readonly ownership: (process: VirtualProcess) => ShardOwnershipService
  /** The process is dead: its connections are reset. */
  readonly died: (process: VirtualProcess) => void
  /** The process will be held up for a time. */
  readonly paused: (process: VirtualProcess, for_us: number) => void
  /** Gives some actors to another node for no reason, the former owner going on for `overlap_us`; nothing where that cannot be. */
  readonly move: (overlap_us: number) => void
}
