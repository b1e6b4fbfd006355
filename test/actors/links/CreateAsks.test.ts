import { expect, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import * as CreateAsks from "../../../src/actors/links/CreateAsks.ts"
import type { BindOutcome, LocalOwners } from "../../../src/actors/links/LocalOwners.ts"
import { Unavailable } from "../../../src/actors/Unavailable.ts"
import { plainRow } from "../../support/Plain.ts"

const linkOf = (key: string) => ({
  ...plainRow,
  key,
  url: "https://example.com/",
  custom: false,
  createdAt: 1,
  updatedAt: 1
})

it.effect("gives back the keys of links that are certainly not bound, and no others", () =>
  Effect.gen(function* () {
    const failed = (applied: "no" | "unknown") =>
      Exit.fail(new Unavailable({ reason: "for the test", applied }))
    const outcomes: ReadonlyArray<BindOutcome> = [failed("unknown"), failed("no"), Exit.succeed("bound")]
    const refused: Array<string> = []
    const bindThen = CreateAsks.telling(
      (_, answer) => answer(outcomes),
      (links) => Effect.sync(() => void refused.push(...links.map(({ key }) => key))),
      yield* Effect.runtime()
    )
    const told = yield* Effect.async<ReadonlyArray<BindOutcome>>((resume) =>
      bindThen(["k0", "k1", "k2"].map(linkOf), (all) => resume(Effect.succeed(all)))
    )
    yield* Effect.yieldNow()
    expect(told).toEqual(outcomes)
    expect(refused).toEqual(["k1"])
  })
)

it.effect("lets a create whose guard has moved go on with another key, and gives the first one back", () =>
  Effect.gen(function* () {
    const refused: Array<string> = []
    const owners = {
      bindGuarded: () => Effect.succeed(["apart" as const])
    } as unknown as typeof LocalOwners.Service
    const ask = CreateAsks.guarded(owners, (links) =>
      Effect.sync(() => void refused.push(...links.map(({ key }) => key)))
    )
    const guarding = { guards: [{ name: "idempotency:a", token: 1 }], answerOf: () => "" }
    const [outcome] = yield* Effect.flatten(ask(guarding)([linkOf("k0")]))
    const error = yield* Effect.flip(outcome!)
    expect(error).toMatchObject({ _tag: "Unavailable", applied: "no", away: true })
    expect(refused).toEqual(["k0"])
  })
)
