// Commands that tests give to visit stores at random, and how a store plays them.

import { FastCheck as fc } from "effect"
import type { VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import { rankFactor } from "../../../src/storage/visits/VisitorSketch.ts"
import { dayHours, dimensions } from "../../../src/model/Visit.ts"
import type { Player } from "../../support/LikeMemory.ts"

const subject = fc.constantFrom("a@1", "a@2", "A@1", "usr_1")
const hour = fc.nat(3 * dayHours)
const visits = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 2 ** 31, max: 2 ** 40 }))

const values = fc.uniqueArray(
  fc.record({
    dimension: fc.constantFrom(...dimensions),
    value: fc.constantFrom("a.example", "b.example", "B", "ü", "direct", '"\\,\n{}'),
    visits
  }),
  { selector: ({ dimension, value }) => `${dimension} ${value}`, maxLength: 5 }
)

const visitors = fc
  .uniqueArray(fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 31 })), {
    selector: ([register]) => register,
    maxLength: 4
  })
  .map((entries) => entries.map(([register, rank]) => register * rankFactor + rank))

const hours = fc.uniqueArray(
  fc.record({ subject, hour, nonBots: visits, bots: fc.nat(9), values, visitors }),
  {
    selector: ({ hour, subject }) => `${subject} ${hour}`,
    maxLength: 5
  }
)

const range = fc
  .tuple(subject, hour, hour)
  .map(([subject, one, other]) => ({ subject, from: Math.min(one, other), to: Math.max(one, other) }))

/** A command of each kind that leaves nothing out. */
export const visitCommand = fc.oneof(
  fc.record({
    _tag: fc.constant("write" as const),
    batch: fc.record({ writer: fc.constantFrom("v", "w"), sequence: fc.nat(20), at: fc.nat(9), hours })
  }),
  fc.record({ _tag: fc.constant("totals" as const), subjects: fc.array(subject) }),
  fc.record({
    _tag: fc.constant("series" as const),
    range,
    interval: fc.constantFrom("hour" as const, "day" as const)
  }),
  fc.record({
    _tag: fc.constant("visitors" as const),
    range,
    interval: fc.constantFrom("hour" as const, "day" as const)
  }),
  fc.record({ _tag: fc.constant("top" as const), range, max: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ _tag: fc.constant("dropWriters" as const), before: fc.nat(9) }),
  fc.record({ _tag: fc.constant("forget" as const), subjects: fc.array(subject, { maxLength: 2 }) })
)
type CommandOf<A> = A extends fc.Arbitrary<infer C> ? C : never

/** A writer's batches with growing numbers, as its law says, and repeats of the last one: what comes with a number that is not higher becomes one. */
export const inOrder = (
  commands: ReadonlyArray<CommandOf<typeof visitCommand>>
): ReadonlyArray<CommandOf<typeof visitCommand>> => {
  const last = new Map<string, Extract<CommandOf<typeof visitCommand>, { readonly _tag: "write" }>>()
  return commands.map((command) => {
    if (command._tag !== "write") return command
    const { sequence, writer } = command.batch
    const before = last.get(writer)
    if (before !== undefined && sequence <= before.batch.sequence) return before
    last.set(writer, command)
    return command
  })
}

export const playVisits: Player<VisitStore["Type"], CommandOf<typeof visitCommand>> =
  (store) => (command) => {
    switch (command._tag) {
      case "write":
        return store.write(command.batch)
      case "totals":
        return store.totals(command.subjects)
      case "series":
        return store.series(command.range, command.interval)
      case "visitors":
        return store.visitors(command.range, command.interval)
      case "top":
        return store.top(command.range, command.max)
      case "dropWriters":
        return store.dropWriters(command.before)
      case "forget":
        return store.forget(command.subjects)
    }
  }
