import { expect, it } from "@effect/vitest"
import * as Heads from "../../fuzz/Heads.ts"

/** One run of the million that `npm run fuzz -- --heads` makes is 20 s. */
const chunks = 100_000

it.each([1, 2, 3])("what is taken for a plain request is one to Node's parser as well, seed %d", (seed) => {
  const { creates, faults, plain } = Heads.compare(seed, chunks)
  expect(faults).toEqual([])
  expect(plain - creates).toBeGreaterThan(chunks / 10)
  expect(creates).toBeGreaterThan(chunks / 25)
})
