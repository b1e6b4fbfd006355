import type { Evidence } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { s_us } from "../../world/Time.ts"
import { type Life, lifeLeftBy, type Lives, type Version, versionLeftBy } from "./lives.ts"

/** A change of a link: which version it left, and when that was acknowledged, or might have been. */
interface KnownChange {
  readonly index: number
  readonly answered_us: number
}

/** Operations that change links, or end them. */
const isWrite = /^(?:LinkStore\.(?:updateMany|deleteMany)|LinkLifetime\.|LinkRemovals\.)/

/** Within what time after the commit nodes hear of a change, and a process alone over SQLite when it has the answer. */
const heardWithin_us = s_us

/**
 * From when on, in microseconds since the world's beginning, what was committed at a time and acknowledged to nobody counts as if it had been. A process alone over SQLite is told of it by the answer to its own
 * write alone, which can be late.
 */
const countsFromOf = ({ journal, options }: Evidence): ((committed_us: number) => number) => {
  const late =
    options.alone === "sqlite"
      ? journal.flatMap((one) => (one.tag === "held up" && isWrite.test(one.operation) ? [one] : []))
      : []
  return (committed_us) =>
    heardWithin_us +
    late.reduce(
      (latest_us, { at_us, for_us }) =>
        at_us - for_us <= committed_us ? Math.max(latest_us, at_us) : latest_us,
      committed_us
    )
}

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
  /** From when on a change or a delete that was committed at a time counts as acknowledged, where nobody was told of it. */
  readonly countsFrom_us: (committed_us: number) => number
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
  const countsFrom_us = countsFromOf(evidence)
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
    const unheard = { index: index + 1, answered_us: countsFrom_us(next.since_us) }
    return isMissed(unheard) ? unheard : undefined
  }
  return {
    isExcused,
    countsFrom_us,
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
