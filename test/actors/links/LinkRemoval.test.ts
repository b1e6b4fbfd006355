import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { turn } from "../../../src/actors/links/LinkRemoval.ts"
import type { Link } from "../../../src/model/Link.ts"
import { LinkRemovals } from "../../../src/storage/links/LinkRemovals.ts"
import * as LinkRemovalsMemory from "../../../src/sim/stores/LinkRemovalsMemory.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"

const owners = ["one", "two", "other"]

it.effect(
  "A turn deletes all links of owners who are gone, step by step, and a later one what came since",
  () => {
    const links = new Map<string, Link>()
    const add = (owner: string, from: number, to: number) => {
      for (let index = from; index < to; index++) {
        links.set(`${owner}-${index}`, { ...linkOf(`${owner}-${index}`), owner })
      }
    }
    const live = () =>
      owners.map(
        (owner) => [...links.values()].filter((l) => l.owner === owner && l.deletedAt === null).length
      )
    return Effect.gen(function* () {
      for (const owner of owners) add(owner, 0, 2_100)
      const { ask } = yield* LinkRemovals
      yield* ask("one")
      yield* ask("two")
      yield* turn
      expect(live()).toEqual([0, 0, 2_100])
      add("one", 2_100, 2_101)
      yield* turn
      expect(live()).toEqual([0, 0, 2_100])
    }).pipe(
      Effect.provide(Layer.effect(LinkRemovals, LinkRemovalsMemory.makeOver({ links, ended: new Map() })))
    )
  }
)
