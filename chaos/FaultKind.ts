// The kinds of faults that real processes can be given.

/**
 * - `kill`: a node is killed with -9, and started again 2 s later.
 * - `pause`: the owner of a pool shard stands still (SIGSTOP) for longer than its locks last.
 * - `term`: a node is stopped in order (SIGTERM), and started again: no request may fail.
 * - `redis-restart`: the plain Redis is killed with -9, and started again with its append-only file.
 * - `redis-empty`: the same without its data.
 * - `failover`: the primary behind the Sentinels is killed with -9, the replica takes its place, and the old one joins as replica.
 * - `postgres-restart`: PostgreSQL is stopped (fast shutdown), and started again.
 * - `postgres-kill`: its postmaster is killed with -9, and it recovers.
 */
export const faultKinds = [
  "kill",
  "pause",
  "term",
  "redis-restart",
  "redis-empty",
  "failover",
  "postgres-restart",
  "postgres-kill"
] as const

/** See {@link faultKinds}. */
export type FaultKind = (typeof faultKinds)[number]
