import type { HourCount } from "../storage/VisitStore.ts"
import { dimensions, type VisitClass, valuesMax } from "../Visit.ts"

interface Counted {
  visits: number
}

interface Hour {
  readonly subject: string
  readonly hour: number
  nonBots: number
  bots: number
  /** Visits by value, for each dimension in their order. */
  readonly values: ReadonlyArray<Map<string, Counted>>
}

const countOf = ({ values, ...hour }: Hour): HourCount => ({
  ...hour,
  values: dimensions.flatMap((dimension, index) =>
    Array.from(values[index]!, ([value, { visits }]) => ({ dimension, value, visits }))
  )
})

const rowsOf = ({ values }: Hour): number => values.reduce((sum, { size }) => sum + size, 1)

/** Rows of one hour at most. */
export const hourRowsMax = 1 + dimensions.length * valuesMax

/** Visits added up by subject, hour and value, until they are written. A visit costs no text that must be made for it. */
export class VisitTally {
  readonly #hours = new Map<number, Map<string, Hour>>()
  #rows = 0

  /** Rows that are to be written: one an hour of a subject, and one a value of it. */
  get rows(): number {
    return this.#rows
  }

  add(subject: string, hour: number, { isBot, values }: VisitClass) {
    const row = this.#hourOf(subject, hour)
    if (isBot) row.bots++
    else row.nonBots++
    for (let index = 0; index < values.length; index++) {
      const value = values[index]
      if (value !== undefined) this.#addValue(row.values[index]!, value)
    }
  }

  #addValue(counts: Map<string, Counted>, value: string) {
    const present = counts.get(value)
    if (present !== undefined) return void present.visits++
    if (counts.size === valuesMax) return
    counts.set(value, { visits: 1 })
    this.#rows++
  }

  #hourOf(subject: string, hour: number): Hour {
    let subjects = this.#hours.get(hour)
    if (subjects === undefined) this.#hours.set(hour, (subjects = new Map()))
    const present = subjects.get(subject)
    if (present !== undefined) return present
    const row = { subject, hour, nonBots: 0, bots: 0, values: dimensions.map(() => new Map()) }
    subjects.set(subject, row)
    this.#rows++
    return row
  }

  /** Takes out hours of at most `rowsMax` rows together, and one at least: of the hour that came first what came first. `rowsMax` is to be `hourRowsMax` at least. */
  take(rowsMax: number): ReadonlyArray<HourCount> {
    const taken: Array<HourCount> = []
    let rows = 0
    for (const [hour, subjects] of this.#hours) {
      for (const [subject, row] of subjects) {
        const more = rowsOf(row)
        if (rows + more > rowsMax) {
          this.#rows -= rows
          return taken
        }
        rows += more
        taken.push(countOf(row))
        subjects.delete(subject)
      }
      this.#hours.delete(hour)
    }
    this.#rows -= rows
    return taken
  }
}
