import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { AliasTaken } from "../../../src/actors/links/LinkDraft.ts"
import { Links } from "../../../src/actors/links/Links.ts"
import * as ReusedLinks from "../../../src/actors/links/ReusedLinks.ts"
import { Unavailable } from "../../../src/actors/Unavailable.ts"
import { GuardedCreates } from "../../../src/storage/links/GuardedCreates.ts"
import { plainDraft } from "../../support/Plain.ts"

/** How often the guard of a URL is given up when the create under it fails so. */
const abandonedAfter = (error: AliasTaken | Unavailable) =>
  Effect.gen(function* () {
    let abandoned = 0
    const guarded = {
      findByUrl: () => Effect.succeed(null),
      beginMany: () => Effect.succeed([{ _tag: "Begun" }]),
      abandonMany: () => Effect.sync(() => [++abandoned > 0])
    } as unknown as typeof GuardedCreates.Service
    const links = { createGuarded: () => error } as unknown as typeof Links.Service
    const { get } = yield* Effect.provide(ReusedLinks.ReusedLinks, ReusedLinks.layer).pipe(
      Effect.provideService(GuardedCreates, guarded),
      Effect.provideService(Links, links)
    )
    const draft = { ...plainDraft, url: "https://example.com/", alias: null, owner: "anna" }
    const told = yield* Effect.flip(get(draft, { guards: [], answerOf: () => "" }))
    expect(told._tag).toBe(error._tag)
    return abandoned
  })

const failed = (applied: "no" | "unknown") => new Unavailable({ reason: "for the test", applied })

it.effect("frees a URL for the next caller when its create certainly failed", () =>
  Effect.gen(function* () {
    expect(yield* abandonedAfter(failed("no"))).toBe(1)
    expect(yield* abandonedAfter(new AliasTaken({ alias: "a" }))).toBe(1)
  })
)

it.effect("holds a URL while its create may still be applied", () =>
  Effect.gen(function* () {
    expect(yield* abandonedAfter(failed("unknown"))).toBe(0)
  })
)
