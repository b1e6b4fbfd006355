/** The run of the benchmark by which a plan reckons: its machine was neither the fastest nor the slowest of three, between which costs differ by four times (BENCHMARKS.md). */
export const costsMeasured = "bench/results/2026-11-25.json"

/**
 * What things cost, by {@link costsMeasured} and with some room: CPU time in microseconds on one core of the machine that is named there, sizes in bytes. A test holds both
 * together. All on PostgreSQL with Redis.
 */
export const costs = {
  /** A redirect of a cached link (`hot`), all told. */
  cached_us: 18,
  /** A redirect of a link that is not cached, with its visit (`cold`): the node's part, and PostgreSQL's of the look-up and of a visit that is the first of its link in that hour. */
  read_us: 75,
  readInDatabase_us: 14,
  newVisitInDatabase_us: 19,
  /** A further visit of the link in that hour, in PostgreSQL (docs/decisions.md). */
  visitInDatabase_us: 41,
  /** A create at 32 connections (`create`): the same two. */
  create_us: 84,
  createInDatabase_us: 22,
  /** A cached link with a target of 100 characters (`memory`). */
  cachedLink_bytes: 983
} as const

/** From docs/operations.md, where it is told how they were measured. */
export const sizes = {
  /** A node that has just started. */
  node_bytes: 205e6,
  /** Links that a node caches at most. */
  cachedLinks: 100_000,
  /** A link with a target of 100 characters in PostgreSQL, with its indexes. */
  link_bytes: 390,
  /** The target's length in the two figures above. */
  target: 100,
  /** The rank of a link that was visited, by which lists have it, with its indexes, after it was written many times. */
  rank_bytes: 1_200,
  /** The row of a link and hour, day or month with a visit, with its indexes. */
  visits_bytes: 360,
  hours_days: 35,
  days_days: 1_100,
  /** A request for a redirect and its answer; a create and its: on the wire, with TCP's and IP's headers. */
  redirect_bytes: 900,
  create_bytes: 2_000,
  /** A pool shard in Redis, full. */
  shard_bytes: 1e6,
  connectionsOfNode: 25,
  /** How often a node writes the visits that it has added up, per second. */
  visitBatches: 2
} as const
