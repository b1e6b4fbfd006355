import { Sharding } from "@effect/cluster"
import { expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import * as KeyBuffer from "../../../src/actors/keys/KeyBuffer.ts"
import * as LinkCreates from "../../../src/actors/links/LinkCreates.ts"
import { type BindOutcome, LocalOwners } from "../../../src/actors/links/LocalOwners.ts"
import { Unavailable } from "../../../src/actors/Unavailable.ts"
import { toStrings } from "../../../src/keys/PackedKeys.ts"
import { draft, freshStores, others, ports, startNode } from "../../support/TestNode.ts"

/** Creates over a buffer of their own, whose links are bound, or not, when the test says so. */
const setUp = Effect.gen(function* () {
  const stores = yield* freshStores()
  const node = yield* startNode(stores)
  const scope = yield* Scope.make()
  const buffer = yield* KeyBuffer.make(8).pipe(
    Effect.provide(ports(stores, node.faults)),
    Effect.provideService(Sharding.Sharding, node.sharding),
    Scope.extend(scope)
  )
  yield* buffer.held
  const asked: Array<{ readonly key: string; readonly answer: (outcome: BindOutcome) => void }> = []
  const owners = {
    bindThen: (links, answer) =>
      void asked.push({ key: links[0]!.key, answer: (outcome) => answer([outcome]) }),
    bindGuarded: () => Effect.succeed(["superseded" as const])
  } as Partial<typeof LocalOwners.Service> as typeof LocalOwners.Service
  const creates = yield* LinkCreates.make.pipe(
    Effect.provideService(KeyBuffer.KeyBuffer, buffer),
    Effect.provideService(LocalOwners, owners)
  )
  return {
    buffer,
    closeBuffer: Scope.close(scope, Exit.void),
    creates,
    asked,
    pooled: Effect.map(stores.pool.lease(0, 1_000), toStrings)
  }
})

const failed = (applied: "no" | "unknown") => Exit.fail(new Unavailable({ reason: "for the test", applied }))

it.scoped("A link's key is in the buffer again only where the link was certainly not bound", () =>
  Effect.gen(function* () {
    const { asked, buffer, creates } = yield* setUp
    const levelAfter = Effect.fnUntraced(function* (applied: "no" | "unknown") {
      const creating = yield* Effect.fork(Effect.flip(creates.create(draft())))
      yield* others
      asked.pop()!.answer(failed(applied))
      expect(yield* Fiber.join(creating)).toMatchObject({ applied })
      return yield* buffer.level
    })
    expect(yield* levelAfter("no")).toBe(8)
    expect(yield* levelAfter("unknown")).toBe(7)
  })
)

it.scoped("The key of a create that a newer one has superseded is in the buffer again", () =>
  Effect.gen(function* () {
    const { buffer, creates } = yield* setUp
    const guarding = { guards: [{ name: "idempotency:a", token: 1 }], answerOf: () => "" }
    const before = yield* buffer.level
    expect(yield* Effect.flip(creates.createGuarded(draft(), guarding))).toMatchObject({ _tag: "Superseded" })
    expect(yield* buffer.level).toBe(before)
  })
)

it.scoped(
  "A refused link's key goes to its pool where the buffer has closed, though nobody waits any more",
  () =>
    Effect.gen(function* () {
      const { asked, closeBuffer, creates, pooled } = yield* setUp
      const creating = yield* Effect.fork(creates.create(draft()))
      yield* others
      yield* Fiber.interrupt(creating)
      yield* closeBuffer
      asked[0]!.answer(failed("no"))
      yield* others
      expect(yield* pooled).toContain(asked[0]!.key)
    })
)
