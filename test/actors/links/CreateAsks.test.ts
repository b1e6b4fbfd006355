import { expect, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import * as CreateAsks from "../../../src/actors/links/CreateAsks.ts"
import { LinkReader } from "../../../src/actors/links/LinkReader.ts"
import * as LocalOwners from "../../../src/actors/links/LocalOwners.ts"
import { Unavailable } from "../../../src/actors/Unavailable.ts"
import { GuardedCreates } from "../../../src/storage/links/GuardedCreates.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { plainRow } from "../../support/Plain.ts"
import { others } from "../../support/TestNode.ts"

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
    const outcomes: ReadonlyArray<LocalOwners.BindOutcome> = [
      failed("unknown"),
      failed("no"),
      Exit.succeed("bound")
    ]
    const refused: Array<string> = []
    const bindThen = CreateAsks.telling(
      (_, answer) => answer(outcomes),
      (links) => Effect.sync(() => void refused.push(...links.map(({ key }) => key))),
      yield* Effect.runtime()
    )
    const told = yield* Effect.async<ReadonlyArray<LocalOwners.BindOutcome>>((resume) =>
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
    } as unknown as typeof LocalOwners.LocalOwners.Service
    const ask = CreateAsks.guarded(owners, (links, by) =>
      Effect.sync(() => void refused.push(...links.map(({ key }) => `${key} by ${by}`)))
    )
    const guarding = { guards: [{ name: "idempotency:a", token: 1 }], answerOf: () => "" }
    const [outcome] = yield* Effect.flatten(ask(guarding)([linkOf("k0")]))
    yield* others
    const error = yield* Effect.flip(outcome!)
    expect(error).toMatchObject({ _tag: "Unavailable", applied: "no", away: true })
    expect(refused).toEqual(["k0 by other"])
  })
)

it.scoped("tells links that their database refused from those for which this node had no room", () =>
  Effect.gen(function* () {
    const store = { insertMany: () => Effect.never } as unknown as typeof LinkStore.Service
    const owners = yield* LocalOwners.make(1).pipe(
      Effect.provideService(LinkStore, store),
      Effect.provideService(GuardedCreates, {} as typeof GuardedCreates.Service),
      Effect.provideService(LinkReader, {} as typeof LinkReader.Service)
    )
    const refused: Array<string> = []
    const onRefused: CreateAsks.OnRefused = (links, by) =>
      Effect.sync(() => void refused.push(...links.map(({ key }) => `${key} by ${by}`)))
    const runtime = yield* Effect.runtime()
    const full = CreateAsks.telling(owners.bindThen, onRefused, runtime)
    const links = Array.from({ length: 1_000 }, (_, index) => linkOf(`k${index}`))
    for (let times = 0; times < 40 && refused.length === 0; times++) full(links, () => {})
    expect(refused).toEqual(links.map(({ key }) => `${key} by other`))
    const failed = Exit.fail(new Unavailable({ reason: "the disk is full", applied: "no", away: true }))
    CreateAsks.telling((_, answer) => answer([failed]), onRefused, runtime)([linkOf("last")], () => {})
    expect(refused.at(-1)).toBe("last by store")
  })
)

it.effect("answers a guarded create that was refused before its key is back", () =>
  Effect.gen(function* () {
    const refusal = new Unavailable({ reason: "the disk is full", applied: "no" })
    const guarding = { guards: [{ name: "idempotency:a", token: 1 }], answerOf: () => "" }
    for (const became of [refusal, Effect.succeed(["superseded" as const])]) {
      const owners = { bindGuarded: () => became } as unknown as typeof LocalOwners.LocalOwners.Service
      const asking = yield* Effect.fork(
        Effect.flatten(CreateAsks.guarded(owners, () => Effect.never)(guarding)([linkOf("k0")]))
      )
      yield* others
      expect(asking.unsafePoll()).not.toBeNull()
    }
  })
)
