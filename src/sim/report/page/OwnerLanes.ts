import { Array as Arr } from "effect"
import type { JournalEntry } from "../../Journal.ts"
import type { RunResult } from "../../Run.ts"
import { momentOf, sentenceOf } from "../Events.ts"
import { type Group, lane, type Lane, type Mark, type Span } from "./Lane.ts"
import { nodeOf } from "./NodeLanes.ts"
import { actorStays, claimStays, lockStays, type Stay } from "./Stays.ts"

/** How many colours nodes have; further ones begin again. */
export const nodeColours = 8

const lookOf = (process: string): string => `node-${Number(nodeOf(process).split("-")[1]) % nodeColours}`

/** In which row each stay is: the first that is free. */
const placed = (stays: ReadonlyArray<Stay>) => {
  const until: Array<number> = []
  return stays.map((stay) => {
    const free = until.findIndex((to_us) => to_us <= stay.from_us)
    const row = free < 0 ? until.length : free
    until[row] = stay.to_us
    return { stay, row }
  })
}

/** Where two processes have it at once. */
const overlapsOf = (stays: ReadonlyArray<Stay>): ReadonlyArray<Span> =>
  stays.flatMap((one, index) =>
    stays.slice(index + 1).flatMap((other): ReadonlyArray<Span> => {
      const [from_us, to_us] = [Math.max(one.from_us, other.from_us), Math.min(one.to_us, other.to_us)]
      const tip = `${one.process} and ${other.process} both have ${one.what}`
      return from_us < to_us && one.process !== other.process
        ? [{ from_us, to_us, look: "overlap", tip }]
        : []
    })
  )

/** Claims of a pool shard, and what was refused because of its epoch. */
const claimsOf = (what: string, journal: ReadonlyArray<JournalEntry>): ReadonlyArray<Mark> =>
  journal.flatMap((entry): ReadonlyArray<Mark> => {
    if (entry.tag !== "claimed" && entry.tag !== "fenced") return []
    const tip = `${momentOf(entry.at_us)}: ${entry.by} ${sentenceOf(entry)}`
    return what === `PoolShard/${entry.shard}` ? [{ at_us: entry.at_us, look: entry.tag, tip }] : []
  })

const laneOf = (what: string, stays: ReadonlyArray<Stay>, journal: ReadonlyArray<JournalEntry>): Lane => {
  const rows = placed(stays)
  const spans = rows.map(({ row, stay: { from_us, process, to_us } }) => ({
    from_us,
    to_us,
    row,
    look: lookOf(process),
    tip: `${what} at ${process}`
  }))
  const overlaps = overlapsOf(stays)
  const count = Math.max(1, ...rows.map(({ row }) => row + 1))
  return lane(what, {
    tip: `${what}: ${stays.length} times, ${overlaps.length} overlaps`,
    height: count === 1 ? 12 : 9 * count,
    rows: count,
    spans: [...spans, ...overlaps],
    marks: claimsOf(what, journal)
  })
}

const byName = new Intl.Collator("en", { numeric: true })

const groupsOf = (stays: ReadonlyArray<Stay>, about: string, journal: ReadonlyArray<JournalEntry>) => {
  const lives = Arr.groupBy(stays, ({ what }) => what)
  const kinds = Arr.groupBy(Object.keys(lives).toSorted(byName.compare), (what) => what.split(/[/ ]/)[0]!)
  return Object.entries(kinds).map(([kind, all]): Group => ({
    title: `Owners: ${kind}`,
    about,
    lanes: all.map((what) => laneOf(what, lives[what] ?? [], journal))
  }))
}

/** Who owned what: the actors, as far as they are known to have lived in a process; or else who claimed and who had the locks. */
export const ownerLanes = (result: RunResult): ReadonlyArray<Group> => {
  const { journal } = result.evidence
  const actors = actorStays(result)
  return [
    ...groupsOf(actors, "in which node's process each actor lived; red where two had it at once", journal),
    ...(actors.length > 0 ? [] : groupsOf(claimStays(result), "whose claim was the newest", journal)),
    ...groupsOf(
      lockStays(result),
      "whose session had the database's lock of each of the cluster's shards",
      journal
    )
  ]
}
