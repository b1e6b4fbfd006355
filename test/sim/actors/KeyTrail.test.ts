import { Context, Effect, Either, Exit } from "effect"
import { expect, it } from "vitest"
import { fromStrings } from "../../../src/keys/PackedKeys.ts"
import { makeTrail } from "../../../src/sim/actors/KeyTrail.ts"
import { GuardedCreates, type GuardedOutcome } from "../../../src/storage/links/GuardedCreates.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { PartlyFailed, StorageError } from "../../../src/storage/StorageError.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { LittleWorld } from "../stores/LittleWorld.ts"

/** A process that is handed keys, gives them back and binds their links. */
const setUp = () => {
  const little = new LittleWorld(1)
  const process = little.world.spawn("node-1", 1)
  const trail = makeTrail(little.journal)
  const links = Context.get(trail.over(process, little.database.stores(process)), LinkStore)
  /** Asks for a link, whose create is done or not: nobody learns which. */
  const bindsInDoubt = (key: string, url: string) => {
    little.databaseFaults = { refused: 0, lost: 0, ignored: 1 }
    little.exit(process, links.insertMany([{ ...linkOf(key), url }]))
  }
  const keysOf = (key: string) => ({ keys: fromStrings([key]) })
  return {
    bindsInDoubt,
    isGiven: (key: string) => trail.message(process, "Lease", {}, Exit.succeed(keysOf(key)), 0),
    givesBack: (key: string, returnId: string) =>
      trail.message(process, "Return", { ...keysOf(key), returnId }, Exit.void, 0),
    reused: () => little.journal.entries.flatMap((entry) => (entry.tag === "reused" ? [entry.key] : []))
  }
}

it("notes that a key was used again whose create has an unknown outcome", () => {
  const { bindsInDoubt, isGiven, reused } = setUp()
  isGiven("k")
  bindsInDoubt("k", "https://example.com/1")
  expect(reused()).toEqual([])
  bindsInDoubt("k", "https://example.com/2")
  expect(reused()).toEqual(["k"])
})

it("takes a repeat of a create for no other use of its key", () => {
  const { bindsInDoubt, isGiven, reused } = setUp()
  isGiven("k")
  bindsInDoubt("k", "https://example.com/1")
  bindsInDoubt("k", "https://example.com/1")
  expect(reused()).toEqual([])
})

it("lets a process use both copies of a key that its pool has handed out twice, each once", () => {
  const { bindsInDoubt, isGiven, reused } = setUp()
  isGiven("k")
  isGiven("k")
  bindsInDoubt("k", "https://example.com/1")
  bindsInDoubt("k", "https://example.com/2")
  bindsInDoubt("k", "https://example.com/1")
  expect(reused()).toEqual([])
  bindsInDoubt("k", "https://example.com/3")
  expect(reused()).toEqual(["k"])
})

it("counts no copy that was given back", () => {
  const { bindsInDoubt, givesBack, isGiven, reused } = setUp()
  isGiven("k")
  givesBack("k", "1")
  isGiven("k")
  bindsInDoubt("k", "https://example.com/1")
  bindsInDoubt("k", "https://example.com/2")
  expect(reused()).toEqual(["k"])
})

it("counts a copy that was given back once, however often it was sent", () => {
  const { bindsInDoubt, givesBack, isGiven, reused } = setUp()
  isGiven("k")
  isGiven("k")
  givesBack("k", "1")
  givesBack("k", "1")
  bindsInDoubt("k", "https://example.com/1")
  expect(reused()).toEqual([])
  bindsInDoubt("k", "https://example.com/2")
  expect(reused()).toEqual(["k"])
})

it("notes of each key of a create that failed in part whether it is known to be free", () => {
  const little = new LittleWorld(1)
  const process = little.world.spawn("node-1", 1)
  const trail = makeTrail(little.journal)
  const failed = { operation: "LinkStore.insertMany", reason: "away" }
  const failures = [
    new StorageError({ ...failed, applied: "no" }),
    new StorageError({ ...failed, applied: "unknown" })
  ]
  const outcomes = [Either.right(true), ...failures.map((failure) => Either.left(failure))]
  const stores = Context.add(little.database.stores(process), LinkStore, {
    ...Context.get(little.database.stores(process), LinkStore),
    insertMany: () => new PartlyFailed({ ...failed, applied: "unknown", outcomes })
  })
  const { insertMany } = Context.get(trail.over(process, stores), LinkStore)
  const keys = ["bound", "free", "doubtful"]
  trail.message(process, "Lease", {}, Exit.succeed({ keys: fromStrings(keys) }), 0)
  little.exit(process, insertMany(keys.map((key) => linkOf(key))))
  const noted = little.journal.entries.flatMap((entry) =>
    entry.tag === "refused" || entry.tag === "unsure" ? [[entry.tag, ...entry.keys]] : []
  )
  expect(noted).toEqual([
    ["refused", "free"],
    ["unsure", "doubtful"]
  ])
})

it("notes that a guarded create has left its key, as long as no answer was given under its guard", () => {
  const little = new LittleWorld(1)
  const process = little.world.spawn("node-1", 1)
  const trail = makeTrail(little.journal)
  const outcomes: ReadonlyArray<GuardedOutcome> = ["bound", "superseded", "apart", "taken"]
  const stores = Context.add(little.database.stores(process), GuardedCreates, {
    ...Context.get(little.database.stores(process), GuardedCreates),
    bindMany: () => Effect.succeed(outcomes)
  })
  const { bindMany } = Context.get(trail.over(process, stores), GuardedCreates)
  trail.message(process, "Lease", {}, Exit.succeed({ keys: fromStrings([...outcomes]) }), 0)
  little.exit(
    process,
    bindMany(outcomes.map((key) => ({ link: linkOf(key), guards: [], answer: "created" })))
  )
  const refused = little.journal.entries.flatMap((entry) => (entry.tag === "refused" ? entry.keys : []))
  expect(refused).toEqual(["superseded", "apart"])
})
