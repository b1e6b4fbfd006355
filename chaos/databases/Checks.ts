// What must hold of a run over several databases, by what was counted.

import { bucketOf } from "../../src/keys/Buckets.ts"
import { textTable } from "../../src/terminal/TextTable.ts"
import type { Launched } from "../../cluster/Launch.ts"
import { linesWith, tellingAt } from "../Checks.ts"
import type { Contents, Written } from "./Contents.ts"
import { together } from "./Contents.ts"
import type { Moved } from "./Moves.ts"
import {
  guardOf,
  type Operation,
  operations,
  type Phase,
  phases,
  redirects,
  type Side,
  sides,
  type Tally,
  type Traffic
} from "./Traffic.ts"

/** What is asked for. Times depend on the machine. */
export interface Limits {
  /** The part of redirects that are answered right while buckets are moved. */
  readonly redirects: number
  /** The part of all other requests, of each kind, that are answered right, and have nothing to do with what is killed: below 1 where other programs have the cores as well. */
  readonly others: number
  /** How long buckets may not be written when they are switched over, in milliseconds. */
  readonly unwritten_ms: number
  /** A database that is back is used again within this, in milliseconds. */
  readonly back_ms: number
}

type Violate = (promise: string, evidence: string) => void

/** How many of requests may be wrong, where a part must be right: of fewer than one of which may fail, one may. */
const wrongMax = (all: number, part: number): number =>
  part === 1 ? 0 : (1 - part) * Math.max(all, tellingAt(part)) + 1e-9

/** All that came while buckets were moved, or a database was away, and that was not about what was killed, must have succeeded, but for what the limits allow. */
const judgeAll = (
  violate: Violate,
  traffic: Traffic,
  phase: Phase,
  some: ReadonlyArray<Operation>,
  { others }: Limits
) => {
  for (const operation of some) {
    const { right, sent } = traffic.tallyOf(phase, operation)
    if (sent - right > wrongMax(sent, others)) {
      violate(phase, `${operation}: ${right} of ${sent} were answered right`)
    }
  }
}

/** Counts of several kinds of requests. */
const summed = (traffic: Traffic, phase: Phase, some: ReadonlyArray<Operation>, side?: Side) =>
  some.reduce(
    (sum, operation) => {
      const { right, sent } = traffic.tallyOf(phase, operation, side)
      return { sent: sum.sent + sent, right: sum.right + right }
    },
    { sent: 0, right: 0 }
  )

/** Redirects while buckets were moved, whatever was killed meanwhile. */
const redirectsOfMoves = (traffic: Traffic) => {
  const { right, sent } = summed(traffic, "moves", redirects)
  const wrong = sent - right + summed(traffic, "moves", redirects, "node killed").sent
  return { right, wrong, all: right + wrong }
}

const judgeRedirects = (violate: Violate, traffic: Traffic, part: number) => {
  const { all, right, wrong } = redirectsOfMoves(traffic)
  if (all === 0 || wrong > wrongMax(all, part)) {
    violate("moves", `${right} of ${all} redirects were answered right, not ${(100 * part).toFixed(2)} %`)
  }
}

/**
 * Requests while buckets were moved, and for how long these were not written. A redirect counts whatever was killed meanwhile. A change
 * may fail when its owner is gone, and is not judged.
 */
export const judgeMoves = (
  violate: Violate,
  traffic: Traffic,
  moves: ReadonlyArray<Moved>,
  limits: Limits
): void => {
  judgeRedirects(violate, traffic, limits.redirects)
  judgeAll(violate, traffic, "moves", ["create", "keyed create", "repeat", "list"], limits)
  for (const { from, to, unwritten_ms } of moves) {
    if (unwritten_ms !== null && unwritten_ms > limits.unwritten_ms) {
      violate("moves", `from ${from} to ${to} the buckets were not written for ${unwritten_ms} ms`)
    }
  }
}

/** How it went while a database was away. */
export interface Away {
  /** When it was used again after its return, in milliseconds; null: it was not. */
  readonly back_ms: number | null
  /** What nobody was answered right meanwhile. */
  readonly unanswered: ReadonlyArray<Operation>
}

/** Requests while a database was away: those that it has no part in all succeed, and there are some of each kind. */
export const judgeAway = (
  violate: Violate,
  traffic: Traffic,
  { back_ms, unanswered }: Away,
  limits: Limits
): void => {
  judgeAll(violate, traffic, "away", operations, limits)
  judgeAll(violate, traffic, "return", operations, limits)
  for (const operation of unanswered) violate("away", `no ${operation} was answered right`)
  if (back_ms === null || back_ms > limits.back_ms) {
    violate("return", `the database was not used again within ${limits.back_ms} ms`)
  }
}

/** What was there before the load is there as it was, and each row in the home of its bucket alone. */
export const judgeContents = (
  violate: Violate,
  when: string,
  before: Contents,
  after: Contents,
  isByDatabase: boolean
): void => {
  const parts = (contents: Contents) =>
    isByDatabase
      ? contents.flatMap((some, number) =>
          some.map(({ rows, sum, table }) => ({ where: `database ${number}, ${table}`, rows, sum }))
        )
      : together(contents).map(({ table, ...one }) => ({ where: `all databases, ${table}`, ...one }))
  const then = parts(before)
  for (const [index, { rows, sum, where }] of parts(after).entries()) {
    const was = then[index]!
    if (rows !== was.rows || sum !== was.sum) {
      violate("contents", `${when}, ${where}: ${rows} rows of sum ${sum}, not ${was.rows} of ${was.sum}`)
    }
  }
  for (const [number, some] of after.entries()) {
    for (const { misplaced, table } of some) {
      if (misplaced > 0) {
        violate(
          "C1",
          `${when}, database ${number} has ${misplaced} rows of ${table} whose buckets are elsewhere`
        )
      }
    }
  }
}

const repeated = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const seen = new Set<string>()
  return names.filter((name) => seen.has(name) || !seen.add(name))
}

/** No key, and no guard, is in two databases; a create under an `Idempotency-Key` made one link, and is remembered with it. */
export const judgeWritten = (
  violate: Violate,
  { keyed }: Pick<Traffic, "keyed">,
  { guards, links }: Written
): void => {
  for (const key of repeated(links.map((link) => link.key))) violate("C1", `key ${key} is there twice`)
  for (const name of repeated(guards.map((guard) => guard.name)))
    violate("C7", `guard ${name} is there twice`)
  const byUrl = new Map<string, Array<string>>()
  for (const { key, url } of links) byUrl.set(url, [...(byUrl.get(url) ?? []), key])
  const byName = new Map(guards.map(({ key, name }) => [name, key]))
  for (const { key, requestId, url } of keyed) {
    const made = byUrl.get(url) ?? []
    if (made.length > 1) violate("C7", `${requestId} made the links ${made.join(", ")}`)
    if (key !== null && byName.get(guardOf(requestId)) !== key) {
      violate(
        "C7",
        `${requestId} was answered ${key}, and its guard has ${byName.get(guardOf(requestId)) ?? "none"}`
      )
    }
  }
}

/** What became of visits, summed up by link. */
export interface Visits {
  readonly answered: number
  /** Redirects of which nobody knows whether they counted. */
  readonly uncertain: number
  readonly counted: number
  readonly lost: number
  readonly doubled: number
  /** Those of the last moments before a node was killed. */
  readonly lostMax: number
}

/** What the load balancer logs of a redirect that it asked for again: with a plus at another node, without one at the same node. */
const askedAgain = / \d+\/\d+\/\d+\/\d+\/\+?([1-9]\d*) \d+\/\d+ .*"GET \/([\w-]+) HTTP/

/** The redirects that the load balancer asked for again: how often each. */
export const repeatsOf = (
  balancer: Pick<Launched, "log">
): ReadonlyArray<{ readonly key: string; readonly times: number }> =>
  linesWith([balancer], askedAgain).map((line) => {
    const [, times, key] = askedAgain.exec(line)!
    return { key: key!, times: Number(times) }
  })

/** Visits are lost where a node is killed alone, and never counted twice. */
export const judgeVisits = (
  violate: Violate,
  { visits }: Pick<Traffic, "visits">,
  written: Written["visits"],
  lostMax: number
): Visits => {
  const sums = { answered: 0, uncertain: 0, counted: 0, lost: 0, doubled: 0 }
  for (const key of new Set([...visits.keys(), ...written.keys()])) {
    const { answered, uncertain } = visits.get(key) ?? { answered: 0, uncertain: 0 }
    const counted = written.get(key) ?? 0
    sums.answered += answered
    sums.uncertain += uncertain
    sums.counted += counted
    sums.lost += Math.max(0, answered - counted)
    const doubled = Math.max(0, counted - answered - uncertain)
    sums.doubled += doubled
    if (doubled > 0) {
      violate(
        "C11",
        `${counted} visits of ${key} (bucket ${bucketOf(key)}) are counted, and ${answered} were answered and ${uncertain} perhaps`
      )
    }
  }
  if (sums.lost > lostMax) violate("C11", `${sums.lost} visits are lost, and ${lostMax} may be`)
  return { ...sums, lostMax }
}

/** One thing that is judged: what it was, and what it must be. */
export interface Judgement {
  readonly what: string
  readonly found: string
  readonly wanted: string
}

/** What a run has found that is judged. */
export interface Found {
  readonly traffic: Traffic
  readonly moves: ReadonlyArray<Moved>
  readonly before: Contents
  readonly after: Contents
  readonly written: Written
  readonly visits: Visits
  readonly back_ms: number | null
  readonly acknowledged: number
  /** Acknowledged links that each node redirects in the end. */
  readonly resolved: ReadonlyArray<number>
}

/** All that is judged, line by line. */
export const judgements = (
  { acknowledged, after, back_ms, before, moves, resolved, traffic, visits, written }: Found,
  { back_ms: backMax_ms, others, redirects: part, unwritten_ms }: Limits
): ReadonlyArray<Judgement> => {
  const of = ({ right, sent }: { readonly right: number; readonly sent: number }) =>
    `${right} of ${sent} (${percent({ right, sent })})`
  const least = (part: number) => `${Number((100 * part).toFixed(2))} %`
  const killsOf = (who: string) => moves.filter(({ killed }) => killed?.startsWith(who) === true).length
  const creates = ["create", "keyed create"] as const
  const moved = redirectsOfMoves(traffic)
  const different = before.flatMap((some, number) =>
    some.filter(({ rows, sum }, index) => {
      const now = after[number]![index]!
      return now.rows !== rows || now.sum !== sum
    })
  )
  const misplaced = after.flat().reduce((sum, one) => sum + one.misplaced, 0)
  const longest = Math.max(0, ...moves.map((move) => move.unwritten_ms ?? 0))
  const line = (what: string, found: string, wanted: string) => ({ what, found, wanted })
  return [
    line("moves, there and back", String(moves.length), "each is finished"),
    line("kill -9 of the mover, of a node", `${killsOf("the mover")}, ${killsOf("node")}`, "two at least"),
    line(
      "redirects while buckets are moved, whatever is killed",
      of({ right: moved.right, sent: moved.all }),
      least(part)
    ),
    line(
      "creates meanwhile, but for those at a node that is killed and those that wait for a dead mover",
      of(summed(traffic, "moves", creates)),
      least(others)
    ),
    line("longest time for which buckets were not written", `${longest} ms`, `${unwritten_ms} ms`),
    line(
      "acknowledged links that each node redirects",
      resolved.map((right) => `${right}`).join(", "),
      String(acknowledged)
    ),
    line("keys that are there twice", String(repeated(written.links.map(({ key }) => key)).length), "0"),
    line(
      "tables of a database whose rows or sums differ from before",
      `${different.length} of ${before.flat().length}`,
      "0"
    ),
    line("rows outside of their bucket's home", String(misplaced), "0"),
    line("visits lost, counted twice", `${visits.lost}, ${visits.doubled}`, `${visits.lostMax}, 0`),
    line("creates while a database is away", of(summed(traffic, "away", creates)), least(others)),
    line("redirects of the others' links meanwhile", of(summed(traffic, "away", redirects)), least(others)),
    line("time until it is used again", back_ms === null ? "none" : `${back_ms} ms`, `${backMax_ms} ms`)
  ]
}

/** The same as a table. */
export const judgementsTable = (lines: ReadonlyArray<Judgement>): string =>
  textTable(
    [["judged", "found", "wanted"], ...lines.map(({ found, wanted, what }) => [what, found, wanted])],
    new Set([0, 1, 2])
  )

const percent = ({ right, sent }: Pick<Tally, "right" | "sent">) =>
  sent === 0 ? "–" : `${((100 * right) / sent).toFixed(3)} %`

const at = (times_ms: ReadonlyArray<number>, part: number) =>
  times_ms.length === 0
    ? "–"
    : `${times_ms.toSorted((a, b) => a - b)[Math.ceil(part * times_ms.length) - 1]!.toFixed(1)}`

/** Requests by phase and kind, as a table. */
export const requestsTable = (traffic: Traffic): string =>
  textTable(
    [
      ["", "", "sent", "right", "part", "asked again", "p50 ms", "p99 ms", "max ms"],
      ...phases.flatMap((phase) =>
        sides.flatMap((side) =>
          operations.flatMap((operation) => {
            const tally = traffic.tallyOf(phase, operation, side)
            if (tally.sent === 0) return []
            const name = side === "none" ? operation : `${operation} (${side})`
            return [
              [
                phase,
                name,
                String(tally.sent),
                String(tally.right),
                percent(tally),
                String(tally.again),
                at(tally.times_ms, 0.5),
                at(tally.times_ms, 0.99),
                at(tally.times_ms, 1)
              ]
            ]
          })
        )
      )
    ],
    new Set([0, 1])
  )

/** Moves, as a table. */
export const movesTable = (moves: ReadonlyArray<Moved>): string =>
  textTable(
    [
      ["move", "buckets", "rows", "s", "not written, ms", "killed"],
      ...moves.map(({ buckets, from, killed, rows, seconds, to, unwritten_ms }) => [
        `${from} → ${to}`,
        String(buckets),
        String(rows),
        seconds.toFixed(1),
        unwritten_ms === null ? "–" : String(unwritten_ms),
        killed ?? ""
      ])
    ],
    new Set([0, 5])
  )

/** What was there before the load, by database and table. */
export const contentsTable = (before: Contents, after: Contents): string =>
  textTable(
    [
      ["", "", "rows before", "rows after", "sums"],
      ...before.flatMap((some, number) =>
        some.map(({ rows, sum, table }, index) => {
          const now = after[number]![index]!
          return [
            `database ${number}`,
            table,
            String(rows),
            String(now.rows),
            now.sum === sum ? "equal" : "DIFFER"
          ]
        })
      )
    ],
    new Set([0, 1])
  )
