import type { Checker, Evidence, Violation } from "../Evidence.ts"
import type { JournalEntry } from "../Journal.ts"

/** What became of the keys that are lost, by the last that is known of each. */
export interface Losses {
  /** Minted, and never recorded: the refill was given up. */
  readonly refills: number
  /** In a pool shard that lost them. */
  readonly pools: number
  /** Leased by a node that was killed since. */
  readonly kills: number
  /** Leased by a node that lives: taken for a create whose outcome is unknown, or the lease's answer was lost. */
  readonly inFlight: number
}

const keysOf = (entry: JournalEntry): ReadonlyArray<string> =>
  "keys" in entry ? entry.keys : entry.tag === "forgot" ? entry.gone : []

/** Where each key that is not accounted for was last seen. */
export const lossesOf = ({ buffered, journal, pooled, recorded, row, stocked }: Evidence): Losses => {
  const last = new Map<string, JournalEntry>()
  const killed = new Set<string>()
  for (const entry of journal) {
    if (entry.tag === "killed") killed.add(entry.by)
    for (const key of keysOf(entry)) last.set(key, entry)
  }
  const losses = { refills: 0, pools: 0, kills: 0, inFlight: -buffered }
  for (const [key, { by, tag }] of last) {
    if (pooled.has(key) || recorded.has(key) || stocked.has(key) || row(key) !== null) continue
    if (tag === "minted") losses.refills++
    else if (tag !== "leased") losses.pools++
    else if (killed.has(by)) losses.kills++
    else losses.inFlight++
  }
  return losses
}

/** How many times each thing happened that may lose keys. */
const chances = ({ faults, journal, options }: Evidence) => {
  const count = (...names: ReadonlyArray<string>) =>
    names.reduce((sum, name) => sum + (faults.get(name) ?? 0), 0)
  const kills = journal.filter(({ tag }) => tag === "killed").length
  const { databaseCalls, messages, redisCalls } = options.faults
  const callsFail = [databaseCalls, redisCalls].some(
    ({ ignored, lost, refused }) => ignored + lost + refused > 0
  )
  const messagesFail = messages.dropped + messages.repeated + messages.delayed > 0
  const troubles =
    kills +
    count("stop", "pause", "cutNodes", "cutDatabase", "cutRedis", "databaseRestart", "redisRestart", "move") +
    count("redisFailover", "redisLoss")
  return {
    kills,
    redis: count("redisFailover", "redisLoss"),
    anything: troubles > 0 || callsFail || messagesFail
  }
}

/**
 * C6: every key that was minted is bound, pooled, recorded, stocked, leased or lost, and of those that are lost there are no more than what
 * happened allows: a buffer a kill and what was under way then, a pool shard's keys each time that it lost data, and a refill or a create under way for
 * each time that something failed.
 */
export const Ledger: Checker = {
  name: "ledger",
  check: (evidence) => {
    const { end_us, exchanges, options } = evidence
    const losses = lossesOf(evidence)
    const { anything, kills, redis } = chances(evidence)
    const violations: Array<Violation> = []
    const atMost = (lost: number, bound: number, what: string) => {
      if (lost <= bound) return
      const text = `${lost} keys were lost ${what}, and ${bound} may be`
      violations.push({ checker: Ledger.name, at_us: end_us, text, keys: [] })
    }
    const uncertain = exchanges.filter(
      ({ kind, status }) => kind === "create" && status !== 201 && status !== 409
    ).length
    atMost(
      losses.kills,
      kills * options.bufferCapacity + (kills > 0 ? uncertain : 0),
      "with nodes that were killed"
    )
    atMost(losses.pools, redis * 2 * options.poolHigh, "by pool shards")
    if (!anything) atMost(losses.refills + losses.inFlight, 0, "though nothing failed")
    return violations
  }
}
