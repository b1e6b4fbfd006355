// The kinds of faults that real processes can be given.

/** Statements at which a node is frozen, by the fault's name: the server has carried one out, and the node has not had the answer. */
export const frozenAt = {
  "freeze-epoch": /SELECT epoch FROM pool_shards/,
  "freeze-batch": /INSERT INTO pool_batches/,
  "freeze-watermark": /UPDATE key_ranges/,
  "freeze-link": /INSERT INTO links /,
  "freeze-guard": /INSERT INTO create_guards/,
  "freeze-settle": /UPDATE create_guards/,
  "freeze-change": /UPDATE links SET/,
  "freeze-writer": /INSERT INTO visit_writers/,
  "freeze-visits": /INSERT INTO visit_periods/
} as const

/** See {@link frozenAt}. */
export type FreezeKind = keyof typeof frozenAt

/** Names of {@link frozenAt}. */
export const freezeKinds = Object.keys(frozenAt) as ReadonlyArray<FreezeKind>

/**
 * On any cluster:
 *
 * - `kill`: a node is killed with -9, and started again 2 s later.
 * - `pause`: the owner of a pool shard stands still (SIGSTOP) for longer than its locks last.
 * - `term`: a node is stopped in order (SIGTERM), and started again: no request may fail.
 * - `redis-restart`: the plain Redis is killed with -9, and started again with its append-only file.
 * - `redis-empty`: the same without its data.
 * - `failover`: the primary behind the Sentinels is killed with -9, the replica takes its place, and the old one joins as replica.
 * - `freeze-…`: a node stands still at the moment at which PostgreSQL has carried out a statement of its, mostly inside a transaction ({@link frozenAt}).
 * - `cut`: nothing passes between a node and PostgreSQL, and neither side hears that the other one hangs up. `cut-requests`: what the node sends does not
 *   arrive; `cut-answers`: what the server sends does not.
 * - `clock`: a node runs with a clock that is 45 s ahead, or behind.
 */
const anywhere = [
  "kill",
  "pause",
  "term",
  "redis-restart",
  "redis-empty",
  "failover",
  ...freezeKinds,
  "cut",
  "cut-requests",
  "cut-answers",
  "clock"
] as const

/**
 * Where PostgreSQL is one server:
 *
 * - `postgres-restart`: it is stopped (fast shutdown), and started again.
 * - `postgres-kill`: its postmaster is killed with -9, and it recovers.
 */
const withOneServer = ["postgres-restart", "postgres-kill"] as const

/**
 * Where PostgreSQL has a standby under Patroni:
 *
 * - `primary-kill`: the primary's postmaster is killed with -9, and Patroni promotes the standby.
 * - `primary-lost`: its Patroni is killed with it, as when the machine is gone: the standby waits for the lease in etcd to end.
 * - `switchover`: they change their parts, as planned.
 * - `two-primaries`: the primary's machine stands still until the standby was promoted; then PostgreSQL goes on, and its Patroni 5 s later.
 * - `async-loss`: commits do not wait for the standby, which is cut off while links are acknowledged; then the primary is killed and the standby promoted.
 *   Those links may be lost, and their keys may never be given to others.
 * - `disk-full`: the primary's disk has no room left.
 */
const withStandby = [
  "primary-kill",
  "primary-lost",
  "switchover",
  "two-primaries",
  "async-loss",
  "disk-full"
] as const

/** All of them. */
export const faultKinds = [...anywhere, ...withOneServer, ...withStandby]

/** See {@link faultKinds}. */
export type FaultKind = (typeof faultKinds)[number]

/** Those that a cluster can be given. */
export const kindsFor = (hasStandby: boolean): ReadonlyArray<FaultKind> => [
  ...anywhere,
  ...(hasStandby ? withStandby : withOneServer)
]
