import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { AliasTaken } from "../../../src/actors/links/LinkDraft.ts"
import { Links } from "../../../src/actors/links/Links.ts"
import * as ReusedLinks from "../../../src/actors/links/ReusedLinks.ts"
import { Unavailable } from "../../../src/actors/Unavailable.ts"
import type { Link } from "../../../src/model/Link.ts"
import { type Guard, GuardedCreates } from "../../../src/storage/links/GuardedCreates.ts"
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

/** The guards that are given up, in their order, when the create of a link is interrupted while its key is on the way. `held`: whether the first guard still is. */
const abandonedOnInterrupt = (
  guards: ReadonlyArray<Guard>,
  { alias = null, held = true }: { readonly alias?: string | null; readonly held?: boolean } = {}
) =>
  Effect.gen(function* () {
    const abandoned: Array<string> = []
    const asked = yield* Deferred.make<void>()
    const guarded = {
      findByUrl: () => Effect.succeed(null),
      beginMany: () => Effect.succeed([{ _tag: "Begun" }]),
      abandonMany: (some: ReadonlyArray<Guard>) =>
        Effect.sync(() => {
          abandoned.push(...some.map(({ name }) => name.split(":")[0]!))
          return some.map(() => held)
        })
    } as unknown as typeof GuardedCreates.Service
    const links = {
      createGuarded: () => Effect.zipRight(Deferred.succeed(asked, undefined), Effect.never)
    } as unknown as typeof Links.Service
    const { get } = yield* Effect.provide(ReusedLinks.ReusedLinks, ReusedLinks.layer).pipe(
      Effect.provideService(GuardedCreates, guarded),
      Effect.provideService(Links, links)
    )
    const draft = { ...plainDraft, url: "https://example.com/", alias, owner: "anna" }
    const fiber = yield* Effect.fork(get(draft, { guards, answerOf: () => "" }))
    yield* Deferred.await(asked)
    yield* Fiber.interrupt(fiber)
    return abandoned
  })

const withKey: ReadonlyArray<Guard> = [{ name: "idempotency:a", token: 1 }]

it.effect("frees a URL for the next caller when its create is interrupted", () =>
  Effect.gen(function* () {
    expect(yield* abandonedOnInterrupt([])).toEqual(["reuse"])
  })
)

it.effect(
  "frees the URL of an interrupted create only once the guard that decides on its link is given up",
  () =>
    Effect.gen(function* () {
      expect(yield* abandonedOnInterrupt(withKey)).toEqual(["idempotency", "reuse"])
      expect(yield* abandonedOnInterrupt(withKey, { held: false })).toEqual(["idempotency"])
    })
)

it.effect("holds the URL of an interrupted create with an alias, whose link may still be bound", () =>
  Effect.gen(function* () {
    expect(yield* abandonedOnInterrupt([], { alias: "a" })).toEqual([])
    expect(yield* abandonedOnInterrupt(withKey, { alias: "a" })).toEqual([])
  })
)

it.effect("gives the link of another create that has bound the key of an ended link again", () =>
  Effect.gen(function* () {
    const there = { key: "again" } as Link
    const found = [null, null, there]
    const states = [{ _tag: "Settled", fingerprint: "", key: "again", answer: "" }, { _tag: "Begun" }]
    let abandoned = 0
    const guarded = {
      findByUrl: () => Effect.sync(() => found.shift()),
      beginMany: () => Effect.sync(() => [states.shift()]),
      abandonMany: () => Effect.sync(() => [++abandoned > 0])
    } as unknown as typeof GuardedCreates.Service
    const links = { createGuarded: () => Effect.die("a second link") } as unknown as typeof Links.Service
    const { get } = yield* Effect.provide(ReusedLinks.ReusedLinks, ReusedLinks.layer).pipe(
      Effect.provideService(GuardedCreates, guarded),
      Effect.provideService(Links, links)
    )
    const draft = { ...plainDraft, url: "https://example.com/", alias: "other", owner: "anna" }
    const reused = yield* get(draft, { guards: [], answerOf: () => "" })
    expect([reused, abandoned]).toEqual([{ link: there, isNew: false }, 1])
  })
)
