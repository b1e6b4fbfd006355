import { setImmediate } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { type Rule, rules, type Sizes } from "../../../src/sim/specification/KeyPath.ts"
import * as Search from "../../../src/sim/specification/Search.ts"

/** The test runner gets its turn now and then. */
const search = (options: Search.SearchOptions) => Search.search({ ...options, turn: () => setImmediate() })

const small = { owners: 2, keys: 1, faults: 1, recycles: 1 }
/** A database that forgets the newest claim twice is two faults. */
const twoFaults = { owners: 1, keys: 1, faults: 2, recycles: 1 }
const double = "can be handed out from two places"
const leak = "not all keys can be accounted for any more"
const twice = "was acknowledged to two creates"

/** What is searched, and which guards are broken beside the one in question. */
interface How {
  readonly sizes: Sizes
  readonly beside: ReadonlyArray<Rule>
}

/** What each guard is for: what does not hold any more without it. */
const broken: ReadonlyArray<readonly [rule: Rule, text: string, how?: Partial<How>]> = [
  // Where the pool refused it, the owner would claim the same epoch for ever.
  ["a claim raises the epoch", leak, { beside: ["the pool refuses a claim that it knows"] }],
  ["the database refuses older epochs", "changed the database, and was not the newest owner"],
  ["the pool refuses older epochs", "changed the pool, and was not the newest owner"],
  ["the pool refuses a claim that it knows", leak, { sizes: twoFaults }],
  ["the pool takes each batch once", double],
  ["the pool takes each return once", double],
  ["a lease removes its keys", double],
  ["the primary key refuses a second row", twice],
  ["a freed key is struck from records", double],
  ["the watermark moves before a key is made", double],
  ["keys are recorded before they are pushed", leak],
  ["a record is closed after its push", leak],
  ["a new owner finishes open records", leak],
  ["the key of a create that was refused goes back", leak],
  ["the key of a create with an unknown outcome is not used again", double],
  ["the mark moves before keys are used", double],
  ["a mark behind its witness is noticed", double],
  ["a recovery raises the watermark", twice],
  ["a recovery empties stock and records", twice],
  ["another timeline is noticed", double]
]

/** Guards whose breaking no single fault shows. */
const unseen: ReadonlyArray<Rule> = [
  "a finished record leaves out bound keys",
  "another lineage is noticed",
  // No key of a create that may be under way is anywhere else: no message of it is left that could bind it again.
  "the quarantine has to be over",
  "tombstones older than a recovery are not stocked"
]

describe("the key path's specification", () => {
  it("holds in every state of two owners and two keys, with one fault and one key recycled", async () => {
    const found = await search({ sizes: { owners: 2, keys: 2, faults: 1, recycles: 1 } })
    expect(found.counterexample).toBeUndefined()
    expect(found.isComplete).toBe(true)
    expect(found.states).toBeGreaterThan(80_000)
  }, 600_000)

  it("holds in every state of one owner and one key, with two faults and the key recycled once", async () => {
    const found = await search({ sizes: twoFaults })
    expect(found.counterexample).toBeUndefined()
    expect(found.isComplete).toBe(true)
    expect(found.states).toBeGreaterThan(170_000)
  }, 600_000)

  it.each(broken.map(([rule, text, how]) => ({ rule, text, beside: [], sizes: small, ...how })))(
    "does not hold without: $rule",
    async ({ beside, rule, sizes, text }) => {
      const without = Object.fromEntries([rule, ...beside].map((each) => [each, false]))
      const { counterexample } = await search({ sizes, rules: { ...rules, ...without } })
      expect(counterexample?.text).toContain(text)
      expect(counterexample?.steps.length).toBeGreaterThan(0)
    },
    120_000
  )

  it("has a test of each guard, or says that one fault does not show it", () => {
    expect([...broken.map(([rule]) => rule), ...unseen].toSorted()).toEqual(Object.keys(rules).toSorted())
  })

  it("tells the shortest way: the database forgets a watermark before its mark has moved, and nobody notices", async () => {
    const { counterexample } = await search({
      sizes: small,
      rules: { ...rules, "another timeline is noticed": false }
    })
    expect(counterexample).toMatchInlineSnapshot(`
      {
        "steps": [
          "node 0 claims epoch 1",
          "node 0 confirms its claim",
          "node 0 claims the pool",
          "node 0 reads open records",
          "the standby falls behind",
          "node 0 advances over key 0",
          "the standby takes over",
          "node 0 confirms the watermark",
        ],
        "text": "key 0 can be handed out from two places",
      }
    `)
  }, 60_000)

  it("says when it has not seen every state", async () => {
    expect(await search({ sizes: small, statesMax: 100 })).toMatchObject({
      isComplete: false,
      counterexample: undefined
    })
  })
})
