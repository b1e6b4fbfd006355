import { Duration } from "effect"
import { lockExpiry } from "../../node/ClusterRunner.ts"
import { ms_us } from "../world/Time.ts"
import type { RunnerDatabase, Session } from "./RunnerDatabase.ts"

/** A row of a result, its columns in their order. */
export type Row = Readonly<Record<string, unknown>>

type Run = (
  database: RunnerDatabase,
  session: Session,
  parameters: ReadonlyArray<unknown>
) => ReadonlyArray<Row>

const expiry_us = Duration.toMillis(lockExpiry) * ms_us
const longAgo = `NOW() - INTERVAL '${Duration.toSeconds(lockExpiry)} seconds'`

const runners = `"cluster_runners"`

const isFresh = (database: RunnerDatabase, heartbeat_us: number) =>
  heartbeat_us > database.world.now_us - expiry_us

/** Statements without a number in them, with white space as one blank. */
const fixed: Readonly<Record<string, Run>> = {
  "SELECT 1": () => [{ "?column?": 1 }],
  "SELECT pg_backend_pid()": (_, { pid }) => [{ pg_backend_pid: pid }],
  "SELECT pg_advisory_unlock_all()": (database, session) => {
    database.unlockAll(session)
    return [{ pg_advisory_unlock_all: "" }]
  },
  [`SELECT runner, healthy FROM ${runners} WHERE last_heartbeat > ${longAgo}`]: (database) =>
    Array.from(database.runners.values())
      .filter(({ heartbeat_us }) => isFresh(database, heartbeat_us))
      .map(({ healthy, runner }) => ({ runner, healthy })),
  [`INSERT INTO ${runners} (address, runner, last_heartbeat, healthy) VALUES ($1, $2, NOW(), $3) ` +
  "ON CONFLICT (address) DO UPDATE SET runner = EXCLUDED.runner, " +
  "last_heartbeat = EXCLUDED.last_heartbeat, healthy = EXCLUDED.healthy RETURNING machine_id"]: (
    database,
    _,
    [address, runner, healthy]
  ) => {
    // The sequence goes on where the row was there, too.
    const next = database.nextMachine()
    const machineId = database.runners.get(String(address))?.machineId ?? next
    const row = { machineId, runner: String(runner), healthy: healthy === true }
    database.runners.set(String(address), { ...row, heartbeat_us: database.world.now_us })
    return [{ machine_id: machineId }]
  },
  [`DELETE FROM ${runners} WHERE address = $1 OR last_heartbeat < ${longAgo}`]: (database, _, [address]) => {
    for (const [key, { heartbeat_us }] of database.runners)
      if (key === address || heartbeat_us < database.world.now_us - expiry_us) database.runners.delete(key)
    return []
  },
  [`UPDATE ${runners} SET healthy = $1 WHERE address = $2`]: (database, _, [healthy, address]) => {
    const row = database.runners.get(String(address))
    if (row !== undefined) database.runners.set(String(address), { ...row, healthy: healthy === true })
    return []
  },
  [`UPDATE ${runners} SET last_heartbeat = NOW() WHERE address = $1`]: (database, _, [address]) => {
    const row = database.runners.get(String(address))
    const heartbeat_us = database.world.now_us
    if (row !== undefined) database.runners.set(String(address), { ...row, heartbeat_us })
    return []
  }
}

const granted = "FROM pg_locks WHERE locktype = 'advisory' AND granted = true AND pid ="

/** Statements with numbers in them. */
const numbered: ReadonlyArray<readonly [RegExp, (match: RegExpMatchArray) => Run]> = [
  [
    /^SELECT pg_try_advisory_lock\(/,
    ({ input }) => {
      const asked = Array.from(input!.matchAll(/pg_try_advisory_lock\((\d+)\) AS "([^"]+)"/g))
      const locks = asked.map(([, lock, name]) => [Number(lock), name] as const)
      return (database, session) => {
        const all = locks.map(([lock]) => lock)
        const taken = new Set(database.tryLocks(session, all))
        return [Object.fromEntries(locks.map(([lock, name]) => [name, taken.has(lock)]))]
      }
    }
  ],
  [
    /^SELECT pg_advisory_unlock\((\d+)\)$/,
    ([, lock]) =>
      (database, session) => [{ pg_advisory_unlock: database.unlock(session, Number(lock)) }]
  ],
  [
    new RegExp(`^SELECT objid ${granted} (\\d+) ORDER BY objid$`),
    ([, pid]) =>
      (database) =>
        database.locksOf(Number(pid)).map((objid) => ({ objid }))
  ],
  [
    new RegExp(`^SELECT 1 ${granted} pg_backend_pid\\(\\) AND objid = (\\d+)$`),
    ([, lock]) =>
      (database, { pid }) =>
        database.locksOf(pid).includes(Number(lock)) ? [{ "?column?": 1 }] : []
  ],
  [/^SELECT pg_cancel_backend\(\d+\)$/, () => () => [{ pg_cancel_backend: true }]],
  [/^CREATE TABLE IF NOT EXISTS "cluster_runners" /, () => () => []],
  [
    /^SELECT shard_id FROM "cluster_shards" LIMIT 1$/,
    () => () => {
      throw new Error('relation "cluster_shards" does not exist')
    }
  ]
]

const understand = (sql: string): Run => {
  const text = sql.replaceAll(/\s+/g, " ").trim()
  const run = fixed[text]
  if (run !== undefined) return run
  for (const [pattern, make] of numbered) {
    const match = text.match(pattern)
    if (match !== null) return make(match)
  }
  throw new Error(`the simulated database does not know this statement: ${text}`)
}

/** What each text means, once a program: it follows from the text alone. */
const understood = new Map<string, Run>()

/** Texts that are remembered at most: they differ by the sets of locks that they ask for. */
const understoodMax = 2_000

/** Carries out a statement of `SqlRunnerStorage` (`@effect/cluster` 0.60); a text is PostgreSQL's error. */
export const answer = (
  database: RunnerDatabase,
  session: Session,
  sql: string,
  parameters: ReadonlyArray<unknown>
): ReadonlyArray<Row> | string => {
  const run = understood.get(sql) ?? understand(sql)
  if (understood.size >= understoodMax) understood.clear()
  understood.set(sql, run)
  try {
    return run(database, session, parameters)
  } catch (cause) {
    return (cause as Error).message
  }
}
