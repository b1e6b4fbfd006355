import type { Violation } from "../Evidence.ts"
import type { RunResult } from "../Run.ts"
import { s_us } from "../world/Time.ts"
import { eventsOf, momentOf, type ToldEvent } from "./Events.ts"

/** How long before and after a violation events are told, as far as they do not concern its keys. */
const before_us = 9 * s_us
const after_us = 3 * s_us

/** Lines of a time line at most, and how many of them the events of its keys may take. */
const linesMax = 48
const concernedMax = 30

/** Characters of a line at most. */
const widthMax = 200

const nodesIn = (text: string) => Array.from(text.matchAll(/\bnode-\d+/g), ([node]) => node)

/** The first ones and the last ones, where there are too many. */
const ends = <A>(all: ReadonlyArray<A>, most: number): ReadonlyArray<A> =>
  all.length <= most
    ? all
    : [...all.slice(0, Math.ceil(most / 2)), ...all.slice(all.length - Math.floor(most / 2))]

const line = (event: ToldEvent, mark: string) =>
  `${momentOf(event.at_us).padStart(13)} ${mark} ${event.who.padEnd(10)} ${event.text}`.slice(0, widthMax)

/** The events that concern a violation's keys, whenever they were; and those around it, those of the same nodes first. */
const chosen = (events: ReadonlyArray<ToldEvent>, violation: Violation, end_us: number) => {
  const keys = new Set(violation.keys.filter((key) => key !== ""))
  const concerned = events.filter(({ about }) => about.some((name) => keys.has(name)))
  // What stands at the end says nothing of when it came about.
  const isAtEnd = violation.at_us >= end_us
  const around_us = isAtEnd ? (concerned.at(-1)?.at_us ?? violation.at_us) : violation.at_us
  const nodes = new Set([
    ...nodesIn(violation.text),
    ...concerned.flatMap(({ text, who }) => nodesIn(`${who} ${text}`))
  ])
  const weight = (event: ToldEvent) => {
    const isOfNodes = nodesIn(`${event.who} ${event.text}`).some((node) => nodes.has(node))
    if (event.who === "faults") return 0
    if (event.kind === "fate") return isOfNodes ? 1 : 2
    if (event.isFailure) return 3
    if (event.kind === "store") return isOfNodes ? 4 : 5
    return event.kind === "client" ? 6 : 7
  }
  const isNear = ({ at_us }: ToldEvent) => at_us >= around_us - before_us && at_us <= around_us + after_us
  const some = new Set(ends(concerned, concernedMax))
  const others = events
    .filter((event) => !some.has(event) && (keys.size === 0 ? event.kind === "fate" : isNear(event)))
    .map((event) => ({ event, weight: weight(event), distance: Math.abs(event.at_us - around_us) }))
    .toSorted((a, b) => a.weight - b.weight || a.distance - b.distance)
    .slice(0, linesMax - some.size)
    .map(({ event }) => event)
  return { some, others: new Set(others) }
}

/**
 * What happened around a violation, a line an event and at most 48 of them, in their order: `>` marks those that concern its keys, `!` the
 * violation. Says more of a run whose trace was kept.
 */
export const timelineOf = (result: RunResult, violation: Violation): ReadonlyArray<string> => {
  const events = eventsOf(result)
  const { others, some } = chosen(events, violation, result.evidence.end_us)
  const { at_us, checker, text } = violation
  const found = { at_us, who: checker, text, about: [], kind: "fate", isFailure: false } as const
  const lines = events.flatMap((event) =>
    some.has(event) ? [line(event, ">")] : others.has(event) ? [line(event, " ")] : []
  )
  const after = events.filter(
    (event) => (some.has(event) || others.has(event)) && event.at_us <= at_us
  ).length
  return lines.toSpliced(after, 0, line(found, "!"))
}
