import { expect, it } from "@effect/vitest"
import { Context, Deferred, Effect } from "effect"
import * as LinkReader from "../../../src/actors/links/LinkReader.ts"
import { LinkPlaces } from "../../../src/storage/homes/LinkPlaces.ts"

/** Asks for keys of a database, one after the other, while none is answered: the keys of each statement. */
const statementsOver = (databases: number) =>
  Effect.gen(function* () {
    const statements: Array<ReadonlyArray<string>> = []
    const mayAnswer = yield* Deferred.make<void>()
    const answered: Array<string> = []
    const one = Context.get(yield* Effect.context<never>(), LinkPlaces)
    const { readThen } = yield* Effect.provideService(
      LinkReader.over((keys) => {
        statements.push(keys)
        return Effect.as(
          Deferred.await(mayAnswer),
          keys.map(() => null)
        )
      }, 4),
      LinkPlaces,
      { ...one, databases, lanes: databases + 1 }
    )
    for (const key of ["a", "b", "c", "d", "e", "f", "g", "h"]) {
      readThen(key, () => void answered.push(key))
      yield* Effect.repeatN(Effect.yieldNow(), 10)
    }
    yield* Deferred.succeed(mayAnswer, undefined)
    yield* Effect.repeatN(Effect.yieldNow(), 50)
    expect(answered.toSorted()).toEqual(["a", "b", "c", "d", "e", "f", "g", "h"])
    return statements.map((keys) => keys.join(""))
  })

it.scoped("has one statement under way over several databases, while the keys of the next gather", () =>
  Effect.gen(function* () {
    expect(yield* statementsOver(1)).toEqual(["a", "b", "c", "d", "efgh"])
    expect(yield* statementsOver(2)).toEqual(["a", "bcdefgh"])
    expect(yield* statementsOver(4)).toEqual(["a", "bcdefgh"])
  })
)
