import { Effect, type Scope } from "effect"
import { MultiBar } from "cli-progress"

/** How often progress is told where there is no terminal, in milliseconds. */
const linesEvery_ms = 2_000

/** Tells how far a run of many is, on standard error: by a bar on a terminal, elsewhere by lines. */
export interface Progress {
  /** So many are done. */
  readonly update: (done: number) => void
  /** Prints lines above the bar. */
  readonly log: (text: string) => void
}

const onTerminal = (all: number, unit: string): Effect.Effect<Progress, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const bars = new MultiBar({
        format: `{bar} {percentage} % | {value}/{total} ${unit} | {rate}/s | {eta_formatted} left`,
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
      return {
        update: (done) => {
          const elapsed_s = (clock.unsafeCurrentTimeMillis() - started_ms) / 1_000
          bar.update(done, { rate: (done / elapsed_s).toFixed(1) })
        },
        log: (text) => bars.log(`${text}\n`)
      }
    })
  )

const asLines = (all: number, unit: string): Effect.Effect<Progress> =>
  Effect.map(Effect.clock, (clock) => {
    const started_ms = clock.unsafeCurrentTimeMillis()
    let told_ms = started_ms
    return {
      update: (done) => {
        const now_ms = clock.unsafeCurrentTimeMillis()
        if (now_ms - told_ms < linesEvery_ms) return
        told_ms = now_ms
        const perSecond = (1_000 * done) / (now_ms - started_ms)
        process.stderr.write(`${done}/${all} ${unit}, ${perSecond.toFixed(1)}/s\n`)
      },
      log: (text) => void process.stderr.write(`${text}\n`)
    }
  })

/** Begins to tell of so many of a unit, until the scope closes. */
export const make = (all: number, unit: string): Effect.Effect<Progress, never, Scope.Scope> =>
  process.stderr.isTTY ? onTerminal(all, unit) : asLines(all, unit)
