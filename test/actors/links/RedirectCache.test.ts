import { expect, it } from "@effect/vitest"
import { Duration, Effect, Exit, TestClock } from "effect"
import * as LinkCache from "../../../src/actors/links/LinkCache.ts"
import { LinkReader } from "../../../src/actors/links/LinkReader.ts"
import { LocalOwners } from "../../../src/actors/links/LocalOwners.ts"
import * as RedirectCache from "../../../src/actors/links/RedirectCache.ts"
import {
  freshFor_ms,
  type LinkChangesSubscriber,
  LinkInvalidations
} from "../../../src/storage/links/LinkInvalidations.ts"
import { plainRow } from "../../support/Plain.ts"

const linkTo = (url: string) => ({ ...plainRow, key: "k", url, custom: false, createdAt: 1, updatedAt: 1 })

it.scoped("does not keep what an owner answers that may not have heard yet of a change", () =>
  Effect.gen(function* () {
    let news: LinkChangesSubscriber | undefined
    let known = linkTo("https://example.com/1")
    const owner = {
      getThen: (_: string, answer: (row: Exit.Exit<typeof known>) => void) => answer(Exit.succeed(known))
    } as unknown as NonNullable<ReturnType<(typeof LocalOwners.Service)["of"]>>
    const cache = yield* RedirectCache.make(10, Duration.zero).pipe(
      Effect.provideService(LocalOwners, {
        of: () => owner,
        add: () => Effect.void,
        bindThen: () => expect.unreachable(),
        bindGuarded: () => expect.unreachable()
      }),
      Effect.provideService(LinkReader, { readThen: () => expect.unreachable() }),
      Effect.provideService(LinkInvalidations, {
        isFresh: () => true,
        awayFor: () => undefined,
        subscribe: (subscriber) => Effect.sync(() => void (news = subscriber))
      })
    )
    yield* LinkCache.get(cache, "k")
    expect(cache.getNow("k")).toEqual(known)
    news!.forget("k")
    yield* LinkCache.get(cache, "k")
    expect(cache.getNow("k")).toBeUndefined()
    known = linkTo("https://example.com/2")
    yield* TestClock.adjust(freshFor_ms)
    yield* LinkCache.get(cache, "k")
    expect(cache.getNow("k")).toEqual(known)
  })
)
