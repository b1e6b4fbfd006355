import { Cause, Effect, Exit, Option } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { BrokenStatements } from "./BrokenStatements.ts"
import { mapOperations } from "../../../storage/MapOperations.ts"

/** Is told of answers that differ. */
export type Differs = (operation: string, inMemory: string, bySql: string) => void

/** What is compared of the answers of a port's operations, where it is not all of them: their order, or what each side draws, is left to each. */
export type Shown<S> = { readonly [K in keyof S]?: (value: never) => unknown }

const isTagged = (error: unknown): error is { readonly _tag: string } =>
  typeof error === "object" && error !== null && "_tag" in error

/** Without fields that are undefined. */
const plain = (value: unknown): unknown => (value === undefined ? null : JSON.parse(JSON.stringify(value)))

const same = (value: unknown) => value

/** What is compared of an outcome: what it gave, or its error's name. */
const shownOf = <A, E>(exit: Exit.Exit<A, E>, shown: (value: A) => unknown): unknown =>
  Exit.match(exit, {
    onSuccess: (value) => plain(shown(value)),
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () => Cause.pretty(cause),
        onSome: (error) => (isTagged(error) ? error._tag : error)
      })
  })

/** How stores were compared with those of production. */
export interface ComparisonFigures {
  /** Answers that were compared. */
  readonly answers: number
  /** Whether those of links were compared to the end: not beyond what only the database in memory can do. */
  readonly isWhole: boolean
}

/** Stores in memory and the same over SQL, of which each is asked the same; the answers are those of memory. It ends with the first difference. */
export class Comparison {
  readonly #differs: Differs
  readonly #broken: BrokenStatements
  #isOn = true
  #answers = 0

  constructor(differs: Differs, broken: BrokenStatements) {
    this.#differs = differs
    this.#broken = broken
  }

  get isOn(): boolean {
    return this.#isOn
  }

  /** How many answers were compared so far. */
  get answers(): number {
    return this.#answers
  }

  /** Compares nothing any more. */
  readonly part = () => {
    this.#isOn = false
  }

  /** Asks both, that over SQL first. */
  both<A, E>(
    operation: string,
    ofMemory: Effect.Effect<A, E>,
    ofSql: Effect.Effect<A, E>,
    shown: (value: A) => unknown = same
  ): Effect.Effect<A, E> {
    return Effect.suspend(() =>
      this.#isOn
        ? Effect.flatMap(this.#broken.within(operation, Effect.withTracerEnabled(ofSql, false)), (bySql) =>
            Effect.onExit(ofMemory, (inMemory) =>
              Effect.sync(() => {
                this.#answers++
                const [one, other] = [shownOf(inMemory, shown), shownOf(bySql, shown)]
                if (isDeepStrictEqual(one, other)) return
                this.part()
                this.#differs(operation, JSON.stringify(one), JSON.stringify(other))
              })
            )
          )
        : ofMemory
    )
  }

  /** A port whose operations are asked of both. */
  port<S extends object>(name: string, inMemory: S, bySql: S, shown: Shown<S> = {}): S {
    return mapOperations(name, inMemory, ({ args, operation }, ofMemory) => {
      const method = operation.slice(name.length + 1) as keyof S
      const member = bySql[method] as typeof ofMemory | ((...args: ReadonlyArray<unknown>) => typeof ofMemory)
      const ofSql = Effect.isEffect(member) ? member : Effect.suspend(() => member(...args))
      return this.both(operation, ofMemory, ofSql, shown[method] as ((value: unknown) => unknown) | undefined)
    })
  }

  /** Does something after an operation, as long as both are compared: to compare what it has left. */
  after<A, E>(self: Effect.Effect<A, E>, look: (value: A) => Effect.Effect<unknown, unknown>) {
    return Effect.tap(self, (value) => (this.#isOn ? Effect.ignore(look(value)) : Effect.void))
  }
}
