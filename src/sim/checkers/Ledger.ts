import type { Checker, Evidence, Violation } from "../Evidence.ts"
import type { Exchange } from "../History.ts"
import type { JournalEntry } from "../Journal.ts"
import { ms_us } from "../world/Time.ts"

/** What became of the keys that are lost, by the last that is known of each. */
export interface Losses {
  /** Minted, and never recorded: the refill was given up. */
  readonly refills: number
  /** Read ahead from the file of a node that died. */
  readonly preloaded: number
  /** In a pool shard that lost them. */
  readonly pools: number
  /** Leased all together, and not one of them was seen again: the lease's answer was lost, or came to nobody. */
  readonly leases: number
  /** Leased, and held by a node that was killed, or taken for a create whose outcome is unknown. */
  readonly held: number
}

/** Where each key that is not accounted for was last seen. */
export const lossesOf = ({ buffered, journal, pooled, recorded, row, stocked }: Evidence): Losses => {
  const isThere = (key: string) =>
    pooled.has(key) || recorded.has(key) || stocked.has(key) || row(key) !== null
  const last = new Map<string, JournalEntry>()
  for (const entry of journal) {
    if ("keys" in entry) for (const key of entry.keys) last.set(key, entry)
    if (entry.tag === "forgot") for (const key of entry.gone) last.set(key, entry)
  }
  const lost = new Map<JournalEntry, number>()
  for (const [key, entry] of last) if (!isThere(key)) lost.set(entry, (lost.get(entry) ?? 0) + 1)
  const dead = new Set(journal.filter(({ tag }) => tag === "killed" || tag === "ended").map(({ by }) => by))
  const losses = { refills: 0, preloaded: 0, pools: 0, leases: 0, held: 0 }
  for (const [entry, count] of lost) {
    if (entry.tag === "minted") losses.refills += count
    else if (entry.tag === "preloaded") losses.preloaded += dead.has(entry.by) ? count : 0
    else if (entry.tag !== "leased") losses.pools += count
    else if (count === entry.keys.length) losses.leases += count
    else losses.held += count
  }
  // What stands in the buffers of nodes that live is not lost.
  const fromLeases = Math.min(buffered, losses.leases)
  return {
    ...losses,
    leases: losses.leases - fromLeases,
    held: losses.held - Math.min(losses.held, buffered - fromLeases)
  }
}

/** How many times each thing happened that may lose keys. */
const chances = ({ faults, journal, options }: Evidence) => {
  const count = (...names: ReadonlyArray<string>) =>
    names.reduce((sum, name) => sum + (faults.get(name) ?? 0), 0)
  const kills = journal.filter(({ tag }) => tag === "killed").length
  const { databaseCalls, messages, redisCalls } = options.faults
  const fails = ({ ignored, lost, refused }: typeof redisCalls) => ignored + lost + refused > 0
  const callsFail = fails(databaseCalls) || fails(redisCalls)
  const messagesFail = messages.dropped + messages.repeated + messages.delayed > 0
  const others =
    kills +
    count("pause", "cutNodes", "cutDatabase", "cutRedis", "databaseRestart", "redisRestart", "move") +
    count("redisFailover", "redisLoss")
  const anything = others > 0 || callsFail || messagesFail
  // Which calls of a pool fail is not told of, and each may lose the keys that it carried: four times as many as are to be expected, and two.
  const { ignored, lost, refused } = redisCalls
  const failing = ignored + lost + refused
  const leases = journal.filter(({ tag }) => tag === "leased").length
  const lostCalls = failing === 0 ? 0 : 2 + Math.ceil(4 * failing * leases)
  return {
    // A node that stops in order returns all its keys, if only something else does not keep it from that.
    troubles: anything ? others + lostCalls + count("stop") : 0,
    redis: count("redisFailover", "redisLoss"),
    anything,
    databaseCallsFail: fails(databaseCalls)
  }
}

/** How long a create takes at least that had to go on with another key because an owner was silent. */
const silent_us = 500 * ms_us

/** Whether a create may have taken a key whose fate it never learned: it failed, an owner was silent, or a node was killed meanwhile. */
const isUncertain = ({ end_us, journal }: Evidence) => {
  const kills_us = journal.filter(({ tag }) => tag === "killed").map(({ at_us }) => at_us)
  return ({ answered_us = end_us, kind, sent_us, status }: Exchange) =>
    kind === "create" &&
    (![200, 201, 409, 422].includes(status) ||
      answered_us - sent_us > silent_us ||
      kills_us.some((kill_us) => sent_us <= kill_us && kill_us <= answered_us))
}

/** Keys that one create may have taken when its outcome is unknown: one for each of its tries. */
const keysOfCreateMax = 8

/**
 * C6: every key that was minted is bound, pooled, recorded, stocked, held or lost, and of those that are lost there are no more than what
 * happened allows: a buffer for each kill (and for each other fault, since keys that cannot be returned to their pool are lost as well) and the keys of
 * creates that were under way, a pool shard's keys for each time that it lost data, and a refill or a lease each time that something failed.
 */
export const Ledger: Checker = {
  name: "ledger",
  check: (evidence) => {
    const { end_us, exchanges, options } = evidence
    const losses = lossesOf(evidence)
    const { anything, databaseCallsFail, redis, troubles } = chances(evidence)
    const violations: Array<Violation> = []
    const atMost = (lost: number, bound: number, what: string) => {
      if (lost <= bound) return
      const text = `${lost} keys were lost ${what}, and ${bound} may be`
      violations.push({ checker: Ledger.name, at_us: end_us, text, keys: [] })
    }
    const uncertain = exchanges.filter(isUncertain(evidence)).length
    atMost(
      losses.held,
      troubles * options.bufferCapacity + (anything ? uncertain * keysOfCreateMax : 0),
      "by nodes"
    )
    // A record that may have been written, or not, gives its keys up as well.
    if (!databaseCallsFail)
      atMost(losses.preloaded, troubles * 2 * options.poolHigh, "that were read ahead from a file")
    atMost(losses.pools, redis * 2 * options.poolHigh, "by pool shards")
    if (!anything) atMost(losses.refills + losses.preloaded + losses.leases, 0, "though nothing failed")
    return violations
  }
}
