import type { Evidence } from "../../Evidence.ts"
import type { JournalEntry } from "../../Journal.ts"
import { momentOf, sentenceOf } from "../Events.ts"
import { type Group, lane, type Mark, type Span } from "./Lane.ts"

/** A node's name, of a process's id. */
export const nodeOf = (process: string): string => process.split("#")[0]!

const looks: Readonly<Partial<Record<JournalEntry["tag"], string>>> = {
  started: "start",
  killed: "kill",
  ended: "end"
}

/** A process, as long as it lived. */
interface Life {
  readonly id: string
  readonly from_us: number
  readonly to_us: number
  readonly end: "killed" | "ended" | undefined
  readonly entries: ReadonlyArray<JournalEntry>
}

const lifeOf = (id: string, entries: ReadonlyArray<JournalEntry>, end_us: number): Life => {
  const last = entries.find(({ tag }) => tag === "killed" || tag === "ended")
  return {
    id,
    from_us: entries[0]!.at_us,
    to_us: last?.at_us ?? end_us,
    end: last === undefined ? undefined : last.tag === "killed" ? "killed" : "ended",
    entries
  }
}

const spansOf = (life: Life, healed_us: number): ReadonlyArray<Span> => {
  const { end, entries, from_us, id, to_us } = life
  const spans: Array<Span> = [
    {
      from_us,
      to_us,
      look: "up",
      tip: `${id} ${end === undefined ? "runs to the end" : `runs until it is ${end}`}`
    }
  ]
  for (const entry of entries) {
    if (entry.tag === "draining")
      spans.push({ from_us: entry.at_us, to_us, look: "draining", tip: `${id} drains` })
    if (entry.tag !== "paused") continue
    const until_us = entry.at_us < healed_us ? Math.min(entry.at_us + entry.for_us, healed_us) : entry.at_us
    const tip = `${id} ${sentenceOf(entry)}`
    spans.push({ from_us: entry.at_us, to_us: Math.min(until_us, to_us), look: "paused", tip })
  }
  return spans
}

/** The time in which a node has no process. */
const gaps = (lives: ReadonlyArray<Life>, end_us: number): ReadonlyArray<Span> =>
  lives.flatMap(({ end, id, to_us }, index) => {
    const next_us = lives[index + 1]?.from_us ?? end_us
    return end === undefined || next_us <= to_us
      ? []
      : [
          {
            from_us: to_us,
            to_us: next_us,
            look: "down",
            tip: `down since ${id} ${end === "killed" ? "was killed" : "ended"}`
          }
        ]
  })

/** What became of each node: when it ran, drained, was held up, and was down. */
export const nodeLanes = ({ end_us, healed_us, journal, options }: Evidence): Group => ({
  title: "Nodes",
  about: "when each ran, drained, was paused and was down",
  lanes: Array.from({ length: options.nodes }, (_, number) => {
    const name = `node-${number}`
    const own = journal.filter(({ by }) => nodeOf(by) === name)
    const lives = Array.from(new Set(own.map(({ by }) => by)), (id) =>
      lifeOf(
        id,
        own.filter(({ by }) => by === id),
        end_us
      )
    )
    const marks = own.flatMap((entry): ReadonlyArray<Mark> => {
      const look = looks[entry.tag]
      return look === undefined
        ? []
        : [{ at_us: entry.at_us, look, tip: `${momentOf(entry.at_us)}: ${entry.by} ${entry.tag}` }]
    })
    const spans = [...lives.flatMap((life) => spansOf(life, healed_us)), ...gaps(lives, end_us)]
    return lane(name, { tip: `${name}: ${lives.length} processes`, height: 20, spans, marks })
  })
})
