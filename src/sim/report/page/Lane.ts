/** A stretch of time in a lane. */
export interface Span {
  readonly from_us: number
  readonly to_us: number
  /** How it looks: a class of the style sheet. */
  readonly look: string
  readonly tip: string
  /** Which of the lane's rows it is in, from 0 on; all of them when there is none. */
  readonly row?: number
}

/** A moment in a lane. */
export interface Mark {
  readonly at_us: number
  readonly look: string
  readonly tip: string
}

/** A curve that stays at each value until the next: `value` from `at_us` on. */
export interface Steps {
  readonly points: ReadonlyArray<{ readonly at_us: number; readonly value: number }>
  readonly look: string
}

/** One line of the page's picture: everything about one thing, over time. */
export interface Lane {
  readonly label: string
  readonly tip: string
  /** In pixels. */
  readonly height: number
  readonly rows: number
  readonly spans: ReadonlyArray<Span>
  readonly marks: ReadonlyArray<Mark>
  readonly steps: ReadonlyArray<Steps>
  /** The value at the top of the lane, for its curves and levels. */
  readonly top: number
  /** Horizontal lines. */
  readonly levels: ReadonlyArray<{ readonly value: number; readonly look: string }>
}

/** Lanes of one subject. */
export interface Group {
  readonly title: string
  readonly about: string
  readonly lanes: ReadonlyArray<Lane>
}

/** A lane with what is said of it, and nothing else in it. */
export const lane = (label: string, some: Partial<Lane>): Lane => ({
  label,
  tip: label,
  height: 16,
  rows: 1,
  spans: [],
  marks: [],
  steps: [],
  top: 1,
  levels: [],
  ...some
})
