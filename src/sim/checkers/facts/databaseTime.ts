import type { Link } from "../../../model/Link.ts"
import type { Evidence } from "../../Evidence.ts"
import type { Moments } from "./conditions.ts"
import { ms_us, s_us } from "../../world/Time.ts"

/** How long a node goes by what the database's clock showed before a jump, at most, while it hears of it: until its next heartbeat, which takes a second. */
const follows_us = 3 * s_us

/** From when on a node may go by what it knows at a time: from its last heartbeat, which may be some time ago. */
const knownSince = ({ silences }: Pick<Evidence, "silences">, by: string | undefined, at_us: number) =>
  silences.reduce(
    (since_us, silence) =>
      (by === undefined || silence.by === by) &&
      silence.from_us <= at_us &&
      silence.until_us + follows_us >= at_us
        ? Math.min(since_us, silence.from_us - follows_us)
        : since_us,
    at_us - follows_us
  )

/**
 * What the database's clock may have shown to a node, by which it judges what is valid and what has expired: milliseconds since the Unix epoch. Times are microseconds
 * since the world's beginning.
 */
export const databaseTime = (evidence: Evidence) => {
  const { beginning_ms, clock, journal } = evidence
  const isRight = clock.jumps.length === 0 && clock.ahead_us(s_us) === 0
  const started_us = new Map<string, number>()
  if (!isRight) for (const { at_us, by, tag } of journal) if (tag === "started") started_us.set(by, at_us)
  /** How far the clock was ahead, each time that it may matter. */
  const ahead_us = (by: string | undefined, from_us: number, to_us: number): ReadonlyArray<number> => {
    if (isRight) return [0]
    const since_us = Math.max(0, knownSince(evidence, by, from_us))
    const moments_us = clock.jumps.flatMap(({ at_us }) =>
      since_us <= at_us && at_us <= to_us ? [at_us] : []
    )
    // Before it has heard of the database's clock it goes by its machine's.
    const isNew = by === undefined || (started_us.get(by) ?? 0) > since_us
    return [...[since_us, ...moments_us, to_us].map(clock.ahead_us), ...(isNew ? [0] : [])]
  }
  // A node that is told the time takes it for that of the middle of its question's round trip, of which the way back may be slow.
  const behind_ms = evidence.options.faults.slowNews.most_ms / 2
  const least_ms = (by: string | undefined, from_us: number, to_us: number): number =>
    beginning_ms + (from_us + Math.min(...ahead_us(by, from_us, to_us))) / ms_us - behind_ms
  /** What a node which answered in this time may have gone by, from its beginning to its end. */
  const moments = (by: string | undefined, from_us: number, to_us: number): Moments => {
    const most_ms = beginning_ms + (to_us + Math.max(...ahead_us(by, from_us, to_us))) / ms_us
    // It counts whole milliseconds, and knows the clock within a round trip, of which one that jumps or drifts may change the most.
    const within_ms = isRight ? 10 : 1_000
    return { least_ms: least_ms(by, from_us, to_us) - within_ms, most_ms: most_ms + within_ms }
  }
  return {
    /** The least that a node which answered in this time may have gone by, at its beginning. */
    least_ms,
    moments,
    /** Whether a link may have expired to a node which answered in this time, by its end; to some node where `by` is not known. */
    mayHaveExpired: (
      { expiresAt }: Pick<Link, "expiresAt">,
      by: string | undefined,
      from_us: number,
      to_us: number
    ): boolean =>
      expiresAt !== null &&
      expiresAt <= beginning_ms + (to_us + Math.max(...ahead_us(by, from_us, to_us))) / ms_us,
    /** Whether a link may not be valid yet to a node which answered in this time. */
    mayBePending: (
      { validSince }: Pick<Link, "validSince">,
      by: string | undefined,
      from_us: number,
      to_us: number
    ): boolean => validSince !== null && validSince > moments(by, from_us, to_us).least_ms,
    /** What the clock itself showed. */
    at_ms: (at_us: number): number => beginning_ms + (at_us + clock.ahead_us(at_us)) / ms_us
  }
}
