import type { HourCount } from "../storage/VisitStore.ts"
import { dimensions, type VisitClass, valuesMax } from "../Visit.ts"

interface Hour {
  readonly subject: string
  readonly hour: number
  nonBots: number
  bots: number
  /** Visits by value, for each dimension in their order. */
  readonly values: ReadonlyArray<Map<string, number>>
}

const countOf = ({ values, ...hour }: Hour): HourCount => ({
  ...hour,
  values: dimensions.flatMap((dimension, index) =>
    Array.from(values[index]!, ([value, visits]) => ({ dimension, value, visits }))
  )
})

const rowsOf = ({ values }: Hour): number => values.reduce((sum, { size }) => sum + size, 1)

/** Rows of one hour at most. */
export const hourRowsMax = 1 + dimensions.length * valuesMax

/** Visits added up by subject, hour and value, until they are written. */
export class VisitTally {
  readonly #hours = new Map<string, Hour>()
  #rows = 0

  /** Rows that are to be written: one an hour of a subject, and one a value of it. */
  get rows(): number {
    return this.#rows
  }

  add(subject: string, hour: number, { isBot, values }: VisitClass) {
    const row = this.#hourOf(subject, hour)
    if (isBot) row.bots++
    else row.nonBots++
    values.forEach((value, index) => {
      const visits = row.values[index]!
      const before = value === undefined ? undefined : visits.get(value)
      if (value === undefined || (before === undefined && visits.size === valuesMax)) return
      visits.set(value, (before ?? 0) + 1)
      if (before === undefined) this.#rows++
    })
  }

  #hourOf(subject: string, hour: number): Hour {
    const name = `${subject} ${hour}`
    const present = this.#hours.get(name)
    if (present !== undefined) return present
    const row = { subject, hour, nonBots: 0, bots: 0, values: dimensions.map(() => new Map()) }
    this.#hours.set(name, row)
    this.#rows++
    return row
  }

  /** Takes out hours of at most `rowsMax` rows together, and one at least: what came first. `rowsMax` is to be `hourRowsMax` at least. */
  take(rowsMax: number): ReadonlyArray<HourCount> {
    const taken: Array<HourCount> = []
    let rows = 0
    for (const [name, hour] of this.#hours) {
      const more = rowsOf(hour)
      if (rows + more > rowsMax) break
      rows += more
      taken.push(countOf(hour))
      this.#hours.delete(name)
    }
    this.#rows -= rows
    return taken
  }
}
