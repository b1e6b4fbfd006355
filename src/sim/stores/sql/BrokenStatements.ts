import { Effect, Exit } from "effect"
import { SqliteFailure } from "../../../storage/sql/SqliteThread.ts"
import type { Chance } from "../../world/Chance.ts"

/** How likely a statement of an operation fails, and up to which one: of those that write, `COMMIT` included. */
const share = 0.1
const placeMax = 4

/** Operations that are made of several steps, of which each stays, and that give what the first ones did. */
const inSteps = new Set(["LinkRemovals.remove"])

/**
 * Statements over SQL that fail now and then, so that what they were a part of fails as a whole and is asked for once more: whatever an operation does in several statements must be undone with the one that
 * failed.
 */
export class BrokenStatements {
  readonly #chance: Chance
  /** After how many statements one fails; `undefined`: none does. */
  #left: number | undefined
  #hasFailed = false

  constructor(chance: Chance) {
    this.#chance = chance
  }

  /** Whether the next statement that writes is the one that fails, and how. */
  readonly next = (): SqliteFailure | undefined => {
    if (this.#left === undefined || --this.#left > 0) return undefined
    this.#left = undefined
    this.#hasFailed = true
    return new SqliteFailure("database or disk is full", "SQLITE_FULL")
  }

  /** Does something, and once more where it failed since a statement of it did. */
  readonly within = <A, E>(operation: string, self: Effect.Effect<A, E>): Effect.Effect<Exit.Exit<A, E>> =>
    Effect.suspend(() => {
      if (inSteps.has(operation) || !this.#chance.happens(share)) return Effect.exit(self)
      this.#left = this.#chance.between(1, placeMax)
      this.#hasFailed = false
      return Effect.flatMap(Effect.exit(self), (exit) => {
        this.#left = undefined
        return this.#hasFailed && Exit.isFailure(exit) ? Effect.exit(self) : Effect.succeed(exit)
      })
    })
}
