import { expect, it } from "@effect/vitest"
import * as Urls from "../../fuzz/Urls.ts"

/** One run of the million that `npm run fuzz -- --urls` makes is 5 s. */
const urls = 50_000

it.each([1, 2, 3])(
  "a URL that is stored without being parsed is one that the parser leaves as it is, seed %d",
  (seed) => {
    const { faults, plain } = Urls.compare(seed, urls)
    expect(faults).toEqual([])
    expect(plain).toBeGreaterThan(urls / 10)
  }
)
