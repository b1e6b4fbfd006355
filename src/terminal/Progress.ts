import { Effect, type Scope } from "effect"
import { MultiBar } from "cli-progress"

/** Without a terminal: the shortest time between two lines, and the longest while the run makes progress, in milliseconds. */
const linesEvery_ms = { least: 2_000, most: 60_000 }

/** Between those bounds, a line is printed for each such part of the whole. */
const lineParts = 20

/** Shows the progress of a run on standard error: a bar on a terminal, lines elsewhere. */
export interface Progress {
  /** Sets the number of units that are done. */
  readonly update: (done: number) => void
  /** Prints lines on standard error, above the bar. */
  readonly log: (text: string) => void
  /** Prints lines on standard output: above the bar where both go to a terminal. */
  readonly print: (text: string) => void
}

/** The units that are counted. */
export interface Counted {
  /** Their total number. */
  readonly all: number
  /** Their name, in the plural. */
  readonly unit: string
  /** Whether to show how many are done in a second. */
  readonly hasRate?: boolean
}

const onOutput = (text: string) => void process.stdout.write(`${text}\n`)

const onTerminal = ({ all, hasRate = true, unit }: Counted): Effect.Effect<Progress, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const bars = new MultiBar({
        format: `{bar} {percentage} % | {value}/{total} ${unit} | ${hasRate ? "{rate}/s | " : ""}{eta_formatted} left`,
        barCompleteChar: "█",
        barIncompleteChar: "░",
        barsize: 30,
        hideCursor: true,
        gracefulExit: false,
        // What is printed above it may be long.
        linewrap: true,
        etaBuffer: 100
      })
      return { bars, bar: bars.create(all, 0, { rate: "–" }) }
    }),
    ({ bars }) => Effect.sync(() => bars.stop())
  ).pipe(
    Effect.zip(Effect.clock),
    Effect.map(([{ bar, bars }, clock]) => {
      const started_ms = clock.unsafeCurrentTimeMillis()
      const log = (text: string) => bars.log(`${text}\n`)
      return {
        update: (done) => {
          const elapsed_s = (clock.unsafeCurrentTimeMillis() - started_ms) / 1_000
          bar.update(done, { rate: (done / elapsed_s).toFixed(1) })
        },
        log,
        print: process.stdout.isTTY ? log : onOutput
      }
    })
  )

const asLines = ({ all, hasRate = true, unit }: Counted): Effect.Effect<Progress> =>
  Effect.map(Effect.clock, (clock) => {
    const started_ms = clock.unsafeCurrentTimeMillis()
    const told = { at_ms: started_ms, done: 0 }
    return {
      update: (done) => {
        const now_ms = clock.unsafeCurrentTimeMillis()
        const silent_ms = now_ms - told.at_ms
        if (silent_ms < linesEvery_ms.least) return
        if (done - told.done < all / lineParts && silent_ms < linesEvery_ms.most) return
        told.at_ms = now_ms
        told.done = done
        const perSecond = (1_000 * done) / (now_ms - started_ms)
        process.stderr.write(`${done}/${all} ${unit}${hasRate ? `, ${perSecond.toFixed(1)}/s` : ""}\n`)
      },
      log: (text) => void process.stderr.write(`${text}\n`),
      print: onOutput
    }
  })

/** Shows progress until the scope closes. */
export const make = (counted: Counted): Effect.Effect<Progress, never, Scope.Scope> =>
  process.stderr.isTTY ? onTerminal(counted) : asLines(counted)
