import { textTable } from "../../terminal/TextTable.ts"
import type { Contestant } from "./Contestants.ts"
import type { Figures } from "./Figures.ts"

/** What is known of a contestant. */
export interface Result {
  readonly contestant: Contestant
  readonly figures: Figures
  /** The share of a guesser's guesses that came true. */
  readonly guessed: number
}

/** Something that contestants are compared by; less is better. */
export interface Column {
  readonly title: string
  readonly short: string
  readonly unit: string
  readonly of: (result: Result) => number
}

const per = (sum: number, count: number) => (count === 0 ? 0 : sum / count)

/** Everything that contestants are compared by. */
export const columns: ReadonlyArray<Column> = [
  { title: "Keys issued twice", short: "issued×2", unit: "", of: ({ figures }) => figures.issuedTwice },
  { title: "Keys bound to two links", short: "bound×2", unit: "", of: ({ figures }) => figures.boundTwice },
  {
    title: "Keys lost a crash",
    short: "lost/crash",
    unit: "",
    of: ({ figures }) => per(figures.keysLost, figures.crashes)
  },
  {
    title: "Acknowledged creates lost",
    short: "creates lost",
    unit: "",
    of: ({ figures }) => figures.createsLost
  },
  {
    title: "Fresh links not found",
    short: "404 fresh",
    unit: "",
    of: ({ figures }) => figures.unknownLinks
  },
  {
    title: "Time without keys, a run",
    short: "no keys s",
    unit: "s",
    of: ({ figures }) => per(figures.withoutKeys_s, figures.seeds)
  },
  {
    title: "Storage of stock and pool, a minted key",
    short: "B/key",
    unit: "B",
    of: ({ figures }) => per(figures.stored_B, figures.minted)
  },
  {
    title: "SQL statements for keys, a create",
    short: "SQL/create",
    unit: "",
    of: ({ figures }) => per(figures.statements, figures.creates)
  },
  {
    title: "Messages between nodes, a create",
    short: "msg/create",
    unit: "",
    of: ({ figures }) => per(figures.messages, figures.creates)
  },
  {
    title: "Redis commands, a create",
    short: "Redis/create",
    unit: "",
    of: ({ figures }) => per(figures.redisCommands, figures.creates)
  },
  { title: "Next keys guessed", short: "guessed", unit: "%", of: ({ guessed }) => 100 * guessed }
]

/** A figure as people read it. */
export const shown = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1)

/** Which promises a contestant broke, by the checkers that found it. */
export const brokenBy = ({ figures: { brokenSeeds, seeds, violations } }: Result): string =>
  brokenSeeds === 0
    ? "none"
    : `${Object.keys(violations).toSorted().join(", ")} (${brokenSeeds} of ${seeds} seeds)`

/** All as a table of text. */
export const tableOf = (results: ReadonlyArray<Result>): string => {
  const head = ["design", ...columns.map(({ short }) => short), "broken promises"]
  const rows = results.map((result) => [
    result.contestant.name,
    ...columns.map(({ of }) => shown(of(result))),
    brokenBy(result)
  ])
  return textTable([head, ...rows], new Set([0, head.length - 1]))
}
