import { Schema } from "effect"
import { lossesOf } from "../checkers/keys/Ledger.ts"
import { ReadYourWrites } from "../checkers/redirects/ReadYourWrites.ts"
import type { Evidence } from "../Evidence.ts"
import type { Exchange } from "../History.ts"
import { run } from "../Run.ts"
import { s_us } from "../world/Time.ts"
import { type Contestant, optionsOf } from "./Contestants.ts"
import { measuringWaits } from "./KeyWaits.ts"

/** What came of a contestant's runs, added up. */
export const Figures = Schema.mutable(
  Schema.Struct({
    seeds: Schema.Number,
    creates: Schema.Number,
    crashes: Schema.Number,
    /** Keys that left a pool once more though they had neither been returned nor freed. */
    issuedTwice: Schema.Number,
    /** Keys that two creates were given as theirs. */
    boundTwice: Schema.Number,
    keysLost: Schema.Number,
    /** Creates that were answered 201, and whose link is not there at the end. */
    createsLost: Schema.Number,
    /** Redirects of a link, after its 201, that found nothing. */
    unknownLinks: Schema.Number,
    /** How long nodes had creates waiting for a key: seconds, of all nodes together. */
    withoutKeys_s: Schema.Number,
    /** What stocks and pools take at the end, and keys that came so far. */
    stored_B: Schema.Number,
    minted: Schema.Number,
    statements: Schema.Number,
    messages: Schema.Number,
    redisCommands: Schema.Number,
    /** Seeds in which a promise was broken, and how often each checker found something. */
    brokenSeeds: Schema.Number,
    violations: Schema.mutable(Schema.Record({ key: Schema.String, value: Schema.Number }))
  })
)
/** See {@link Figures}. */
export type Figures = typeof Figures.Type

/** Before any run. */
export const none = (): Figures => ({
  seeds: 0,
  creates: 0,
  crashes: 0,
  issuedTwice: 0,
  boundTwice: 0,
  keysLost: 0,
  createsLost: 0,
  unknownLinks: 0,
  withoutKeys_s: 0,
  stored_B: 0,
  minted: 0,
  statements: 0,
  messages: 0,
  redisCommands: 0,
  brokenSeeds: 0,
  violations: {}
})

/** Adds a run's figures to others. */
export const add = (sum: Figures, { violations, ...figures }: Figures) => {
  const numbers = sum as unknown as Record<string, number>
  for (const [name, value] of Object.entries(figures)) numbers[name]! += value
  for (const [name, count] of Object.entries(violations))
    sum.violations[name] = (sum.violations[name] ?? 0) + count
}

/**
 * Bytes that a key takes, with its indexes: measured on PostgreSQL 15 with 200,000 keys of seven characters, on Redis 7 with 10,000, and counted for a file.
 */
const bytes = { table: 59, status: 97, "two-table": 59, file: 7, list: 9.1, set: 59.7 }

/** Statements of each operation that has more than one, as the SQL stores send them, `BEGIN` and `COMMIT` among them. */
const statementsOf: Readonly<Record<string, number>> = {
  "KeyStock.take": 5,
  "KeyStock.record": 4,
  "KeyStock.close": 4,
  "KeyStock.size": 2
}

/** Operations that supply keys, and that bind them. Statements of everything else are the same in all designs. */
const isOfKeys = (operation: string) =>
  /^(KeyStock|KeyRangeStore)\./.test(operation) ||
  ["LinkStore.insertMany", "LinkStore.takenAmong", "GuardedCreates.bindMany"].includes(operation)

/** How often a key left a pool that was out already. */
export const issuedTwice = ({ journal }: Evidence): number => {
  const out = new Set<string>()
  let twice = 0
  for (const entry of journal) {
    if (entry.tag === "leased") {
      for (const key of entry.keys) {
        if (out.has(key)) twice++
        out.add(key)
      }
    } else if (entry.tag === "returned") entry.keys.forEach((key) => out.delete(key))
    else if (entry.tag === "freed") out.delete(entry.key)
  }
  return twice
}

/** How many keys were given to two creates as theirs, before they were freed. */
export const boundTwice = ({ exchanges, journal }: Evidence): number => {
  const freed_us = new Map<string, number>()
  for (const entry of journal) if (entry.tag === "freed") freed_us.set(entry.key, entry.at_us)
  const urls = new Map<string, Set<string>>()
  for (const { alias, answered_us, key, kind, status, url } of exchanges) {
    const isNew = kind === "create" && status === 201 && alias === undefined && key !== undefined
    if (!isNew || answered_us! >= (freed_us.get(key) ?? Number.POSITIVE_INFINITY)) continue
    urls.set(key, (urls.get(key) ?? new Set()).add(url!))
  }
  return Array.from(urls.values()).filter(({ size }) => size > 1).length
}

/** Whether a create's link is not there at the end, though nobody ended it for so long that its key was freed. */
export const isLost =
  ({ lives, row }: Evidence) =>
  ({ key, url }: Exchange): boolean => {
    const stored = row(key!)?.url
    const life = lives.get(key!)?.findLast(({ versions }) => versions.some(({ link }) => link.url === url))
    if (life === undefined) return stored !== url
    return life.freed_us === Number.POSITIVE_INFINITY && stored !== life.versions.at(-1)!.link.url
  }

const storedBy = ({ options, pooled, storedKeys }: Evidence): number =>
  storedKeys.table * bytes.table +
  storedKeys.status * bytes.status +
  storedKeys["two-table"] * bytes["two-table"] +
  storedKeys.file * bytes.file +
  pooled.size * bytes[options.keyPool]

const total = (calls: ReadonlyMap<string, number>, of: (operation: string) => number) =>
  Array.from(calls).reduce((sum, [operation, count]) => sum + count * of(operation), 0)

/** Runs a contestant through one seed. */
export const figuresOf = (contestant: Contestant, seed: number): Figures => {
  const waits = measuringWaits(contestant.make())
  const { evidence, violations } = run(seed, optionsOf(contestant), {
    keepTrace: false,
    mutation: waits.mutation
  })
  const { calls, exchanges, journal } = evidence
  const found: Record<string, number> = {}
  for (const { checker } of violations) found[checker] = (found[checker] ?? 0) + 1
  const created = exchanges.filter(({ kind, status }) => kind === "create" && status === 201)
  return {
    seeds: 1,
    creates: created.length,
    crashes: journal.filter(({ tag }) => tag === "killed").length,
    issuedTwice: issuedTwice(evidence),
    boundTwice: boundTwice(evidence),
    keysLost: Object.values(lossesOf(evidence)).reduce((sum, count) => sum + count, 0),
    createsLost: created.filter(isLost(evidence)).length,
    unknownLinks: ReadYourWrites.check(evidence).length,
    withoutKeys_s: waits.waited_us() / s_us,
    stored_B: storedBy(evidence),
    minted: journal.reduce((sum, entry) => sum + (entry.tag === "minted" ? entry.keys.length : 0), 0),
    statements: total(calls, (operation) => (isOfKeys(operation) ? (statementsOf[operation] ?? 1) : 0)),
    messages: total(calls, (operation) => (operation.startsWith("send ") ? 1 : 0)),
    redisCommands: total(calls, (operation) => (operation.startsWith("KeyPool.") ? 1 : 0)),
    brokenSeeds: violations.length > 0 ? 1 : 0,
    violations: found
  }
}
