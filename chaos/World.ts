// What a run works with, and what it did so far.

import { Effect } from "effect"
import type { FaultKind, FreezeKind } from "./FaultKind.ts"
import type { Acknowledged } from "./Acknowledged.ts"
import type { Observed, Tally } from "./Observed.ts"
import type { Outage, Outages } from "./Probes.ts"
import type { Topology } from "./Topology.ts"

/** What happened that may lose keys. */
export interface Harm {
  nodeKills: number
  pauses: number
  /** The plain Redis came back empty. */
  redisLosses: number
  /** The replica took the primary's place, without its last pushes perhaps. */
  failovers: number
  /** A Redis was killed while nodes may have waited for leased keys. */
  redisKills: number
  /** PostgreSQL was stopped or killed. */
  databaseStops: number
  /** A standby that lacked commits took the primary's place. */
  databaseLosses: number
}

/** How long the cluster took after one fault, in milliseconds. */
export interface Recovery {
  readonly kind: FaultKind
  /** From the moment from which it could work again until it did; null: not within the bound. */
  readonly recover_ms: number | null
  /** The same from the moment that what was taken from it was back. */
  readonly settle_ms: number | null
  /** From the fault until another server was the primary; null: none had to be. */
  readonly promoted_ms: number | null
  /** For how long each class of request failed at a node without a break: at one that was not at fault, where one node alone was. */
  readonly outages: ReadonlyArray<Outage>
  readonly target: string
}

/** What was seen while a node stood still at a statement. Times are milliseconds. */
export interface Froze {
  readonly kind: FreezeKind
  readonly target: string
  /** Connections of nodes at PostgreSQL, at most. */
  readonly backends: number
  /** For how long PostgreSQL kept the transaction open in which the node stood still; 0 where it was in none. */
  readonly held_ms: number
  /** Visits that the other nodes had meanwhile. */
  readonly visits: number
  /** The longest time that one of them was not counted; null: some were not before the bound was over. */
  readonly counted_ms: number | null
  /** From the moment when it went on until it said that it is ready; null: not within a minute. */
  readonly back_ms: number | null
}

/** What became of redirects over all faults of a kind. */
export interface Redirects {
  readonly kind: FaultKind
  readonly hot: Tally
  readonly cold: Tally
}

/** What a paused owner of a pool shard met when it went on. */
export interface Takeover {
  readonly poolShard: number
  /** From the pause to the other node's claim, in milliseconds; null: none claimed. */
  readonly takeover_ms: number | null
  /** Refills of the former owner that were refused, as its log has them. */
  readonly refused: number
}

/** What is asked of the cluster's speed: times depend on the machine, promises about keys and links do not. */
export interface Limits {
  /** After a fault ends, creates and redirects work again within this (C8), in milliseconds. */
  readonly recover_ms: number
  /** While one node alone is at fault, requests of no class fail at another one for longer than this without a break. */
  readonly others_ms: number
  /** Another node has claimed what a paused one owned within this, in milliseconds. */
  readonly takeover_ms: number
  /** No request fails over a graceful shutdown, unless a timer of the run itself came later than this meanwhile, in milliseconds: then the machine stood still. */
  readonly late_ms: number
  /** Visits at nodes that are not at fault are counted within this, in milliseconds (C11). */
  readonly visits_ms: number
  /** Connections that a node may have at PostgreSQL, as `docs/operations.md` states it. */
  readonly backendsPerNode: number
  /** The parts of redirects that are answered right over the failover to a standby that has every commit. */
  readonly failover: { readonly hot: number; readonly cold: number }
  /** The part of redirects that are answered right while nodes die, one after the other. */
  readonly availability: number
  /** How many die meanwhile. */
  readonly kills: number
}

/** See the parts. */
export interface World {
  readonly topology: Topology
  readonly observed: Observed
  readonly acknowledged: Acknowledged
  readonly outages: Outages
  /** How late a timer of the run itself came since a moment of `performance.now()`, at most, in milliseconds. */
  readonly lateSince: (moment: number) => number
  /** A link that nobody asks for but those who look whether its visits are counted. */
  readonly visitedKey: string
  /** How long a node stands still that is frozen at a statement, in seconds. */
  readonly freeze_s: number
  readonly harm: Harm
  readonly recoveries: Array<Recovery>
  readonly takeovers: Array<Takeover>
  readonly freezes: Array<Froze>
  readonly limits: Limits
  readonly notify: (line: string) => Effect.Effect<void>
}

/** No harm done yet. */
export const noHarm = (): Harm => ({
  nodeKills: 0,
  pauses: 0,
  redisLosses: 0,
  failovers: 0,
  redisKills: 0,
  databaseStops: 0,
  databaseLosses: 0
})
