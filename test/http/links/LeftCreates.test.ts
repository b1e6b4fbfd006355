import { expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Fiber } from "effect"
import { Links } from "../../../src/actors/links/Links.ts"
import * as ReusedLinks from "../../../src/actors/links/ReusedLinks.ts"
import * as Idempotency from "../../../src/http/links/Idempotency.ts"
import { toStrings } from "../../../src/keys/PackedKeys.ts"
import type { Link } from "../../../src/model/Link.ts"
import { KeyedHash } from "../../../src/secrets/KeyedHash.ts"
import { GuardedCreates } from "../../../src/storage/links/GuardedCreates.ts"
import { plainDraft } from "../../support/Plain.ts"
import { StepScheduler } from "../../support/StepScheduler.ts"
import { testHash } from "../../support/TestHash.ts"
import { freshStores, others, realMinter, startNode } from "../../support/TestNode.ts"

const url = "https://example.com/left"
const draft = { ...plainDraft, url, owner: "anna" }
const keys = toStrings(realMinter.mint(7, 0, 0, 100))

const answerOf = ({ key }: Link) => ({ status: 201, contentType: "text/plain", location: null, body: key })

/** Creates on a node: with `reuse`, under an `Idempotency-Key` or none; gives the key of the link. Time stands. */
const started = Effect.gen(function* () {
  const stores = yield* freshStores()
  const node = yield* startNode(stores)
  const bound = Effect.map(stores.links.findMany(keys), (rows) => rows.filter((row) => row !== null))
  const guarded: typeof GuardedCreates.Service = {
    ...node.guards,
    findByUrl: () => Effect.map(bound, ([link]) => link ?? null)
  }
  const reused = yield* Effect.provide(ReusedLinks.ReusedLinks, ReusedLinks.layer).pipe(
    Effect.provideService(GuardedCreates, guarded),
    Effect.provideService(Links, node.links)
  )
  const once = yield* Idempotency.make.pipe(
    Effect.provideService(GuardedCreates, guarded),
    Effect.provideService(KeyedHash, testHash)
  )
  const create = (key: string | null) =>
    once({
      repeats: key === null ? null : { key, owner: draft.owner, body: url },
      answerOf,
      create: (guarding) =>
        reused.get(draft, guarding).pipe(
          Effect.map(({ isNew, link }) => ({ answer: answerOf(link), isSettled: isNew })),
          Effect.catchTag("AliasTaken", Effect.die)
        )
    }).pipe(Effect.map(({ answer }) => answer.body))
  return { bound, create }
})

it.scoped.prop(
  "a create whose client leaves, at whatever moment, holds up neither its repeat nor another one of the URL, and all make one link",
  [fc.nat(400), fc.constantFrom("first", null), fc.constantFrom("first", "other", null)],
  ([steps, left, next]) =>
    Effect.gen(function* () {
      const { bound, create } = yield* started
      const scheduler = new StepScheduler()
      const leaving = yield* Effect.fork(Effect.withScheduler(create(left), scheduler))
      for (let step = 0, idle = 0; step < steps && idle < 50;) {
        if (scheduler.step()) step++
        else idle++
        yield* Effect.yieldNow()
      }
      yield* Fiber.interruptFork(leaving)
      scheduler.release()
      yield* Fiber.await(leaving)
      yield* others
      // Time stands: what waited for a lease to end would wait for good.
      const creating = yield* Effect.fork(create(next))
      yield* others
      const made = creating.unsafePoll()
      expect(made).toMatchObject({ _tag: "Success" })
      expect((yield* bound).map(({ key }) => key)).toEqual([yield* Fiber.join(creating)])
    }),
  { timeout: 60_000, fastCheck: { numRuns: 20 } }
)
