import type { Effect } from "effect"
import type { Answer } from "./Answer.ts"
import type { Problem } from "./Problem.ts"

/** An answer, or what gives it. */
export type Work = Effect.Effect<Answer, Problem>

/** How a request is answered: one of them is called once, at once or later. */
export interface Answering {
  readonly answer: (answer: Answer) => void
  /** Takes an effect to answer it. */
  readonly instead: (work: Work) => void
  /** Whether nobody waits for an answer any more. */
  readonly isOver: () => boolean
}
