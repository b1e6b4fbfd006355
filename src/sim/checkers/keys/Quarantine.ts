import type { Checker, Evidence, Violation } from "../../Evidence.ts"
import { ms_us, s_us } from "../../world/Time.ts"
import { databaseTime } from "../facts/databaseTime.ts"
import { type Life, lifeAt } from "../facts/lives.ts"
import { isTarget } from "../facts/targets.ts"

/** How long after its time a link is a tombstone at the latest, and a tombstone is gone, unless something fails: twice the sweep's pause. */
const sweepMax_us = ({ quarantine_s }: Evidence["options"]) => 0.5 * quarantine_s * s_us

/** From when on nothing keeps the sweep from its turns. */
const swept_us = ({ healed_us, options }: Evidence) => healed_us + 5 * s_us + sweepMax_us(options)

/** How long a step may be under way, at most, that began before its node heard of a jump of the database's clock. */
const known_us = 10 * s_us

/** Jumps that no heartbeat can be taken for. */
const jumpMin_us = 2.5 * s_us

/** Jumps that come within this time are one: a node may have heard of none of them before all had come. */
const heardAfter_us = 1.5 * s_us

/** Jumps that nodes hear of. */
const heardOf = ({ jumps }: Evidence["clock"]) =>
  jumps.filter(({ at_us }) => {
    const near = jumps.filter((other) => Math.abs(other.at_us - at_us) <= heardAfter_us)
    return Math.abs(near.reduce((sum, { by_us }) => sum + by_us, 0)) >= jumpMin_us
  })

/** Steps that cannot be undone, by nodes that must know that the database's clock has jumped. */
const takenInDoubt = ({ clock, journal, silences }: Evidence) => {
  const started_us = new Map<string, number>()
  const all: Array<readonly [at_us: number, key: string, by: string]> = []
  const jumps = heardOf(clock)
  if (jumps.length === 0) return all
  for (const entry of journal) {
    const { at_us, by } = entry
    if (entry.tag === "started") started_us.set(by, at_us)
    if (entry.tag !== "expired" && entry.tag !== "freed") continue
    const knows = jumps.some(
      (jump) =>
        (started_us.get(by) ?? 0) + known_us < jump.at_us &&
        jump.at_us + known_us < at_us &&
        !silences.some((one) => one.by === by && one.from_us < at_us && jump.at_us < one.until_us)
    )
    if (knows) all.push([at_us, entry.key, by])
  }
  return all
}

/** What is wrong about when a link ended, and when its key was free again. */
const faultsOf = (life: Life, evidence: Evidence): ReadonlyArray<readonly [at_us: number, text: string]> => {
  const { beginning_ms, clock, end_us, options } = evidence
  const { ended_us, freed_us } = life
  const { link, since_us } = life.versions.at(-1)!
  const { expiresAt, key } = link
  const quarantine_us = options.quarantine_s * s_us
  const stood_s = ((freed_us - ended_us) / s_us).toFixed(1)
  const isLate = (due_us: number) =>
    clock.jumps.length === 0 && end_us > Math.max(due_us + sweepMax_us(options), swept_us(evidence))
  const drifted_us = Math.abs(options.faults.databaseDrift / 1_000_000) * quarantine_us
  /** A jump that the sweep may not have known of yet. */
  const isUnknown = clock.jumps.some(
    ({ at_us }) => ended_us < at_us && at_us <= freed_us && freed_us < at_us + known_us
  )
  const faults: Array<readonly [number, string]> = []
  if (freed_us < end_us && freed_us < ended_us) faults.push([freed_us, `${key} was freed while it was live`])
  else if (freed_us < end_us && freed_us - ended_us < quarantine_us - ms_us - drifted_us && !isUnknown)
    faults.push([freed_us, `${key} was freed ${stood_s} s after its end`])
  else if (freed_us > end_us && isLate(ended_us + quarantine_us))
    faults.push([end_us, `${key} is still in quarantine`])
  const expired_us =
    expiresAt === null ? Number.POSITIVE_INFINITY : Math.max((expiresAt - beginning_ms) * ms_us, since_us)
  if (ended_us > end_us && isLate(expired_us))
    faults.push([end_us, `${key} has expired, and is no tombstone`])
  return faults
}

/**
 * C1 with recycled keys: a link ends when it has expired by the database's clock and not before, its key is free when the quarantine is over and not before,
 * both within the sweep's time; when that clock has jumped neither is done by a node that knows; and what a key stood for is never served again.
 */
export const Quarantine: Checker = {
  name: "quarantine",
  check: (evidence) => {
    const { exchanges, journal, lives } = evidence
    const time = databaseTime(evidence)
    const violation = (at_us: number, key: string, text: string): Violation => ({
      checker: Quarantine.name,
      at_us,
      text,
      keys: [key]
    })
    const early = journal.flatMap((entry) => {
      if (entry.tag !== "expired") return []
      const life = lifeAt(lives, entry.key, entry.at_us)
      const version = life?.versions.findLast(({ since_us }) => since_us <= entry.at_us)
      return time.at_ms(entry.at_us) < (version?.link.expiresAt ?? Number.POSITIVE_INFINITY)
        ? [violation(entry.at_us, entry.key, `${entry.key} was ended before it had expired`)]
        : []
    })
    const untimely = Array.from(lives.values(), (all) =>
      all.flatMap((life) =>
        faultsOf(life, evidence).map(([at_us, text]) => violation(at_us, life.link.key, text))
      )
    ).flat()
    const revived = exchanges.flatMap(({ answered_us, answeredBy, key, kind, location, sent_us, status }) => {
      if (kind !== "redirect" || status !== 302 || key === undefined) return []
      const isOf = ({ versions }: Life) => versions.some(({ link }) => isTarget(link, location))
      const all = lives.get(key)?.filter(isOf) ?? []
      if (all.length === 0 || all.some(({ freed_us }) => freed_us >= sent_us)) return []
      const text = `${key} led to ${location}, which it stood for before it was freed, by ${answeredBy}`
      return [violation(answered_us!, key, text)]
    })
    const inDoubt = takenInDoubt(evidence).map(([at_us, key, by]) =>
      violation(at_us, key, `${key} was ended or freed by ${by} after the database's clock had jumped`)
    )
    return [...early, ...untimely, ...revived, ...inDoubt]
  }
}
