import { expect, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import type { Link } from "../../../src/model/Link.ts"
import * as GuardedCreatesRouted from "../../../src/storage/homes/GuardedCreatesRouted.ts"
import type { Router } from "../../../src/storage/homes/Router.ts"
import { StorageError } from "../../../src/storage/StorageError.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"

const lost = new StorageError({ operation: "findByUrl", applied: "no", reason: "the answer was lost" })

/** What a database answers, one after the other; the last one from then on. */
type Answers = ReadonlyArray<Link | null | "lost" | "away">

/** Looks for a link in databases that answer so; gives what is found, and how often they were asked. */
const found = (...databases: ReadonlyArray<Answers>) =>
  Effect.gen(function* () {
    let asked = 0
    const latest = (answers: Answers) => answers[Math.min(asked, answers.length) - 1]!
    const router = {
      databases: databases.map((answers) => ({ isAway: () => latest(answers) === "away" })),
      gather: () =>
        Effect.sync(() => {
          asked++
          const all = databases.map((answers, index) => ({ index, answer: latest(answers) }))
          const isNone = ({ answer }: { readonly answer: unknown }) => answer === "lost" || answer === "away"
          return {
            answers: all.filter((one) => !isNone(one)),
            failures: all.filter(isNone).map(() => lost)
          }
        })
    } as unknown as Router<GuardedCreatesRouted.HasGuards>
    const { findByUrl } = GuardedCreatesRouted.make(router, { findMany: () => Effect.die("not asked") })
    const looking = yield* Effect.fork(Effect.either(findByUrl("me", "https://example.com/", 1)))
    yield* TestClock.adjust("10 seconds")
    return [yield* Fiber.join(looking), asked] as const
  })

const mine = linkOf("mine")
const right = (link: Link | null) => ({ _tag: "Right", right: link })

it.effect("a link of a URL is looked for again in a database whose answer was lost", () =>
  Effect.gen(function* () {
    expect(yield* found([null], ["lost", mine])).toMatchObject([right(mine), 2])
    expect(yield* found([null], ["lost", "lost", null])).toMatchObject([right(null), 3])
  })
)

it.effect("a link of a URL is found where one database has it, whatever the other says", () =>
  Effect.gen(function* () {
    expect(yield* found([mine], ["lost"])).toMatchObject([right(mine), 1])
  })
)

it.effect("a link of a URL is not looked for in a database that is away", () =>
  Effect.gen(function* () {
    expect(yield* found([null], ["away"])).toMatchObject([right(null), 1])
    expect(yield* found([null], ["lost", "away"])).toMatchObject([right(null), 2])
  })
)

it.effect("a link of a URL is not said to be missing where a database that is there gives no answer", () =>
  Effect.gen(function* () {
    const [outcome, asked] = yield* found([null], ["lost"])
    expect(outcome).toMatchObject({ _tag: "Left", left: lost })
    expect(asked).toBeGreaterThan(10)
    expect(asked).toBeLessThan(20)
  })
)
