import type { Evidence } from "../../Evidence.ts"
import { ms_us, s_us } from "../../world/Time.ts"
import type { Life } from "./lives.ts"
import { hasForgotten } from "./remembered.ts"
import { subjectOfLink } from "../../../model/Visit.ts"
import type { LinkRank, RankOrder } from "../../../storage/links/LinkStore.ts"

/** Which rank a link may have had at some time. */
interface Bounds {
  readonly least: number
  readonly most: number
}

const rankIn = (orderBy: RankOrder, { lastVisit, visits }: LinkRank) =>
  orderBy === "visits-desc" ? visits : lastVisit

/** Within what time a link is ranked, after all faults: some turns of the upkeep of visits. */
const rankedWithin_us = 12 * s_us

const hour_us = 3_600 * s_us

/** Links whose visits the store had taken before the run's first hour ended, and that have no rank in the end. Of runs that forget, or in which the time is in doubt, nothing is said. */
export const unranked = ({
  beginning_ms,
  clock,
  end_us,
  healed_us,
  journal,
  lives,
  options
}: Evidence): ReadonlyArray<Life> => {
  const isInDoubt = clock.jumps.length > 0 || options.faults.databaseDrift !== 0
  const settle_s = options.visitsSettle_s
  if (settle_s === null || isInDoubt || hasForgotten(journal)) return []
  const hourEnds_us = hour_us - ((beginning_ms * ms_us) % hour_us)
  if (Math.max(hourEnds_us + settle_s * s_us, healed_us) + rankedWithin_us > end_us) return []
  const counted = new Set<string>()
  const ranked = new Set<string>()
  for (const entry of journal) {
    if (entry.tag === "counted" && entry.at_us < hourEnds_us)
      for (const [key] of entry.visits) counted.add(key)
    if (entry.tag === "ranked") for (const { key } of entry.ranks) ranked.add(key)
  }
  return Array.from(counted).flatMap((key) => {
    const [life, ...others] = lives.get(key) ?? []
    return life === undefined || others.length > 0 || life.ended_us < end_us || ranked.has(key) ? [] : [life]
  })
}

/** The ranks that links were given: none falls, and links have 0 before. One that has the same key and was made at the same moment as a former one is another link. */
export const ranksOf = ({ journal, lives }: Pick<Evidence, "journal" | "lives">) => {
  const given = new Map<string, Array<LinkRank & { readonly at_us: number }>>()
  for (const entry of journal) {
    if (entry.tag !== "ranked") continue
    for (const rank of entry.ranks) {
      const subject = subjectOfLink(rank)
      const known = given.get(subject) ?? []
      known.push({ ...rank, at_us: entry.at_us })
      given.set(subject, known)
    }
  }
  /** The bounds for a link, by its key and when it was created, at any time from one moment to another. */
  return (
    link: Pick<LinkRank, "createdAt" | "key">,
    orderBy: RankOrder,
    from_us: number,
    to_us: number
  ): Bounds => {
    const all = given.get(subjectOfLink(link)) ?? []
    const may = (lives.get(link.key) ?? []).filter(
      (life) => life.link.createdAt === link.createdAt && life.bound_us <= to_us && life.freed_us >= from_us
    )
    const greatest = ({ bound_us, freed_us }: Pick<Life, "bound_us" | "freed_us">, until_us: number) =>
      all.reduce(
        (most, rank) =>
          rank.at_us >= bound_us && rank.at_us <= Math.min(freed_us, until_us)
            ? Math.max(most, rankIn(orderBy, rank))
            : most,
        0
      )
    // Of a link that was forgotten nothing else is known.
    const of = may.length === 0 ? [{ bound_us: 0, freed_us: Number.POSITIVE_INFINITY }] : may
    return {
      least: Math.min(...of.map((life) => greatest(life, from_us))),
      most: Math.max(...of.map((life) => greatest(life, to_us)))
    }
  }
}
