import type { Evidence } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import type { SimOptions } from "../../cli/Options.ts"
import { ms_us, s_us } from "../../world/Time.ts"
import { type Life, lifeLeftBy, type Lives, type Version, versionLeftBy } from "./lives.ts"

/** A change of a link: which version it left, and when that was acknowledged, or might have been. */
interface KnownChange {
  readonly index: number
  readonly answered_us: number
}

/** A writer hears of its change within this time after the commit, unless the answer is late. */
const heardWithin_us = 2 * s_us

/**
 * How long after its commit, in microseconds, a change or a delete that was acknowledged to nobody counts as if it had been: a process alone is told of it by its own write alone, whose
 * answer can be late by as much as `slowCalls` says.
 */
const unacknowledgedFor_us = ({ faults }: SimOptions): number =>
  heardWithin_us + faults.slowCalls.most_ms * ms_us

const acknowledgedChanges = (
  exchanges: ReadonlyArray<Exchange>,
  lives: Lives
): ReadonlyMap<Life, ReadonlyArray<KnownChange>> => {
  const changes = new Map<Life, Array<KnownChange>>()
  for (const exchange of exchanges) {
    const { answered_us, key, kind, status } = exchange
    if (kind !== "change" || status !== 200 || key === undefined || answered_us === undefined) continue
    const life = lifeLeftBy(lives, key, exchange)
    if (life === undefined) continue
    const index = versionLeftBy(life, exchange)
    changes.set(life, [...(changes.get(life) ?? []), { index, answered_us }])
  }
  return changes
}

/** A request and who answered it. */
type Answered = Pick<Exchange, "answered_us" | "answeredBy" | "sent_us">

/** What nodes must know of links by when (C4). */
export interface Known {
  /** Whether a node may not have known at `sent_us` what of a link had been acknowledged at `acknowledged_us`, as it has not reached the link's database since. */
  readonly isExcused: (
    life: Life,
    answered: Pick<Answered, "answeredBy" | "sent_us">,
    acknowledged_us: number
  ) => boolean
  /** Whether a node may still say that the link has ended which had the key before, as it has not reached the database since that was free. */
  readonly mayBeFormer: (life: Life, answered: Answered) => boolean
  /** How long after its commit a change or a delete that nobody was told of counts as acknowledged. */
  readonly unacknowledged_us: number
  /** A change that an answer by a version missed, though it was acknowledged a second before the request, or counted as acknowledged by then. */
  readonly missedBy: (life: Life, index: number, answered: Answered) => KnownChange | undefined
  /** When the change that left a version was acknowledged, if it was. */
  readonly acknowledged_us: (life: Life, index: number) => number | undefined
  /** The versions of a life by which a node may have answered. */
  readonly versionsFor: (life: Life, answered: Answered) => ReadonlyArray<Version>
}

/** See {@link Known}. */
export const knownOf = (evidence: Evidence): Known => {
  const { end_us, exchanges, homes, lives, options, silences } = evidence
  const changes = acknowledgedChanges(exchanges, lives)
  const unacknowledged_us = unacknowledgedFor_us(options)
  const stale_us = options.staleRedirects_s * s_us
  const isExcused: Known["isExcused"] = (life, { answeredBy, sent_us }, acknowledged_us) =>
    silences.some(
      ({ by, database, from_us, until_us }) =>
        by === answeredBy &&
        from_us <= acknowledged_us + s_us &&
        sent_us <= Math.min(until_us, from_us + stale_us) &&
        homes(life.link.key).has(database)
    )
  const missedBy: Known["missedBy"] = (life, index, answered) => {
    const isMissed = ({ answered_us }: KnownChange) =>
      answered.sent_us > answered_us + s_us && !isExcused(life, answered, answered_us)
    const missed = changes.get(life)?.find((change) => change.index > index && isMissed(change))
    const next = life.versions[index + 1]
    if (missed !== undefined || next === undefined) return missed
    const unheard = { index: index + 1, answered_us: next.since_us + unacknowledged_us }
    return isMissed(unheard) ? unheard : undefined
  }
  return {
    isExcused,
    unacknowledged_us,
    mayBeFormer: (life, answered) =>
      isExcused(life, answered, life.bound_us) &&
      (lives.get(life.link.key) ?? []).some(({ freed_us }) => freed_us <= life.bound_us),
    missedBy,
    acknowledged_us: (life, index) =>
      changes.get(life)?.find((change) => change.index === index)?.answered_us,
    versionsFor: (life, answered) =>
      life.versions.filter(
        ({ since_us }, index) =>
          since_us <= (answered.answered_us ?? end_us) && missedBy(life, index, answered) === undefined
      )
  }
}
